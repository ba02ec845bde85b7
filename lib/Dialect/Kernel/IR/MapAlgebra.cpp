//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/MapAlgebra.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace zyx::kernel {

namespace {
/// One dimension of a block.
struct Dim {
  AffineExpr extent, stride;
  /// Null where every index is valid.
  AffineExpr low, high;

  bool isUnit() const { return BlockAttr::constant(extent) == 1; }
  bool contains(int64_t index) const {
    return !low || (*BlockAttr::constant(low) <= index && index < *BlockAttr::constant(high));
  }
};

/// A block as a list of dimensions.
struct Dims {
  SmallVector<Dim> list;
  AffineExpr offset;

  explicit Dims(BlockAttr block) : offset(block.getOffset()) {
    for (unsigned i = 0; i != block.getRank(); ++i) {
      Dim dim = {block.getShape()[i], block.getStrides()[i], {}, {}};
      // An interval of all indices says nothing.
      if (block.hasValid() &&
          !(BlockAttr::constant(block.getValidLow()[i]) == 0 && block.getValidHigh()[i] == dim.extent))
        dim.low = block.getValidLow()[i], dim.high = block.getValidHigh()[i];
      list.push_back(dim);
    }
  }

  BlockAttr toBlock() const {
    MLIRContext *context = offset.getContext();
    SmallVector<AffineExpr> shape, strides, low, high;
    bool hasValid = llvm::any_of(list, [](const Dim &dim) { return bool(dim.low); });
    for (const Dim &dim : list) {
      shape.push_back(dim.extent);
      strides.push_back(dim.stride);
      if (hasValid) {
        low.push_back(dim.low ? dim.low : getAffineConstantExpr(0, context));
        high.push_back(dim.low ? dim.high : dim.extent);
      }
    }
    return BlockAttr::get(context, shape, strides, offset, low, high);
  }
};
} // namespace

static MapAttr withFront(MapAttr map, BlockAttr front) {
  SmallVector<BlockAttr> blocks(map.getBlocks());
  blocks.front() = front;
  return MapAttr::get(map.getContext(), blocks);
}

MapAttr permuteMap(MapAttr map, ArrayRef<int64_t> order) {
  Dims dims(map.front());
  SmallVector<Dim> list;
  for (int64_t from : order)
    list.push_back(dims.list[from]);
  dims.list = list;
  return withFront(map, dims.toBlock());
}

MapAttr expandMap(MapAttr map, ArrayRef<int64_t> shape) {
  Dims dims(map.front());
  for (auto [dim, extent] : llvm::zip_equal(dims.list, shape))
    if (dim.isUnit() && extent != 1) {
      AffineExpr zero = getAffineConstantExpr(0, map.getContext());
      dim.extent = getAffineConstantExpr(extent, map.getContext());
      dim.stride = zero;
      // All repeat the only element, or all lack it.
      if (dim.low)
        dim.high = dim.contains(0) ? dim.extent : zero, dim.low = zero;
    }
  return withFront(map, dims.toBlock());
}

MapAttr selectDims(MapAttr map, ArrayRef<int64_t> selected, ArrayRef<int64_t> extents) {
  MLIRContext *context = map.getContext();
  Dims dims(map.front());
  SmallVector<Dim> list;
  for (auto [from, extent] : llvm::zip_equal(selected, extents))
    list.push_back(from >= 0 ? dims.list[from]
                             : Dim{getAffineConstantExpr(extent, context), getAffineConstantExpr(0, context), {}, {}});
  for (auto [number, dim] : llvm::enumerate(dims.list))
    if (!dim.contains(0) && !llvm::is_contained(selected, static_cast<int64_t>(number)) && !list.empty())
      list.front().low = list.front().high = getAffineConstantExpr(0, context);
  dims.list = list;
  return withFront(map, dims.toBlock());
}

MapAttr flipMap(MapAttr map, ArrayRef<int64_t> flipped) {
  Dims dims(map.front());
  for (int64_t at : flipped) {
    Dim &dim = dims.list[at];
    dims.offset = dims.offset + (dim.extent - 1) * dim.stride;
    dim.stride = -dim.stride;
    if (dim.low)
      std::tie(dim.low, dim.high) = std::pair(dim.extent - dim.high, dim.extent - dim.low);
  }
  return withFront(map, dims.toBlock());
}

MapAttr padMap(MapAttr map, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  MLIRContext *context = map.getContext();
  Dims dims(map.front());
  for (auto [dim, before, after] : llvm::zip_equal(dims.list, low, high)) {
    int64_t extent = *BlockAttr::constant(dim.extent);
    int64_t first = dim.low ? *BlockAttr::constant(dim.low) : 0;
    int64_t last = dim.low ? *BlockAttr::constant(dim.high) : extent;
    int64_t padded = extent + before + after;
    first = std::clamp<int64_t>(first + before, 0, padded);
    last = std::clamp<int64_t>(last + before, first, padded);
    dims.offset = dims.offset - before * dim.stride;
    dim.extent = getAffineConstantExpr(padded, context);
    dim.low = dim.high = AffineExpr();
    if (first != 0 || last != padded)
      dim.low = getAffineConstantExpr(first, context), dim.high = getAffineConstantExpr(last, context);
  }
  return withFront(map, dims.toBlock());
}

MapAttr windowMap(MapAttr map, ArrayRef<int64_t> slid, ArrayRef<int64_t> counts, ArrayRef<int64_t> sizes,
                  ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations) {
  MLIRContext *context = map.getContext();
  Dims dims(map.front());
  // Which indices of a window exist depends on the window, so that a block of its own slides over
  // one that says which do.
  bool isNewBlock = llvm::any_of(slid, [&](int64_t dim) { return bool(dims.list[dim].low); });
  if (isNewBlock) {
    SmallVector<int64_t> shape;
    for (AffineExpr extent : map.front().getShape())
      shape.push_back(*BlockAttr::constant(extent));
    dims = Dims(BlockAttr::rowMajor(context, shape));
  }
  for (auto [at, count, size, stride, dilation] : llvm::zip_equal(slid, counts, sizes, strides, dilations)) {
    AffineExpr step = dims.list[at].stride;
    dims.list[at].extent = getAffineConstantExpr(count, context);
    dims.list[at].stride = step * stride;
    dims.list.push_back({getAffineConstantExpr(size, context), step * dilation, {}, {}});
  }
  if (!isNewBlock)
    return withFront(map, dims.toBlock());
  SmallVector<BlockAttr> blocks = {dims.toBlock()};
  llvm::append_range(blocks, map.getBlocks());
  return MapAttr::get(context, blocks);
}

bool hasElements(MapAttr map) {
  return llvm::all_of(map.getBlocks(), [](BlockAttr block) {
    return llvm::all_of(Dims(block).list, [](const Dim &dim) {
      return BlockAttr::constant(dim.extent) != 0 && !(dim.low && dim.low == dim.high);
    });
  });
}

bool isWhole(MapAttr map, unsigned dim) { return !Dims(map.front()).list[dim].low; }

/// Splits and merges the dimensions of one block. Fails where a new dimension would cross two that
/// do not follow each other in memory.
static std::optional<BlockAttr> reshapeBlock(BlockAttr block, ArrayRef<int64_t> shape) {
  MLIRContext *context = block.getContext();
  Dims dims(block);
  // Runs of dimensions that are one in memory.
  struct Run {
    int64_t extent, stride;
    Dim dim;
  };
  SmallVector<Run> runs;
  for (const Dim &dim : dims.list) {
    auto extent = BlockAttr::constant(dim.extent), stride = BlockAttr::constant(dim.stride);
    if (!extent || !stride)
      return std::nullopt;
    if (*extent == 1 && !dim.low)
      continue;
    if (!runs.empty() && !dim.low && !runs.back().dim.low && runs.back().stride == *extent * *stride) {
      runs.back().extent *= *extent;
      runs.back().stride = *stride;
      continue;
    }
    runs.push_back({*extent, *stride, dim});
  }

  SmallVector<Dim> list(shape.size());
  size_t next = shape.size();
  auto placeUnits = [&] {
    for (; next > 0 && shape[next - 1] == 1; --next)
      list[next - 1] = {getAffineConstantExpr(1, context), getAffineConstantExpr(0, context), {}, {}};
  };
  for (const Run &run : llvm::reverse(runs)) {
    placeUnits();
    int64_t left = run.extent, stride = run.stride;
    if (run.dim.low) {
      if (next == 0 || shape[next - 1] != left)
        return std::nullopt;
      list[--next] = run.dim;
      continue;
    }
    while (left != 1) {
      placeUnits();
      if (next == 0 || left % shape[next - 1] != 0)
        return std::nullopt;
      --next;
      list[next] = {getAffineConstantExpr(shape[next], context), getAffineConstantExpr(stride, context), {}, {}};
      left /= shape[next];
      stride *= shape[next];
    }
  }
  placeUnits();
  if (next != 0)
    return std::nullopt;
  dims.list = list;
  return dims.toBlock();
}

/// The last dimensions along which all indices have the same place.
static size_t countRepeating(BlockAttr block) {
  auto repeats = [](const Dim &dim) {
    return !dim.low && (dim.isUnit() || (BlockAttr::constant(dim.extent) && BlockAttr::constant(dim.stride) == 0));
  };
  Dims dims(block);
  size_t number = 0;
  while (number < dims.list.size() && repeats(dims.list.rbegin()[number]))
    ++number;
  return number;
}

/// Row-major indices of the first dimensions, which repeat along the others.
static BlockAttr makeRepeating(MLIRContext *context, ArrayRef<int64_t> shape, size_t first) {
  Dims dims(BlockAttr::rowMajor(context, shape.take_front(first)));
  for (int64_t extent : shape.drop_front(first))
    dims.list.push_back({getAffineConstantExpr(extent, context), getAffineConstantExpr(0, context), {}, {}});
  return dims.toBlock();
}

MapAttr reshapeMap(MapAttr map, ArrayRef<int64_t> shape) {
  MLIRContext *context = map.getContext();
  if (llvm::is_contained(shape, 0))
    return MapAttr::get(context, BlockAttr::rowMajor(context, shape));
  SmallVector<BlockAttr> blocks(map.getBlocks());
  // A dense row-major block only renumbers the one behind it, and so does one that repeats its places.
  while (blocks.size() > 1) {
    Dims front(blocks.front());
    int64_t repeats = 1;
    for (const Dim &dim : ArrayRef(front.list).take_back(countRepeating(blocks.front())))
      repeats *= *BlockAttr::constant(dim.extent);
    SmallVector<int64_t, 2> dense{computeProduct(shape) / repeats};
    if (repeats != 1)
      dense.push_back(repeats);
    if (reshapeBlock(blocks.front(), dense) != makeRepeating(context, dense, 1))
      break;
    blocks.erase(blocks.begin());
    Dims back(blocks.front());
    if (repeats != 1)
      back.list.push_back({getAffineConstantExpr(repeats, context), getAffineConstantExpr(0, context), {}, {}});
    blocks.front() = back.toBlock();
  }
  if (std::optional<BlockAttr> front = reshapeBlock(blocks.front(), shape)) {
    blocks.front() = *front;
    return MapAttr::get(context, blocks);
  }
  // Along the last dimensions the place may stay the same: it is not made of their indices.
  Dims back(blocks.front());
  int64_t repeats = 1;
  for (size_t left = countRepeating(blocks.front()); left > 0; --left)
    repeats *= *BlockAttr::constant(back.list.pop_back_val().extent);
  size_t first = shape.size();
  while (first > 0 && repeats % computeProduct(shape.drop_front(first - 1)) == 0)
    --first;
  const int64_t dropped = computeProduct(shape.drop_front(first));
  if (repeats != dropped)
    back.list.push_back({getAffineConstantExpr(repeats / dropped, context), getAffineConstantExpr(0, context), {}, {}});
  if (dropped != 1)
    blocks.front() = back.toBlock();
  blocks.insert(blocks.begin(), makeRepeating(context, shape, first));
  return MapAttr::get(context, blocks);
}

std::optional<int64_t> evaluateMap(MapAttr map, ArrayRef<int64_t> index) {
  SmallVector<int64_t> indices(index);
  int64_t place = 0;
  for (auto [number, block] : llvm::enumerate(map.getBlocks())) {
    if (number != 0) {
      indices.assign(block.getRank(), 0);
      for (size_t i = block.getRank(); i-- > 0;) {
        int64_t extent = *BlockAttr::constant(block.getShape()[i]);
        if (extent == 0)
          return std::nullopt;
        indices[i] = place % extent;
        place /= extent;
      }
    }
    place = *BlockAttr::constant(block.getOffset());
    for (size_t i = 0; i != block.getRank(); ++i) {
      if (block.hasValid() && (indices[i] < *BlockAttr::constant(block.getValidLow()[i]) ||
                               indices[i] >= *BlockAttr::constant(block.getValidHigh()[i])))
        return std::nullopt;
      place += indices[i] * *BlockAttr::constant(block.getStrides()[i]);
    }
  }
  return place;
}

} // namespace zyx::kernel
