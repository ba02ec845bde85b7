//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Arithmetic of f16 and bf16, one by one and in pairs: computed in f64, whose digits suffice for one rounding behind.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Numbers.h"

#include <set>

using namespace zyx::ptx;

namespace {

/// A product and a sum, rounded to odd, so that another rounding is as if there had been none.
double multiplyAdd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  const double other = sum - product, error = (product - (sum - other)) + (c - other);
  auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

struct Add {
  double operator()(double a, double b) const { return a + b; }
};
struct Sub {
  double operator()(double a, double b) const { return a - b; }
};
struct Mul {
  double operator()(double a, double b) const { return a * b; }
};
struct Fma {
  double operator()(double a, double b, double c) const { return multiplyAdd(a, b, c); }
};
struct FmaRelu {
  double operator()(double a, double b, double c) const { return larger<true>(multiplyAdd(a, b, c), 0.0); }
};
template <bool propagates> struct Min {
  double operator()(double a, double b) const { return smaller<propagates>(a, b); }
};
template <bool propagates> struct Max {
  double operator()(double a, double b) const { return larger<propagates>(a, b); }
};
struct Ex2 {
  double operator()(double a) const { return std::exp2(a); }
};
struct Tanh {
  double operator()(double a) const { return std::tanh(a); }
};

template <typename F> double widen(uint16_t code) {
  if constexpr (std::is_same_v<F, Half>)
    return fromHalf(code);
  else
    return fromBHalf(code);
}

template <typename F, typename Op, bool flushes> struct One {
  static constexpr uint16_t exponent = std::is_same_v<F, Half> ? 0x7c00 : 0x7f80;
  static uint16_t in(uint16_t x) { return flushes && (x & exponent) == 0 ? x & 0x8000 : x; }
  template <typename... T> uint16_t operator()(T... a) const {
    return in(static_cast<uint16_t>(F::encode(Op()(widen<F>(in(a))...))));
  }
};
template <typename F, typename Op, bool flushes> struct Pair {
  template <typename... T> uint32_t operator()(T... a) const {
    const One<F, Op, flushes> one;
    return uint32_t(one(static_cast<uint16_t>(a >> 16)...)) << 16 | one(static_cast<uint16_t>(a)...);
  }
};

template <typename Op, size_t count = 2> bool make(Decoder &decoder, Instruction &made, Type type, bool flushes) {
  made.out = decoder.destination(0, type.width());
  for (size_t i = 0; i < count; ++i)
    made.in[i] = decoder.source(i + 1, type.width());
  auto with = [&]<typename T>(T, auto op) {
    if constexpr (count == 1)
      made.execute = each<T, T>(op);
    else if constexpr (count == 2)
      made.execute = each<T, T, T>(op);
    else
      made.execute = each<T, T, T, T>(op);
  };
  auto build = [&]<typename F>(F) {
    if (type.count == 2)
      flushes ? with(uint32_t(), Pair<F, Op, true>()) : with(uint32_t(), Pair<F, Op, false>());
    else
      flushes ? with(uint16_t(), One<F, Op, true>()) : with(uint16_t(), One<F, Op, false>());
  };
  if (type.kind == Type::Float) {
    build(Half());
  } else {
    decoder.require(!flushes || std::is_same_v<Op, Ex2>, "of bf16 flushes nothing");
    build(BHalf());
  }
  return true;
}

/// Those that touch the sign alone.
template <uint32_t And, uint32_t Xor> bool sign(Decoder &decoder, Instruction &made, Type type) {
  made.out = decoder.destination(0, type.width());
  made.in[0] = decoder.source(1, type.width());
  if (type.count == 2)
    made.execute = each<uint32_t, uint32_t>([](uint32_t a) { return (a & And) ^ Xor; });
  else
    made.execute = each<uint16_t, uint16_t>([](uint16_t a) { return (a & And) ^ Xor; });
  return true;
}

} // namespace

bool zyx::ptx::decodeHalf(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode(), &last = decoder.statement->words.back();
  if (last != "f16" && last != "f16x2" && last != "bf16" && last != "bf16x2")
    return false;
  static const std::set<std::string> known = {"fma", "add", "sub", "mul", "min", "max", "neg", "abs", "ex2", "tanh"};
  if (!known.contains(opcode))
    return false;
  const Type type = decoder.takeType();
  const bool flushes = decoder.take("ftz"), isRelu = decoder.take("relu");
  decoder.take("rn");
  if (opcode == "fma")
    return isRelu ? make<FmaRelu, 3>(decoder, made, type, flushes) : make<Fma, 3>(decoder, made, type, flushes);
  decoder.require(!isRelu, "has no .relu");
  if (opcode == "add")
    return make<Add>(decoder, made, type, flushes);
  if (opcode == "sub")
    return make<Sub>(decoder, made, type, flushes);
  if (opcode == "mul")
    return make<Mul>(decoder, made, type, flushes);
  if (opcode == "min" || opcode == "max") {
    const bool propagates = decoder.take("NaN");
    if (opcode == "min")
      return propagates ? make<Min<true>>(decoder, made, type, flushes)
                        : make<Min<false>>(decoder, made, type, flushes);
    return propagates ? make<Max<true>>(decoder, made, type, flushes) : make<Max<false>>(decoder, made, type, flushes);
  }
  if (opcode == "neg")
    return sign<0xffffffff, 0x80008000>(decoder, made, type);
  if (opcode == "abs")
    return sign<0x7fff7fff, 0>(decoder, made, type);
  if (opcode == "ex2" && decoder.take("approx"))
    return make<Ex2, 1>(decoder, made, type, flushes);
  if (opcode == "tanh" && decoder.take("approx"))
    return make<Tanh, 1>(decoder, made, type, flushes);
  return false;
}
