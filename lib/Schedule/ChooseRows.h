//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_CHOOSEROWS_H
#define ZYX_LIB_SCHEDULE_CHOOSEROWS_H

#include "ScheduleDraft.h"

namespace zyx::schedule {

/// Gives rows and columns of what is combined to programs.
void chooseRows(ScheduleDraft &draft);
/// Has several threads of a GPU walk a long row together, so that neighbours read neighbours. What a row is combined
/// into must be one element in each program.
void chooseThreadsOfRows(ScheduleDraft &draft);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSEROWS_H
