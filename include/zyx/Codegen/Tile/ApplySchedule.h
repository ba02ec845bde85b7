//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_APPLYSCHEDULE_H
#define ZYX_CODEGEN_TILE_APPLYSCHEDULE_H

#include "zyx/Base/Status.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// Splits a kernel by the steps of its schedule. A step that is not legal is an error at the kernel, which is left
/// between two schedules then.
mlir::LogicalResult applySchedule(FuncOp func);
/// Why a kernel of the tiled form cannot be split by these steps, if so: what `applySchedule` says of a copy. Whether
/// that is worth it is another question.
Status checkSchedule(FuncOp func, llvm::ArrayRef<mlir::Attribute> steps);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_APPLYSCHEDULE_H
