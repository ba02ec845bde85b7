//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMSTEPS_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMSTEPS_H

#include "../../CommandStep.h"
#include "StreamDevice.h"

#include <memory>
#include <string>
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

  // Launch: its arguments begin at `slot`, and its parameters with its tensor maps.
  size_t numArguments = 0, parameter = 0, firstMap = 0, numMaps = 0;
  KernelHandle kernel{};
  LaunchShape shape;
  uint32_t sharedBytes = 0;
  const std::string *name = nullptr;
  bool isEmpty = false;
  // Copy: whether it writes some of what it reads, which no node does.
  bool overlaps = false;
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
  /// Whether any of them is.
  bool isStale = false;
  bool hasRun = false;
  int numGraphs = 0;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMSTEPS_H
