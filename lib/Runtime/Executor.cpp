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
  forEachTaken([&](const std::shared_ptr<Buffer> &buffer) { buffer->noteDonation(run); });
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

Result<Point> Executor::submit(std::span<const Point> wait) { return submitBehind(wait, nullptr); }

Result<Point> Executor::submitBehind(void *stream, std::span<const Point> wait) {
  ZYX_ASSIGN_OR_RETURN(const std::shared_ptr<Fence> fence, device->recordStream(stream));
  return submitBehind(wait, fence);
}

Result<Point> Executor::submitOn(void *stream, std::span<const Point> wait) {
  ZYX_ASSIGN_OR_RETURN(Point run, submitBehind(stream, wait));
  const Status waits = device->letStreamWait(stream, run);
  // The failure of the run is that of its point.
  if (!waits.isOk() && !(run.timeline && !run.timeline->status().isOk()))
    return waits;
  return run;
}

// Long, and called twice.
[[gnu::noinline]] Result<Point> Executor::submitBehind(std::span<const Point> wait,
                                                       const std::shared_ptr<Fence> &fence) {
  ZYX_DEBUG(Runtime, "submit '" + artifact().entry + "' on " + device->name() + " behind " +
                         std::to_string(wait.size()) + " points");
  if (isDebugged(DebugTopic::Launches)) {
    for (const Point &point : wait)
      ZYX_RETURN_IF_ERROR(point.wait());
    if (fence)
      ZYX_RETURN_IF_ERROR(fence->wait());
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
  if (fence) {
    // Nobody signals it: the device, whose fence it is, takes it at once.
    after.push_back({std::make_shared<Timeline>(), 1});
    after.back().timeline->announce(1, fence);
  }
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
        buffer->noteNeverBegan(run);
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
