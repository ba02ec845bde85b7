//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Comparisons, and what chooses by them.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Numbers.h"

using namespace zyx::ptx;

namespace {

enum class Order { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Number, NaN };

/// Where one is no number, ordered comparisons are false and unordered ones true.
template <Order order, bool unordered> struct Compare {
  template <typename T> bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a || b != b)
        return unordered || order == Order::NaN;
    switch (order) {
    case Order::Equal:
      return a == b;
    case Order::NotEqual:
      return a != b;
    case Order::Less:
      return a < b;
    case Order::LessEqual:
      return a <= b;
    case Order::Greater:
      return a > b;
    case Order::GreaterEqual:
      return a >= b;
    case Order::Number:
      return true;
    default:
      return false;
    }
  }
};

template <typename C, bool flushes> struct OfHalf {
  /// What has no exponent is zero where subnormal numbers are flushed.
  static uint16_t in(uint16_t x) { return flushes && (x & 0x7c00) == 0 ? 0 : x; }
  bool operator()(uint16_t a, uint16_t b) const { return C()(fromHalf(in(a)), fromHalf(in(b))); }
};
template <typename C> struct OfBHalf {
  bool operator()(uint16_t a, uint16_t b) const { return C()(fromBHalf(a), fromBHalf(b)); }
};
template <typename C> struct Flushed {
  bool operator()(float a, float b) const { return C()(flush(a), flush(b)); }
};

/// Both results of setp: the second one is the opposite; and another predicate may be part of it.
enum class Combined { None, And, Or, Xor };
uint32_t combine(Combined how, uint32_t a, uint32_t b) {
  return how == Combined::And ? a & b : how == Combined::Or ? a | b : how == Combined::Xor ? a ^ b : a;
}

/// Both results of setp of pairs: the first one is that of the lower halves.
template <typename C> void setOfPairs(Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
  const auto *a = warp.at<uint32_t>(at.in[0]), *b = warp.at<uint32_t>(at.in[1]);
  uint32_t low = 0, high = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    low |= static_cast<uint32_t>(C()(static_cast<uint16_t>(a[lane]), static_cast<uint16_t>(b[lane]))) << lane;
    high |= static_cast<uint32_t>(C()(static_cast<uint16_t>(a[lane] >> 16), static_cast<uint16_t>(b[lane] >> 16)))
            << lane;
  }
  const auto how = static_cast<Combined>(at.option & 3);
  const uint32_t with = how == Combined::None ? 0 : *warp.at<uint32_t>(at.in[2]) ^ (at.option & 8 ? allLanes : 0);
  auto put = [&](uint32_t place, uint32_t bits) {
    uint32_t &out = *warp.at<uint32_t>(place);
    out = (out & ~mask) | (combine(how, bits, with) & mask);
  };
  put(at.out, low);
  put(at.in[3], high);
}

template <typename T, typename C> void setPredicates(Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
  const T *a = warp.at<T>(at.in[0]), *b = warp.at<T>(at.in[1]);
  uint32_t bits = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    bits |= static_cast<uint32_t>(C()(a[lane], b[lane])) << lane;
  uint32_t &out = *warp.at<uint32_t>(at.out);
  if (at.option == 0) {
    out = (out & ~mask) | (bits & mask);
    return;
  }
  const auto how = static_cast<Combined>(at.option & 3);
  const uint32_t with = how == Combined::None ? 0 : *warp.at<uint32_t>(at.in[2]) ^ (at.option & 8 ? allLanes : 0);
  const uint32_t first = combine(how, bits, with), second = combine(how, ~bits, with);
  out = (out & ~mask) | (first & mask);
  if (at.option & 4) {
    uint32_t &other = *warp.at<uint32_t>(at.in[3]);
    other = (other & ~mask) | (second & mask);
  }
}

/// As a word of all bits, or the number 1.
template <typename T, typename C> Execute setWord(bool asNumber) {
  return asNumber ? each<uint32_t, T, T>([](T a, T b) { return C()(a, b) ? 0x3f800000u : 0u; })
                  : each<uint32_t, T, T>([](T a, T b) { return C()(a, b) ? allLanes : 0u; });
}

template <typename C> bool makeFor(Type type, bool flushes, auto &&body) {
  auto with = [&]<typename T, typename Each>(T, Each) { body.template operator()<T, Each>(); };
  if (type.kind == Type::Float) {
    if (type.bits == 16)
      flushes ? with(uint16_t(), OfHalf<C, true>()) : with(uint16_t(), OfHalf<C, false>());
    else if (type.bits == 32)
      flushes ? with(float(), Flushed<C>()) : with(float(), C());
    else
      with(double(), C());
    return true;
  }
  if (type.kind == Type::BFloat) {
    with(uint16_t(), OfBHalf<C>());
    return true;
  }
  const bool isSigned = type.kind == Type::Signed;
  switch (type.bits) {
  case 16:
    isSigned ? with(int16_t(), C()) : with(uint16_t(), C());
    return true;
  case 32:
    isSigned ? with(int32_t(), C()) : with(uint32_t(), C());
    return true;
  case 64:
    isSigned ? with(int64_t(), C()) : with(uint64_t(), C());
    return true;
  default:
    return false;
  }
}

bool dispatch(Decoder &decoder, Type type, bool flushes, auto &&body) {
  auto as = [&]<Order order, bool unordered>() { return makeFor<Compare<order, unordered>>(type, flushes, body); };
  using enum Order;
  switch (decoder.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu",
                             "gtu", "geu", "num", "nan"})) {
  case 0:
    return as.template operator()<Equal, false>();
  case 1:
    return as.template operator()<NotEqual, false>();
  case 2:
  case 6:
    return as.template operator()<Less, false>();
  case 3:
  case 7:
    return as.template operator()<LessEqual, false>();
  case 4:
  case 8:
    return as.template operator()<Greater, false>();
  case 5:
  case 9:
    return as.template operator()<GreaterEqual, false>();
  case 10:
    return as.template operator()<Equal, true>();
  case 11:
    return as.template operator()<NotEqual, true>();
  case 12:
    return as.template operator()<Less, true>();
  case 13:
    return as.template operator()<LessEqual, true>();
  case 14:
    return as.template operator()<Greater, true>();
  case 15:
    return as.template operator()<GreaterEqual, true>();
  case 16:
    return as.template operator()<Number, false>();
  case 17:
    return as.template operator()<NaN, false>();
  default:
    decoder.fail("compares in a way that is not known");
  }
}

bool decodeSetPredicate(Decoder &decoder, Instruction &made) {
  const bool flushes = decoder.take("ftz");
  const auto how = static_cast<Combined>(decoder.take("and")   ? 1
                                         : decoder.take("or")  ? 2
                                         : decoder.take("xor") ? 3
                                                               : 0);
  const Type type = decoder.takeType();
  const bool isOfPairs = type.count == 2;
  decoder.require(!isOfPairs || (type.bits == 16 && !type.isInteger()), "compares pairs of another type");
  decoder.require(!flushes || type.kind == Type::Float, "of this type flushes nothing");
  const size_t results = decoder.numOperands() - 2 - (how != Combined::None);
  decoder.require(results == 2 || (results == 1 && !isOfPairs), "has another number of operands");
  made.out = decoder.destination(0, 1);
  made.option = static_cast<uint16_t>(how);
  if (results == 2) {
    made.in[3] = decoder.destination(1, 1);
    made.option |= 4;
  }
  made.in[0] = decoder.source(results, type.width(), isOfPairs ? Type::Bits : type.kind);
  made.in[1] = decoder.source(results + 1, type.width(), isOfPairs ? Type::Bits : type.kind);
  if (how != Combined::None) {
    made.in[2] = decoder.source(results + 2, 1);
    made.option |= decoder.operand(results + 2).isNegated ? 8 : 0;
  }
  return dispatch(decoder, type, flushes, [&]<typename T, typename C>() {
    if constexpr (std::is_same_v<T, uint16_t>)
      made.execute = isOfPairs ? setOfPairs<C> : setPredicates<T, C>;
    else
      made.execute = setPredicates<T, C>;
  });
}

bool decodeSetWord(Decoder &decoder, Instruction &made) {
  const bool flushes = decoder.take("ftz");
  const Type to = decoder.takeType(), type = decoder.takeType();
  decoder.require(to.bits == 32 && type.count == 1, "gives another type");
  made.out = decoder.destination(0, 32);
  made.in[0] = decoder.source(1, type.bits, type.kind);
  made.in[1] = decoder.source(2, type.bits, type.kind);
  return dispatch(decoder, type, flushes,
                  [&]<typename T, typename C>() { made.execute = setWord<T, C>(to.kind == Type::Float); });
}

template <typename T> void select(Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
  const uint32_t which = *warp.at<uint32_t>(at.in[2]) ^ (at.option ? allLanes : 0);
  const T *a = warp.at<T>(at.in[0]), *b = warp.at<T>(at.in[1]);
  T *out = warp.at<T>(at.out);
  forLanes(mask, [&](unsigned lane) { out[lane] = which >> lane & 1 ? a[lane] : b[lane]; });
}

} // namespace

bool zyx::ptx::decodeCompare(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  if (opcode == "setp")
    return decodeSetPredicate(decoder, made);
  if (opcode == "set")
    return decodeSetWord(decoder, made);
  if (opcode == "selp") {
    const Type type = decoder.takeType();
    made.out = decoder.destination(0, type.bits);
    made.in[0] = decoder.source(1, type.bits, type.kind);
    made.in[1] = decoder.source(2, type.bits, type.kind);
    made.in[2] = decoder.source(3, 1);
    made.option = decoder.operand(3).isNegated;
    made.execute = type.bits == 16 ? select<uint16_t> : type.bits == 32 ? select<uint32_t> : select<uint64_t>;
    return true;
  }
  if (opcode == "testp") {
    const size_t which = decoder.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    const Type type = decoder.takeType();
    decoder.require(type.is(Type::Float, 32) && which < 6, "tests what is not known");
    made.out = decoder.destination(0, 1);
    made.in[0] = decoder.source(1, 32, Type::Float);
    Execute const made_[] = {eachCondition<float>([](float a) { return std::isfinite(a); }),
                             eachCondition<float>([](float a) { return std::isinf(a); }),
                             eachCondition<float>([](float a) { return a == a; }),
                             eachCondition<float>([](float a) { return a != a; }),
                             eachCondition<float>([](float a) { return std::isnormal(a); }),
                             eachCondition<float>([](float a) { return std::fpclassify(a) == FP_SUBNORMAL; })};
    made.execute = made_[which];
    return true;
  }
  return false;
}
