//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_FIRSTELEMENTS_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_FIRSTELEMENTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>

namespace zyx::graph::ir {

/// Of a sort, how many of its first elements are read, an integer: what lies behind them may be anything. Fusion
/// writes it, and removes what a text says.
inline constexpr llvm::StringLiteral firstElementsAttrName = "zyx.first";

/// Of a sort, of how many runs of one length its rows consist, each of which is sorted as the row is to be: an integer
/// that fusion writes, too.
inline constexpr llvm::StringLiteral runsAttrName = "zyx.runs";

/// From so many runs on a workgroup gathers what belongs to its part of the result and sorts that. Of fewer runs each
/// element looks for its place by itself, which takes as many bisections as there are runs.
inline constexpr int64_t fewestRunsOfTiles = 12;

/// Threads of a workgroup that sorts its part of the result of sorted runs, as many of which there may be: with two
/// words for each element, and eight for each run.
inline int64_t threadsOfRunTiles(int64_t wordBytes, int64_t subgroup, int64_t sharedBytes, int64_t mostThreads) {
  constexpr int64_t wantedThreads = 256, items = 7, runBytes = 64;
  int64_t threads = std::min(wantedThreads, mostThreads);
  while (threads > subgroup && threads * (2 * items * wordBytes + runBytes) > sharedBytes / 2)
    threads /= 2;
  return threads;
}

/// How many elements a thread of a cluster's workgroup sorts, and how many all of them at most: two words each have
/// room in half of the shared memory.
inline constexpr int64_t clusterItems = 13;
inline int64_t countOfCluster(int64_t size, int64_t subgroup, int64_t sharedBytes) {
  constexpr int64_t wordBytes = 8;
  const int64_t step = clusterItems * subgroup;
  return size < 2 ? 0 : size * (sharedBytes / 2 / (2 * wordBytes) / step * step);
}

/// How a workgroup finds the first elements of a row in one pass. They are among those of as many threads, whose own
/// first ones come first of all threads', and none of them comes behind the last of these own first ones: of each of
/// these threads what comes behind that is no candidate. Of numbers in any order nearly as many are left as are wanted.
struct FirstThreads {
  /// What a thread sorts by itself: an odd number, which lies in other banks of shared memory for each thread.
  static constexpr int64_t sortedItems = 7;
  int64_t extent, first, threads;

  /// `wantedItems`: elements of a thread, where rows are short.
  FirstThreads(int64_t extent, int64_t first, int64_t subgroup, int64_t sharedBytes, int64_t mostThreads,
               int64_t wantedItems = 8)
      : extent(extent), first(first) {
    constexpr int64_t wordBytes = 8;
    const int64_t wanted = std::max((extent + wantedItems - 1) / wantedItems, 2 * first);
    threads =
        std::clamp(static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(wanted))), subgroup, mostThreads);
    while (threads > subgroup && 2 * threads * sortedItems * wordBytes > sharedBytes / 2)
      threads /= 2;
  }
  /// Whether threads are more than the elements that are wanted, and these few of all.
  bool isEnough() const {
    constexpr int64_t share = 8;
    return first > 0 && 2 * first <= threads && share * first <= extent;
  }
};

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_FIRSTELEMENTS_H
