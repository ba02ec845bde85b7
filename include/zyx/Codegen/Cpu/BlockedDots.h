//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_BLOCKEDDOTS_H
#define ZYX_CODEGEN_CPU_BLOCKEDDOTS_H

#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// Emits a dot as its `blocking` says; false, with nothing emitted, where its form does not allow that.
mlir::FailureOr<bool> emitBlockedDot(TileContext &context, DotOp dot);

/// What a factor is for each batch, where all share it, as images share filters; else the factor.
mlir::Value repeatedFactor(mlir::Value factor);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_BLOCKEDDOTS_H
