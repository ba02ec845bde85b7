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

static void checkCarried(std::span<const Tensor> initial, bool hasBody, const Place &where) {
  if (!hasBody)
    refuse("loop: there is no body", where);
  if (initial.empty())
    refuse("loop: nothing is carried", where);
  for (const Tensor &value : initial)
    if (!value.isDefined())
      refuse("loop: there is no tensor in one place of what is carried", where);
}

/// Refuses what is no bool of rank 0.
static void checkCondition(const char *function, const Tensor &condition, const Place &where) {
  if (!condition.isDefined() || condition.type() != TensorType{DType::Bool, {}})
    refuse(std::string(function) + ": the condition is " +
               (condition.isDefined() ? "of type " + toString(condition.type()) : std::string("no tensor")) +
               ", not bool[]",
           where);
}

static std::vector<Tensor> loopOf(const Tensor &count, int64_t trips, std::span<const Tensor> initial,
                                  const LoopBody &body, const Place &where) {
  checkCarried(initial, static_cast<bool>(body), where);
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

std::vector<Tensor> zyx::whileLoop(Tensors initial, const LoopCondition &condition, const LoopBody &body, Place where) {
  const std::span<const Tensor> values = initial;
  checkCarried(values, static_cast<bool>(body), where);
  if (!condition)
    refuse("whileLoop: there is no condition", where);
  // What the condition is comes before what is carried.
  const auto goesOn = [&](std::span<const Tensor> carried) {
    const CaptureScope capture;
    const Tensor made = condition(carried);
    checkCondition("whileLoop", made, where);
    return made;
  };
  std::vector<Tensor> all{goesOn(values)};
  all.insert(all.end(), values.begin(), values.end());
  std::vector<Tensor> results = loopOf(
      {}, graph::tripsAreWhile, all,
      [&](const Tensor &trip, std::span<const Tensor> carried) {
        std::vector<Tensor> next = body(trip, carried.subspan(1));
        if (next.size() != values.size())
          refuse("whileLoop: the body makes " + std::to_string(next.size()) + " values of " +
                     std::to_string(values.size()),
                 where);
        next.insert(next.begin(), goesOn(next));
        return next;
      },
      where);
  results.erase(results.begin());
  return results;
}

/// What a branch makes where a bool is true, in a loop of at most one trip: the graph's `if`. Else `initial`, which is
/// as many zeros where it is none.
static std::vector<Tensor> branchOf(const char *function, const Tensor &condition, std::vector<Tensor> initial,
                                    Tensors operands, const Branch &branch, const Place &where) {
  const std::string name = function;
  if (!branch)
    refuse(name + ": there is no branch", where);
  for (const Tensor &operand : operands)
    if (!operand.isDefined())
      refuse(name + ": there is no tensor in one place of the operands", where);
  const Tensor count = condition.cast(DType::I64, where);
  const std::shared_ptr<State> state = State::handleOf(count)->state;
  const auto placeholderOf = [&](const TensorType &type, const Tensor &like) {
    return valueOrThrow(state->addPlaceholder(type, like, /*isPlaced=*/false), where);
  };
  std::vector<Tensor> invariants;
  for (const Tensor &operand : operands)
    invariants.push_back(placeholderOf(operand.type(), operand));
  const CaptureScope capture;
  const std::vector<Tensor> results = branch(invariants);
  if (results.empty())
    refuse(name + ": a branch makes nothing", where);
  for (const Tensor &result : results)
    if (!result.isDefined())
      refuse(name + ": there is no tensor in one place of what a branch makes", where);
  if (initial.empty())
    for (const Tensor &result : results)
      initial.push_back(result.zerosLike(where));
  if (results.size() != initial.size())
    refuse(name + ": one branch makes " + std::to_string(initial.size()) + " values, and the other " +
               std::to_string(results.size()),
           where);
  std::vector<Tensor> placeholders{placeholderOf({DType::I64, {}}, Tensor())}, all{count};
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].type() != initial[i].type())
      refuse(name + ": one branch makes " + toString(initial[i].type()) + " as value " + std::to_string(i) +
                 ", and the other " + toString(results[i].type()),
             where);
    placeholders.push_back(placeholderOf(initial[i].type(), initial[i]));
    all.push_back(initial[i]);
  }
  placeholders.insert(placeholders.end(), invariants.begin(), invariants.end());
  all.insert(all.end(), operands.begin(), operands.end());
  graph::Attributes attributes;
  attributes.trips = graph::tripsAreData;
  return valueOrThrow(state->addBodyOp(Op::Loop, std::move(attributes), all, placeholders, results, where), where);
}

std::vector<Tensor> zyx::cond(const Tensor &condition, Tensors operands, const Branch &then, const Branch &otherwise,
                              Place where) {
  checkCondition("cond", condition, where);
  std::vector<Tensor> chosen = branchOf("cond", condition, {}, operands, then, where);
  return branchOf("cond", condition.logicalNot(where), std::move(chosen), operands, otherwise, where);
}

std::vector<Tensor> zyx::choose(const Tensor &index, Tensors operands, std::span<const Branch> branches, Place where) {
  if (!index.isDefined() || index.type() != TensorType{DType::I64, {}})
    refuse("choose: the index is " +
               (index.isDefined() ? "of type " + toString(index.type()) : std::string("no tensor")) + ", not i64[]",
           where);
  if (branches.empty())
    refuse("choose: there are no branches", where);
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  std::vector<Tensor> chosen;
  for (int64_t number = 0; number <= last; ++number) {
    const Tensor isThis = number < last ? index == number : (index < 0) | (index >= last);
    chosen = branchOf("choose", isThis, std::move(chosen), operands, branches[static_cast<size_t>(number)], where);
  }
  return chosen;
}
