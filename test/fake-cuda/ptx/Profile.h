//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Counts what kernels ask of a GPU while they are executed, and estimates the time that this takes at least. It finds
// kernels that read memory in pieces, spill, or leave most of the GPU idle; it does not replace a measurement.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_PTX_PROFILE_H
#define ZYX_TEST_FAKECUDA_PTX_PROFILE_H

#include "Program.h"

#include <array>
#include <string>
#include <vector>

namespace zyx::ptx {

struct Launch;
struct Warp;

/// What so many workgroups did, in cycles where nothing else is said.
struct Counts {
  double issue = 0, special = 0, tensor = 0;
  /// Passes through the unit of loads and stores, of 128 bytes at most.
  double wavefronts = 0;
  /// Global memory: accesses of warps, the sectors of 32 bytes that each needs, and those that the first cache lacks.
  double requests = 0, sectors = 0, missed = 0;
  double sharedRequests = 0, sharedWavefronts = 0, localRequests = 0;
  /// Of the warp that takes longest, summed up over workgroups.
  double latency = 0;
  double instructions = 0, groups = 0;

  void add(const Counts &other);
};

/// Of one host thread, which executes one cluster after the other.
class Profiler {
public:
  explicit Profiler(const Launch &launch);

  void beginCluster();
  void endCluster();
  /// A lane reads or writes memory, for the instruction that is noted next.
  void touch(Space space, uint64_t address, uint64_t bytes, bool isWrite);
  /// A warp has executed an instruction.
  void note(const Warp &warp, const Instruction &instruction);

  Counts counts;

private:
  struct Path {
    double cycles = 0;
    bool hasMissed = false, hasHit = false;
  };
  void noteGlobal(Path &path, bool isPastL1);
  void noteShared(Path &path);

  const Launch &launch;
  std::vector<Path> paths;
  /// The first cache's part of a workgroup: the line that each set has, and which of its sectors.
  std::vector<std::pair<uint64_t, uint8_t>> lines;
  struct Access {
    uint64_t address, bytes;
    bool isWrite;
  };
  std::vector<Access> global, shared;
  bool touchedLocal = false;
};

/// Workgroups of a launch that a multiprocessor holds at once.
unsigned residentGroups(const Launch &launch);

/// A line about a launch: its name, its shape, the microseconds that it takes at least on an H200, what these are made
/// of, and what was counted.
std::string describe(const Launch &launch, Counts counts);
/// The names of that line's columns.
const char *profileColumns();

} // namespace zyx::ptx

#endif // ZYX_TEST_FAKECUDA_PTX_PROFILE_H
