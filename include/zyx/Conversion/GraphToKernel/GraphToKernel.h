//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_GRAPHTOKERNEL_GRAPHTOKERNEL_H
#define ZYX_CONVERSION_GRAPHTOKERNEL_GRAPHTOKERNEL_H

#include "zyx/Base/Shape.h"
#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx {

/// A group as one launch. The kernel's arguments are a buffer per operand of the group, one per
/// constant, and one per result.
struct ConvertedGroup {
  kernel::FuncOp kernel;
  /// Constants that are more than one repeated element.
  llvm::SmallVector<mlir::DenseElementsAttr> constants;
  /// Memory that the kernel wants for itself: its arguments behind the outputs.
  llvm::SmallVector<TensorType> scratch;
  /// Arithmetic of the whole launch: 2 per product of a contraction, 1 per other element.
  uint64_t flops = 0;
  /// Bytes that it touches, where these are fewer than its buffers have; else 0.
  uint64_t bytes = 0;
};

/// What the machine has of threads that share memory, none where programs are threads of their own; and of vectors.
struct Workgroups {
  /// How many threads keep it busy.
  int64_t threads = 0;
  /// What those of a workgroup may share.
  int64_t sharedBytes = 0;
  /// Threads that run in lockstep.
  int64_t warpSize = 1;
  /// Threads of a workgroup at most, and bytes that move for an element that is read by itself.
  int64_t workgroupThreads = 0, transactionBytes = 0;
  /// Of a program's vectors; 0 where programs have none, or where neighbouring threads are as good as one.
  int64_t vectorBytes = 0;
  /// Of what a thread of a workgroup reads at once.
  int64_t laneBytes = 0;
  /// Workgroups of a cluster, which read each other's shared memory, at most.
  int64_t clusterSize = 1;
  /// Sums that each thread of a workgroup may have, of the elements of a window; 0 where none are made so.
  int64_t tapSums = 0;
  /// Whether a kernel of its own copies what windows are taken of, where that lies in another order than results.
  bool copiesWindows = false;
  /// Whether threads that run in lockstep read each other's registers.
  bool hasShuffles = false;
  /// Whether subgroups, of whatever size, add up by an op what their threads have.
  bool hasSubgroupOps = false;

  static Workgroups of(const target::TargetInfo &target);
};

/// Builds the tiled kernel of a group at `builder`; its tiles are the whole iteration space. Rows whose order matters
/// are walked by workgroups, where the machine has them. With `isUpdate`, the group's scatter updates its result's
/// buffer, and the operand that it begins with is no argument. Fails with an error at the op that a kernel cannot
/// compute.
mlir::FailureOr<ConvertedGroup> convertGroup(graph::ir::GroupOp group, llvm::StringRef name, mlir::OpBuilder &builder,
                                             const Workgroups &machine = {}, bool isUpdate = false);

/// A group in front of `group` with copies of `ops`, which are ops of it in their order, that yields `values`. What
/// `reads` are to them are `inputs` to the group.
graph::ir::GroupOp cloneIntoGroup(graph::ir::GroupOp group, mlir::Location loc, llvm::ArrayRef<mlir::Operation *> ops,
                                  mlir::ValueRange values, llvm::ArrayRef<mlir::Value> reads, mlir::ValueRange inputs);

} // namespace zyx

#endif // ZYX_CONVERSION_GRAPHTOKERNEL_GRAPHTOKERNEL_H
