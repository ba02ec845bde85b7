//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Bounds.h"

#include <cmath>
#include <limits>

namespace zyx::conformance {

using graph::Node;
using graph::Op;

/// Half the distance of 1 and the next larger number.
static double unitOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 0x1p-11;
  case DType::BF16:
    return 0x1p-8;
  case DType::F32:
    return 0x1p-24;
  case DType::F64:
    return 0x1p-53;
  case DType::F8E4M3FN:
    return 0x1p-4;
  case DType::F8E5M2:
    return 0x1p-3;
  default:
    return 0;
  }
}

static double smallestOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 0x1p-24;
  case DType::BF16:
    return 0x1p-133;
  case DType::F32:
    return 0x1p-149;
  case DType::F64:
    return 0x1p-1074;
  case DType::F8E4M3FN:
    return 0x1p-9;
  case DType::F8E5M2:
    return 0x1p-16;
  default:
    return 0;
  }
}

/// From where on a cast gives no number; infinity where none is that large.
static double overflowOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 65520;
  case DType::BF16:
    return 0x1.ffp127;
  case DType::F32:
    return 0x1.ffffffp127;
  case DType::F8E4M3FN:
    return 464;
  case DType::F8E5M2:
    return 61440;
  default:
    return std::numeric_limits<double>::infinity();
  }
}

// A kind without a case does not compile: docs/adding-an-op.md.
#pragma GCC diagnostic error "-Wswitch"

/// Whether it is rounded more than once: allowedUlps() says how far off it may be.
static bool isTranscendental(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Exp:
  case UnaryKind::Exp2:
  case UnaryKind::Expm1:
  case UnaryKind::Log:
  case UnaryKind::Log2:
  case UnaryKind::Rsqrt:
  case UnaryKind::Cbrt:
  case UnaryKind::Sin:
  case UnaryKind::Cos:
  case UnaryKind::Tan:
  case UnaryKind::Tanh:
  case UnaryKind::Erf:
    return true;
  case UnaryKind::Neg:
  case UnaryKind::Not:
  case UnaryKind::Recip:
  case UnaryKind::Sqrt:
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::Round:
  case UnaryKind::Trunc:
  case UnaryKind::Abs:
    return false;
  }
  return false;
}

int64_t allowedUlps(DType dtype) { return dtype == DType::F32 || dtype == DType::F64 ? 4 : 1; }

std::string ulpFunction(Builder &builder, Bounds &bounds, NodeId x) {
  const Node node = builder.graph().node(x);
  const bool pow = node.op == Op::Binary && isFloat(node.type.dtype) &&
                   static_cast<BinaryKind>(node.attributes.kind) == BinaryKind::Pow;
  if (!pow && !(node.op == Op::Unary && isTranscendental(static_cast<UnaryKind>(node.attributes.kind))))
    return {};
  for (NodeId operand : node.operands)
    if (bounds.of(operand))
      return {};
  const std::string_view name = pow ? "pow" : toString(static_cast<UnaryKind>(node.attributes.kind));
  return std::string(name) + "." + std::string(toString(node.type.dtype));
}

NodeId Bounds::magnitude(NodeId x) { return b.unary(UnaryKind::Abs, wide(x)); }

NodeId Bounds::orZero(std::optional<NodeId> bound, NodeId x) {
  return bound ? *bound : b.splat(DType::F64, b.type(x).shape, 0);
}

NodeId Bounds::rounding(NodeId y, double units) {
  const DType dtype = b.type(y).dtype;
  // An infinity is not rounded: exp of it would take an infinite bound further.
  const NodeId size = magnitude(y);
  const NodeId infinite = b.binary(BinaryKind::Eq, size, b.like(size, std::numeric_limits<double>::infinity()));
  const NodeId relative = scaled(b.select(infinite, b.like(size, 0), size), units * unitOf(dtype));
  return b.add(relative, b.like(relative, units * smallestOf(dtype)));
}

std::optional<NodeId> Bounds::taint(const Node &node, NodeId y) {
  std::optional<NodeId> sum;
  for (NodeId operand : node.operands)
    if (const std::optional<NodeId> bound = of(operand))
      sum = sum ? b.add(*sum, *bound) : *bound;
  if (!sum)
    return std::nullopt;
  const NodeId zero = b.like(*sum, 0);
  return b.select(b.binary(BinaryKind::Eq, *sum, zero), zero, b.like(*sum, std::numeric_limits<double>::infinity()));
}

std::optional<NodeId> Bounds::of(NodeId x) {
  const auto found = known.find(x);
  if (found != known.end())
    return found->second;
  // Deep graphs are shallow here: cases have tens of nodes.
  return known[x] = compute(x);
}

std::optional<NodeId> Bounds::compute(NodeId y) {
  const Node node = b.graph().node(y); // a copy: the arena grows
  const auto viewed = [&](auto view) -> std::optional<NodeId> {
    const std::optional<NodeId> bound = of(node.operands[0]);
    return bound ? std::optional<NodeId>(view(*bound)) : std::nullopt;
  };
  switch (node.op) {
  case Op::Constant:
  case Op::Parameter:
  case Op::Iota:
    return std::nullopt;
  case Op::Reshape:
    return viewed([&](NodeId e) { return b.reshape(e, node.type.shape); });
  case Op::Expand:
    return viewed([&](NodeId e) { return b.expand(e, node.type.shape); });
  case Op::Permute:
    return viewed([&](NodeId e) { return b.permute(e, node.attributes.dims); });
  case Op::Reduce:
    return reduce(y, node);
  case Op::Cast:
    return cast(y, node);
  case Op::Unary:
    return unary(y, node);
  case Op::Binary:
    return binary(y, node);
  case Op::Select:
    return select(node);
  case Op::Gather:
    return gather(node);
  case Op::Scan:
    return scan(y, node);
  case Op::Sort:
    return sort(node);
  case Op::Scatter:
    return scatter(y, node);
  case Op::RandomBits:
    // Bits of an inexact seed are any bits.
    return of(node.operands[0])
               ? std::optional<NodeId>(b.splat(DType::F64, node.type.shape, std::numeric_limits<double>::infinity()))
               : std::nullopt;
  case Op::Flip:
    return viewed([&](NodeId e) { return b.flip(e, node.attributes.dims); });
  case Op::Window:
    return viewed([&](NodeId e) {
      const graph::Attributes &a = node.attributes;
      return b.window(e, a.dims, a.size, a.stride, a.dilation);
    });
  case Op::Transfer:
    return of(node.operands[0]);
  case Op::Pad:
    return pad(node);
  case Op::Concat:
    return concat(node);
  case Op::Bitcast:
    // Nothing is known of numbers whose bits are uncertain, unless they stay what they are.
    return viewed([&](NodeId e) {
      if (b.type(node.operands[0]).dtype == node.type.dtype)
        return e;
      const NodeId zero = b.like(e, 0);
      return b.select(b.binary(BinaryKind::Eq, e, zero), zero, b.like(e, std::numeric_limits<double>::infinity()));
    });
  case Op::Loop:
    return loop(node);
  case Op::Custom:
    return of(
        (*b.graph().inlineBody(node.attributes.body, node.operands))[static_cast<size_t>(node.attributes.result)]);
  default:
    break;
  }
  return std::nullopt;
}

/// What a node is through views, and through pads: weights of sinks are cut off.
static Node sourceOf(Builder &b, NodeId x) {
  const Node node = b.graph().node(x);
  const bool isView = node.op == Op::Reshape || node.op == Op::Expand || node.op == Op::Permute || node.op == Op::Pad;
  return isView ? sourceOf(b, node.operands[0]) : node;
}

/// The exponentials of a softmax, maybe divided by their sum; and the gradient of its scores, which is a multiple of
/// them, maybe masked. Looks at few ops.
static bool isWeight(Builder &b, NodeId x, int depth = 8) {
  const Node node = sourceOf(b, x);
  if (node.op == Op::Unary && static_cast<UnaryKind>(node.attributes.kind) == UnaryKind::Exp)
    return true;
  if (depth == 0)
    return false;
  if (node.op == Op::Unary)
    return static_cast<UnaryKind>(node.attributes.kind) == UnaryKind::Neg && isWeight(b, node.operands[0], depth - 1);
  if (node.op == Op::Select)
    return isWeight(b, node.operands[1], depth - 1) || isWeight(b, node.operands[2], depth - 1);
  const auto kind = static_cast<BinaryKind>(node.attributes.kind);
  const bool isProduct = node.op == Op::Binary && kind == BinaryKind::Mul;
  const bool goesOn = node.op == Op::Cast || (node.op == Op::Binary && kind == BinaryKind::Div) || isProduct;
  return goesOn &&
         (isWeight(b, node.operands[0], depth - 1) || (isProduct && isWeight(b, node.operands[1], depth - 1)));
}

std::optional<Bounds::RoundedWeights> Bounds::roundedWeights(NodeId x) {
  const Node product = b.graph().node(x);
  if (product.op != Op::Binary || static_cast<BinaryKind>(product.attributes.kind) != BinaryKind::Mul)
    return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const Node values = sourceOf(b, product.operands[i]);
    if (values.op != Op::Cast || !isWeight(b, product.operands[1 - i]))
      continue;
    const DType dtype = b.type(values.operands[0]).dtype;
    if (dtype == DType::F16 || dtype == DType::BF16)
      return RoundedWeights{dtype, product.operands[i]};
  }
  return std::nullopt;
}

/// What is linear in a sum of products of values of 16 bits, with the size of these products in its place, times the
/// unit of their type.
std::optional<NodeId> Bounds::roundedProducts(NodeId x, int depth) {
  const Node node = b.graph().node(x);
  const auto unit = [&](NodeId factor) {
    const Node values = sourceOf(b, factor);
    const DType dtype = values.op == Op::Cast ? b.type(values.operands[0]).dtype : DType::F32;
    return dtype == DType::F16 || dtype == DType::BF16 ? unitOf(dtype) : 0;
  };
  if (depth == 0)
    return std::nullopt;
  const auto of = [&](size_t operand) { return roundedProducts(node.operands[operand], depth - 1); };
  const auto kind = static_cast<BinaryKind>(node.attributes.kind);
  if (node.op == Op::Reduce && static_cast<ReduceKind>(node.attributes.kind) == ReduceKind::Add) {
    const Node product = b.graph().node(node.operands[0]);
    if (product.op != Op::Binary || static_cast<BinaryKind>(product.attributes.kind) != BinaryKind::Mul ||
        unit(product.operands[0]) == 0 || unit(product.operands[1]) == 0)
      return std::nullopt;
    return scaled(b.reduce(ReduceKind::Add, magnitude(node.operands[0]), node.attributes.dims),
                  std::max(unit(product.operands[0]), unit(product.operands[1])));
  }
  const bool isNegated = node.op == Op::Unary && static_cast<UnaryKind>(node.attributes.kind) == UnaryKind::Neg;
  if (isNegated || node.op == Op::Cast)
    return of(0);
  if (node.op == Op::Reshape) {
    const std::optional<NodeId> inside = of(0);
    return inside ? std::optional<NodeId>(b.reshape(*inside, node.type.shape)) : std::nullopt;
  }
  if (node.op == Op::Pad) {
    const std::optional<NodeId> inside = of(0);
    const graph::Attributes &a = node.attributes;
    return inside
               ? std::optional<NodeId>(b.pad(*inside, b.splat(b.type(*inside).dtype, {}, 0), a.low, a.high, a.interior))
               : std::nullopt;
  }
  if (node.op != Op::Binary || (kind != BinaryKind::Mul && kind != BinaryKind::Div))
    return std::nullopt;
  if (const std::optional<NodeId> left = of(0))
    return b.binary(kind, *left, magnitude(node.operands[1]));
  const std::optional<NodeId> right = kind == BinaryKind::Mul ? of(1) : std::nullopt;
  return right ? std::optional<NodeId>(b.mul(magnitude(node.operands[0]), *right)) : std::nullopt;
}

std::optional<NodeId> Bounds::reduce(NodeId y, const Node &node) {
  const NodeId x = node.operands[0];
  const std::vector<int64_t> &dims = node.attributes.dims;
  const auto kind = static_cast<ReduceKind>(node.attributes.kind);
  double terms = 1;
  for (int64_t dim : dims)
    terms *= static_cast<double>(b.type(x).shape[static_cast<size_t>(dim)]);
  const std::optional<NodeId> bound =
      combined(y, x, kind, terms, [&](ReduceKind how, NodeId of) { return b.reduce(how, of, dims); });
  // The sum of weights times their gradients may be that of results of 16 bits times what comes to them.
  const bool mayBeOfResults = bound && kind == ReduceKind::Add && isWeight(b, x) && allows(&Roundings::ofResults);
  const std::optional<NodeId> rounded = mayBeOfResults ? roundedProducts(x) : std::nullopt;
  return rounded ? std::optional<NodeId>(b.add(*bound, scaled(b.reduce(kind, *rounded, dims), 2))) : bound;
}

std::optional<NodeId> Bounds::scan(NodeId y, const Node &node) {
  const graph::Attributes &a = node.attributes;
  const int64_t dim = a.dims[0];
  return combined(y, node.operands[0], static_cast<ReduceKind>(a.kind),
                  static_cast<double>(node.type.shape[static_cast<size_t>(dim)]), [&](ReduceKind kind, NodeId of) {
                    const NodeId scanned = b.scan(kind, of, dim, a.exclusive, a.reverse);
                    // An exclusive one begins with -infinity.
                    return kind == ReduceKind::Max ? maximum(scanned, b.like(scanned, 0)) : scanned;
                  });
}

NodeId Bounds::infiniteWhereInexact(NodeId bound) {
  const NodeId zero = b.like(bound, 0);
  return b.select(b.binary(BinaryKind::Eq, bound, zero), zero, b.like(bound, std::numeric_limits<double>::infinity()));
}

std::optional<NodeId> Bounds::sort(const Node &node) {
  const std::optional<NodeId> e = of(node.operands[0]);
  const int64_t dim = node.attributes.dims[0], extent = node.type.shape[static_cast<size_t>(dim)];
  if (!e || extent == 0)
    return std::nullopt;
  // Elements that move by at most e move the sorted ones by at most e.
  const NodeId worst = b.back(b.reduce(ReduceKind::Max, *e, {dim}), dim, extent);
  if (static_cast<graph::SortKind>(node.attributes.kind) == graph::SortKind::Values)
    return worst;
  return infiniteWhereInexact(worst);
}

std::optional<NodeId> Bounds::scatter(NodeId y, const Node &node) {
  const NodeId x = node.operands[0], at = node.operands[1], updates = node.operands[2];
  const auto kind = static_cast<graph::ScatterKind>(node.attributes.kind);
  const double infinity = std::numeric_limits<double>::infinity();
  if (of(at))
    return b.splat(DType::F64, node.type.shape, infinity);
  const std::optional<NodeId> ex = of(x), eu = of(updates);
  const bool isFree = isFloat(node.type.dtype) && (kind == graph::ScatterKind::Add || kind == graph::ScatterKind::Mul);
  const auto combine = [&](graph::ScatterKind how, NodeId into, NodeId by) {
    return b.scatter(how, into, at, by, node.attributes.dims[0]);
  };
  const NodeId e0 = orZero(ex, x), e1 = orZero(eu, updates);
  if (!isFree) {
    if (!ex && !eu)
      return std::nullopt;
    if (kind == graph::ScatterKind::Set)
      return combine(kind, e0, e1);
    const NodeId worst = combine(graph::ScatterKind::Max, e0, e1);
    return isFloat(node.type.dtype) || node.type.dtype == DType::Bool ? worst : infiniteWhereInexact(worst);
  }
  const double terms = static_cast<double>(*numElements(b.type(at).shape)) + 1;
  const double relative = 2 * terms * unitOf(node.type.dtype);
  if (kind == graph::ScatterKind::Mul) {
    const NodeId own = b.add(scaled(magnitude(y), relative), rounding(y, 2 * terms));
    const NodeId worst = infiniteWhereInexact(combine(graph::ScatterKind::Max, e0, e1));
    return ex || eu ? b.add(own, worst) : own;
  }
  const NodeId sizes = combine(kind, b.add(magnitude(x), e0), b.add(magnitude(updates), e1));
  return b.add(b.add(scaled(sizes, relative), rounding(y, 2 * terms)), combine(kind, e0, e1));
}

std::optional<NodeId> Bounds::combined(NodeId y, NodeId x, ReduceKind kind, double terms,
                                       const std::function<NodeId(ReduceKind, NodeId)> &combine) {
  const std::optional<NodeId> e = of(x);
  const DType dtype = b.type(y).dtype;
  if (terms == 0)
    return std::nullopt;
  if (kind == ReduceKind::Max || kind == ReduceKind::Min || !isFloat(dtype)) {
    if (!e)
      return std::nullopt;
    const NodeId worst = combine(ReduceKind::Max, *e);
    return kind == ReduceKind::Max || kind == ReduceKind::Min ? worst : infiniteWhereInexact(worst);
  }
  const double relative = 2 * terms * unitOf(accumulatorType(dtype));
  NodeId size = magnitude(x);
  if (kind == ReduceKind::Mul) {
    NodeId bound = b.add(scaled(magnitude(y), relative), rounding(y, 2));
    if (e) {
      const NodeId larger = combine(ReduceKind::Mul, b.add(size, *e));
      const NodeId spread = b.unary(UnaryKind::Abs, b.sub(larger, magnitude(y)));
      bound = b.add(spread, scaled(larger, 2 * relative + 4 * unitOf(dtype)));
    }
    // Where some of the terms alone leave the range of the accumulator, the order decides.
    const NodeId exponents = combine(ReduceKind::Add, b.unary(UnaryKind::Abs, b.unary(UnaryKind::Log2, size)));
    const double range = accumulatorType(dtype) == DType::F64 ? 1000 : 120;
    return b.select(b.binary(BinaryKind::Gt, exponents, b.like(exponents, range)),
                    b.like(exponents, std::numeric_limits<double>::infinity()), bound);
  }
  if (e)
    size = b.add(size, *e);
  std::optional<RoundedWeights> rounded = roundedWeights(x);
  if (rounded && !allows(&Roundings::ofWeights))
    rounded = std::nullopt;
  const double unit = rounded ? unitOf(rounded->dtype) : 0;
  NodeId bound = b.add(scaled(combine(ReduceKind::Add, size), relative + 2 * unit), rounding(y, 2));
  // Below the normal numbers of f16 a weight is off by half of the smallest one, however small it is.
  if (rounded && rounded->dtype == DType::F16)
    bound = b.add(bound, scaled(combine(ReduceKind::Add, magnitude(rounded->values)), 2 * std::ldexp(1.0, -25)));
  if (e)
    bound = b.add(bound, combine(ReduceKind::Add, *e));
  return bound;
}

std::optional<NodeId> Bounds::unary(NodeId y, const Node &node) {
  const NodeId x = node.operands[0];
  const auto kind = static_cast<UnaryKind>(node.attributes.kind);
  const std::optional<NodeId> known = of(x);
  if (!known && !isTranscendental(kind))
    return std::nullopt;
  if (!isFloat(node.type.dtype)) {
    if (node.type.dtype == DType::Bool)
      return known;
    return taint(node, y);
  }
  const NodeId e = orZero(known, x);
  // A ULP is at most 2 u |y|; one more rounding on either side.
  const NodeId own = rounding(y, 2.0 * static_cast<double>(allowedUlps(node.type.dtype)) + 2);
  const auto constant = [&](double value) { return b.like(e, value); };
  // The machine's powers of f32 are 0 below the smallest normal number, and weights are powers of sums of products. It
  // is that of bf16, too, while all of f16 is normal there.
  const bool mayFlush = known && (node.type.dtype == DType::F32 || node.type.dtype == DType::BF16) &&
                        (kind == UnaryKind::Exp || kind == UnaryKind::Exp2) && allows(&Roundings::ofWeights);
  const NodeId flushed = mayFlush ? b.add(own, constant(0x1p-126)) : own;
  const auto grow = [&](NodeId argument) { // exp(argument) - 1, relative to y
    return b.mul(magnitude(y), b.sub(b.unary(UnaryKind::Exp, argument), constant(1)));
  };
  const NodeId low = maximum(b.sub(magnitude(x), e), constant(0));
  const NodeId high = b.add(magnitude(x), e);
  switch (kind) {
  case UnaryKind::Neg:
  case UnaryKind::Abs:
    return e;
  case UnaryKind::Floor:
  case UnaryKind::Ceil:
  case UnaryKind::Round:
  case UnaryKind::Trunc:
    return b.select(b.binary(BinaryKind::Eq, e, constant(0)), e, b.add(e, constant(1)));
  case UnaryKind::Exp:
    return b.add(flushed, grow(scaled(e, 1)));
  case UnaryKind::Exp2:
    return b.add(flushed, grow(scaled(e, 0.7)));
  case UnaryKind::Expm1: {
    // e^x grows; y + 1 is that, infinite where y is, and rounded to nothing where e^x is small.
    const NodeId power = maximum(b.unary(UnaryKind::Exp, wide(x)), b.add(wide(y), constant(1)));
    return b.add(own, b.mul(power, b.unary(UnaryKind::Expm1, e)));
  }
  case UnaryKind::Log:
    return b.add(own, b.div(e, low));
  case UnaryKind::Log2:
    return b.add(own, scaled(b.div(e, low), 1.45));
  case UnaryKind::Recip:
    return b.add(own, b.div(b.mul(magnitude(y), e), low));
  case UnaryKind::Sqrt:
    return b.add(own, b.sub(b.unary(UnaryKind::Sqrt, high), b.unary(UnaryKind::Sqrt, low)));
  case UnaryKind::Rsqrt:
    return b.add(own, b.sub(b.unary(UnaryKind::Rsqrt, low), b.unary(UnaryKind::Rsqrt, high)));
  case UnaryKind::Cbrt: {
    // Where x may have the other sign, the result may be as far below 0 as the cube root of what e is more than |x|.
    const NodeId beyond = maximum(b.sub(e, magnitude(x)), constant(0));
    const NodeId above = b.sub(b.unary(UnaryKind::Cbrt, high), b.unary(UnaryKind::Cbrt, low));
    return b.add(own, b.add(above, b.unary(UnaryKind::Cbrt, beyond)));
  }
  case UnaryKind::Sin:
  case UnaryKind::Cos:
  case UnaryKind::Tanh:
    return b.add(own, e);
  case UnaryKind::Erf:
    return b.add(own, scaled(e, 1.13));
  case UnaryKind::Not:
  case UnaryKind::Tan:
    break;
  }
  // Of an operand that is not exact it may be anything: the last line of a run counts such elements.
  const std::optional<NodeId> tainted = taint(node, y);
  return tainted ? b.add(own, *tainted) : own;
}

std::optional<NodeId> Bounds::binary(NodeId y, const Node &node) {
  const NodeId l = node.operands[0], r = node.operands[1];
  const auto kind = static_cast<BinaryKind>(node.attributes.kind);
  const std::optional<NodeId> el = of(l), er = of(r);
  if (kind == BinaryKind::Pow && isFloat(node.type.dtype) && !el && !er)
    return rounding(y, 2.0 * static_cast<double>(allowedUlps(node.type.dtype)) + 2);
  if (!el && !er)
    return std::nullopt;
  const NodeId e0 = orZero(el, l), e1 = orZero(er, r);
  if (kind == BinaryKind::Max || kind == BinaryKind::Min)
    return maximum(e0, e1);
  if (node.type.dtype == DType::Bool && b.type(l).dtype != DType::Bool) {
    // A comparison is certain where the operands are further apart than their bounds.
    const NodeId apart = b.unary(UnaryKind::Abs, b.sub(wide(l), wide(r)));
    const NodeId sum = b.add(e0, e1), zero = b.like(sum, 0);
    const NodeId near = b.binary(BinaryKind::Le, apart, sum);
    const NodeId exact = b.binary(BinaryKind::Eq, sum, zero);
    return b.select(exact, zero, b.select(near, b.like(sum, 1), zero));
  }
  if (node.type.dtype == DType::Bool)
    return maximum(e0, e1);
  if (!isFloat(node.type.dtype))
    return taint(node, y);
  const NodeId own = rounding(y, 2);
  switch (kind) {
  case BinaryKind::Add:
  case BinaryKind::Sub:
    return b.add(own, b.add(e0, e1));
  case BinaryKind::Mul:
    return b.add(own, b.add(b.mul(b.add(magnitude(l), e0), e1), b.mul(magnitude(r), e0)));
  case BinaryKind::Div: {
    const NodeId low = maximum(b.sub(magnitude(r), e1), b.like(e1, 0));
    return b.add(own, b.div(b.add(e0, b.mul(magnitude(y), e1)), low));
  }
  default:
    return taint(node, y);
  }
}

std::optional<NodeId> Bounds::select(const Node &node) {
  const NodeId c = node.operands[0], l = node.operands[1], r = node.operands[2];
  const std::optional<NodeId> ec = of(c), el = of(l), er = of(r);
  if (!ec && !el && !er)
    return std::nullopt;
  const NodeId e0 = orZero(el, l), e1 = orZero(er, r);
  const NodeId chosen = b.select(c, e0, e1);
  if (!ec)
    return chosen;
  const NodeId either = b.add(maximum(e0, e1), b.unary(UnaryKind::Abs, b.sub(wide(l), wide(r))));
  return b.select(b.binary(BinaryKind::Eq, *ec, b.like(*ec, 0)), chosen, either);
}

std::optional<NodeId> Bounds::cast(NodeId y, const Node &node) {
  const NodeId x = node.operands[0];
  const std::optional<NodeId> e = of(x);
  if (!e)
    return std::nullopt;
  const DType from = b.type(x).dtype, to = node.type.dtype;
  const NodeId zero = b.like(*e, 0);
  const NodeId exact = b.binary(BinaryKind::Eq, *e, zero);
  if (to == DType::Bool)
    return b.select(b.binary(BinaryKind::Le, magnitude(x), *e), b.select(exact, zero, b.like(*e, 1)), zero);
  if (from == DType::Bool)
    return e;
  if (isFloat(to)) {
    const NodeId own = b.add(*e, rounding(y, 2));
    if (!isFloat(from) || overflowOf(to) >= overflowOf(from))
      return own;
    // The value and the computed one may lie on two sides of it.
    const NodeId size = magnitude(x), limit = b.like(size, overflowOf(to));
    const NodeId isBeyond = b.binary(BinaryKind::Ge, b.add(size, *e), limit);
    const NodeId isWithin = b.binary(BinaryKind::Le, b.sub(size, *e), limit);
    const NodeId free = b.like(own, std::numeric_limits<double>::infinity());
    return b.select(exact, own, b.select(isBeyond, b.select(isWithin, free, own), own));
  }
  if (isFloat(from))
    return b.select(exact, zero, b.add(*e, b.like(*e, 1)));
  return taint(node, y);
}

std::optional<NodeId> Bounds::gather(const Node &node) {
  if (of(node.operands[1]))
    return b.splat(DType::F64, node.type.shape, std::numeric_limits<double>::infinity());
  const std::optional<NodeId> e = of(node.operands[0]);
  return e ? std::optional<NodeId>(b.gather(*e, node.operands[1], node.attributes.dims[0])) : std::nullopt;
}

std::optional<NodeId> Bounds::pad(const Node &node) {
  const std::optional<NodeId> e = of(node.operands[0]), fill = of(node.operands[1]);
  if (!e && !fill)
    return std::nullopt;
  const graph::Attributes &a = node.attributes;
  return b.pad(orZero(e, node.operands[0]), orZero(fill, node.operands[1]), a.low, a.high, a.interior);
}

std::optional<NodeId> Bounds::concat(const Node &node) {
  std::vector<NodeId> bounds;
  bool isExact = true;
  for (NodeId operand : node.operands) {
    const std::optional<NodeId> e = of(operand);
    isExact &= !e;
    bounds.push_back(orZero(e, operand));
  }
  return isExact ? std::nullopt : std::optional<NodeId>(b.concat(bounds, node.attributes.dims[0]));
}

} // namespace zyx::conformance
