//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Dialect/Kernel/IR/MapAlgebra.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace mlir;
using namespace zyx::kernel;

namespace {

using Shape = SmallVector<int64_t>;

/// What a map means: the place of each index, in row-major order.
struct Table {
  Shape shape;
  std::vector<std::optional<int64_t>> places;

  static int64_t count(const Shape &shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  }
  static Shape index(const Shape &shape, int64_t number) {
    Shape result(shape.size());
    for (size_t i = shape.size(); i-- > 0; number /= shape[i])
      result[i] = number % shape[i];
    return result;
  }
  static int64_t number(const Shape &shape, const Shape &index) {
    int64_t result = 0;
    for (auto [extent, i] : llvm::zip_equal(shape, index))
      result = result * extent + i;
    return result;
  }

  static Table of(MapAttr map) {
    Table table;
    for (AffineExpr extent : map.front().getShape())
      table.shape.push_back(*BlockAttr::constant(extent));
    for (int64_t n = 0; n != count(table.shape); ++n)
      table.places.push_back(evaluateMap(map, index(table.shape, n)));
    return table;
  }

  template <typename F> Table remap(Shape to, F from) const {
    Table result{to, {}};
    for (int64_t n = 0; n != count(to); ++n)
      result.places.push_back(places[number(shape, from(index(to, n)))]);
    return result;
  }
  Table permute(ArrayRef<int64_t> order) const {
    Shape to;
    for (int64_t d : order)
      to.push_back(shape[d]);
    return remap(to, [&](const Shape &at) {
      Shape from(shape.size());
      for (auto [i, d] : llvm::enumerate(order))
        from[d] = at[i];
      return from;
    });
  }
  Table expand(Shape to) const {
    return remap(to, [&](Shape at) {
      for (auto [i, extent] : llvm::zip_equal(at, shape))
        i = extent == 1 ? 0 : i;
      return at;
    });
  }
  Table flip(ArrayRef<int64_t> dims) const {
    return remap(shape, [&](Shape at) {
      for (int64_t d : dims)
        at[d] = shape[d] - 1 - at[d];
      return at;
    });
  }
  Table pad(ArrayRef<int64_t> low, ArrayRef<int64_t> high) const {
    Table result{shape, {}};
    for (size_t d = 0; d != shape.size(); ++d)
      result.shape[d] += low[d] + high[d];
    for (int64_t n = 0; n != count(result.shape); ++n) {
      Shape at = index(result.shape, n);
      bool isInside = true;
      for (size_t d = 0; d != shape.size(); ++d) {
        at[d] -= low[d];
        isInside &= at[d] >= 0 && at[d] < shape[d];
      }
      result.places.push_back(isInside ? places[number(shape, at)] : std::nullopt);
    }
    return result;
  }
  Table window(int64_t dim, int64_t size, int64_t stride, int64_t dilation) const {
    Shape to = shape;
    to[dim] = (shape[dim] - 1 - (size - 1) * dilation) / stride + 1;
    to.push_back(size);
    return remap(to, [&](Shape at) {
      at[dim] = at[dim] * stride + at.back() * dilation;
      at.pop_back();
      return at;
    });
  }
  bool operator==(const Table &) const = default;
};

class MapAlgebra : public testing::Test {
protected:
  MapAlgebra() { context.loadDialect<KernelDialect>(); }
  MapAttr identity(ArrayRef<int64_t> shape) { return MapAttr::identity(&context, shape); }
  AffineExpr expr(int64_t value) { return getAffineConstantExpr(value, &context); }
  MLIRContext context;
};

TEST_F(MapAlgebra, PermutedDimensionsSwapStrides) {
  MapAttr map = permuteMap(identity({2, 3}), {1, 0});
  EXPECT_TRUE(map.isSingleBlock());
  EXPECT_EQ(map.front().getStrides()[0], expr(1));
  EXPECT_EQ(map.front().getStrides()[1], expr(3));
}

TEST_F(MapAlgebra, ReshapesOfDenseMapsStayOneBlock) {
  EXPECT_EQ(reshapeMap(identity({4, 6}), {2, 2, 6}), identity({2, 2, 6}));
  EXPECT_TRUE(reshapeMap(identity({4, 6}), {2, 2, 1, 6}).isSingleBlock());
  EXPECT_EQ(reshapeMap(identity({4, 6}), {24}), identity({24}));
  EXPECT_EQ(reshapeMap(identity({1, 1}), {}), identity({}));
}

TEST_F(MapAlgebra, ADimensionOfATransposedMapSplitsInPlace) {
  MapAttr map = reshapeMap(permuteMap(identity({6, 4}), {1, 0}), {2, 2, 3, 2});
  EXPECT_TRUE(map.isSingleBlock());
  EXPECT_EQ(Table::of(map).places, Table::of(permuteMap(identity({6, 4}), {1, 0})).places);
}

TEST_F(MapAlgebra, MergingATransposedMapPrependsABlock) {
  MapAttr map = reshapeMap(permuteMap(identity({2, 3}), {1, 0}), {6});
  EXPECT_EQ(map.getBlocks().size(), 2u);
  EXPECT_EQ(Table::of(map).places, Table::of(permuteMap(identity({2, 3}), {1, 0})).places);
}

TEST_F(MapAlgebra, AReshapeBackRemovesTheBlock) {
  MapAttr transposed = permuteMap(identity({2, 3}), {1, 0});
  EXPECT_EQ(reshapeMap(reshapeMap(transposed, {6}), {3, 2}), transposed);
}

TEST_F(MapAlgebra, RepeatedDimensionsMerge) {
  MapAttr map = reshapeMap(expandMap(identity({1, 1, 4}), {2, 3, 4}), {6, 4});
  EXPECT_TRUE(map.isSingleBlock());
  EXPECT_EQ(map.front().getStrides()[0], expr(0));
}

TEST_F(MapAlgebra, ValidIntervalsStayWithTheirDimension) {
  MapAttr padded = MapAttr::get(&context, BlockAttr::get(&context, {expr(2), expr(6)}, {expr(4), expr(1)}, expr(-1),
                                                         {expr(0), expr(1)}, {expr(2), expr(5)}));
  MapAttr reshaped = reshapeMap(padded, {1, 2, 1, 6});
  EXPECT_TRUE(reshaped.isSingleBlock());
  EXPECT_EQ(Table::of(reshaped).places, Table::of(padded).places);
  MapAttr merged = reshapeMap(padded, {12});
  EXPECT_EQ(merged.getBlocks().size(), 2u);
  EXPECT_EQ(Table::of(merged).places, Table::of(padded).places);
  EXPECT_EQ(Table::of(permuteMap(padded, {1, 0})), Table::of(padded).permute({1, 0}));
}

TEST_F(MapAlgebra, SelectingDropsAndRepeats) {
  MapAttr map = selectDims(identity({2, 3, 4}), {2, -1, 0}, {4, 5, 2});
  EXPECT_EQ(evaluateMap(map, {3, 4, 1}), 3 + 12);
}

TEST_F(MapAlgebra, WhatIsNotSelectedStandsAtZero) {
  MapAttr padded = padMap(identity({1, 4}), {1, 0}, {0, 0});
  EXPECT_EQ(evaluateMap(selectDims(padMap(identity({1, 4}), {0, 0}, {1, 0}), {1}, {4}), {3}), 3);
  EXPECT_EQ(evaluateMap(selectDims(padded, {1}, {4}), {3}), std::nullopt);
  EXPECT_FALSE(hasElements(selectDims(padded, {1}, {4})));
}

TEST_F(MapAlgebra, FlippedAndPaddedMapsStayOneBlock) {
  MapAttr flipped = flipMap(identity({2, 3}), {1});
  EXPECT_EQ(flipped.front().getStrides()[1], expr(-1));
  EXPECT_EQ(flipped.front().getOffset(), expr(2));
  EXPECT_EQ(flipMap(flipped, {1}), identity({2, 3}));
  MapAttr padded = padMap(identity({2, 3}), {0, 1}, {-1, 2});
  EXPECT_TRUE(isWhole(padded, 0));
  EXPECT_FALSE(isWhole(padded, 1));
  EXPECT_EQ(padMap(padded, {0, -1}, {0, -2}), padMap(identity({2, 3}), {0, 0}, {-1, 0}));
}

TEST_F(MapAlgebra, WindowsOfPaddedDimensionsAreABlock) {
  MapAttr padded = padMap(identity({3, 5}), {0, 1}, {0, 1});
  EXPECT_TRUE(windowMap(padded, {0}, {2}, {2}, {1}, {1}).isSingleBlock());
  MapAttr slid = windowMap(padded, {1}, {3}, {3}, {2}, {1});
  EXPECT_EQ(slid.getBlocks().size(), 2u);
  EXPECT_EQ(Table::of(slid), Table::of(padded).window(1, 3, 2, 1));
}

TEST_F(MapAlgebra, AnInnerBlockMayHaveNoElements) {
  MapAttr none = MapAttr::get(&context, {identity({3}).front(), identity({0, 3}).front()});
  EXPECT_EQ(evaluateMap(none, {1}), std::nullopt);
  EXPECT_FALSE(hasElements(none));
  EXPECT_FALSE(hasElements(padMap(identity({0}), {1}, {1})));
  EXPECT_TRUE(hasElements(padMap(identity({1}), {1}, {1})));
}

TEST_F(MapAlgebra, RepeatedPlacesAreNotMadeOfTheLastIndices) {
  // A number for each group of two channels, beside all elements: parts of images repeat it.
  MapAttr map = reshapeMap(expandMap(identity({4, 3, 1, 1}), {4, 3, 2, 8}), {4, 6, 2, 4});
  ASSERT_EQ(map.getBlocks().size(), 2u);
  EXPECT_EQ(map.front(), reshapeMap(expandMap(identity({4, 6, 1}), {4, 6, 8}), {4, 6, 2, 4}).front());
  EXPECT_EQ(evaluateMap(map, {1, 3, 1, 3}), 4);
  EXPECT_EQ(evaluateMap(map, {3, 5, 0, 0}), 11);
  // The way back finds them as they were.
  EXPECT_EQ(reshapeMap(map, {4, 3, 2, 8}), expandMap(identity({4, 3, 1, 1}), {4, 3, 2, 8}));
}

TEST_F(MapAlgebra, NothingHasNoElements) { EXPECT_EQ(reshapeMap(identity({0, 3}), {3, 2, 0}), identity({3, 2, 0})); }

TEST_F(MapAlgebra, RandomChainsMeanWhatTheyMeanOnTables) {
  std::mt19937 random(5);
  auto below = [&](int64_t n) { return int64_t(random() % n); };
  for (int trial = 0; trial != 2000; ++trial) {
    Shape shape;
    for (int64_t rank = below(4), i = 0; i != rank; ++i)
      shape.push_back(1 + below(4));
    MapAttr map = identity(shape);
    Table table = Table::of(map);
    for (int step = 0; step != 6; ++step) {
      switch (below(6)) {
      case 0: {
        Shape order(table.shape.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        map = permuteMap(map, order);
        table = table.permute(order);
        break;
      }
      case 1: {
        Shape to = table.shape;
        for (int64_t &extent : to)
          if (extent == 1 && Table::count(to) < 100)
            extent = 1 + below(3);
        map = expandMap(map, to);
        table = table.expand(to);
        break;
      }
      case 2: {
        // Merge everything, then split off divisors.
        Shape to;
        int64_t rest = Table::count(table.shape);
        while (rest != 1 || below(2)) {
          int64_t divisor = 1 + below(rest);
          while (rest % divisor)
            --divisor;
          to.push_back(divisor);
          rest /= divisor;
        }
        std::shuffle(to.begin(), to.end(), random);
        map = reshapeMap(map, to);
        table.shape = to;
        break;
      }
      case 3: {
        Shape dims;
        for (size_t d = 0; d != table.shape.size(); ++d)
          if (below(2))
            dims.push_back(d);
        map = flipMap(map, dims);
        table = table.flip(dims);
        break;
      }
      case 4: {
        Shape low, high;
        for (int64_t extent : table.shape) {
          low.push_back(below(3) ? 0 : below(4) - 1);
          high.push_back(below(3) ? 0 : below(4) - 1);
          if (extent + low.back() + high.back() < 1 || Table::count(table.shape) > 60)
            low.back() = high.back() = 0;
        }
        map = padMap(map, low, high);
        table = table.pad(low, high);
        break;
      }
      case 5: {
        if (table.shape.empty() || table.shape.size() > 4)
          break;
        int64_t dim = below(table.shape.size()), extent = table.shape[dim];
        int64_t dilation = 1 + below(2), size = 1 + below((extent - 1) / dilation + 1);
        int64_t stride = 1 + below(3);
        if (Table::count(table.shape) * size > 200)
          break;
        table = table.window(dim, size, stride, dilation);
        map = windowMap(map, {dim}, {table.shape[dim]}, {size}, {stride}, {dilation});
        break;
      }
      }
      ASSERT_EQ(Table::of(map), table) << "trial " << trial << " step " << step;
    }
  }
}

} // namespace
