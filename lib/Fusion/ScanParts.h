//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_SCANPARTS_H
#define ZYX_LIB_FUSION_SCANPARTS_H

#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::fusion {

/// Into how many parts each row of a scan of [outer, extent, inner] falls, so that all cores have some; 1 where rows
/// stay whole.
int64_t countScanParts(int64_t outer, int64_t extent, int64_t inner, const target::TargetInfo &machine);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_SCANPARTS_H
