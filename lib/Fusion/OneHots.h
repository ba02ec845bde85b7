//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Values that say for each place along a dimension whether it is the one that an index names.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_ONEHOTS_H
#define ZYX_LIB_FUSION_ONEHOTS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::fusion {

/// A value that another one shows, and for each dimension of that one the dimension of the value that it walks along.
struct Shown {
  mlir::Value value;
  llvm::SmallVector<std::optional<int64_t>> dims;
};

/// Goes through views, and through casts for which `passes` holds, up to a view that has no dimensions in common with
/// its operand.
std::optional<Shown> look(mlir::Value value, llvm::function_ref<bool(graph::ir::CastOp)> passes);

/// The dimensions of what shows a value that walk along it, in its order; none where the value has other elements.
std::optional<llvm::SmallVector<int64_t>> findOwnDims(const Shown &shown);

/// A value that has some of the dimensions of `shape`, in their order in `all`, and repeated along the others of these.
mlir::Value spreadDims(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> own,
                       llvm::ArrayRef<int64_t> all, llvm::ArrayRef<int64_t> shape);
/// Where an element is infinite or NaN.
mlir::Value findNotFinite(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);
/// A value under other extents.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// Whether a cast of floats that ops compute with keeps each number.
bool isExactCast(graph::ir::CastOp op);

/// Indices, where what is shown compares them with the places along a dimension. Their dimensions are of the value that
/// shows it.
std::optional<Shown> matchOneHot(const Shown &compared, int64_t along);

/// A value that is one and the same number along a dimension, but for the places that indices name.
struct FewPlaces {
  /// Indices, without the dimension. They may name the same place, or none that there is.
  llvm::SmallVector<Shown> places;
  /// The number at all others.
  int64_t rest;
};

/// Adds the places of another value to those of one.
void addPlaces(FewPlaces &all, const FewPlaces &more);

/// Finds the few places along a dimension where a value is not one number, as what is routed to a few of many experts
/// has them.
std::optional<FewPlaces> findFewPlaces(mlir::Value value, int64_t dim, int depth = 16);
/// The same of a value that is shown with other dimensions, of which `dim` is one: the places have these.
std::optional<FewPlaces> findFewPlaces(const Shown &shown, int64_t dim);

/// What a value has at one place along a dimension, which the place does not have; zero where there is no such place.
/// `own` are the dimensions of the place, and `all` those of the value.
mlir::Value takePlace(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value place, llvm::ArrayRef<int64_t> own,
                      mlir::Value value, llvm::ArrayRef<int64_t> all, int64_t dim, llvm::ArrayRef<int64_t> shape);

/// Rows that few places along a dimension name: those of all tables along it are one dimension, with `rows` of each.
/// Each row is named once, and one outside of its table is -1. `index` has the row in the table of each place.
llvm::SmallVector<mlir::Value> findFewRows(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<Shown> places,
                                           mlir::Value index, llvm::ArrayRef<int64_t> all, int64_t dim, int64_t rows,
                                           mlir::IntegerType number, llvm::ArrayRef<int64_t> shape);

/// Whether a sum has one term that counts, at an index, and zeros beside: a kernel looks it up
/// (kernel::findOneHotIndex).
bool isLookedUp(graph::ir::ReduceOp sum);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_ONEHOTS_H
