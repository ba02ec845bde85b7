//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../QueuedReplay.h"
#include "BoundMemory.h"
#include "GraphInMaking.h"
#include "HostInputs.h"
#include "StreamDevice.h"
#include "StreamGate.h"
#include "StreamHandover.h"
#include "StreamSteps.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/Exceptions.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

namespace {

class StreamReplay : public QueuedReplay, StreamSteps {
public:
  StreamReplay(std::shared_ptr<StreamContext> ofContext, const Artifact &artifact,
               std::span<const KernelHandle> kernels, MemoryRef scratch, Queue &queue)
      : QueuedReplay(queue, artifact.entry), context(std::move(ofContext)), backend(context->backend()),
        stream(context->stream()), hostInputs(*context, artifact), boundMemory(artifact),
        partEnds(artifact::endsOfInitSteps(artifact)) {
    makeSteps(artifact, [&](Step &step, const artifact::Command &command) {
      artifact::forEachRef(command, [&](const artifact::BufferRef &ref) {
        bytes.push_back(artifact.buffers[ref.buffer].size - ref.offset);
      });
      if (const auto *launch = std::get_if<artifact::Launch>(&command.action))
        addLaunch(step, *launch, artifact.kernels[launch->kernel], kernels[launch->kernel], scratch);
      if (const auto *copy = std::get_if<artifact::Copy>(&command.action))
        step.overlaps = copy->source.buffer == copy->destination.buffer &&
                        std::max(copy->source.offset, copy->destination.offset) -
                                std::min(copy->source.offset, copy->destination.offset) <
                            copy->size;
      bytes.resize(slots.size());
    });
    // Neither slots nor maps move from here on.
    for (size_t i = 0; i < steps.size(); ++i) {
      const size_t end = i + 1 < steps.size() ? steps[i + 1].slot : slots.size();
      steps[i].parameter = parameters.size();
      for (size_t map = 0; map < steps[i].numMaps; ++map)
        parameters.push_back(&maps[steps[i].firstMap + map].encoded);
      steps[i].numArguments = end - steps[i].slot;
      for (size_t slot = steps[i].slot; slot < end; ++slot) {
        parameters.push_back(&slots[slot].value);
        owners.push_back(i);
      }
    }
    if (context->facts().takesArguments)
      giveNumbers(artifact);
    makeSegments();
  }

  ~StreamReplay() override {
    const EnteredContext inside(*context);
    segments.clear();
    if (hasNumbers)
      (void)backend.free(stream, numbers);
    if (hostWords)
      backend.freeHost(hostWords);
    for (; numEvents != 0; --numEvents)
      backend.destroyEvent(numEvents == 1 ? begin : end);
  }

  void bind(uint32_t buffer, uint64_t handle, uint64_t offset) override {
    boundMemory.bind(buffer, MemoryRef{handle, offset}.address());
    for (const auto &[slot, further] : uses[buffer]) {
      const MemoryRef memory{handle, offset + further};
      if (slots[slot].isBuffer && slots[slot].memory.handle == handle && slots[slot].memory.offset == memory.offset)
        continue;
      slots[slot] = {memory.address(), memory, true};
      const size_t step = owners[slot];
      steps[step].isStale = true;
      if (segmentOf[step] != none)
        segments[segmentOf[step]].isStale = true;
    }
  }

  Status run(Part part, std::span<uint64_t> nanoseconds) override {
    begun = false;
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    times = nanoseconds;
    if (!times.empty()) {
      ZYX_RETURN_IF_ERROR(makeEvents());
      gate.emplace(*context);
    }
    Status status = runPart(part);
    // What was handed over before a failure still runs, and uses the memory.
    Status over = wait();
    gate.reset();
    hasRun |= status.isOk() && over.isOk();
    return status.isOk() ? over : status;
  }

  Result<Measurement> measure(Part part, unsigned runs) override {
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    ZYX_RETURN_IF_ERROR(makeEvents());
    times = {};
    Status status = gate.emplace(*context).close();
    const auto start = std::chrono::steady_clock::now();
    if (status.isOk())
      status = context->check(backend.record(stream, begin), measuring);
    for (unsigned i = 0; i < runs && status.isOk(); ++i)
      status = runPart(part);
    if (status.isOk())
      status = context->check(backend.record(stream, end), measuring);
    const auto host = std::chrono::steady_clock::now() - start;
    gate->open();
    const Status over = wait();
    const bool isLate = gate->isLate();
    gate.reset();
    ZYX_RETURN_IF_ERROR(status.isOk() ? over : status);
    if (isLate)
      return Status::aborted("runs of '" + name + "' were not handed over within " +
                             std::to_string(StreamGate::mostTime.count()) +
                             " s, so that nothing is known of their time: another thread may wait for the device");
    const Result<uint64_t> took = backend.elapsed(begin, end);
    ZYX_RETURN_IF_ERROR(context->check(took.status(), measuring));
    return Measurement{*took, static_cast<uint64_t>(host / std::chrono::nanoseconds(1))};
  }

private:
  std::function<bool(const Fence &)> fenceTest() const override {
    return [context = context](const Fence &fence) { return context->canWaitFor(fence); };
  }
  /// Other devices may begin behind the run as soon as it is handed over.
  Status runBehind(Part part, const Fences &fences, const Point &signal) override {
    begun = false;
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    for (const std::shared_ptr<Fence> &fence : fences)
      ZYX_RETURN_IF_ERROR(context->wait(Lane::Runs, *fence));
    times = {};
    Status status = runPart(part);
    if (status.isOk())
      status = withoutExceptions([&] { return announce(signal); });
    Status over = wait();
    return status.isOk() ? over : status;
  }

  void awaitRoom(uint64_t bytes) override {
    outputBytes = bytes;
    if (context->isStreamShared())
      context->awaitFlights(bytes);
  }

  /// Others know the stream, and have theirs wait for it: a thread between them and a run would cost more than many a
  /// run.
  bool submitNow(Part part, std::span<const Point> wait, std::span<const Point> after, const Point &signal,
                 std::shared_ptr<void> &held, std::function<void()> &skipped) override {
    // A run that the queue has yet to begin reads the slots, and a loop whose trips data says waits for that data.
    if (!context->isStreamShared() || !isHandedOver() ||
        std::ranges::any_of(steps, [](const Step &step) { return step.hasCount; }))
      return false;
    begun = false;
    times = {};
    return handOver(
        context, queue, {name, wait, after, signal, outputBytes}, held, [&] { return runPart(part); },
        [&] {
          if (!begun && skipped)
            skipped();
        });
  }

  Status announce(const Point &signal) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Fence> fence, context->record());
    if (fence)
      signal.timeline->announce(signal.value, std::move(fence));
    return Status::ok();
  }

  Status makeEvents() {
    for (; numEvents != 2; ++numEvents) {
      const Result<EventHandle> made = backend.createEvent(/*isTimed=*/true);
      ZYX_RETURN_IF_ERROR(context->check(made.status(), "make an event"));
      (numEvents == 0 ? begin : end) = *made;
    }
    return Status::ok();
  }

  /// What is thrown is a failure like others: what was handed over before it is waited for.
  Status runPart(Part part) {
    return withoutExceptions([&]() -> Status {
      ZYX_RETURN_IF_ERROR(hostInputs.take(part.hostInputs, *this, gate));
      return runSteps(part.from, part.to);
    });
  }

  Status wait() {
    const Status status = backend.synchronize(stream);
    // Describing the run takes longer than many a run.
    return status.isOk() ? status : context->check(status, "run '", name, "' (", describeKernels(), ")");
  }

  /// Behind its buffers.
  void addLaunch(Step &step, const artifact::Launch &launch, const artifact::Kernel &kernel, KernelHandle function,
                 MemoryRef scratch) {
    const int64_t programs = launch.grid[0] * launch.grid[1] * launch.grid[2];
    step.kernel = function;
    step.name = &kernel.name;
    step.isEmpty = programs <= 0;
    step.shape = shapeOf(kernel, programs, context->facts().processors);
    step.sharedBytes = kernel.sharedBytes;
    step.clusterGroups = kernel.clusterGroups;
    step.numBuffers = launch.buffers.size();
    step.numRead = step.numBuffers - kernel.numWritten;
    step.waits = kernel.waits;
    for (int64_t scalar : launch.scalars)
      slots.push_back({static_cast<uint64_t>(scalar), {}, false});
    slots.push_back({scratch.address(), scratch, true});
    // All kernels have the same.
    bytes.resize(slots.size());
    bytes.back() = step.shape.scratchBytes;
    slots.push_back({static_cast<uint64_t>(programs), {}, false});
    step.firstMap = maps.size();
    step.numMaps = kernel.tensorMaps.size();
    for (const artifact::TensorMap &map : kernel.tensorMaps)
      maps.push_back({{}, &map, step.slot + map.buffer, 0});
  }

  /// Parts, and bodies of loops that are walked, begin with segments and end with them.
  void makeSegments() {
    segmentOf.assign(steps.size(), none);
    std::vector<bool> isBorder(steps.size() + 1);
    for (size_t end : partEnds)
      isBorder[end] = true;
    for (size_t i = 0; i < steps.size(); i = isWalked(i) ? i + 1 : next(i)) {
      if (!isWalked(i))
        continue;
      isBorder[i] = isBorder[i + 1] = true;
      for (size_t end : steps[i].ends)
        isBorder[end] = true;
    }
    for (size_t i = 0, to; i < steps.size(); i = to) {
      to = i + 1;
      if (isWalked(i))
        continue;
      size_t numNodes = numNodesOf(i);
      for (to = next(i); to < steps.size() && !isBorder[to] && numNodes + numNodesOf(to) <= mostNodes; to = next(to))
        numNodes += numNodesOf(to);
      if (numNodes < context->facts().fewestOfGraph)
        continue;
      for (size_t step = i; step < to; ++step) {
        segmentOf[step] = segments.size();
        if (steps[step].kind == Step::Loop && steps[step].hasIndex)
          numNumbers = std::max(numNumbers, steps[step].trips);
      }
      Segment &segment = segments.emplace_back();
      segment.from = i;
      segment.to = to;
      segment.numNodes = numNodes;
      segment.isChain = !context->facts().hasBranches;
    }
  }

  Status runSteps(size_t from, size_t to, bool asGraphs = true) {
    for (size_t i = from; i < to;) {
      if (asGraphs && times.empty() && segmentOf[i] != none) {
        ZYX_RETURN_IF_ERROR(runSegment(segments[segmentOf[i]]));
        i = segments[segmentOf[i]].to;
        continue;
      }
      ZYX_RETURN_IF_ERROR(steps[i].kind == Step::Loop ? runLoop(i, asGraphs) : runTimed(i));
      i = next(i);
    }
    return Status::ok();
  }

  Status runSegment(Segment &segment) {
    // The first run loads the code of kernels, and is the only one of many programs.
    if (std::exchange(segment.hasRun, true) && segment.numGraphs <= mostGraphs) {
      // The driver takes many of its commands at once.
      if (gate)
        gate->count(1 + segment.numNodes / 8);
      Result<bool> launched = launchGraph(segment);
      if (launched ? *launched : launched.status().code() == ErrorCode::DeviceLost) {
        begun = true;
        return launched.status();
      }
      // Nothing of it was handed over.
      ZYX_DEBUG(Runtime,
                "'" + name + "' goes on without a graph" + (launched ? "" : ": " + launched.status().toString()));
      segment.graph.reset();
    }
    return runSteps(segment.from, segment.to, false);
  }

  /// False where the commands are none of a graph's.
  Result<bool> launchGraph(Segment &segment) {
    if (segment.graph && segment.isStale && !segment.isChain &&
        !std::ranges::includes(segment.overlaps, boundMemory.overlaps())) {
      // Commands that may run at once there may not with this memory. A chain is right for any.
      segment.isChain = true;
      dropGraph(segment);
    }
    for (size_t i = segment.from; i < segment.to && segment.graph && segment.isStale; ++i) {
      if (!steps[i].isStale)
        continue;
      Result<bool> changed = updateGraph(*segment.graph, steps[i]);
      if (!changed && changed.status().code() == ErrorCode::DeviceLost)
        return changed.status();
      if (!changed || !*changed)
        dropGraph(segment);
    }
    if (!segment.graph) {
      if (++segment.numGraphs > mostGraphs)
        return false;
      segment.graph = backend.createGraph();
      if (!segment.graph)
        return false;
      for (size_t i = segment.from; i < segment.to; ++i)
        steps[i].nodes.clear();
      if (!segment.isChain)
        segment.overlaps = boundMemory.overlaps();
      GraphInMaking made(*segment.graph, segment.isChain);
      ZYX_ASSIGN_OR_RETURN(const bool added, addToGraph(made, segment.from, segment.to));
      if (!added)
        return false;
      ZYX_RETURN_IF_ERROR(context->check(segment.graph->finish(), making));
      ZYX_DEBUG(Runtime, "made a graph of " + std::to_string(made.numNodes()) + " commands, with " +
                             std::to_string(made.numEdges) + " edges");
    }
    segment.isStale = false;
    ZYX_RETURN_IF_ERROR(context->check(segment.graph->launch(stream), "launch a graph of commands"));
    return true;
  }

  void dropGraph(Segment &segment) {
    // A run that was handed over may still be in it.
    (void)backend.synchronize(stream);
    segment.graph.reset();
  }

  Status addNode(GraphInMaking &to, Step &step, const AnyCommand &command) {
    const Result<CommandGraph::Node> node =
        to.add(command, std::span(bytes).subspan(step.slot, step.numArguments), step.numRead);
    ZYX_RETURN_IF_ERROR(context->check(node.status(), making));
    step.nodes.push_back(*node);
    return Status::ok();
  }

  /// Adds what the steps [from, to) do; false where no node does that.
  Result<bool> addToGraph(GraphInMaking &graph, size_t from, size_t to) {
    for (size_t i = from; i < to; i = next(i)) {
      Step &step = steps[i];
      auto add = [&](const auto &command) { return addNode(graph, step, command); };
      step.isStale = false;
      if (step.kind != Step::Loop) {
        ZYX_ASSIGN_OR_RETURN(const bool added, describe(step, step.nodes.size(), add));
        if (!added)
          return false;
        continue;
      }
      bool areAdded = true;
      ZYX_RETURN_IF_ERROR(forEachTrip(i, step.trips, [&](int64_t trip, size_t first, size_t last) -> Status {
        if (!areAdded)
          return Status::ok();
        if (step.hasIndex)
          ZYX_RETURN_IF_ERROR(makeNumbers());
        if (step.hasIndex && !step.isNumberGiven)
          ZYX_RETURN_IF_ERROR(add(copyOfNumber(step, trip)));
        ZYX_ASSIGN_OR_RETURN(const bool added, addToGraph(graph, first, last));
        areAdded = added;
        return Status::ok();
      }));
      if (!areAdded)
        return false;
      // What is behind the loop may look at the last one.
      if (step.isNumberGiven && step.trips > 0)
        ZYX_RETURN_IF_ERROR(add(copyOfNumber(step, step.trips - 1)));
    }
    return true;
  }

  /// Changes all nodes of a step to what it does now; false where no node does that.
  Result<bool> updateGraph(CommandGraph &graph, Step &step) {
    // A copy to where it comes from has no node, other copies have one.
    if (step.kind == Step::Copy && step.size != 0 && isInPlace(step) != step.nodes.empty())
      return false;
    size_t count = 0;
    auto update = [&](const auto &command) {
      return context->check(graph.update(step.nodes[count++], command), "change a graph of commands");
    };
    while (count < step.nodes.size()) {
      if (step.kind == Step::Loop) {
        ZYX_RETURN_IF_ERROR(
            update(copyOfNumber(step, step.isNumberGiven ? step.trips - 1 : static_cast<int64_t>(count) % step.trips)));
        continue;
      }
      ZYX_ASSIGN_OR_RETURN(const bool updated, describe(step, count, update));
      if (!updated)
        return false;
    }
    step.isStale = false;
    return true;
  }

  /// Calls with what a step other than a loop does in its node of this number; false where no node does that.
  template <typename F> Result<bool> describe(Step &step, size_t node, F &&put) {
    if (step.isEmpty || (step.kind != Step::Launch && step.size == 0))
      return true;
    if (step.kind == Step::Launch) {
      ZYX_RETURN_IF_ERROR(withNumbers(step, node, numbers, [&]() -> Status {
        ZYX_ASSIGN_OR_RETURN(const LaunchCommand launch, launchOf(step));
        return put(launch);
      }));
    } else if (step.kind == Step::Copy) {
      if (isInPlace(step))
        return true;
      const CopyCommand copy = copyOf(step);
      if (!copy.isApart() || step.size > context->facts().largestCopyInGraph)
        return false;
      ZYX_RETURN_IF_ERROR(put(copy));
    } else {
      ZYX_RETURN_IF_ERROR(put(fillOf(step)));
    }
    return true;
  }

  /// What a launch is now.
  Result<LaunchCommand> launchOf(const Step &step) {
    for (size_t i = 0; i < step.numMaps; ++i)
      ZYX_RETURN_IF_ERROR(encode(maps[step.firstMap + i], *step.name));
    const LaunchShape &shape = step.shape;
    const std::span<const KernelArgument> its = std::span(slots).subspan(step.slot, step.numArguments);
    void **const values = parameters.data() + step.parameter;
    return LaunchCommand{step.kernel, shape.groups,    shape.threads, step.sharedBytes,  its,
                         values,      shape.isByGroup, step.waits,    step.clusterGroups};
  }
  /// Of the number of a loop's trip to where its body reads it, from a table: in a graph a fill of 8 bytes may be two.
  CopyCommand copyOfNumber(const Step &loop, int64_t trip) const {
    return {
        slots[loop.slot + loop.hasCount].memory, {numbers, sizeof(trip) * static_cast<uint64_t>(trip)}, sizeof(trip)};
  }
  Status makeHostWords(const char *action) {
    if (hostWords)
      return Status::ok();
    const Result<void *> made = backend.allocateHost(sizeof(int64_t) * static_cast<uint64_t>(1 + numNumbers));
    ZYX_RETURN_IF_ERROR(context->check(made.status(), action));
    hostWords = static_cast<int64_t *>(*made);
    std::iota(hostWords, hostWords + 1 + numNumbers, int64_t(-1));
    return Status::ok();
  }
  Status makeNumbers() {
    if (hasNumbers)
      return Status::ok();
    ZYX_RETURN_IF_ERROR(makeHostWords(numbering));
    const uint64_t size = static_cast<uint64_t>(numNumbers) * sizeof(*hostWords);
    const Result<uint64_t> memory = backend.allocate(stream, size);
    ZYX_RETURN_IF_ERROR(context->check(memory.status(), numbering));
    numbers = *memory;
    Status status = context->check(backend.upload(stream, {numbers, 0}, hostWords + 1, size), numbering);
    hasNumbers = status.isOk();
    if (!hasNumbers)
      (void)backend.free(stream, numbers);
    return status;
  }

  /// A device that waits for its host takes the host's time: a copy may take the driver longer to hand over than the
  /// device to make. So the stream is held where it can be. The first run loads the code of kernels, which may wait for
  /// the device.
  Status runTimed(size_t i) {
    if (times.empty())
      return runStep(steps[i]);
    if (hasRun)
      if (Status held = gate->close(); !held && held.code() != ErrorCode::Unsupported)
        return held;
    Status status = context->check(backend.record(stream, begin), measuring);
    if (status.isOk())
      status = runStep(steps[i]);
    if (status.isOk())
      status = context->check(backend.record(stream, end), measuring);
    gate->open();
    if (!status) {
      // The stream looks at the gate's word until it is past it.
      (void)backend.synchronize(stream);
      return status;
    }
    ZYX_RETURN_IF_ERROR(context->check(backend.synchronize(end), "run ",
                                       steps[i].name ? "kernel " + *steps[i].name : "a copy or fill"));
    const Result<uint64_t> took = backend.elapsed(begin, end);
    ZYX_RETURN_IF_ERROR(context->check(took.status(), measuring));
    times[i] += *took;
    return Status::ok();
  }

  Status runLoop(size_t at, bool asGraphs) {
    const Step &step = steps[at];
    int64_t trips = step.tripsAhead();
    return forEachTrip(at, trips, [&](int64_t trip, size_t from, size_t to) -> Status {
      if (step.isReadBefore(trip)) {
        if (gate)
          gate->open();
        ZYX_RETURN_IF_ERROR(makeHostWords(reading));
        ZYX_RETURN_IF_ERROR(
            context->check(backend.download(stream, hostWords, slots[step.slot].memory, step.countSize()), reading));
        ZYX_RETURN_IF_ERROR(context->synchronize(stream, reading));
        trips = step.tripsOf(*hostWords);
        if (trip >= trips)
          return Status::ok();
      }
      begun |= step.hasIndex;
      if (step.hasIndex)
        ZYX_RETURN_IF_ERROR(
            fill({slots[step.slot + step.hasCount].memory, sizeof(trip), static_cast<uint64_t>(trip), sizeof(trip)}));
      return runSteps(from, to, asGraphs);
    });
  }

  Status runStep(const Step &step) {
    if (gate)
      gate->count(1);
    if (step.kind == Step::Launch) {
      if (step.isEmpty)
        return Status::ok();
      ZYX_ASSIGN_OR_RETURN(const LaunchCommand launch, launchOf(step));
      const Status status = backend.launch(stream, launch);
      // What the driver refuses to launch writes nothing.
      begun |= status.isOk();
      return context->check(status, "launch kernel ", *step.name);
    }
    if (step.size == 0)
      return Status::ok();
    begun = true;
    return step.kind == Step::Copy ? context->copy(copyOf(step)) : fill(fillOf(step));
  }

  Status encode(BoundMap &map, const std::string &kernel) {
    MemoryRef memory = slots[map.slot].memory;
    memory.offset += map.what->offset;
    if (map.address == memory.address())
      return Status::ok();
    ZYX_RETURN_IF_ERROR(
        context->check(backend.encode(*map.what, memory, map.encoded), "describe a buffer of kernel ", kernel));
    map.address = memory.address();
    return Status::ok();
  }

  Status fill(const FillCommand &fill) { return context->check(backend.fill(stream, fill), "fill memory"); }

  const std::shared_ptr<StreamContext> context;
  Backend &backend;
  const StreamHandle stream;
  HostInputs hostInputs;
  BoundMemory boundMemory;
  /// Of the run that is submitted.
  uint64_t outputBytes = 0;
  /// Where steps of the init end.
  const std::vector<size_t> partEnds;
  std::vector<BoundMap> maps;
  std::vector<void *> parameters;
  /// The step of each value.
  std::vector<size_t> owners;
  static constexpr size_t none = SIZE_MAX;
  /// Which do not move.
  std::deque<Segment> segments;
  /// Of each step; `none` of loops that are walked, and of those that are too few.
  std::vector<size_t> segmentOf;
  /// The numbers of trips from 0 on, once a graph has a loop that counts them.
  uint64_t numbers = 0;
  bool hasNumbers = false;
  int64_t numNumbers = 0;
  /// For copies: how often a loop runs, and the numbers of trips.
  int64_t *hostWords = nullptr;
  static constexpr const char *measuring = "measure commands", *numbering = "number the trips of a loop",
                              *making = "make a graph of commands", *reading = "read how often a loop runs";
  /// Of the run whose commands are measured.
  std::span<uint64_t> times;
  EventHandle begin{}, end{};
  unsigned numEvents = 0;
  bool hasRun = false;
  /// While runs are measured, or one command after the other.
  std::optional<StreamGate> gate;
};

} // namespace

std::unique_ptr<Replay> runtime::recordStream(std::shared_ptr<StreamContext> context, const Artifact &artifact,
                                              std::span<const KernelHandle> kernels, MemoryRef scratch, Queue &queue) {
  return std::make_unique<StreamReplay>(std::move(context), artifact, kernels, scratch, queue);
}
