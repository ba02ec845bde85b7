//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_PARTSPLITTER_H
#define ZYX_LIB_FUSION_PARTSPLITTER_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "llvm/ADT/DenseMap.h"

namespace zyx::fusion {

/// Takes a concat apart, and everything that has its joined dimension: what is computed element by element, viewed, or
/// reduced along other dimensions has one value for each part. A reduction along the joined dimension combines those of
/// the parts, and a slice of one part is that part.
class PartSplitter {
public:
  /// What reductions have of the part `main` is combined with all that they have of the others.
  PartSplitter(graph::ir::ConcatOp joined, mlir::Value main);

  /// False where something else reads such a value: only ops without readers are made then.
  bool run();

private:
  using Parts = llvm::SmallVector<mlir::Value, 2>;

  bool follow(mlir::Value value, mlir::Operation *reader);
  bool add(mlir::Value value, int64_t dim);
  std::optional<size_t> findPart(graph::ir::PadOp slice, int64_t dim) const;
  mlir::Value replaceReduce(graph::ir::ReduceOp reduce, int64_t dim);
  const Parts *get(mlir::Value value, int64_t dim);
  std::optional<Parts> compute(mlir::Value value, int64_t dim);
  std::optional<Parts> computePad(graph::ir::PadOp pad, int64_t dim);
  std::optional<Parts> cloneOver(mlir::Operation *op, llvm::ArrayRef<std::optional<int64_t>> dims, int64_t dim);
  mlir::Value cloneElementwise(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands,
                               mlir::RankedTensorType type);
  mlir::RankedTensorType partOf(mlir::Value value, int64_t dim, size_t part) const;

  graph::ir::ConcatOp joined;
  std::optional<size_t> main;
  /// Where each part begins along the joined dimension, and behind the last one where it ends.
  llvm::SmallVector<int64_t> places;
  Parts first;
  /// Values that are made of the concat, with the dimension that is joined.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> values;
  llvm::DenseMap<mlir::Value, int64_t> dims;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, std::optional<Parts>> known;
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_PARTSPLITTER_H
