//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Arithmetic of integers, and what moves their bits.
//===----------------------------------------------------------------------===//
#include "Decoder.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace zyx::ptx;

namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;
/// Twice as wide.
template <typename T> struct Wide;
template <> struct Wide<int8_t> {
  using type = int16_t;
};
template <> struct Wide<int16_t> {
  using type = int32_t;
};
template <> struct Wide<int32_t> {
  using type = int64_t;
};
template <> struct Wide<int64_t> {
  using type = __int128;
};
template <> struct Wide<uint16_t> {
  using type = uint32_t;
};
template <> struct Wide<uint32_t> {
  using type = uint64_t;
};
template <> struct Wide<uint64_t> {
  using type = unsigned __int128;
};

/// Calls `body` with a number of the type.
template <typename F> bool withInteger(Type type, F &&body) {
  const bool isSigned = type.kind == Type::Signed;
  switch (type.bits) {
  case 16:
    isSigned ? body(int16_t()) : body(uint16_t());
    return true;
  case 32:
    isSigned ? body(int32_t()) : body(uint32_t());
    return true;
  case 64:
    isSigned ? body(int64_t()) : body(uint64_t());
    return true;
  default:
    return false;
  }
}

/// add, sub and others of two numbers of one type.
template <template <typename> class Op> bool binary(Decoder &decoder, Instruction &made, Type type) {
  return withInteger(type, [&](auto zero) {
    using T = decltype(zero);
    made.out = decoder.destination(0, type.bits);
    made.in[0] = decoder.source(1, type.bits);
    made.in[1] = decoder.source(2, type.bits);
    made.execute = each<T, T, T>(Op<T>());
  });
}
template <template <typename> class Op> bool unary(Decoder &decoder, Instruction &made, Type type) {
  return withInteger(type, [&](auto zero) {
    using T = decltype(zero);
    made.out = decoder.destination(0, type.bits);
    made.in[0] = decoder.source(1, type.bits);
    made.execute = each<T, T>(Op<T>());
  });
}

template <typename T> struct Add {
  T operator()(T a, T b) const { return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b)); }
};
template <typename T> struct Sub {
  T operator()(T a, T b) const { return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b)); }
};
template <typename T> struct MulLo {
  T operator()(T a, T b) const { return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
};
template <typename T> struct MulHi {
  T operator()(T a, T b) const {
    using W = typename Wide<T>::type;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
  }
};
/// By zero all bits are set, and there is no trap.
template <typename T> struct Div {
  T operator()(T a, T b) const {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return static_cast<T>(0 - Unsigned<T>(a));
    return static_cast<T>(a / b);
  }
};
template <typename T> struct Rem {
  T operator()(T a, T b) const {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};
template <typename T> struct Min {
  T operator()(T a, T b) const { return std::min(a, b); }
};
template <typename T> struct Max {
  T operator()(T a, T b) const { return std::max(a, b); }
};
template <typename T> struct MaxNotNegative {
  T operator()(T a, T b) const { return std::max(std::max(a, b), T(0)); }
};
template <typename T> struct MinNotNegative {
  T operator()(T a, T b) const { return std::max(std::min(a, b), T(0)); }
};
template <typename T> struct Neg {
  T operator()(T a) const { return static_cast<T>(0 - Unsigned<T>(a)); }
};
template <typename T> struct Abs {
  T operator()(T a) const { return static_cast<T>(a < 0 ? 0 - Unsigned<T>(a) : Unsigned<T>(a)); }
};

/// Of two 16-bit numbers in a register.
template <template <typename> class Op, typename T> struct Both {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const auto low = static_cast<uint16_t>(Op<T>()(static_cast<T>(a), static_cast<T>(b)));
    const auto high = static_cast<uint16_t>(Op<T>()(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return uint32_t(high) << 16 | low;
  }
};
template <template <typename> class Op> bool packed(Decoder &decoder, Instruction &made, Type type) {
  made.out = decoder.destination(0, 32);
  made.in[0] = decoder.source(1, 32);
  made.in[1] = decoder.source(2, 32);
  made.execute = type.kind == Type::Signed ? each<uint32_t, uint32_t, uint32_t>(Both<Op, int16_t>())
                                           : each<uint32_t, uint32_t, uint32_t>(Both<Op, uint16_t>());
  return true;
}

template <typename T> struct Saturating {
  static T limit(typename Wide<T>::type x) {
    using W = typename Wide<T>::type;
    return static_cast<T>(std::clamp<W>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
};

bool decodeMultiply(Decoder &decoder, Instruction &made, bool adds) {
  const size_t part = decoder.takeOneOf({"lo", "hi", "wide"});
  const Type type = decoder.takeType();
  decoder.require(part < 3 && type.isInteger() && type.count == 1, "multiplies what is not known");
  return withInteger(type, [&](auto zero) {
    using T = decltype(zero);
    const unsigned outBits = part == 2 ? 2 * type.bits : type.bits;
    decoder.require(outBits <= 64, "has no result of 128 bits");
    made.out = decoder.destination(0, outBits);
    made.in[0] = decoder.source(1, type.bits);
    made.in[1] = decoder.source(2, type.bits);
    if (adds)
      made.in[2] = decoder.source(3, outBits);
    if (part == 2) {
      if constexpr (sizeof(T) < 8) {
        using W = typename Wide<T>::type;
        made.execute = adds ? each<W, T, T, W>([](T a, T b, W c) { return Unsigned<W>(W(a) * W(b)) + Unsigned<W>(c); })
                            : each<W, T, T>([](T a, T b) { return W(a) * W(b); });
      }
    } else if (part == 1) {
      made.execute = adds ? each<T, T, T, T>([](T a, T b, T c) { return Add<T>()(MulHi<T>()(a, b), c); })
                          : each<T, T, T>(MulHi<T>());
    } else {
      made.execute = adds ? each<T, T, T, T>([](T a, T b, T c) { return Add<T>()(MulLo<T>()(a, b), c); })
                          : each<T, T, T>(MulLo<T>());
    }
  });
}

/// dp4a and dp2a: sums of products of bytes.
bool decodeDot(Decoder &decoder, Instruction &made) {
  const Type a = decoder.takeType(), b = decoder.takeType();
  decoder.require(decoder.opcode() == "dp4a" && a.bits == 32 && b.bits == 32, "multiplies what is not known");
  made.out = decoder.destination(0, 32);
  for (size_t i = 0; i < 3; ++i)
    made.in[i] = decoder.source(i + 1, 32);
  auto make = [&](auto x, auto y) {
    using A = decltype(x);
    using B = decltype(y);
    made.execute = each<uint32_t, uint32_t, uint32_t, uint32_t>([](uint32_t p, uint32_t q, uint32_t sum) {
      for (unsigned i = 0; i < 4; ++i)
        sum += static_cast<uint32_t>(int32_t(static_cast<A>(p >> 8 * i)) * int32_t(static_cast<B>(q >> 8 * i)));
      return sum;
    });
  };
  if (a.kind == Type::Signed)
    b.kind == Type::Signed ? make(int8_t(), int8_t()) : make(int8_t(), uint8_t());
  else
    b.kind == Type::Signed ? make(uint8_t(), int8_t()) : make(uint8_t(), uint8_t());
  return true;
}

} // namespace

bool zyx::ptx::decodeInteger(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  const std::vector<std::string> &words = decoder.statement->words;
  // Those of numbers with a fraction have the same names.
  const std::string &last = words.back();
  const bool isFloat = last[0] == 'f' || last.rfind("bf", 0) == 0;
  if (opcode == "dp4a" || opcode == "dp2a")
    return decodeDot(decoder, made);
  if (isFloat || last == "pred")
    return false;
  if (opcode == "mul" || opcode == "mad")
    return decodeMultiply(decoder, made, opcode == "mad");
  const bool isBinary =
      opcode == "add" || opcode == "sub" || opcode == "div" || opcode == "rem" || opcode == "min" || opcode == "max";
  if (!isBinary && opcode != "neg" && opcode != "abs")
    return false;
  const bool saturates = decoder.take("sat"), isRelu = decoder.take("relu");
  const Type type = decoder.takeType();
  decoder.require(type.isInteger(), "has no type of integers");
  decoder.require(!isRelu || ((opcode == "min" || opcode == "max") && type.kind == Type::Signed), "has no .relu");
  if (saturates) {
    decoder.require(type.is(Type::Signed, 32) && (opcode == "add" || opcode == "sub"), "has no .sat");
    made.out = decoder.destination(0, 32);
    made.in[0] = decoder.source(1, 32);
    made.in[1] = decoder.source(2, 32);
    made.execute = opcode == "add" ? each<int32_t, int32_t, int32_t>([](int32_t a, int32_t b) {
      return Saturating<int32_t>::limit(int64_t(a) + b);
    })
                                   : each<int32_t, int32_t, int32_t>([](int32_t a, int32_t b) {
                                       return Saturating<int32_t>::limit(int64_t(a) - b);
                                     });
    return true;
  }
  if (type.count == 2) {
    if (opcode == "add")
      return packed<Add>(decoder, made, type);
    if (opcode == "min")
      return isRelu ? packed<MinNotNegative>(decoder, made, type) : packed<Min>(decoder, made, type);
    if (opcode == "max")
      return isRelu ? packed<MaxNotNegative>(decoder, made, type) : packed<Max>(decoder, made, type);
    return false;
  }
  if (opcode == "add")
    return binary<Add>(decoder, made, type);
  if (opcode == "sub")
    return binary<Sub>(decoder, made, type);
  if (opcode == "div")
    return binary<Div>(decoder, made, type);
  if (opcode == "rem")
    return binary<Rem>(decoder, made, type);
  if (opcode == "min")
    return isRelu ? binary<MinNotNegative>(decoder, made, type) : binary<Min>(decoder, made, type);
  if (opcode == "max")
    return isRelu ? binary<MaxNotNegative>(decoder, made, type) : binary<Max>(decoder, made, type);
  return opcode == "neg" ? unary<Neg>(decoder, made, type) : unary<Abs>(decoder, made, type);
}
