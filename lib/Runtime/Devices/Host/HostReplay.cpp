//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

#include "../../CommandStep.h"
#include "../../Thread.h"
#include "WorkerGroup.h"

#include "zyx/Base/Interruption.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

namespace {

/// A chunk of a launch must be worth waking a thread for. What takes less is done by the one thread
/// that has the others around it, too.
constexpr uint64_t nanosecondsPerChunk = 20'000;
/// What one processor does at least; used on the hints of a launch alone.
constexpr uint64_t flopsPerNanosecond = 16, bytesPerNanosecond = 8;
/// More than processors, so that none is left with much at the end.
constexpr uint64_t maxChunks = 256;

bool isUnknown(const artifact::Launch &launch) { return launch.flops == 0 && launch.bytes == 0; }

/// Nanoseconds on one processor, at most.
uint64_t estimate(const artifact::Launch &launch) {
  return std::max(launch.flops / flopsPerNanosecond, launch.bytes / bytesPerNanosecond);
}

/// Depends on the launch alone: a kernel is called on the same ranges whatever the threads are.
uint32_t chunksOf(const artifact::Launch &launch, int64_t total) {
  const uint64_t chunks = isUnknown(launch) ? maxChunks : 1 + estimate(launch) / nanosecondsPerChunk;
  return static_cast<uint32_t>(std::min({chunks, maxChunks, static_cast<uint64_t>(std::max<int64_t>(total, 0))}));
}

struct Step : CommandStep {
  using CommandStep::CommandStep;

  /// Takes no longer than waking a thread, as far as is known.
  bool isShort = false;
  // Launch.
  artifact::KernelFunction function = nullptr;
  artifact::KernelArgs args{};
  Job job;
  /// The steps [this, forkEnd) run inside of one fork, on up to `members` threads; 0 = none starts
  /// here.
  size_t forkEnd = 0;
  unsigned members = 1;
};

using Clock = std::chrono::steady_clock;

/// What a call of any of the kernels takes of a stack, at most; frames and spilled registers on top of
/// private memory are small, because kernels call nothing.
uint64_t stackBytesOf(const Artifact &artifact) {
  constexpr uint64_t frames = 32 << 10;
  uint64_t most = 0;
  for (const artifact::Kernel &kernel : artifact.kernels)
    most = std::max(most, kernel.stackBytes);
  return most + frames;
}

/// What the calls between a run and its kernels take, so that a thread that may begin a run finds room
/// where it begins a kernel, too.
constexpr uint64_t ownFrames = 16 << 10;

class StepReplay : public HostReplay, CommandSteps<Step, void *> {
public:
  StepReplay(const Artifact &artifact, std::span<const artifact::KernelFunction> functions, ThreadPool &threads,
             Queue &queue)
      : HostReplay(queue, artifact.entry), stackBytes(stackBytesOf(artifact)),
        group(threads, threads.threads(), stackBytes), numThreads(threads.threads()) {
    makeSteps(artifact, [&](Step &step, const artifact::Command &command) {
      if (const auto *launch = std::get_if<artifact::Launch>(&command.action))
        addLaunch(step, *launch, functions[launch->kernel]);
      else if (step.kind != Step::Loop)
        step.isShort = step.size / bytesPerNanosecond <= nanosecondsPerChunk;
      if (step.kind == Step::Copy)
        addCopy(step);
    });
    for (Step &step : steps) {
      step.args.buffers = slots.data() + step.slot;
      step.job.context = &step;
    }
    std::vector<size_t> ends = artifact::endsOfInitSteps(artifact);
    ends.push_back(steps.size());
    for (size_t begin = 0; size_t end : ends)
      if (numThreads > 1)
        planForks(std::exchange(begin, end), end);
  }

  void bind(uint32_t buffer, uint64_t handle, uint64_t offset) override {
    for (const auto &[slot, further] : uses[buffer])
      slots[slot] = reinterpret_cast<std::byte *>(handle) + offset + further;
  }

  Status run(Part part, std::span<uint64_t> nanoseconds) override {
    begun = false;
    if (const size_t room = stackRoom(); room < stackBytes + ownFrames)
      return Status::outOfMemory("the stack of the calling thread has " + std::to_string(room) +
                                 " bytes left, and kernels of '" + name + "' need " +
                                 std::to_string(stackBytes + ownFrames));
    begun = true;
    interruption = LoopInterruption();
    lastTime = Clock::now();
    return runSteps(part.from, part.to, nanoseconds);
  }

  Status runCommand(size_t command) override {
    interruption = LoopInterruption();
    if (steps[command].kind == Step::Loop)
      return runLoop(command, {});
    runStep(steps[command]);
    return Status::ok();
  }

private:
  void addLaunch(Step &step, const artifact::Launch &launch, artifact::KernelFunction function) const {
    step.function = function;
    step.args.scalars = launch.scalars.data();
    step.job.body = chunk;
    step.job.total = launch.grid[0] * launch.grid[1] * launch.grid[2];
    step.job.chunks = chunksOf(launch, step.job.total);
    step.members = std::min(step.job.chunks, numThreads);
    step.isShort = !isUnknown(launch) && estimate(launch) <= nanosecondsPerChunk;
  }

  /// One thread alone does not read and write as fast as memory can.
  void addCopy(Step &step) const {
    step.job.body = copyChunk;
    step.job.total = static_cast<int64_t>((step.size + linePair - 1) / linePair);
    step.job.chunks =
        static_cast<uint32_t>(std::min(1 + step.size / bytesPerNanosecond / nanosecondsPerChunk, maxChunks));
    step.members = std::min(step.job.chunks, numThreads);
  }

  static void copyChunk(void *context, int64_t begin, int64_t end) {
    const Step &step = *static_cast<const Step *>(context);
    const uint64_t from = static_cast<uint64_t>(begin) * linePair, to = static_cast<uint64_t>(end) * linePair;
    std::memcpy(static_cast<std::byte *>(step.args.buffers[1]) + from,
                static_cast<const std::byte *>(step.args.buffers[0]) + from, std::min(to, step.size) - from);
  }

  static void chunk(void *context, int64_t begin, int64_t end) {
    const Step &step = *static_cast<const Step *>(context);
    step.function(&step.args, begin, end);
  }

  /// What stands in [begin, end): whether it may run inside of a fork, how many launches on several
  /// threads it has (a loop repeats them), and on how many threads.
  struct Content {
    bool mayBeInside = true;
    unsigned launches = 0, members = 1;
  };
  Content contentOf(size_t begin, size_t end) const {
    Content all;
    for (size_t i = begin; i < end; i = next(i)) {
      const Step &step = steps[i];
      if (step.kind == Step::Loop) {
        // Its bodies do the same.
        const Content body = contentOf(i + 1, step.ends.front());
        // A loop of short steps alone may still be long.
        all.mayBeInside &= body.mayBeInside && body.launches != 0;
        all.launches += 2 * body.launches;
        all.members = std::max(all.members, body.members);
      } else if (step.members > 1) {
        ++all.launches;
        all.members = std::max(all.members, step.members);
      } else {
        all.mayBeInside &= step.isShort;
      }
    }
    return all;
  }

  /// Neighbours that run on several threads, with short steps between them, share a fork. Where one
  /// thread has much to do alone, the others go back to the pool.
  void planForks(size_t begin, size_t end) {
    for (size_t i = begin; i < end; i = next(i)) {
      size_t last = i;
      Content fork;
      for (size_t j = i; j < end; j = next(j)) {
        const Content one = contentOf(j, next(j));
        if (!one.mayBeInside)
          break;
        if (one.launches == 0) {
          if (j == i)
            break;
          continue;
        }
        fork.launches += one.launches;
        fork.members = std::max(fork.members, one.members);
        last = next(j);
      }
      if (fork.launches > 1) {
        steps[i].forkEnd = last;
        steps[i].members = fork.members;
        while (next(i) != last)
          i = next(i);
      } else if (steps[i].kind == Step::Loop) {
        for (size_t body = i + 1; size_t bodyEnd : steps[i].ends) {
          planForks(body, bodyEnd);
          body = bodyEnd;
        }
      }
    }
  }

  /// Fails where a loop is interrupted. No other step of a host fails.
  Status runSteps(size_t begin, size_t end, std::span<uint64_t> nanoseconds) {
    for (size_t i = begin; i < end;) {
      const Step &step = steps[i];
      if (step.forkEnd != 0 && !isInFork) {
        ZYX_RETURN_IF_ERROR(runFork(i, step.forkEnd, nanoseconds));
        i = step.forkEnd;
        continue;
      }
      if (step.kind == Step::Loop)
        ZYX_RETURN_IF_ERROR(runLoop(i, nanoseconds));
      else
        runStep(step);
      addTime(i, nanoseconds);
      i = next(i);
    }
    return Status::ok();
  }

  Status runFork(size_t begin, size_t end, std::span<uint64_t> nanoseconds) {
    struct Fork {
      StepReplay *replay;
      size_t begin, end;
      std::span<uint64_t> nanoseconds;
      Status status = Status::ok();
    } fork{this, begin, end, nanoseconds};
    isInFork = true;
    group.run(
        steps[begin].members,
        [](void *context) {
          Fork &of = *static_cast<Fork *>(context);
          of.status = of.replay->runSteps(of.begin, of.end, of.nanoseconds);
        },
        &fork);
    isInFork = false;
    return fork.status;
  }

  /// Adds the time since the last call to a step's.
  void addTime(size_t step, std::span<uint64_t> nanoseconds) {
    if (nanoseconds.empty())
      return;
    const auto now = Clock::now();
    nanoseconds[step] +=
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now - lastTime).count());
    lastTime = now;
  }

  Status runLoop(size_t at, std::span<uint64_t> nanoseconds) {
    const Step &step = steps[at];
    int64_t trips = step.tripsAhead();
    return forEachTrip(at, trips, [&](int64_t trip, size_t begin, size_t end) {
      // Another one comes to its end, and nothing that it was given is lost.
      if (step.isWhile() && interruption.isSet())
        return LoopInterruption::status();
      if (step.isReadBefore(trip)) {
        int64_t word = 0;
        std::memcpy(&word, slots[step.slot], step.countSize());
        trips = step.tripsOf(word);
        if (trip >= trips)
          return Status::ok();
      }
      if (step.hasIndex)
        std::memcpy(slots[step.slot + step.hasCount], &trip, sizeof(trip));
      addTime(at, nanoseconds);
      return runSteps(begin, end, nanoseconds);
    });
  }

  void runJob(const Job &job) {
    if (numThreads == 1 || job.chunks <= 1)
      job.runAlone();
    else if (isInFork)
      group.share(job);
    else
      group.run(job);
  }

  void runCopy(const Step &step) {
    const auto *from = static_cast<const std::byte *>(slots[step.slot]);
    auto *to = static_cast<std::byte *>(slots[step.slot + 1]);
    // What is donated to its own update is there already.
    if (to == from)
      return;
    const auto distance = reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from);
    const bool isApart = distance >= step.size && -distance >= step.size;
    if (isApart && step.members > 1)
      runJob(step.job);
    else
      std::memmove(to, from, step.size);
  }

  void runStep(const Step &step) {
    if (step.kind == Step::Launch)
      return runJob(step.job);
    if (step.size == 0)
      return;
    if (step.kind == Step::Copy)
      return runCopy(step);
    // Doubles what is filled until all is.
    auto *to = static_cast<std::byte *>(slots[step.slot]);
    std::memcpy(to, &step.pattern, step.patternSize);
    for (uint64_t done = step.patternSize; done < step.size; done *= 2)
      std::memcpy(to + done, to, std::min(done, step.size - done));
  }

  /// Of the kernel that needs the most.
  const uint64_t stackBytes;
  WorkerGroup group;
  const unsigned numThreads;
  /// Of the run.
  LoopInterruption interruption;
  bool isInFork = false;
  /// When the last step that was measured ended.
  Clock::time_point lastTime;
};

} // namespace

// Runs once for a program, so that it is compiled for size.
[[gnu::cold]] std::unique_ptr<HostReplay> runtime::recordHost(const Artifact &artifact,
                                                              std::span<const artifact::KernelFunction> functions,
                                                              ThreadPool &threads, Queue &queue) {
  return std::make_unique<StepReplay>(artifact, functions, threads, queue);
}
