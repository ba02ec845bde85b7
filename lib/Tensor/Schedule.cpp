//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What has to be computed becomes programs, one per device between two moves, and copies between them.
//===----------------------------------------------------------------------===//
#include "State.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

using namespace zyx;
using namespace zyx::detail;

class State::Scheduler {
public:
  Scheduler(State &state, Build &build, const std::optional<std::span<const NodeId>> &arguments,
            const Compile &compiles, std::span<const NodeId> donated, std::span<const NodeId> weights)
      : state(state), build(build), compiles(compiles), isForManyRuns(arguments.has_value()), donated(donated),
        weights(weights.begin(), weights.end()) {
    if (arguments)
      open.insert(arguments->begin(), arguments->end());
  }

  Result<Schedule> make(std::span<const NodeId> targets) {
    ZYX_RETURN_IF_ERROR(state.hasOneDevice ? addProgram(0, targets) : addRounds(targets));
    for (NodeId target : targets)
      made.results.push_back(*valueOn(target, deviceOf(target)));
    return std::move(made);
  }

private:
  uint16_t deviceOf(NodeId id) const {
    const NodeState &node = state.states[id];
    if (node.value && node.at != onDisk)
      return node.at;
    return node.device == anywhere ? state.currentDevice() : node.device;
  }
  /// Whether the node is a move from one device to another, where programs end.
  bool isMove(NodeId id) const {
    const graph::Node &node = state.graph.node(id);
    if (node.op != Op::Transfer || state.states[id].value)
      return false;
    const uint16_t from = state.states[node.operands[0]].device;
    return from != anywhere && from != state.states[id].device;
  }

  static uint64_t key(NodeId id, uint16_t device) { return uint64_t(device) << 32 | id; }

  uint32_t addValue(NodeId id, uint16_t device) {
    made.values.push_back({state.graph.node(id).type, device});
    return numbers[key(id, device)] = static_cast<uint32_t>(made.values.size() - 1);
  }
  uint32_t addCopy(uint32_t from, NodeId id, uint16_t device) {
    const uint32_t to = addValue(id, device);
    made.steps.push_back({nullptr, device, {from}, {to}, {}, {}});
    return to;
  }

  /// The number of a node's value on a device, if it is there when the steps so far are done.
  std::optional<uint32_t> valueOn(NodeId id, uint16_t device) {
    if (const auto known = numbers.find(key(id, device)); known != numbers.end())
      return known->second;
    const NodeState &node = state.states[id];
    const bool isOpen = open.contains(id);
    if (!isOpen && !node.value)
      return std::nullopt;
    // It will be there when it is read.
    const bool isFile = !isOpen && node.at == onDisk;
    if (isFile && std::ranges::none_of(build.files, [&](const auto &file) { return file.first == id; }))
      build.files.emplace_back(id, device);
    else if (!isFile && node.value)
      build.held.push_back(node.value);
    const uint16_t at = isOpen ? node.device : isFile ? device : node.at;
    // What is made of constants lies where it was first needed.
    if (at != device)
      return addCopy(*valueOn(id, at), id, device);
    const uint32_t number = addValue(id, device);
    made.leaves.push_back(id);
    made.leafNumbers.push_back(number);
    return number;
  }

  /// All programs of one round can run before its moves, and those before the next round.
  Status addRounds(std::span<const NodeId> targets) {
    std::unordered_map<NodeId, uint32_t> rounds;
    std::vector<std::pair<NodeId, bool>> work;
    struct Round {
      std::map<uint16_t, std::vector<NodeId>> wanted;
      std::vector<NodeId> moves;
    };
    std::vector<Round> all(1);
    for (NodeId target : targets) {
      work.emplace_back(target, false);
      while (!work.empty()) {
        const auto [id, isReady] = work.back();
        work.pop_back();
        if (rounds.contains(id))
          continue;
        if (state.states[id].value) {
          rounds.emplace(id, 0);
          continue;
        }
        const auto &operands = state.graph.node(id).operands;
        if (!isReady) {
          work.emplace_back(id, true);
          for (NodeId operand : operands)
            work.emplace_back(operand, false);
          continue;
        }
        uint32_t round = 0;
        for (NodeId operand : operands)
          round = std::max(round, rounds.at(operand));
        if (isMove(id)) {
          all[round].moves.push_back(id);
          all[round].wanted[deviceOf(operands[0])].push_back(operands[0]);
          all.resize(std::max<size_t>(all.size(), ++round + 1));
        }
        rounds.emplace(id, round);
      }
      if (!isMove(target))
        all[rounds.at(target)].wanted[deviceOf(target)].push_back(target);
    }
    for (const Round &round : all) {
      for (const auto &[device, wanted] : round.wanted)
        ZYX_RETURN_IF_ERROR(addProgram(device, wanted));
      for (NodeId move : round.moves) {
        const NodeId from = state.graph.node(move).operands[0];
        made.moved.emplace_back(move, addCopy(*valueOn(from, deviceOf(from)), move, state.states[move].device));
      }
    }
    return Status::ok();
  }

  /// Nodes between values and those that are wanted, operands before users. Inputs are named in the order
  /// in which they are found, so that steps which do the same on other data are the same program.
  Status addProgram(uint16_t device, std::span<const NodeId> all) {
    Schedule::Step step{nullptr, device, {}, {}, {}, {}};
    graph::Graph graph;
    std::unordered_map<NodeId, NodeId> copies;
    std::vector<NodeId> wanted;
    for (NodeId target : all)
      if (!valueOn(target, device) && std::find(wanted.begin(), wanted.end(), target) == wanted.end())
        wanted.push_back(target);
    if (wanted.empty())
      return Status::ok();
    const auto leafOf = [&](NodeId id) -> Result<std::optional<NodeId>> {
      const std::optional<uint32_t> value = valueOn(id, device);
      if (!value)
        return std::optional<NodeId>();
      ZYX_ASSIGN_OR_RETURN(const NodeId leaf,
                           graph.parameter("in" + std::to_string(step.inputs.size()), state.graph.node(id).type));
      graph.inputs.push_back(leaf);
      step.inputs.push_back(*value);
      return std::optional(leaf);
    };
    for (NodeId target : wanted) {
      ZYX_RETURN_IF_ERROR(state.copyInto(graph, copies, target, leafOf));
      graph.outputs.push_back({"out" + std::to_string(graph.outputs.size()), copies.at(target)});
    }
    if (isForManyRuns)
      putWeightsLast(graph, step.inputs);
    // Of several programs, another one may read it later.
    if (state.hasOneDevice)
      step.donations = pairUp(graph, step.inputs, all);
    ZYX_ASSIGN_OR_RETURN(step.program, compiles ? compiles(graph, device)
                                                : state.findProgram(graph, device, step.donations, build,
                                                                    isForManyRuns ? nullptr : &step.numbers));
    for (NodeId target : wanted)
      step.outputs.push_back(addValue(target, device));
    made.steps.push_back(std::move(step));
    return Status::ok();
  }

  /// Of each donated input, the first output of its type that no other one has. What is returned as it is
  /// stays.
  std::vector<artifact::Donation> pairUp(const graph::Graph &graph, const std::vector<uint32_t> &inputs,
                                         std::span<const NodeId> returned) const {
    std::vector<artifact::Donation> pairs;
    std::vector<bool> isTaken(graph.outputs.size());
    for (NodeId node : donated) {
      const auto leaf = std::find(made.leaves.begin(), made.leaves.end(), node);
      if (leaf == made.leaves.end() || std::find(returned.begin(), returned.end(), node) != returned.end())
        continue;
      const auto input = std::find(inputs.begin(), inputs.end(), made.leafNumbers[leaf - made.leaves.begin()]);
      for (uint32_t i = 0; input != inputs.end() && i < graph.outputs.size(); ++i)
        if (!isTaken[i] && graph.node(graph.outputs[i].node).type == state.graph.node(node).type) {
          isTaken[i] = true;
          pairs.push_back({static_cast<uint32_t>(input - inputs.begin()), i});
          break;
        }
    }
    return pairs;
  }

  /// What is neither an argument nor made of one is the same in each run, or in most.
  void putWeightsLast(graph::Graph &graph, std::vector<uint32_t> &inputs) const {
    std::vector<std::pair<NodeId, uint32_t>> arguments, constant;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto leaf = std::find(made.leafNumbers.begin(), made.leafNumbers.end(), inputs[i]);
      const NodeId node = leaf == made.leafNumbers.end() ? 0 : made.leaves[leaf - made.leafNumbers.begin()];
      const bool isWeight = leaf != made.leafNumbers.end() && (!open.contains(node) || weights.contains(node));
      (isWeight ? constant : arguments).emplace_back(graph.inputs[i], inputs[i]);
    }
    graph.numWeights = constant.size();
    arguments.insert(arguments.end(), constant.begin(), constant.end());
    for (size_t i = 0; i < inputs.size(); ++i)
      std::tie(graph.inputs[i], inputs[i]) = arguments[i];
  }

  State &state;
  Build &build;
  const Compile &compiles;
  const bool isForManyRuns;
  const std::span<const NodeId> donated;
  /// Leaves without a value, and those of them that seldom change.
  std::unordered_set<NodeId> open, weights;
  /// By node and device.
  std::unordered_map<uint64_t, uint32_t> numbers;
  Schedule made;
};

Status State::copyInto(graph::Graph &into, std::unordered_map<NodeId, NodeId> &copies, NodeId target,
                       const std::function<Result<std::optional<NodeId>>(NodeId)> &leafOf) const {
  std::vector<std::pair<NodeId, bool>> work = {{target, false}};
  while (!work.empty()) {
    const auto [id, isReady] = work.back();
    work.pop_back();
    if (copies.contains(id))
      continue;
    const graph::Node &node = graph.node(id);
    ZYX_ASSIGN_OR_RETURN(const std::optional<NodeId> leaf, leafOf(id));
    if (leaf) {
      copies.emplace(id, *leaf);
      continue;
    }
    if (node.op == Op::Parameter && states[id].failure)
      return states[id].failure->tell();
    if (node.op == Op::Parameter)
      return Status::invalidArgument("a value is read that depends on the arguments of a function which is "
                                     "captured; it has none yet");
    if (!isReady && !node.operands.empty()) {
      work.emplace_back(id, true);
      for (auto operand = node.operands.rbegin(); operand != node.operands.rend(); ++operand)
        work.emplace_back(*operand, false);
      continue;
    }
    if (node.op == Op::Transfer) {
      // Its operand is made of constants, or lies there.
      copies.emplace(id, copies.at(node.operands[0]));
      continue;
    }
    std::vector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(copies.at(operand));
    ZYX_ASSIGN_OR_RETURN(const NodeId copy,
                         into.add(node.op, operands, node.attributes, node.type, graph.location(id)));
    copies.emplace(id, copy);
  }
  return Status::ok();
}

Result<State::Schedule> State::schedule(std::span<const NodeId> targets, Build &build,
                                        const std::optional<std::span<const NodeId>> &open, const Compile &compiles,
                                        std::span<const NodeId> donated, std::span<const NodeId> weights) {
  return Scheduler(*this, build, open, compiles, donated, weights).make(targets);
}
