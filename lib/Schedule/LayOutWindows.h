//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SCHEDULE_LAYOUTWINDOWS_H
#define ZYX_LIB_SCHEDULE_LAYOUTWINDOWS_H

#include "FactorLayouter.h"

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"

namespace zyx::schedule {

/// Has each launch of a kernel copy what its windows are taken of, padding and all, in the order in which results are
/// written: the kernel reads each element many times, and then without tests, and side by side. False where it has no
/// such windows.
bool layOutWindows(kernel::FuncOp func, mlir::SymbolTable &symbols, llvm::MutableArrayRef<plan::LaunchOp> launches,
                   Copies &copies);

/// For an estimate, has a kernel without products read what its windows are taken of as the copy of it will lie, where
/// neighbours of results are none as it lies now. Returns the bytes that the copies read and write; 0 where there are
/// none.
int64_t readAsCopied(kernel::FuncOp func, const kernel::Axes &axes);

/// The axis along which a kernel's results lie side by side.
std::optional<kernel::Axis> findWritten(kernel::FuncOp func, const kernel::Axes &axes);

} // namespace zyx::schedule

#endif // ZYX_LIB_SCHEDULE_LAYOUTWINDOWS_H
