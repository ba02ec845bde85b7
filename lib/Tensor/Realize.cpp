//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// From nodes to values: what has to be computed becomes a program, which is compiled once.
//===----------------------------------------------------------------------===//
#include "State.h"

#include "zyx/Reference/Reference.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;

/// Nodes between values and targets, operands before users. Inputs are named in the order in which they
/// are found, so that steps which do the same on other data are the same program.
Result<State::Capture> State::capture(std::span<const NodeId> targets) {
  Capture captured;
  std::unordered_map<NodeId, NodeId> copies;
  std::vector<std::pair<NodeId, bool>> work;
  for (NodeId target : targets) {
    work.emplace_back(target, false);
    while (!work.empty()) {
      const auto [id, isReady] = work.back();
      work.pop_back();
      if (copies.contains(id))
        continue;
      const graph::Node &node = graph.node(id);
      if (states[id].value) {
        ZYX_ASSIGN_OR_RETURN(const NodeId leaf,
                             captured.graph.parameter("in" + std::to_string(captured.leaves.size()), node.type));
        captured.graph.inputs.push_back(leaf);
        captured.leaves.push_back(id);
        copies.emplace(id, leaf);
        continue;
      }
      if (!isReady) {
        work.emplace_back(id, true);
        for (auto operand = node.operands.rbegin(); operand != node.operands.rend(); ++operand)
          work.emplace_back(*operand, false);
        continue;
      }
      std::vector<NodeId> operands;
      for (NodeId operand : node.operands)
        operands.push_back(copies.at(operand));
      ZYX_ASSIGN_OR_RETURN(const NodeId copy, captured.graph.add(node.op, operands, node.attributes, node.type,
                                                                 graph.location(id)));
      copies.emplace(id, copy);
    }
    captured.graph.outputs.push_back({"out" + std::to_string(captured.targets.size()), copies.at(target)});
    captured.targets.push_back(target);
  }
  return captured;
}

Result<State::Program *> State::compile(const Capture &captured) {
  const Hash128 hash = captured.graph.canonicalHash();
  if (auto known = programs.find(hash); known != programs.end()) {
    ++counted.hits;
    return &known->second;
  }
  ZYX_ASSIGN_OR_RETURN(const session::Compiled compiled,
                       session.compile(captured.graph, {.target = options.device}));
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, artifact::Artifact::deserialize(compiled.output));
  Program program;
  for (const artifact::Command &command : artifact.commands)
    program.launches += std::holds_alternative<artifact::Launch>(command.action);
  program.bytes = artifact.arenaSize + artifact.keptSize;
  ZYX_ASSIGN_OR_RETURN(program.executor, runtime::Executor::create(device, std::move(artifact)));
  return &programs.emplace(hash, std::move(program)).first->second;
}

Status State::run(const Capture &captured, std::vector<std::shared_ptr<Buffer>> &outputs) {
  ZYX_ASSIGN_OR_RETURN(Program *program, compile(captured));
  runtime::Executor &executor = *program->executor;
  Status status;
  for (size_t i = 0; status.isOk() && i < captured.leaves.size(); ++i)
    status = executor.bindInput(i, states[captured.leaves[i]].value);
  uint64_t bytes = counted.valueBytes + program->bytes;
  for (size_t i = 0; status.isOk() && i < outputs.size(); ++i) {
    status = executor.bindOutput(i, outputs[i]);
    bytes += outputs[i]->size();
  }
  if (status.isOk())
    status = executor.run();
  // What was bound belongs to its tensors alone.
  executor.release();
  counted.launches += program->launches;
  counted.peakBytes = std::max(counted.peakBytes, bytes);
  return status;
}

Status State::interpret(const Capture &captured, std::vector<std::shared_ptr<Buffer>> &outputs) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < captured.leaves.size(); ++i) {
    const Buffer &value = *states[captured.leaves[i]].value;
    HostTensor input{captured.graph.node(captured.graph.inputs[i]).type, std::vector<std::byte>(value.size())};
    ZYX_RETURN_IF_ERROR(value.read(input.data));
    inputs.push_back(std::move(input));
  }
  ZYX_ASSIGN_OR_RETURN(const std::vector<HostTensor> results, reference::evaluate(captured.graph, inputs));
  for (size_t i = 0; i < results.size(); ++i)
    ZYX_RETURN_IF_ERROR(outputs[i]->write(results[i].data));
  return Status::ok();
}

Status State::realize(std::span<const Tensor> tensors) {
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(tensors));
  ZYX_RETURN_IF_ERROR(compact());
  std::vector<NodeId> targets;
  for (const Tensor &tensor : tensors)
    if (NodeId node = nodeOf(tensor); !states[node].value && std::find(targets.begin(), targets.end(), node) == targets.end())
      targets.push_back(node);
  if (targets.empty())
    return Status::ok();
  ZYX_ASSIGN_OR_RETURN(const Capture captured, capture(targets));
  std::vector<std::shared_ptr<Buffer>> outputs;
  for (NodeId target : targets) {
    ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(graph.node(target).type));
    ZYX_ASSIGN_OR_RETURN(outputs.emplace_back(), Buffer::allocate(pool, static_cast<uint64_t>(size)));
  }
  ++counted.runs;
  ZYX_RETURN_IF_ERROR(device ? run(captured, outputs) : interpret(captured, outputs));
  // Nothing has changed up to here: after a failure every tensor is what it was.
  for (size_t i = 0; i < targets.size(); ++i)
    setValue(targets[i], std::move(outputs[i]));
  for (NodeId target : targets) {
    if (tapes == 0)
      dropOperands(target);
    else
      taped.push_back(target);
  }
  return Status::ok();
}

Result<std::vector<std::byte>> State::read(const Tensor &tensor) {
  ZYX_RETURN_IF_ERROR(realize({&tensor, 1}));
  std::shared_ptr<Buffer> value;
  {
    std::lock_guard lock(mutex);
    value = states[nodeOf(tensor)].value;
  }
  std::vector<std::byte> bytes(value->size());
  ZYX_RETURN_IF_ERROR(value->read(bytes));
  return bytes;
}
