//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builder.h"

#include "zyx/Graph/Gradient.h"

#include <cstdio>
#include <cstdlib>

namespace zyx::conformance {

using graph::Op;

void Builder::refuse(const Status &status) const {
  std::fprintf(stderr, "case %s is malformed: %s\n", name.c_str(), status.message().c_str());
  std::exit(2);
}

graph::Body Builder::body(const std::vector<TensorType> &types, const BuildBody &build) const {
  Program inside;
  Builder b(inside, name);
  std::vector<NodeId> inputs;
  for (const TensorType &type : types)
    inputs.push_back(take(inside.graph.parameter("p" + std::to_string(inputs.size()), type)));
  inside.graph.inputs = inputs;
  for (NodeId result : build(b, inputs))
    inside.graph.outputs.push_back({"r" + std::to_string(inside.graph.outputs.size()), result});
  return take(graph::Body::create(inside.graph));
}

std::vector<NodeId> Builder::loop(int64_t trips, const std::vector<NodeId> &initial,
                                  const std::vector<NodeId> &invariants, const BuildBody &build,
                                  std::optional<NodeId> count) {
  std::vector<TensorType> types{{DType::I64, {}}};
  for (const std::vector<NodeId> *nodes : {&initial, &invariants})
    for (NodeId node : *nodes)
      types.push_back(type(node));
  const graph::Body step = body(types, build);
  return take(count ? graph().countedLoop(step, *count, initial, invariants)
                    : graph().loop(step, trips, initial, invariants));
}

std::vector<NodeId> Builder::custom(std::string what, const std::vector<NodeId> &operands, const BuildBody &build) {
  std::vector<TensorType> types;
  for (NodeId node : operands)
    types.push_back(type(node));
  return take(graph().custom(std::move(what), "", body(types, build), operands));
}

NodeId Builder::input(HostTensor value) {
  const NodeId id = take(graph().parameter(name + "." + std::to_string(numInputs++), value.type));
  graph().inputs.push_back(id);
  program.tensors.push_back(std::move(value));
  return id;
}

NodeId Builder::x(DType dtype, Shape shape) { return input(moderate(dtype, std::move(shape), random)); }

NodeId Builder::one(DType dtype, Shape shape) { return input(nearOne(dtype, std::move(shape), random)); }

NodeId Builder::constant(HostTensor value) { return take(graph().constant(value.type, std::move(value.data))); }

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
  case Op::Sort:
    return toString(static_cast<graph::SortKind>(node.attributes.kind));
  case Op::Scatter:
    return toString(static_cast<graph::ScatterKind>(node.attributes.kind));
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
    text += node.attributes.exclusive ? " exclusive" : "";
    text += node.attributes.reverse ? " reverse" : "";
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

std::vector<NodeId> differentiate(Builder &b, NodeId y, const std::vector<NodeId> &sources) {
  const NodeId seed = b.x(b.type(y).dtype, b.type(y).shape);
  const auto gradients = graph::gradient(b.graph(), {{y}}, {{seed}}, sources);
  std::vector<NodeId> results;
  for (size_t i = 0; gradients.isOk() && i < sources.size(); ++i)
    if ((*gradients)[i])
      results.push_back(*(*gradients)[i]);
  if (results.size() != sources.size()) {
    std::fprintf(stderr, "a case without gradients: %s\n", gradients.status().message().c_str());
    std::abort();
  }
  return results;
}

} // namespace zyx::conformance
