//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_TENSORMAPS_H
#define ZYX_DIALECT_KERNEL_IR_TENSORMAPS_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::target {
struct TargetInfo;
}

namespace zyx::kernel {

/// What a tensor map must describe: a kernel of the machine form has one parameter for each.
struct TensorMap {
  unsigned buffer = 0;
  MapAttr map;
  llvm::SmallVector<int64_t> symbols;
  llvm::SmallVector<int64_t> box;
  int64_t swizzle = 0;
  mlir::Type element;
  /// Null for boxes. Of pixels, `box` is how many, and their channels.
  PixelsAttr pixels;
  bool operator==(const TensorMap &) const = default;
};

/// Of one asynchronous copy; an error at `op` where there can be none. The limits are those of `machine`; where it is
/// null those of the machine that the module is for, and of a text that is for none there are none.
mlir::FailureOr<TensorMap> tensorMapOf(mlir::Operation *op, mlir::Value view, mlir::Value slot, PixelsAttr pixels = {},
                                       const target::TargetInfo *machine = nullptr);
/// Of all copies of a kernel, each once, in the order of its parameters.
mlir::FailureOr<llvm::SmallVector<TensorMap>> tensorMapsOf(FuncOp func, const target::TargetInfo *machine = nullptr);

/// The allocation that a view of shared memory is a part of; null behind anything else.
AllocOp allocationOf(mlir::Value view);

/// Where a kernel of the machine form has its shared memory, in bytes.
struct SharedPlaces {
  llvm::DenseMap<mlir::Operation *, int64_t> offsets;
  int64_t bytes = 0;
};
SharedPlaces placeShared(FuncOp func);

/// Whether threads of a kernel of the machine form read or write global memory themselves.
bool accessesGlobalMemory(FuncOp func);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_TENSORMAPS_H
