//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The steps of passes that say where tiles lie, one kernel at a time.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_LOOPS_SETTLE_H
#define ZYX_LIB_CODEGEN_LOOPS_SETTLE_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel {

/// Keeps tiles of a kernel that are used again. Without a target the machine is not known.
mlir::LogicalResult stageReused(FuncOp func, const target::TargetInfo *target);

/// What becomes of a kernel's threads and workgroups, whose tiles are staged and lie in memory.
struct ThreadsDecision {
  enum Program : uint8_t { AsScheduled, OneWorkgroup, OneThread };
  Program program = AsScheduled;
  /// Why, unless they stay.
  std::string reason;
  /// What threads share if they stay.
  int64_t sharedBytes = 0;
};
/// Asks SharedMemory::of.
mlir::FailureOr<ThreadsDecision> settle(FuncOp func, const target::TargetInfo &machine);

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_LOOPS_SETTLE_H
