//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/FactorLayout.h"

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Dialect/Kernel/IR/MapAlgebra.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;

/// Elements of 16 bits in 16 bytes, at multiples of which the copy engine begins.
static constexpr int64_t alignment = 8;
/// Rows of that many elements begin on lines of memory, of so many elements: a slice of a row is a whole line then.
static constexpr int64_t longRow = 512, lineElements = 64;

static SmallVector<AffineExpr> numbers(MLIRContext *context, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) { return getAffineConstantExpr(value, context); });
}

static BlockAttr strided(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset = 0) {
  return BlockAttr::get(context, numbers(context, shape), numbers(context, strides),
                        getAffineConstantExpr(offset, context), {}, {});
}

static SmallVector<int64_t> values(ArrayRef<AffineExpr> entries) {
  return llvm::map_to_vector(entries, [](AffineExpr entry) { return *BlockAttr::constant(entry); });
}

static bool isConstant(MapAttr map) {
  return llvm::all_of(map.getBlocks(), [](BlockAttr block) {
    auto known = [](ArrayRef<AffineExpr> entries) { return llvm::all_of(entries, BlockAttr::constant); };
    return known(block.getShape()) && known(block.getStrides()) && BlockAttr::constant(block.getOffset()) &&
           known(block.getValidLow()) && known(block.getValidHigh());
  });
}

/// Strides with `order` innermost last, where rows of the last one begin at multiples of so many elements.
static SmallVector<int64_t> stridesIn(ArrayRef<int64_t> shape, ArrayRef<unsigned> order, int64_t multiple = alignment) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (unsigned dim : llvm::reverse(order)) {
    strides[dim] = stride;
    stride = stride == 1 ? llvm::alignTo(shape[dim], multiple) : stride * shape[dim];
  }
  return strides;
}

static int64_t sizeOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t size = 1;
  for (auto [extent, stride] : llvm::zip(shape, strides))
    size = std::max(size, extent * stride);
  return llvm::alignTo(size, alignment);
}

/// The copy with the dimensions that memory has, where one of the factor is several of these: a kernel that copies sees
/// which of them are neighbours where they are read, and need not divide an index by their extents. Not where
/// neighbours are few, as elements of a window are: no vector of these would be written.
static void spreadCopy(FactorLayout &layout) {
  constexpr int64_t fewestNeighbours = 32;
  if (layout.source.getBlocks().size() != 2)
    return;
  const BlockAttr front = layout.source.front(), next = layout.source.getBlocks().back();
  if (front.hasValid() || next.hasValid() || *BlockAttr::constant(front.getOffset()) != 0)
    return;
  const SmallVector<int64_t> extents = values(front.getShape()), steps = values(front.getStrides());
  const SmallVector<int64_t> placed = values(layout.target.front().getStrides());
  const SmallVector<int64_t> shape = values(next.getShape()), strides = values(next.getStrides());
  SmallVector<int64_t> rows(shape.size(), 1), copied, from, to;
  for (size_t dim = shape.size(); dim-- > 1;)
    rows[dim - 1] = rows[dim] * shape[dim];
  int64_t elements = 1;
  for (auto [extent, step, stride] : llvm::zip_equal(extents, steps, placed)) {
    if (extent == 1)
      continue;
    // The dimensions that it steps through, outermost first.
    int64_t left = extent * step;
    size_t dim = 0;
    while (dim < shape.size() && (rows[dim] * shape[dim] > left || shape[dim] == 1))
      ++dim;
    const size_t begin = copied.size();
    for (; dim < shape.size() && rows[dim] >= step && left == rows[dim] * shape[dim]; ++dim) {
      left = rows[dim];
      if (shape[dim] == 1)
        continue;
      const int64_t own = stride * (rows[dim] / step);
      if (copied.size() > begin && from.back() == strides[dim] * shape[dim] && to.back() == own * shape[dim]) {
        copied.back() *= shape[dim];
        from.back() = strides[dim];
        to.back() = own;
      } else {
        copied.push_back(shape[dim]);
        from.push_back(strides[dim]);
        to.push_back(own);
      }
    }
    if (left != step || step == 0)
      return;
    elements *= extent;
  }
  auto hasNeighbours = [&](ArrayRef<int64_t> along) {
    return llvm::any_of(llvm::zip_equal(along, copied),
                        [&](auto dim) { return std::get<0>(dim) == 1 && std::get<1>(dim) >= fewestNeighbours; });
  };
  // Each dimension once: elements that are found twice stay as they are.
  if (elements != rows.front() * shape.front() || !hasNeighbours(from) || !hasNeighbours(to))
    return;
  MLIRContext *context = front.getContext();
  layout.source = MapAttr::get(context, strided(context, copied, from, *BlockAttr::constant(next.getOffset())));
  layout.target = MapAttr::get(context, strided(context, copied, to));
}

std::optional<FactorLayout> zyx::kernel::denseLayout(MapAttr map, unsigned inner) {
  if (!isConstant(map))
    return std::nullopt;
  SmallVector<int64_t> shape = values(map.front().getShape());
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (dim != inner)
      order.push_back(dim);
  order.push_back(inner);
  SmallVector<int64_t> strides = stridesIn(shape, order, shape[inner] < longRow ? alignment : lineElements);
  auto target = MapAttr::get(map.getContext(), strided(map.getContext(), shape, strides));
  FactorLayout layout{target, map, target, sizeOf(shape, strides)};
  spreadCopy(layout);
  return layout;
}

/// One block that finds the same elements as two, where each dimension of the first one steps along one dimension of
/// the second, and none into the next row of it.
static std::optional<BlockAttr> compose(BlockAttr front, BlockAttr next) {
  if (next.hasValid())
    return std::nullopt;
  const SmallVector<int64_t> extents = values(front.getShape()), steps = values(front.getStrides());
  const SmallVector<int64_t> shape = values(next.getShape()), strides = values(next.getStrides());
  SmallVector<int64_t> rows(shape.size(), 1), last(shape.size(), 0);
  for (size_t dim = shape.size(); dim-- > 1;)
    rows[dim - 1] = rows[dim] * shape[dim];
  int64_t rest = *BlockAttr::constant(front.getOffset()), offset = *BlockAttr::constant(next.getOffset());
  if (rest < 0)
    return std::nullopt;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    last[dim] = rest / rows[dim];
    rest %= rows[dim];
    offset += last[dim] * strides[dim];
  }
  SmallVector<int64_t> made;
  for (auto [extent, step] : llvm::zip_equal(extents, steps)) {
    made.push_back(0);
    if (extent == 1 || step == 0)
      continue;
    // The outermost dimension whose rows are no longer than the step.
    size_t dim = 0;
    while (dim < shape.size() && (rows[dim] > step || shape[dim] == 1))
      ++dim;
    if (step < 0 || dim == shape.size() || step % rows[dim] != 0)
      return std::nullopt;
    made.back() = step / rows[dim] * strides[dim];
    last[dim] += (extent - 1) * (step / rows[dim]);
  }
  for (auto [most, extent] : llvm::zip_equal(last, shape))
    if (most >= extent)
      return std::nullopt;
  MLIRContext *context = front.getContext();
  return BlockAttr::get(context, front.getShape(), numbers(context, made), getAffineConstantExpr(offset, context),
                        front.getValidLow(), front.getValidHigh());
}

/// The same elements with the contraction in another order: of its parts, which have these extents, `last` comes last.
static MapAttr withLast(MapAttr map, unsigned depth, ArrayRef<int64_t> extents, size_t last) {
  BlockAttr front = map.front();
  MLIRContext *context = map.getContext();
  SmallVector<int64_t> shape = values(front.getShape()), strides = values(front.getStrides());
  SmallVector<int64_t> inner(extents.size(), strides[depth]), parts, steps;
  for (size_t i = extents.size(); i-- > 1;)
    inner[i - 1] = inner[i] * extents[i];
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim != depth) {
      parts.push_back(shape[dim]);
      steps.push_back(strides[dim]);
      continue;
    }
    for (size_t i = 0; i < extents.size(); ++i)
      if (i != last) {
        parts.push_back(extents[i]);
        steps.push_back(inner[i]);
      }
    parts.push_back(extents[last]);
    steps.push_back(inner[last]);
  }
  SmallVector<BlockAttr> blocks = {strided(context, parts, steps, *BlockAttr::constant(front.getOffset()))};
  llvm::append_range(blocks, map.getBlocks().drop_front());
  while (blocks.size() > 1) {
    std::optional<BlockAttr> one = compose(blocks[0], blocks[1]);
    if (!one)
      break;
    blocks.erase(blocks.begin());
    blocks.front() = *one;
  }
  return reshapeMap(MapAttr::get(context, blocks), shape);
}

/// The map's last block over a copy of what exists of it, with dimension `inner` innermost, and `outer` outermost, if
/// there is one; none where its elements overlap.
static std::optional<FactorLayout> withInnermost(MapAttr map, unsigned inner, int64_t multiple = alignment,
                                                 std::optional<unsigned> outer = std::nullopt) {
  BlockAttr last = map.getBlocks().back();
  MLIRContext *context = map.getContext();
  SmallVector<int64_t> low(last.getRank(), 0), shape = values(last.getShape()), strides = values(last.getStrides());
  SmallVector<int64_t> high = shape;
  if (last.hasValid()) {
    low = values(last.getValidLow());
    high = values(last.getValidHigh());
  }
  int64_t offset = *BlockAttr::constant(last.getOffset());
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    // Outside of its bounds there is nothing, outside of the block nobody asks.
    low[dim] = std::max<int64_t>(low[dim], 0);
    high[dim] = std::min(high[dim], shape[dim]);
    if (high[dim] <= low[dim] || (strides[dim] <= 0 && shape[dim] > 1))
      return std::nullopt;
    offset += low[dim] * strides[dim];
    if (dim != inner)
      order.push_back(dim);
  }
  SmallVector<int64_t> extents;
  for (auto [l, h] : llvm::zip(low, high))
    extents.push_back(h - l);
  auto isOuter = [&](unsigned a, unsigned b) { return std::pair(-strides[a], a) < std::pair(-strides[b], b); };
  llvm::sort(order, isOuter);
  order.push_back(inner);
  SmallVector<unsigned> byStride = order;
  llvm::sort(byStride, isOuter);
  if (outer)
    std::rotate(order.begin(), llvm::find(order, *outer), std::next(llvm::find(order, *outer)));
  int64_t span = 1;
  for (unsigned dim : llvm::reverse(byStride))
    if (extents[dim] > 1) {
      if (strides[dim] < span)
        return std::nullopt;
      span = strides[dim] * extents[dim];
    }
  FactorLayout layout;
  SmallVector<int64_t> placed = stridesIn(extents, order, multiple);
  // Dimensions that follow each other on both sides are one.
  SmallVector<int64_t> copied, from, to;
  for (unsigned dim : byStride) {
    if (!copied.empty() && from.back() == strides[dim] * extents[dim] && to.back() == placed[dim] * extents[dim]) {
      copied.back() *= extents[dim];
      from.back() = strides[dim];
      to.back() = placed[dim];
      continue;
    }
    copied.push_back(extents[dim]);
    from.push_back(strides[dim]);
    to.push_back(placed[dim]);
  }
  layout.source = MapAttr::get(context, strided(context, copied, from, offset));
  layout.target = MapAttr::get(context, strided(context, copied, to));
  layout.elements = sizeOf(extents, placed);
  int64_t begin = 0;
  for (auto [l, stride] : llvm::zip(low, placed))
    begin -= l * stride;
  SmallVector<BlockAttr> blocks(map.getBlocks());
  blocks.back() = BlockAttr::get(context, last.getShape(), numbers(context, placed),
                                 getAffineConstantExpr(begin, context), last.getValidLow(), last.getValidHigh());
  layout.map = MapAttr::get(context, blocks);
  return layout;
}

/// The same map, of whose last block one dimension is two: groups, and so many channels in each; none where only a part
/// of it exists.
static std::optional<MapAttr> splitGroups(MapAttr map, unsigned dim, int64_t channels) {
  BlockAttr last = map.getBlocks().back();
  SmallVector<int64_t> shape = values(last.getShape()), strides = values(last.getStrides());
  SmallVector<int64_t> low = values(last.getValidLow()), high = values(last.getValidHigh());
  if (shape[dim] % channels != 0 || shape[dim] == channels)
    return std::nullopt;
  if (last.hasValid()) {
    if (low[dim] > 0 || high[dim] < shape[dim])
      return std::nullopt;
    low[dim] = 0;
    low.insert(low.begin() + dim, 0);
    high[dim] = channels;
    high.insert(high.begin() + dim, shape[dim] / channels);
  }
  shape.insert(shape.begin() + dim, shape[dim] / channels);
  shape[dim + 1] = channels;
  strides.insert(strides.begin() + dim, strides[dim] * channels);
  MLIRContext *context = map.getContext();
  SmallVector<BlockAttr> blocks(map.getBlocks());
  blocks.back() = BlockAttr::get(context, numbers(context, shape), numbers(context, strides), last.getOffset(),
                                 numbers(context, low), numbers(context, high));
  return MapAttr::get(context, blocks);
}

SmallVector<std::pair<FactorLayout, FactorLayout>>
zyx::kernel::channelLayouts(MapAttr own, unsigned ownDepth, MapAttr other, unsigned otherDepth, bool byGroups) {
  SmallVector<std::pair<FactorLayout, FactorLayout>> result;
  if (!isConstant(own) || !isConstant(other) || own.front().hasValid() || other.front().hasValid())
    return result;
  std::optional<AccessForm> form = AccessForm::compute(own);
  // Where the last blocks have no form with the others, as those of a shuffle behind padding, the copy finds its
  // elements through them.
  SmallVector<BlockAttr> behind;
  for (ArrayRef<BlockAttr> blocks = own.getBlocks(); !form && blocks.size() > 1;) {
    behind.insert(behind.begin(), blocks.back());
    blocks = blocks.drop_back();
    own = MapAttr::get(own.getContext(), blocks);
    form = AccessForm::compute(own);
  }
  if (!form)
    return result;
  SmallVector<int64_t> extents;
  for (unsigned part : form->dims[ownDepth])
    extents.push_back(form->parts[part].extent);
  for (auto [i, part] : llvm::enumerate(form->dims[ownDepth])) {
    const MapAttr ordered = withLast(own, ownDepth, extents, i), turned = withLast(other, otherDepth, extents, i);
    SmallVector<FactorLayout> owns, others = {{turned, {}, {}, 0}};
    // Where channels are next to each other, only the order in which they are contracted is in the way.
    if (form->parts[part].stride == 1 && behind.empty())
      owns.push_back({ordered, {}, {}, 0});
    for (auto [dim, stride] : llvm::enumerate(values(ordered.getBlocks().back().getStrides())))
      if (stride == form->parts[part].stride) {
        const std::optional<MapAttr> split = byGroups ? splitGroups(ordered, dim, extents[i]) : std::nullopt;
        if (std::optional<FactorLayout> moved =
                split ? withInnermost(*split, dim + 1, /*multiple=*/1, dim) : std::nullopt)
          owns.push_back(*moved);
        // Groups that the image has already, as that of a gradient: its vectors need no padding, either.
        ArrayRef<AffineExpr> shape = ordered.getBlocks().back().getShape();
        const bool isGroup = byGroups && !split && dim < shape.size() && BlockAttr::constant(shape[dim]) == extents[i];
        if (std::optional<FactorLayout> moved = isGroup ? withInnermost(ordered, dim, /*multiple=*/1) : std::nullopt)
          owns.push_back(*moved);
        if (std::optional<FactorLayout> moved = withInnermost(ordered, dim))
          owns.push_back(*moved);
      }
    for (FactorLayout &copied : owns)
      if (!behind.empty()) {
        SmallVector<BlockAttr> blocks(copied.source.getBlocks());
        llvm::append_range(blocks, behind);
        copied.source = MapAttr::get(own.getContext(), blocks);
      }
    if (std::optional<FactorLayout> dense = denseLayout(turned, otherDepth))
      others.push_back(*dense);
    for (const FactorLayout &first : owns)
      for (const FactorLayout &second : others)
        result.push_back({first, second});
  }
  return result;
}
