//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_UNIFORM_H
#define ZYX_TARGET_BACKEND_UNIFORM_H

#include "zyx/Base/Status.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::target {

/// What is the same for all threads of a workgroup. A barrier that some of them do not come to waits for ever, or lets
/// others go on too early; each driver does something else then.
class Uniform {
public:
  /// Whether all threads come to the op, or none.
  bool isReachedByAll(mlir::Operation *op);

private:
  bool has(mlir::Value value);
  bool compute(mlir::Value value);
  bool hasAll(mlir::ValueRange values) {
    return llvm::all_of(values, [&](mlir::Value value) { return has(value); });
  }
  /// Whether all threads run the body of an op the same number of times.
  bool decides(mlir::Operation *op);

  /// What a loop carries is so, until it is known better.
  llvm::DenseMap<mlir::Value, bool> known;
};

/// How threads run a kernel of scalars.
struct ThreadUse {
  /// Threads of a workgroup that has a program together, or 1.
  int64_t groupThreads = 1;
  /// Scratch memory of each thread; 0 where what it allocates fits into its own.
  int64_t scratchBytes = 0;
  /// What a launch gives, in its order: buffers first.
  llvm::SmallVector<mlir::Value> arguments;
  /// Buffers of which threads read what others of their workgroup wrote there.
  llvm::SmallDenseSet<mlir::Value, 8> readBack;
  /// Threads combine what those of their subgroup have.
  bool hasSubgroups = false;
};

/// Refuses what a kernel of scalars asks of its threads and a language has no form for: scalars that are no integers,
/// shared memory of one thread, barriers that not all threads of the workgroup come to, and other ops of the dialect.
/// Without threads of a program it has neither barriers nor their numbers, nor scratch memory. `mostPrivateBytes` is
/// what a thread may have on its own.
Result<ThreadUse> findThreadUse(kernel::FuncOp func, const char *language, int64_t mostPrivateBytes,
                                bool hasThreads = true);

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_UNIFORM_H
