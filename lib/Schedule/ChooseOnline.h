//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_CHOOSEONLINE_H
#define ZYX_LIB_SCHEDULE_CHOOSEONLINE_H

#include "ScheduleDraft.h"

namespace zyx::schedule {

/// False where the kernel is no attention, or its steps are not legal; then some may be left in the draft.
bool chooseAttention(ScheduleDraft &draft);
/// The same of a chain of contractions: a program per block of rows walks what is summed up.
bool chooseChain(ScheduleDraft &draft);
/// Sums along rows and sums across them: a workgroup has a part of the rows, reads one of them at a time into
/// registers, and adds to the columns' sums in shared memory. False where the kernel has no such sums.
bool chooseRowAndColumnReductions(ScheduleDraft &draft);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSEONLINE_H
