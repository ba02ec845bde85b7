//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_GRAPH_INFERBODY_H
#define ZYX_LIB_GRAPH_INFERBODY_H

#include "zyx/Graph/Graph.h"

namespace zyx::graph {

/// The type of one result of a loop, and of one of a custom op. There is at least one operand.
Result<TensorType> inferLoop(const Attributes &attributes, std::span<const TensorType *const> operands);
Result<TensorType> inferCustom(const Attributes &attributes, std::span<const TensorType *const> operands);

} // namespace zyx::graph

#endif // ZYX_LIB_GRAPH_INFERBODY_H
