//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// How a recurrent loop is divided among the threads of clusters that run all of its trips.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_RECURRENTSHAPE_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_RECURRENTSHAPE_H

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"

namespace zyx::graph::ir {

/// A cluster has all columns of some rows: points that differ along the last dimension of the domain. Each of its
/// workgroups has some of the columns, with the weights of these in registers. The dots of a column are summed up by
/// several threads, each of which has a part of it.
struct RecurrentShape {
  /// Workgroups of a cluster.
  int64_t cluster = 1;
  /// Of a cluster, and of a workgroup.
  int64_t rows = 1, columns = 1;
  /// Threads that share the dots of one column, and groups of such that take rows in turns.
  int64_t parts = 1, rowGroups = 1;
  int64_t threads = 0;

  /// Elements that a thread reads at once, and of a row in memory.
  static constexpr int64_t lanes = 4;
  /// Pieces of `lanes` elements that a thread has of a column, and elements of a row with what fills its last pieces.
  int64_t pieces(int64_t length) const { return static_cast<int64_t>(llvm::divideCeil(length, lanes * parts)); }
  int64_t padded(int64_t length) const { return pieces(length) * lanes * parts; }

  /// Whether the points and dots of a loop have threads in it.
  bool holds(const ElementLoop &loop) const;

  /// What a loop is marked with under `oneKernelAttrName`; and what it is marked with, nothing where that is no shape.
  mlir::Attribute toAttr(mlir::MLIRContext *context) const;
  static std::optional<RecurrentShape> of(LoopOp loop);
};

/// The dots that share each row of a trip, in the order of the steps.
llvm::SmallVector<llvm::SmallVector<unsigned>> groupDots(const ElementLoop &loop);

/// Elements of the row of a dot.
int64_t rowLength(const ElementLoop &loop, const ElementStep &dot);

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_RECURRENTSHAPE_H
