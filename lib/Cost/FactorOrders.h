//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_COST_FACTORORDERS_H
#define ZYX_LIB_COST_FACTORORDERS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::cost {

/// Factors of a group's contractions that show what lies in memory by more than other strides, as a phase of a filter
/// or a flipped one do, or that lie in another order than the one in which the other factor's windows walk the
/// contraction: each in the order of rows or columns first, then the contraction. What is stored so has rows without
/// gaps. Where a factor has its dimensions in another order, permutations to that order and back are put into the
/// group. So they are, if that is asked for, where windows are of what has dimensions of the contraction that are
/// neighbours nowhere, as channels that come first: rows of windows are short, and channels that come last long.
class FactorOrders {
public:
  /// None where the machine has another way of laying factors out.
  FactorOrders(graph::ir::GroupOp group, bool isWanted, bool turnsWindows = false);
  /// Takes all permutations back, unless they were released.
  ~FactorOrders() { keepOnly({}); }
  FactorOrders(const FactorOrders &) = delete;
  FactorOrders &operator=(const FactorOrders &) = delete;

  /// Whether there are windows that are turned.
  bool hasTurned() const { return !turned.empty(); }
  /// Whether neighbours of a result of such windows are neighbouring positions.
  bool turnsColumns() const { return areColumns; }
  /// What may be stored.
  llvm::ArrayRef<mlir::Value> getValues() const { return values; }
  /// Takes back the permutations that make other values than `kept`.
  void keepOnly(llvm::ArrayRef<mlir::Value> kept);
  /// The group goes, and what is in it.
  void release() { added.clear(); }

private:
  bool isOurs(mlir::Operation *op) const;
  mlir::Value order(mlir::Value factor, mlir::Value other, llvm::ArrayRef<int64_t> contracted);
  mlir::Value turn(mlir::Value factor, graph::ir::ReduceOp reduce);

  /// What was put into the group for a stored value, in order: the last one stands for the original value.
  struct Added {
    mlir::Value stored, original;
    llvm::SmallVector<mlir::Operation *> ops;
  };
  llvm::SmallVector<Added> added;
  llvm::SmallVector<mlir::Value> values;
  /// Those of them that windows are of.
  llvm::SmallVector<mlir::Value> turned;
  bool areColumns = false;
};

} // namespace zyx::cost

#endif // ZYX_LIB_COST_FACTORORDERS_H
