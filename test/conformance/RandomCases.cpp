//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include <algorithm>

namespace zyx::conformance {

namespace {

constexpr int64_t maxElements = 3000;

/// Draws a graph: a pool of nodes, to which each step adds one that uses some of them.
class Drawer {
public:
  Drawer(Builder &builder, uint64_t seed) : b(builder), random(seed) {}
  std::vector<NodeId> draw();

private:
  DType drawDType();
  Shape drawShape();
  NodeId drawInput(DType dtype, Shape shape);
  /// A node of exactly this type: one that exists, a new input, or a repeated smaller one.
  NodeId partner(const TensorType &type);
  NodeId anyNode() {
    return pool[static_cast<size_t>(random.below(static_cast<int64_t>(pool.size())))];
  }
  NodeId computable(NodeId x);

  NodeId step();
  NodeId drawUnary(NodeId x);
  NodeId drawBinary(NodeId x);
  NodeId drawReduce(NodeId x);
  NodeId drawView(NodeId x);
  NodeId drawSelect(NodeId x);
  NodeId drawGather(NodeId x);
  NodeId drawNorm(NodeId x);
  NodeId drawMatmul(NodeId x);

  Builder &b;
  Random random;
  std::vector<NodeId> pool;
};

DType Drawer::drawDType() {
  static constexpr DType likely[] = {DType::F32,  DType::F32, DType::F32,  DType::F64,
                                     DType::BF16, DType::F16, DType::I32,  DType::I64,
                                     DType::I8,   DType::U8,  DType::Bool, DType::U32};
  return likely[random.below(std::size(likely))];
}

Shape Drawer::drawShape() {
  static constexpr int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 100};
  Shape shape(static_cast<size_t>(random.below(5)));
  int64_t elements = 1;
  for (int64_t &extent : shape) {
    extent = extents[random.below(std::size(extents))];
    if (elements * extent > maxElements)
      extent = 1 + random.below(2);
    elements *= extent;
  }
  if (!shape.empty() && random.chance(0.02))
    shape[static_cast<size_t>(random.below(static_cast<int64_t>(shape.size())))] = 0;
  return shape;
}

NodeId Drawer::drawInput(DType dtype, Shape shape) {
  b.random = Random(random.bits());
  return b.x(dtype, std::move(shape));
}

NodeId Drawer::partner(const TensorType &type) {
  std::vector<NodeId> same;
  for (NodeId id : pool)
    if (b.type(id) == type)
      same.push_back(id);
  if (!same.empty() && random.chance(0.6))
    return same[static_cast<size_t>(random.below(static_cast<int64_t>(same.size())))];
  if (random.chance(0.2))
    return b.splat(type.dtype, type.shape,
                   type.dtype == DType::Bool ? 1 : 1 + static_cast<double>(random.below(3)));
  Shape small = type.shape;
  for (int64_t &extent : small)
    if (extent > 0 && random.chance(0.35))
      extent = 1;
  const NodeId x = drawInput(type.dtype, small);
  return small == type.shape ? x : b.expand(x, type.shape);
}

NodeId Drawer::computable(NodeId x) {
  return b.type(x).dtype == DType::Bool || isStorageOnly(b.type(x).dtype) ? b.cast(x, DType::F32)
                                                                          : x;
}

NodeId Drawer::drawUnary(NodeId x) {
  const DType dtype = b.type(x).dtype;
  if (dtype == DType::Bool)
    return b.unary(UnaryKind::Not, x);
  if (!isFloat(dtype))
    return b.unary(random.chance(0.5)   ? UnaryKind::Neg
                   : random.chance(0.5) ? UnaryKind::Abs
                                        : UnaryKind::Not,
                   x);
  static constexpr UnaryKind kinds[] = {
      UnaryKind::Neg,   UnaryKind::Abs, UnaryKind::Exp,   UnaryKind::Tanh,  UnaryKind::Sin,
      UnaryKind::Cos,   UnaryKind::Erf, UnaryKind::Floor, UnaryKind::Round, UnaryKind::Sqrt,
      UnaryKind::Recip, UnaryKind::Log, UnaryKind::Trunc, UnaryKind::Ceil,  UnaryKind::Rsqrt};
  const UnaryKind kind = kinds[random.below(std::size(kinds))];
  if (kind == UnaryKind::Sqrt || kind == UnaryKind::Log || kind == UnaryKind::Rsqrt)
    x = b.unary(UnaryKind::Abs, x);
  return b.unary(kind, x);
}

NodeId Drawer::drawBinary(NodeId x) {
  const DType dtype = b.type(x).dtype;
  static constexpr BinaryKind numbers[] = {BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul,
                                           BinaryKind::Add, BinaryKind::Mul, BinaryKind::Div,
                                           BinaryKind::Max, BinaryKind::Min, BinaryKind::Rem};
  static constexpr BinaryKind compared[] = {BinaryKind::Lt, BinaryKind::Le, BinaryKind::Gt,
                                            BinaryKind::Ge, BinaryKind::Eq, BinaryKind::Ne};
  static constexpr BinaryKind bits[] = {BinaryKind::And, BinaryKind::Or, BinaryKind::Xor};
  BinaryKind kind = numbers[random.below(std::size(numbers))];
  if (random.chance(0.15))
    kind = compared[random.below(std::size(compared))];
  else if (dtype == DType::Bool)
    kind = bits[random.below(std::size(bits))];
  else if (isInteger(dtype) && random.chance(0.3))
    kind = random.chance(0.5) ? bits[random.below(std::size(bits))]
                              : (random.chance(0.5) ? BinaryKind::Shl : BinaryKind::Shr);
  const NodeId y = partner(b.type(x));
  return random.chance(0.5) ? b.binary(kind, x, y) : b.binary(kind, y, x);
}

NodeId Drawer::drawReduce(NodeId x) {
  const TensorType type = b.type(x);
  if (type.shape.empty())
    return x;
  std::vector<int64_t> dims;
  const auto rank = static_cast<int64_t>(type.shape.size());
  const int64_t always = random.below(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim == always || random.chance(0.3))
      dims.push_back(dim);
  ReduceKind kind = random.chance(0.6)   ? ReduceKind::Add
                    : random.chance(0.5) ? ReduceKind::Max
                                         : ReduceKind::Min;
  if (type.dtype == DType::Bool)
    kind = random.chance(0.5) ? ReduceKind::And : ReduceKind::Or;
  else if (isInteger(type.dtype) && random.chance(0.2))
    kind = random.chance(0.5) ? ReduceKind::Mul : ReduceKind::Or;
  const bool empty = std::count(type.shape.begin(), type.shape.end(), 0) > 0;
  if (empty && (kind == ReduceKind::Max || kind == ReduceKind::Min))
    kind = ReduceKind::Add;
  const NodeId y = b.reduce(kind, x, dims);
  if (!random.chance(0.4))
    return y;
  // Repeated along what was combined, as in softmax.
  Shape kept = type.shape;
  for (int64_t dim : dims)
    kept[static_cast<size_t>(dim)] = 1;
  const NodeId repeated = empty ? y : b.expand(b.reshape(y, kept), type.shape);
  pool.push_back(y);
  return repeated;
}

NodeId Drawer::drawView(NodeId x) {
  const TensorType type = b.type(x);
  const auto rank = static_cast<int64_t>(type.shape.size());
  const int64_t choice = random.below(4);
  if (choice == 0 && rank >= 2) {
    std::vector<int64_t> order(static_cast<size_t>(rank));
    for (int64_t i = 0; i < rank; ++i)
      order[static_cast<size_t>(i)] = i;
    for (int64_t i = rank - 1; i > 0; --i)
      std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(random.below(i + 1))]);
    return b.permute(x, order);
  }
  if (choice == 1 && rank >= 2) { // merge two dimensions
    const auto at = random.below(rank - 1);
    Shape shape = type.shape;
    shape[static_cast<size_t>(at)] *= shape[static_cast<size_t>(at + 1)];
    shape.erase(shape.begin() + at + 1);
    return b.reshape(x, shape);
  }
  if (choice == 2 && rank >= 1 && rank < 6) { // split one
    const auto at = random.below(rank);
    Shape shape = type.shape;
    int64_t factor = 1;
    for (int64_t candidate : {2, 3, 4, 5, 8, 11})
      if (shape[static_cast<size_t>(at)] % candidate == 0 && random.chance(0.5))
        factor = candidate;
    shape[static_cast<size_t>(at)] /= factor;
    shape.insert(shape.begin() + at + 1, factor);
    return b.reshape(x, shape);
  }
  // Repeat along a new dimension.
  const int64_t elements = *numElements(type.shape), extent = 2 + random.below(6);
  if (rank >= 6 || elements * extent > maxElements)
    return x;
  Shape shape = type.shape;
  const auto at = random.below(rank + 1);
  shape.insert(shape.begin() + at, 1);
  x = b.reshape(x, shape);
  shape[static_cast<size_t>(at)] = extent;
  return b.expand(x, shape);
}

NodeId Drawer::drawSelect(NodeId x) {
  const NodeId y = partner(b.type(x));
  const NodeId c =
      random.chance(0.5) ? b.binary(BinaryKind::Lt, x, y) : partner({DType::Bool, b.type(x).shape});
  return b.select(c, x, y);
}

NodeId Drawer::drawGather(NodeId x) {
  const TensorType type = b.type(x);
  if (type.shape.empty())
    return x;
  const int64_t dim = random.below(static_cast<int64_t>(type.shape.size()));
  const int64_t extent = type.shape[static_cast<size_t>(dim)];
  const DType index = random.chance(0.7) ? DType::I32 : random.chance(0.5) ? DType::I64 : DType::U8;
  Shape shape = {1 + random.below(9)};
  if (random.chance(0.2))
    shape.push_back(2);
  const NodeId indices = b.input(
      integers(index, shape, index == DType::U8 ? 0 : -1, std::min<int64_t>(extent, 100), random));
  const NodeId y = b.gather(x, indices, dim);
  return *numElements(b.type(y).shape) > 2 * maxElements ? x : y;
}

NodeId Drawer::drawNorm(NodeId x) {
  const TensorType type = b.type(x);
  if (type.shape.empty() || !isFloat(type.dtype) ||
      std::count(type.shape.begin(), type.shape.end(), 0) > 0)
    return drawUnary(x);
  const int64_t dim = random.below(static_cast<int64_t>(type.shape.size()));
  const int64_t extent = type.shape[static_cast<size_t>(dim)];
  const NodeId largest = b.back(b.reduce(ReduceKind::Max, x, {dim}), dim, extent);
  const NodeId e = b.unary(UnaryKind::Exp, b.sub(x, largest));
  return b.div(e, b.back(b.reduce(ReduceKind::Add, e, {dim}), dim, extent));
}

NodeId Drawer::drawMatmul(NodeId x) {
  const TensorType type = b.type(x);
  if (type.shape.size() < 2 || type.shape.size() > 3)
    return drawUnary(x);
  Shape right = type.shape;
  right[right.size() - 2] = type.shape.back();
  right.back() = 1 + random.below(20);
  const NodeId w = drawInput(type.dtype, right);
  const NodeId y = b.matmul(x, w, accumulatorType(type.dtype));
  return *numElements(b.type(y).shape) > 2 * maxElements ? x : y;
}

NodeId Drawer::step() {
  const NodeId x = anyNode();
  const int64_t choice = random.below(100);
  if (choice < 22)
    return drawUnary(x);
  if (choice < 50)
    return drawBinary(computable(x));
  if (choice < 62)
    return drawReduce(x);
  if (choice < 78)
    return drawView(x);
  if (choice < 84)
    return b.cast(x, drawDType());
  if (choice < 89)
    return drawSelect(computable(x));
  if (choice < 92)
    return drawGather(x);
  if (choice < 95)
    return drawNorm(x);
  if (choice < 98)
    return drawMatmul(computable(x));
  const Shape shape = b.type(x).shape;
  if (shape.empty())
    return x;
  return b.iota({random.chance(0.5) ? DType::I32 : DType::F32, shape},
                random.below(static_cast<int64_t>(shape.size())));
}

std::vector<NodeId> Drawer::draw() {
  const int64_t numInputs = 1 + random.below(3);
  for (int64_t i = 0; i < numInputs; ++i) {
    const DType dtype = drawDType();
    pool.push_back(drawInput(dtype, drawShape()));
  }
  const int64_t steps = 4 + random.below(16);
  for (int64_t i = 0; i < steps; ++i)
    pool.push_back(step());
  // The last node, and some of the others.
  std::vector<NodeId> outputs = {pool.back()};
  for (NodeId id : pool)
    if (random.chance(0.15))
      outputs.push_back(id);
  return outputs;
}

} // namespace

void addRandomCases(std::vector<Case> &cases, uint64_t firstSeed, int64_t numSeeds) {
  for (uint64_t seed = firstSeed; seed < firstSeed + static_cast<uint64_t>(numSeeds); ++seed)
    cases.push_back({"random." + std::to_string(seed),
                     [seed](Builder &b) { return Drawer(b, seed).draw(); }, /*strict=*/false});
}

} // namespace zyx::conformance
