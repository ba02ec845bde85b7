//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ExecutorUse.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/Exceptions.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using artifact::BufferKind;

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
  leaveSlots();
  if (arenaHandle != arena->handle())
    bindAll(BufferKind::Arena, arena->handle());
  arenaHandle = arena->handle();
  lastArena = arena;
  isApart = false;
  return Status::ok();
}

/// What is in flight holds it by itself.
void Executor::leaveMemory() {
  if (shared)
    arena = nullptr;
  for (InitStep &step : initSteps)
    step.memory = nullptr;
}

/// Before others are bound: an earlier run in flight may read the slots.
void Executor::leaveSlots() {
  if (!replay->isHandedOver())
    finishAll();
}

void Executor::finishAll() {
  finish(last);
  finish(init);
}

[[gnu::cold]] Executor::~Executor() { finishAll(); }

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
  forEachTaken([&](const std::shared_ptr<Buffer> &buffer) { buffer->noteDonation(run); });
  // Of those once more, which changes nothing.
  for (const Slot &slot : outputs)
    slot.buffer->noteWrite(run);
  if (shared)
    arena->noteWrite(run);
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
    status = withoutExceptions(
        [&] { return runPart({artifact().numInitCommands, artifact().commands.size(), hostInputs}); });
    hasBegun = status.isOk() || replay->hasBegun();
  }
  if (status.isOk())
    return runs->signal(numRuns);
  runs->fail(status);
  if (!hasBegun)
    forEachTaken([&](const std::shared_ptr<Buffer> &buffer) { buffer->cancelDonation({runs, numRuns}); });
  runs = nullptr;
  return status;
}

Status Executor::run() {
  if (isDebugged(DebugTopic::Launches)) {
    ZYX_ASSIGN_OR_RETURN(const std::vector<CommandTime> times, profile());
    printTimes(times, artifact().entry, device->name());
    return Status::ok();
  }
  return runNow([this](Part part) { return replay->run(part, {}); });
}
