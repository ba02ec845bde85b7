//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMSTEPS_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMSTEPS_H

#include "../../CommandStep.h"
#include "BoundMemory.h"
#include "StreamDevice.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zyx::runtime {

/// A tensor map of a launch. It is encoded anew where its buffer lies elsewhere.
struct BoundMap {
  EncodedTensorMap encoded;
  const artifact::TensorMap *what = nullptr;
  /// The slot that holds the buffer, and the address that `encoded` has.
  size_t slot = 0;
  uint64_t address = 0;
};

/// A graph takes about a microsecond for each node when it is made. Loops that have more are walked.
inline constexpr size_t mostNodes = 4096;
/// How often a graph is made anew because buffers were bound for which it cannot be changed.
inline constexpr int mostGraphs = 4;

struct Step : CommandStep {
  using CommandStep::CommandStep;

  // Launch: its arguments begin at `slot`, and its parameters with its tensor maps. It reads its first buffers, and
  // writes the others.
  size_t numArguments = 0, parameter = 0, firstMap = 0, numMaps = 0;
  size_t numRead = 0, numBuffers = 0;
  bool waits = false;
  /// Where an argument is the number of the trip of a loop around it: its slot, and the loop.
  std::vector<std::pair<size_t, size_t>> numbers;
  KernelHandle kernel{};
  LaunchShape shape;
  uint32_t sharedBytes = 0, clusterGroups = 0;
  const std::string *name = nullptr;
  bool isEmpty = false;
  // Copy: whether it writes some of what it reads, which no node does.
  bool overlaps = false;
  // Loop: all that reads the number of a trip is launches that find it in a table, in a graph: nothing is copied for
  // each trip.
  bool isNumberGiven = false;
  /// The loop around it, and which of its bodies it is in.
  size_t around = SIZE_MAX, body = 0;
  /// Of the graph that has it, in the order of the trips of loops around it: one for most, none for what does nothing.
  std::vector<CommandGraph::Node> nodes;
  /// Whether buffers were bound since it was put there.
  bool isStale = false;
};

/// Steps [from, to), of whose loops the trips are known and few. From their second run on they are a graph, loops
/// being as many commands as they make.
struct Segment {
  size_t from = 0, to = 0, numNodes = 0;
  std::unique_ptr<CommandGraph> graph;
  /// Each command is behind the one before. Of others the graph is right for memory that overlaps as it did then.
  bool isChain = true;
  std::vector<Overlap> overlaps;
  /// Whether any of them is.
  bool isStale = false;
  bool hasRun = false;
  int numGraphs = 0;
};

struct StreamSteps : CommandSteps<Step, KernelArgument> {
  /// For each slot, how much a command may touch behind the address that it has.
  std::vector<uint64_t> bytes;

  /// Finds launches that may find the numbers of trips in a table.
  void giveNumbers(const artifact::Artifact &artifact);
  /// Which trip of a loop around a step it is in for its node of this number.
  int64_t tripOf(size_t step, size_t loop, size_t node) const;

  /// Has the numbers of trips as arguments of a launch for a call, which are those of the loops' memory otherwise.
  template <typename F> Status withNumbers(const Step &step, size_t node, uint64_t table, F &&call) {
    std::vector<KernelArgument> bound;
    for (const auto &[slot, loop] : step.numbers) {
      const auto trip = static_cast<uint64_t>(tripOf(static_cast<size_t>(&step - steps.data()), loop, node));
      const MemoryRef memory{table, sizeof(int64_t) * trip};
      bound.push_back(std::exchange(slots[slot], {memory.address(), memory, true}));
    }
    const Status status = call();
    for (size_t i = 0; i < bound.size(); ++i)
      slots[step.numbers[i].first] = bound[i];
    return status;
  }

  CopyCommand copyOf(const Step &step) const {
    return {slots[step.slot + 1].memory, slots[step.slot].memory, step.size};
  }
  FillCommand fillOf(const Step &step) const {
    return {slots[step.slot].memory, step.size, step.pattern, step.patternSize};
  }
  /// Whether a copy changes nothing: what is donated to its own update is there already.
  bool isInPlace(const Step &step) const { return slots[step.slot + 1].value == slots[step.slot].value; }

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
      count += static_cast<size_t>(trips) * ((step.hasIndex && !step.isNumberGiven) + numNodesOf(from, to));
    }
    return count + step.isNumberGiven;
  }
  bool isWalked(size_t i) const { return numNodesOf(i) > mostNodes; }
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMSTEPS_H
