//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_CHOOSEELEMENTS_H
#define ZYX_LIB_SCHEDULE_CHOOSEELEMENTS_H

#include "ScheduleDraft.h"

namespace zyx::schedule {

/// Gives elements to programs, and has vectors and neighbouring threads run along what lies side by side.
void chooseElements(ScheduleDraft &draft);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_CHOOSEELEMENTS_H
