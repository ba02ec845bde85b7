//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What programs and values take of memory, and what is done where it ends.
//===----------------------------------------------------------------------===//
#include "State.h"

#include "zyx/Artifact/Commands.h"

#include <algorithm>
#include <unordered_set>

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;

void State::forEachProgram(const std::function<void(Program &)> &visit) {
  for (const auto &[key, program] : programs)
    visit(*program);
  for (const std::weak_ptr<Program> &weak : programsOfPlans)
    if (const std::shared_ptr<Program> program = weak.lock())
      visit(*program);
}

void State::trimPrograms(uint16_t device) {
  forEachProgram([&](Program &program) {
    if (program.executor && program.device == device)
      program.executor->trim();
  });
  for (const auto &arena : {homes[device].arena, homes[device].shortArena})
    if (arena)
      arena->trim();
}

void State::boundPrograms() {
  if (!std::exchange(hasNewPrograms, false))
    return;
  runtime::KeptBytes kept;
  const auto bytesOf = [](const Program &program) {
    return program.codeBytes + (program.executor ? program.executor->bytesHeld() : 0);
  };
  uint64_t bytes = 0;
  std::vector<Program *> others;
  forEachProgram([&](Program &program) {
    bytes += bytesOf(program);
    if (program.executor)
      kept.add(*program.executor);
    const bool isShared = programs.contains(program.key) && programs.at(program.key).get() == &program;
    // One in flight would be waited for, and what the interpreter has of a plan's is all there is of it.
    if (program.lastUse != numCalls && (program.executor ? program.executor->isIdle() : isShared))
      others.push_back(&program);
  });
  if (bytes + kept.total() <= config.programCacheSize)
    return;
  std::ranges::sort(others, {}, &Program::lastUse);
  // Some more than needed, so that not every new one has to.
  const uint64_t enough = config.programCacheSize - config.programCacheSize / 10;
  for (Program *program : others) {
    if (bytes + kept.total() <= enough)
      return;
    bytes -= bytesOf(*program);
    if (program->executor)
      kept.remove(*program->executor);
    ++counted.evicted;
    if (const auto shared = programs.find(program->key); shared != programs.end() && shared->second.get() == program) {
      programs.erase(shared);
      continue;
    }
    program->executor = nullptr;
    program->codeBytes = 0;
    std::ranges::fill(program->weights, 0);
  }
}

Status State::explain(const Status &failure, uint16_t device) const {
  std::vector<std::pair<uint64_t, NodeId>> values;
  std::unordered_set<const Buffer *> seen;
  uint64_t total = 0;
  for (NodeId node = 0; node < states.size(); ++node)
    if (const NodeState &state = states[node];
        state.value && state.at == device && seen.insert(state.value.get()).second) {
      values.emplace_back(state.value->size(), node);
      total += state.value->size();
    }
  std::sort(values.begin(), values.end(),
            [](const auto &a, const auto &b) { return std::pair(b.first, a.second) < std::pair(a.first, b.second); });
  std::string text = failure.message() + "; tensors on '" + homes[device].name + "' hold " + std::to_string(total) +
                     " bytes in " + std::to_string(values.size()) + " values";
  constexpr size_t most = 5;
  for (size_t i = 0; i < std::min(values.size(), most); ++i) {
    const graph::Location location = graph.location(values[i].second);
    text += (i == 0 ? ", the largest of them " : ", ") + zyx::toString(graph.node(values[i].second).type) + " of " +
            std::to_string(values[i].first) + " bytes";
    if (!location.file.empty())
      text += " from " + std::string(location.file) + ":" + std::to_string(location.line);
  }
  return Status(failure.code(), text).withDevice(failure.device());
}

/// Bytes besides inputs, the least that a run's order of commands needs at once. Outputs that `isTaken` lie in the
/// memory of inputs.
static uint64_t leastOf(const artifact::Artifact &artifact, const std::vector<bool> &isTaken) {
  const size_t numCommands = artifact.commands.size();
  struct Life {
    size_t first = SIZE_MAX, last = 0;
  };
  std::vector<Life> lives(artifact.buffers.size());
  for (size_t i = artifact.numInitCommands; i < numCommands; ++i)
    artifact::forEachRef(artifact.commands[i], [&](const artifact::BufferRef &ref) {
      lives[ref.buffer] = {std::min(lives[ref.buffer].first, i), i};
    });
  // Changes of what is alive, by command.
  std::vector<int64_t> changes(numCommands + 1);
  for (size_t i = 0; i < lives.size(); ++i) {
    const artifact::Buffer &buffer = artifact.buffers[i];
    const bool isOutput = buffer.kind == artifact::BufferKind::Output;
    if (lives[i].first == SIZE_MAX ||
        (isOutput ? isTaken[buffer.position] : buffer.kind != artifact::BufferKind::Arena))
      continue;
    changes[lives[i].first] += static_cast<int64_t>(buffer.size);
    // Outputs stay.
    changes[isOutput ? numCommands : lives[i].last + 1] -= static_cast<int64_t>(buffer.size);
  }
  int64_t alive = 0, most = 0;
  for (int64_t change : changes)
    most = std::max(most, alive += change);
  return static_cast<uint64_t>(most) + artifact.keptSize;
}

void State::note(const Program &program, const Buffers &inputs, const Buffers &outputs) {
  std::vector<bool> isTaken(outputs.size());
  uint64_t bytes = 0, bytesTaken = 0;
  for (const auto &[input, output] : program.donations)
    if (inputs[input] == outputs[output]) {
      isTaken[output] = true;
      bytesTaken += inputs[input]->size();
    }
  const uint64_t runBytes = program.runBytes - bytesTaken;
  // An upper bound first, which is most often enough.
  for (const auto &input : inputs)
    bytes += input->size();
  if (bytes + runBytes <= counted.runBytes)
    return;
  std::unordered_set<const Buffer *> seen;
  bytes = 0;
  for (const auto &input : inputs)
    if (seen.insert(input.get()).second)
      bytes += input->size();
  if (bytes + runBytes <= counted.runBytes)
    return;
  counted.runBytes = bytes + runBytes;
  counted.leastRunBytes = bytes + leastOf(program.executor->artifact(), isTaken);
}
