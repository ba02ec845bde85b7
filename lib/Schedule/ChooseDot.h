//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_CHOOSEDOT_H
#define ZYX_SCHEDULE_CHOOSEDOT_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Codegen/Tile/NearLines.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// What a dot's blocks are chosen by.
struct DotFacts {
  int64_t m, n, k;
  /// Products of this shape: the batches of one kernel.
  int64_t batches;
  /// Of a sum.
  int64_t elementBytes;
  /// Rows of the left factor lie along k in memory, rows of the right one along n.
  bool lhsAlongDepth, rhsAlongColumns;
  /// From one row of the factor to the next: of elements of its own type.
  int64_t lhsRowBytes, rhsRowBytes;
  /// Reading an element of the factor takes more than a load.
  bool lhsComputed, rhsComputed, rhsGathered;
  /// The factor's elements are of another type than sums: one by one they are dear to convert.
  bool lhsConverted, rhsConverted;
  /// The factor is read through several blocks or with padding: not one by one.
  bool lhsWindow, rhsWindow;
  /// Elements of such a right factor are neighbours in memory, or a few elements apart, along n or k: it is copied in
  /// runs.
  bool rhsInRuns;
  /// Panels of the right factor are made once for many runs (PackWeights.cpp).
  bool rhsKept;
  /// Bytes of such a factor that are neighbours in memory, of the left one along k, of the right one along n.
  int64_t lhsRunBytes, rhsRunBytes;
  /// Of a left factor those along m: it is packed in squares.
  int64_t lhsAcrossBytes;
  /// An output has the type of the sums, and its rows lie along n: sums can wait there.
  bool sumsInOutput;
  /// Of a factor before it is widened, where a matrix unit may take both: bf16 for sums of f32, or 8-bit
  /// integers for sums of i32; else 0.
  int64_t matrixBytes;
  /// Such a left factor is read by a plain load, row by row.
  bool lhsPlain;
  /// The right factor as windows over an image that may be copied near; none where it may not be, or is something else.
  std::optional<kernel::NearLines> rhsLines;
  /// Whether m and n may be cut into programs.
  bool cutRows, cutColumns;
};

/// How a dot is cut into programs, and each of those into blocks.
struct DotPlan {
  int64_t programRows, programColumns;
  int64_t rows, columns, rowBlock, depth;
  bool packLhs, packRhs, alongDepth, narrow;
  bool operator==(const DotPlan &) const = default;
};

/// A plan, and the cycles of one core that its products are estimated to take; 0 where nothing estimates them.
struct DotChoice {
  DotPlan plan;
  double cost = 0;
};

/// Chooses by the registers, the caches and the cores of a processor with vectors, the best one first, and at most
/// `most`; docs/codegen-cpu.md has the rules.
llvm::SmallVector<DotChoice> planDots(const DotFacts &facts, const target::TargetInfo &target, unsigned most);

/// Rows and columns of a tile whose sums have vectors along the contraction; `isComputed`: the right factor is.
std::pair<int64_t, int64_t> tileAlongDepth(int64_t rows, int64_t columns, bool isComputed,
                                           const target::TargetInfo &target);

/// Reads the facts off a kernel.
DotFacts describeDot(kernel::DotOp dot, llvm::ArrayRef<kernel::StoreOp> stores, const kernel::Axes &axes);

/// The right factor as windows whose positions are neighbours in memory; none where it is something else.
std::optional<kernel::NearLines> findLines(kernel::DotOp dot, const kernel::Axes &axes);

/// A factor before it is repeated for each batch, and widened.
mlir::Value narrowFactor(mlir::Value factor);

/// Whether a processor has a unit or instructions for such factors, wherever they lie.
bool isForMatrixUnit(kernel::DotOp dot, const target::TargetInfo &target);

/// Whether all stores can be done to tiles of the dot while they are in registers: none has an axis that the
/// dot's result lacks.
bool storesFollowTiles(kernel::DotOp dot, llvm::ArrayRef<kernel::StoreOp> stores, const kernel::Axes &axes);

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_CHOOSEDOT_H
