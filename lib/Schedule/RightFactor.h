//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_RIGHTFACTOR_H
#define ZYX_LIB_SCHEDULE_RIGHTFACTOR_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::schedule {

/// The right factor of a dot, a matrix that is read as it lies in an argument.
struct RightFactor {
  kernel::ViewOp view;
  kernel::LoadOp load;
  unsigned argument;
};

/// The factor where its panels may be made before the kernel runs: it is of the type of the sums, or, `isNarrow`, of a
/// narrow one that a matrix unit takes, and only the dot reads the argument.
std::optional<RightFactor> findRightFactor(kernel::DotOp dot, bool isNarrow);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_RIGHTFACTOR_H
