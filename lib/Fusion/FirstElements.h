//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_FIRSTELEMENTS_H
#define ZYX_LIB_FUSION_FIRSTELEMENTS_H

#include "mlir/IR/Block.h"

namespace zyx::fusion {

/// Notes at sorts of which only the first elements are read how many these are. Without `note` all elements are given.
void noteFirstElements(mlir::Block &block, bool note);

/// Sorts few long rows in two: runs, of which there are enough for workgroups, and then the runs together, which has a
/// thread for each element. For a machine that wants many `threads`; with 0 none are.
void sortRuns(mlir::Block &block, int64_t threads);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_FIRSTELEMENTS_H
