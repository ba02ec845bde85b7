//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compose.h"

#include "zyx/Graph/UnaryKind.h"

#include <numbers>

using namespace zyx;
using namespace zyx::detail;
using graph::BinaryKind;
using graph::UnaryKind;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

Tensor Tensor::cast(DType dtype, Place where) const {
  if (handle && dtype == this->dtype())
    return *this;
  return makeNode(Op::Cast, {*this}, {}, where, {dtype, shape()});
}

Tensor Tensor::logicalNot(Place where) const { return makeUnary(UnaryKind::Not, cast(DType::Bool, where), where); }
// Written by utils/gen-graph-inc.py from UnaryKinds.td, and not by hand:
Tensor Tensor::neg(Place where) const { return makeUnary(UnaryKind::Neg, *this, where); }
Tensor Tensor::exp(Place where) const { return makeUnary(UnaryKind::Exp, *this, where); }
Tensor Tensor::exp2(Place where) const { return makeUnary(UnaryKind::Exp2, *this, where); }
Tensor Tensor::log(Place where) const { return makeUnary(UnaryKind::Log, *this, where); }
Tensor Tensor::log2(Place where) const { return makeUnary(UnaryKind::Log2, *this, where); }
Tensor Tensor::reciprocal(Place where) const { return makeUnary(UnaryKind::Recip, *this, where); }
Tensor Tensor::sqrt(Place where) const { return makeUnary(UnaryKind::Sqrt, *this, where); }
Tensor Tensor::rsqrt(Place where) const { return makeUnary(UnaryKind::Rsqrt, *this, where); }
Tensor Tensor::sin(Place where) const { return makeUnary(UnaryKind::Sin, *this, where); }
Tensor Tensor::cos(Place where) const { return makeUnary(UnaryKind::Cos, *this, where); }
Tensor Tensor::tan(Place where) const { return makeUnary(UnaryKind::Tan, *this, where); }
Tensor Tensor::tanh(Place where) const { return makeUnary(UnaryKind::Tanh, *this, where); }
Tensor Tensor::erf(Place where) const { return makeUnary(UnaryKind::Erf, *this, where); }
Tensor Tensor::floor(Place where) const { return makeUnary(UnaryKind::Floor, *this, where); }
Tensor Tensor::ceil(Place where) const { return makeUnary(UnaryKind::Ceil, *this, where); }
Tensor Tensor::round(Place where) const { return makeUnary(UnaryKind::Round, *this, where); }
Tensor Tensor::trunc(Place where) const { return makeUnary(UnaryKind::Trunc, *this, where); }
Tensor Tensor::abs(Place where) const { return makeUnary(UnaryKind::Abs, *this, where); }
Tensor Tensor::expm1(Place where) const { return makeUnary(UnaryKind::Expm1, *this, where); }
Tensor Tensor::cbrt(Place where) const { return makeUnary(UnaryKind::Cbrt, *this, where); }
// Written until here.

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// NaN stays, and at 0 the slope is 0.
Tensor Tensor::relu(Place where) const {
  return zyx::where(Operand(*this, where) <= Operand(0, where), {0, where}, {*this, where});
}

/// e = exp(-|x|) does not overflow; 1 / (1 + e), or e / (1 + e) where x is below 0. Not by abs(), which has
/// no slope at 0.
Tensor Tensor::sigmoid(Place where) const {
  expectFloat(*this, "sigmoid", where);
  const At at{where};
  const Tensor x = wide(*this, where), isBelow = at(x) < at(0);
  const Tensor power = zyx::where(isBelow, at(x), at(x.neg(where))).exp(where);
  const Tensor share = at(zyx::where(isBelow, at(power), at(1))) / at(at(power) + at(1));
  return share.cast(dtype(), where);
}

Tensor Tensor::gelu(Place where) const {
  expectFloat(*this, "gelu", where);
  const At at{where};
  const Tensor x = wide(*this, where);
  const Tensor share = at((at(x) * at(std::numbers::sqrt2 / 2)).erf(where)) + at(1);
  return (at(at(x) * at(0.5)) * at(share)).cast(dtype(), where);
}

Tensor Tensor::silu(Place where) const {
  expectFloat(*this, "silu", where);
  const At at{where};
  const Tensor x = wide(*this, where);
  return (at(x) * at(x.sigmoid(where))).cast(dtype(), where);
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

static Tensor binary(BinaryKind kind, std::string_view function, const Operand &a, const Operand &b) {
  const Pair pair = resolve(a, b, function);
  return makeBinary(kind, pair.a, pair.b, a.where);
}

Tensor zyx::operator+(Operand a, Operand b) { return binary(BinaryKind::Add, "add", a, b); }
Tensor zyx::operator-(Operand a, Operand b) { return binary(BinaryKind::Sub, "subtract", a, b); }
Tensor zyx::operator*(Operand a, Operand b) { return binary(BinaryKind::Mul, "multiply", a, b); }
Tensor zyx::operator/(Operand a, Operand b) { return binary(BinaryKind::Div, "divide", a, b); }
Tensor zyx::operator%(Operand a, Operand b) { return binary(BinaryKind::Rem, "remainder", a, b); }
Tensor zyx::operator-(Operand a) { return a.tensor.neg(a.where); }
Tensor zyx::operator&(Operand a, Operand b) { return binary(BinaryKind::And, "and", a, b); }
Tensor zyx::operator|(Operand a, Operand b) { return binary(BinaryKind::Or, "or", a, b); }
Tensor zyx::operator^(Operand a, Operand b) { return binary(BinaryKind::Xor, "xor", a, b); }
Tensor zyx::operator<<(Operand a, Operand b) { return binary(BinaryKind::Shl, "shift left", a, b); }
Tensor zyx::operator>>(Operand a, Operand b) { return binary(BinaryKind::Shr, "shift right", a, b); }
Tensor &zyx::operator+=(Tensor &a, Operand b) { return a = Operand(a, b.where) + b; }
Tensor &zyx::operator-=(Tensor &a, Operand b) { return a = Operand(a, b.where) - b; }
Tensor &zyx::operator*=(Tensor &a, Operand b) { return a = Operand(a, b.where) * b; }
Tensor &zyx::operator/=(Tensor &a, Operand b) { return a = Operand(a, b.where) / b; }
Tensor &zyx::operator%=(Tensor &a, Operand b) { return a = Operand(a, b.where) % b; }
Tensor &zyx::operator&=(Tensor &a, Operand b) { return a = Operand(a, b.where) & b; }
Tensor &zyx::operator|=(Tensor &a, Operand b) { return a = Operand(a, b.where) | b; }
Tensor &zyx::operator^=(Tensor &a, Operand b) { return a = Operand(a, b.where) ^ b; }
Tensor &zyx::operator<<=(Tensor &a, Operand b) { return a = Operand(a, b.where) << b; }
Tensor &zyx::operator>>=(Tensor &a, Operand b) { return a = Operand(a, b.where) >> b; }
Tensor zyx::operator<(Operand a, Operand b) { return binary(BinaryKind::Lt, "less", a, b); }
Tensor zyx::operator<=(Operand a, Operand b) { return binary(BinaryKind::Le, "less or equal", a, b); }
Tensor zyx::operator>(Operand a, Operand b) { return binary(BinaryKind::Gt, "greater", a, b); }
Tensor zyx::operator>=(Operand a, Operand b) { return binary(BinaryKind::Ge, "greater or equal", a, b); }
Tensor zyx::operator==(Operand a, Operand b) { return binary(BinaryKind::Eq, "equal", a, b); }
Tensor zyx::operator!=(Operand a, Operand b) { return binary(BinaryKind::Ne, "not equal", a, b); }
Tensor zyx::pow(Operand a, Operand b) { return binary(BinaryKind::Pow, "pow", a, b); }
Tensor zyx::maximum(Operand a, Operand b) { return binary(BinaryKind::Max, "maximum", a, b); }
Tensor zyx::minimum(Operand a, Operand b) { return binary(BinaryKind::Min, "minimum", a, b); }

Tensor zyx::where(const Tensor &condition, Operand a, Operand b) {
  const Place place = a.where;
  if (!condition.isDefined() || condition.dtype() != DType::Bool)
    refuse("where: the condition is of dtype " + std::string(toString(condition.dtype())) + ", not bool", place);
  const Pair pair = resolve(a, b, "where");
  const std::optional<Shape> shape = broadcast(condition.shape(), pair.a.shape());
  if (!shape)
    refuse("where: shapes " + toString(condition.shape()) + " and " + toString(pair.a.shape()) + " do not broadcast",
           place);
  return makeNode(
      Op::Select,
      {expandTo(condition, *shape, place), expandTo(pair.a, *shape, place), expandTo(pair.b, *shape, place)}, {},
      place);
}
