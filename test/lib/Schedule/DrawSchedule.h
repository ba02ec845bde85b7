//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_LIB_SCHEDULE_DRAWSCHEDULE_H
#define ZYX_TEST_LIB_SCHEDULE_DRAWSCHEDULE_H

#include "mlir/Pass/Pass.h"

namespace zyx::test {

/// Gives every kernel of whole tiles a random legal schedule. A program has at most so many threads.
std::unique_ptr<mlir::Pass> createDrawSchedulePass(uint64_t seed, int64_t threads);

} // namespace zyx::test

#endif // ZYX_TEST_LIB_SCHEDULE_DRAWSCHEDULE_H
