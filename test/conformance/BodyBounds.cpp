//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Bounds of loops.
//===----------------------------------------------------------------------===//
#include "Bounds.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace zyx::conformance {

using graph::Node;

/// What a loop computes is what its body computes, one trip after the other.
std::optional<NodeId> Bounds::loop(const Node &node) {
  const graph::Attributes &attributes = node.attributes;
  const bool isData = attributes.trips < 0, hasCount = attributes.trips == graph::tripsAreData;
  const auto result = static_cast<size_t>(attributes.result);
  std::vector<NodeId> arguments(node.operands.begin() + hasCount, node.operands.end());
  const auto numbered = [&](int64_t index) {
    return b.constant(makeTensor(DType::I64, {}, {static_cast<double>(index)}));
  };
  arguments.insert(arguments.begin(), numbered(0));
  const auto trip = [&](int64_t index) {
    arguments[0] = numbered(index);
    const std::vector<NodeId> next = *b.graph().inlineBody(attributes.body, arguments);
    std::copy(next.begin(), next.end(), arguments.begin() + 1);
  };
  if (!isData) {
    for (int64_t index = 0; index < attributes.trips; ++index)
      trip(index);
    return of(arguments[result + 1]);
  }
  // However many trips there are: what is exact after one, from what is exact, stays exact.
  const auto isExact = [&] {
    return std::none_of(arguments.begin(), arguments.end(), [&](NodeId argument) { return of(argument).has_value(); });
  };
  const bool exact = isExact() && (!hasCount || !of(node.operands[0]));
  trip(0);
  if (exact && isExact())
    return std::nullopt;
  return b.splat(DType::F64, node.type.shape, std::numeric_limits<double>::infinity());
}

} // namespace zyx::conformance
