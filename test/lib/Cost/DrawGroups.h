//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_LIB_COST_DRAWGROUPS_H
#define ZYX_TEST_LIB_COST_DRAWGROUPS_H

#include "mlir/Pass/Pass.h"

namespace zyx::test {

/// Cuts groups anywhere, in place of -zyx-cost-cut-groups.
std::unique_ptr<mlir::Pass> createDrawCutsPass(uint64_t seed);

/// Stores results of groups in any order of their dimensions, in place of -zyx-cost-lay-out-results.
std::unique_ptr<mlir::Pass> createDrawOrdersPass(uint64_t seed);

} // namespace zyx::test

#endif // ZYX_TEST_LIB_COST_DRAWGROUPS_H
