//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_CPU_MICROKERNEL_H
#define ZYX_CODEGEN_CPU_MICROKERNEL_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace zyx::kernel {

/// A block of a dot's result that is summed up in registers: `rows` rows of `vectors` vectors, in rounds of
/// `unroll` steps.
struct MicroTile {
  int64_t rows, vectors, lanes, unroll;
};

/// What a micro-kernel multiplies in step `k` of its loop. Both are asked for once per step, the right
/// ones first, and give values of the accumulator's element type.
struct MicroFactors {
  /// Element (row, k) of the left factor: a scalar.
  llvm::function_ref<mlir::FailureOr<mlir::Value>(int64_t row, mlir::Value k)> lhs;
  /// Vector (k, vector) of the right factor.
  llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value k, int64_t vector)> rhs;
};

/// `for (k = 0; k < depth; ++k) sums[r][v] += lhs(r, k) * rhs(k, v)`, with the sums, row by row, in registers.
/// Of one lane, vectors are scalars. `depth` is a number or a value.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitMicroKernel(mlir::OpBuilder &builder, mlir::Location loc,
                                                                MicroTile tile, mlir::Value depth,
                                                                mlir::ValueRange sums, const MicroFactors &factors);

/// Vectors of `lanes` elements along k of both factors, from step `k` on; lanes behind the end are zero.
struct AlongDepthFactors {
  llvm::function_ref<mlir::FailureOr<mlir::Value>(int64_t row, mlir::Value k, bool partial)> lhs;
  llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value k, int64_t column, bool partial)> rhs;
};

/// The same for factors that both lie along k: a vector of partial sums per element of the tile, of which
/// `vectors` counts columns, and the lanes of each added up at the end. `depth` is a number or a value; `sums`
/// are scalars.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> emitMicroKernelAlongDepth(mlir::OpBuilder &builder, mlir::Location loc,
                                                                          MicroTile tile, mlir::Value depth,
                                                                          mlir::ValueRange sums,
                                                                          const AlongDepthFactors &factors);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_CPU_MICROKERNEL_H
