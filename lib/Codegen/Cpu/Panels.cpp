//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Cpu/Panels.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

/// A block of numbers, with the interval of each dimension that exists, [0, high), where there are some.
static BlockAttr blockOf(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset = 0,
                         ArrayRef<int64_t> high = {}) {
  auto constants = [&](ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t value) { return getAffineConstantExpr(value, context); });
  };
  SmallVector<int64_t> low(high.size(), 0);
  return BlockAttr::get(context, constants(shape), constants(strides), getAffineConstantExpr(offset, context),
                        constants(low), constants(high));
}

int64_t zyx::kernel::findEqualPiece(int64_t depth, int64_t most, int64_t unit) {
  for (int64_t piece = std::min(most, depth), least = llvm::divideCeil(piece, 2); piece >= std::max<int64_t>(least, 1);
       --piece)
    if (depth % piece == 0 && piece % unit == 0)
      return piece;
  return 0;
}

SmallVector<int64_t> Panels::shape() const {
  if (group == 1)
    return {depth / piece, count(), piece, width};
  return {depth / piece, count(), piece / group, width, group};
}

MapAttr Panels::lookThrough(MLIRContext *context) const {
  int64_t panel = piece * width;
  BlockAttr matrix = blockOf(context, {depth, columns}, {count() * width, 1});
  if (group == 1)
    return MapAttr::get(context, {matrix, blockOf(context, {depth / piece, piece, count(), width},
                                                  {count() * panel, width, panel, 1})});
  return MapAttr::get(context, {matrix, blockOf(context, {depth / piece, piece / group, group, count(), width},
                                                {count() * panel, width * group, 1, panel, group})});
}

MapAttr Panels::readFrom(BlockAttr matrix) const {
  MLIRContext *context = matrix.getContext();
  auto stepsOf = [&](int64_t down, int64_t across) {
    SmallVector<int64_t> steps = {piece * down, width * across, group * down, across};
    if (group > 1)
      steps.push_back(down);
    return steps;
  };
  int64_t down = *BlockAttr::constant(matrix.getStrides()[0]), across = *BlockAttr::constant(matrix.getStrides()[1]);
  int64_t offset = *BlockAttr::constant(matrix.getOffset());
  if (columns % width == 0)
    return MapAttr::get(context, {blockOf(context, shape(), stepsOf(down, across), offset)});
  int64_t all = count() * width;
  return MapAttr::get(context, {blockOf(context, shape(), stepsOf(all, 1)),
                                blockOf(context, {depth, all}, {down, across}, offset, {depth, columns})});
}

std::optional<Panels> Panels::match(MapAttr map) {
  if (map.getBlocks().size() != 2 || map.front().getRank() != 2)
    return std::nullopt;
  auto number = [&](unsigned block, unsigned dim) {
    return BlockAttr::constant(map.getBlocks()[block].getShape()[dim]).value_or(0);
  };
  unsigned rank = map.getBlocks()[1].getRank();
  Panels panels{number(0, 0), number(0, 1), 0, 0};
  if (rank == 4)
    panels.piece = number(1, 1), panels.width = number(1, 3);
  else if (rank == 5)
    panels.piece = number(1, 1) * number(1, 2), panels.width = number(1, 4), panels.group = number(1, 2);
  if (panels.depth < 1 || panels.columns < 1 || panels.piece < 1 || panels.width < 1 ||
      panels.depth % panels.piece != 0 || panels.lookThrough(map.getContext()) != map)
    return std::nullopt;
  return panels;
}
