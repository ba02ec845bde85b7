//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Reduce.h"

#include "zyx/Reference/Reference.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace zyx::smith {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;

namespace {

/// What is to become of a program.
struct Change {
  /// Nodes that another takes the place of.
  std::map<NodeId, NodeId> replaced;
  /// Nodes that become parameters, with their values.
  std::map<NodeId, HostTensor> bound;
  /// Nodes that become splats of 1.
  std::set<NodeId> splats;
  /// Outputs that stay, by number; all if empty.
  std::vector<size_t> outputs;
  /// Every extent `from` becomes `to`; those that it divides shrink in proportion, if `multiples`.
  int64_t from = 0, to = 0;
  bool multiples = false;

  int64_t extent(int64_t e) const {
    if (from == 0 || e == 0)
      return e;
    if (e == from)
      return to;
    return multiples && e % from == 0 ? e / from * to : e;
  }
  Shape shape(Shape shape) const {
    for (int64_t &e : shape)
      e = extent(e);
    return shape;
  }
};

/// The first elements along every dimension.
HostTensor crop(const HostTensor &tensor, const Shape &shape) {
  if (tensor.type.shape == shape)
    return tensor;
  HostTensor result{{tensor.type.dtype, shape}, {}};
  const size_t size = static_cast<size_t>(byteSize(tensor.type.dtype));
  const int64_t count = *numElements(shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (size_t dim = shape.size(); dim-- > 0;) {
      at += rest % shape[dim] * stride;
      rest /= shape[dim];
      stride *= tensor.type.shape[dim];
    }
    const std::byte *from = tensor.data.data() + static_cast<size_t>(at) * size;
    result.data.insert(result.data.end(), from, from + size);
  }
  return result;
}

/// Builds the changed program; nothing where the graph refuses it.
class Rebuilder {
public:
  Rebuilder(const Program &program, const Change &change) : old(program), change(change) {}

  std::optional<Program> run() {
    Program made;
    made.graph.name = old.graph.name;
    std::vector<std::pair<std::string, NodeId>> outputs;
    for (size_t i = 0; i < old.graph.outputs.size(); ++i)
      if (change.outputs.empty() || std::count(change.outputs.begin(), change.outputs.end(), i))
        outputs.emplace_back(old.graph.outputs[i].name, old.graph.outputs[i].node);
    for (const auto &[name, node] : outputs) {
      const std::optional<NodeId> id = place(made, node);
      if (!id)
        return std::nullopt;
      made.graph.outputs.push_back({name, *id});
    }
    if (!made.graph.verify().isOk())
      return std::nullopt;
    return made;
  }

private:
  std::optional<NodeId> input(Program &made, const std::string &name, HostTensor value) {
    const Result<NodeId> id = made.graph.parameter(name, value.type);
    if (!id.isOk())
      return std::nullopt;
    made.graph.inputs.push_back(*id);
    made.tensors.push_back(std::move(value));
    return *id;
  }

  std::optional<NodeId> place(Program &made, NodeId id) {
    if (const auto found = change.replaced.find(id); found != change.replaced.end())
      return place(made, found->second);
    if (const auto found = placed.find(id); found != placed.end())
      return found->second;
    const std::optional<NodeId> result = make(made, id);
    if (result)
      placed[id] = *result;
    return result;
  }

  std::optional<NodeId> make(Program &made, NodeId id) {
    const Node &node = old.graph.node(id);
    const Shape shape = change.shape(node.type.shape);
    if (change.splats.contains(id)) {
      std::vector<std::byte> one =
          conformance::makeTensor(node.type.dtype, {}, std::vector<double>{1}).data;
      const Result<NodeId> splat = made.graph.splat({node.type.dtype, shape}, std::move(one));
      return splat.isOk() ? std::optional<NodeId>(*splat) : std::nullopt;
    }
    if (const auto found = change.bound.find(id); found != change.bound.end())
      return input(made, "v." + std::to_string(id), found->second);
    if (node.op == Op::Parameter) {
      const auto at = std::find(old.graph.inputs.begin(), old.graph.inputs.end(), id);
      if (at == old.graph.inputs.end())
        return std::nullopt;
      const HostTensor &value = old.tensors[static_cast<size_t>(at - old.graph.inputs.begin())];
      return input(made, node.attributes.name, crop(value, shape));
    }
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands) {
      const std::optional<NodeId> other = place(made, operand);
      if (!other)
        return std::nullopt;
      operands.push_back(*other);
    }
    graph::Attributes attributes = node.attributes;
    if (node.op == Op::Constant && !attributes.splat)
      attributes.value = crop({node.type, attributes.value}, shape).data;
    const Result<NodeId> result =
        made.graph.add(node.op, operands, std::move(attributes), {node.type.dtype, shape});
    return result.isOk() ? std::optional<NodeId>(*result) : std::nullopt;
  }

  const Program &old;
  const Change &change;
  std::map<NodeId, NodeId> placed;
};

class Reducer {
public:
  Reducer(Program program, const Interesting &interesting, int64_t maxTests)
      : program(std::move(program)), interesting(interesting), left(maxTests) {}

  Program run() {
    while (dropOutputs() || cutNodes() || shrinkExtents()) {
    }
    return std::move(program);
  }

private:
  /// Makes the change if that leaves an interesting program.
  bool tryChange(const Change &change) {
    std::optional<Program> changed = Rebuilder(program, change).run();
    if (!changed || left <= 0)
      return false;
    --left;
    if (!interesting(*changed))
      return false;
    program = std::move(*changed);
    return true;
  }

  bool dropOutputs() {
    const size_t count = program.graph.outputs.size();
    if (count < 2)
      return false;
    Change change;
    for (size_t keep = 0; keep < count; ++keep) {
      change.outputs = {keep};
      if (tryChange(change))
        return true;
    }
    for (size_t drop = 0; drop < count; ++drop) {
      change.outputs.clear();
      for (size_t i = 0; i < count; ++i)
        if (i != drop)
          change.outputs.push_back(i);
      if (tryChange(change))
        return true;
    }
    return false;
  }

  /// Users come before operands: what is cut early takes most with it.
  bool cutNodes() {
    bool any = false;
    std::vector<NodeId> order = program.graph.reachable();
    for (size_t i = order.size(); i-- > 0;) {
      if (!cut(order[i]))
        continue;
      any = true;
      // Numbers are new; go on at the same distance from the end.
      const size_t behind = order.size() - i - 1;
      order = program.graph.reachable();
      i = order.size() - std::min(behind, order.size());
    }
    return any;
  }

  bool cut(NodeId id) {
    const Node node = program.graph.node(id); // a copy: the program changes
    if (node.op == Op::Constant)
      return false;
    // Where the operand has another type, its users, if there are any, may refuse it.
    for (NodeId operand : node.operands) {
      Change change;
      change.replaced[id] = operand;
      if (tryChange(change))
        return true;
    }
    if (node.op != Op::Parameter)
      if (std::optional<HostTensor> value = evaluate(id)) {
        Change change;
        change.bound[id] = std::move(*value);
        if (tryChange(change))
          return true;
      }
    Change change;
    change.splats.insert(id);
    return tryChange(change);
  }

  std::optional<HostTensor> evaluate(NodeId id) {
    Graph graph = program.graph;
    graph.outputs = {{"value", id}};
    Result<std::vector<HostTensor>> values = reference::evaluate(graph, program.tensors);
    return values.isOk() ? std::optional<HostTensor>(std::move((*values)[0])) : std::nullopt;
  }

  bool shrinkExtents() {
    std::set<int64_t, std::greater<>> extents;
    for (NodeId id : program.graph.reachable())
      for (int64_t extent : program.graph.node(id).type.shape)
        if (extent > 1)
          extents.insert(extent);
    for (int64_t extent : extents)
      for (int64_t to : {int64_t(1), extent / 4, extent / 2, extent - 1})
        for (bool multiples : {true, false}) {
          Change change;
          change.from = extent;
          change.to = to;
          change.multiples = multiples;
          if (to > 0 && to < extent && tryChange(change))
            return true;
        }
    return false;
  }

  Program program;
  const Interesting &interesting;
  int64_t left;
};

} // namespace

Program reduceProgram(Program program, const Interesting &interesting, int64_t maxTests) {
  return Reducer(std::move(program), interesting, maxTests).run();
}

} // namespace zyx::smith
