//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The network of digits-train.cpp, which benchmarks and tests train, too.
//===----------------------------------------------------------------------===//
#ifndef ZYX_EXAMPLES_DIGITS_H
#define ZYX_EXAMPLES_DIGITS_H

#include <zyx/zyx.h>

namespace digits {

inline constexpr int64_t classes = 10;

/// Two convolutions and a linear layer: [rows, 1, 8, 8] to [rows, classes].
struct Network : zyx::nn::Module {
  explicit Network(zyx::nn::InitRng &rng)
      : first(add("first", zyx::nn::Convolution(1, 16, {3, 3}, rng, samePadding()))),
        second(add("second", zyx::nn::Convolution(16, 32, {3, 3}, rng, samePadding()))),
        out(add("out", zyx::nn::Linear(32 * 4 * 4, classes, rng))) {}

  zyx::Tensor operator()(const zyx::Tensor &images) const {
    const zyx::Tensor hidden = second(first(images).relu()).relu();
    return out(maxPool(hidden, {2, 2}).flatten(1));
  }

  zyx::nn::Convolution first, second;
  zyx::nn::Linear out;

private:
  static zyx::ConvolutionOptions samePadding() {
    zyx::ConvolutionOptions options;
    options.padding = {1, 1};
    return options;
  }
};

} // namespace digits

#endif // ZYX_EXAMPLES_DIGITS_H
