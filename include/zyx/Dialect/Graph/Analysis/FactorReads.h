//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// In which order contractions like to read what their factors are made of.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_FACTORREADS_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_FACTORREADS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::graph::ir {

/// A value that a factor of a contraction is computed of, element by element and through views.
struct FactorRead {
  /// A block argument, or what is neither a view nor element-wise; also what is, where only casts are gone through.
  mlir::Value source;
  /// What each dimension of it is to the contraction, as bits: one may be made of several, or none.
  enum Role : unsigned { Repeated = 0, Contracted = 1, Row = 2, Batch = 4 };
  llvm::SmallVector<unsigned> roles;
  /// Whether windows of it are read.
  bool isWindow;
  /// Whether the factor has 16 bits.
  bool isNarrow;
};

/// Whether element-wise ops are gone through, or casts alone: a kernel of its own may store what others compute.
enum class Through { Computed, Casts };

/// What the factors of a contraction are made of; nothing where the reduce is none.
llvm::SmallVector<FactorRead> findFactorReads(ReduceOp reduce, Through through = Through::Computed);

/// The dimension that has to lie last for the source to be a matrix in memory: what is contracted in one run of
/// dimensions, and what is beside it in another; of windows what is contracted comes last. None where it is one in its
/// own order, or where no dimension alone is in the way.
std::optional<int64_t> findLastDim(const FactorRead &read);

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_FACTORREADS_H
