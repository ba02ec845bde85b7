//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "GradientCheck.h"

#include <algorithm>
#include <numeric>

using namespace zyx;
using namespace zyx::graph;

/// Something that is not linear behind a view, so that a second order exists.
static NodeId squared(TestGraph &g, NodeId x) { return *g.binary(BinaryKind::Mul, x, x); }

TEST(GradientViewTest, ReshapeExpandPermuteFlipAreTheDifference) {
  Random random(11);
  for (int i = 0; i < 12; ++i) {
    Shape shape = random.shape(1);
    std::vector<int64_t> order(shape.size()), dims;
    std::iota(order.begin(), order.end(), 0);
    for (size_t d = order.size(); d > 1; --d)
      std::swap(order[d - 1], order[static_cast<size_t>(random.integer(0, static_cast<int64_t>(d) - 1))]);
    for (size_t d = 0; d < shape.size(); ++d)
      if (random.integer(0, 1))
        dims.push_back(static_cast<int64_t>(d));
    Shape wide = shape;
    for (int64_t dim : dims) {
      shape[static_cast<size_t>(dim)] = 1;
      wide[static_cast<size_t>(dim)] = random.integer(0, 3);
    }
    expectGradient(
        [&](TestGraph &g, const std::vector<NodeId> &x) {
          NodeId y = *g.permute(squared(g, *g.expand(x[0], wide)), order);
          if (!dims.empty())
            y = *g.flip(y, dims);
          return *g.reshape(squared(g, y), {*numElements(wide)});
        },
        {random.values(shape)});
  }
}

TEST(GradientViewTest, PadIsTheDifference) {
  Random random(12);
  for (int i = 0; i < 40; ++i) {
    const Shape shape = random.shape();
    std::vector<int64_t> low, high, interior;
    for (int64_t extent : shape) {
      interior.push_back(random.integer(0, 2));
      const int64_t between = extent + std::max<int64_t>(extent - 1, 0) * interior.back();
      low.push_back(random.integer(-between / 2, 2));
      high.push_back(random.integer(-(between - between / 2), 2));
    }
    SCOPED_TRACE(toString(shape) + toString(low) + toString(high) + toString(interior));
    expectGradient(
        [&](TestGraph &g, const std::vector<NodeId> &x) {
          return squared(g, *g.pad(squared(g, x[0]), squared(g, x[1]), low, high, interior));
        },
        {random.values(shape), random.values({})});
  }
}

TEST(GradientViewTest, WindowIsTheDifference) {
  Random random(13);
  // Windows side by side, apart, overlapping, of one element, wider than the tensor, of many elements.
  struct Case {
    int64_t extent, size, stride, dilation;
  };
  const Case cases[] = {{6, 2, 2, 1}, {7, 2, 3, 1},   {6, 3, 1, 1}, {8, 3, 2, 1}, {9, 3, 2, 2},
                        {7, 1, 3, 1}, {5, 1, 1, 1},   {3, 4, 1, 1}, {0, 2, 1, 1}, {8, 2, 1, 5},
                        {9, 2, 5, 3}, {24, 18, 2, 1}, {1, 1, 4, 4}, {7, 7, 1, 1}};
  for (const Case &c : cases)
    for (int64_t rank : {1, 3}) {
      SCOPED_TRACE(toString(Shape{c.extent, c.size, c.stride, c.dilation}));
      const Shape shape = rank == 1 ? Shape{c.extent} : Shape{2, c.extent, 2};
      expectGradient(
          [&](TestGraph &g, const std::vector<NodeId> &x) {
            return squared(g, *g.window(x[0], {rank / 2}, {c.size}, {c.stride}, {c.dilation}));
          },
          {random.values(shape)});
    }
  for (const auto &[a, b] :
       {std::pair(cases[2], cases[3]), std::pair(cases[0], cases[4]), std::pair(cases[3], cases[5])})
    expectGradient(
        [&](TestGraph &g, const std::vector<NodeId> &x) {
          return squared(g, *g.window(x[0], {0, 2}, {a.size, b.size}, {a.stride, b.stride}, {a.dilation, b.dilation}));
        },
        {random.values({a.extent, 2, b.extent})});
}

TEST(GradientViewTest, ConvolutionIsTheDifference) {
  Random random(15);
  Convolution plain, grouped, depthwise, dilated, strided, last;
  last.channelsLast = true;
  last.groups = grouped.groups = 2;
  depthwise.groups = 3;
  dilated.dilation = {2, 1};
  strided.stride = {2, 1};
  struct Case {
    Convolution convolution;
    Shape image, filters;
  };
  const Case cases[] = {{plain, {2, 2, 4, 5}, {3, 2, 2, 3}},     {grouped, {2, 4, 4, 4}, {4, 2, 3, 2}},
                        {depthwise, {2, 3, 4, 4}, {3, 1, 2, 2}}, {dilated, {1, 2, 6, 4}, {2, 2, 2, 3}},
                        {strided, {1, 2, 6, 4}, {2, 2, 3, 3}},   {plain, {2, 1, 4, 4}, {1, 1, 2, 3}},
                        {plain, {2, 2, 4, 4}, {2, 2, 4, 1}},     {plain, {0, 2, 4, 4}, {2, 2, 2, 2}},
                        {plain, {1, 2, 3, 4}, {2, 2, 3, 3}},     {last, {2, 4, 4, 4}, {4, 2, 3, 2}}};
  for (const Case &c : cases) {
    SCOPED_TRACE(toString(c.image) + toString(c.filters));
    expectGradient(
        [&](TestGraph &g, const std::vector<NodeId> &x) { return c.convolution.build(g, squared(g, x[0]), x[1]); },
        {random.values(c.image), random.values(c.filters)});
  }
}

TEST(GradientViewTest, ConvolutionsWithStridesAreTheDifference) {
  Random random(17);
  struct Case {
    std::vector<int64_t> stride;
    Shape image, filters;
    std::vector<int64_t> low, high;
    int64_t groups = 1;
  };
  // Steps that divide the filters and that do not, rows that no window reaches, phases of different numbers of
  // elements, padding that begins within a step and reaches over several, crops, a dimension without steps, one of one
  // element, too many phases.
  const Case cases[] = {
      {{2, 2}, {1, 2, 6, 7}, {2, 2, 3, 3}, {1, 1}, {1, 1}},    {{2, 2}, {1, 1, 8, 5}, {2, 1, 4, 3}, {0, 0}, {0, 0}},
      {{3, 2}, {1, 1, 9, 8}, {1, 1, 5, 4}, {2, 3}, {1, 0}},    {{2, 1}, {2, 1, 7, 4}, {2, 1, 3, 3}, {4, 1}, {5, 1}},
      {{2, 3}, {1, 1, 9, 9}, {1, 1, 3, 4}, {-1, 1}, {0, -2}},  {{2, 1}, {1, 2, 8, 3}, {2, 2, 5, 1}, {1, 0}, {2, 0}},
      {{2, 1}, {1, 2, 8, 3}, {2, 2, 5, 1}, {1, 2}, {2, 1}},    {{2, 2}, {2, 4, 5, 6}, {4, 2, 3, 3}, {1, 1}, {1, 1}, 2},
      {{2, 2}, {1, 3, 6, 5}, {3, 1, 3, 3}, {1, 1}, {1, 1}, 3}, {{5, 4}, {1, 1, 13, 9}, {1, 1, 7, 5}, {0, 1}, {0, 0}}};
  for (const Case &c : cases)
    for (bool channelsLast : {false, true}) {
      SCOPED_TRACE(toString(c.stride) + toString(c.image) + toString(c.filters));
      Convolution convolution;
      convolution.stride = c.stride;
      convolution.groups = c.groups;
      convolution.channelsLast = channelsLast;
      expectGradient(
          [&](TestGraph &g, const std::vector<NodeId> &x) {
            const NodeId padded = *g.pad(squared(g, x[0]), g.scalar(DType::F64, {}, 0), {0, 0, c.low[0], c.low[1]},
                                         {0, 0, c.high[0], c.high[1]}, {0, 0, 0, 0});
            return convolution.build(g, padded, x[1]);
          },
          {random.values(c.image), random.values(c.filters)});
    }
}

TEST(GradientViewTest, GroupsJoinedBehindAPermuteAreTheDifference) {
  Random random(19);
  for (int64_t stride : {1, 2})
    for (int64_t groups : {2, 3}) {
      SCOPED_TRACE(toString(Shape{stride, groups}));
      const int64_t rows = 3, columns = stride == 1 ? 4 : 2;
      expectGradient(
          [&](TestGraph &g, const std::vector<NodeId> &x) {
            const Shape all{2, groups, 2, rows, columns, 2, 3, 2};
            const NodeId windows = *g.window(squared(g, x[0]), {2, 3}, {3, 2}, {1, stride}, {1, 1});
            NodeId left = *g.reshape(windows, {2, groups, 2, rows, columns, 3, 2});
            left = *g.reshape(*g.permute(left, {0, 1, 3, 4, 2, 5, 6}), {2, groups, 1, rows, columns, 2, 3, 2});
            const NodeId right = *g.reshape(x[1], {1, groups, 2, 1, 1, 2, 3, 2});
            const NodeId products = *g.binary(BinaryKind::Mul, *g.expand(left, all), *g.expand(right, all));
            return *g.reshape(*g.reduce(ReduceKind::Add, products, {5, 6, 7}), {2, 2 * groups, rows, columns});
          },
          {random.values({2, 2 * groups, 5, 5}), random.values({2 * groups, 2, 3, 2})});
    }
}

TEST(GradientViewTest, AverageOfWindowsIsTheDifference) {
  Random random(18);
  struct Case {
    Shape extents;
    std::vector<int64_t> size, stride, dilation;
  };
  // Phases of one and two elements, no steps, steps along one dimension alone, dilation, rows that no window reaches,
  // so many elements that they are added up along one dimension after the other, windows that do not overlap.
  const Case cases[] = {{{7, 8}, {3, 3}, {2, 2}, {1, 1}},  {{6, 5}, {3, 2}, {1, 1}, {1, 1}},
                        {{9, 6}, {5, 3}, {3, 1}, {1, 2}},  {{8, 10}, {4, 1}, {2, 1}, {1, 1}},
                        {{11, 9}, {9, 5}, {1, 2}, {1, 1}}, {{6, 6}, {2, 2}, {2, 2}, {1, 1}}};
  for (const Case &c : cases) {
    SCOPED_TRACE(toString(c.extents) + toString(c.size) + toString(c.stride));
    expectGradient(
        [&](TestGraph &g, const std::vector<NodeId> &x) {
          const NodeId windows = *g.window(squared(g, x[0]), {1, 2}, c.size, c.stride, c.dilation);
          return squared(g, *g.reduce(ReduceKind::Add, windows, {3, 4}));
        },
        {random.values({2, c.extents[0], c.extents[1]})});
  }
}

TEST(GradientViewTest, PaddedConvolutionIsTheDifference) {
  Random random(16);
  struct Case {
    std::vector<int64_t> low, high;
  };
  // On one side, farther than a window reaches, cut off; and a fill with a gradient of its own.
  const Case cases[] = {{{1, 1}, {1, 1}}, {{0, 2}, {1, 0}}, {{3, 1}, {4, 0}}, {{-1, 1}, {1, -1}}};
  for (const Case &c : cases)
    for (bool fills : {false, true}) {
      SCOPED_TRACE(toString(c.low) + toString(c.high));
      expectGradient(
          [&](TestGraph &g, const std::vector<NodeId> &x) {
            const NodeId fill = fills ? x[2] : g.scalar(DType::F64, {}, 0.5);
            const NodeId padded =
                *g.pad(x[0], fill, {0, 0, c.low[0], c.low[1]}, {0, 0, c.high[0], c.high[1]}, {0, 0, 0, 0});
            const NodeId y = Convolution().build(g, padded, x[1]);
            // The padded tensor is read by others, too.
            return *g.binary(BinaryKind::Mul, total(g, squared(g, y)), total(g, squared(g, padded)));
          },
          {random.values({1, 2, 4, 4}), random.values({2, 2, 2, 3}), random.values({})});
    }
  // The gradient of the padded tensor itself has its border.
  TestGraph g;
  const NodeId x = g.input(random.values({1, 1, 3, 3})), w = g.input(random.values({1, 1, 2, 2}));
  const NodeId padded = *g.pad(x, g.scalar(DType::F64, {}, 0), {0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 0});
  const NodeId y = Convolution().build(g, padded, w);
  const NodeId alone = derivative(g, y, padded);
  const std::vector<double> border = numbers(g.run(alone)), filters = numbers(g.tensors[1]);
  EXPECT_EQ(border[0], filters[0]);
  EXPECT_EQ(border[24], filters[3]);
  const auto both = *gradient(g, y, {{x, padded}});
  EXPECT_EQ(numbers(g.run(*both[1])), border);
}

TEST(GradientViewTest, SumsOfAllWindowsAreNotWeighted) {
  TestGraph g;
  const NodeId x = g.input(vector({1, 2, 3, 4, 5})), w = g.input(vector({2, 3, 5}));
  const NodeId windows = *g.window(x, {0}, {3}, {1}, {1});
  const NodeId product = *g.binary(BinaryKind::Mul, windows, *g.expand(*g.reshape(w, {1, 3}), {3, 3}));
  // The gradient that comes to the windows is one element for all of them.
  expectNumbers(g.run(derivative(g, *g.reduce(ReduceKind::Add, product, {0, 1}), x)), {2, 5, 10, 8, 5});
}

TEST(GradientViewTest, NarrowFloatsOfWindowsAreSummedInF32) {
  // Slice by slice, and by a scatter.
  for (int64_t size : {16, 17}) {
    TestGraph g;
    const auto extent = static_cast<size_t>(2 * size - 1), count = static_cast<size_t>(size);
    const NodeId x = g.input(tensor(DType::BF16, {2 * size - 1}, std::vector<double>(extent)));
    std::vector<double> seeds(count * count, 1);
    for (size_t window = 0; window < count; ++window)
      seeds[window * count] = 256;
    GradientOptions options;
    options.seed = g.input(tensor(DType::BF16, {size, size}, seeds));
    const NodeId dx = *(*gradient(g, *g.window(x, {0}, {size}, {1}, {1}), {{x}}, options))[0];
    EXPECT_EQ(g.node(dx).type.dtype, DType::BF16);
    // The middle one is in all windows: 256 and ones, each of which is too small for bf16.
    EXPECT_EQ(numbers(g.run(dx))[count - 1], 272);
  }
}

TEST(GradientViewTest, ConcatIsTheDifference) {
  Random random(14);
  for (int64_t dim : {0, 1}) {
    std::vector<HostTensor> values;
    for (int64_t extent : {2, 0, 3}) {
      Shape shape{2, 2};
      shape[static_cast<size_t>(dim)] = extent;
      values.push_back(random.values(shape));
    }
    // The first part twice.
    expectGradient([&](TestGraph &g,
                       const std::vector<NodeId> &x) { return squared(g, *g.concat({{x[0], x[1], x[2], x[0]}}, dim)); },
                   values);
  }
}

TEST(GradientViewTest, TransfersGoBack) {
  TestGraph g;
  const NodeId x = g.input(vector({1, 2}));
  const NodeId y = squared(g, *g.transfer(x, "cuda:1"));
  const auto refused = gradient(g, y, {{x}});
  EXPECT_EQ(refused.status().message(), "gradient of transfer of f64[2]: nobody says where its "
                                        "operand lies; give deviceOf");
  GradientOptions options;
  options.deviceOf = [&](NodeId id) {
    EXPECT_EQ(id, x);
    return "cpu";
  };
  const NodeId dx = *(*gradient(g, y, {{x}}, options))[0];
  EXPECT_EQ(g.node(dx).op, Op::Transfer);
  EXPECT_EQ(g.node(dx).attributes.name, "cpu");
  expectNumbers(g.run(dx), {2, 4});
}

TEST(GradientViewTest, EightBitFloatsAreSummedInF32) {
  TestGraph g;
  const NodeId x = g.input(tensor(DType::F8E5M2, {2}, {1, 2}));
  const NodeId wide = *g.expand(*g.reshape(x, {2, 1}), {2, 3});
  const NodeId both = *g.concat({{wide, wide}}, 0);
  const NodeId slices = *g.window(both, {0}, {2}, {1}, {1});
  const NodeId y = *g.cast(slices, DType::F32);
  const NodeId dx = derivative(g, y, x);
  EXPECT_EQ(g.node(dx).type.dtype, DType::F8E5M2);
  // Rows 0 and 3 are in one window, rows 1 and 2 in two, three columns each: 9 and 9, and 8-bit
  // floats of two bits of fraction have 8 and 10.
  expectNumbers(g.run(dx), {8, 8});
}
