//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_WEIGHTREADERS_H
#define ZYX_LIB_FUSION_WEIGHTREADERS_H

#include "WeightAlgebra.h"

#include "zyx/Base/Status.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace zyx::fusion {

/// What hangs on the weights of one attention, beside the attention.
class WeightReaders {
public:
  explicit WeightReaders(graph::ir::Attention &attention, const Sinks *sinks = nullptr)
      : attention(attention), algebra(attention, sinks) {}

  /// Why the readers are none that can compute the weights again; success where they can, or where there
  /// are none.
  Status find();

  graph::ir::Attention &attention;
  WeightAlgebra algebra;
  /// Weights and gradients of scores that are read from outside of the algebra.
  llvm::SetVector<mlir::Value> starts;
  /// What is computed from those, up to products that are summed up.
  llvm::SetVector<mlir::Value> behind;
  /// Numbers of rows with the gradients of weights as a factor that are read from outside of the algebra, with these
  /// readers: gradients of sinks are made of them.
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Operation *, 1>> rows;
  /// Sums along the keys, and along the queries.
  llvm::SmallVector<graph::ir::ReduceOp> sumsOfKeys, sumsOfQueries;
  /// What has an element for each weight and is read in memory by others than such sums, with these readers: the
  /// gradient of an added bias is a sum of gradients of scores, and weights may be a result.
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Operation *, 1>> stored;

private:
  Status findStarts();
  Status follow(mlir::Value value, mlir::Operation *reader);
  Status followView(mlir::Value value, mlir::Operation *view);
  Status addBehind(mlir::Value value, llvm::SmallVector<int64_t> dims);
  bool addSum(graph::ir::ReduceOp reduce);
  Status addStored(mlir::Value value, mlir::Operation *reader);

  /// The dimension of the scores that each dimension of a value in `behind` is, -1 for others.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> labels;
  std::optional<int64_t> queries;
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_WEIGHTREADERS_H
