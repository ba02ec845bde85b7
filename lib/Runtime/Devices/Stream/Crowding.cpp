//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Crowding.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;

/// Two warps for each of the four schedulers of a multiprocessor, and no more than that part of it: what a warp waits
/// for takes longer than what all of them do.
static constexpr uint64_t fewThreads = 256, fewOfResident = 4;

static uint64_t divideUp(uint64_t x, uint64_t y) { return (x + y - 1) / y; }

Crowding runtime::crowdingOf(const Occupancy &before, const Occupancy &behind, uint64_t processors) {
  const uint64_t alone = std::min(behind.resident, divideUp(behind.groups, processors)),
                 most = std::min(behind.resident, behind.groups), full = divideUp(before.groups, processors);
  // Of several waves some multiprocessors are free before others. Clusters lie where there is room for all of one.
  if (most == alone || full > before.resident || before.hasClusters || behind.hasClusters)
    return {alone, most};
  // So many multiprocessors have `full` of the kernel before, and the others one less.
  const uint64_t numFull = before.groups - (full - 1) * processors, numOthers = processors - numFull;
  // Each of its workgroups takes at most that part of a multiprocessor of which `resident` are all.
  const auto roomBeside = [&](uint64_t groups) {
    return behind.resident * (before.resident - groups) / before.resident;
  };
  // While it is at work shared memory is divided from the first cache as it needs it: for so many as may be resident.
  const auto sharedBeside = [&](uint64_t groups) {
    return groups == 0 ? most : (before.resident - groups) * before.sharedBytes / behind.sharedBytes;
  };
  // These have at most so many less of the kernel behind, as none has more room than one with nothing else.
  const uint64_t less = numOthers == 0 ? 0 : behind.resident - roomBeside(full);
  for (uint64_t count = alone; count < most; ++count) {
    const uint64_t onOthers = std::min({count, roomBeside(full - 1), sharedBeside(full - 1)}),
                   onFull = std::min({count - std::min(count, less), roomBeside(full), sharedBeside(full)});
    if (numOthers * onOthers + numFull * onFull >= behind.groups)
      return {alone, count};
  }
  return {alone, most};
}

bool runtime::isUncrowded(const Occupancy &before, const Occupancy &behind, uint64_t processors) {
  const Crowding crowding = crowdingOf(before, behind, processors);
  return crowding.beside == crowding.alone ||
         (crowding.beside * behind.threads <= fewThreads && crowding.beside * fewOfResident <= behind.resident);
}
