//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include <cstdio>
#include <cstdlib>

namespace zyx::conformance {

using graph::Op;

NodeId Builder::take(Result<NodeId> result) const {
  if (!result.isOk()) {
    std::fprintf(stderr, "case %s is malformed: %s\n", name.c_str(),
                 result.status().message().c_str());
    std::exit(2);
  }
  return *result;
}

NodeId Builder::input(HostTensor value) {
  const NodeId id = take(graph().parameter(name + "." + std::to_string(numInputs++), value.type));
  graph().inputs.push_back(id);
  program.tensors.push_back(std::move(value));
  return id;
}

NodeId Builder::x(DType dtype, Shape shape) {
  return input(moderate(dtype, std::move(shape), random));
}

NodeId Builder::one(DType dtype, Shape shape) {
  return input(nearOne(dtype, std::move(shape), random));
}

NodeId Builder::constant(HostTensor value) {
  return take(graph().constant(value.type, std::move(value.data)));
}

NodeId Builder::splat(DType dtype, Shape shape, double value) {
  return take(graph().splat({dtype, std::move(shape)}, makeTensor(dtype, {}, {value}).data));
}

NodeId Builder::back(NodeId reduced, int64_t dim, int64_t extent) {
  Shape shape = type(reduced).shape;
  shape.insert(shape.begin() + dim, 1);
  const NodeId kept = reshape(reduced, shape);
  shape[static_cast<size_t>(dim)] = extent;
  return expand(kept, shape);
}

NodeId Builder::along(NodeId vector, Shape shape, int64_t dim) {
  Shape ones(shape.size(), 1);
  ones[static_cast<size_t>(dim)] = shape[static_cast<size_t>(dim)];
  return expand(reshape(vector, ones), shape);
}

NodeId Builder::matmul(NodeId a, NodeId b, DType accumulator) {
  const Shape left = type(a).shape, right = type(b).shape;
  const size_t batch = left.size() - 2;
  Shape whole = left; // batch, m, k, n
  whole.push_back(right.back());
  Shape leftOnes = left, rightOnes = right;
  leftOnes.push_back(1);
  rightOnes.insert(rightOnes.begin() + static_cast<int64_t>(batch), 1);
  if (type(a).dtype != accumulator)
    a = cast(a, accumulator);
  if (type(b).dtype != accumulator)
    b = cast(b, accumulator);
  a = expand(reshape(a, leftOnes), whole);
  b = expand(reshape(b, rightOnes), whole);
  return reduce(ReduceKind::Add, mul(a, b), {static_cast<int64_t>(batch) + 1});
}

std::string_view kindOf(const graph::Node &node) {
  switch (node.op) {
  case Op::Unary:
    return toString(static_cast<UnaryKind>(node.attributes.kind));
  case Op::Binary:
    return toString(static_cast<BinaryKind>(node.attributes.kind));
  case Op::Reduce:
    return toString(static_cast<ReduceKind>(node.attributes.kind));
  default:
    return {};
  }
}

std::string printGraph(const graph::Graph &graph) {
  std::string text;
  for (NodeId id : graph.reachable()) {
    const graph::Node &node = graph.node(id);
    text += "  %" + std::to_string(id) + " = " + std::string(toString(node.op));
    if (const std::string_view kind = kindOf(node); !kind.empty())
      text += " " + std::string(kind);
    for (NodeId operand : node.operands)
      text += " %" + std::to_string(operand);
    if (!node.attributes.dims.empty())
      text += " dims " + zyx::toString(Shape(node.attributes.dims));
    if (!node.attributes.name.empty())
      text += " \"" + node.attributes.name + "\"";
    if (node.attributes.splat)
      text += " " + std::to_string(toDouble(node.type.dtype, node.attributes.value.data()));
    text += " : " + toString(node.type) + "\n";
  }
  for (const graph::Output &output : graph.outputs)
    text += "  output \"" + output.name + "\" %" + std::to_string(output.node) + "\n";
  return text;
}

} // namespace zyx::conformance
