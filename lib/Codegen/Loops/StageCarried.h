//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_STAGECARRIED_H
#define ZYX_CODEGEN_LOOPS_STAGECARRIED_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// Has what loops begin with and yield computed into memory of its own, but for dots that add to what
/// the loop carries.
void stageCarried(FuncOp func);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_STAGECARRIED_H
