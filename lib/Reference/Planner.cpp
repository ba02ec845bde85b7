//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Planner.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace zyx::reference {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;

namespace {

using IndexSpaceId = uint32_t;
using InstanceId = uint32_t;

/// Where a value is wanted: the root of a program, or behind one more view of such an index space. Equal
/// spaces have equal ids, so that sharing is found by comparing them.
struct IndexSpace {
  enum Role : uint8_t {
    /// The iteration space of the owner's program.
    Iteration,
    /// The same for the indices of a gather, which are repeated over the dimensions of x.
    Indices,
    /// The elements of a gather's x, or of an operand of a pad or concat, at any indices.
    Random,
  };
  NodeId owner;
  Role role;
  /// Some element may be wanted more than once.
  bool repeats;
  /// The view, and the space that it is behind; a root has none.
  std::optional<NodeId> view = {};
  IndexSpaceId outer = 0;
};

/// A node wanted at a space: read from memory, or computed there from its operands.
struct Instance {
  NodeId node;
  IndexSpaceId space;
  bool isLoad = true;
  std::vector<InstanceId> operands = {};
};

/// The program of a stored node while it is made: its instances, users before operands, and those
/// that it ends in.
struct Stored {
  std::vector<InstanceId> body;
  std::optional<InstanceId> result;
  std::vector<InstanceId> sources;
};

class Planner {
public:
  explicit Planner(const Graph &graph) : graph(graph) {}

  /// To be called for users before operands.
  void visit(NodeId id, bool isOutput);
  bool isStored(NodeId id) const { return stored.contains(id); }
  Program emit(NodeId owner) const;

private:
  IndexSpaceId addRoot(NodeId owner, IndexSpace::Role role, bool repeats);
  IndexSpaceId behind(NodeId view, IndexSpaceId outer);
  InstanceId want(NodeId node, IndexSpaceId space);
  void compute(InstanceId instance);
  void schedule(InstanceId instance) { stored[spaces[instances[instance].space].owner].body.push_back(instance); }
  Access access(const Instance &load) const;

  const Graph &graph;
  std::vector<IndexSpace> spaces;
  std::map<std::pair<NodeId, IndexSpaceId>, IndexSpaceId> interned;
  std::vector<Instance> instances;
  std::map<std::pair<NodeId, IndexSpaceId>, InstanceId> found;
  /// Per node, in how many spaces it is wanted.
  std::unordered_map<NodeId, std::vector<InstanceId>> wanted;
  std::unordered_map<NodeId, Stored> stored;
};

} // namespace

static bool isView(Op op) {
  return op == Op::Reshape || op == Op::Expand || op == Op::Permute || op == Op::Flip || op == Op::Window ||
         op == Op::Transfer;
}
static bool isElementwise(Op op) {
  return op == Op::Cast || op == Op::Bitcast || op == Op::Unary || op == Op::Binary || op == Op::Select;
}

IndexSpaceId Planner::addRoot(NodeId owner, IndexSpace::Role role, bool repeats) {
  spaces.push_back({owner, role, repeats});
  return static_cast<IndexSpaceId>(spaces.size() - 1);
}

IndexSpaceId Planner::behind(NodeId view, IndexSpaceId outer) {
  const auto [it, inserted] = interned.try_emplace({view, outer}, spaces.size());
  if (inserted) {
    const Node &node = graph.node(view);
    const bool grows =
        node.op == Op::Window || (node.op == Op::Expand && node.type != graph.node(node.operands[0]).type);
    const IndexSpace &from = spaces[outer];
    spaces.push_back({from.owner, from.role, from.repeats || grows, view, outer});
  }
  return it->second;
}

/// The instance of what `node` shows at `space`: views are looked through.
InstanceId Planner::want(NodeId node, IndexSpaceId space) {
  for (; isView(graph.node(node).op); node = graph.node(node).operands[0])
    space = behind(node, space);
  const auto [it, inserted] = found.try_emplace({node, space}, instances.size());
  if (inserted) {
    instances.push_back({node, space});
    wanted[node].push_back(it->second);
  }
  return it->second;
}

void Planner::compute(InstanceId instance) {
  const Instance user = instances[instance];
  std::vector<InstanceId> operands;
  for (NodeId operand : graph.node(user.node).operands)
    operands.push_back(want(operand, user.space));
  instances[instance].isLoad = false;
  instances[instance].operands = std::move(operands);
}

void Planner::visit(NodeId id, bool isOutput) {
  const Node &node = graph.node(id);
  if (isElementwise(node.op)) {
    const std::vector<InstanceId> &uses = wanted[id];
    if (!isOutput && uses.size() == 1 && !spaces[instances[uses[0]].space].repeats) {
      compute(uses[0]);
      schedule(uses[0]);
      return;
    }
  }
  for (InstanceId load : wanted[id])
    schedule(load);
  switch (node.op) {
  case Op::Parameter:
    return;
  case Op::Reduce:
    stored[id].result = want(node.operands[0], addRoot(id, IndexSpace::Iteration, false));
    return;
  case Op::Gather: {
    const bool repeats = graph.node(node.operands[1]).type.shape != node.type.shape;
    stored[id].result = want(node.operands[1], addRoot(id, IndexSpace::Indices, repeats));
    stored[id].sources = {want(node.operands[0], addRoot(id, IndexSpace::Random, true))};
    return;
  }
  case Op::Pad:
  case Op::Concat:
  case Op::Scan:
  case Op::Sort:
  case Op::Scatter:
  case Op::RandomBits:
    for (NodeId operand : node.operands) {
      const InstanceId source = want(operand, addRoot(id, IndexSpace::Random, true));
      stored[id].sources.push_back(source);
    }
    return;
  case Op::Cast:
  case Op::Bitcast:
  case Op::Unary:
  case Op::Binary:
  case Op::Select: {
    const InstanceId own = want(id, addRoot(id, IndexSpace::Iteration, false));
    stored[id].result = own;
    compute(own);
    schedule(own);
    return;
  }
  case Op::Constant:
  case Op::Iota:
    if (isOutput) {
      const InstanceId copy = want(id, addRoot(id, IndexSpace::Iteration, false));
      stored[id].result = copy;
      schedule(copy);
    }
    return;
  case Op::Reshape:
  case Op::Expand:
  case Op::Permute:
  case Op::Flip:
  case Op::Window:
  case Op::Transfer:
    if (isOutput)
      stored[id].result = want(id, addRoot(id, IndexSpace::Iteration, false));
    return;
  case Op::Loop:
  case Op::Custom:
    stored[id];
    return;
  }
}

/// The dimensions that a reduce keeps, then those that it removes.
static std::vector<int64_t> reduceOrder(size_t rank, const std::vector<int64_t> &dims) {
  std::vector<int64_t> order;
  for (size_t d = 0; d < rank; ++d)
    if (std::ranges::find(dims, static_cast<int64_t>(d)) == dims.end())
      order.push_back(static_cast<int64_t>(d));
  order.insert(order.end(), dims.begin(), dims.end());
  return order;
}

Access Planner::access(const Instance &load) const {
  const Node &leaf = graph.node(load.node);
  Access access = Access::contiguous(leaf.type.shape);
  std::vector<int64_t> strides(leaf.type.shape.size());
  if (leaf.op == Op::Iota) {
    // The index that is computed is the value itself.
    strides[leaf.attributes.dims[0]] = 1;
    access = Access(leaf.type.shape, strides);
  } else if (leaf.op == Op::Constant && leaf.attributes.splat) {
    access = Access(leaf.type.shape, strides);
  }
  const IndexSpace *space = &spaces[load.space];
  for (; space->view; space = &spaces[space->outer]) {
    const Node &view = graph.node(*space->view);
    const graph::Attributes &attributes = view.attributes;
    if (view.op == Op::Reshape)
      access.reshape(view.type.shape);
    else if (view.op == Op::Expand)
      access.expand(view.type.shape);
    else if (view.op == Op::Permute)
      access.permute(attributes.dims);
    else if (view.op == Op::Flip)
      access.flip(attributes.dims);
    else if (view.op == Op::Window)
      access.window(view.type.shape, attributes.dims, attributes.stride, attributes.dilation);
  }
  const Node &owner = graph.node(space->owner);
  if (space->role == IndexSpace::Indices) {
    const Shape &indices = graph.node(owner.operands[1]).type.shape;
    Shape aligned(owner.type.shape.size(), 1);
    std::ranges::copy(indices, aligned.begin() + owner.attributes.dims[0]);
    access.reshape(aligned);
    access.expand(owner.type.shape);
  } else if (space->role == IndexSpace::Iteration && owner.op == Op::Reduce) {
    const size_t rank = graph.node(owner.operands[0]).type.shape.size();
    access.permute(reduceOrder(rank, owner.attributes.dims));
  }
  access.simplify();
  return access;
}

Program Planner::emit(NodeId owner) const {
  const Stored &from = stored.at(owner);
  Program program;
  program.node = owner;
  for (InstanceId source : from.sources)
    program.sources.push_back({instances[source].node, access(instances[source])});
  // The body lists users before operands: an instance is live from its first mention in this order.
  std::unordered_map<InstanceId, uint32_t> blocks;
  std::vector<uint32_t> free;
  const auto blockOf = [&](InstanceId instance) {
    const auto [it, inserted] = blocks.try_emplace(instance, program.numBlocks);
    if (!inserted)
      return it->second;
    if (free.empty()) {
      ++program.numBlocks;
    } else {
      it->second = free.back();
      free.pop_back();
    }
    return it->second;
  };
  if (from.result)
    program.result = blockOf(*from.result);
  else
    program.numBlocks = 1;
  for (InstanceId id : from.body) {
    if (std::ranges::find(from.sources, id) != from.sources.end())
      continue;
    const Instance &instance = instances[id];
    Instruction instruction;
    instruction.node = instance.node;
    instruction.block = blockOf(id);
    for (InstanceId operand : instance.operands)
      instruction.operands.push_back(blockOf(operand));
    if (instance.isLoad)
      instruction.access = access(instance);
    // Above this instruction the block holds nothing yet.
    free.push_back(instruction.block);
    program.instructions.push_back(std::move(instruction));
  }
  std::ranges::reverse(program.instructions);
  return program;
}

Plan makePlan(const Graph &graph, const std::vector<NodeId> &order) {
  std::unordered_set<NodeId> outputs;
  for (const graph::Output &output : graph.outputs)
    outputs.insert(output.node);
  // A body reads its operands from memory.
  for (NodeId id : order)
    if (const Node &node = graph.node(id); node.attributes.body)
      outputs.insert(node.operands.begin(), node.operands.end());
  Planner planner(graph);
  for (size_t i = order.size(); i-- > 0;)
    planner.visit(order[i], outputs.contains(order[i]));

  Plan plan;
  for (NodeId id : order) {
    if (!planner.isStored(id))
      continue;
    const size_t index = plan.programs.size();
    plan.programs.push_back(planner.emit(id));
    const Program &program = plan.programs.back();
    for (const Instruction &instruction : program.instructions)
      if (instruction.access)
        plan.lastRead[instruction.node] = index;
    for (const Source &source : program.sources)
      plan.lastRead[source.node] = index;
    if (graph.node(id).attributes.body)
      for (NodeId operand : graph.node(id).operands)
        plan.lastRead[operand] = index;
  }
  return plan;
}

} // namespace zyx::reference
