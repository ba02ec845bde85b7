//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_CHOOSECLUSTERS_H
#define ZYX_LIB_FUSION_CHOOSECLUSTERS_H

#include "zyx/Dialect/Graph/Analysis/RecurrentShape.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::fusion {

/// The fastest way to divide a recurrent loop among clusters; nothing where weights, rows or threads do not fit, or
/// where launches in each trip are faster.
std::optional<graph::ir::RecurrentShape> chooseClusters(const graph::ir::ElementLoop &loop,
                                                        const target::TargetInfo &machine);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_CHOOSECLUSTERS_H
