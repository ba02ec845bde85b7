//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_MERGEPRODUCTS_H
#define ZYX_LIB_FUSION_MERGEPRODUCTS_H

#include "GroupGraph.h"

#include "zyx/Dialect/Graph/Analysis/Views.h"

namespace zyx::fusion {

/// A product of matrices, of which one factor is computed element by element of other products.
struct ProductPair {
  graph::ir::ReduceOp sum;
  graph::ir::BinaryOp product;
  /// The computed factor, and the one that lies in memory.
  mlir::Value left, right;
  /// Of the computed factor: matrices, their rows, and how many elements of a row are added up.
  int64_t batches = 1, rows = 0, terms = 0;
  /// Multiplications of the first products, and what is computed element by element behind these, or beside them of
  /// something else.
  llvm::SmallVector<mlir::Operation *> inner;
  llvm::SetVector<mlir::Operation *> between;
  /// The computed factor is not rounded to the type of the other one.
  bool isWide = false;

  mlir::Type rightElement() const;
  /// Whether both have one computed factor and are added up, and nobody reads them else: tensor cores sum up such
  /// products as one.
  bool isAddedTo(const ProductPair &other) const;
};

/// The pair that ends with a sum, where tensor cores for `bits` have a place for it in one kernel; none otherwise.
/// Factors that are not rounded are multiplied in parts, which bf16 alone can be; any 16-bit type that such a factor is
/// multiplied with counts where `anyType` says so.
std::optional<ProductPair> matchProductPair(graph::ir::ReduceOp sum, int64_t bits, bool anyType = false);

/// Makes one group of such products, what lies between them, and others of the same computed factor that are added to
/// them, so that nothing with rows and columns of the first product is stored.
void mergeProducts(GroupGraph &graph, int64_t bits);

/// The type of both factors in memory of a sum of products that tensor cores compute and keep in registers: of `bits`,
/// and at most 256 features side by side; none where it is no such sum.
std::optional<mlir::Type> elementOfTensorProduct(graph::ir::ReduceOp sum, int64_t bits);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_MERGEPRODUCTS_H
