//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Symbols.h"

namespace zyx::graph {

std::set<std::string> collectSymbols(const Graph &graph) {
  std::set<std::string> symbols;
  for (NodeId id = 0; id < graph.size(); ++id) {
    collectSymbols(graph.node(id).type, symbols);
    if (const Body &body = graph.node(id).attributes.body)
      symbols.merge(collectSymbols(body.graph()));
  }
  return symbols;
}

/// Whether `actual` is `type` at values that are known; gives symbols values on the way.
static Status bindInput(const std::string &name, const TensorType &type, const TensorType &actual, Bindings &bindings,
                        bool &changed) {
  const std::string what = "input '" + name + "' is " + toString(type) + ", and " + toString(actual) + " is given";
  if (actual.dtype != type.dtype || actual.shape.size() != type.shape.size() || actual.isSymbolic())
    return Status::invalidArgument(what);
  for (size_t dim = 0; dim < type.shape.size(); ++dim) {
    if (!type.isSymbolic()) {
      if (type.shape[dim] != actual.shape[dim])
        return Status::invalidArgument(what);
      continue;
    }
    if (const auto solution = type.extents[dim].solve(actual.shape[dim], bindings)) {
      if (solution->second < 0)
        return Status::invalidArgument(what + ": " + solution->first + " would be " + std::to_string(solution->second));
      bindings[solution->first] = solution->second;
      changed = true;
    }
    const Result<int64_t> value = type.extents[dim].evaluate(bindings);
    if (value.isOk() && *value != actual.shape[dim])
      return Status::invalidArgument(what + ": at " + zyx::toString(bindings) + " dimension " + std::to_string(dim) +
                                     " is " + std::to_string(*value));
  }
  return Status::ok();
}

Result<Bindings> bindSymbols(const Graph &graph, std::span<const TensorType> inputs, Bindings given) {
  if (inputs.size() != graph.inputs.size())
    return Status::invalidArgument(std::to_string(inputs.size()) + " types are given for " +
                                   std::to_string(graph.inputs.size()) + " inputs");
  // One round may give a value that another extent waits for; the last one checks all.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Node &node = graph.node(graph.inputs[i]);
      ZYX_RETURN_IF_ERROR(bindInput(node.attributes.name, node.type, inputs[i], given, changed));
    }
  }
  for (const std::string &symbol : collectSymbols(graph)) {
    if (given.contains(symbol))
      continue;
    std::string reason = "no input of graph " + graph.name + " gives the symbol " + symbol + " a value";
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Node &node = graph.node(graph.inputs[i]);
      std::set<std::string> symbols;
      collectSymbols(node.type, symbols);
      if (symbols.contains(symbol))
        reason += "; input '" + node.attributes.name + "' is " + toString(node.type) + ", and " + toString(inputs[i]) +
                  " is given";
    }
    return Status::invalidArgument(reason);
  }
  return given;
}

static std::string place(const Location &location) {
  return location.file.empty() ? std::string()
                               : std::string(location.file) + ":" + std::to_string(location.line) + ":" +
                                     std::to_string(location.column) + ": ";
}

static Result<Graph> specialiseNodes(const Graph &graph, const Bindings &bindings);

Result<Attributes> specialise(const Attributes &attributes, const Bindings &bindings) {
  Attributes result = attributes;
  if (attributes.body && !collectSymbols(attributes.body.graph()).empty()) {
    ZYX_ASSIGN_OR_RETURN(const Graph body, specialiseNodes(attributes.body.graph(), bindings));
    ZYX_ASSIGN_OR_RETURN(result.body, Body::create(body));
  }
  return result;
}

static Result<Graph> specialiseNodes(const Graph &graph, const Bindings &bindings) {
  Graph result;
  result.name = graph.name;
  // Two nodes may become one.
  std::vector<NodeId> ids(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node &node = graph.node(id);
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(ids[operand]);
    const Location location = graph.location(id);
    const Result<TensorType> type = zyx::specialise(node.type, bindings);
    Result<Attributes> attributes = specialise(node.attributes, bindings);
    const Result<NodeId> added = !type.isOk() ? Result<NodeId>(type.status())
                                 : !attributes.isOk()
                                     ? Result<NodeId>(attributes.status())
                                     : result.add(node.op, operands, std::move(*attributes), *type, location);
    if (!added.isOk())
      return Status::invalidArgument(place(location) + std::string(toString(node.op)) + " at " +
                                     zyx::toString(bindings) + ": " + added.status().message());
    ids[id] = *added;
  }
  for (NodeId input : graph.inputs)
    result.inputs.push_back(ids[input]);
  result.numWeights = graph.numWeights;
  for (const Output &output : graph.outputs)
    result.outputs.push_back({output.name, ids[output.node]});
  return result;
}

Result<Graph> specialise(const Graph &graph, const Bindings &bindings) {
  const std::set<std::string> symbols = collectSymbols(graph);
  for (const auto &[name, value] : bindings)
    if (!symbols.contains(name))
      return Status::invalidArgument("graph " + graph.name + " has no symbol " + name);
  return specialiseNodes(graph, bindings);
}

} // namespace zyx::graph
