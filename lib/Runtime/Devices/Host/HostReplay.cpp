//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;
using artifact::BufferRef;

namespace {

/// A part of a launch must be worth waking a thread for.
constexpr uint64_t nanosecondsPerPart = 20'000;
/// What one processor does at least; used on the hints of a launch alone.
constexpr uint64_t flopsPerNanosecond = 16, bytesPerNanosecond = 8;

unsigned partsFor(const artifact::Launch &launch, unsigned threads) {
  if (launch.flops == 0 && launch.bytes == 0)
    return threads;
  const uint64_t nanoseconds =
      std::max(launch.flops / flopsPerNanosecond, launch.bytes / bytesPerNanosecond);
  return static_cast<unsigned>(std::min<uint64_t>(threads, 1 + nanoseconds / nanosecondsPerPart));
}

/// One command with its addresses resolved; `slots` of the replay that this one starts at.
struct Step {
  enum Kind { Launch, Copy, Fill, Loop } kind = Launch;
  size_t slot = 0;
  // Launch.
  artifact::KernelFunction function = nullptr;
  artifact::KernelArgs args{};
  int64_t total = 0;
  unsigned parts = 1;
  // Copy, Fill.
  uint64_t size = 0;
  uint64_t pattern = 0;
  uint8_t patternSize = 1;
  // Loop: the steps [this + 1, end) are its body; the slots of its count, then of its index.
  size_t end = 0;
  int64_t trips = 0;
  bool hasCount = false, hasIndex = false;
};

using Clock = std::chrono::steady_clock;

class StepReplay : public HostReplay {
public:
  StepReplay(const Artifact &artifact, std::span<const artifact::KernelFunction> functions,
             ThreadPool &threads, Queue &queue)
      : threads(threads), queue(queue), name(artifact.entry), uses(artifact.buffers.size()) {
    for (const artifact::Command &command : artifact.commands) {
      Step step;
      step.slot = slots.size();
      if (const auto *launch = std::get_if<artifact::Launch>(&command.action)) {
        step.function = functions[launch->kernel];
        step.args.scalars = launch->scalars.data();
        step.total = launch->grid[0] * launch->grid[1] * launch->grid[2];
        step.parts = partsFor(*launch, threads.threads());
        for (const BufferRef &ref : launch->buffers)
          use(ref);
      } else if (const auto *copy = std::get_if<artifact::Copy>(&command.action)) {
        step.kind = Step::Copy;
        step.size = copy->size;
        use(copy->source);
        use(copy->destination);
      } else if (const auto *loop = std::get_if<artifact::Loop>(&command.action)) {
        step.kind = Step::Loop;
        step.end = steps.size() + 1 + loop->body;
        step.trips = loop->trips;
        step.hasCount = loop->count.has_value();
        step.hasIndex = loop->index.has_value();
        if (loop->count)
          use(*loop->count);
        if (loop->index)
          use(*loop->index);
      } else {
        const auto &fill = std::get<artifact::Fill>(command.action);
        step.kind = Step::Fill;
        step.size = fill.size;
        step.pattern = fill.pattern;
        step.patternSize = fill.patternSize;
        use(fill.destination);
      }
      steps.push_back(step);
    }
    for (Step &step : steps)
      step.args.buffers = slots.data() + step.slot;
  }

  void bind(uint32_t buffer, uint64_t handle) override {
    for (const auto &[slot, offset] : uses[buffer])
      slots[slot] = reinterpret_cast<std::byte *>(handle) + offset;
  }

  Status run(std::span<uint64_t> nanoseconds) override {
    std::ranges::fill(nanoseconds, 0);
    lastTime = Clock::now();
    runSteps(0, steps.size(), nanoseconds);
    return Status::ok();
  }

  void submit(std::vector<Point> wait, std::vector<Point> after, Point signal) override {
    queue.submit({[this] { return run({}); },
                  std::move(wait),
                  std::move(after),
                  std::move(signal),
                  name,
                  {}});
  }

  void runCommand(size_t command) override {
    if (steps[command].kind == Step::Loop)
      runLoop(command, {});
    else
      runStep(steps[command]);
  }

private:
  void use(const BufferRef &ref) {
    uses[ref.buffer].emplace_back(slots.size(), ref.offset);
    slots.push_back(nullptr);
  }

  static void part(void *context, int64_t begin, int64_t end) {
    const Step &step = *static_cast<const Step *>(context);
    step.function(&step.args, begin, end);
  }

  void runSteps(size_t begin, size_t end, std::span<uint64_t> nanoseconds) {
    for (size_t i = begin; i < end;) {
      const Step &step = steps[i];
      if (step.kind == Step::Loop)
        runLoop(i, nanoseconds);
      else
        runStep(step);
      addTime(i, nanoseconds);
      i = step.kind == Step::Loop ? step.end : i + 1;
    }
  }

  /// Adds the time since the last call to a step's.
  void addTime(size_t step, std::span<uint64_t> nanoseconds) {
    if (nanoseconds.empty())
      return;
    const auto now = Clock::now();
    nanoseconds[step] += static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now - lastTime).count());
    lastTime = now;
  }

  void runLoop(size_t at, std::span<uint64_t> nanoseconds) {
    const Step &step = steps[at];
    int64_t trips = step.trips;
    if (step.hasCount)
      std::memcpy(&trips, slots[step.slot], sizeof(trips));
    for (int64_t trip = 0; trip < trips; ++trip) {
      if (step.hasIndex)
        std::memcpy(slots[step.slot + step.hasCount], &trip, sizeof(trip));
      addTime(at, nanoseconds);
      runSteps(at + 1, step.end, nanoseconds);
    }
  }

  void runStep(const Step &step) {
    if (step.kind == Step::Launch) {
      threads.run(step.total, step.parts, part, const_cast<Step *>(&step));
      return;
    }
    if (step.size == 0)
      return;
    if (step.kind == Step::Copy) {
      std::memmove(slots[step.slot + 1], slots[step.slot], step.size);
      return;
    }
    // Doubles what is filled until all is.
    auto *to = static_cast<std::byte *>(slots[step.slot]);
    std::memcpy(to, &step.pattern, step.patternSize);
    for (uint64_t done = step.patternSize; done < step.size; done *= 2)
      std::memcpy(to + done, to, std::min(done, step.size - done));
  }

  ThreadPool &threads;
  Queue &queue;
  std::string name;
  std::vector<Step> steps;
  /// When the last step that was measured ended.
  Clock::time_point lastTime;
  /// The arguments of all commands, one after the other.
  std::vector<void *> slots;
  /// For each buffer, the slots that hold its address, and the byte offsets there.
  std::vector<std::vector<std::pair<size_t, uint64_t>>> uses;
};

} // namespace

std::unique_ptr<HostReplay> runtime::recordHost(const Artifact &artifact,
                                                std::span<const artifact::KernelFunction> functions,
                                                ThreadPool &threads, Queue &queue) {
  return std::make_unique<StepReplay>(artifact, functions, threads, queue);
}
