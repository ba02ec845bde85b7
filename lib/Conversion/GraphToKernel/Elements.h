//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The element-wise ops of the graph with their exact meaning, as `arith` and `math` on tiles.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ELEMENTS_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ELEMENTS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::lowering {

/// The floats that are stored, cast and multiplied in contractions, but not computed with.
bool isFloat8(mlir::Type element);

/// The element type of tiles and buffers: integers lose their sign, which their ops say.
mlir::Type toSignless(mlir::Type element);

/// The element of a dense constant that repeats one, with the type that tiles have.
mlir::TypedAttr getSplatElement(mlir::DenseElementsAttr value);

/// A tile of one constant.
mlir::Value createSplat(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                        mlir::TypedAttr element);

/// The result of a unary, binary, cast, bitcast or select, given its operands as tiles of one shape.
mlir::Value createElementwise(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange tiles);

/// A cast of a tile between element types of the graph.
mlir::Value createElementCast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile, mlir::Type from,
                              mlir::Type to);

/// How a reduction of a graph type combines.
kernel::Combine getCombine(graph::ir::ReduceKind kind, mlir::Type graphElement);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ELEMENTS_H
