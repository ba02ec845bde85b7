//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_LOOPVALUES_H
#define ZYX_LIB_FUSION_LOOPVALUES_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::fusion {

/// The constant that a value repeats through views; null where it is none of one element.
graph::ir::ConstantOp getSplat(mlir::Value value);
/// Whether every element is the number 0, and of floats +0.
bool isZero(mlir::Value value);
mlir::Value makeZeros(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type);

/// Whether a loop is no kernel of its own, and has a constant number of trips, which is two or more.
bool isKnown(graph::ir::LoopOp loop);
mlir::Operation *yieldOf(graph::ir::LoopOp loop);

/// constant + step * trip
struct TripNumber {
  int64_t constant, step;
};

/// The row that a gather or scatter with these indices has in each trip; none where trips choose it otherwise.
std::optional<TripNumber> asRow(mlir::Value indices);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_LOOPVALUES_H
