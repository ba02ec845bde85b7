//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_COST_RESULTORDER_H
#define ZYX_COST_RESULTORDER_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "llvm/ADT/SetVector.h"

namespace zyx::cost {

/// Another order of the dimensions of a group's result in memory. The group that writes it permutes it, and the groups
/// that read it permute it back.
class ResultOrder {
public:
  ResultOrder(mlir::OpResult result, llvm::ArrayRef<int64_t> order) : result(result), order(order) {}
  /// The order in which one dimension comes behind the others.
  static ResultOrder withLast(mlir::OpResult result, int64_t dim);
  void apply();
  void revert();

private:
  mlir::OpResult result;
  llvm::SmallVector<int64_t> order;
  mlir::Type before;
  llvm::SmallVector<graph::ir::PermuteOp> made;
};

/// Kernels whose operands have the order that they are made for: what is walked one by one, attentions and the like.
bool hasOwnOrder(graph::ir::GroupOp group);

/// Results of a block's groups that other groups of the block alone read, none of which has an order of its own.
llvm::SetVector<mlir::OpResult> findMovableResults(mlir::Block &block);

} // namespace zyx::cost

#endif // ZYX_COST_RESULTORDER_H
