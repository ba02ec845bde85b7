//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_UPDATES_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_UPDATES_H

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdint>

namespace zyx::graph::ir {

/// On a scatter: no two of its indices that name a row are the same, so that updates have no order.
inline constexpr llvm::StringLiteral apartAttrName = "zyx.apart";
/// On a scatter that adds along dimension 0: updates fall into so many parts of as many in row-major order, and those
/// of part p name rows of part p of the result alone, or none.
inline constexpr llvm::StringLiteral scatterPartsAttrName = "zyx.scatter_parts";
/// On a scatter along the only dimension of its result, [outer, extent, inner] in row-major order. Along the extent an
/// update goes to its own place or to one before; these do not decrease, and each of them goes to itself.
inline constexpr llvm::StringLiteral segmentsAttrName = "zyx.segments";

/// How workgroups share such a scatter: each of their threads has a number for each row of a part in shared memory, and
/// one for updates outside. A workgroup has `threads / columns` segments of the updates of its columns.
struct ScatterThreads {
  /// 0 where the numbers of a subgroup are too many.
  int64_t threads = 256, columns = 1;

  /// Of a part with so many rows, on a machine that so many threads keep busy. Columns are as many as there are, so
  /// that neighbouring threads read neighbours, or 1 where these are updates; but fewer where workgroups would be few.
  ScatterThreads(int64_t rows, int64_t allColumns, bool areUpdatesNeighbours, int64_t subgroup, int64_t sharedBytes,
                 int64_t mostThreads) {
    constexpr int64_t perCore = 3;
    const int64_t each = (rows + 1) * 4 * perCore;
    threads = std::min(threads, mostThreads);
    while (threads > subgroup && threads * each > sharedBytes)
      threads /= 2;
    if (threads * each > sharedBytes)
      threads = 0;
    else if (!areUpdatesNeighbours)
      while (columns < threads && columns < allColumns)
        columns *= 2;
  }
  /// Strips of columns, each of which is a workgroup's.
  int64_t countStrips(int64_t allColumns) const { return (allColumns + columns - 1) / columns; }
  /// Takes fewer columns where so many parts would leave most of the machine idle.
  void spread(int64_t parts, int64_t allColumns, int64_t busyThreads) {
    while (columns > 1 && parts * countStrips(allColumns) * threads < busyThreads / 4)
      columns /= 2;
  }
};

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_UPDATES_H
