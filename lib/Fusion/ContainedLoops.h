//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_CONTAINEDLOOPS_H
#define ZYX_LIB_FUSION_CONTAINEDLOOPS_H

#include "mlir/IR/Block.h"

namespace zyx::fusion {

/// A gradient evaluates a loop again, and stores what it carried: what is done twice is done once.
void replaceContained(mlir::Block &block);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_CONTAINEDLOOPS_H
