//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_BACKEND_UNIFORM_H
#define ZYX_TARGET_BACKEND_UNIFORM_H

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

} // namespace zyx::target

#endif // ZYX_TARGET_BACKEND_UNIFORM_H
