//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_DIMSPLITTER_H
#define ZYX_LIB_FUSION_DIMSPLITTER_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <optional>

namespace zyx::fusion {

/// Makes two dimensions of one: parts, and what each has. Through gathers, too, whose result a kernel sees under no
/// other extents: what they gather from gets the dimensions, or their indices.
class DimSplitter {
public:
  using Ops = llvm::SmallPtrSet<mlir::Operation *, 16>;

  /// It goes through each op of `through`, whoever reads that too: these are cloned once.
  DimSplitter(mlir::OpBuilder &builder, int64_t count, Ops through = {})
      : builder(builder), count(count), through(std::move(through)) {}

  /// Whether a gather lies between the value and what is in memory, with nothing else on the way than `split` goes
  /// through.
  bool meetsGather(mlir::Value value, int64_t dim, int depth = 16);

  /// Whether a value has more elements than each thing that it is made of, element by element and through views, so
  /// that it should not be stored. Behind a reshape that nothing goes through it would be.
  bool isLargerThanSources(mlir::Value value, int64_t most, int depth = 16);

  mlir::Value split(mlir::Value value, int64_t dim);

private:
  mlir::Value splitOnce(mlir::Value value, int64_t dim);

  llvm::SmallVector<int64_t> splitShape(llvm::ArrayRef<int64_t> shape, int64_t dim) const;
  /// The dimension of its operand that one of a permute or a unit reshape is; an expand's own, where that is not
  /// repeated.
  static std::optional<int64_t> innerDim(mlir::Operation *op, int64_t dim);

  mlir::OpBuilder &builder;
  const int64_t count;
  const Ops through;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> clones;
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_DIMSPLITTER_H
