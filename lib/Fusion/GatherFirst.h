//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_GATHERFIRST_H
#define ZYX_LIB_FUSION_GATHERFIRST_H

#include "mlir/IR/Block.h"

namespace zyx::fusion {

/// Where few elements are gathered of what is computed element by element and read by nobody else, gathers what it is
/// computed from, and computes with that: so a log-softmax of which one element of each row is taken is not stored.
void gatherFirst(mlir::Block &block);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_GATHERFIRST_H
