//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Families of images, sounds and volumes: convolutions alone, with what stands around them, and what changes extents.
#include "smith/models/Layers.h"

namespace zyx::smith {

namespace {

using Kind = Values::Kind;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

void drawConvolution(Sketch &s) {
  const size_t which =
      s.variant({"2d", "2d", "2d-strided", "1d", "3d", "grouped", "depthwise", "pointwise", "dilated", "stem"});
  s.drawGradients(0.35);
  const int64_t dims = which == 3 ? 1 : which == 4 ? 3 : 2;
  int64_t channels = s.width("channels", {32, 64, 96, 128, 192, 256, 320, 512}, {4, 6, 8});
  int64_t side = dims == 1   ? s.pick("side", {1500, 3000, 16000, 48000}, {400, 1500}, {13, 20})
                 : dims == 3 ? s.pick("side", {8, 16, 28, 32}, {6, 8, 12}, {3, 4})
                             : s.pick("side", {14, 28, 56, 64, 112, 128}, {7, 14, 28, 56}, {5, 6, 7});
  int64_t batch = s.batch("batch", {8, 16, 32, 64}, {1, 2}, {1, 2});
  if (dims == 3)
    batch = s.atMost("batch", batch, 4 * s.about().batches);
  int64_t outputs = s.width("outputs", {64, 128, 256, 320, 512}, {4, 8, 9});
  int64_t window = which == 7  ? 1
                   : dims == 1 ? s.width("window", {3, 5, 10}, {2, 3})
                               : s.width("window", {3, 3, 5}, {2, 3});
  ConvolutionOptions options;
  options.padding = Dims::repeated(dims, window / 2);
  switch (which) {
  case 2:
    options.stride = Dims::repeated(dims, 2);
    break;
  case 3:
    options.stride = {s.width("stride", {1, 2, 5}, {1, 2})};
    break;
  case 5:
    options.groups = s.isSmall() ? 2 : 32;
    outputs = channels = (channels + options.groups - 1) / options.groups * options.groups;
    break;
  case 6:
    window = s.width("filter", {3, 5, 7}, {2, 3});
    options.padding = Dims::repeated(dims, window / 2);
    options.groups = outputs = channels;
    break;
  case 8:
    options.dilation = Dims::repeated(dims, s.width("dilation", {2, 6, 12}, {2}));
    options.padding = options.dilation;
    window = 3;
    break;
  case 9: {
    // Patches of a vision transformer, or the first one of a network.
    const int64_t patch = s.width("patch", {4, 7, 14, 16}, {2, 3});
    channels = 3;
    side = s.pick("image", {224, 384, 518}, {224}, {12});
    window = patch;
    options.stride = Dims::repeated(2, patch == 7 ? 2 : patch);
    options.padding = Dims::repeated(2, patch == 7 ? 3 : 0);
    outputs = s.width("features", {64, 96, 768, 1024}, {6, 8});
    break;
  }
  default:
    break;
  }
  s.note("groups", options.groups);
  Shape shape = {batch, channels};
  shape.insert(shape.end(), static_cast<size_t>(dims), side);
  const bool channelsLast = s.chance(0.4);
  s.note("channels_last", channelsLast);
  const Tensor x = layout(s, "x", shape, channelsLast);
  s.result("y", convolved(s, x, "x", "y", "conv", outputs, Shape(static_cast<size_t>(dims), window), options,
                          s.chance(0.6)));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void bottleneck(Sketch &s, const Tensor &x) {
  const bool isTraining = s.about().hasGradients;
  const int64_t channels = x.shape()[1], inner = channels / 4;
  const int64_t stride = s.width("stride", {1, 1, 2}, {1, 2});
  Tensor y = convolved(s, x, "x", "y", "conv1", inner, {1, 1}, {}, false);
  y = batchNormed(s, y, "y", "norm1", isTraining).relu();
  s.say("y = y.relu()");
  ConvolutionOptions options;
  options.stride = {stride, stride};
  options.padding = {1, 1};
  y = convolved(s, y, "y", "y", "conv2", inner, {3, 3}, options, false);
  y = batchNormed(s, y, "y", "norm2", isTraining).relu();
  s.say("y = y.relu()");
  y = convolved(s, y, "y", "y", "conv3", channels, {1, 1}, {}, false);
  y = batchNormed(s, y, "y", "norm3", isTraining);
  Tensor shortcut = x;
  if (stride != 1) {
    options.padding = {};
    shortcut = convolved(s, x, "x", "x", "shortcut", channels, {1, 1}, options, false);
    shortcut = batchNormed(s, shortcut, "x", "norm4", isTraining);
  }
  s.say("y = (y + x).relu()");
  s.result("y", (y + shortcut).relu());
}

void drawConvBlock(Sketch &s) {
  const size_t which = s.variant({"bottleneck", "unet", "separable", "convnext", "squeeze", "causal"});
  s.drawGradients(0.3);
  const int64_t batch = s.batch("batch", {8, 16, 32, 64}, {1, 2}, {1, 2});
  if (which == 5) {
    // Along a sequence, each channel by itself, as state-space models have it.
    const int64_t channels = s.width("channels", {1536, 2048, 5120}, {5, 8}), window = 4;
    const int64_t rows = s.pick("rows", {512, 2048, 4096}, {128, 512}, {6, 9});
    const Tensor x = s.x("x", {batch, rows, channels});
    s.say("x = x.transpose(1, 2)");
    ConvolutionOptions options;
    options.groups = channels;
    options.padding = {window - 1};
    const Tensor y = convolved(s, x.transpose(1, 2), "x", "y", "conv", channels, {window}, options);
    s.say("y = F.silu(y[..., :", rows, "]).transpose(1, 2)");
    return s.result("y", y.narrow(2, 0, rows).silu().transpose(1, 2));
  }
  const int64_t side = s.pick("side", {14, 28, 32, 56, 64}, {7, 14, 28}, {4, 5});
  const int64_t channels = which == 0   ? s.width("channels", {256, 512, 1024, 2048}, {8, 16})
                           : which == 1 ? s.width("channels", {320, 640}, {8, 16})
                                        : s.width("channels", {96, 144, 192, 384, 576}, {8, 12});
  const bool channelsLast = s.chance(0.3);
  s.note("channels_last", channelsLast);
  const Tensor x = layout(s, "x", {batch, channels, side, side}, channelsLast);
  if (which == 0)
    return bottleneck(s, x);
  if (which == 1) {
    const int64_t outputs = s.width("outputs", {320, 640}, {8, 16}), features = s.width("features", {1280}, {12});
    return s.result("y", residualOfUNet(s, x, outputs, features));
  }
  ConvolutionOptions depthwise;
  depthwise.groups = channels;
  if (which == 3) {
    depthwise.padding = {3, 3};
    Tensor y = convolved(s, x, "x", "y", "conv", channels, {7, 7}, depthwise).permute({0, 2, 3, 1});
    const Tensor weight = s.weight("norm_weight", {channels}, nearOne),
                 bias = s.weight("norm_bias", {channels}, nearZero);
    s.say("y = F.layer_norm(y.permute(0, 2, 3, 1), (", channels, ",), norm_weight, norm_bias, 1e-6)");
    y = layerNorm(y, 1, weight, bias, 1e-6);
    y = s.linear(y, "y", "y", "up", 4 * channels).gelu();
    s.say("y = F.gelu(y)");
    y = s.linear(y, "y", "y", "down", channels);
    const Tensor gamma = s.weight("gamma", {channels}, nearOne);
    s.say("y = x + (y * gamma).permute(0, 3, 1, 2)");
    return s.result("y", x + (y * gamma).permute({0, 3, 1, 2}));
  }
  const bool isTraining = s.about().hasGradients;
  depthwise.padding = {1, 1};
  Tensor y = batchNormed(s, convolved(s, x, "x", "y", "depthwise", channels, {3, 3}, depthwise, false), "y", "norm1",
                         isTraining);
  s.say("y = y.clamp(0, 6)");
  y = y.clamp(0, 6);
  if (which == 4) {
    s.say("g = y.mean((2, 3))");
    Tensor gate = s.linear(y.mean({2, 3}), "g", "g", "squeeze", channels / 4).silu();
    s.say("g = F.silu(g)");
    gate = s.linear(gate, "g", "g", "excite", channels).sigmoid();
    s.say("y = y * g.sigmoid()[:, :, None, None]");
    y = y * gate.reshape({batch, channels, 1, 1});
  }
  y = convolved(s, y, "y", "y", "pointwise", channels, {1, 1}, {}, false);
  y = batchNormed(s, y, "y", "norm2", isTraining);
  s.say("y = x + y");
  s.result("y", x + y);
}

//===----------------------------------------------------------------------===//
// Other extents
//===----------------------------------------------------------------------===//

void transposed(Sketch &s, const Tensor &x) {
  const int64_t channels = x.shape()[1], outputs = s.width("outputs", {64, 128, 256}, {4, 5});
  const int64_t window = s.width("window", {2, 3, 4}, {2, 3, 4});
  TransposedConvolutionOptions options;
  options.stride = {2, 2};
  options.padding = Dims::repeated(2, window == 2 ? 0 : 1);
  options.outputPadding = Dims::repeated(2, window == 3 ? 1 : 0);
  const Tensor filters = s.weight("weight", {channels, outputs, window, window}, channels * window * window / 4);
  const Tensor bias = s.weight("bias", {outputs}, nearZero);
  s.say("y = F.conv_transpose2d(x, weight, bias, stride=2, padding=", options.padding[0],
        ", output_padding=", options.outputPadding[0], ")");
  s.countProduct(x.numel(), 1, outputs * window * window);
  s.result("y", transposedConvolution(x, filters, bias, options));
}

void drawResample(Sketch &s) {
  const size_t which =
      s.variant({"max-pool", "avg-pool", "global", "nearest", "bilinear", "transposed", "shuffle", "patches"});
  s.drawGradients(0.3);
  const int64_t batch = s.batch("batch", {8, 16, 32, 64}, {1, 2}, {1, 2});
  const int64_t channels = s.width("channels", {64, 128, 256, 320, 512}, {4, 8});
  const int64_t side = s.pick("side", {14, 28, 32, 56, 64, 112}, {7, 14, 28, 56}, {4, 6, 7});
  const bool channelsLast = s.chance(0.3);
  s.note("channels_last", channelsLast);
  const Tensor x = layout(s, "x", {batch, channels, side, side}, channelsLast);
  switch (which) {
  case 0: {
    const int64_t window = s.width("window", {2, 3, 5}, {2, 3});
    const int64_t padding = window / 2 * (window % 2), stride = window == 5 ? 1 : 2;
    WindowOptions options;
    options.stride = {stride, stride};
    options.padding = {padding, padding};
    s.say("y = F.max_pool2d(x, ", window, ", ", stride, ", ", padding, ")");
    return s.result("y", maxPool(x, {window, window}, options));
  }
  case 1: {
    const int64_t window = s.width("window", {2, 3, 7}, {2, 3});
    WindowOptions options;
    options.stride = {2, 2};
    s.say("y = F.avg_pool2d(x, ", window, ", 2)");
    return s.result("y", avgPool(x, {window, window}, {options}));
  }
  case 2:
    s.say("y = x.mean((2, 3))");
    return s.result("y", x.mean({2, 3}));
  case 3: {
    s.say("x = F.interpolate(x, scale_factor=2.0, mode='nearest')");
    ConvolutionOptions same;
    same.padding = {1, 1};
    const Tensor large = interpolate(x, {2 * side, 2 * side});
    return s.result("y", convolved(s, large, "x", "y", "conv", channels, {3, 3}, same));
  }
  case 4: {
    const int64_t to = s.chance(0.5) ? 2 * side : side * 3 / 2;
    s.note("to", to);
    s.say("y = F.interpolate(x, size=(", to, ", ", to, "), mode='bilinear', align_corners=False)");
    return s.result("y", interpolate(x, {to, to}, Interpolation::Linear));
  }
  case 5:
    return transposed(s, x);
  case 6: {
    // Channels become positions, behind a convolution.
    ConvolutionOptions same;
    same.padding = {1, 1};
    const Tensor y = convolved(s, x, "x", "y", "conv", channels, {3, 3}, same);
    s.say("y = F.pixel_shuffle(y, 2)");
    return s.result("y", y.reshape({batch, channels / 4, 2, 2, side, side})
                             .permute({0, 1, 4, 2, 5, 3})
                             .reshape({batch, channels / 4, 2 * side, 2 * side}));
  }
  default: {
    // Patches as rows of a product.
    const int64_t patch = 2, count = side / patch;
    s.say("y = x[:, :, :", count * patch, ", :", count * patch, "].unflatten(2, (", count, ", 2)).unflatten(4, (",
          count, ", 2))");
    s.say("y = y.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)");
    const Tensor y = x.narrow(2, 0, count * patch)
                         .narrow(3, 0, count * patch)
                         .reshape({batch, channels, count, patch, count, patch})
                         .permute({0, 2, 4, 3, 5, 1})
                         .reshape({batch, count * count, patch * patch * channels});
    return s.result("y", s.linear(y, "y", "y", "merge", 2 * channels, false));
  }
  }
}

} // namespace

std::span<const Family> imageFamilies() {
  static constexpr Family all[] = {
      {"convolution", drawConvolution}, {"convolution-block", drawConvBlock}, {"resample", drawResample}};
  return all;
}

} // namespace zyx::smith
