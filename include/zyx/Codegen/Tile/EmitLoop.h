//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_EMITLOOP_H
#define ZYX_CODEGEN_TILE_EMITLOOP_H

#include "mlir/IR/Builders.h"

namespace zyx::kernel {

/// An `scf.for` that begins with `init`: `body` is told the index and what the trip before has given, and gives what
/// the next one starts from. Returns what the last one gives.
llvm::SmallVector<mlir::Value>
emitLoop(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value from, mlir::Value to, mlir::Value by,
         mlir::ValueRange init,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)> body);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_EMITLOOP_H
