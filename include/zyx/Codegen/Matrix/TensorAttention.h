//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_TENSORATTENTION_H
#define ZYX_CODEGEN_MATRIX_TENSORATTENTION_H

#include "zyx/Codegen/Matrix/TensorPlaces.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace zyx::kernel {

/// softmax(f(Q x K)) x V of whole tiles that tensor cores can compute. Queries, keys, values and results have one
/// 16-bit type, scores and sums are f32.
struct TensorAttention {
  DotOp scores, output;
  ReduceOp max;
  mlir::math::ExpOp exp;
  /// Of the exponentials along the keys.
  llvm::SmallVector<ReduceOp> sums;
  Axis queries = 0, keys = 0;
  /// Features of queries and keys, and of values.
  int64_t depth = 0, width = 0;
  /// All of them, as tiles are taken, outermost first.
  llvm::SmallVector<Axis> batches;
  TensorOperand q, k, v, result;
  StoreOp store;
  /// Of what rows have: results that follow from the maximum and the sum.
  llvm::SmallVector<StoreOp> ofRows;
  /// The scores without what is masked: `unmasked` times `scale`, which is positive.
  mlir::Value unmasked;
  double scale = 1;
  /// What is outside of one of them is minus infinity. `unmasked` is without the first `peeled` ones. It has the others
  /// inside: of conditions that say more, or of what is added to scores.
  llvm::SmallVector<TensorBound> bounds;
  size_t peeled = 0;
  /// `unmasked` depends on the places of queries and keys, or on what is read for them.
  bool readsPlaces = false;
  /// There is something to read for each of the scores, or 64 bits for each of the keys.
  bool readsMasks = false;
  /// The exponentials are multiplied with this before the last product.
  double weight = 1;
};

/// Whether a kernel may be one: it has two dots and a reduction.
bool isAttention(FuncOp func);

/// Reads the attention off a kernel that may be one, and whose constants have one use each (unshareConstants); where it
/// is none for tensor cores, `reason` says why.
std::optional<TensorAttention> matchTensorAttention(FuncOp func, const Axes &axes, const target::TargetInfo &machine,
                                                    std::string &reason);

/// Makes the machine form of a kernel and erases it. `func` has been matched, and has a tensor_step, whose tiles are of
/// queries and keys.
void mapAttention(FuncOp func, const TensorAttention &attention, const Axes &axes);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_MATRIX_TENSORATTENTION_H
