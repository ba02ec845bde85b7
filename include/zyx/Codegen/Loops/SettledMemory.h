//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_LOOPS_SETTLEDMEMORY_H
#define ZYX_CODEGEN_LOOPS_SETTLEDMEMORY_H

#include "zyx/Base/Status.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel {

/// Why the threads and workgroups of a kernel with a schedule would not stay: what -zyx-kernel-settle-memory would say
/// of a copy to which -zyx-kernel-apply-schedule and -zyx-kernel-stage-reused have been applied. Whoever chooses a
/// schedule asks this first, because a program that falls to one thread takes a hundred times as long.
Status checkSettledMemory(FuncOp func, const target::TargetInfo &machine);
/// Bytes that threads of such a kernel will share. Fails where that is not counted before it is lowered.
mlir::FailureOr<int64_t> countSharedBytes(FuncOp func, const target::TargetInfo &machine);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_LOOPS_SETTLEDMEMORY_H
