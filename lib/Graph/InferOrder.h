//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Types of the ops in which the order of elements counts.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_GRAPH_INFERORDER_H
#define ZYX_LIB_GRAPH_INFERORDER_H

#include "zyx/Graph/Graph.h"

namespace zyx::graph {

Result<TensorType> inferScan(const Attributes &attributes, const TensorType &x);
Result<TensorType> inferSort(const Attributes &attributes, const TensorType &x);
Result<TensorType> inferScatter(const Attributes &attributes, const TensorType &x, const TensorType &indices,
                                const TensorType &updates);
Result<TensorType> inferRandomBits(const TensorType &seed, const TensorType &requested);

} // namespace zyx::graph

#endif // ZYX_LIB_GRAPH_INFERORDER_H
