//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_STRIDES_H
#define ZYX_LIB_SCHEDULE_STRIDES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::schedule {

/// How far neighbours along a dimension are apart in memory, where they do not cross the end of a row; or elements that
/// are `steps` apart.
int64_t strideThrough(kernel::MapAttr map, unsigned dim, int64_t steps = 1);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_STRIDES_H
