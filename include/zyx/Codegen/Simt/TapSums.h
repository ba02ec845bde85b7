//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SIMT_TAPSUMS_H
#define ZYX_CODEGEN_SIMT_TAPSUMS_H

#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Emits a sum along images for each element of a window (tap), as the gradient of a depthwise filter is. A thread adds
/// up those of all taps at once: neighbouring taps read the same elements, and what has no tap is read once for all.
class TapSums {
public:
  explicit TapSums(Nest &nest) : n(nest), t(nest.t), loc(nest.loc) {}

  /// Whether threads share the nest, which combines its vectors and has few results for each program.
  static bool apply(Nest &nest);
  mlir::LogicalResult emit();
  /// What threads combine sums of so many taps in.
  static int64_t sharedBytes(mlir::Type element, int64_t numTaps, int64_t threads);

private:
  using Accumulators = Nest::Accumulators;

  /// Calls `body` with the point of each tap, in their order.
  mlir::LogicalResult forEachTap(const Point &point, llvm::function_ref<mlir::LogicalResult(int64_t, Point &)> body);
  /// Computes what all taps read alike: later points have it in their memo.
  mlir::LogicalResult evaluateShared(mlir::Value tile, Point &point);
  mlir::FailureOr<Accumulators> addStep(const Point &point, Accumulators accs);
  /// What threads have added up, combined in two rounds.
  void combine(mlir::ArrayRef<mlir::Value> own);

  Nest &n;
  TileContext &t;
  mlir::Location loc;
  llvm::SmallVector<Axis> taps;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SIMT_TAPSUMS_H
