//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_MATRIX_TENSORDOT_H
#define ZYX_CODEGEN_MATRIX_TENSORDOT_H

#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::kernel {

/// The windows of images with their channels next to each other: rows are windows, the contraction runs over the
/// elements of one and their channels.
struct TensorWindow {
  /// Of the images and each dimension of their positions, outermost first, and of the channels: what exists of them.
  llvm::SmallVector<int64_t> shape, strides;
  int64_t offset = 0;
  /// As #kernel.pixels has them, and how many windows there are along each dimension.
  llvm::SmallVector<int64_t> low, high, steps, counts;
  /// Images among the rows; or the batch that counts them.
  int64_t images = 1;
  std::optional<Axis> image;
  /// A dimension of the elements of a window, of which `apart` positions lie between neighbours.
  struct Elements {
    int64_t extent, position, apart;
  };
  /// Outermost first, as the contraction has them. Channels are innermost.
  llvm::SmallVector<Elements> elements;
  int64_t channels = 0;
};

/// Reads a factor's windows; where it has none for the copy engine, `reason` says why.
std::optional<TensorWindow> matchWindow(LoadOp load, Axis rows, Axis depth, const Axes &axes,
                                        const target::CopyFacts &copies, std::string &reason);

/// Elements along the contraction that are fetched together.
inline constexpr int64_t sliceDepth = 64;

/// A factor that the copy engine can fetch.
struct TensorFactor {
  LoadOp load;
  /// The batches along which it differs, outermost first: those of its view's dimensions before the last two.
  llvm::SmallVector<Axis> batches;
  /// Looks at its buffer as [batches, rows, columns], with the columns next to each other.
  MapAttr map;
  /// The contraction runs along the columns.
  bool alongDepth = false;
  /// Of windows, the map is [images, positions, channels].
  std::optional<TensorWindow> window;
  /// Where the other factor has windows whose channels are no whole slices, the map is [batches, elements of a window,
  /// rows, columns], and the contraction one of the last two: channels. 0 elsewhere.
  int64_t channels = 0;
};

/// A kernel of whole tiles for tensor cores, fed by the copy engine: one product of 16-bit or f8 factors with sums in
/// f32, of i8 with sums in i32, or of f32 that is cut to tf32, and elementwise ops behind it. Or one of f32 with all
/// digits, which threads multiply in the same way.
struct TensorDot {
  /// Bytes of a slice's row along the contraction: what a swizzle exchanges.
  static constexpr int64_t sliceBytes = 128;
  DotOp dot;
  TensorFactor lhs, rhs;
  Axis m = 0, n = 0, k = 0;
  /// Along the contraction, as it is streamed: with channels of windows filled up to whole slices.
  int64_t depth = 0;
  /// All of them, outermost first.
  llvm::SmallVector<Axis> batches;
  llvm::SmallVector<StoreOp> stores;

  /// Threads multiply. They read four neighbours along rows or columns at a time, so that factors whose contraction
  /// runs along their rows are transposed in shared memory.
  bool isSimtF32 = false;
  bool isTransposed(const TensorFactor &factor) const { return isSimtF32 && factor.alongDepth; }

  int64_t elementBytes() const;
  /// Elements of a slice along the contraction.
  int64_t sliceElements() const { return sliceBytes / elementBytes(); }
  /// Sums of products of f8 lose digits where there are many of them: those of a slice are added up apart.
  bool sumsSlices() const;
};

/// Reads the product off a kernel whose constants have one use each (unshareConstants); where it is none for
/// tensor cores, `reason` says why. With `allowsReducedPrecision`, f32 is cut to tf32 and f8 is for them.
std::optional<TensorDot> matchTensorDot(FuncOp func, const Axes &axes, const target::TargetInfo &machine,
                                        bool allowsReducedPrecision, std::string &reason);

/// Whether warps by themselves can multiply it, by mma.sync, with copies by all threads; where not, `reason` says why.
bool isForWarps(const TensorDot &dot, std::string &reason);

/// Where elements of a tile lie along its axes: the stride of each, in elements, and the offset of the first.
struct AxisStrides {
  llvm::SmallVector<std::pair<Axis, int64_t>> strides;
  int64_t offset = 0;
  /// 0 for an axis that it does not have.
  int64_t of(Axis axis) const;
};
/// Of a tile that is loaded or stored as a whole through one block without bounds; none else.
std::optional<AxisStrides> stridesOf(mlir::Value view, mlir::ValueRange indices, mlir::Value tile, const Axes &axes);

/// The same of a tile that is read behind a product. Its columns may be runs of `run` elements, `step` apart, as where
/// a factor of each group of columns is read; `run` is 0 where all are one.
struct ColumnStrides {
  AxisStrides strides;
  int64_t run = 0, step = 0;
};
std::optional<ColumnStrides> columnStridesOf(mlir::Value view, mlir::ValueRange indices, mlir::Value tile, Axis columns,
                                             const Axes &axes);

/// A block of known extents and strides, of which every element exists.
BlockAttr stridedBlock(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                       int64_t offset);

/// Ops that are instructions on f32, i32 and i1, or expand to such.
bool isOnRegisters(mlir::Operation *op);

/// Whether the copy engine can fetch from or write to memory with these strides: `inner` has neighbours, and
/// everything else lies on multiples of 16 bytes.
bool isCopied(const AxisStrides &strides, Axis inner, int64_t elementBytes, const Axes &axes,
              const target::CopyFacts &copies);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_MATRIX_TENSORDOT_H
