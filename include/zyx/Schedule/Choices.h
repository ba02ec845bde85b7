//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_CHOICES_H
#define ZYX_SCHEDULE_CHOICES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Dialect/Plan/IR/PlanOps.h"

/// The ways in which a kernel may be scheduled, of which one is taken. docs/tuning.md has the whole.
namespace zyx::schedule {

/// One of them.
struct Choice {
  kernel::ScheduleAttr schedule;
  /// Of a GPU, where a program is more than a thread; else 0.
  int64_t threads = 0, cluster = 0;
  /// Estimated cycles; 0 where nothing estimates them.
  double cost = 0;
  /// The axis of the columns where a workgroup has a strip of them, whose rows its threads have in turns.
  std::optional<unsigned> columns;
  /// Threads that a multiprocessor is to have room for; 0 where nothing asks for some.
  int64_t residentThreads = 0;

  /// By which a choice is known outside of the compiler.
  std::string toString() const;
  void applyTo(kernel::FuncOp func) const;
};

/// Choices of a kernel that are listed, at most.
inline constexpr unsigned mostChoices = 16;

using Launches = llvm::DenseMap<llvm::StringRef, llvm::SmallVector<plan::LaunchOp>>;
/// Of each kernel, by its name.
Launches collectLaunches(mlir::Operation *root);

/// What a kernel that has no schedule is known by: all that it computes, on which sizes, and which of what it reads are
/// weights, but neither its name nor where it came from. 32 hexadecimal digits.
std::string kernelKey(kernel::FuncOp func, llvm::ArrayRef<plan::LaunchOp> launches);

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_CHOICES_H
