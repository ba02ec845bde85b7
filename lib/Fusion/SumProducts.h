//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_SUMPRODUCTS_H
#define ZYX_LIB_FUSION_SUMPRODUCTS_H

#include "GroupGraph.h"

namespace zyx::fusion {

/// Makes one group of each sum that -zyx-fusion-sum-products has noted, and the products that it is computed of.
void mergeSums(GroupGraph &graph);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_SUMPRODUCTS_H
