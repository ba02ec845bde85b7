//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_PROGRAMMEMORY_H
#define ZYX_DIALECT_KERNEL_IR_PROGRAMMEMORY_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "llvm/Support/MathExtras.h"

namespace zyx::kernel {

/// What an allocation takes, in bytes: whole lines of 64.
inline int64_t allocatedBytes(int64_t bytes) { return llvm::alignTo(bytes, 64); }
inline int64_t allocatedBytes(ViewType type) {
  return allocatedBytes(mlir::ShapedType::getNumElements(type.getShape()) *
                        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
}
inline int64_t bytesOf(AllocOp alloc) { return allocatedBytes(alloc.getType()); }

/// The same of all that a program of the kernel, in the lowered form, allocates in a space.
inline int64_t bytesOf(FuncOp func, Space space) {
  int64_t bytes = 0;
  func.walk([&](AllocOp alloc) {
    if (alloc.getType().getSpace() == space)
      bytes += bytesOf(alloc);
  });
  return bytes;
}

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_PROGRAMMEMORY_H
