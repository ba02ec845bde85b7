//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Drawer.h"

#include <algorithm>

namespace zyx::smith {

/// Of an operand that is not exact, tan may be anything.
static constexpr UnaryKind ofFloats[] = {
#define ZYX_GRAPH_UNARY_NUMBERS(Name) UnaryKind::Name,
#define ZYX_GRAPH_UNARY_FLOATS(Name) UnaryKind::Name == UnaryKind::Tan ? UnaryKind::Neg : UnaryKind::Name,
#include "zyx/Graph/UnaryKinds.inc"
};
static constexpr UnaryKind nanBelowZero[] = {
#define ZYX_GRAPH_UNARY_NAN_BELOW_ZERO(Name) UnaryKind::Name,
#include "zyx/Graph/UnaryKinds.inc"
};

static std::optional<NodeId> drawUnary(Drawer &d, NodeId x) {
  x = d.arithmetic(x);
  const DType dtype = d.type(x).dtype;
  if (dtype == DType::Bool)
    return d.b.unary(UnaryKind::Not, x);
  if (!isFloat(dtype))
    return d.b.unary(d.oneOf({UnaryKind::Neg, UnaryKind::Abs, UnaryKind::Not}), x);
  const UnaryKind kind = d.oneOf(std::span<const UnaryKind>(ofFloats));
  const bool positive = std::ranges::find(nanBelowZero, kind) != std::end(nanBelowZero);
  return d.b.unary(kind, positive ? d.b.unary(UnaryKind::Abs, x) : x);
}

static std::optional<NodeId> drawBinary(Drawer &d, NodeId x) {
  x = d.computable(x);
  const DType dtype = d.type(x).dtype;
  const auto bits = [&] { return d.oneOf({BinaryKind::And, BinaryKind::Or, BinaryKind::Xor}); };
  BinaryKind kind = d.oneOf({BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul, BinaryKind::Add, BinaryKind::Mul,
                             BinaryKind::Div, BinaryKind::Max, BinaryKind::Min, BinaryKind::Rem});
  if (isInteger(dtype) && d.random.chance(0.3))
    kind = d.random.chance(0.5) ? bits() : d.oneOf({BinaryKind::Shl, BinaryKind::Shr});
  const NodeId y = d.partner(d.type(x));
  return d.random.chance(0.5) ? d.b.binary(kind, x, y) : d.b.binary(kind, y, x);
}

static std::optional<NodeId> drawCompare(Drawer &d, NodeId x) {
  x = d.arithmetic(x);
  return d.b.binary(
      d.oneOf({BinaryKind::Lt, BinaryKind::Le, BinaryKind::Gt, BinaryKind::Ge, BinaryKind::Eq, BinaryKind::Ne}), x,
      d.partner(d.type(x)));
}

static std::optional<NodeId> drawLogic(Drawer &d, NodeId x) {
  if (d.type(x).dtype != DType::Bool)
    return std::nullopt;
  return d.b.binary(d.oneOf({BinaryKind::And, BinaryKind::Or, BinaryKind::Xor}), x, d.partner(d.type(x)));
}

static std::optional<NodeId> drawSelect(Drawer &d, NodeId x) {
  x = d.computable(x);
  const NodeId y = d.partner(d.type(x));
  const NodeId c = d.random.chance(0.5) ? d.b.binary(BinaryKind::Lt, x, y) : d.partner({DType::Bool, d.shape(x)});
  return d.b.select(c, x, y);
}

static std::optional<NodeId> drawCast(Drawer &d, NodeId x) { return d.b.cast(x, d.drawDType()); }

static std::optional<NodeId> drawIota(Drawer &d, NodeId x) {
  if (d.rank(x) == 0)
    return std::nullopt;
  const DType dtype = isFloat(d.drawDType()) ? DType::F32 : DType::I32;
  return d.b.iota({dtype, d.shape(x)}, d.drawDim(x));
}

static std::optional<NodeId> drawConstant(Drawer &d, NodeId x) {
  const Shape shape = d.shape(x);
  if (*numElements(shape) * 8 > graph::maxConstantBytes)
    return std::nullopt;
  return d.b.constant(conformance::moderate(d.drawDType(), shape, d.random));
}

std::span<const Production> elementwiseProductions() {
  static constexpr Production table[] = {
      {"unary", 22, drawUnary},  {"binary", 24, drawBinary}, {"compare", 4, drawCompare}, {"logic", 4, drawLogic},
      {"select", 5, drawSelect}, {"cast", 6, drawCast},      {"iota", 2, drawIota},       {"constant", 1, drawConstant},
  };
  return table;
}

} // namespace zyx::smith
