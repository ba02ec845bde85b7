//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Convolution.h"

#include "zyx/Graph/Gradient.h"

#include <cstdio>
#include <cstdlib>

namespace zyx::conformance {

using Ints = std::vector<int64_t>;

namespace {

/// Without the layout: `extents` are those of the input, `size` those of the filter.
struct Layer {
  const char *name;
  int64_t batch, channels, outputs;
  Ints extents, size, stride, dilation, low, high;
  int64_t groups = 1;
};

} // namespace

static Shape shapeOf(bool channelsLast, int64_t outer, int64_t channels, const Ints &extents) {
  Shape shape = {outer};
  if (!channelsLast)
    shape.push_back(channels);
  shape.insert(shape.end(), extents.begin(), extents.end());
  if (channelsLast)
    shape.push_back(channels);
  return shape;
}

static void addLayer(std::vector<Case> &cases, const Layer &layer, bool channelsLast, DType dtype) {
  const std::string name =
      std::string("convolution.") + layer.name + (channelsLast ? ".last." : ".first.") + std::string(toString(dtype));
  cases.push_back({name, [=](Builder &b) {
                     const NodeId x = b.x(dtype, shapeOf(channelsLast, layer.batch, layer.channels, layer.extents));
                     const int64_t channels = layer.channels / layer.groups;
                     Shape filter = layer.size;
                     filter.insert(channelsLast ? filter.end() : filter.begin(), channels);
                     filter.insert(channelsLast ? filter.end() : filter.begin(), layer.outputs);
                     const DType sum = dtype == DType::I8 ? DType::I32 : accumulatorType(dtype);
                     const NodeId y = convolve(
                         b, x, b.x(dtype, filter),
                         {channelsLast, layer.stride, layer.dilation, layer.low, layer.high, layer.groups}, sum);
                     // Scale and shift of each channel, what another layer gave, an activation.
                     const Shape shape = b.type(y).shape;
                     const int64_t dim = channelsLast ? static_cast<int64_t>(shape.size()) - 1 : 1;
                     const NodeId scale = b.along(b.x(sum, {layer.outputs}), shape, dim);
                     const NodeId shift = b.along(b.x(sum, {layer.outputs}), shape, dim);
                     const NodeId z = b.add(b.add(b.mul(y, scale), shift), b.x(sum, shape));
                     return std::vector<NodeId>{b.binary(BinaryKind::Max, z, b.like(z, 0))};
                   }});
}

/// Channels last, with filters in the order of those that come first: as the tensors' convolution() makes it of a view.
static void addMixed(std::vector<Case> &cases, const Layer &layer, DType dtype) {
  cases.push_back(
      {std::string("convolution.") + layer.name + ".mixed." + std::string(toString(dtype)), [=](Builder &b) {
         const NodeId x = b.x(dtype, shapeOf(true, layer.batch, layer.channels, layer.extents));
         const auto rank = static_cast<int64_t>(layer.extents.size()) + 2;
         Ints first = {0, rank - 1}, last = {0};
         for (int64_t i = 1; i + 1 < rank; ++i) {
           first.push_back(i);
           last.push_back(i + 1);
         }
         last.push_back(1);
         Shape filter = layer.size;
         filter.insert(filter.begin(), {layer.outputs, layer.channels / layer.groups});
         const NodeId y = convolve(b, b.permute(x, first), b.x(dtype, filter),
                                   {false, layer.stride, layer.dilation, layer.low, layer.high, layer.groups},
                                   accumulatorType(dtype));
         const NodeId z = b.permute(y, last);
         return std::vector<NodeId>{b.binary(BinaryKind::Max, z, b.like(z, 0))};
       }});
}

/// Channels come last in the images alone, of which there are few positions: results have them first, beside what is
/// added to them there.
static void addReturned(std::vector<Case> &cases, const Layer &layer, DType dtype) {
  cases.push_back(
      {std::string("convolution.") + layer.name + ".returned." + std::string(toString(dtype)), [=](Builder &b) {
         const NodeId x = b.x(dtype, shapeOf(true, layer.batch, layer.channels, layer.extents));
         Shape filter = layer.size;
         filter.insert(filter.begin(), {layer.outputs, layer.channels / layer.groups});
         const DType sum = accumulatorType(dtype);
         const NodeId y = convolve(b, b.permute(x, {0, 3, 1, 2}), b.x(dtype, filter),
                                   {false, layer.stride, layer.dilation, layer.low, layer.high, layer.groups}, sum);
         const Shape shape = b.type(y).shape;
         const NodeId shifted = b.add(b.cast(y, sum), b.along(b.x(sum, {layer.outputs}), shape, 1));
         const NodeId z = b.add(shifted, b.x(sum, shape));
         return std::vector<NodeId>{b.binary(BinaryKind::Max, z, b.like(z, 0)), b.cast(shifted, dtype)};
       }});
}

/// The gradient of the filters alone: sums over all positions, of windows of the operand. With `ofImages` that of the
/// operand: windows of what comes to the results, and filters in the other direction.
/// With `isTurned`, what comes to the results has its channels last.
static void addFilterGradient(std::vector<Case> &cases, const Layer &layer, bool isMixed, DType dtype,
                              bool isTurned = false, bool ofImages = false) {
  cases.push_back(
      {std::string("convolution.") + layer.name + (ofImages ? ".images." : ".filters.") +
           (isTurned  ? "turned."
            : isMixed ? "mixed."
                      : "first.") +
           std::string(toString(dtype)),
       [=](Builder &b) {
         const DType sum = accumulatorType(dtype);
         const NodeId images = b.x(dtype, shapeOf(isMixed, layer.batch, layer.channels, layer.extents));
         NodeId x = images;
         const auto rank = static_cast<int64_t>(layer.extents.size()) + 2;
         Ints first = {0, rank - 1};
         for (int64_t i = 1; i + 1 < rank; ++i)
           first.push_back(i);
         if (isMixed)
           x = b.permute(x, first);
         Shape filter = layer.size;
         filter.insert(filter.begin(), {layer.outputs, layer.channels / layer.groups});
         const NodeId filters = b.x(dtype, filter);
         NodeId y =
             convolve(b, x, filters, {false, layer.stride, layer.dilation, layer.low, layer.high, layer.groups}, sum);
         if (isTurned) {
           Ints last = {0};
           for (int64_t i = 2; i < rank; ++i)
             last.push_back(i);
           last.push_back(1);
           y = b.permute(y, last);
         }
         const NodeId seed = b.x(b.type(y).dtype, b.type(y).shape);
         const auto gradients = graph::gradient(b.graph(), {{y}}, {{seed}}, {{ofImages ? images : filters}});
         if (!gradients.isOk() || !gradients->front()) {
           std::fprintf(stderr, "a layer without gradients: %s\n", gradients.status().message().c_str());
           std::abort();
         }
         return std::vector<NodeId>{*gradients->front()};
       }});
}

/// The gradient of images with respect to averages of their windows.
static void addAverageGradient(std::vector<Case> &cases, const Layer &layer, bool isMixed, DType dtype) {
  cases.push_back({std::string("convolution.") + layer.name + ".average." + (isMixed ? "mixed." : "first.") +
                       std::string(toString(dtype)),
                   [=](Builder &b) {
                     const NodeId images = b.x(dtype, shapeOf(isMixed, layer.batch, layer.channels, layer.extents));
                     const DType sum = accumulatorType(dtype);
                     NodeId x = isMixed ? b.permute(images, {0, 3, 1, 2}) : images;
                     x = b.pad(b.cast(x, sum), b.splat(sum, {}, 0), {0, 0, layer.low[0], layer.low[1]},
                               {0, 0, layer.high[0], layer.high[1]}, Ints(4, 0));
                     const NodeId windows = b.window(x, {2, 3}, layer.size, layer.stride, layer.dilation);
                     const NodeId y = b.cast(b.reduce(ReduceKind::Add, windows, {4, 5}), dtype);
                     const NodeId seed = b.x(dtype, b.type(y).shape);
                     const auto gradients = graph::gradient(b.graph(), {{y}}, {{seed}}, {{images}});
                     if (!gradients.isOk() || !gradients->front()) {
                       std::fprintf(stderr, "an average without gradients: %s\n", gradients.status().message().c_str());
                       std::abort();
                     }
                     return std::vector<NodeId>{*gradients->front()};
                   }});
}

/// A convolution over what a shuffle moved: pixels of blocks of `each` by `each` are channels, as gradients of a pixel
/// shuffle read them.
static void addShuffled(std::vector<Case> &cases, const Layer &layer, int64_t each, DType dtype) {
  cases.push_back({std::string("convolution.") + layer.name + "." + std::string(toString(dtype)), [=](Builder &b) {
                     const int64_t channels = layer.channels / (each * each), high = layer.extents[0],
                                   wide = layer.extents[1];
                     NodeId x = b.x(dtype, {layer.batch, channels, high * each, wide * each});
                     x = b.reshape(x, {layer.batch, channels, high, each, wide, each});
                     x = b.reshape(b.permute(x, {0, 1, 3, 5, 2, 4}), {layer.batch, layer.channels, high, wide});
                     Shape filter = layer.size;
                     filter.insert(filter.begin(), {layer.outputs, layer.channels / layer.groups});
                     return std::vector<NodeId>{
                         b.cast(convolve(b, x, b.x(dtype, filter),
                                         {false, layer.stride, layer.dilation, layer.low, layer.high, layer.groups},
                                         accumulatorType(dtype)),
                                dtype)};
                   }});
}

/// The gradient of images of a transposed convolution whose windows lie side by side, of `each` by `each` elements:
/// what was shuffled into images is a factor, and the other one filters in another order.
static void addShuffledGradient(std::vector<Case> &cases, int64_t batch, int64_t channels, int64_t side, int64_t each,
                                DType dtype) {
  cases.push_back({"convolution.shuffled-gradient." + std::string(toString(dtype)), [=](Builder &b) {
                     const int64_t all = channels * each * each, wide = side * each;
                     NodeId filter =
                         b.reshape(b.x(dtype, {channels, channels, each, each}), {1, channels, channels, each, each});
                     filter = b.window(filter, {3, 4}, {1, 1}, {1, 1}, {each, each});
                     filter = b.reshape(b.permute(filter, {0, 3, 4, 2, 1, 5, 6}), {1, 1, all, 1, 1, channels, 1, 1});
                     NodeId seed = b.reshape(b.x(dtype, {batch, channels, wide, wide}),
                                             {batch, 1, channels, side, each, side, each});
                     seed = b.cast(b.permute(seed, {0, 1, 4, 6, 2, 3, 5}), DType::F32);
                     seed = b.reshape(seed, {batch, 1, all, side, side, 1, 1, 1});
                     const Shape points = {batch, 1, all, side, side, channels, 1, 1};
                     NodeId y = b.mul(b.expand(seed, points), b.expand(b.cast(filter, DType::F32), points));
                     y = b.permute(b.reduce(ReduceKind::Add, y, {2}), {0, 1, 4, 2, 3, 5, 6});
                     return std::vector<NodeId>{b.cast(b.reshape(y, {batch, channels, side, side}), dtype)};
                   }});
}

/// What transposed convolutions are made of: a convolution of every other element of filters, which lie in the other
/// direction and in another order of channels.
static void addPhase(std::vector<Case> &cases, const Layer &layer, bool channelsLast, DType dtype) {
  cases.push_back({std::string("convolution.") + layer.name + ".phase." + (channelsLast ? "last." : "first.") +
                       std::string(toString(dtype)),
                   [=](Builder &b) {
                     const NodeId x = b.x(dtype, shapeOf(channelsLast, layer.batch, layer.channels, layer.extents));
                     const auto [rows, columns] = std::pair(layer.size[0], layer.size[1]);
                     NodeId filter = b.x(dtype, {layer.channels, layer.outputs, 2 * rows, 2 * columns});
                     filter = b.window(filter, {2, 3}, {rows, columns}, {1, 1}, {2, 2});
                     filter =
                         b.pad(filter, b.splat(dtype, {}, 0), {0, 0, -1, 0, 0, 0}, {0, 0, 0, -1, 0, 0}, Ints(6, 0));
                     filter = b.reshape(filter, {layer.channels, layer.outputs, rows, columns});
                     filter = b.permute(b.flip(filter, {2, 3}), channelsLast ? Ints{2, 3, 0, 1} : Ints{1, 0, 2, 3});
                     const DType sum = accumulatorType(dtype);
                     const NodeId y = convolve(
                         b, x, filter, {channelsLast, layer.stride, layer.dilation, layer.low, layer.high, 1}, sum);
                     return std::vector<NodeId>{b.cast(y, dtype)};
                   }});
}

/// The gradients of images and filters of a transposed convolution with stride 2, made of one phase: what comes to it
/// is every other element of rows and columns. A window reads an image and the row or column behind it.
static void addPhaseGradients(std::vector<Case> &cases, const Layer &layer, bool channelsLast, DType dtype) {
  cases.push_back(
      {std::string("convolution.") + layer.name + ".phase-gradients." + (channelsLast ? "last." : "first.") +
           std::string(toString(dtype)),
       [=](Builder &b) {
         const DType sum = accumulatorType(dtype);
         const NodeId images = b.x(dtype, shapeOf(channelsLast, layer.batch, layer.channels, layer.extents));
         const NodeId x = channelsLast ? b.permute(images, {0, 3, 1, 2}) : images;
         const NodeId filters = b.x(dtype, {layer.outputs, layer.channels, layer.size[0], layer.size[1]});
         const NodeId y =
             convolve(b, x, filters, {false, layer.stride, layer.dilation, layer.low, layer.high, layer.groups}, sum);
         const int64_t rows = b.type(y).shape[2], columns = b.type(y).shape[3];
         NodeId seed = b.x(dtype, {layer.batch, layer.outputs, 2 * rows, 2 * columns});
         seed = b.reshape(seed, {layer.batch, layer.outputs, rows, 2, columns, 2});
         seed = b.pad(seed, b.splat(dtype, {}, 0), {0, 0, 0, -1, 0, 0}, {0, 0, 0, 0, 0, -1}, Ints(6, 0));
         seed = b.cast(b.reshape(seed, {layer.batch, layer.outputs, rows, columns}), b.type(y).dtype);
         const auto gradients = graph::gradient(b.graph(), {{y}}, {{seed}}, {{images, filters}});
         if (!gradients.isOk() || !(*gradients)[0] || !(*gradients)[1]) {
           std::fprintf(stderr, "a phase without gradients: %s\n", gradients.status().message().c_str());
           std::abort();
         }
         return std::vector<NodeId>{*(*gradients)[0], *(*gradients)[1]};
       }});
}

/// Of a convolution with padding on both sides the last positions are left out behind bias and rounding, and some of
/// the first ones, as causal ones are written: only the others need be computed. With `isShared` all of them are a
/// result, too.
static void addPart(std::vector<Case> &cases, const Layer &layer, int64_t front, int64_t back, bool isShared,
                    DType dtype) {
  cases.push_back(
      {std::string("convolution.") + layer.name + (isShared ? ".part.shared." : ".part.") +
           std::string(toString(dtype)),
       [=](Builder &b) {
         const DType sum = accumulatorType(dtype);
         const auto rank = static_cast<int64_t>(layer.extents.size()) + 2;
         Ints first = {0, rank - 1}, last = {0};
         for (int64_t i = 1; i + 1 < rank; ++i) {
           first.push_back(i);
           last.push_back(i + 1);
         }
         last.push_back(1);
         const NodeId x = b.permute(b.x(dtype, shapeOf(true, layer.batch, layer.channels, layer.extents)), first);
         Shape filter = layer.size;
         filter.insert(filter.begin(), {layer.outputs, layer.channels / layer.groups});
         const NodeId y = convolve(b, x, b.x(dtype, filter),
                                   {false, layer.stride, layer.dilation, layer.low, layer.high, layer.groups}, sum);
         const Shape shape = b.type(y).shape;
         const NodeId shifted = b.cast(b.add(b.cast(y, sum), b.along(b.x(sum, {layer.outputs}), shape, 1)), dtype);
         Ints low(shape.size(), 0), high = low;
         low.back() = -front;
         high.back() = -back;
         const NodeId part = b.pad(shifted, b.splat(dtype, {}, 0), low, high, Ints(shape.size(), 0));
         const NodeId z = b.permute(b.mul(part, b.unary(UnaryKind::Tanh, part)), last);
         return isShared ? std::vector<NodeId>{z, shifted} : std::vector<NodeId>{z};
       }});
}

/// Convolutions that read each other's results, behind norms of their channels: between kernels these images lie in
/// whatever order is best for who reads them. One of them is a result, too, and has its own.
static void addChain(std::vector<Case> &cases, bool hasGradients, DType dtype) {
  cases.push_back(
      {std::string("convolution.chain.") + (hasGradients ? "gradients." : "") + std::string(toString(dtype)),
       [=](Builder &b) {
         const DType sum = accumulatorType(dtype);
         const Ints ones = {1, 1}, none = {0, 0};
         const NodeId x = b.x(dtype, {4, 64, 14, 10});
         const NodeId filters[] = {b.x(dtype, {72, 64, 3, 3}), b.x(dtype, {72, 72, 1, 1}), b.x(dtype, {40, 72, 3, 3})};
         auto normalise = [&](NodeId y) {
           const Shape shape = b.type(y).shape;
           const NodeId wide = b.cast(y, sum);
           const double count = static_cast<double>(shape[0] * shape[2] * shape[3]);
           auto mean = [&](NodeId v) {
             const NodeId all = b.reduce(ReduceKind::Add, v, {0, 2, 3});
             return b.along(b.mul(all, b.like(all, 1 / count)), shape, 1);
           };
           const NodeId apart = b.sub(wide, mean(wide)), variance = mean(b.mul(apart, apart));
           const NodeId scaled = b.mul(apart, b.unary(UnaryKind::Rsqrt, b.add(variance, b.like(variance, 1))));
           const NodeId rounded = b.cast(scaled, dtype);
           return b.binary(BinaryKind::Max, rounded, b.like(rounded, 0));
         };
         const NodeId first =
             normalise(b.cast(convolve(b, x, filters[0], {false, ones, ones, ones, ones, 1}, sum), dtype));
         const NodeId second = b.cast(convolve(b, first, filters[1], {false, ones, ones, none, none, 1}, sum), dtype);
         const NodeId joined = normalise(b.add(second, first));
         const NodeId third = b.cast(convolve(b, joined, filters[2], {false, {2, 2}, ones, ones, ones, 1}, sum), dtype);
         if (!hasGradients)
           return std::vector<NodeId>{joined, third};
         const NodeId seed = b.x(dtype, b.type(third).shape);
         const auto gradients =
             graph::gradient(b.graph(), {{third}}, {{seed}}, {{x, filters[0], filters[1], filters[2]}});
         if (!gradients.isOk()) {
           std::fprintf(stderr, "a chain without gradients: %s\n", gradients.status().message().c_str());
           std::abort();
         }
         std::vector<NodeId> results;
         for (const auto &own : *gradients)
           results.push_back(*own);
         return results;
       }});
}

/// The gradient of filters behind a mean of each channel over all images: a long sum of few results, which follows
/// another sum.
static void addCentred(std::vector<Case> &cases, DType dtype) {
  cases.push_back(
      {"convolution.centred.filters." + std::string(toString(dtype)), [=](Builder &b) {
         const DType sum = accumulatorType(dtype);
         const Ints ones = {1, 1}, none = {0, 0};
         const Shape shape = {64, 8, 32, 32};
         const NodeId wide = b.cast(b.x(dtype, shape), sum), all = b.reduce(ReduceKind::Add, wide, {0, 2, 3});
         const NodeId mean = b.along(b.mul(all, b.like(all, 1.0 / (64 * 32 * 32))), shape, 1);
         const NodeId filters = b.x(dtype, {16, 8, 1, 1});
         const NodeId y =
             convolve(b, b.cast(b.sub(wide, mean), dtype), filters, {false, ones, ones, none, none, 1}, sum);
         const NodeId seed = b.x(sum, b.type(y).shape);
         const auto gradients = graph::gradient(b.graph(), {{b.cast(b.cast(y, dtype), sum)}}, {{seed}}, {{filters}});
         if (!gradients.isOk() || !gradients->front()) {
           std::fprintf(stderr, "a layer without gradients: %s\n", gradients.status().message().c_str());
           std::abort();
         }
         return std::vector<NodeId>{*gradients->front()};
       }});
}

void addConvolutionCases(std::vector<Case> &cases) {
  using enum DType;
  const Ints one = {1}, ones = {1, 1}, none = {0, 0};
  const Layer layers[] = {
      {"3x3", 1, 16, 32, {14, 14}, {3, 3}, ones, ones, ones, ones},
      {"3x3-wide", 1, 5, 40, {9, 50}, {3, 3}, ones, ones, ones, ones},
      {"deep", 1, 80, 33, {5, 7}, {3, 3}, ones, ones, ones, ones},
      {"odd", 3, 7, 13, {11, 9}, {3, 2}, ones, ones, none, {1, 0}},
      {"7x7", 1, 3, 20, {31, 29}, {7, 7}, {2, 2}, ones, {3, 3}, {3, 3}},
      {"strided", 2, 8, 16, {13, 40}, {3, 3}, {2, 2}, ones, ones, ones},
      {"strided-3-5", 1, 4, 9, {12, 61}, {2, 3}, {3, 5}, ones, {0, 1}, ones},
      {"dilated", 2, 6, 10, {15, 35}, {3, 3}, ones, {2, 3}, {2, 3}, {2, 3}},
      {"asymmetric", 2, 4, 6, {8, 21}, {4, 5}, ones, ones, {0, 3}, {2, 1}},
      {"cropped", 1, 4, 6, {9, 23}, {3, 3}, ones, ones, {-1, 1}, {1, -2}},
      {"beyond", 1, 3, 5, {3, 18}, {3, 3}, ones, ones, {4, 20}, {4, 0}},
      {"1x1", 2, 24, 17, {6, 7}, ones, ones, ones, none, none},
      {"1x1-strided", 2, 24, 17, {9, 7}, ones, {2, 2}, ones, none, none},
      {"groups", 2, 12, 18, {9, 20}, {3, 3}, ones, ones, ones, ones, 3},
      {"depthwise", 2, 37, 37, {10, 19}, {3, 3}, ones, ones, ones, ones, 37},
      {"depthwise-strided", 1, 16, 16, {15, 33}, {3, 3}, {2, 2}, ones, ones, ones, 16},
      {"depthwise-twice", 1, 6, 12, {8, 18}, {3, 3}, ones, ones, ones, ones, 6},
      {"line", 2, 5, 9, {67}, {5}, one, {2}, {4}, {4}},
      {"volume", 1, 3, 8, {5, 6, 19}, {3, 2, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}},
  };
  for (const Layer &layer : layers)
    for (const bool channelsLast : {false, true})
      addLayer(cases, layer, channelsLast, F32);
  for (const DType dtype : {F64, BF16, F16, I8, I32})
    for (const bool channelsLast : {false, true})
      for (const size_t at : {size_t(1), size_t(5), size_t(13)})
        addLayer(cases, layers[at], channelsLast, dtype);
  const Layer small[] = {
      {"small", 2, 40, 32, {7, 7}, {3, 3}, ones, ones, ones, ones},
      {"small-strided", 1, 32, 48, {14, 13}, {3, 3}, {2, 2}, ones, ones, ones},
      {"small-dilated", 3, 36, 16, {6, 5}, {3, 3}, ones, {2, 2}, {2, 2}, {2, 2}},
      {"small-groups", 2, 64, 64, {7, 5}, {3, 3}, ones, ones, ones, ones, 2},
      {"small-odd", 1, 31, 40, {7, 7}, {5, 4}, ones, ones, {2, 1}, {1, 2}},
      {"small-enough", 1, 48, 32, {12, 16}, {3, 3}, ones, ones, ones, ones},
  };
  for (const Layer &layer : small)
    for (const DType dtype : {F32, F16, BF16})
      addReturned(cases, layer, dtype);
  // Rows of an image are runs that are shorter than a vector: pieces of the contraction begin within windows, panels of
  // columns within runs, and windows are too large to be written out.
  const Layer shortRuns[] = {
      {"short", 2, 96, 40, {7, 7}, {3, 3}, ones, {2, 2}, {2, 2}, {2, 2}},
      {"short-deep", 1, 131, 40, {6, 5}, {3, 3}, ones, ones, ones, ones},
      {"short-tall", 1, 40, 24, {17, 11}, {3, 5}, ones, ones, {1, 2}, {1, 2}},
      {"short-strided", 2, 48, 32, {15, 19}, {3, 3}, {2, 2}, ones, ones, ones},
      {"short-cropped", 1, 40, 24, {9, 13}, {3, 3}, ones, ones, {-1, 2}, {2, -2}},
      {"short-volume", 1, 40, 32, {4, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {"short-window", 1, 24, 32, {8, 9}, {7, 7}, ones, ones, {3, 3}, {3, 3}},
  };
  for (const Layer &layer : shortRuns)
    for (const DType dtype : {F32, F64, BF16})
      addLayer(cases, layer, /*channelsLast=*/false, dtype);
  // What a program copies near before it slides over it: programs of several rows and of one, a last one that is
  // smaller, more channels than vectors have, padding on all sides and none.
  const Layer near[] = {
      {"near", 2, 37, 37, {20, 33}, {3, 3}, ones, ones, ones, ones, 37},
      {"near-7x7", 1, 72, 72, {30, 41}, {7, 7}, ones, ones, {3, 3}, {3, 3}, 72},
      {"near-strided", 2, 40, 40, {29, 50}, {5, 5}, {2, 1}, ones, {2, 2}, {2, 2}, 40},
      {"near-dilated", 1, 35, 35, {40, 38}, {3, 3}, ones, {2, 3}, {2, 3}, {2, 3}, 35},
      {"near-cropped", 1, 33, 33, {40, 45}, {5, 4}, ones, ones, {-3, 2}, {4, -1}, 33},
      {"near-inside", 1, 34, 34, {25, 30}, {5, 5}, ones, ones, none, none, 34},
      {"near-twice", 1, 20, 40, {18, 36}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 20},
      {"near-line", 2, 50, 50, {300}, {4}, one, one, {3}, {3}, 50},
      {"near-volume", 1, 18, 18, {8, 9, 20}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 18},
  };
  for (const Layer &layer : near)
    for (const DType dtype : {F32, BF16}) {
      addMixed(cases, layer, dtype);
      for (const bool channelsLast : {false, true})
        addLayer(cases, layer, channelsLast, dtype);
    }
  addMixed(cases, near[1], F64);
  // What lies along channels is written where these come first, in squares and at their edges.
  for (const DType dtype : {F32, F64, BF16})
    for (const size_t at : {size_t(0), size_t(2), size_t(5)})
      addReturned(cases, near[at], dtype);
  // Few channels a group, whose windows are summed up as they lie; few positions, which fill one register of a matrix
  // unit; and filters' gradients whose rows of positions are shorter than one.
  const Layer scarce[] = {
      {"few-channels", 2, 16, 16, {9, 28}, {3, 3}, ones, ones, ones, ones, 4},
      {"few-channels-wide", 1, 6, 6, {14, 17}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 3},
      {"few-positions", 2, 32, 64, {7, 7}, {3, 3}, {2, 2}, ones, ones, ones},
      {"few-positions-wide", 1, 32, 64, {7, 7}, {5, 5}, {2, 2}, ones, {2, 2}, {2, 2}},
      {"few-neighbours", 1, 32, 40, {17, 28}, {3, 3}, ones, ones, ones, ones},
  };
  for (const Layer &layer : scarce)
    for (const DType dtype : {F32, BF16, I8})
      addLayer(cases, layer, /*channelsLast=*/false, dtype);
  addFilterGradient(cases, scarce[4], /*isMixed=*/false, BF16);
  addFilterGradient(cases, scarce[4], /*isMixed=*/true, BF16);
  // So many results that a thread has several rows of them.
  const Layer tall[] = {
      {"tall", 1, 96, 96, {96, 96}, {3, 3}, ones, ones, ones, ones, 96},
      {"tall-odd", 1, 72, 72, {126, 77}, {5, 3}, ones, ones, {2, 1}, {2, 1}, 72},
      {"tall-strided", 1, 96, 96, {161, 170}, {3, 3}, {2, 2}, ones, ones, ones, 96},
      {"tall-line", 1, 640, 640, {1024}, {4}, one, one, {3}, {0}, 640},
  };
  for (const Layer &layer : tall)
    for (const DType dtype : {F32, F16})
      for (const bool channelsLast : {false, true})
        addLayer(cases, layer, channelsLast, dtype);
  addMixed(cases, tall[0], BF16);
  addMixed(cases, tall[3], BF16);
  for (const bool isShared : {false, true})
    for (const DType dtype : {F32, BF16}) {
      addPart(cases, {"near-line", 2, 50, 50, {300}, {4}, one, one, {3}, {3}, 50}, 0, 3, isShared, dtype);
      addPart(cases, {"near-line-strided", 2, 24, 24, {97}, {5}, {2}, one, {4}, {6}, 24}, 3, 2, isShared, dtype);
      addPart(cases, {"line", 2, 16, 24, {67}, {5}, one, {2}, {8}, {8}}, 1, 8, isShared, dtype);
      addPart(cases, {"dense", 1, 24, 20, {17, 28}, {3, 3}, ones, ones, ones, ones}, 5, 4, isShared, dtype);
    }
  for (const Layer &layer : near)
    for (const bool isMixed : {false, true})
      addFilterGradient(cases, layer, isMixed, F32);
  for (const bool isMixed : {false, true}) {
    addFilterGradient(cases, near[0], isMixed, BF16);
    addFilterGradient(cases, near[1], isMixed, isMixed ? BF16 : F32, /*isTurned=*/true);
    addFilterGradient(cases, layers[0], isMixed, F32);
    addFilterGradient(cases, layers[13], isMixed, F32);
  }
  // Of dense ones: positions are runs that are transposed while they are packed, shorter and longer than vectors, apart
  // by strides.
  const Layer dense[] = {
      {"dense", 2, 24, 20, {17, 28}, {3, 3}, ones, ones, ones, ones},
      {"dense-strided", 2, 9, 17, {21, 45}, {3, 3}, {2, 2}, ones, ones, ones},
      {"dense-groups", 1, 64, 64, {12, 37}, {3, 3}, ones, ones, ones, ones, 8},
      {"dense-volume", 1, 6, 18, {5, 6, 24}, {3, 2, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}},
  };
  for (const Layer &layer : dense)
    for (const DType dtype : {F32, F16})
      for (const bool isMixed : {false, true})
        addFilterGradient(cases, layer, isMixed, dtype);
  // Of few channels a group: threads add up the elements of windows of all channels, of a part of them, or of rows that
  // no vector divides.
  const Layer few[] = {
      {"few-channels", 3, 12, 24, {17, 28}, {3, 3}, ones, ones, ones, ones, 3},
      {"few-channels-8", 2, 16, 8, {20, 32}, {3, 3}, ones, ones, none, ones, 2},
      {"few-channels-5x5", 2, 8, 8, {20, 36}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 2},
      {"few-channels-dilated", 2, 8, 4, {20, 32}, {3, 2}, ones, {2, 3}, {2, 1}, {2, 2}, 2},
      {"few-channels-odd", 3, 12, 12, {19, 21}, {3, 3}, ones, ones, ones, ones, 3},
      {"few-channels-14", 5, 16, 8, {15, 14}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 2},
      {"few-channels-18", 4, 8, 12, {17, 18}, {3, 3}, ones, {2, 1}, ones, ones, 4},
      {"few-channels-30", 3, 6, 6, {16, 30}, {3, 5}, ones, ones, {0, 2}, {2, 1}, 2},
      {"few-channels-line", 2, 8, 12, {640}, {5}, one, one, {2}, {2}, 2},
      {"few-channels-volume", 1, 8, 8, {5, 10, 24}, {3, 2, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}, 2},
  };
  for (const Layer &layer : few)
    for (const DType dtype : {F32, F16})
      for (const bool isMixed : {false, true})
        addFilterGradient(cases, layer, isMixed, dtype);
  for (const size_t at : {1, 4, 5, 6, 7, 8, 9, 10, 17})
    addFilterGradient(cases, layers[at], /*isMixed=*/false, F32);
  // So many channels and positions that tensor cores make them of windows that are copied; also such that no row is a
  // whole number of vectors.
  const Layer phases[] = {
      {"phases-both", 2, 128, 64, {32, 32}, {2, 2}, ones, ones, none, ones},
      {"phases-row", 2, 128, 64, {32, 32}, {1, 2}, ones, ones, none, {0, 1}},
      {"phases-odd", 3, 72, 40, {29, 31}, {2, 2}, ones, ones, none, ones},
  };
  for (const Layer &layer : phases)
    for (const DType dtype : {F16, BF16})
      for (const bool channelsLast : {false, true})
        addPhaseGradients(cases, layer, channelsLast, dtype);
  addFilterGradient(cases, dense[0], /*isMixed=*/false, F64);
  addMixed(cases, layers[13], F32);
  // Channels in multiples of 16 bytes, as the copy engine of tensor cores wants them; and images of several tiles.
  const Layer wide[] = {
      {"wide-64", 3, 64, 64, {9, 11}, {3, 3}, ones, ones, ones, ones},
      {"wide-72", 2, 72, 40, {13, 20}, {3, 5}, {2, 1}, ones, ones, {0, 2}},
      {"wide-apart", 2, 16, 24, {19, 15}, {3, 2}, {3, 2}, {2, 3}, {4, 1}, {1, 3}},
      {"wide-cropped", 1, 24, 32, {19, 23}, {3, 3}, ones, ones, {-2, 1}, {1, -3}},
      {"wide-1x1", 2, 64, 48, {9, 13}, ones, {2, 3}, ones, none, none},
      {"wide-groups", 2, 48, 32, {7, 9}, {3, 3}, ones, ones, ones, ones, 2},
      {"wide-line", 3, 16, 24, {67}, {5}, {2}, {2}, {4}, {3}},
      {"wide-volume", 2, 16, 24, {5, 6, 9}, {3, 2, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}},
  };
  for (const Layer &layer : wide)
    for (const DType dtype : {BF16, F16})
      for (const bool channelsLast : {false, true})
        addLayer(cases, layer, channelsLast, dtype);
  // Few results of many positions: a processor's programs are lines of an image, planes of a volume or pieces of one
  // line.
  const Layer lines[] = {
      {"lines", 1, 24, 12, {60, 57}, {3, 3}, ones, ones, ones, {2, 0}},
      {"lines-apart", 2, 40, 6, {46, 47}, {3, 3}, {2, 1}, {1, 2}, {-1, 2}, {3, 2}},
      {"lines-piece", 1, 40, 20, {5003}, {5}, one, {3}, {7}, {2}},
      {"lines-volume", 1, 12, 9, {12, 30, 28}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  for (const Layer &layer : lines)
    for (const DType dtype : {BF16, F16, F32})
      addLayer(cases, layer, /*channelsLast=*/false, dtype);
  // So few channels a group that threads bring windows to shared memory, in vectors of a group's channels: of 4, 8 and
  // 16 of them, of 6 and of 5, with strides, dilations, padding that is asymmetric or cropped, one image and several,
  // steps that are no whole slices.
  const Layer grouped[] = {
      {"grouped", 2, 32, 32, {14, 19}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 8},
      {"grouped-16", 1, 64, 48, {13, 18}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 4},
      {"grouped-strided", 2, 32, 32, {17, 20}, {3, 3}, {2, 1}, {1, 2}, {1, 2}, {2, 1}, 4},
      {"grouped-cropped", 1, 48, 64, {22, 25}, {3, 5}, ones, ones, {-2, 3}, {4, -1}, 8},
      {"grouped-odd", 2, 20, 16, {17, 23}, {3, 3}, ones, ones, ones, ones, 4},
      {"grouped-line", 2, 32, 32, {301}, {7}, {2}, {3}, {9}, {8}, 8},
      {"grouped-volume", 1, 32, 32, {7, 8, 11}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}, 4},
  };
  for (const Layer &layer : grouped)
    for (const DType dtype : {BF16, F16, F32})
      for (const bool channelsLast : {false, true})
        addLayer(cases, layer, channelsLast, dtype);
  // Of so many results that images are copied, group by group; and of filters whose channels are put last.
  const Layer manyGrouped[] = {
      {"many-grouped", 2, 64, 64, {41, 45}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 16},
      {"many-grouped-strided", 2, 96, 96, {62, 67}, {3, 5}, {2, 1}, {1, 2}, {3, -1}, {-2, 6}, 6},
      {"many-grouped-line", 2, 96, 96, {4001}, {9}, one, {2}, {8}, {8}, 24},
      {"many-grouped-volume", 1, 64, 64, {9, 15, 16}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 8},
  };
  for (const Layer &layer : manyGrouped)
    for (const DType dtype : {BF16, F16})
      addLayer(cases, layer, /*channelsLast=*/false, dtype);
  for (const Layer &layer : {manyGrouped[0], manyGrouped[1]})
    addMixed(cases, layer, BF16);
  for (const DType dtype : {BF16, F32}) {
    addShuffled(cases, {"shuffled", 8, 64, 64, {14, 14}, {3, 3}, ones, ones, ones, ones}, 2, dtype);
    addShuffled(cases, {"shuffled-cropped", 6, 72, 64, {22, 21}, {3, 5}, {2, 1}, {1, 2}, {2, -1}, {-3, 6}}, 3, dtype);
    addShuffledGradient(cases, 8, 128, 14, 2, dtype);
    addShuffled(cases, {"shuffled-grouped", 2, 64, 64, {40, 45}, {5, 5}, ones, ones, {1, 2}, {3, 0}, 16}, 2, dtype);
  }
  addLayer(cases, manyGrouped[0], /*channelsLast=*/false, F32);
  for (const DType dtype : {BF16, F32}) {
    addMixed(cases, grouped[0], dtype);
    addMixed(cases, grouped[2], dtype);
    addFilterGradient(cases, grouped[1], /*isMixed=*/false, dtype);
  }
  // Windows of narrow elements in whole registers, which a processor's instructions for such products take: steps that
  // are no whole registers, pieces of them, rows that are no whole tiles.
  const Layer narrow[] = {
      {"narrow", 2, 96, 80, {10, 7}, {3, 3}, ones, ones, ones, ones},
      {"narrow-odd", 1, 43, 37, {9, 11}, {3, 3}, {2, 1}, {1, 2}, {2, 1}, {1, 2}},
      {"narrow-deep", 1, 512, 64, {6, 6}, {3, 3}, ones, ones, ones, ones},
      {"narrow-volume", 1, 64, 32, {4, 3, 8}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {"narrow-groups", 1, 128, 128, {8, 8}, {3, 3}, ones, ones, ones, ones, 2},
      // Results of a group fill half of a tile.
      {"narrow-few", 2, 80, 80, {14, 20}, {5, 5}, ones, ones, {2, 2}, {2, 2}, 8},
      {"narrow-rows", 1, 64, 18, {9, 33}, {3, 3}, ones, ones, ones, ones},
  };
  // The same with channels first: runs of rows that are longer than a vector and shorter, elements that are apart,
  // windows whose rows alone are runs, an odd number of steps, columns that are no whole panels.
  const Layer narrowFirst[] = {
      narrow[0],
      narrow[1],
      narrow[2],
      narrow[3],
      narrow[4],
      narrow[5],
      narrow[6],
      {"narrow-wide", 2, 7, 33, {9, 70}, {3, 3}, ones, ones, ones, ones},
      {"narrow-strided", 2, 20, 48, {15, 50}, {3, 3}, {2, 2}, ones, ones, ones},
      {"narrow-patches", 2, 5, 40, {24, 64}, {4, 8}, {4, 8}, ones, none, none},
      {"narrow-long-patches", 1, 3, 64, {64, 96}, {16, 16}, {16, 16}, ones, none, none},
      {"narrow-five", 1, 67, 33, {7, 5}, {3, 3}, ones, ones, ones, ones},
      {"narrow-line", 2, 40, 40, {300}, {7}, one, one, {3}, {3}},
      {"narrow-strided-deep", 2, 48, 64, {15, 50}, {3, 3}, {2, 2}, ones, ones, ones},
  };
  for (const Layer &layer : narrowFirst)
    for (const DType dtype : {BF16, I8})
      addLayer(cases, layer, /*channelsLast=*/false, dtype);
  // Filters in the other direction are stored in front; positions are rows or columns, as runs lie along them.
  for (const Layer &layer : narrowFirst)
    for (const bool isMixed : {false, true})
      addFilterGradient(cases, layer, isMixed, BF16, /*isTurned=*/false, /*ofImages=*/true);
  for (const bool isMixed : {false, true}) {
    addFilterGradient(cases, narrow[0], isMixed, BF16, /*isTurned=*/true, /*ofImages=*/true);
    addFilterGradient(cases, narrow[0], isMixed, F16, /*isTurned=*/false, /*ofImages=*/true);
    addFilterGradient(cases, narrow[0], isMixed, F32, /*isTurned=*/false, /*ofImages=*/true);
    for (const DType dtype : {BF16, F32}) {
      addPhase(cases, {"phase", 1, 72, 40, {11, 20}, {2, 2}, ones, ones, ones, ones}, isMixed, dtype);
      addPhase(cases, {"phase-odd", 2, 33, 64, {9, 7}, {2, 1}, ones, ones, {1, 0}, {0, 0}}, isMixed, dtype);
    }
  }
  // Images of strided ones: a convolution for each phase of the steps.
  const Layer phased[] = {
      {"phased", 2, 24, 40, {14, 28}, {3, 3}, {2, 2}, ones, ones, ones},
      {"phased-deep", 1, 64, 96, {20, 36}, {3, 3}, {2, 2}, ones, ones, ones},
      {"phased-7x7", 1, 3, 32, {31, 29}, {7, 7}, {2, 2}, ones, {3, 3}, {3, 3}},
      {"phased-odd", 2, 33, 20, {13, 19}, {5, 4}, {2, 3}, ones, {2, 0}, {1, 3}},
      {"phased-cropped", 1, 16, 24, {15, 23}, {3, 3}, {2, 2}, ones, {-1, 2}, {1, -2}},
      {"phased-groups", 2, 64, 64, {9, 12}, {3, 3}, {2, 2}, ones, ones, ones, 4},
      {"phased-depthwise", 2, 40, 40, {15, 18}, {3, 3}, {2, 2}, ones, ones, ones, 40},
      {"phased-line", 2, 32, 48, {203}, {10}, {5}, one, {5}, {5}},
      {"phased-volume", 1, 18, 24, {6, 7, 10}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  for (const Layer &layer : phased)
    for (const DType dtype : {F32, BF16})
      for (const bool isMixed : {false, true})
        addFilterGradient(cases, layer, isMixed, dtype, /*isTurned=*/isMixed, /*ofImages=*/true);
  addFilterGradient(cases, phased[0], /*isMixed=*/false, F16, /*isTurned=*/false, /*ofImages=*/true);
  for (const size_t at : {0, 2, 3, 4})
    for (const DType dtype : {F32, BF16})
      for (const bool isMixed : {false, true})
        addAverageGradient(cases, phased[at], isMixed, dtype);
  // Filters of channels that lie side by side in images, which a program copies together.
  const Layer columns[] = {
      {"columns", 2, 64, 64, {13, 17}, {3, 3}, ones, ones, ones, ones, 64},
      {"columns-strided", 1, 72, 72, {15, 14}, {5, 3}, {2, 1}, ones, {2, 1}, {1, 0}, 72},
      {"columns-cropped", 3, 24, 24, {12, 20}, {3, 3}, ones, ones, {-1, 1}, {1, -2}, 24},
      {"columns-line", 2, 40, 40, {300}, {7}, one, one, {3}, {3}, 40},
  };
  for (const Layer &layer : columns)
    for (const DType dtype : {F32, BF16, F16})
      for (const bool isTurned : {false, true})
        addFilterGradient(cases, layer, /*isMixed=*/true, dtype, isTurned);
  for (const Layer &layer : narrow)
    for (const DType dtype : {BF16, I8}) {
      addLayer(cases, layer, /*channelsLast=*/true, dtype);
      if (layer.extents.size() == 2)
        addReturned(cases, layer, dtype);
    }
  // Most elements of windows are padding: all but one along a dimension, different ones at the edges, windows apart.
  const Layer sparse[] = {
      {"sparse", 2, 96, 64, {7, 9}, {3, 3}, ones, {6, 6}, {6, 6}, {6, 6}},
      {"sparse-far", 2, 72, 64, {7, 9}, {3, 3}, ones, {12, 6}, {12, 6}, {12, 6}},
      {"sparse-strided", 2, 64, 96, {13, 11}, {3, 5}, {2, 1}, {8, 4}, {8, 8}, {7, 8}},
      {"sparse-groups", 2, 192, 96, {9, 7}, {3, 3}, ones, {7, 5}, {7, 5}, {7, 5}, 2},
      {"sparse-images", 16, 24, 32, {7, 9}, {3, 3}, ones, {12, 6}, {12, 6}, {12, 6}},
  };
  for (const Layer &layer : sparse) {
    for (const bool channelsLast : {false, true})
      addLayer(cases, layer, channelsLast, F32);
    for (const bool isMixed : {false, true})
      addFilterGradient(cases, layer, isMixed, F32);
  }
  for (const bool channelsLast : {false, true})
    for (const size_t at : {0, 1, 2})
      addLayer(cases, sparse[at], channelsLast, BF16);
  addMixed(cases, sparse[0], BF16);
  // A fifth of the rows that windows see are padding: results of the rows of filters are added up.
  const Layer edges = {"sparse-edges", 2, 192, 36, {6, 32}, {5, 5}, ones, ones, {2, 2}, {2, 2}};
  for (const DType dtype : {F32, BF16})
    addLayer(cases, edges, /*channelsLast=*/false, dtype);
  // Few results of many channels: taps are multiplied by themselves, and added up.
  const Layer fewResults[] = {
      {"few-results", 2, 40, 3, {26, 25}, {3, 3}, ones, ones, ones, ones},
      {"few-results-dilated", 1, 33, 5, {30, 41}, {2, 3}, ones, {3, 2}, {0, 4}, {2, 1}},
      {"few-results-inside", 1, 48, 2, {29, 37}, {4, 4}, ones, ones, none, none},
      {"few-results-groups", 2, 96, 12, {18, 19}, {3, 3}, ones, ones, ones, ones, 3},
      {"few-results-rows", 2, 60, 60, {7, 7}, {3, 3}, ones, ones, ones, ones, 10},
      {"few-results-line", 3, 64, 4, {601}, {5}, one, {2}, {4}, {4}},
      {"few-results-volume", 1, 40, 3, {7, 11, 13}, {2, 2, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {0, 1, 1}},
      {"few-results-gradient", 1, 3, 48, {62, 65}, {7, 7}, {2, 2}, ones, {3, 3}, {3, 3}},
  };
  for (const Layer &layer : fewResults)
    for (const bool isMixed : {false, true}) {
      const bool isGradient = layer.stride.front() > 1;
      for (const DType dtype : {F32, BF16, F16})
        if (isGradient)
          addFilterGradient(cases, layer, isMixed, dtype, /*isTurned=*/isMixed, /*ofImages=*/true);
        else
          addLayer(cases, layer, /*channelsLast=*/isMixed, dtype);
    }
  for (const DType dtype : {F64, I8})
    addLayer(cases, fewResults[0], /*channelsLast=*/false, dtype);
  // More images than positions: positions are rows or columns all the same. Gradients of filters are sums for each
  // image.
  const Layer images[] = {
      {"many-images", 96, 24, 40, {6, 7}, ones, ones, ones, none, none},
      {"many-images-3x3", 96, 16, 24, {6, 8}, {3, 3}, ones, ones, ones, ones},
      {"many-images-groups", 96, 32, 32, {6, 8}, {3, 3}, ones, ones, ones, ones, 8},
      {"many-images-few", 48, 16, 16, {3, 3}, ones, ones, ones, none, none},
      {"many-images-long", 128, 32, 16, {8, 16}, ones, ones, ones, none, none},
  };
  for (const Layer &layer : images)
    for (const DType dtype : {BF16, F32}) {
      addLayer(cases, layer, /*channelsLast=*/false, dtype);
      addMixed(cases, layer, dtype);
      for (const bool ofImages : {false, true})
        addFilterGradient(cases, layer, /*isMixed=*/false, dtype, /*isTurned=*/false, ofImages);
    }
  for (const DType dtype : {BF16, F16, F32})
    addCentred(cases, dtype);
  for (const bool hasGradients : {false, true}) {
    addChain(cases, hasGradients, BF16);
    addChain(cases, hasGradients, F32);
  }
}

} // namespace zyx::conformance
