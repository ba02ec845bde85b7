//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Executor.h"

#include "zyx/Artifact/Commands.h"
#include "zyx/Base/Debug.h"
#include "zyx/Base/Exceptions.h"

#include <algorithm>
#include <chrono>
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

/// What does not come of the arena is bound afterwards; of an own arena that, too.
Status Executor::takeMemory() {
  Result<std::shared_ptr<Buffer>> itsArena = shared ? Result<std::shared_ptr<Buffer>>(std::shared_ptr<Buffer>())
                                                    : Buffer::allocate(device->pool(), artifact().arenaSize);
  if (!itsArena)
    return itsArena.status().withDevice(device->name());
  arena = std::move(*itsArena);
  if (arena)
    bindAll(BufferKind::Arena, arena->handle());
  bindAll(BufferKind::Constant, program->constants().handle());
  return Status::ok();
}

void Executor::bindAll(BufferKind kind, uint64_t handle) {
  const auto &buffers = artifact().buffers;
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].kind == kind)
      replay->bind(i, handle, buffers[i].position);
}

/// Of a shared arena: has it for a run, and the replay's slots of it.
Status Executor::takeArena() {
  if (!shared)
    return Status::ok();
  Result<std::shared_ptr<Buffer>> all = shared->reserve(artifact().arenaSize);
  if (!all)
    return all.status().withDevice(device->name());
  arena = std::move(*all);
  if (lastArena.lock() == arena)
    return Status::ok();
  // An earlier run in flight reads the slots.
  finishAll();
  if (arenaHandle != arena->handle())
    bindAll(BufferKind::Arena, arena->handle());
  arenaHandle = arena->handle();
  lastArena = arena;
  isApart = false;
  return Status::ok();
}

/// Of what a step makes: has it for a run, and the replay's slots of it.
Status Executor::takeKept(InitStep &step) {
  bool isOther = !step.kept;
  for (size_t i = 0; i < step.weights.size(); ++i)
    isOther |= std::exchange(step.numbers[i], inputs[step.weights[i]].buffer->number()) !=
               inputs[step.weights[i]].buffer->number();
  if (isOther) {
    step.kept = nullptr;
    std::vector<std::shared_ptr<Buffer>> weights;
    for (uint32_t weight : step.weights)
      weights.push_back(inputs[weight].buffer);
    Result<std::shared_ptr<Kept>> found = step.identity
                                              ? device->kept().find(*step.identity, weights, device->pool(), step.size)
                                              : KeptStore::make(weights, device->pool(), step.size);
    if (!found)
      return found.status().withDevice(device->name());
    step.kept = std::move(*found);
  }
  step.memory = step.kept->memory();
  ZYX_ASSERT(step.memory, "the weights are there");
  if (step.lastMemory != step.memory.get())
    isApart = false;
  step.lastMemory = step.memory.get();
  if (step.handle == step.memory->handle())
    return Status::ok();
  // An earlier run in flight reads the slots.
  finishAll();
  step.handle = step.memory->handle();
  for (const auto &[buffer, offset] : step.buffers)
    replay->bind(buffer, step.handle, offset);
  return Status::ok();
}

/// What is in flight holds it by itself.
void Executor::leaveMemory() {
  if (shared)
    arena = nullptr;
  for (InitStep &step : initSteps)
    step.memory = nullptr;
}

void Executor::forEachKept(const std::function<void(const Buffer &)> &visit) const {
  for (const InitStep &step : initSteps)
    if (step.kept)
      if (const std::shared_ptr<Buffer> memory = step.kept->memory())
        visit(*memory);
}

/// Whoever waits for a point learns of its failure; here it only matters that it is over.
static void finish(const Point &point) { [[maybe_unused]] Status status = point.wait(); }

void Executor::finishAll() {
  finish(last);
  finish(init);
}

Executor::~Executor() { finishAll(); }

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

static std::string describe(bool isInput, const Argument &argument) {
  return (isInput ? "input '" : "output '") + argument.name + "'";
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

Status Executor::bind(bool isInput, size_t index, std::shared_ptr<Buffer> buffer, bool owned) {
  ZYX_ASSIGN_OR_RETURN(const Argument *target, argument(isInput, index));
  if (!buffer)
    return Status::invalidArgument(describe(isInput, *target) + " is bound to no buffer");
  ZYX_RETURN_IF_ERROR(checkSize(isInput, *target, buffer->size()));
  if (!buffer->isUsableIn(*device->pool()))
    return Status::invalidArgument(describe(isInput, *target) + " lies in memory that device '" + device->name() +
                                   "' does not reach");
  const auto elementSize = static_cast<uint64_t>(byteSize(target->type.dtype));
  if (buffer->handle() % elementSize != 0)
    return Status::invalidArgument(describe(isInput, *target) + " is not aligned to its " +
                                   std::to_string(elementSize) + " byte elements");
  if (buffer->size() != 0 && buffer->handle() % device->alignment() != 0)
    return Status::invalidArgument(describe(isInput, *target) + " is not aligned to " +
                                   std::to_string(device->alignment()) + " bytes, as device '" + device->name() +
                                   "' needs it");
  finishAll();
  const BufferKind kind = isInput ? BufferKind::Input : BufferKind::Output;
  const auto &buffers = artifact().buffers;
  for (uint32_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].kind == kind && buffers[i].position == index)
      replay->bind(i, buffer->handle(), 0);
  // Who has lent the memory may have changed it.
  if (target->isWeight && !buffer->ownsMemory())
    buffer->countWrite();
  Slot &slot = (isInput ? inputs : outputs)[index];
  slot.buffer = std::move(buffer);
  slot.owned = owned;
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
    auto isGivenUp = [&](size_t input) {
      return outputs[i].buffer->handle() == inputs[input].buffer->handle() &&
             std::any_of(donations.begin(), donations.end(), [&](const artifact::Donation &donation) {
               return donation.input == input && donation.output == i;
             });
    };
    for (size_t k = 0; k < inputs.size(); ++k)
      if (overlap(outputs[i], inputs[k]) && !isGivenUp(k))
        return refuse(true, artifact().inputs[k]);
    for (size_t k = 0; k < i; ++k)
      if (overlap(outputs[i], outputs[k]))
        return refuse(false, artifact().outputs[k]);
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

/// Only one call at a time may go on; `status` says why one may not.
class Executor::Use {
public:
  explicit Use(const Executor &of) : executor(of) {
    if (executor.isUsed.exchange(true, std::memory_order_acquire)) {
      status = Status::aborted("the executor of '" + executor.artifact().entry +
                               "' is in use by another thread; it is one thread's at a time");
      return;
    }
    isOwner = true;
    status = executor.mark.check();
  }
  ~Use() {
    if (isOwner)
      executor.isUsed.store(false, std::memory_order_release);
  }
  Use(const Use &) = delete;

  Status status;

private:
  const Executor &executor;
  bool isOwner = false;
};

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
  if (!inputs[index].owned) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> buffer, Buffer::allocate(device->pool(), bytes.size()));
    ZYX_RETURN_IF_ERROR(bind(true, index, std::move(buffer), true));
  }
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

/// Everything is bound afterwards, or no output is that was not before.
Status Executor::prepare() {
  if (!arena && !shared) {
    finishAll();
    ZYX_RETURN_IF_ERROR(takeMemory());
  }
  ZYX_RETURN_IF_ERROR(takeArena());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].buffer)
      inputs[i].buffer = inputs[i].others.lock();
    if (!inputs[i].buffer)
      return Status::invalidArgument(describe(true, artifact().inputs[i]) + " is not set");
  }
  for (InitStep &step : initSteps)
    ZYX_RETURN_IF_ERROR(takeKept(step));
  if (std::all_of(outputs.begin(), outputs.end(), [](const Slot &slot) { return slot.buffer; }))
    return checkApart();
  std::vector<std::shared_ptr<Buffer>> made(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].buffer) {
      const auto size = static_cast<uint64_t>(*byteSize(artifact().outputs[i].type));
      ZYX_ASSIGN_OR_RETURN(made[i], Buffer::allocate(device->pool(), size));
    }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (made[i])
      ZYX_RETURN_IF_ERROR(bind(false, i, made[i], true));
  return checkApart();
}

/// What the caller finds bound is held against others from here on.
class Executor::Hold {
public:
  explicit Hold(const Executor &of) : buffers(of.bound) {
    for (const Buffer *buffer : buffers)
      buffer->lock();
  }
  ~Hold() {
    for (const Buffer *buffer : buffers)
      buffer->unlock();
  }
  Hold(const Hold &) = delete;

private:
  const std::vector<const Buffer *> &buffers;
};

/// Finds the steps of the init that the next run must make, and counts them. One that is in flight, of this run's
/// executor or another one, is one that happens: who relies on it waits for it. While buffers are held, because a write
/// that is counted comes with a point to wait for.
size_t Executor::findStale() {
  size_t numStale = 0;
  for (InitStep &step : initSteps) {
    for (size_t i = 0; i < step.weights.size(); ++i)
      step.writes[i] = inputs[step.weights[i]].buffer->writes();
    step.isStale = !step.kept->isMadeOf(*step.memory, step.writes);
    numStale += step.isStale;
  }
  return numStale;
}

/// What a step is behind, besides other steps and runs of this executor.
void Executor::findInitOrder(InitStep &step) {
  // One that failed stays failed.
  step.made = {std::make_shared<Timeline>(), 1};
  step.wait.clear();
  step.after.clear();
  // It lies in the arena, too.
  if (shared)
    arena->beforeWrite(step.after);
  step.memory->beforeWrite(step.after);
  for (uint32_t weight : step.weights)
    inputs[weight].buffer->beforeRead(step.wait);
}

void Executor::noteInit(InitStep &step) {
  step.kept->noteMade(step.writes);
  step.memory->noteWrite(step.made);
  for (uint32_t weight : step.weights)
    inputs[weight].buffer->noteRead(step.made);
  numInitLaunches += step.numLaunches;
}

/// On this thread. Its failure is that of what relies on it.
Status Executor::makeNow(InitStep &step, const std::function<Status(Part)> &runPart) {
  for (const Point &point : step.after)
    finish(point);
  Status status;
  for (const Point &point : step.wait)
    if (status.isOk())
      status = point.wait();
  if (status.isOk())
    status = withoutExceptions([&] { return runPart(step.part); });
  if (status.isOk())
    status = step.made.timeline->signal(step.made.value);
  else
    step.made.timeline->fail(status);
  step.made = {};
  return status;
}

/// What a run is behind. It does not wait for itself where it writes what it reads, so that it is noted later; that
/// needs no memory any more.
void Executor::findOrder(std::vector<Point> &wait, std::vector<Point> &after, size_t numStale) const {
  for (const Slot &slot : inputs)
    slot.buffer->beforeRead(wait);
  for (const Slot &slot : outputs)
    slot.buffer->beforeWrite(after);
  if (shared)
    arena->beforeWrite(after);
  for (const InitStep &step : initSteps) {
    if (!step.isStale)
      step.memory->beforeRead(wait);
    step.memory->makeRoom();
  }
  if (shared)
    arena->makeRoom(numStale);
  for (const std::vector<Slot> *slots : {&inputs, &outputs})
    for (const Slot &slot : *slots)
      slot.buffer->makeRoom(1 + numStale);
}

void Executor::note(const Point &run) {
  for (const Slot &slot : inputs)
    slot.buffer->noteRead(run);
  for (const InitStep &step : initSteps)
    step.memory->noteRead(run);
  forEachTaken([&](const std::shared_ptr<Buffer> &buffer) { buffer->noteTaking(run); });
  // Of those once more, which changes nothing.
  for (const Slot &slot : outputs)
    slot.buffer->noteWrite(run);
  if (shared)
    arena->noteWrite(run);
}

/// A shared arena, and what is kept, is left at the end of each call, however that ends.
class Executor::MemoryUse {
public:
  explicit MemoryUse(Executor &of) : executor(of) {}
  ~MemoryUse() { executor.leaveMemory(); }
  MemoryUse(const MemoryUse &) = delete;

private:
  Executor &executor;
};

/// Outputs that are bound to the buffers of inputs that are given up.
template <typename F> void Executor::forEachTaken(F &&visit) const {
  for (const artifact::Donation &donation : donations)
    if (const std::shared_ptr<Buffer> &buffer = outputs[donation.output].buffer;
        buffer == inputs[donation.input].buffer)
      visit(buffer);
}

Status Executor::runNow(const std::function<Status(Part)> &runPart) {
  ZYX_DEBUG(Runtime, "run '" + artifact().entry + "' on " + device->name());
  const Use use(*this);
  ZYX_RETURN_IF_ERROR(use.status);
  const MemoryUse memoryUse(*this);
  ZYX_RETURN_IF_ERROR(prepare());
  finishAll();
  if (!runs) {
    runs = std::make_shared<Timeline>();
    numRuns = 0;
  }
  reached.clear();
  over.clear();
  {
    Hold hold(*this);
    const size_t numStale = findStale();
    for (InitStep &step : initSteps)
      if (step.isStale)
        findInitOrder(step);
    findOrder(reached, over, numStale);
    for (InitStep &step : initSteps)
      if (step.isStale)
        noteInit(step);
    note({runs, ++numRuns});
  }
  Status status;
  // Others may wait for a step: it waits for what it needs itself, and not for what the run needs.
  for (InitStep &step : initSteps)
    if (step.isStale)
      if (const Status made = makeNow(step, runPart); status.isOk())
        status = made;
  for (const Point &point : over)
    finish(point);
  for (const Point &point : reached)
    if (status.isOk())
      status = point.wait();
  reached.clear();
  over.clear();
  bool hasBegun = false;
  if (status.isOk()) {
    status = withoutExceptions([&] { return runPart({artifact().numInitCommands, artifact().commands.size()}); });
    hasBegun = status.isOk() || replay->hasBegun();
  }
  if (status.isOk())
    return runs->signal(numRuns);
  runs->fail(status);
  if (!hasBegun)
    forEachTaken([&](const std::shared_ptr<Buffer> &buffer) { buffer->undoTaking({runs, numRuns}); });
  runs = nullptr;
  return status;
}

/// "zyx-launches: 'main_0' of 'main' on cpu: 12.3 us, 4.56 GFLOP/s, 7.89 GB/s"
static void printTimes(const std::vector<CommandTime> &times, const std::string &entry, const std::string &device) {
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

Status Executor::run() {
  if (isDebugged(DebugTopic::Launches)) {
    ZYX_ASSIGN_OR_RETURN(const std::vector<CommandTime> times, profile());
    printTimes(times, artifact().entry, device->name());
    return Status::ok();
  }
  return runNow([this](Part part) { return replay->run(part, {}); });
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

Result<Measurement> Replay::measure(Part part, unsigned times) {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < times; ++i)
    ZYX_RETURN_IF_ERROR(run(part, {}));
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin);
  return Measurement{static_cast<uint64_t>(took.count()), static_cast<uint64_t>(took.count())};
}

Result<Measurement> Executor::measure(unsigned times) {
  Measurement result;
  ZYX_RETURN_IF_ERROR(runNow([&](Part part) -> Status {
    ZYX_RETURN_IF_ERROR(replay->run(part, {}));
    if (part.from < artifact().numInitCommands)
      return Status::ok();
    ZYX_ASSIGN_OR_RETURN(result, replay->measure(part, times));
    return Status::ok();
  }));
  return result;
}

Result<Point> Executor::submit(std::span<const Point> wait) {
  ZYX_DEBUG(Runtime, "submit '" + artifact().entry + "' on " + device->name() + " behind " +
                         std::to_string(wait.size()) + " points");
  if (isDebugged(DebugTopic::Launches)) {
    for (const Point &point : wait)
      ZYX_RETURN_IF_ERROR(point.wait());
    ZYX_RETURN_IF_ERROR(run());
    return Point();
  }
  const Use use(*this);
  ZYX_RETURN_IF_ERROR(use.status);
  const MemoryUse memoryUse(*this);
  ZYX_RETURN_IF_ERROR(prepare());
  std::vector<Point> points(wait.begin(), wait.end()), after;
  // The arena is used by one part of one run at a time.
  after.push_back(last);
  after.push_back(init);
  auto held = std::make_shared<std::vector<std::shared_ptr<Buffer>>>();
  for (const std::vector<Slot> *slots : {&inputs, &outputs})
    for (const Slot &slot : *slots)
      held->push_back(slot.buffer);
  if (shared)
    held->push_back(arena);
  for (const InitStep &step : initSteps)
    held->push_back(step.memory);
  // Each has a timeline of its own, because one that failed stays failed: later runs have nothing to do
  // with this one, but with the steps of the init that it had.
  const Point run{std::make_shared<Timeline>(), 1};
  std::vector<std::shared_ptr<Buffer>> taken;
  forEachTaken([&](const std::shared_ptr<Buffer> &buffer) { taken.push_back(buffer); });
  std::function<void()> skipped;
  if (!taken.empty())
    skipped = [taken = std::move(taken), run] {
      for (const std::shared_ptr<Buffer> &buffer : taken)
        buffer->noteUntouched(run);
    };
  Hold hold(*this);
  std::vector<Point> afterRun = after;
  const size_t numStale = findStale();
  for (InitStep &step : initSteps) {
    if (!step.isStale)
      continue;
    findInitOrder(step);
    step.after.insert(step.after.end(), after.begin(), after.end());
    points.push_back(step.made);
    after.push_back(step.made);
  }
  findOrder(points, afterRun, numStale);
  // From here on others may wait for the points. What throws has handed over nothing.
  for (InitStep &step : initSteps)
    if (step.isStale)
      noteInit(step);
  last = run;
  note(last);
  for (InitStep &step : initSteps) {
    if (!step.isStale)
      continue;
    // Where the run is not handed over, it is over before these are.
    if (shared)
      arena->noteRead(step.made);
    const Status handed = withoutExceptions([&] {
      replay->submit(step.part, std::move(step.wait), std::move(step.after), step.made, held);
      return Status::ok();
    });
    // Behind it are those that were handed over before.
    if (handed.isOk())
      init = step.made;
    else
      step.made.timeline->fail(handed);
    step.made = {};
  }
  const Status handed = withoutExceptions([&] {
    replay->submit({artifact().numInitCommands, artifact().commands.size()}, std::move(points), std::move(afterRun),
                   last, std::move(held), skipped);
    return Status::ok();
  });
  if (!handed.isOk()) {
    if (skipped)
      skipped();
    last.timeline->fail(handed);
  }
  return last;
}
