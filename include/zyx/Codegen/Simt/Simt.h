//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the threads of a workgroup compute together.
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SIMT_SIMT_H
#define ZYX_CODEGEN_SIMT_SIMT_H

#include "zyx/Codegen/Tile/SharedAttention.h"
#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// Emits a dot with `blocking` whose tile a workgroup's threads share, out of shared memory; false, with nothing
/// emitted, where they cannot.
mlir::FailureOr<bool> emitSharedDot(TileContext &context, DotOp dot);

/// Makes the lowered form of a kernel that has the schedule of a SharedStep, and erases it; fails where it cannot be.
mlir::LogicalResult lowerSharedAttention(FuncOp func, const Axes &axes, const target::TargetInfo &machine);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SIMT_SIMT_H
