//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What an executor does beside its runs: it is made, bound, read, profiled. Compiled for size.
//===----------------------------------------------------------------------===//
#include "ExecutorUse.h"

#include "zyx/Artifact/Commands.h"
#include "zyx/Base/Debug.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Argument;
using artifact::Artifact;
using artifact::BufferKind;

Result<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<Device> device, Artifact artifact,
                                                   std::vector<artifact::Donation> donations,
                                                   std::shared_ptr<Arena> shared) {
  if (!donations.empty()) {
    ZYX_ASSIGN_OR_RETURN(artifact, artifact::donate(std::move(artifact), donations));
  }
  // The device lets go of the code's bytes once they are loaded.
  std::vector<std::string> code;
  for (const artifact::CodeBlob &blob : artifact.code)
    if (isDebugged(DebugTopic::Code))
      code.push_back(std::to_string(blob.bytes.size()) + " bytes of " + blob.format);
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Program> program, device->load(std::move(artifact)));
  std::unique_ptr<Executor> executor(
      new Executor(std::move(device), std::move(program), std::move(donations), std::move(shared)));
  ZYX_RETURN_IF_ERROR(executor->takeMemory());
  const Artifact &loaded = executor->artifact();
  const std::string &on = executor->device->name();
  ZYX_DEBUG(Runtime, "load '" + loaded.entry + "' on " + on + ": " + std::to_string(loaded.kernels.size()) +
                         " kernels, " + std::to_string(loaded.commands.size()) + " commands, arena of " +
                         std::to_string(loaded.arenaSize) + " bytes, " + std::to_string(loaded.keptSize) + " kept");
  ZYX_DEBUG(Memory, "'" + loaded.entry + "' on " + on + " takes " + std::to_string(loaded.arenaSize) +
                        " bytes for a run and " + std::to_string(loaded.keptSize) + " between runs");
  for (const std::string &one : code)
    ZYX_DEBUG(Code, "'" + loaded.entry + "': " + one);
  return executor;
}

Executor::Executor(std::shared_ptr<Device> ofDevice, std::shared_ptr<Program> ofProgram,
                   std::vector<artifact::Donation> ofCaller, std::shared_ptr<Arena> ofAll)
    : device(std::move(ofDevice)), program(std::move(ofProgram)), donations(std::move(ofCaller)),
      shared(artifact().arenaSize != 0 ? std::move(ofAll) : nullptr), inputs(artifact().inputs.size()),
      outputs(artifact().outputs.size()), replay(program->record()) {
  findInitSteps();
}

void Executor::findInitSteps() {
  const Artifact &of = artifact();
  uint64_t begin = 0;
  size_t from = 0;
  std::vector<size_t> ends = artifact::endsOfInitSteps(of);
  // What nobody makes has memory, too.
  if (ends.empty() && of.keptSize != 0)
    ends.push_back(0);
  // The last step that reads an input, and where the bytes of each begin.
  std::vector<size_t> readers(of.inputs.size(), ends.size());
  std::vector<uint64_t> begins;
  for (size_t end : ends) {
    const size_t index = initSteps.size();
    InitStep &step = initSteps.emplace_back();
    step.part = {std::exchange(from, end), end};
    step.size = of.keptSize;
    if (!of.initSteps.empty()) {
      step.identity = of.initSteps[index].identity;
      step.size = of.initSteps[index].keptSize;
    }
    for (size_t i = step.part.from; i < end; ++i) {
      step.numLaunches += std::holds_alternative<artifact::Launch>(of.commands[i].action);
      artifact::forEachRef(of.commands[i], [&](const artifact::BufferRef &ref) {
        const artifact::Buffer &buffer = of.buffers[ref.buffer];
        if (buffer.kind == BufferKind::Input && std::exchange(readers[buffer.position], index) != index)
          step.weights.push_back(static_cast<uint32_t>(buffer.position));
      });
    }
    begins.push_back(begin);
    begin += step.size;
    step.numbers.resize(step.weights.size());
    step.writes.resize(step.weights.size());
  }
  for (uint32_t i = 0; i < of.buffers.size(); ++i)
    if (const artifact::Buffer &buffer = of.buffers[i]; buffer.kind == BufferKind::Kept && !begins.empty()) {
      // The first begins at 0; of several that begin there, those before the last one have no bytes.
      const auto step = std::ranges::upper_bound(begins, buffer.position) - begins.begin() - 1;
      initSteps[static_cast<size_t>(step)].buffers.emplace_back(i, buffer.position - begins[static_cast<size_t>(step)]);
    }
}

static Result<size_t> indexOf(const std::string &kind, const std::vector<Argument> &arguments, std::string_view name) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name)
      return i;
  std::string known;
  for (const Argument &argument : arguments)
    known += (known.empty() ? "'" : ", '") + argument.name + "'";
  return Status::notFound("no " + kind + " '" + std::string(name) + "'; there is " + (known.empty() ? "none" : known));
}

Result<size_t> Executor::inputIndex(std::string_view name) const { return indexOf("input", artifact().inputs, name); }

Result<size_t> Executor::outputIndex(std::string_view name) const {
  return indexOf("output", artifact().outputs, name);
}

Result<const Argument *> Executor::argument(bool isInput, size_t index) const {
  const auto &arguments = isInput ? artifact().inputs : artifact().outputs;
  if (index >= arguments.size())
    return Status::invalidArgument((isInput ? "input " : "output ") + std::to_string(index) + " of " +
                                   std::to_string(arguments.size()) + " does not exist");
  return &arguments[index];
}

static Status checkSize(bool isInput, const Argument &argument, uint64_t given) {
  const auto size = static_cast<uint64_t>(*byteSize(argument.type));
  if (given == size)
    return Status::ok();
  return Status::invalidArgument(describe(isInput, argument) + " is " + zyx::toString(argument.type) + " of " +
                                 std::to_string(size) + " bytes; " + std::to_string(given) + " were given");
}

bool Executor::takes(uint64_t size) const { return size != 0 && size <= device->largestHostInput(); }
bool Executor::takes(const Buffer &input) const {
  return takes(input.size()) && input.isOnHost() && !input.isUsableIn(*device->pool());
}

Status Executor::bind(bool isInput, size_t index, std::shared_ptr<Buffer> buffer, bool owned) {
  ZYX_ASSIGN_OR_RETURN(const Argument *target, argument(isInput, index));
  if (!buffer)
    return Status::invalidArgument(describe(isInput, *target) + " is bound to no buffer");
  ZYX_RETURN_IF_ERROR(checkSize(isInput, *target, buffer->size()));
  const bool isOnHost = isInput && takes(*buffer);
  if (!isOnHost && !buffer->isUsableIn(*device->pool()))
    return Status::invalidArgument(describe(isInput, *target) + " lies in memory that device '" + device->name() +
                                   "' does not reach");
  const auto elementSize = static_cast<uint64_t>(byteSize(target->type.dtype));
  if (buffer->handle() % elementSize != 0)
    return Status::invalidArgument(describe(isInput, *target) + " is not aligned to its " +
                                   std::to_string(elementSize) + " byte elements");
  if (!isOnHost && buffer->size() != 0 && buffer->handle() % device->alignment() != 0)
    return Status::invalidArgument(describe(isInput, *target) + " is not aligned to " +
                                   std::to_string(device->alignment()) + " bytes, as device '" + device->name() +
                                   "' needs it");
  if (!isOnHost) {
    leaveSlots();
    const BufferKind kind = isInput ? BufferKind::Input : BufferKind::Output;
    const auto &buffers = artifact().buffers;
    for (uint32_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].kind == kind && buffers[i].position == index)
        replay->bind(i, buffer->handle(), 0);
  }
  // Who has lent the memory may have changed it.
  if (target->isWeight && buffer->isLent())
    buffer->countWrite();
  Slot &slot = (isInput ? inputs : outputs)[index];
  slot.buffer = std::move(buffer);
  slot.owned = owned;
  slot.isOnHost = isOnHost;
  slot.others.reset();
  isApart = false;
  return Status::ok();
}

/// Kernels rely on it that nothing else is where they write.
Status Executor::checkApart() {
  if (isApart)
    return Status::ok();
  auto overlap = [](const Slot &a, const Slot &b) {
    const uint64_t from = a.buffer->handle(), other = b.buffer->handle();
    return from < other + b.buffer->size() && other < from + a.buffer->size();
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto refuse = [&](bool isInput, const Argument &with) {
      return Status::invalidArgument(describe(false, artifact().outputs[i]) + " is bound to memory of " +
                                     describe(isInput, with));
    };
    auto isDonated = [&](size_t input) {
      return outputs[i].buffer->handle() == inputs[input].buffer->handle() &&
             std::any_of(donations.begin(), donations.end(), [&](const artifact::Donation &donation) {
               return donation.input == input && donation.output == i;
             });
    };
    // Handles of a device may look like addresses of the host.
    for (size_t k = 0; k < inputs.size(); ++k)
      if (!inputs[k].isOnHost && overlap(outputs[i], inputs[k]) && !isDonated(k))
        return refuse(true, artifact().inputs[k]);
    for (size_t k = 0; k < i; ++k)
      if (overlap(outputs[i], outputs[k]))
        return refuse(false, artifact().outputs[k]);
  }
  hostInputs.clear();
  if (std::ranges::any_of(inputs, &Slot::isOnHost)) {
    const auto &buffers = artifact().buffers;
    for (uint32_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].kind == BufferKind::Input)
        if (const Slot &slot = inputs[buffers[i].position]; slot.isOnHost)
          hostInputs.push_back({i, slot.buffer->size(), reinterpret_cast<const void *>(slot.buffer->handle())});
  }
  bound.clear();
  for (const std::vector<Slot> *slots : {&inputs, &outputs})
    for (const Slot &slot : *slots)
      bound.push_back(slot.buffer.get());
  if (shared)
    bound.push_back(arena.get());
  for (const InitStep &step : initSteps)
    bound.push_back(step.memory.get());
  std::sort(bound.begin(), bound.end(), std::less<>());
  bound.erase(std::unique(bound.begin(), bound.end()), bound.end());
  isApart = true;
  return Status::ok();
}

Status Executor::bindInput(size_t index, std::shared_ptr<Buffer> buffer) {
  const Use use(*this);
  ZYX_RETURN_IF_ERROR(use.status);
  return bind(true, index, std::move(buffer), false);
}

Status Executor::bindOutput(size_t index, std::shared_ptr<Buffer> buffer) {
  const Use use(*this);
  ZYX_RETURN_IF_ERROR(use.status);
  return bind(false, index, std::move(buffer), false);
}

Status Executor::setInput(size_t index, std::span<const std::byte> bytes) {
  const Use use(*this);
  ZYX_RETURN_IF_ERROR(use.status);
  ZYX_ASSIGN_OR_RETURN(const Argument *target, argument(true, index));
  ZYX_RETURN_IF_ERROR(checkSize(true, *target, bytes.size()));
  const bool isOnHost = takes(bytes.size());
  // A run in flight may not have read the last value yet.
  const bool isInFlight = isOnHost && !target->isWeight && !isIdle();
  if (!inputs[index].owned || isInFlight) {
    std::shared_ptr<Buffer> buffer = isOnHost ? Buffer::onHost(bytes.size()) : nullptr;
    if (!buffer) {
      ZYX_ASSIGN_OR_RETURN(buffer, Buffer::allocate(device->pool(), bytes.size()));
    }
    ZYX_RETURN_IF_ERROR(bind(true, index, std::move(buffer), true));
  }
  if (!isInFlight)
    finishAll();
  Buffer &buffer = *inputs[index].buffer;
  return target->isWeight ? buffer.update(bytes) : buffer.write(bytes);
}

Status Executor::readOutput(size_t index, std::span<std::byte> bytes) const {
  ZYX_ASSIGN_OR_RETURN(const Argument *target, argument(false, index));
  ZYX_RETURN_IF_ERROR(checkSize(false, *target, bytes.size()));
  return readOutput(index, 0, bytes);
}

Status Executor::readOutput(size_t index, uint64_t offset, std::span<std::byte> bytes) const {
  const Use use(*this);
  ZYX_RETURN_IF_ERROR(use.status);
  ZYX_ASSIGN_OR_RETURN(const Argument *target, argument(false, index));
  if (!outputs[index].buffer)
    return Status::invalidArgument(describe(false, *target) + " is not there before the first run");
  return outputs[index].buffer->read(offset, bytes);
}

void Executor::release(bool keepWeights) {
  std::fill(outputs.begin(), outputs.end(), Slot());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!keepWeights || !artifact().inputs[i].isWeight) {
      inputs[i] = {};
    } else if (inputs[i].buffer && !inputs[i].owned) {
      inputs[i].others = inputs[i].buffer;
      inputs[i].buffer = nullptr;
    }
  }
  bound.clear();
  isApart = false;
}

void Executor::trim() {
  finishAll();
  arena = nullptr;
  for (InitStep &step : initSteps)
    step.kept = nullptr;
  bound.clear();
  isApart = false;
}

void runtime::printTimes(const std::vector<CommandTime> &times, const std::string &entry, const std::string &device) {
  for (const CommandTime &time : times) {
    if (time.nanoseconds == 0)
      continue;
    const auto nanoseconds = static_cast<double>(time.nanoseconds);
    char text[128];
    std::snprintf(text, sizeof(text), ": %.1f us", nanoseconds / 1e3);
    std::string line = "'" + time.name + "' of '" + entry + "' on " + device + text;
    // One of a nanosecond is one of a billion.
    std::snprintf(text, sizeof(text), ", %.2f GFLOP/s", static_cast<double>(time.flops) / nanoseconds);
    line += time.flops ? text : "";
    std::snprintf(text, sizeof(text), ", %.2f GB/s", static_cast<double>(time.bytes) / nanoseconds);
    line += time.bytes ? text : "";
    printDebug(DebugTopic::Launches, line);
  }
}

/// How often each command runs: 0 where data says it.
static std::vector<uint64_t> passesOf(std::span<const artifact::Command> commands) {
  std::vector<uint64_t> passes(commands.size(), 1);
  for (size_t i = 0; i < commands.size(); ++i)
    if (const auto *loop = std::get_if<artifact::Loop>(&commands[i].action)) {
      const std::vector<size_t> ends = artifact::endsOfBodies(*loop, i);
      const uint64_t trips = loop->count ? 0 : static_cast<uint64_t>(std::max<int64_t>(loop->trips, 0));
      // The first bodies run once more where trips are no multiple.
      for (size_t body = 0, inside = i + 1; body < ends.size(); ++body)
        for (; inside < ends[body]; ++inside)
          passes[inside] *= (trips + ends.size() - 1 - body) / ends.size();
    }
  return passes;
}

Result<std::vector<CommandTime>> Executor::profile() {
  const auto &commands = artifact().commands;
  std::vector<uint64_t> nanoseconds(commands.size());
  ZYX_RETURN_IF_ERROR(runNow([&](Part part) { return replay->run(part, nanoseconds); }));
  const std::vector<uint64_t> passes = passesOf(commands);
  std::vector<CommandTime> times;
  for (size_t i = 0; i < commands.size(); ++i) {
    static constexpr const char *names[] = {"launch", "copy", "fill", "loop"};
    CommandTime &time = times.emplace_back();
    time.name = names[commands[i].action.index()];
    time.nanoseconds = nanoseconds[i];
    const auto *launch = std::get_if<artifact::Launch>(&commands[i].action);
    if (launch)
      time.name = artifact().kernels[launch->kernel].name;
    // An init that need not run.
    if (i < artifact().numInitCommands && nanoseconds[i] == 0)
      continue;
    if (launch) {
      time.flops = launch->flops * passes[i];
      time.bytes = launch->bytes * passes[i];
    } else if (const auto *copy = std::get_if<artifact::Copy>(&commands[i].action)) {
      time.bytes = 2 * copy->size * passes[i];
    } else if (const auto *fill = std::get_if<artifact::Fill>(&commands[i].action)) {
      time.bytes = fill->size * passes[i];
    }
  }
  return times;
}
