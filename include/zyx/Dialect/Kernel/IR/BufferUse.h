//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_BUFFERUSE_H
#define ZYX_DIALECT_KERNEL_IR_BUFFERUSE_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// Whether what the kernel reads of a buffer may be what it wrote there.
inline bool isReadAndWritten(mlir::Value buffer) {
  bool isRead = false, isWritten = false;
  llvm::SmallVector<mlir::Value> places{buffer};
  while (!places.empty())
    for (mlir::OpOperand &use : places.pop_back_val().getUses()) {
      mlir::Operation *user = use.getOwner();
      if (llvm::isa<ViewOp, SubviewOp>(user))
        places.push_back(user->getResult(0));
      else if (auto store = llvm::dyn_cast<StoreOp>(user))
        isWritten |= use.get() == store.getView();
      else
        isRead = true;
    }
  return isRead && isWritten;
}

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_BUFFERUSE_H
