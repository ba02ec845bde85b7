//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Convolutions against loops.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <array>
#include <numeric>

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::Pointwise;

namespace {

using ConvolutionTest = DeviceTest;

/// The sum over channels and windows, position by position, of two-dimensional images.
std::vector<double> convolveNaively(const Tensor &x, const Tensor &filters, int64_t stride, int64_t padding,
                                    int64_t dilation, int64_t groups) {
  const Shape &s = x.shape(), &f = filters.shape();
  const std::vector<double> a = x.toVector<double>(), b = filters.toVector<double>();
  const auto extent = [&](int i) { return (s[i] + 2 * padding - dilation * (f[i] - 1) - 1) / stride + 1; };
  std::vector<double> result;
  for (int64_t n = 0; n < s[0]; ++n)
    for (int64_t o = 0; o < f[0]; ++o)
      for (int64_t i = 0; i < extent(2); ++i)
        for (int64_t j = 0; j < extent(3); ++j) {
          double sum = 0;
          for (int64_t c = 0; c < f[1]; ++c)
            for (int64_t p = 0; p < f[2]; ++p)
              for (int64_t q = 0; q < f[3]; ++q) {
                const int64_t y = i * stride + p * dilation - padding, z = j * stride + q * dilation - padding;
                if (y >= 0 && y < s[2] && z >= 0 && z < s[3])
                  sum += a[((n * s[1] + o / (f[0] / groups) * f[1] + c) * s[2] + y) * s[3] + z] *
                         b[((o * f[1] + c) * f[2] + p) * f[3] + q];
              }
          result.push_back(sum);
        }
  return result;
}

} // namespace

TEST_P(ConvolutionTest, IsTheSumOverWindows) {
  for (const auto &[stride, padding, dilation, groups] :
       {std::array<int64_t, 4>{1, 0, 1, 1}, {1, 1, 1, 1}, {2, 1, 1, 2}, {1, 2, 2, 4}, {3, 2, 1, 1}}) {
    const Tensor x = doubles({2, 4, 6, 7}), filters = doubles({8, 4 / groups, 3, 2}, 1);
    ConvolutionOptions options;
    options.stride = {stride};
    options.padding = {padding};
    options.dilation = {dilation, dilation};
    options.groups = groups;
    EXPECT_THAT(convolution(x, filters, {}, options).toVector<double>(),
                Pointwise(DoubleNear(1e-12), convolveNaively(x, filters, stride, padding, dilation, groups)));
  }
}

TEST_P(ConvolutionTest, OfOneAndThreeDimensions) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f}).reshape({1, 1, 4}),
               f = Tensor::from({1.f, 10.f}).reshape({1, 1, 2});
  EXPECT_THAT(floats(convolution(x, f)), ElementsAre(21, 32, 43));
  EXPECT_THAT(floats(convolution(x, f, Tensor::from({0.5f}))), ElementsAre(21.5, 32.5, 43.5));
  const Tensor cube = Tensor::ones({1, 2, 3, 3, 3}), ones = Tensor::ones({4, 2, 2, 2, 2});
  EXPECT_THAT(floats(convolution(cube, ones)), testing::Each(16));
  EXPECT_EQ(convolution(cube, ones).shape(), (Shape{1, 4, 2, 2, 2}));
  EXPECT_EQ(floats(convolution(Tensor::ones({0, 1, 4}), f)).size(), 0u);
  EXPECT_EQ(convolution(Tensor::ones({1, 1, 1}), f).shape(), (Shape{1, 1, 0}));
  const Tensor small = Tensor::full({1, 1, 4}, 100, DType::I8);
  EXPECT_THAT(ints(convolution(small, Tensor::full({1, 1, 4}, 100, DType::I8))), ElementsAre(40000));
  const Tensor half = Tensor::ones({1, 1, 4}, DType::BF16);
  EXPECT_EQ(convolution(half, half, Tensor::ones({1}, DType::BF16)).dtype(), DType::BF16);
}

TEST_P(ConvolutionTest, IsOneKernelWithItsPaddingAndBias) {
  const Tensor x = Tensor::from(std::vector<float>(2 * 8 * 81, 1), {2, 8, 9, 9});
  const Tensor f = Tensor::from(std::vector<float>(16 * 8 * 9, 1), {16, 8, 3, 3});
  const Tensor bias = Tensor::from(std::vector<float>(16, 1), {16});
  ConvolutionOptions options;
  options.padding = {1};
  EXPECT_EQ(floats(convolution(x, f, bias, options).relu())[0], 33);
  EXPECT_EQ(context.counters().launches, GetParam() == std::string("reference") ? 0u : 1u);
}

TEST_P(ConvolutionTest, TransposedIsTheGradient) {
  const Tensor x = doubles({2, 4, 6, 7}), filters = doubles({6, 2, 3, 2}, 1);
  for (const auto &[stride, padding, dilation] : {std::array<int64_t, 3>{1, 0, 1}, {2, 1, 1}, {3, 0, 2}, {1, 2, 2}}) {
    TransposedConvolutionOptions options;
    options.stride = {stride};
    options.padding = {padding};
    options.dilation = {dilation};
    options.groups = 2;
    const Tensor y = convolution(x, filters, {}, options), g = doubles(y.shape(), 2);
    const Tensor expected = gradient((y * g).sum(), std::vector{x})[0];
    // What the steps do not reach at the end has no gradient, and is no position.
    options.outputPadding = {(6 + 2 * padding - 2 * dilation - 1) % stride, (7 + 2 * padding - dilation - 1) % stride};
    const Tensor found = transposedConvolution(g, filters, {}, options);
    ASSERT_EQ(found.shape(), x.shape());
    EXPECT_THAT(found.toVector<double>(), Pointwise(DoubleNear(1e-12), expected.toVector<double>()));
  }
  // Each phase of the strides by itself: windows of whole strides and others, padding of more than a stride, three
  // dimensions, and positions that nothing reaches at the end.
  for (const auto &[window, stride, padding, more] : {std::array<int64_t, 4>{2, 2, 0, 0},
                                                      {4, 2, 1, 0},
                                                      {3, 2, 1, 1},
                                                      {7, 3, 2, 2},
                                                      {5, 3, 4, 1},
                                                      {4, 4, 0, 3},
                                                      {8, 3, 0, 0},
                                                      {2, 3, 0, 1}}) {
    const Tensor small = doubles({2, 4, 5, 3}), weights = doubles({4, 3, window, window}, 1), bias = doubles({6}, 2);
    TransposedConvolutionOptions options;
    options.stride = {stride};
    options.padding = {padding};
    options.outputPadding = {more};
    options.groups = 2;
    const Tensor found = transposedConvolution(small, weights, bias, options);
    // The same with zeros between the elements.
    const Tensor spread = small.reshape({2, 4, 5, 1, 3, 1})
                              .pad({0, 0, 0, 0, 0, 0}, {0, 0, 0, stride - 1, 0, stride - 1})
                              .reshape({2, 4, 5 * stride, 3 * stride})
                              .pad({0, 0, window - 1, window - 1}, {0, 0, window - 1, window - 1});
    ConvolutionOptions whole;
    whole.groups = 2;
    const Tensor turned =
        weights.reshape({2, 2, 3, window, window}).transpose(1, 2).reshape({6, 2, window, window}).flip({2, 3});
    const Tensor all = convolution(spread, turned, bias, whole);
    const int64_t rows = 4 * stride - 2 * padding + window + more, columns = 2 * stride - 2 * padding + window + more;
    ASSERT_EQ(found.shape(), (Shape{2, 6, rows, columns}));
    const Tensor expected = all.narrow(2, padding, rows).narrow(3, padding, columns);
    EXPECT_THAT(found.toVector<double>(), Pointwise(DoubleNear(1e-12), expected.toVector<double>()));
  }
  TransposedConvolutionOptions volume;
  volume.stride = {2, 1, 3};
  const Tensor box = doubles({1, 2, 2, 3, 2}), cube = doubles({2, 1, 3, 2, 4}, 1);
  EXPECT_EQ(transposedConvolution(box, cube, {}, volume).shape(), (Shape{1, 1, 5, 4, 7}));
  // What no element reaches stays as it is, and infinite elements reach no others.
  const Tensor far = Tensor::from({INFINITY, 2.f}).reshape({1, 1, 2}),
               pair = Tensor::from({1.f, 10.f, 100.f}).reshape({1, 1, 3});
  volume.stride = {2};
  EXPECT_THAT(floats(transposedConvolution(far, pair, {}, volume)), ElementsAre(INFINITY, INFINITY, INFINITY, 20, 200));
  const Tensor one = Tensor::from({1.f, 2.f}).reshape({1, 1, 2}),
               f = Tensor::from({1.f, 10.f, 100.f}).reshape({1, 1, 3});
  TransposedConvolutionOptions options;
  options.stride = {2};
  EXPECT_THAT(floats(transposedConvolution(one, f, Tensor::from({0.5f}), options)),
              ElementsAre(1.5, 10.5, 102.5, 20.5, 200.5));
}

TEST_P(ConvolutionTest, Pooling) {
  const Tensor x = Tensor::from({1.f, 5.f, 2.f, -1.f, -7.f, -3.f}).reshape({2, 3});
  EXPECT_THAT(floats(maxPool(x, {2})), ElementsAre(5, -1));
  EXPECT_THAT(floats(maxPool(x, {2}, {.stride = {1}})), ElementsAre(5, 5, -1, -3));
  EXPECT_THAT(floats(maxPool(x, {3}, {.stride = {2}, .padding = {1}})), ElementsAre(5, 5, -1, -3));
  EXPECT_THAT(ints(maxPool(x.cast(DType::I8), {3}, {.stride = {2}, .padding = {1}})), ElementsAre(5, 5, -1, -3));
  EXPECT_THAT(floats(maxPool(x, {2, 2})), ElementsAre(5));
  EXPECT_THAT(floats(maxPool(x, {2}, {.stride = {1}, .dilation = {2}})), ElementsAre(2, -1));
  AverageOptions options;
  options.stride = {2};
  options.padding = {1};
  EXPECT_THAT(floats(avgPool(x, {3}, options)),
              ElementsAre(2, FloatEq(7 / 3.f), FloatEq(-8 / 3.f), FloatEq(-10 / 3.f)));
  options.countPadding = false;
  EXPECT_THAT(floats(avgPool(x, {3}, options)), ElementsAre(3, 3.5, -4, -5));
  EXPECT_EQ(avgPool(x, {4}).shape(), (Shape{2, 0}));
  // Half of a window may be padding; with a dilation a short dimension may have windows of nothing else.
  EXPECT_THAT(floats(maxPool(x, {2}, {.padding = {1}})), ElementsAre(1, 5, -1, -3));
  options.padding = {2};
  EXPECT_THAT(floats(avgPool(x, {4}, options)), ElementsAre(3, FloatEq(8 / 3.f), -4, FloatEq(-11 / 3.f)));
  EXPECT_THAT(floats(maxPool(Tensor::from({7.f}), {2}, {.stride = {1}, .padding = {1}, .dilation = {2}})),
              ElementsAre(-INFINITY));
  // In f16 the sum would be infinite.
  EXPECT_EQ(avgPool(Tensor::full({8}, 60000, DType::F16), {8}).cast(DType::F32).item<float>(), 60000);
}

TEST_P(ConvolutionTest, InterpolatesBetweenElements) {
  const Tensor x = Tensor::from({1.f, 2.f, 4.f, 8.f}).reshape({2, 2});
  EXPECT_THAT(floats(interpolate(x, {4})), ElementsAre(1, 1, 2, 2, 4, 4, 8, 8));
  EXPECT_THAT(floats(interpolate(x, {3, 1})), ElementsAre(1, 1, 4));
  EXPECT_THAT(ints(interpolate(Tensor::arange(0, 5), {3})), ElementsAre(0, 1, 3));
  EXPECT_THAT(floats(interpolate(x, {4}, Interpolation::Linear)), ElementsAre(1, 1.25, 1.75, 2, 4, 5, 7, 8));
  EXPECT_THAT(floats(interpolate(x, {1, 1}, Interpolation::Linear)), ElementsAre(3.75));
  EXPECT_THAT(floats(interpolate(Tensor::from({0.f, 1.f, 2.f, 3.f}), {2}, Interpolation::Linear)),
              ElementsAre(0.5, 2.5));
  expectGradients([](const std::vector<Tensor> &in) { return interpolate(in[0], {3, 5}, Interpolation::Linear); },
                  {doubles({2, 2, 3})});
  EXPECT_THAT(refusal([&] { interpolate(x, {0}); }),
              HasSubstr("interpolate: [2, 2] has no last dimensions of extents [0]"));
  EXPECT_THAT(refusal([&] { interpolate(x, {1, 2, 3}); }), HasSubstr("has no last dimensions of extents [1, 2, 3]"));
}

TEST_P(ConvolutionTest, GradientsAgreeWithDifferences) {
  using Inputs = std::vector<Tensor>;
  ConvolutionOptions options;
  options.stride = {2, 1};
  options.padding = {1};
  options.groups = 2;
  expectGradients([&](const Inputs &in) { return convolution(in[0], in[1], in[2], options); },
                  {doubles({1, 2, 4, 3}), doubles({2, 1, 3, 2}, 1), doubles({2}, 2)});
  TransposedConvolutionOptions transposed;
  transposed.stride = {2};
  expectGradients([&](const Inputs &in) { return transposedConvolution(in[0], in[1], {}, transposed); },
                  {doubles({1, 2, 3}), doubles({2, 2, 3}, 1)});
  expectGradients([](const Inputs &in) { return maxPool(in[0], {3}, {.stride = {1}, .padding = {1}}); },
                  {doubles({2, 5})});
  AverageOptions average;
  average.padding = {1};
  average.countPadding = false;
  expectGradients([&](const Inputs &in) { return avgPool(in[0], {3}, average); }, {doubles({2, 5})});
}

TEST_P(ConvolutionTest, MaxPoolGivesToTheFirstOfEqualElements) {
  const auto gradientOfPool = [this](const Tensor &x, Dims window, WindowOptions options) {
    const Tape tape(context);
    const Tensor y = maxPool(x, window, options);
    // The windows are told apart.
    return floats(zyx::gradient(y, {x}, (Tensor::arange(0, y.numel(), 1, y.dtype()) + 1).reshape(y.shape()))[0]);
  };
  const Tensor x = Tensor::from({2.f, 2.f, 1.f, 2.f, 2.f, 2.f});
  EXPECT_THAT(gradientOfPool(x, {3}, {.stride = {1}}), ElementsAre(1, 2, 0, 7, 0, 0));
  EXPECT_THAT(gradientOfPool(x, {3}, {.stride = {2}, .padding = {1}}), ElementsAre(1, 2, 0, 3, 0, 0));
  EXPECT_THAT(gradientOfPool(x, {2}, {}), ElementsAre(1, 0, 0, 2, 3, 0));
  EXPECT_THAT(gradientOfPool(x, {2}, {.stride = {3}}), ElementsAre(1, 0, 0, 2, 0, 0));
  EXPECT_THAT(gradientOfPool(x, {2}, {.stride = {1}, .dilation = {3}}), ElementsAre(1, 2, 0, 0, 0, 3));
  const Tensor plane = Tensor::from({1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f}).reshape({3, 3});
  EXPECT_THAT(gradientOfPool(plane, {2, 2}, {.stride = {1}}), ElementsAre(1, 2, 0, 3, 4, 0, 0, 0, 0));
  EXPECT_THAT(gradientOfPool(plane, {3, 3}, {.stride = {1}, .padding = {1}}), ElementsAre(12, 9, 0, 15, 9, 0, 0, 0, 0));
  // A window of more elements than are looked at one by one.
  const Tensor row = Tensor::zeros({100}).detach();
  const std::vector<float> longRow = gradientOfPool(row, {70}, {.stride = {30}});
  EXPECT_EQ(longRow[0], 1);
  EXPECT_EQ(longRow[30], 2);
  EXPECT_EQ(std::accumulate(longRow.begin(), longRow.end(), 0.f), 3);
}

TEST_P(ConvolutionTest, Refusals) {
  const Tensor x = Tensor::ones({1, 4, 5}), f = Tensor::ones({6, 4, 3});
  const auto options = [](Dims stride, Dims padding, Dims dilation, int64_t groups) {
    ConvolutionOptions all;
    all.stride = stride;
    all.padding = padding;
    all.dilation = dilation;
    all.groups = groups;
    return all;
  };
  EXPECT_THAT(refusal([&] { convolution(x.select(0, 0), f); }),
              HasSubstr("convolution: x of shape [4, 5] and filters of shape [6, 4, 3]"
                        " do not have one to three dimensions of positions"));
  EXPECT_THAT(refusal([&] { convolution(x, f.cast(DType::F64)); }),
              HasSubstr("convolution: x is of dtype f32, filters of f64"));
  EXPECT_THAT(refusal([&] { convolution(x, f, {}, options({}, {}, {}, 3)); }),
              HasSubstr("convolution: channels of [1, 4, 5] or filters of [6, 4, 3] do not fall into 3 groups"));
  EXPECT_THAT(refusal([&] { convolution(x, f, {}, options({}, {}, {}, 2)); }),
              HasSubstr("convolution: filters of shape [6, 4, 3] in 2 groups do not fit 4 channels"));
  EXPECT_THAT(refusal([&] { convolution(x, f, Tensor::ones({5})); }),
              HasSubstr("convolution: a bias of type f32[5] for 6 outputs of f32"));
  EXPECT_THAT(refusal([&] { convolution(x, f, {}, options({1, 1}, {}, {}, 1)); }),
              HasSubstr("convolution: 2 numbers of stride for 1 dimensions"));
  EXPECT_THAT(refusal([&] { convolution(x, f, {}, options({}, {-1}, {}, 1)); }),
              HasSubstr("convolution: padding of -1"));
  EXPECT_THAT(refusal([&] { convolution(x, f, {}, options({}, {}, {0}, 1)); }),
              HasSubstr("convolution: dilation of 0"));
  EXPECT_THAT(refusal([&] { transposedConvolution(x, f); }),
              HasSubstr("transposedConvolution: filters of shape [6, 4, 3] do not fit 4 channels"));
  EXPECT_THAT(refusal([&] { maxPool(x, {}); }), HasSubstr("maxPool: a window of 0 dimensions for a tensor of rank 3"));
  EXPECT_THAT(refusal([&] { maxPool(x, {0}); }), HasSubstr("maxPool: window of 0"));
  EXPECT_THAT(refusal([&] { maxPool(x, {3}, {.padding = {2}}); }),
              HasSubstr("maxPool: a padding of 2, more than half of the 3 elements that a window spans"));
  EXPECT_THAT(refusal([&] { avgPool(x.cast(DType::F32), {2}, {{.padding = {2}, .dilation = {2}}}); }),
              HasSubstr("avgPool: a padding of 2, more than half of the 3 elements that a window spans"));
  TransposedConvolutionOptions transposed;
  transposed.outputPadding = {-1};
  EXPECT_THAT(refusal([&] { transposedConvolution(x, f.transpose(0, 1), {}, transposed); }),
              HasSubstr("transposedConvolution: outputPadding of -1"));
}

INSTANTIATE_TEST_SUITE_P(Devices, ConvolutionTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
