//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_COMMANDORDER_H
#define ZYX_LIB_SCHEDULE_COMMANDORDER_H

#include "zyx/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/SetVector.h"

namespace zyx::schedule {

/// What each command of a block waits for, of those in front of it, by the memory that both use; the most commands that
/// follow each other up to it, and from it on.
struct CommandOrder {
  explicit CommandOrder(llvm::ArrayRef<plan::CommandOpInterface> commands);
  llvm::SmallVector<llvm::SmallSetVector<unsigned, 8>> waits;
  llvm::SmallVector<unsigned> before, behind;
  /// Of the longest chain.
  unsigned length = 0;
};

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_COMMANDORDER_H
