//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The graphs inside of loops and custom ops.
//===----------------------------------------------------------------------===//
#include "InferBody.h"

#include <algorithm>

namespace zyx::graph {

struct Body::Contents {
  Graph graph;
  Hash128 hash;
  int depth;
};

static Status refuse(std::string reason) { return Status::invalidArgument(std::move(reason)); }

/// Copies the nodes of `from` that `order` lists; `to` has those in `copies` already.
static Status copyNodes(const Graph &from, const std::vector<NodeId> &order, Graph &to, std::vector<NodeId> &copies,
                        std::vector<bool> &isCopied) {
  std::vector<NodeId> operands;
  for (NodeId id : order) {
    if (isCopied[id])
      continue;
    const Node &node = from.node(id);
    operands.clear();
    for (NodeId operand : node.operands)
      operands.push_back(copies[operand]);
    ZYX_ASSIGN_OR_RETURN(copies[id], to.add(node.op, operands, node.attributes, node.type, from.location(id)));
    isCopied[id] = true;
  }
  return Status::ok();
}

Result<Body> Body::create(const Graph &graph) {
  ZYX_RETURN_IF_ERROR(graph.verify());
  if (graph.outputs.empty())
    return refuse("body " + graph.name + " has no result");
  auto contents = std::make_shared<Contents>();
  Graph &body = contents->graph;
  body.name = "body";
  std::vector<NodeId> copies(graph.size());
  std::vector<bool> isCopied(graph.size());
  for (NodeId input : graph.inputs) {
    Attributes attributes;
    attributes.name = "arg" + std::to_string(body.inputs.size());
    ZYX_ASSIGN_OR_RETURN(copies[input], body.add(Op::Parameter, {}, std::move(attributes), graph.node(input).type,
                                                 graph.location(input)));
    isCopied[input] = true;
    body.inputs.push_back(copies[input]);
  }
  const std::vector<NodeId> order = graph.reachable();
  contents->depth = 1;
  for (NodeId id : order) {
    const Node &node = graph.node(id);
    if (node.op == Op::Parameter && !isCopied[id])
      return refuse("body " + graph.name + " uses the parameter " + node.attributes.name +
                    ", which is none of its inputs: pass it as an operand");
    if (node.attributes.body)
      contents->depth = std::max(contents->depth, node.attributes.body.depth() + 1);
  }
  if (contents->depth > maxBodyDepth)
    return refuse("body " + graph.name + " has bodies inside of bodies, " + std::to_string(contents->depth) +
                  " deep; at most are " + std::to_string(maxBodyDepth));
  ZYX_RETURN_IF_ERROR(copyNodes(graph, order, body, copies, isCopied));
  for (const Output &output : graph.outputs)
    body.outputs.push_back({"result" + std::to_string(body.outputs.size()), copies[output.node]});
  contents->hash = body.canonicalHash();
  Body result;
  result.contents = std::move(contents);
  return result;
}

const Graph &Body::graph() const { return contents->graph; }
const Hash128 &Body::hash() const { return contents->hash; }
int Body::depth() const { return contents->depth; }

bool Body::operator==(const Body &other) const {
  if (!contents || !other.contents)
    return contents == other.contents;
  return contents == other.contents || contents->hash == other.contents->hash;
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// Whether operands are what a body takes from its input `first` on.
static Status checkOperands(std::string_view op, const Graph &body, size_t first,
                            std::span<const TensorType *const> operands) {
  const std::string what = std::string(op) + " passes ";
  if (body.inputs.size() != first + operands.size())
    return refuse(what + std::to_string(first + operands.size()) + " values to a body that takes " +
                  std::to_string(body.inputs.size()));
  for (size_t i = 0; i < operands.size(); ++i)
    if (const TensorType &taken = body.node(body.inputs[first + i]).type; *operands[i] != taken)
      return refuse(what + toString(*operands[i]) + " to a body that takes " + toString(taken) + " as its value " +
                    std::to_string(first + i));
  return Status::ok();
}

static Result<TensorType> resultType(std::string_view op, const Graph &body, int64_t result) {
  if (result < 0 || result >= static_cast<int64_t>(body.outputs.size()))
    return refuse(std::string(op) + " has " + std::to_string(body.outputs.size()) + " results, and none of number " +
                  std::to_string(result));
  return body.node(body.outputs[static_cast<size_t>(result)].node).type;
}

Result<TensorType> inferLoop(const Attributes &attributes, std::span<const TensorType *const> operands) {
  if (!attributes.body)
    return refuse("loop has no body");
  const Graph &body = attributes.body.graph();
  const TensorType number{DType::I64, {}};
  if (attributes.trips == tripsAreData) {
    if (*operands[0] != number)
      return refuse("loop counts to " + toString(*operands[0]) + ", which is no i64[]");
    operands = operands.subspan(1);
  } else if (attributes.trips == tripsAreWhile) {
    if (*operands[0] != TensorType{DType::Bool, {}})
      return refuse("loop goes on while " + toString(*operands[0]) + ", which is no bool[]");
  } else if (attributes.trips < 0) {
    return refuse("loop has " + std::to_string(attributes.trips) + " trips");
  }
  ZYX_RETURN_IF_ERROR(checkOperands("loop", body, 1, operands));
  if (const TensorType &index = body.node(body.inputs[0]).type; index != number)
    return refuse("loop passes its index to a body that takes " + toString(index) + " first");
  if (body.outputs.size() > operands.size())
    return refuse("loop carries " + std::to_string(body.outputs.size()) + " values, and has " +
                  std::to_string(operands.size()));
  for (size_t i = 0; i < body.outputs.size(); ++i)
    if (const TensorType &next = body.node(body.outputs[i].node).type; next != *operands[i])
      return refuse("loop carries " + toString(*operands[i]) + ", and its body makes it " + toString(next));
  return resultType("loop", body, attributes.result);
}

Result<TensorType> inferCustom(const Attributes &attributes, std::span<const TensorType *const> operands) {
  if (attributes.name.empty())
    return refuse("custom has no name");
  if (!attributes.body)
    return refuse("custom " + attributes.name + " has no body");
  const Graph &body = attributes.body.graph();
  const std::string what = "custom " + attributes.name;
  ZYX_RETURN_IF_ERROR(checkOperands(what, body, 0, operands));
  if (!attributes.implementations.empty()) {
    std::vector<TensorType> taken, made;
    for (NodeId input : body.inputs)
      taken.push_back(body.node(input).type);
    for (const Output &output : body.outputs)
      made.push_back(body.node(output.node).type);
    ZYX_RETURN_IF_ERROR(checkImplementations(what, attributes.implementations, taken, made));
  }
  return resultType(what, body, attributes.result);
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

Result<std::vector<NodeId>> Graph::addResults(Op op, std::span<const NodeId> operands, Attributes attributes,
                                              Location location) {
  std::vector<NodeId> results;
  const size_t count = attributes.body ? attributes.body.graph().outputs.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    attributes.result = static_cast<int64_t>(i);
    ZYX_ASSIGN_OR_RETURN(NodeId result, add(op, operands, attributes, {}, location));
    results.push_back(result);
  }
  return results;
}

Result<std::vector<NodeId>> Graph::loop(Body body, int64_t trips, std::span<const NodeId> initial,
                                        std::span<const NodeId> invariants) {
  Attributes attributes;
  attributes.body = std::move(body);
  attributes.trips = trips;
  std::vector<NodeId> operands(initial.begin(), initial.end());
  operands.insert(operands.end(), invariants.begin(), invariants.end());
  return addResults(Op::Loop, operands, std::move(attributes));
}

Result<std::vector<NodeId>> Graph::countedLoop(Body body, NodeId count, std::span<const NodeId> initial,
                                               std::span<const NodeId> invariants) {
  Attributes attributes;
  attributes.body = std::move(body);
  attributes.trips = tripsAreData;
  std::vector<NodeId> operands{count};
  operands.insert(operands.end(), initial.begin(), initial.end());
  operands.insert(operands.end(), invariants.begin(), invariants.end());
  return addResults(Op::Loop, operands, std::move(attributes));
}

Result<std::vector<NodeId>> Graph::whileLoop(Body body, std::span<const NodeId> initial,
                                             std::span<const NodeId> invariants) {
  return loop(std::move(body), tripsAreWhile, initial, invariants);
}

Result<std::vector<NodeId>> Graph::custom(std::string name, std::string_view config, Body body,
                                          std::span<const NodeId> operands,
                                          std::vector<Implementation> implementations) {
  Attributes attributes;
  attributes.name = std::move(name);
  attributes.body = std::move(body);
  attributes.implementations = std::move(implementations);
  const auto bytes = std::as_bytes(std::span(config));
  attributes.value.assign(bytes.begin(), bytes.end());
  return addResults(Op::Custom, operands, std::move(attributes));
}

Result<std::vector<NodeId>> Graph::inlineBody(const Body &body, std::span<const NodeId> arguments) {
  const Graph &from = body.graph();
  std::vector<const TensorType *> types;
  for (NodeId argument : arguments) {
    if (argument >= nodes.size())
      return refuse("a body is given node " + std::to_string(argument) + " of a graph with " +
                    std::to_string(nodes.size()));
    types.push_back(&nodes[argument].type);
  }
  ZYX_RETURN_IF_ERROR(checkOperands("inlining", from, 0, types));
  std::vector<NodeId> copies(from.size());
  std::vector<bool> isCopied(from.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    copies[from.inputs[i]] = arguments[i];
    isCopied[from.inputs[i]] = true;
  }
  ZYX_RETURN_IF_ERROR(copyNodes(from, from.reachable(), *this, copies, isCopied));
  std::vector<NodeId> results;
  for (const Output &output : from.outputs)
    results.push_back(copies[output.node]);
  return results;
}

} // namespace zyx::graph
