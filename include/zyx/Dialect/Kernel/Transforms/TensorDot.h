//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_TRANSFORMS_TENSORDOT_H
#define ZYX_DIALECT_KERNEL_TRANSFORMS_TENSORDOT_H

#include "zyx/Dialect/Kernel/Transforms/Axes.h"

namespace zyx::kernel {

/// A factor that the copy engine can fetch.
struct TensorFactor {
  LoadOp load;
  /// The batches along which it differs, outermost first: those of its view's dimensions before the last two.
  llvm::SmallVector<Axis> batches;
  /// Looks at its buffer as [batches, rows, columns], with the columns next to each other.
  MapAttr map;
  /// The contraction runs along the columns.
  bool alongDepth = false;
};

/// A kernel of whole tiles that tensor cores can compute: one product of 16-bit factors with sums in f32, and
/// elementwise ops behind it.
struct TensorDot {
  DotOp dot;
  TensorFactor lhs, rhs;
  Axis m = 0, n = 0, k = 0;
  /// All of them, outermost first.
  llvm::SmallVector<Axis> batches;
  llvm::SmallVector<StoreOp> stores;
};

/// Reads the product off a kernel whose constants have one use each (unshareConstants); where it is none for
/// tensor cores, `reason` says why.
std::optional<TensorDot> matchTensorDot(FuncOp func, const Axes &axes, std::string &reason);

/// Where elements of a tile lie along its axes: the stride of each, in elements, and the offset of the first.
struct AxisStrides {
  llvm::SmallVector<std::pair<Axis, int64_t>> strides;
  int64_t offset = 0;
  /// 0 for an axis that it does not have.
  int64_t of(Axis axis) const;
};
/// Of a tile that is loaded or stored as a whole through one block without bounds; none else.
std::optional<AxisStrides> stridesOf(mlir::Value view, mlir::ValueRange indices, mlir::Value tile, const Axes &axes);

/// A block of known extents and strides, of which every element exists.
BlockAttr stridedBlock(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                       int64_t offset);

/// Whether the copy engine can fetch from or write to memory with these strides: `inner` has neighbours, and
/// everything else lies on multiples of 16 bytes.
bool isCopied(const AxisStrides &strides, Axis inner, int64_t elementBytes, const Axes &axes);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_TRANSFORMS_TENSORDOT_H
