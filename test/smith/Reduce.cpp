//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Reduce.h"

#include "zyx/Reference/Reference.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
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

  /// All nodes that are results of one loop or custom op, which changes as follows.
  std::set<NodeId> call;
  /// Of the graph of its body: nodes that are replaced or become splats, or a call in it.
  std::shared_ptr<const Change> inside;
  /// The trips of a loop; its own if 0.
  int64_t trips = 0;
  /// A result that goes, by number. Of a loop, the carried value is an invariant then.
  std::optional<size_t> result;
  /// Who uses the result gets the one beside it; if not, the value that a loop begins with.
  bool usesNeighbour = false;
  /// A parameter of the body that nothing uses, by number; it goes with its operand.
  std::optional<size_t> parameter;
  /// The body stands in the place of the call: one trip of a loop, with index 0.
  bool isInlined = false;

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

/// Where a loop's initial values begin among its operands.
size_t firstInitial(const Node &node) {
  return node.op == Op::Loop && node.attributes.trips == graph::tripsAreData ? 1 : 0;
}
/// The operand that a parameter of a call's body stands for; nothing for the index of a loop.
std::optional<size_t> operandOf(const Node &node, size_t parameter) {
  if (node.op == Op::Custom)
    return parameter;
  return parameter == 0 ? std::nullopt : std::optional(firstInitial(node) + parameter - 1);
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

  /// The same of a body, with the listed inputs and outputs in this order; nothing may use another
  /// input.
  std::optional<graph::Body> runBody(std::span<const size_t> inputs, std::span<const size_t> outputs) {
    Program made;
    for (size_t number : inputs) {
      const NodeId id = old.graph.inputs[number];
      const Node &node = old.graph.node(id);
      const Result<NodeId> parameter =
          made.graph.parameter(node.attributes.name, {node.type.dtype, change.shape(node.type.shape)});
      if (!parameter.isOk())
        return std::nullopt;
      made.graph.inputs.push_back(*parameter);
      if (!change.splats.contains(id))
        placed[id] = *parameter;
    }
    isBody = true;
    for (size_t number : outputs) {
      const auto id = place(made, old.graph.outputs[number].node);
      if (!id)
        return std::nullopt;
      made.graph.outputs.push_back({old.graph.outputs[number].name, *id});
    }
    const Result<graph::Body> body = graph::Body::create(made.graph);
    return body.isOk() ? std::optional(*body) : std::nullopt;
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
      std::vector<std::byte> one = conformance::makeTensor(node.type.dtype, {}, std::vector<double>{1}).data;
      const Result<NodeId> splat = made.graph.splat({node.type.dtype, shape}, std::move(one));
      return splat.isOk() ? std::optional<NodeId>(*splat) : std::nullopt;
    }
    if (const auto found = change.bound.find(id); found != change.bound.end())
      return input(made, "v." + std::to_string(id), found->second);
    if (node.op == Op::Parameter) {
      if (isBody)
        return std::nullopt;
      const auto at = std::find(old.graph.inputs.begin(), old.graph.inputs.end(), id);
      if (at == old.graph.inputs.end())
        return std::nullopt;
      const HostTensor &value = old.tensors[static_cast<size_t>(at - old.graph.inputs.begin())];
      return input(made, node.attributes.name, crop(value, shape));
    }
    std::vector<NodeId> operands;
    const bool drops = change.parameter && change.call.contains(id);
    const std::optional<size_t> dropped = drops ? operandOf(node, *change.parameter) : std::nullopt;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (i == dropped)
        continue;
      const std::optional<NodeId> other = place(made, node.operands[i]);
      if (!other)
        return std::nullopt;
      operands.push_back(*other);
    }
    if (node.attributes.body)
      return makeCall(made, id, std::move(operands));
    graph::Attributes attributes = node.attributes;
    if (node.op == Op::Constant && !attributes.splat)
      attributes.value = crop({node.type, attributes.value}, shape).data;
    const Result<NodeId> result = made.graph.add(node.op, operands, std::move(attributes), {node.type.dtype, shape});
    return result.isOk() ? std::optional<NodeId>(*result) : std::nullopt;
  }

  std::optional<NodeId> makeCall(Program &made, NodeId id, std::vector<NodeId> operands) {
    const Node &node = old.graph.node(id);
    const bool isLoop = node.op == Op::Loop, isChanged = change.call.contains(id);
    graph::Attributes attributes = node.attributes;
    const Program body{attributes.body.graph(), {}};
    // Extents change everywhere.
    Change inside = isChanged && change.inside ? *change.inside : Change();
    inside.from = change.from;
    inside.to = change.to;
    inside.multiples = change.multiples;

    std::vector<size_t> inputs(body.graph.inputs.size()), outputs(body.graph.outputs.size());
    std::iota(inputs.begin(), inputs.end(), size_t(0));
    std::iota(outputs.begin(), outputs.end(), size_t(0));
    if (isChanged && change.trips != 0)
      attributes.trips = change.trips;
    if (isChanged && change.result) {
      const size_t gone = *change.result, own = static_cast<size_t>(attributes.result);
      if (isLoop) {
        const auto initial = operands.begin() + static_cast<ptrdiff_t>(firstInitial(node) + gone);
        if (own == gone && !change.usesNeighbour)
          return *initial;
        std::rotate(initial, initial + 1, operands.end());
        const auto carried = inputs.begin() + 1 + static_cast<ptrdiff_t>(gone);
        std::rotate(carried, carried + 1, inputs.end());
      }
      outputs.erase(outputs.begin() + static_cast<ptrdiff_t>(gone));
      if (own > gone || own == outputs.size())
        --attributes.result;
    }
    if (isChanged && change.parameter) // its operand is not among these
      inputs.erase(inputs.begin() + static_cast<ptrdiff_t>(*change.parameter));
    const std::optional<graph::Body> rebuilt = Rebuilder(body, inside).runBody(inputs, outputs);
    if (!rebuilt)
      return std::nullopt;
    if (isChanged && change.isInlined)
      return inlineCall(made, node, *rebuilt, std::move(operands));
    attributes.body = *rebuilt;
    const Result<NodeId> result =
        made.graph.add(node.op, operands, std::move(attributes), {node.type.dtype, change.shape(node.type.shape)});
    return result.isOk() ? std::optional<NodeId>(*result) : std::nullopt;
  }

  static std::optional<NodeId> inlineCall(Program &made, const Node &node, const graph::Body &body,
                                          std::vector<NodeId> arguments) {
    if (node.op == Op::Loop) {
      const Result<NodeId> index = made.graph.splat({DType::I64, {}}, std::vector<std::byte>(sizeof(int64_t)));
      if (!index.isOk())
        return std::nullopt;
      if (firstInitial(node) == 1)
        arguments.front() = *index; // the count makes room
      else
        arguments.insert(arguments.begin(), *index);
    }
    const Result<std::vector<NodeId>> results = made.graph.inlineBody(body, arguments);
    return results.isOk() ? std::optional((*results)[static_cast<size_t>(node.attributes.result)]) : std::nullopt;
  }

  const Program &old;
  const Change &change;
  /// Its inputs are placed before all else.
  bool isBody = false;
  std::map<NodeId, NodeId> placed;
};

/// What could be cut of the calls of a graph, the most first.
std::vector<Change> listCallChanges(const Graph &graph) {
  std::vector<Change> changes;
  std::set<NodeId> seen;
  std::vector<NodeId> order = graph.reachable();
  std::reverse(order.begin(), order.end());
  for (NodeId id : order) {
    const Node &node = graph.node(id);
    if (!node.attributes.body || seen.contains(id))
      continue;
    Change call;
    for (NodeId other : order) {
      const Node &result = graph.node(other);
      graph::Attributes attributes = result.attributes;
      attributes.result = node.attributes.result;
      if (result.op == node.op && result.operands == node.operands && attributes == node.attributes)
        call.call.insert(other);
    }
    seen.insert(call.call.begin(), call.call.end());
    const auto add = [&](auto set) { set(changes.emplace_back(call)); };
    const Graph &body = node.attributes.body.graph();
    const bool isLoop = node.op == Op::Loop;
    add([](Change &change) { change.isInlined = true; });
    for (int64_t trips : {int64_t(1), int64_t(2), node.attributes.trips / 2})
      if (isLoop && trips > 0 && trips < node.attributes.trips)
        add([&](Change &change) { change.trips = trips; });
    for (size_t i = 0; i < body.outputs.size() && body.outputs.size() > 1; ++i)
      for (bool usesNeighbour : {false, true})
        if (isLoop || usesNeighbour)
          add([&](Change &change) {
            change.result = i;
            change.usesNeighbour = usesNeighbour;
          });

    std::vector<NodeId> inner = body.reachable();
    const std::set<NodeId> reached(inner.begin(), inner.end());
    for (size_t i = isLoop ? 1 + body.outputs.size() : 0; i < body.inputs.size(); ++i)
      if (!reached.contains(body.inputs[i]))
        add([&](Change &change) { change.parameter = i; });
    const auto addInside = [&](Change inside) {
      add([&](Change &change) { change.inside = std::make_shared<const Change>(std::move(inside)); });
    };
    for (size_t i = inner.size(); i-- > 0;) {
      const Op op = body.node(inner[i]).op;
      for (NodeId operand : body.node(inner[i]).operands) {
        Change inside;
        inside.replaced[inner[i]] = operand;
        addInside(std::move(inside));
      }
      if (op == Op::Constant)
        continue;
      Change inside;
      inside.splats.insert(inner[i]);
      addInside(std::move(inside));
    }
    for (Change &inside : listCallChanges(body))
      addInside(std::move(inside));
  }
  return changes;
}

class Reducer {
public:
  Reducer(Program program, const Interesting &interesting, int64_t maxTests)
      : program(std::move(program)), interesting(interesting), left(maxTests) {}

  Program run() {
    while (dropOutputs() || cutNodes() || cutCalls() || shrinkExtents()) {
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

  bool cutCalls() {
    bool any = false;
    std::vector<Change> changes = listCallChanges(program.graph);
    for (size_t i = 0; i < changes.size(); ++i) {
      if (!tryChange(changes[i]))
        continue;
      any = true;
      // Most of what was tried before would fail again.
      const size_t behind = changes.size() - i - 1;
      changes = listCallChanges(program.graph);
      // Where there are fewer, at the first one: one before it, so far.
      i = changes.size() - std::min(behind, changes.size()) - 1;
    }
    return any;
  }

  std::optional<HostTensor> evaluate(NodeId id) {
    Graph graph = program.graph;
    graph.outputs = {{"value", id}};
    Result<std::vector<HostTensor>> values = reference::evaluate(graph, program.tensors);
    return values.isOk() ? std::optional<HostTensor>(std::move((*values)[0])) : std::nullopt;
  }

  static void collectExtents(const Graph &graph, std::set<int64_t, std::greater<>> &extents) {
    for (NodeId id : graph.reachable()) {
      const Node &node = graph.node(id);
      for (int64_t extent : node.type.shape)
        if (extent > 1)
          extents.insert(extent);
      if (node.attributes.body)
        collectExtents(node.attributes.body.graph(), extents);
    }
  }

  bool shrinkExtents() {
    std::set<int64_t, std::greater<>> extents;
    collectExtents(program.graph, extents);
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
