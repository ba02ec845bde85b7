//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_SUMCLONER_H
#define ZYX_LIB_FUSION_SUMCLONER_H

#include "RecomputeWeights.h"
#include "WeightReaders.h"

#include "mlir/IR/Builders.h"

namespace zyx::fusion {

/// Values of the rows that weights are computed again from: the logarithm of the sum of exponentials, the digits that
/// it lost when it was rounded, and the sum along the keys of each weight's share times its gradient.
struct Rows {
  mlir::Value logSum, logRest, delta;
};

/// Makes the kernel of some sums, with a copy of its own of everything between them and what lies in memory.
class SumCloner {
public:
  SumCloner(WeightReaders &readers, const Rows &rows, mlir::Operation *at)
      : readers(readers), rows(rows), builder(at), loc(at->getLoc()), at(at) {}

  /// The sum in place of one; null where it reads what stands behind the place of the copies.
  mlir::Value clone(graph::ir::ReduceOp sum);
  /// The same of what has an element for each weight, which is stored.
  mlir::Value clone(mlir::Value behind);
  RecomputedSums take() { return std::move(made); }

private:
  using Copies = llvm::DenseMap<mlir::Value, mlir::Value>;

  mlir::Value multiply(mlir::Value value, double by);
  mlir::Value castTo(mlir::Type element, mlir::Value value);
  mlir::Value spread(mlir::Value row);
  mlir::Value cloneLeaf(mlir::Value value, Copies &copies);
  mlir::Value cloneFactor(mlir::Value factor);
  graph::ir::ReduceOp cloneProduct(graph::ir::ReduceOp sum);
  bool isOfScores(mlir::Value value);
  mlir::Value cloneScores(mlir::Value value);
  mlir::Value getWeights();
  mlir::Value getScoreGradient();
  mlir::Value cloneBehind(mlir::Value value, double &factor);

  WeightReaders &readers;
  const Rows &rows;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Operation *at;
  RecomputedSums made;
  /// Copies of what has an element for each weight, and of masks.
  Copies copies;
  /// Values that hang on the scores, as many of which as `numFollowed` have had their readers looked at.
  llvm::SetVector<mlir::Value> ofScores;
  size_t numFollowed = 0;
  /// What is behind starts, as copies without the number that they are multiplied with behind the sum.
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, double>> copiesBehind;
  mlir::Value weights, scoreGradient;
  bool failed = false;
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_SUMCLONER_H
