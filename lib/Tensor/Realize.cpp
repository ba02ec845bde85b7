//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// From nodes to values: what has to be computed becomes a program, which is compiled once.
//===----------------------------------------------------------------------===//
#include "ProfileLog.h"
#include "State.h"

#include "zyx/Reference/Reference.h"
#include "zyx/Session/Progress.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;

/// Nodes between values and targets, operands before users. Inputs are named in the order in which they
/// are found, so that steps which do the same on other data are the same program.
Result<State::Capture> State::capture(std::span<const NodeId> targets, std::span<const NodeId> open) {
  Capture captured;
  std::unordered_map<NodeId, NodeId> copies;
  std::vector<std::pair<NodeId, bool>> work;
  auto isInput = [&](NodeId id) { return states[id].value || std::find(open.begin(), open.end(), id) != open.end(); };
  for (NodeId target : targets) {
    work.emplace_back(target, false);
    while (!work.empty()) {
      const auto [id, isReady] = work.back();
      work.pop_back();
      if (copies.contains(id))
        continue;
      const graph::Node &node = graph.node(id);
      const bool isLeaf = node.operands.empty() || states[id].value;
      if (isLeaf && isInput(id)) {
        ZYX_ASSIGN_OR_RETURN(const NodeId leaf,
                             captured.graph.parameter("in" + std::to_string(captured.leaves.size()), node.type));
        captured.graph.inputs.push_back(leaf);
        captured.leaves.push_back(id);
        copies.emplace(id, leaf);
        continue;
      }
      if (node.op == Op::Parameter)
        return Status::invalidArgument("a value is read that depends on the arguments of a function which is "
                                       "captured; it has none yet");
      if (!isReady && !node.operands.empty()) {
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

Result<State::Program *> State::compile(const graph::Graph &captured, const Hash128 &hash) {
  if (auto known = programs.find(hash); known != programs.end()) {
    ++counted.hits;
    return &known->second;
  }
  Program program;
  if (!device) {
    program.interpreted = captured;
  } else {
    session::ProgressLine line(options.progress ? session::ProgressMode::Auto : session::ProgressMode::Never);
    session.observers.progress = line.callback();
    const Result<session::Compiled> compiled = session.compile(captured, {.target = device->target()});
    session.observers.progress = nullptr;
    ZYX_RETURN_IF_ERROR(compiled.status());
    ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, artifact::Artifact::deserialize(compiled->output));
    for (const artifact::Command &command : artifact.commands)
      program.launches += std::holds_alternative<artifact::Launch>(command.action);
    program.bytes = artifact.arenaSize + artifact.keptSize;
    ZYX_ASSIGN_OR_RETURN(program.executor, runtime::Executor::create(device, std::move(artifact)));
  }
  return &programs.emplace(hash, std::move(program)).first->second;
}

Result<State::Buffers> State::allocate(std::span<const TensorType> types) {
  Buffers buffers;
  for (const TensorType &type : types) {
    ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
    ZYX_ASSIGN_OR_RETURN(buffers.emplace_back(), Buffer::allocate(pool, static_cast<uint64_t>(size)));
  }
  return buffers;
}

Status State::execute(Program &program, const Buffers &inputs, const Buffers &outputs) {
  ++counted.runs;
  if (!program.executor) {
    const uint64_t begin = Trace::now();
    const Status status = interpret(program, inputs, outputs);
    for (const auto &log : profiles)
      log->addEvaluation(&program, begin);
    return status;
  }
  runtime::Executor &executor = *program.executor;
  Status status;
  for (size_t i = 0; status.isOk() && i < inputs.size(); ++i)
    status = executor.bindInput(i, inputs[i]);
  uint64_t bytes = counted.valueBytes + program.bytes;
  for (size_t i = 0; status.isOk() && i < outputs.size(); ++i) {
    status = executor.bindOutput(i, outputs[i]);
    bytes += outputs[i]->size();
  }
  if (status.isOk())
    status = profiles.empty() ? executor.run() : runProfiled(program);
  // What was bound belongs to its tensors alone.
  executor.release();
  counted.launches += program.launches;
  counted.peakBytes = std::max(counted.peakBytes, bytes);
  return status;
}

Status State::runProfiled(Program &program) {
  const uint64_t begin = Trace::now();
  ZYX_ASSIGN_OR_RETURN(const std::vector<runtime::CommandTime> times, program.executor->profile());
  for (const auto &log : profiles)
    log->add(&program, begin, program.executor->artifact(), times);
  return Status::ok();
}

Status State::interpret(const Program &program, const Buffers &inputs, const Buffers &outputs) {
  std::vector<HostTensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HostTensor value{program.interpreted.node(program.interpreted.inputs[i]).type,
                     std::vector<std::byte>(inputs[i]->size())};
    ZYX_RETURN_IF_ERROR(inputs[i]->read(value.data));
    values.push_back(std::move(value));
  }
  ZYX_ASSIGN_OR_RETURN(const std::vector<HostTensor> results, reference::evaluate(program.interpreted, values));
  for (size_t i = 0; i < results.size(); ++i)
    ZYX_RETURN_IF_ERROR(outputs[i]->write(results[i].data));
  return Status::ok();
}

Status State::realize(std::span<const Tensor> tensors) {
  std::lock_guard lock(mutex);
  return realizeLocked(tensors);
}

Status State::realizeLocked(std::span<const Tensor> tensors) {
  ZYX_RETURN_IF_ERROR(checkMine(tensors));
  ZYX_RETURN_IF_ERROR(compact());
  std::vector<NodeId> targets;
  std::vector<TensorType> types;
  for (const Tensor &tensor : tensors)
    if (NodeId node = nodeOf(tensor);
        !states[node].value && std::find(targets.begin(), targets.end(), node) == targets.end()) {
      targets.push_back(node);
      types.push_back(tensor.type());
    }
  if (targets.empty())
    return Status::ok();
  ZYX_ASSIGN_OR_RETURN(const Capture captured, capture(targets));
  ZYX_ASSIGN_OR_RETURN(Program *program, compile(captured.graph, captured.graph.canonicalHash()));
  Buffers inputs;
  for (NodeId leaf : captured.leaves)
    inputs.push_back(states[leaf].value);
  ZYX_ASSIGN_OR_RETURN(Buffers outputs, allocate(types));
  ZYX_RETURN_IF_ERROR(execute(*program, inputs, outputs));
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

//===----------------------------------------------------------------------===//
// Functions that are captured
//===----------------------------------------------------------------------===//

Result<State::Plan> State::plan(std::span<const Tensor> placeholders, std::span<const Tensor> results) {
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkMine(results));
  std::vector<NodeId> open, targets;
  Plan plan;
  for (const Tensor &placeholder : placeholders)
    open.push_back(nodeOf(placeholder));
  for (const Tensor &result : results) {
    targets.push_back(nodeOf(result));
    plan.outputs.push_back(result.type());
  }
  ZYX_ASSIGN_OR_RETURN(const Capture captured, capture(targets, open));
  plan.program = captured.graph.canonicalHash();
  ZYX_RETURN_IF_ERROR(compile(captured.graph, plan.program).status());
  for (NodeId leaf : captured.leaves) {
    const size_t position = std::find(open.begin(), open.end(), leaf) - open.begin();
    plan.inputs.push_back(position < open.size() ? position : open.size() + plan.captured.size());
    if (position == open.size())
      plan.captured.push_back(makeTensor(leaf));
  }
  return plan;
}

Result<std::vector<Tensor>> State::run(const Plan &plan, std::span<const Tensor> arguments) {
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(realizeLocked(arguments));
  Buffers inputs;
  for (size_t input : plan.inputs) {
    const Tensor &tensor = input < arguments.size() ? arguments[input] : plan.captured[input - arguments.size()];
    inputs.push_back(states[nodeOf(tensor)].value);
  }
  ZYX_ASSIGN_OR_RETURN(const Buffers outputs, allocate(plan.outputs));
  ++counted.hits;
  ZYX_RETURN_IF_ERROR(execute(programs.at(plan.program), inputs, outputs));
  std::vector<Tensor> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ZYX_ASSIGN_OR_RETURN(results.emplace_back(), addLeaf(plan.outputs[i], outputs[i]));
  }
  return results;
}
