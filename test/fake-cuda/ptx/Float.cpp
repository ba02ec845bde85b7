//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Arithmetic of f32 and f64. What PTX rounds is rounded by the host; what it approximates is computed with more digits.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Numbers.h"

#include <set>

using namespace zyx::ptx;

namespace {

template <typename T> constexpr bool isSingle = sizeof(T) == 4;

struct Add {
  template <typename T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <typename T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  template <typename T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  template <typename T> T operator()(T a, T b) const { return a / b; }
};
struct Fma {
  template <typename T> T operator()(T a, T b, T c) const { return std::fma(a, b, c); }
};
struct Sqrt {
  template <typename T> T operator()(T a) const { return std::sqrt(a); }
};
struct Rcp {
  template <typename T> T operator()(T a) const { return 1 / a; }
};
struct Rsqrt {
  template <typename T> T operator()(T a) const { return static_cast<T>(1 / std::sqrt(static_cast<double>(a))); }
};
struct Ex2 {
  template <typename T> T operator()(T a) const { return static_cast<T>(std::exp2(static_cast<double>(a))); }
};
struct Lg2 {
  template <typename T> T operator()(T a) const { return static_cast<T>(std::log2(static_cast<double>(a))); }
};
struct Sin {
  template <typename T> T operator()(T a) const { return static_cast<T>(std::sin(static_cast<double>(a))); }
};
struct Cos {
  template <typename T> T operator()(T a) const { return static_cast<T>(std::cos(static_cast<double>(a))); }
};
struct Tanh {
  template <typename T> T operator()(T a) const { return static_cast<T>(std::tanh(static_cast<double>(a))); }
};
template <bool propagates> struct Min {
  template <typename T> T operator()(T a, T b) const { return smaller<propagates>(a, b); }
};
template <bool propagates> struct Max {
  template <typename T> T operator()(T a, T b) const { return larger<propagates>(a, b); }
};
/// The first operand's sign.
struct CopySign {
  template <typename T> T operator()(T a, T b) const { return std::copysign(b, a); }
};
/// These change the sign alone.
struct Neg {
  template <typename T> T operator()(T a) const { return -a; }
};
struct Abs {
  template <typename T> T operator()(T a) const { return std::fabs(a); }
};

template <typename Op, bool flushes, bool keeps> struct Rounded {
  template <typename... T> auto operator()(T... a) const {
    if constexpr (keeps)
      return flushes ? flush(Op()(flush(a)...)) : Op()(a...);
    else if constexpr (flushes)
      return canonical(flush(Op()(flush(a)...)));
    else
      return canonical(Op()(a...));
  }
};
template <typename Op, bool flushes> struct Saturated {
  template <typename... T> auto operator()(T... a) const {
    auto x = Rounded<Op, flushes, false>()(a...);
    return x > 0 ? (x < 1 ? x : decltype(x)(1)) : decltype(x)(0);
  }
};

struct Flags {
  bool flushes = false, saturates = false;
};

template <typename Op, bool keeps = false, size_t count = 2>
bool make(Decoder &decoder, Instruction &made, Type type, Flags flags) {
  decoder.require(type.kind == Type::Float && type.count == 1 && (type.bits == 32 || type.bits == 64),
                  "has no type of numbers");
  made.out = decoder.destination(0, type.bits);
  for (size_t i = 0; i < count; ++i)
    made.in[i] = decoder.source(i + 1, type.bits, Type::Float);
  auto build = [&]<typename T>(T) {
    auto with = [&](auto op) {
      if constexpr (count == 1)
        made.execute = each<T, T>(op);
      else if constexpr (count == 2)
        made.execute = each<T, T, T>(op);
      else
        made.execute = each<T, T, T, T>(op);
    };
    if (flags.saturates)
      flags.flushes ? with(Saturated<Op, true>()) : with(Saturated<Op, false>());
    else
      flags.flushes ? with(Rounded<Op, true, keeps>()) : with(Rounded<Op, false, keeps>());
  };
  type.bits == 32 ? build(float()) : build(double());
  return true;
}

} // namespace

bool zyx::ptx::decodeFloat(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode(), &last = decoder.statement->words.back();
  if (last != "f32" && last != "f64")
    return false;
  static const std::set<std::string> known = {"add", "sub",      "mul", "fma", "mad",  "div", "min",
                                              "max", "copysign", "neg", "abs", "sqrt", "rcp", "rsqrt",
                                              "ex2", "lg2",      "sin", "cos", "tanh"};
  if (!known.contains(opcode))
    return false;
  Flags flags;
  const Type type = decoder.takeType();
  flags.flushes = decoder.take("ftz");
  flags.saturates = decoder.take("sat");
  const bool isApproximate = decoder.take("approx") || decoder.take("full");
  const bool isRounded = decoder.take("rn");
  auto needsWay = [&] { decoder.require(isApproximate || isRounded, "rounds in a way that is not known"); };
  if (opcode == "add")
    return make<Add>(decoder, made, type, flags);
  if (opcode == "sub")
    return make<Sub>(decoder, made, type, flags);
  if (opcode == "mul")
    return make<Mul>(decoder, made, type, flags);
  if (opcode == "fma" || opcode == "mad") {
    needsWay();
    return make<Fma, false, 3>(decoder, made, type, flags);
  }
  if (opcode == "div") {
    needsWay();
    return make<Div>(decoder, made, type, flags);
  }
  if (opcode == "min" || opcode == "max") {
    const bool propagates = decoder.take("NaN");
    if (opcode == "min")
      return propagates ? make<Min<true>>(decoder, made, type, flags) : make<Min<false>>(decoder, made, type, flags);
    return propagates ? make<Max<true>>(decoder, made, type, flags) : make<Max<false>>(decoder, made, type, flags);
  }
  if (opcode == "copysign")
    return make<CopySign, true>(decoder, made, type, flags);
  if (opcode == "neg")
    return make<Neg, true, 1>(decoder, made, type, flags);
  if (opcode == "abs")
    return make<Abs, true, 1>(decoder, made, type, flags);
  if (opcode == "sqrt") {
    needsWay();
    return make<Sqrt, false, 1>(decoder, made, type, flags);
  }
  if (opcode == "rcp") {
    needsWay();
    return make<Rcp, false, 1>(decoder, made, type, flags);
  }
  if (opcode == "rsqrt")
    return make<Rsqrt, false, 1>(decoder, made, type, flags);
  if (opcode == "ex2")
    return make<Ex2, false, 1>(decoder, made, type, flags);
  if (opcode == "lg2")
    return make<Lg2, false, 1>(decoder, made, type, flags);
  if (opcode == "sin")
    return make<Sin, false, 1>(decoder, made, type, flags);
  if (opcode == "cos")
    return make<Cos, false, 1>(decoder, made, type, flags);
  if (opcode == "tanh")
    return make<Tanh, false, 1>(decoder, made, type, flags);
  return false;
}
