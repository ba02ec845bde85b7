//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Checkpoints: what a function has built becomes the body of one op, whose gradient computes it again.
//===----------------------------------------------------------------------===//
#include "Detail.h"

#include "zyx/Graph/Gradient.h"
#include "zyx/Tensor/Tape.h"

#include <algorithm>
#include <unordered_set>

using namespace zyx;
using namespace zyx::detail;

State::Mark State::mark() {
  std::lock_guard lock(mutex);
  return {graph.size(), compactions};
}

Result<std::vector<Tensor>> State::checkpoint(const Mark &mark, std::span<const Tensor> inputs,
                                              std::span<const Tensor> results, const Place &where) {
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(inputs));
  ZYX_RETURN_IF_ERROR(checkMine(results));
  std::unordered_set<NodeId> given;
  for (const Tensor &input : inputs)
    given.insert(nodeOf(input));
  auto isEnd = [&](NodeId id) {
    return given.contains(id) || states[id].value || !states[id].holdsOperands || graph.node(id).op == Op::Parameter;
  };

  // All that is behind the results, up to the inputs and to values; operands first.
  std::vector<NodeId> found;
  std::unordered_set<NodeId> isFound;
  auto find = [&](NodeId id) {
    if (isFound.insert(id).second)
      found.push_back(id);
  };
  for (const Tensor &result : results)
    find(nodeOf(result));
  for (size_t i = 0; i < found.size(); ++i)
    if (!isEnd(found[i]))
      for (NodeId operand : graph.node(found[i]).operands)
        find(operand);
  std::ranges::sort(found);
  // Inside is what depends on the inputs, and what the function made besides. A graph that was rebuilt since has
  // other numbers.
  const bool isRebuilt = mark.compactions != compactions;
  const size_t firstMade = isRebuilt ? graph.size() : mark.nodes;
  // Of what somebody has a handle, a gradient may be asked for: what was made before is read, whatever it depends on.
  std::vector<bool> isHeld = heldNodes();
  if (isRebuilt)
    for (const Tensor &result : results)
      isHeld[nodeOf(result)] = false;
  std::unordered_set<NodeId> depends, inside;
  for (NodeId id : found) {
    if (given.contains(id))
      depends.insert(id);
    if (isEnd(id))
      continue;
    if (std::ranges::any_of(graph.node(id).operands, [&](NodeId operand) { return depends.contains(operand); }))
      depends.insert(id);
    // What was moved here, and is no part of it.
    if (graph.node(id).op == Op::Transfer && !depends.contains(id))
      continue;
    if (id >= firstMade || states[id].isConstant ||
        (!isHeld[id] && (depends.contains(id) || isLoadView(graph.node(id).op))))
      inside.insert(id);
  }

  // The body, in the order of a walk from the results, which is the same for two functions that do the same.
  graph::Graph body;
  std::vector<NodeId> operands;
  std::unordered_map<NodeId, NodeId> copies;
  std::vector<size_t> wrapped;
  for (size_t i = 0; i < results.size(); ++i) {
    const NodeId result = nodeOf(results[i]);
    if (!inside.contains(result) || !depends.contains(result))
      continue;
    wrapped.push_back(i);
    std::vector<std::pair<NodeId, bool>> work = {{result, false}};
    while (!work.empty()) {
      const auto [id, isReady] = work.back();
      work.pop_back();
      if (copies.contains(id))
        continue;
      const graph::Node &node = graph.node(id);
      // Programs end there, and one op is in one program.
      if (inside.contains(id) && node.op == Op::Transfer)
        return Status::unsupported("checkpoint: the function moves " + zyx::toString(node.type) +
                                   " to another device; a checkpoint lies on one");
      if (!inside.contains(id)) {
        ZYX_ASSIGN_OR_RETURN(copies[id], body.parameter("arg" + std::to_string(operands.size()), node.type));
        body.inputs.push_back(copies[id]);
        operands.push_back(id);
        continue;
      }
      if (!isReady && !node.operands.empty()) {
        work.emplace_back(id, true);
        for (auto operand = node.operands.rbegin(); operand != node.operands.rend(); ++operand)
          work.emplace_back(*operand, false);
        continue;
      }
      std::vector<NodeId> copied;
      for (NodeId operand : node.operands)
        copied.push_back(copies.at(operand));
      ZYX_ASSIGN_OR_RETURN(copies[id], body.add(node.op, copied, node.attributes, node.type, graph.location(id)));
    }
    body.outputs.push_back({"result" + std::to_string(body.outputs.size()), copies.at(result)});
  }

  std::vector<Tensor> made(results.begin(), results.end());
  if (wrapped.empty())
    return made;
  graph::Attributes attributes;
  attributes.name = graph::checkpointName;
  ZYX_ASSIGN_OR_RETURN(attributes.body, graph::Body::create(body));
  ZYX_RETURN_IF_ERROR(bringTogetherLocked(operands, "checkpoint", where));
  ZYX_ASSIGN_OR_RETURN(
      const std::vector<NodeId> nodes,
      graph.addResults(Op::Custom, operands, std::move(attributes), {where.file_name(), where.line(), where.column()}));
  growStates();
  for (size_t i = 0; i < wrapped.size(); ++i) {
    remember(nodes[i]);
    made[wrapped[i]] = makeTensor(nodes[i]);
  }
  return made;
}

std::vector<Tensor> zyx::checkpoint(const std::function<std::vector<Tensor>(std::span<const Tensor>)> &function,
                                    Tensors inputs, Place where) {
  if (!function)
    refuse("checkpoint: there is no function", where);
  for (const Tensor &input : inputs)
    if (!input.isDefined())
      refuse("checkpoint: there is no tensor in this place", where);
  if (inputs.empty())
    refuse("checkpoint: there are no inputs", where);
  State &state = stateOf(inputs[0]);
  const State::Mark mark = state.mark();
  const std::vector<Tensor> results = function(inputs);
  return valueOrThrow(state.checkpoint(mark, inputs, results, where), where);
}

Tensor zyx::checkpoint(const std::function<Tensor(const Tensor &)> &function, const Tensor &input, Place where) {
  if (!function)
    refuse("checkpoint: there is no function", where);
  return checkpoint([&](std::span<const Tensor> inputs) { return std::vector<Tensor>{function(inputs[0])}; },
                    {&input, 1}, where)[0];
}
