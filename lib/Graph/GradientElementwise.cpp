//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientRules.h"

#include "zyx/Graph/UnaryKind.h"

#include <algorithm>
#include <numbers>

// A kind without a case does not compile: docs/adding-an-op.md.
#pragma GCC diagnostic error "-Wswitch"

namespace zyx::graph {

static void differentiateUnary(GradientPass &p, NodeId y, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  const auto give = [&](NodeId gradient) { p.give(x, gradient); };
  switch (static_cast<UnaryKind>(node.attributes.kind)) {
  case UnaryKind::Neg:
    return give(p.neg(g));
  case UnaryKind::Exp:
    return give(p.mul(g, y));
  case UnaryKind::Exp2:
    return give(p.scale(p.mul(g, y), std::numbers::ln2));
  case UnaryKind::Expm1:
    // Not y + 1, which has lost its digits where y is next to -1.
    return give(p.mul(g, p.unary(UnaryKind::Exp, x)));
  case UnaryKind::Log:
    return give(p.div(g, x));
  case UnaryKind::Log2:
    return give(p.div(p.scale(g, std::numbers::log2e), x));
  case UnaryKind::Recip:
    return give(p.neg(p.mul(p.mul(g, y), y)));
  case UnaryKind::Sqrt:
    return give(p.div(p.scale(g, 0.5), y));
  case UnaryKind::Rsqrt:
    return give(p.mul(p.scale(g, -0.5), p.mul(p.mul(y, y), y)));
  case UnaryKind::Cbrt:
    return give(p.div(p.scale(g, 1.0 / 3), p.mul(y, y)));
  case UnaryKind::Sin:
    return give(p.mul(g, p.unary(UnaryKind::Cos, x)));
  case UnaryKind::Cos:
    return give(p.neg(p.mul(g, p.unary(UnaryKind::Sin, x))));
  case UnaryKind::Tan:
    return give(p.mul(g, p.add(p.fillLike(y, 1), p.mul(y, y))));
  case UnaryKind::Tanh:
    return give(p.mul(g, p.sub(p.fillLike(y, 1), p.mul(y, y))));
  case UnaryKind::Erf:
    return give(p.mul(p.scale(g, 2 * std::numbers::inv_sqrtpi), p.unary(UnaryKind::Exp, p.neg(p.mul(x, x)))));
  case UnaryKind::Abs: {
    const NodeId zero = p.fillLike(x, 0);
    const NodeId below = p.keepWhere(p.binary(BinaryKind::Lt, x, zero), p.neg(g));
    return give(p.select(p.binary(BinaryKind::Gt, x, zero), g, below));
  }
  case UnaryKind::Not:
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::Round:
  case UnaryKind::Trunc:
    // Not differentiable, so that nothing comes here.
    return;
  }
}

/// Whether all elements are one number, and not zero.
static bool isNonzeroSplat(const Graph &graph, NodeId id) {
  while (graph.node(id).op == Op::Reshape || graph.node(id).op == Op::Expand)
    id = graph.node(id).operands[0];
  const Attributes &attributes = graph.node(id).attributes;
  // Both zeros have no other bits than a sign.
  return attributes.splat && std::ranges::any_of(attributes.value, [&](const std::byte &byte) {
           const bool isLast = &byte == &attributes.value.back();
           return (isLast ? byte & std::byte(0x7f) : byte) != std::byte(0);
         });
}

/// b * a^(b-1), and y * log(a); both zero where the power is constant nearby or has no derivative
/// that is a number: see docs/gradients.md. What is excluded is replaced before it is computed, so
/// that nothing infinite is multiplied by zero in the gradient's own gradient. Even where b is known
/// the formula keeps it, because the gradient may be differentiated by b in turn.
static void differentiatePow(GradientPass &p, NodeId y, const Node &node, NodeId g) {
  const NodeId a = node.operands[0], b = node.operands[1];
  const NodeId zero = p.fillLike(a, 0), one = p.fillLike(a, 1);
  if (p.needs(a)) {
    NodeId base = a;
    if (!isNonzeroSplat(p.graph, b))
      base = p.select(p.binary(BinaryKind::And, p.binary(BinaryKind::Eq, a, zero), p.binary(BinaryKind::Eq, b, zero)),
                      one, a);
    p.give(a, p.mul(p.mul(g, b), p.binary(BinaryKind::Pow, base, p.sub(b, one))));
  }
  if (p.needs(b)) {
    const NodeId isFlat =
        p.binary(BinaryKind::And, p.binary(BinaryKind::Eq, a, zero), p.binary(BinaryKind::Ge, b, zero));
    const NodeId log = p.unary(UnaryKind::Log, p.select(isFlat, one, a));
    p.give(b, p.mul(p.mul(g, y), log));
  }
}

/// To the operand that is chosen; to both halves where they are equal, and to none with NaN.
static void differentiateChoice(GradientPass &p, const Node &node, NodeId g) {
  const bool isMax = static_cast<BinaryKind>(node.attributes.kind) == BinaryKind::Max;
  const NodeId a = node.operands[0], b = node.operands[1];
  const NodeId half = p.keepWhere(p.binary(BinaryKind::Eq, a, b), p.scale(g, 0.5));
  if (p.needs(a))
    p.give(a, p.select(p.binary(isMax ? BinaryKind::Gt : BinaryKind::Lt, a, b), g, half));
  if (p.needs(b))
    p.give(b, p.select(p.binary(isMax ? BinaryKind::Lt : BinaryKind::Gt, a, b), g, half));
}

static void differentiateBinary(GradientPass &p, NodeId y, const Node &node, NodeId g) {
  const NodeId a = node.operands[0], b = node.operands[1];
  const bool needsA = p.needs(a), needsB = p.needs(b);
  switch (static_cast<BinaryKind>(node.attributes.kind)) {
  case BinaryKind::Add:
    if (needsA)
      p.give(a, g);
    if (needsB)
      p.give(b, g);
    return;
  case BinaryKind::Sub:
    if (needsA)
      p.give(a, g);
    if (needsB)
      p.give(b, p.neg(g));
    return;
  case BinaryKind::Mul:
    if (needsA)
      p.give(a, p.mul(g, b));
    if (needsB)
      p.give(b, p.mul(g, a));
    return;
  case BinaryKind::Div: {
    const NodeId quotient = p.div(g, b);
    if (needsA)
      p.give(a, quotient);
    if (needsB)
      p.give(b, p.neg(p.mul(quotient, y)));
    return;
  }
  case BinaryKind::Rem:
    if (needsA)
      p.give(a, g);
    if (needsB) {
      // a - y is a multiple of b; the quotient a / b itself may round up to the next one.
      const NodeId multiple = p.unary(UnaryKind::Round, p.div(p.sub(a, y), b));
      p.give(b, p.neg(p.mul(g, multiple)));
    }
    return;
  case BinaryKind::Pow:
    return differentiatePow(p, y, node, g);
  case BinaryKind::Max:
  case BinaryKind::Min:
    return differentiateChoice(p, node, g);
  case BinaryKind::And:
  case BinaryKind::Or:
  case BinaryKind::Xor:
  case BinaryKind::Shl:
  case BinaryKind::Shr:
  case BinaryKind::Lt:
  case BinaryKind::Le:
  case BinaryKind::Gt:
  case BinaryKind::Ge:
  case BinaryKind::Eq:
  case BinaryKind::Ne:
    // Not of floats, or no floats.
    return;
  }
}

/// The gradient is rounded to the narrower type of the two where it computes on: going down it was
/// already, so that it is the wider one from here on; going up it stays wide through views.
static void differentiateCast(GradientPass &p, const Node &node, NodeId g) {
  const NodeId x = node.operands[0];
  const bool widens = byteSize(p.dtype(x)) > byteSize(node.type.dtype);
  p.give(x, widens ? p.cast(g, p.dtype(x)) : g);
}

void differentiateElementwise(GradientPass &pass, NodeId id, const Node &node, NodeId g) {
  switch (node.op) {
  case Op::Unary:
    return differentiateUnary(pass, id, node, g);
  case Op::Binary:
    return differentiateBinary(pass, id, node, g);
  case Op::Cast:
    return differentiateCast(pass, node, g);
  default:
    ZYX_ASSERT(node.op == Op::Select, "an element-wise op");
    if (pass.needs(node.operands[1]))
      pass.give(node.operands[1], pass.keepWhere(node.operands[0], g));
    if (pass.needs(node.operands[2]))
      pass.give(node.operands[2], pass.zeroWhere(node.operands[0], g));
  }
}

} // namespace zyx::graph
