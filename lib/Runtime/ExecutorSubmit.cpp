//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What an executor does once, or rarely: memory of its own, results of weights, and runs that others wait for.
//===----------------------------------------------------------------------===//
#include "ExecutorUse.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/Exceptions.h"

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
  leaveSlots();
  step.handle = step.memory->handle();
  for (const auto &[buffer, offset] : step.buffers)
    replay->bind(buffer, step.handle, offset);
  return Status::ok();
}

void Executor::forEachKept(const std::function<void(const Buffer &)> &visit) const {
  for (const InitStep &step : initSteps)
    if (step.kept)
      if (const std::shared_ptr<Buffer> memory = step.kept->memory())
        visit(*memory);
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
    status = withoutExceptions([&] { return runPart({step.part.from, step.part.to, hostInputs}); });
  if (status.isOk())
    status = step.made.timeline->signal(step.made.value);
  else
    step.made.timeline->fail(status);
  step.made = {};
  return status;
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

// Called twice.
Result<Point> Executor::submitBehind(std::span<const Point> wait, const std::shared_ptr<Fence> &fence) {
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
  uint64_t outputBytes = 0;
  for (const Slot &output : outputs)
    outputBytes += output.buffer->size();
  replay->awaitRoom(outputBytes);
  std::vector<Point> points(wait.begin(), wait.end()), after;
  // The arena is used by one part of one run at a time.
  after.push_back(last);
  after.push_back(init);
  if (fence) {
    // Nobody signals it: the device, whose fence it is, takes it at once.
    after.push_back({std::make_shared<Timeline>(), 1});
    after.back().timeline->announce(1, fence);
  }
  struct Held {
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<HostInput> hostInputs;
  };
  auto held = std::make_shared<Held>(Held{{}, hostInputs});
  for (const std::vector<Slot> *slots : {&inputs, &outputs})
    for (const Slot &slot : *slots)
      held->buffers.push_back(slot.buffer);
  if (shared)
    held->buffers.push_back(arena);
  for (const InitStep &step : initSteps)
    held->buffers.push_back(step.memory);
  const std::span<const HostInput> ofHost = held->hostInputs;
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
      replay->submit({step.part.from, step.part.to, ofHost}, std::move(step.wait), std::move(step.after), step.made,
                     held);
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
    replay->submit({artifact().numInitCommands, artifact().commands.size(), ofHost}, std::move(points),
                   std::move(afterRun), last, std::move(held), skipped);
    return Status::ok();
  });
  if (!handed.isOk()) {
    if (skipped)
      skipped();
    last.timeline->fail(handed);
  }
  return last;
}
