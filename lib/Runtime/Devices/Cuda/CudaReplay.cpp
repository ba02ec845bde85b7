//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../CommandStep.h"
#include "../../QueuedReplay.h"
#include "../../Thread.h"
#include "Cuda.h"
#include "CudaGraph.h"

#include "zyx/Base/Debug.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;
using artifact::Artifact;

namespace {

/// Threads of a workgroup, where each computes programs by itself: at most what kernels are compiled for.
constexpr int64_t mostThreads = 256, fewestThreads = 32;
/// Workgroups that each processor should have before they grow.
constexpr int64_t groupsPerProcessor = 2;
constexpr int64_t mostGroups = (int64_t(1) << 31) - 1;
/// Scratch memory of one launch, at most, unless one thread alone needs more.
constexpr uint64_t scratchBudget = uint64_t(256) << 20;

/// Commands that wait behind a gate, at most: where the driver's queue is full, a launch waits for the card, which
/// would wait for us.
constexpr size_t mostBehindGate = 256;

/// A word of the host that the card's stream waits for, so that it begins with what is behind it when all is handed
/// over. Nothing that waits for the card may happen while it is closed. Another thread, of a library that uses the same
/// card, may do so, and have what we need to go on: after a time the gate opens by itself.
class Gate {
public:
  explicit Gate(Card &card) : card(card) {}
  ~Gate() {
    open();
    if (word)
      (void)card.api().deallocateHost(word);
  }
  Gate(const Gate &) = delete;

  static constexpr std::chrono::seconds mostTime{1};

  Status close() {
    void *memory = nullptr;
    ZYX_RETURN_IF_ERROR(card.check(card.api().allocateHost(&memory, sizeof(*word), hostPortable | hostMapped), action));
    word = static_cast<uint32_t *>(memory);
    *word = 0;
    ZYX_ASSIGN_OR_RETURN(guard, Thread::start([this] {
                           std::unique_lock lock(mutex);
                           if (!isOver.wait_for(lock, mostTime, [this] { return hasOpened; })) {
                             setWord();
                             wasLate = true;
                           }
                         }));
    return card.check(card.api().streamWaitValue(card.stream(), reinterpret_cast<Address>(memory), 1, waitForEqual),
                      action);
  }
  void open() {
    {
      std::lock_guard lock(mutex);
      if (word)
        setWord();
      hasOpened = true;
    }
    isOver.notify_all();
    guard.join();
  }
  /// Whether it has opened by itself, before all was behind it.
  bool isLate() const { return wasLate; }

private:
  /// Atomically: the card reads the word meanwhile.
  void setWord() { std::atomic_ref(*word).store(1, std::memory_order_release); }

  static constexpr const char *action = "hold the device's stream";
  Card &card;
  uint32_t *word = nullptr;
  Thread guard;
  std::mutex mutex;
  std::condition_variable isOver;
  bool hasOpened = false, wasLate = false;
};

/// A tensor map of a launch. It is made anew where its buffer lies elsewhere.
struct BoundMap {
  TensorMap made = {};
  const artifact::TensorMap *what = nullptr;
  /// The value that holds the buffer's address, and the address of which `made` is.
  size_t slot = 0;
  Address address = 0;
};

/// Fewer commands are handed over one by one.
constexpr size_t fewestOfGraph = 2;
/// A graph takes about a microsecond for each node when it is made. Loops that have more are walked.
constexpr size_t mostNodes = 4096;
/// Longer copies take a third longer as nodes than what the driver does by itself.
constexpr uint64_t largestCopy = uint64_t(32) << 20;
/// How often a graph is made anew because buffers were bound for which it cannot be changed.
constexpr int mostGraphs = 4;

struct Step : CommandStep {
  using CommandStep::CommandStep;

  // Launch: its parameters, and those of them that are tensor maps.
  size_t parameter = 0, firstMap = 0, numMaps = 0;
  Function function = nullptr;
  LaunchShape shape;
  uint32_t sharedBytes = 0;
  const std::string *name = nullptr;
  bool isEmpty = false;
  // Copy: whether it writes some of what it reads, which no node does.
  bool overlaps = false;
  /// Of the graph that has it, in the order of the trips of loops around it: one for most, none for what does nothing.
  std::vector<Node> nodes;
  /// Whether buffers were bound since it was put there.
  bool isStale = false;
};

/// Steps [from, to), of whose loops the trips are known and few. From their second run on they are a graph, loops
/// being as many commands as they make.
struct Segment {
  size_t from = 0, to = 0, numNodes = 0;
  std::optional<CudaGraph> graph;
  /// Whether any of them is.
  bool isStale = false;
  bool hasRun = false;
  int numGraphs = 0;
};

class CudaReplay : public QueuedReplay, CommandSteps<Step, uint64_t> {
public:
  CudaReplay(std::shared_ptr<Card> ofCard, const Artifact &artifact, std::span<const Function> functions,
             uint64_t scratch, Queue &queue)
      : QueuedReplay(queue, artifact.entry), card(std::move(ofCard)), partEnds(artifact::endsOfInitSteps(artifact)) {
    makeSteps(artifact, [&](Step &step, const artifact::Command &command) {
      if (const auto *launch = std::get_if<artifact::Launch>(&command.action))
        addLaunch(step, *launch, artifact.kernels[launch->kernel], functions[launch->kernel], scratch);
      if (const auto *copy = std::get_if<artifact::Copy>(&command.action))
        step.overlaps = copy->source.buffer == copy->destination.buffer &&
                        std::max(copy->source.offset, copy->destination.offset) -
                                std::min(copy->source.offset, copy->destination.offset) <
                            copy->size;
    });
    // Neither slots nor maps move from here on.
    for (size_t i = 0; i < steps.size(); ++i) {
      const size_t end = i + 1 < steps.size() ? steps[i + 1].slot : slots.size();
      steps[i].parameter = parameters.size();
      for (size_t map = 0; map < steps[i].numMaps; ++map)
        parameters.push_back(&maps[steps[i].firstMap + map].made);
      for (size_t value = steps[i].slot; value < end; ++value) {
        parameters.push_back(&slots[value]);
        owners.push_back(i);
      }
    }
    makeSegments();
  }

  ~CudaReplay() override {
    const PushedContext inside(*card);
    segments.clear();
    if (numbers)
      (void)card->api().deallocate(numbers, card->stream());
    for (Event event : {begin, end})
      if (event)
        (void)card->api().eventDestroy(event);
  }

  void bind(uint32_t buffer, uint64_t handle, uint64_t offset) override {
    for (const auto &[slot, further] : uses[buffer]) {
      if (slots[slot] == handle + offset + further)
        continue;
      slots[slot] = handle + offset + further;
      const size_t step = owners[slot];
      steps[step].isStale = true;
      if (segmentOf[step] != none)
        segments[segmentOf[step]].isStale = true;
    }
  }

  Status run(Part part, std::span<uint64_t> nanoseconds) override {
    begun = false;
    const PushedContext inside(*card);
    ZYX_RETURN_IF_ERROR(inside.status());
    times = nanoseconds;
    if (!times.empty())
      ZYX_RETURN_IF_ERROR(makeEvents());
    Status status = runPart(part);
    // What was handed over before a failure still runs, and uses the memory.
    Status over = wait();
    return status.isOk() ? over : status;
  }

  Result<Measurement> measure(Part part, unsigned runs) override {
    const PushedContext inside(*card);
    ZYX_RETURN_IF_ERROR(inside.status());
    ZYX_RETURN_IF_ERROR(makeEvents());
    times = {};
    Gate closed(*card);
    ZYX_RETURN_IF_ERROR(closed.close());
    gate = &closed;
    numBehindGate = 0;
    const auto start = std::chrono::steady_clock::now();
    Status status = card->check(card->api().eventRecord(begin, card->stream()), measuring);
    for (unsigned i = 0; i < runs && status.isOk(); ++i)
      status = runPart(part);
    if (status.isOk())
      status = card->check(card->api().eventRecord(end, card->stream()), measuring);
    const auto host = std::chrono::steady_clock::now() - start;
    closed.open();
    gate = nullptr;
    Status over = wait();
    ZYX_RETURN_IF_ERROR(status);
    ZYX_RETURN_IF_ERROR(over);
    if (closed.isLate())
      return Status::aborted("runs of '" + name + "' were not handed over within " +
                             std::to_string(Gate::mostTime.count()) +
                             " s, so that nothing is known of their time: another thread may wait for the device");
    float milliseconds = 0;
    ZYX_RETURN_IF_ERROR(card->check(card->api().eventElapsed(&milliseconds, begin, end), measuring));
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(host).count();
    return Measurement{static_cast<uint64_t>(milliseconds * 1e6), static_cast<uint64_t>(nanoseconds)};
  }

private:
  std::function<bool(const Fence &)> fenceTest() const override { return Card::isFence; }
  /// Other cards may begin behind the run as soon as it is handed over.
  Status runBehind(Part part, const Fences &fences, const Point &signal) override {
    begun = false;
    const PushedContext inside(*card);
    ZYX_RETURN_IF_ERROR(inside.status());
    for (const std::shared_ptr<Fence> &fence : fences)
      ZYX_RETURN_IF_ERROR(card->wait(*fence));
    times = {};
    Status status = runPart(part);
    if (status.isOk())
      status = announce(signal);
    Status over = wait();
    return status.isOk() ? over : status;
  }

  Status announce(const Point &signal) {
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Fence> fence, card->record());
    if (fence)
      signal.timeline->announce(signal.value, std::move(fence));
    return Status::ok();
  }

  Status makeEvents() {
    for (Event *event : {&begin, &end})
      if (!*event)
        ZYX_RETURN_IF_ERROR(card->check(card->api().eventCreate(event, eventDefault), "make an event"));
    return Status::ok();
  }

  Status runPart(Part part) { return runSteps(part.from, part.to); }

  Status wait() {
    const Code code = card->api().streamSynchronize(card->stream());
    // Describing the run takes longer than many a run.
    return code == 0 ? Status::ok() : card->check(code, "run '" + name + "' (" + describeKernels() + ")");
  }

  /// Behind its buffers.
  void addLaunch(Step &step, const artifact::Launch &launch, const artifact::Kernel &kernel, Function function,
                 uint64_t scratch) {
    const int64_t programs = launch.grid[0] * launch.grid[1] * launch.grid[2];
    step.function = function;
    step.name = &kernel.name;
    step.isEmpty = programs <= 0;
    step.shape = shapeOf(kernel, programs, card->facts().processors);
    step.sharedBytes = kernel.sharedBytes;
    for (int64_t scalar : launch.scalars)
      slots.push_back(static_cast<uint64_t>(scalar));
    slots.push_back(scratch);
    slots.push_back(static_cast<uint64_t>(programs));
    step.firstMap = maps.size();
    step.numMaps = kernel.tensorMaps.size();
    for (const artifact::TensorMap &map : kernel.tensorMaps)
      maps.push_back({{}, &map, step.slot + map.buffer, 0});
  }

  /// The driver does not say which one failed.
  std::string describeKernels() const {
    constexpr size_t most = 8;
    std::vector<std::string_view> names;
    for (const Step &step : steps)
      if (step.name && std::ranges::find(names, *step.name) == names.end())
        names.push_back(*step.name);
    std::string text = names.empty() ? "no kernel" : names.size() == 1 ? "kernel " : "kernels ";
    for (size_t i = 0; i < std::min(names.size(), most); ++i)
      text += (i ? ", " : "") + std::string(names[i]);
    return text + (names.size() > most ? ", and " + std::to_string(names.size() - most) + " more" : "");
  }

  /// Of the steps [from, to): at most so many, or more than `mostNodes` where they are none of a graph's.
  size_t numNodesOf(size_t from, size_t to) const {
    size_t count = 0;
    for (size_t i = from; i < to && count <= mostNodes; i = next(i))
      count += numNodesOf(i);
    return count;
  }
  size_t numNodesOf(size_t i) const {
    const Step &step = steps[i];
    if (step.kind != Step::Loop)
      return step.overlaps ? mostNodes + 1 : step.kind == Step::Fill ? 2 : 1;
    if (step.hasCount || step.trips > static_cast<int64_t>(mostNodes))
      return mostNodes + 1;
    const auto numBodies = static_cast<int64_t>(step.ends.size());
    size_t count = 0;
    for (int64_t body = 0; body < std::min(numBodies, step.trips) && count <= mostNodes; ++body) {
      const auto [from, to] = artifact::bodyOf(step.ends, i, body);
      const int64_t trips = (step.trips - body + numBodies - 1) / numBodies;
      count += static_cast<size_t>(trips) * (step.hasIndex + numNodesOf(from, to));
    }
    return count;
  }
  bool isWalked(size_t i) const { return numNodesOf(i) > mostNodes; }

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
      if (numNodes < fewestOfGraph)
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
      countBehindGate(1 + segment.numNodes / 8);
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
    for (size_t i = segment.from; i < segment.to && segment.graph && segment.isStale; ++i) {
      if (!steps[i].isStale)
        continue;
      Result<bool> changed = updateGraph(*segment.graph, steps[i]);
      if (!changed && changed.status().code() == ErrorCode::DeviceLost)
        return changed.status();
      if (!changed || !*changed)
        segment.graph.reset();
    }
    if (!segment.graph) {
      if (++segment.numGraphs > mostGraphs)
        return false;
      segment.graph.emplace(*card);
      for (size_t i = segment.from; i < segment.to; ++i)
        steps[i].nodes.clear();
      ZYX_ASSIGN_OR_RETURN(const bool added, addToGraph(*segment.graph, segment.from, segment.to));
      if (!added)
        return false;
      ZYX_RETURN_IF_ERROR(segment.graph->finish());
    }
    segment.isStale = false;
    ZYX_RETURN_IF_ERROR(segment.graph->launch());
    return true;
  }

  /// Adds what the steps [from, to) do; false where no node does that.
  Result<bool> addToGraph(CudaGraph &graph, size_t from, size_t to) {
    for (size_t i = from; i < to; i = next(i)) {
      Step &step = steps[i];
      auto add = [&](const auto &command) { return graph.add(command, step.nodes.emplace_back()); };
      step.isStale = false;
      if (step.kind != Step::Loop) {
        ZYX_ASSIGN_OR_RETURN(const bool added, describe(step, add));
        if (!added)
          return false;
        continue;
      }
      bool areAdded = true;
      ZYX_RETURN_IF_ERROR(forEachTrip(i, step.trips, [&](int64_t trip, size_t first, size_t last) -> Status {
        if (!areAdded)
          return Status::ok();
        if (step.hasIndex) {
          ZYX_RETURN_IF_ERROR(makeNumbers());
          ZYX_RETURN_IF_ERROR(add(copyOfNumber(step, trip)));
        }
        ZYX_ASSIGN_OR_RETURN(const bool added, addToGraph(graph, first, last));
        areAdded = added;
        return Status::ok();
      }));
      if (!areAdded)
        return false;
    }
    return true;
  }

  /// Changes all nodes of a step to what it does now; false where no node does that.
  Result<bool> updateGraph(CudaGraph &graph, Step &step) {
    // A copy to where it comes from has no node, other copies have one.
    if (step.kind == Step::Copy && step.size != 0 && isInPlace(step) != step.nodes.empty())
      return false;
    size_t count = 0;
    auto update = [&](const auto &command) { return graph.update(step.nodes[count++], command); };
    while (count < step.nodes.size()) {
      if (step.kind == Step::Loop) {
        ZYX_RETURN_IF_ERROR(update(copyOfNumber(step, static_cast<int64_t>(count) % step.trips)));
        continue;
      }
      ZYX_ASSIGN_OR_RETURN(const bool updated, describe(step, update));
      if (!updated)
        return false;
    }
    step.isStale = false;
    return true;
  }

  /// Calls with the node, or the nodes, of what a step other than a loop does; false where no node does that.
  template <typename F> Result<bool> describe(Step &step, F &&put) {
    if (step.isEmpty || (step.kind != Step::Launch && step.size == 0))
      return true;
    if (step.kind == Step::Launch) {
      for (size_t i = 0; i < step.numMaps; ++i)
        ZYX_RETURN_IF_ERROR(update(maps[step.firstMap + i], *step.name));
      KernelNode kernel;
      kernel.function = step.function;
      kernel.groups[0] = step.shape.groups;
      kernel.threads[0] = step.shape.threads;
      kernel.sharedBytes = step.sharedBytes;
      kernel.parameters = parameters.data() + step.parameter;
      ZYX_RETURN_IF_ERROR(put(kernel));
    } else if (step.kind == Step::Copy) {
      if (isInPlace(step))
        return true;
      const CopyNode copy = copyNode(slots[step.slot + 1], slots[step.slot], step.size);
      const bool isApart =
          copy.to.address >= copy.from.address + step.size || copy.from.address >= copy.to.address + step.size;
      if (!isApart || step.size > largestCopy)
        return false;
      ZYX_RETURN_IF_ERROR(put(copy));
    } else {
      FillNode fill;
      fill.address = slots[step.slot];
      fill.value = static_cast<unsigned>(step.pattern);
      fill.elementBytes = std::min<unsigned>(step.patternSize, 4);
      fill.width = step.size / fill.elementBytes;
      const auto high = static_cast<unsigned>(step.pattern >> 32);
      if (step.patternSize == 8 && fill.value != high) {
        // Both halves as columns of rows of 8 bytes.
        fill.pitch = 8;
        fill.width = 1;
        fill.height = step.size / 8;
        ZYX_RETURN_IF_ERROR(put(fill));
        fill.address += 4;
        fill.value = high;
      }
      ZYX_RETURN_IF_ERROR(put(fill));
    }
    return true;
  }

  /// Whether a copy changes nothing: what is given up for its own update is there already.
  bool isInPlace(const Step &step) const { return slots[step.slot + 1] == slots[step.slot]; }

  static CopyNode copyNode(Address to, Address from, uint64_t size) {
    CopyNode copy;
    copy.from.address = from;
    copy.to.address = to;
    copy.width = copy.from.pitch = copy.to.pitch = size;
    return copy;
  }
  /// Of the number of a loop's trip to where its body reads it: one node, where a fill of 8 bytes would be two.
  CopyNode copyOfNumber(const Step &loop, int64_t trip) const {
    return copyNode(slots[loop.slot + loop.hasCount], numbers + sizeof(trip) * static_cast<uint64_t>(trip),
                    sizeof(trip));
  }
  Status makeNumbers() {
    if (numbers)
      return Status::ok();
    hostNumbers.resize(static_cast<size_t>(numNumbers));
    std::iota(hostNumbers.begin(), hostNumbers.end(), int64_t(0));
    const Driver &api = card->api();
    const uint64_t size = hostNumbers.size() * sizeof(hostNumbers[0]);
    Address memory = 0;
    ZYX_RETURN_IF_ERROR(card->check(api.allocate(&memory, size, card->memoryPool(), card->stream()), numbering));
    Status status = card->check(api.copyIn(memory, hostNumbers.data(), size, card->stream()), numbering);
    if (status.isOk())
      numbers = memory;
    else
      (void)api.deallocate(memory, card->stream());
    return status;
  }

  Status runTimed(size_t i) {
    if (times.empty())
      return runStep(steps[i]);
    const Driver &api = card->api();
    const char *action = measuring;
    float milliseconds = 0;
    ZYX_RETURN_IF_ERROR(card->check(api.eventRecord(begin, card->stream()), action));
    ZYX_RETURN_IF_ERROR(runStep(steps[i]));
    ZYX_RETURN_IF_ERROR(card->check(api.eventRecord(end, card->stream()), action));
    ZYX_RETURN_IF_ERROR(
        card->check(api.eventSynchronize(end),
                    "run " + (steps[i].name ? "kernel " + *steps[i].name : std::string("a copy or fill"))));
    ZYX_RETURN_IF_ERROR(card->check(api.eventElapsed(&milliseconds, begin, end), action));
    times[i] += static_cast<uint64_t>(milliseconds * 1e6);
    return Status::ok();
  }

  Status runLoop(size_t at, bool asGraphs) {
    const Step &step = steps[at];
    int64_t trips = step.trips;
    if (step.hasCount) {
      const char *action = "read how often a loop runs";
      openGate();
      ZYX_RETURN_IF_ERROR(
          card->check(card->api().copyOut(&trips, slots[step.slot], sizeof(trips), card->stream()), action));
      ZYX_RETURN_IF_ERROR(card->synchronize(action));
    }
    return forEachTrip(at, trips, [&](int64_t trip, size_t from, size_t to) -> Status {
      begun |= step.hasIndex;
      if (step.hasIndex)
        ZYX_RETURN_IF_ERROR(
            fill(slots[step.slot + step.hasCount], sizeof(trip), static_cast<uint64_t>(trip), sizeof(trip)));
      return runSteps(from, to, asGraphs);
    });
  }

  void openGate() {
    if (gate)
      gate->open();
  }

  void countBehindGate(size_t commands) {
    numBehindGate += commands;
    if (numBehindGate >= mostBehindGate)
      openGate();
  }

  Status runStep(const Step &step) {
    countBehindGate(1);
    if (step.kind == Step::Launch) {
      if (step.isEmpty)
        return Status::ok();
      for (size_t i = 0; i < step.numMaps; ++i)
        ZYX_RETURN_IF_ERROR(update(maps[step.firstMap + i], *step.name));
      const Code code =
          card->api().launch(step.function, step.shape.groups, 1, 1, step.shape.threads, 1, 1, step.sharedBytes,
                             card->stream(), parameters.data() + step.parameter, nullptr);
      // What the driver refuses to launch writes nothing.
      begun |= code == 0;
      return card->check(code, "launch kernel " + *step.name);
    }
    if (step.size == 0)
      return Status::ok();
    begun = true;
    if (step.kind == Step::Copy)
      return copy(slots[step.slot + 1], slots[step.slot], step.size);
    return fill(slots[step.slot], step.size, step.pattern, step.patternSize);
  }

  Status update(BoundMap &map, const std::string &kernel) {
    const Address address = slots[map.slot] + map.what->offset;
    if (map.address == address)
      return Status::ok();
    const artifact::TensorMap &what = *map.what;
    const int type = what.elementBytes == 1   ? tensorMapBytes
                     : what.elementBytes == 2 ? tensorMapShorts
                                              : tensorMapWords;
    const int swizzle = what.swizzle == 32 ? 1 : what.swizzle == 64 ? 2 : 3;
    const auto rank = static_cast<unsigned>(what.extents.size());
    void *const memory = reinterpret_cast<void *>(address);
    // Of pixels the steps along positions, which are behind the channels.
    std::array<unsigned, artifact::maxTensorMapRank> steps = {1, 1, 1, 1, 1};
    std::copy(what.steps.begin(), what.steps.end(), steps.begin() + 1);
    const Driver &api = card->api();
    const Code code =
        what.low.empty()
            ? api.tensorMapEncode(&map.made, type, rank, memory, what.extents.data(), what.strides.data(),
                                  what.box.data(), steps.data(), tensorMapNotInterleaved, swizzle,
                                  tensorMapFetches256Bytes, tensorMapFillsZero)
            : api.tensorMapEncodePixels(&map.made, type, rank, memory, what.extents.data(), what.strides.data(),
                                        what.low.data(), what.high.data(), what.box[0], what.box[1], steps.data(),
                                        tensorMapNotInterleaved, swizzle, tensorMapFetches256Bytes, tensorMapFillsZero);
    ZYX_RETURN_IF_ERROR(card->check(code, "describe a buffer of kernel " + kernel));
    map.address = address;
    return Status::ok();
  }

  Status copy(Address to, Address from, uint64_t size) {
    const Driver &api = card->api();
    const char *action = "copy within the device";
    if (to == from)
      return Status::ok();
    if (to >= from + size || from >= to + size)
      return card->check(api.copy(to, from, size, card->stream()), action);
    Address temporary = 0;
    ZYX_RETURN_IF_ERROR(
        card->check(api.allocate(&temporary, size, card->memoryPool(), card->stream()), "allocate memory for a copy"));
    Status status = card->check(api.copy(temporary, from, size, card->stream()), action);
    if (status.isOk())
      status = card->check(api.copy(to, temporary, size, card->stream()), action);
    Status freed = card->check(api.deallocate(temporary, card->stream()), "free memory of a copy");
    return status.isOk() ? freed : status;
  }

  Status fill(Address to, uint64_t size, uint64_t pattern, uint8_t patternSize) {
    const Driver &api = card->api();
    const Stream stream = card->stream();
    const char *action = "fill memory";
    const auto low = static_cast<uint32_t>(pattern), high = static_cast<uint32_t>(pattern >> 32);
    switch (patternSize) {
    case 1:
      return card->check(api.fill8(to, static_cast<uint8_t>(pattern), size, stream), action);
    case 2:
      return card->check(api.fill16(to, static_cast<uint16_t>(pattern), size / 2, stream), action);
    case 4:
      return card->check(api.fill32(to, low, size / 4, stream), action);
    default:
      if (low == high)
        return card->check(api.fill32(to, low, size / 4, stream), action);
      // Both halves as columns of rows of 8 bytes.
      ZYX_RETURN_IF_ERROR(card->check(api.fillRows32(to, 8, low, 1, size / 8, stream), action));
      return card->check(api.fillRows32(to + 4, 8, high, 1, size / 8, stream), action);
    }
  }

  const std::shared_ptr<Card> card;
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
  /// The numbers of trips from 0 on, on the card and where they are copied from, once a graph has a loop that counts
  /// them.
  Address numbers = 0;
  int64_t numNumbers = 0;
  std::vector<int64_t> hostNumbers;
  static constexpr const char *measuring = "measure commands", *numbering = "number the trips of a loop";
  /// Of the run whose commands are measured.
  std::span<uint64_t> times;
  Event begin = nullptr, end = nullptr;
  /// While runs are measured, and how many commands stand behind it.
  Gate *gate = nullptr;
  size_t numBehindGate = 0;
};

} // namespace

LaunchShape cuda::shapeOf(const artifact::Kernel &kernel, int64_t programs, int processors) {
  LaunchShape shape;
  if (programs <= 0)
    return shape;
  auto groupsOf = [&](int64_t threads) { return (programs + threads - 1) / threads; };
  if (kernel.groupThreads != 0) {
    const int64_t cluster = std::max<int64_t>(kernel.clusterGroups, 1);
    int64_t most = kernel.tensorMaps.empty() || cluster > 1 ? mostGroups : processors;
    if (const uint64_t each = kernel.groupThreads * kernel.stackBytes)
      most = std::min(most, static_cast<int64_t>(scratchBudget / each));
    const int64_t groups = std::min(programs, std::max<int64_t>(most / cluster, 1)) * cluster;
    shape.threads = kernel.groupThreads;
    shape.groups = static_cast<unsigned>(groups);
    shape.scratchBytes = static_cast<uint64_t>(groups) * kernel.groupThreads * kernel.stackBytes;
    return shape;
  }
  int64_t threads = mostThreads;
  while (threads > fewestThreads && groupsOf(threads) < groupsPerProcessor * processors)
    threads /= 2;
  int64_t groups = std::min(groupsOf(threads), mostGroups);
  if (kernel.stackBytes != 0) {
    const auto most = std::max<int64_t>(static_cast<int64_t>(scratchBudget / kernel.stackBytes), 1);
    threads = std::min(threads, most);
    groups = std::min(groups, most / threads);
  }
  shape.threads = static_cast<unsigned>(threads);
  shape.groups = static_cast<unsigned>(groups);
  shape.scratchBytes = static_cast<uint64_t>(threads * groups) * kernel.stackBytes;
  return shape;
}

std::unique_ptr<Replay> cuda::recordReplay(std::shared_ptr<Card> card, const Artifact &artifact,
                                           std::span<const Function> functions, uint64_t scratch, Queue &queue) {
  return std::make_unique<CudaReplay>(std::move(card), artifact, functions, scratch, queue);
}
