//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Vectors divided by one number: a row by its sum.
#ifndef ZYX_CODEGEN_TILE_SHAREDDIVISOR_H
#define ZYX_CODEGEN_TILE_SHAREDDIVISOR_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace zyx::kernel {

/// Whether divideByShared is the faster way to divide by that scalar.
bool sharesDivisor(mlir::Value divisor, bool hasFma);

/// Each lane of `x`, a vector of f32 or f64, divided by `divisor`, rounded as a division rounds.
mlir::Value divideByShared(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::Value divisor,
                           bool lanesAreRegisters);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_SHAREDDIVISOR_H
