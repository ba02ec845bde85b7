//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_SHAREDATTENTION_H
#define ZYX_CODEGEN_TILE_SHAREDATTENTION_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace zyx::kernel {

/// softmax(f(Q x K)) x V of whole tiles that the threads of a workgroup can compute together, whatever its parts are
/// made of: scores, sums and results are f32, and all else is evaluated where it is needed. Its products are dots or,
/// where a query is alone, sums of products.
struct SharedAttention {
  mlir::Operation *scores = nullptr, *output = nullptr;
  ReduceOp max;
  mlir::math::ExpOp exp;
  /// Of what is linear in the exponentials, along the keys.
  llvm::SmallVector<ReduceOp> sums;
  /// Factors in the type in which they are read, and the left one of `output`.
  mlir::Value q, k, v, weights;
  Axis keys = 0, features = 0, columns = 0;
  /// A part of an axis: so many of its elements, next to each other.
  struct Part {
    Axis axis;
    int64_t extent;
  };
  /// Rows that read the same keys and values, and what else there is, outermost first. An axis may be in both: heads
  /// of which some share keys, as many as its part of the rows says.
  llvm::SmallVector<Part> rows, batches;
  /// What has columns is stored by `results`, numbers of rows by `ofRows`.
  llvm::SmallVector<StoreOp> results, ofRows;

  int64_t numRows() const;
  int64_t numPrograms() const;
};

/// Reads the attention off a kernel whose constants have one use each (unshareConstants); none where it is none, or has
/// something that is not f32.
std::optional<SharedAttention> matchSharedAttention(FuncOp func, const Axes &axes);

/// How the threads of a workgroup share a block of keys and its rows.
struct SharedAttentionShape {
  /// Rows of a program, keys of a block, and workgroups that have a part of the keys each.
  int64_t rows, keys, threads, cluster;
  int64_t depth, width;
  /// Scores of a thread: `ownRows` by `ownKeys`, over one of `slices` of the features.
  int64_t ownRows, ownKeys, slices;
  /// Elements of keys and values that are read at once from shared memory, and those of a row of them there.
  int64_t keyLanes, valueLanes, keyStride, valueStride;
  /// Parts of results that a thread has: `outRows` by `outVectors` of `valueLanes`, which are as far apart as there are
  /// threads along a row, over one of `outSlices` of the keys of a block. So many slices at once are added up at the
  /// end.
  int64_t outRows, outVectors, outItems, outSlices, outHeld;
  /// Vectors of a row that one thread has the first one of.
  int64_t outColumns() const { return width / valueLanes / outVectors; }
  int64_t numOutVectors() const { return outItems * outRows * outVectors; }
  /// Weights take the place of the second slice of scores, once these are added up.
  bool sharesWeights() const { return slices > 1; }
  /// Whether the next block is read into registers before this one is computed with.
  bool ahead;
  /// What a workgroup shares.
  int64_t bytes;

  /// Shape for so many rows, keys and threads, which are powers of two; none where threads would have too much. It
  /// leaves room for a second workgroup of a core where it can.
  static std::optional<SharedAttentionShape> of(const SharedAttention &attention, const Axes &axes,
                                                const target::TargetInfo &machine, int64_t rows, int64_t keys,
                                                int64_t threads, int64_t cluster = 1);
};

/// Rows and keys of a block of a program whose threads share an attention: those of a kernel with threads and the
/// schedule
/// `<grid_step<axis of rows, rows>, online_step<keys' axis, keys>>`, whose first step counts rows of all axes, and is
/// not there where a program has all of them.
struct SharedStep {
  int64_t rows, keys;
};
/// None of a kernel that is no attention, or is scheduled otherwise.
std::optional<SharedStep> sharedStepOf(FuncOp func, const Axes &axes);
/// The schedule that says so.
ScheduleAttr sharedSchedule(const SharedAttention &attention, const Axes &axes, SharedStep step, int64_t threads,
                            mlir::MLIRContext *context);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_SHAREDATTENTION_H
