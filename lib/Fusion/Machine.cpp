//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include "zyx/Dialect/Kernel/IR/Target.h"

const zyx::target::TargetInfo &zyx::fusion::getMachine(mlir::Operation *op) {
  static const target::TargetInfo any;
  const target::TargetInfo *found = kernel::findTarget(op);
  return found ? *found : any;
}
