//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_ITERATIONSPACE_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_ITERATIONSPACE_H

#include "zyx/Dialect/Graph/Analysis/Attention.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::graph::ir {

/// An axis of an iteration space, by number.
using Axis = int;
/// A set of axes, increasing.
using AxisSet = llvm::SmallVector<Axis>;

/// Sums of products with what is computed from other sums of products, as the gradients of an attention
/// are:
///
///     inner = reduce add (mul a b)     along features; has the row axes and the walked one
///     w     = f(inner, ...)            element-wise
///     sum   = reduce add (mul w c)     along the walked axis; has the row axes and one of c's
///
/// A kernel walks the axis once for all sums, so that nothing with it is stored.
struct ContractionChain {
  llvm::SmallVector<ReduceOp> inner, sums;
  Axis walked;
};

/// A sum over batches of what is computed of sums of products, as the gradient of a bias that is added to the scores of
/// all batches is:
///
///     inner = reduce add (mul a b)     along features; has the row axes and those of the batches
///     w     = f(inner, ...)            element-wise
///     sum   = reduce add w             over the batches
///
/// A kernel computes one batch after the other, so that nothing with both is stored. The row axes are those of the sum.
struct ProductsSum {
  llvm::SmallVector<ReduceOp> inner;
  ReduceOp sum;
};

/// Sums along two axes of the same values, as the gradients of a norm and of its weights are: each row is summed up,
/// and so is each column, of what hangs on the sums of rows as well. A kernel walks rows one by one, and adds each to
/// the columns' sums.
struct RowAndColumnReductions {
  /// The reduces that combine along rows, and those that combine across them.
  llvm::SmallVector<ReduceOp> along, across;
  /// The axis that the ones combine, and that of the others.
  Axis columns, rows;
};

/// The axes along which a set of ops computes. Every dimension of every computed value is walked by
/// one axis, except those of extent 1, which none walks; dimensions that an op ties together
/// (element-wise operands and result, the kept dimensions of a reduce, the dimensions behind a
/// permute, an expand or a unit reshape) have the same one. A use of a value from outside of the
/// set, of a constant or of an iota is a load of its own and ties nothing.
///
/// The **row axes** are those that the results of all reduces have; without a reduce, those of the
/// values that leave the set. A kernel runs once per point of the row axes. The two contractions of an
/// attention have another axis each beside those of its softmax, those of a chain beside its rows, the products of a
/// sum over batches those of the batches, and crossed sums one of two.
class IterationSpace {
public:
  using Ops = llvm::SetVector<mlir::Operation *>;

  /// The space of computing ops (element-wise ops, reduces, gathers, ops that are a kernel of their
  /// own, and such views as are results)
  /// in their order in the block. `outputs` are the values among theirs that leave the set. Fails
  /// with the reason why they are no one kernel.
  static Result<IterationSpace> compute(const Ops &ops, mlir::ValueRange outputs);
  /// The space of a group's body.
  static Result<IterationSpace> compute(GroupOp group);

  int64_t getExtent(Axis axis) const { return extents[axis]; }
  int getNumAxes() const { return extents.size(); }
  /// The axis of each dimension of a computed value, -1 for those of extent 1.
  llvm::ArrayRef<Axis> getAxes(mlir::Value value) const { return axes.find(value)->second; }
  /// The axis of each dimension of a reduce's operand.
  llvm::ArrayRef<Axis> getOperandAxes(ReduceOp op) const { return operandAxes.find(op)->second; }
  const AxisSet &getRowAxes() const { return rowAxes; }
  llvm::ArrayRef<ReduceOp> getReduces() const { return reduces; }
  /// A contraction among the reduces. Null where there is none, in an attention and in a chain.
  ReduceOp getContraction() const { return contraction; }
  /// The attention whose reduces these are, if they are. The row axes are those of its softmax.
  const std::optional<Attention> &getAttention() const { return attention; }
  /// The chain of contractions that the reduces are, if they are.
  const std::optional<ContractionChain> &getChain() const { return chain; }

  /// The sum over batches of what is computed of products, if the reduces are one.
  const std::optional<ProductsSum> &getProductsSum() const { return productsSum; }
  /// Whether what is made of sums of products is summed up in the same kernel: the reduces are a chain, or such a sum.
  bool chainsProducts() const { return chain || productsSum; }

  /// The reductions of rows and of columns that the reduces are, if they are.
  const std::optional<RowAndColumnReductions> &getRowAndColumnReductions() const { return crossed; }

  /// The axes of a computed value as a set.
  AxisSet getAxisSet(mlir::Value value) const;
  /// The product of extents.
  int64_t getNumPoints(llvm::ArrayRef<Axis> set) const;

private:
  friend class IterationSpaceBuilder;
  llvm::SmallVector<int64_t> extents;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Axis>> axes;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Axis>> operandAxes;
  llvm::SmallVector<ReduceOp> reduces;
  ReduceOp contraction;
  std::optional<Attention> attention;
  std::optional<ContractionChain> chain;
  std::optional<ProductsSum> productsSum;
  std::optional<RowAndColumnReductions> crossed;
  AxisSet rowAxes;
};

/// Whether every axis of the first set is in the second.
bool isSubset(llvm::ArrayRef<Axis> set, llvm::ArrayRef<Axis> of);

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_ITERATIONSPACE_H
