//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_ATTENTION_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_ATTENTION_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::graph::ir {

/// A group with this attribute writes a result whose rows, its last dimension, stay an axis of the kernel: they may be
/// padded in memory.
inline constexpr llvm::StringLiteral keepsRowsAttrName = "zyx.keeps_rows";

/// softmax(f(Q x K)) x V, found in the ops that spell it:
///
///     scores = reduce add (mul Q K)        along the features
///     x      = f(scores)                   element-wise: scale, mask, casts
///     max    = reduce max x                along the keys
///     exp    = exp(x - max)
///     output = reduce add (mul P V)        along the keys; P is linear in exp
///
/// Between `exp` and `output` stand casts, views, and products and quotients whose other operand is
/// the same for all keys of a row: the division by the sum, wherever it was written.
struct Attention {
  ReduceOp scores, max, output;
  UnaryOp exp;
  /// The operands through which the exponentials come into `output`, from that of its product back
  /// to the first reader of `exp`.
  llvm::SmallVector<mlir::OpOperand *> weights;
  /// Those among them beside which stands a factor of the row that is no splat.
  llvm::SmallVector<mlir::OpOperand *> beside;
};

/// Whether the exponentials of an attention are relative to the largest score, or also to the larger of this and other
/// numbers of the row.
enum class Largest { OfScores, OfOthersToo };

/// The attention whose last sum a reduce is, or none. Whether its axes make one kernel is for
/// IterationSpace to say.
std::optional<Attention> matchAttention(ReduceOp output, Largest largest = Largest::OfScores);

/// Whether a reduce sums, along the keys, what is linear in `exp`, as that of the softmax does.
bool isSumOf(ReduceOp reduce, UnaryOp exp);

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_ATTENTION_H
