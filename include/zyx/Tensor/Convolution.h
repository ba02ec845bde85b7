//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Convolutions along one to three dimensions, pooling, and interpolation, with channels before positions:
/// [batch, channels, positions...].
#ifndef ZYX_TENSOR_CONVOLUTION_H
#define ZYX_TENSOR_CONVOLUTION_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

struct ConvolutionOptions : WindowOptions {
  /// Channels and filters fall into so many groups, which do not see each other.
  int64_t groups = 1;
};

struct TransposedConvolutionOptions : ConvolutionOptions {
  /// Positions more at the end of each dimension; 0.
  Dims outputPadding = {};
};

/// x [batch, channels, positions...], filters [outputs, channels / groups, window...], bias [outputs] or no
/// tensor; [batch, outputs, windows...]. Filters are not flipped. f16 and bf16 accumulate in f32, small
/// integers in 32 bits, as in matmul().
Tensor convolution(const Tensor &x, const Tensor &filters, const Tensor &bias = {}, ConvolutionOptions options = {},
                   Place where = Place::current());
/// What convolution() of these options makes of its operand's gradient: filters [channels, outputs / groups,
/// window...]. An extent becomes (extent - 1) * stride - 2 * padding + dilation * (window - 1) + 1 +
/// outputPadding. Where windows are no smaller than strides, and without dilation, each phase of the strides is a
/// convolution of its own, and no zeros stand between elements.
Tensor transposedConvolution(const Tensor &x, const Tensor &filters, const Tensor &bias = {},
                             TransposedConvolutionOptions options = {}, Place where = Place::current());

/// The windows of the last dimensions, which become as many windows, and their elements in as many dimensions more.
/// None where a window is larger. There is no padding, and nothing is copied.
Tensor slidingWindows(const Tensor &x, Dims window, Dims stride = {}, Dims dilation = {},
                      Place where = Place::current());

/// The largest elements of windows along the last dimensions, as many as `window` has extents.
Tensor maxPool(const Tensor &x, Dims window, WindowOptions options = {}, Place where = Place::current());
struct Pooled {
  Tensor values, indices;
};
/// The same with indices: of the first largest element of each window, its i64 index among the elements of the last
/// dimensions in row-major order.
Pooled maxPoolWithIndices(const Tensor &x, Dims window, WindowOptions options = {}, Place where = Place::current());
/// Averages of windows of floats; f16 and bf16 are added up in f32.
Tensor avgPool(const Tensor &x, Dims window, AverageOptions options = {}, Place where = Place::current());

/// The last dimensions with other extents, as many as `extents` has, none of them empty. Elements are areas
/// that share the same whole: nearest takes element floor(i * old / new); linear, of floats, weighs the two
/// around (i + 1/2) * old / new - 1/2, one dimension after the other, and repeats what is at the borders.
Tensor interpolate(const Tensor &x, Dims extents, Interpolation how = Interpolation::Nearest,
                   Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_CONVOLUTION_H
