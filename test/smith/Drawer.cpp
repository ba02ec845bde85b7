//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Drawer.h"

#include <algorithm>
#include <array>

namespace zyx::smith {

Profile Profile::mixed() {
  using enum DType;
  return {{F32, F32, F32, F32, F64,  F64,  BF16, BF16, F16, F16,      I32,   I32,
           I64, I8,  U8,  U32, Bool, Bool, I16,  U16,  U64, F8E4M3FN, F8E5M2},
          {1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 100},
          3000,
          4,
          19,
          0.02};
}

Profile Profile::integers() {
  using enum DType;
  return {{I32, I32, I32, I8, U8, I64, Bool}, {1, 2, 3, 4}, 3000, 4, 43, 0};
}

bool Drawer::fits(const Shape &shape) const { return shape.size() <= 6 && *numElements(shape) <= profile.maxElements; }

Shape Drawer::drawShape() {
  Shape shape(static_cast<size_t>(random.below(5)));
  int64_t elements = 1;
  for (int64_t &extent : shape) {
    extent = oneOf(std::span<const int64_t>(profile.extents));
    if (elements * extent > profile.maxElements)
      extent = 1 + random.below(2);
    elements *= extent;
  }
  if (!shape.empty() && random.chance(profile.emptyInputs))
    shape[static_cast<size_t>(random.below(static_cast<int64_t>(shape.size())))] = 0;
  return shape;
}

NodeId Drawer::drawInput(DType dtype, Shape shape) {
  b.random = Random(random.bits());
  return b.x(dtype, std::move(shape));
}

NodeId Drawer::anyNode() {
  const auto size = static_cast<int64_t>(pool.size());
  const int64_t back = random.chance(0.4) ? random.below(std::min<int64_t>(3, size)) : random.below(size);
  return pool[static_cast<size_t>(size - 1 - back)];
}

NodeId Drawer::partner(const TensorType &type) {
  std::vector<NodeId> same;
  for (NodeId id : pool)
    if (b.type(id) == type)
      same.push_back(id);
  if (!same.empty() && random.chance(0.6))
    return oneOf(std::span<const NodeId>(same));
  if (random.chance(0.2))
    return b.splat(type.dtype, type.shape, type.dtype == DType::Bool ? 1 : 1 + static_cast<double>(random.below(3)));
  Shape small = type.shape;
  for (int64_t &extent : small)
    if (extent > 0 && random.chance(0.35))
      extent = 1;
  const NodeId x = drawInput(type.dtype, small);
  return small == type.shape ? x : b.expand(x, type.shape);
}

NodeId Drawer::arithmetic(NodeId x) { return isStorageOnly(b.type(x).dtype) ? b.cast(x, DType::F32) : x; }

NodeId Drawer::computable(NodeId x) {
  if (b.type(x).dtype == DType::Bool)
    return b.cast(x, isFloat(drawDType()) ? DType::F32 : DType::I32);
  return arithmetic(x);
}

std::vector<NodeId> Drawer::draw() {
  std::vector<Production> table;
  for (std::span<const Production> part :
       {elementwiseProductions(), viewProductions(), combiningProductions(), patternProductions()})
    table.insert(table.end(), part.begin(), part.end());
  int64_t total = 0;
  for (const Production &production : table)
    total += production.weight;

  const int64_t numInputs = 1 + random.below(3);
  for (int64_t i = 0; i < numInputs; ++i) {
    const DType dtype = drawDType();
    pool.push_back(drawInput(dtype, drawShape()));
  }
  const int64_t steps = profile.minSteps + random.below(profile.maxSteps - profile.minSteps + 1);
  for (int64_t i = 0; i < steps;) {
    int64_t at = random.below(total);
    const Production *production = table.data();
    while (at >= production->weight)
      at -= (production++)->weight;
    const NodeId x = anyNode();
    // What does not fit is drawn again: some production takes any node.
    if (const std::optional<NodeId> y = production->draw(*this, x)) {
      pool.push_back(*y);
      ++i;
    }
  }
  // The last node, and some of the others.
  std::vector<NodeId> outputs = {pool.back()};
  for (NodeId id : pool)
    if (random.chance(0.15))
      outputs.push_back(id);
  return outputs;
}

Program drawProgram(uint64_t seed, const Profile &profile) {
  Program program;
  Builder builder(program, "x");
  const std::vector<NodeId> outputs = Drawer(builder, seed, profile).draw();
  for (size_t i = 0; i < outputs.size(); ++i)
    program.graph.outputs.push_back({"y." + std::to_string(i), outputs[i]});
  return program;
}

} // namespace zyx::smith
