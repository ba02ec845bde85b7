//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Loop.h"

#include "Detail.h"

using namespace zyx;
using namespace zyx::detail;

/// What depends on the placeholders becomes the body, with the constants and nameless views that it needs; values that
/// it reads besides are operands of a loop. They come in the order in which a walk from the results finds them, so
/// that a loop that is built again is the same one.
Result<std::vector<Tensor>> State::addBodyOp(Op op, graph::Attributes attributes, std::span<const Tensor> operands,
                                             std::span<const Tensor> placeholders, std::span<const Tensor> results,
                                             const Place &where) {
  const std::string name(graph::toString(op));
  ZYX_RETURN_IF_ERROR(mutex.check());
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(operands));
  ZYX_RETURN_IF_ERROR(checkMine(results));
  std::unordered_map<NodeId, bool> depends;
  for (const Tensor &placeholder : placeholders)
    depends.emplace(nodeOf(placeholder), true);
  auto isLeaf = [&](NodeId id) { return states[id].value || graph.node(id).operands.empty(); };
  auto walk = [&](auto &&enter, auto &&leave) {
    std::vector<std::pair<NodeId, bool>> work;
    for (auto result = results.rbegin(); result != results.rend(); ++result)
      work.emplace_back(nodeOf(*result), false);
    while (!work.empty()) {
      const auto [id, isReady] = work.back();
      work.pop_back();
      if (isReady) {
        leave(id);
        continue;
      }
      if (!enter(id))
        continue;
      work.emplace_back(id, true);
      const std::vector<NodeId> &before = graph.node(id).operands;
      for (auto operand = before.rbegin(); operand != before.rend(); ++operand)
        work.emplace_back(*operand, false);
    }
  };
  walk(
      [&](NodeId id) {
        if (depends.contains(id))
          return false;
        if (isLeaf(id))
          depends.emplace(id, false);
        return !isLeaf(id);
      },
      [&](NodeId id) {
        bool &mine = depends[id];
        for (NodeId operand : graph.node(id).operands)
          mine = mine || depends.at(operand);
      });

  graph::Graph inside;
  inside.name = name;
  std::unordered_map<NodeId, NodeId> copies;
  Status status;
  auto copy = [&](NodeId id, auto &&added) {
    if (status.isOk())
      status = added.status();
    copies.emplace(id, added.isOk() ? *added : 0);
  };
  auto addInput = [&](NodeId id) {
    copy(id, inside.parameter("in" + std::to_string(inside.inputs.size()), graph.node(id).type));
    inside.inputs.push_back(copies.at(id));
  };
  for (const Tensor &placeholder : placeholders)
    addInput(nodeOf(placeholder));
  std::vector<NodeId> outside;
  for (const Tensor &operand : operands)
    outside.push_back(nodeOf(operand));
  // Of what somebody has a handle, a gradient may be asked for: the loop reads that and not what is behind it.
  const std::vector<bool> isHeld = heldNodes();
  auto isInside = [&](NodeId id) {
    return !states[id].value && (states[id].isConstant || (isLoadView(graph.node(id).op) && !isHeld[id]));
  };
  walk(
      [&](NodeId id) {
        if (!status.isOk() || copies.contains(id))
          return false;
        if (depends.at(id) || isInside(id))
          return true;
        outside.push_back(id);
        addInput(id);
        return false;
      },
      [&](NodeId id) {
        if (!status.isOk() || copies.contains(id))
          return;
        const graph::Node &node = graph.node(id);
        std::vector<NodeId> before;
        for (NodeId operand : node.operands)
          before.push_back(copies.at(operand));
        copy(id, inside.add(node.op, before, node.attributes, node.type, graph.location(id)));
      });
  ZYX_RETURN_IF_ERROR(status);
  // An implementation is given what the caller lists, and nothing else.
  if (op == Op::Custom && outside.size() != operands.size())
    return Status::invalidArgument(name + ": the meaning of '" + attributes.name + "' reads " +
                                   zyx::toString(graph.node(outside.back()).type) + ", which is none of its inputs");
  for (const Tensor &result : results)
    inside.outputs.push_back({"out" + std::to_string(inside.outputs.size()), copies.at(nodeOf(result))});
  ZYX_ASSIGN_OR_RETURN(attributes.body, graph::Body::create(inside));
  ZYX_RETURN_IF_ERROR(bringTogetherLocked(outside, name, where));
  ZYX_ASSIGN_OR_RETURN(
      const std::vector<NodeId> nodes,
      graph.addResults(op, outside, std::move(attributes), {where.file_name(), where.line(), where.column()}));
  growStates();
  std::vector<Tensor> tensors;
  for (NodeId node : nodes)
    tensors.push_back(makeTensor(node));
  return tensors;
}

static std::vector<Tensor> loopOf(const Tensor &count, int64_t trips, std::span<const Tensor> initial,
                                  const LoopBody &body, const Place &where) {
  if (!body)
    refuse("loop: there is no body", where);
  if (initial.empty())
    refuse("loop: nothing is carried", where);
  for (const Tensor &value : initial)
    if (!value.isDefined())
      refuse("loop: there is no tensor in one place of what is carried", where);
  const std::shared_ptr<State> state = State::handleOf(initial[0])->state;
  const Tensor trip = valueOrThrow(state->addPlaceholder({DType::I64, {}}, Tensor(), /*isPlaced=*/false), where);
  std::vector<Tensor> carried, placeholders = {trip}, operands;
  for (const Tensor &value : initial)
    carried.push_back(valueOrThrow(state->addPlaceholder(value.type(), value, /*isPlaced=*/false), where));
  placeholders.insert(placeholders.end(), carried.begin(), carried.end());
  const CaptureScope capture;
  const std::vector<Tensor> next = body(trip, carried);
  if (next.size() != initial.size())
    refuse("loop: the body makes " + std::to_string(next.size()) + " values of " + std::to_string(initial.size()),
           where);
  for (size_t i = 0; i < next.size(); ++i)
    if (!next[i].isDefined() || next[i].type() != initial[i].type())
      refuse("loop: value " + std::to_string(i) + " is of type " + toString(initial[i].type()) +
                 ", and the body makes it " + (next[i].isDefined() ? toString(next[i].type()) : "no tensor"),
             where);
  graph::Attributes attributes;
  attributes.trips = trips;
  if (count.isDefined())
    operands.push_back(count);
  operands.insert(operands.end(), initial.begin(), initial.end());
  return valueOrThrow(state->addBodyOp(Op::Loop, std::move(attributes), operands, placeholders, next, where), where);
}

std::vector<Tensor> zyx::loop(int64_t trips, Tensors initial, const LoopBody &body, Place where) {
  if (trips < 0)
    refuse("loop: there are no " + std::to_string(trips) + " trips", where);
  return loopOf({}, trips, initial, body, where);
}

std::vector<Tensor> zyx::loop(const Tensor &trips, Tensors initial, const LoopBody &body, Place where) {
  if (!trips.isDefined() || trips.type() != TensorType{DType::I64, {}})
    refuse("loop: the number of trips is " +
               (trips.isDefined() ? "of type " + toString(trips.type()) : std::string("no tensor")) + ", not i64[]",
           where);
  return loopOf(trips, graph::tripsAreData, initial, body, where);
}
