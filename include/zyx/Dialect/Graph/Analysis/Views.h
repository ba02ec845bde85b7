//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_VIEWS_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_VIEWS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "llvm/ADT/SmallBitVector.h"

namespace zyx::graph::ir {

/// A reshape, expand, permute, flip, pad or window: the elements of operand 0 under other indices. A
/// pad is one where -zyx-fusion-decompose-movement left it.
bool isView(mlir::Operation *op);
/// A view that gives every index an element of its operand, which is all but pads.
bool isIndexMap(mlir::Operation *op);
/// A unary, binary, select, cast or bitcast.
bool isElementwise(mlir::Operation *op);

/// A scan, sort or scatter: what each element is hangs on the order of others, so that it is a
/// kernel of its own.
bool isOrderOp(mlir::Operation *op);

/// The value that is left when the views in front of it are taken off.
mlir::Value getViewSource(mlir::Value value);

/// Whether a reshape only adds and removes dimensions of extent 1.
bool isUnitReshape(ReshapeOp op);

/// For each dimension of a value, the dimension of its view source that it walks along, or none
/// where it has extent 1 or is repeated by an expand. Fails where a reshape that is no unit reshape,
/// a flip, a pad or a window lies between: then no dimension of one is a dimension of the other.
std::optional<llvm::SmallVector<std::optional<int64_t>>> getSourceDims(mlir::Value value);

/// For each dimension of the result of one view, the dimension of its operand that it walks along,
/// or none where it is repeated or new. Fails as getSourceDims does.
std::optional<llvm::SmallVector<std::optional<int64_t>>> getOperandDims(mlir::Operation *view);

/// The dimensions along which a value is the same everywhere, as far as the nearest ops tell.
llvm::SmallBitVector getRepeatedDims(mlir::Value value);

/// A matrix product among the reduces: `reduce add` of a product whose factors are each repeated
/// along a kept dimension that the other one walks. Dimensions are those of the product.
struct Contraction {
  BinaryOp product;
  /// Kept dimensions that both factors walk, that only the first walks, and only the second.
  llvm::SmallVector<int64_t> batch, first, second;
  /// The reduced dimensions.
  llvm::SmallVector<int64_t> reduced;
};
/// On a sum of products: it is no contraction, but a reduction like any other. Fusion writes it, and removes what a
/// text says.
inline constexpr llvm::StringLiteral sumAttrName = "zyx.sum";
/// The contraction that a reduce is, or none. A product of a matrix and a vector is none: it reads
/// each element of the matrix once, like any reduction.
std::optional<Contraction> matchContraction(ReduceOp op);

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_VIEWS_H
