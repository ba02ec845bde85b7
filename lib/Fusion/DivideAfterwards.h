//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_DIVIDEAFTERWARDS_H
#define ZYX_LIB_FUSION_DIVIDEAFTERWARDS_H

#include "zyx/Dialect/Graph/Analysis/Attention.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {

/// A value of each row of an attention's weights, which stands where the factor beside `beside` does, as a tensor of
/// the result's shape and of another element type, times a number. None where a dimension of it is none of the
/// result's.
std::optional<mlir::Value> spreadOverResult(mlir::OpBuilder &builder, graph::ir::Attention &found,
                                            mlir::OpOperand &beside, mlir::Value factor, mlir::Type element,
                                            double by = 1);

/// Applies the factors beside an attention's weights to its result. `isFinite` says of each whether it is finite or
/// NaN: only then an infinite sum stays what it was. False where nothing was changed.
bool divideAfterwards(graph::ir::Attention &found, llvm::function_ref<bool(mlir::Value)> isFinite);

/// The same with factors that are the softmax's sum, or one over it.
bool divideBySums(graph::ir::Attention &found);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_DIVIDEAFTERWARDS_H
