//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_PROGRAMMEMORY_H
#define ZYX_DIALECT_KERNEL_IR_PROGRAMMEMORY_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace zyx::kernel {

/// What an allocation takes, in bytes: whole lines of 64.
inline int64_t allocatedBytes(int64_t bytes) { return llvm::alignTo(bytes, 64); }
inline int64_t allocatedBytes(ViewType type) {
  return allocatedBytes(mlir::ShapedType::getNumElements(type.getShape()) *
                        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
}
inline int64_t bytesOf(AllocOp alloc) { return allocatedBytes(alloc.getType()); }

/// On an `scf.if` whose condition is the same for all threads of a workgroup, and which each program comes to once:
/// what its branches allocate is one memory.
inline constexpr llvm::StringLiteral alternativesAttrName = "kernel.alternatives";

/// Where the allocations of a region lie that are in a space, from `begin` on. Returns where they end.
inline int64_t placeAllocations(mlir::Region &region, Space space, int64_t begin,
                                llvm::function_ref<void(AllocOp, int64_t)> note) {
  int64_t end = begin;
  for (mlir::Block &block : region)
    for (mlir::Operation &op : block) {
      if (auto alloc = llvm::dyn_cast<AllocOp>(op); alloc && alloc.getType().getSpace() == space) {
        note(alloc, end);
        end += bytesOf(alloc);
      }
      const bool areAlternatives = op.hasAttr(alternativesAttrName);
      const int64_t from = end;
      for (mlir::Region &inner : op.getRegions())
        end = std::max(end, placeAllocations(inner, space, areAlternatives ? from : end, note));
    }
  return end;
}

/// The bytes of all that a program of the kernel, in the lowered form, allocates in a space.
inline int64_t bytesOf(FuncOp func, Space space) {
  return placeAllocations(func.getBody(), space, 0, [](AllocOp, int64_t) {});
}

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_PROGRAMMEMORY_H
