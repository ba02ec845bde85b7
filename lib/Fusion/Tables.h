//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_TABLES_H
#define ZYX_LIB_FUSION_TABLES_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/DenseMap.h"

namespace zyx::fusion {

/// The elements of a value in their order: integers, or floats.
struct Table {
  llvm::SmallVector<llvm::APInt> integers;
  llvm::SmallVector<llvm::APFloat> floats;
};

/// Computes small values that are made of positions and numbers.
class TableEvaluator {
public:
  /// Null where a value is none, or where an op is not the same whoever computes it.
  const Table *get(mlir::Value value);

private:
  std::optional<Table> compute(mlir::Value value);
  std::optional<Table> compute(graph::ir::BinaryOp op);
  std::optional<Table> compute(graph::ir::CastOp op);

  llvm::DenseMap<mlir::Value, std::optional<Table>> tables;
};

/// The constant of this type that has these elements.
mlir::Value makeTable(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, const Table &table);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_TABLES_H
