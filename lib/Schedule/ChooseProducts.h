//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_CHOOSEPRODUCTS_H
#define ZYX_LIB_SCHEDULE_CHOOSEPRODUCTS_H

#include "ScheduleDraft.h"

namespace zyx::schedule {

/// Schedules of a kernel that is a dot with what is computed element by element, the best one first, at most `most`.
llvm::SmallVector<Choice> chooseProducts(ScheduleDraft &draft, kernel::DotOp dot, unsigned most);
/// Whether workgroups that share small tiles are estimated to multiply f32 in less time than `cost`, that of the copy
/// engine's ring, whose tiles are large: of few results there are few of these. Both multiply by the same lanes.
bool isFasterByThreads(ScheduleDraft &draft, double cost);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSEPRODUCTS_H
