//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_SINKS_H
#define ZYX_LIB_FUSION_SINKS_H

#include "zyx/Dialect/Graph/Analysis/Attention.h"

namespace zyx::fusion {

/// An attention whose softmax has other scores beside those of keys, which have no value:
///
///     largest = max(max x, ...)           of a row
///     exp     = exp(x - largest)
///     sum     = (reduce add exp) + others
///     P       = exp / sum
struct Sinks {
  graph::ir::Attention attention;
  /// The larger of the maximum and that of the others, and the sum of the exponentials of all: numbers of a row.
  graph::ir::BinaryOp largest, sum;
  /// The sum of the exponentials of keys, and those of the others, which are not negative.
  graph::ir::ReduceOp keysSum;
  mlir::Value others;
  /// What is divided by the sum of all, or multiplied with one over it.
  graph::ir::BinaryOp quotient;
};

/// The attention with sinks whose last sum a reduce is, or none.
std::optional<Sinks> matchSinks(graph::ir::ReduceOp output);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_SINKS_H
