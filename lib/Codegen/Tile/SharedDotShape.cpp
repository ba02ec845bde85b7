//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/SharedDotShape.h"

#include "zyx/Codegen/Tile/TileContext.h"
#include "zyx/Dialect/Kernel/IR/ProgramMemory.h"

using namespace mlir;
using namespace zyx::kernel;

/// What kernel.warp_multiply is defined as: threads, rows, columns, steps of the contraction.
static constexpr int64_t threadsOfOp = 32, rowsOfOp = 16, columnsOfOp = 8, depthOfOp = 16;

const zyx::target::MatrixInstruction *zyx::kernel::findWarpProduct(const target::TargetInfo &machine, Type factor) {
  using target::MatrixType;
  if (!factor.isBF16() && !factor.isF16())
    return nullptr;
  const target::MatrixInstruction *found =
      machine.findSubgroupProduct(factor.isBF16() ? MatrixType::BF16 : MatrixType::F16);
  const bool isMeant = found && found->threads == threadsOfOp && found->m == rowsOfOp && found->n == columnsOfOp &&
                       found->k == depthOfOp;
  return isMeant ? found : nullptr;
}

FailureOr<std::optional<SharedDotShape>> SharedDotShape::of(DotOp dot, FuncOp func, const Axes &axes,
                                                            const target::TargetInfo &machine) {
  const std::optional<SharedDotShape> none;
  const std::optional<BlockingAttr> blocking = dot.getBlocking();
  if (!blocking || blocking->getAlongDepth() || func.getCluster().value_or(1) > 1)
    return none;
  const Type element = getElementTypeOrSelf(dot.getType()), factor = getElementTypeOrSelf(dot.getLhs().getType());
  const SmallVector<Axis> all = axes.of(dot.getResult());
  const Axis m = all[all.size() - 2], n = all.back(), k = axes.of(dot.getLhs()).back();
  const FailureOr<AxisEnd> rows = findEnd(func, axes, m), columns = findEnd(func, axes, n),
                           along = findEnd(func, axes, k);
  if (failed(rows) || failed(columns) || failed(along))
    return failure();
  // Of a tile that may be empty no element could be read in the place of others.
  auto mayBeEmpty = [](const AxisEnd &end) {
    auto base = dyn_cast_or_null<Value>(end.base);
    return !end.isWhole() && (!base || mayBeginBeyond(base));
  };
  SharedDotShape shape{axes.extent(m),
                       axes.extent(n),
                       blocking->getRows(),
                       blocking->getColumns(),
                       axes.extent(k),
                       blocking->getDepth(),
                       static_cast<int64_t>(func.getThreads().value_or(1)),
                       std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1)};
  if (!along->isWhole() || shape.depth == 0 || shape.rows == 0 || shape.columns == 0 || mayBeEmpty(*rows) ||
      mayBeEmpty(*columns))
    return none;
  int64_t sharing = 1;
  if (blocking->getNarrow()) {
    shape.product = findWarpProduct(machine, factor);
    if (!shape.product || factor != getElementTypeOrSelf(dot.getRhs().getType()) || !element.isF32() ||
        shape.threads % shape.product->threads != 0 || shape.ownRows % shape.product->n != 0 ||
        shape.ownColumns % shape.product->n != 0 ||
        (shape.ownRows % shape.product->m != 0 && shape.ownColumns % shape.product->m != 0))
      return none;
    shape.wantedDepth = llvm::alignTo(shape.wantedDepth, shape.product->k);
    sharing = shape.product->threads;
  }
  // More sums are no registers.
  constexpr int64_t mostSums = 128, mostPieces = 64;
  const int64_t broughtRows = shape.product ? shape.rows : shape.paddedRows(),
                broughtColumns = shape.product ? shape.columns : shape.paddedColumns();
  if (shape.ownRows * shape.ownColumns > mostSums * sharing || shape.threadsOfTile() > shape.threads ||
      shape.sliceDepth() * std::max(broughtRows, broughtColumns) > mostPieces * shape.threads)
    return none;
  return std::optional(shape);
}

int64_t SharedDotShape::sliceDepth() const {
  return product ? std::min<int64_t>(llvm::alignTo(depth, product->k), wantedDepth) : std::min(depth, wantedDepth);
}

int64_t SharedDotShape::threadsOfTile() const {
  return paddedRows() / ownRows * (paddedColumns() / ownColumns) * (product ? product->threads : 1);
}

int64_t SharedDotShape::groups() const {
  int64_t groups = 1;
  while (2 * groups * threadsOfTile() <= threads && sliceDepth() % (2 * groups * (product ? product->k : 1)) == 0)
    groups *= 2;
  return groups;
}

std::pair<int64_t, int64_t> SharedDotShape::sliceMemory(int64_t padded, bool byElements) const {
  // Rows begin four banks apart, and on 16 bytes; where warps read eight of them at once, on an odd multiple of that.
  constexpr int64_t gap = 4;
  if (!product)
    return {stages() * sliceDepth(), static_cast<int64_t>(llvm::alignTo(padded, gap)) + gap};
  if (byElements)
    return {stages() * padded, sliceDepth() + product->n};
  return {stages() * sliceDepth(), static_cast<int64_t>(llvm::alignTo(padded, product->m)) + product->n};
}

int64_t SharedDotShape::sharedBytes() const {
  constexpr int64_t warpFactorBytes = 2;
  auto bytesOf = [&](int64_t padded, bool byElements) {
    const auto [high, wide] = sliceMemory(padded, byElements);
    return allocatedBytes(high * wide * (product ? warpFactorBytes : sumBytes));
  };
  int64_t bytes = allocatedBytes((groups() > 1 ? groups() : 0) * paddedRows() * paddedColumns() * sumBytes);
  for (int64_t padded : {paddedRows(), paddedColumns()})
    bytes += product ? std::max(bytesOf(padded, false), bytesOf(padded, true)) : bytesOf(padded, false);
  return bytes;
}
