//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_GRAPH_INFERSYMBOLIC_H
#define ZYX_LIB_GRAPH_INFERSYMBOLIC_H

#include "zyx/Graph/Graph.h"

namespace zyx::graph {

/// inferType where an operand or the requested type has symbols.
Result<TensorType> inferSymbolicType(Op op, const Attributes &attributes, std::span<const TensorType *const> operands,
                                     const TensorType &requested);

/// The first candidate with these values at the points; a number where all are the same.
Result<Extent> findExtent(const std::vector<int64_t> &values, const std::vector<Bindings> &points,
                          const std::vector<Extent> &candidates);

} // namespace zyx::graph

#endif // ZYX_LIB_GRAPH_INFERSYMBOLIC_H
