//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_CHOOSEWINDOWS_H
#define ZYX_LIB_SCHEDULE_CHOOSEWINDOWS_H

#include "ScheduleDraft.h"

namespace zyx::schedule {

/// Whether few elements are combined into each of the result's, and some are read for several of them.
bool combinesWindows(ScheduleDraft &draft);
/// Gives windows to programs; a vector has so many lanes.
void chooseWindows(ScheduleDraft &draft, int64_t lanes);
/// Windows over what is padded, and factors that lie across vectors: a program copies what it reads of them, once,
/// and has so many rows of results that it reads each element of the operand hardly more often than they overlap.
/// False where nothing is copied.
bool chooseNearWindows(ScheduleDraft &draft, int64_t lanes);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSEWINDOWS_H
