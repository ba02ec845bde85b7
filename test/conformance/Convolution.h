//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_CONVOLUTION_H
#define ZYX_TEST_CONFORMANCE_CONVOLUTION_H

#include "Builder.h"

namespace zyx::conformance {

/// A convolution over any number of dimensions; each list has an entry per dimension.
struct Convolution {
  /// x is [n, ..., c], filters are [..., c / groups, o] and the result is [n, ..., o]; else
  /// [n, c, ...], [o, c / groups, ...] and [n, o, ...].
  bool channelsLast = false;
  std::vector<int64_t> stride, dilation, low, high;
  int64_t groups = 1;
};

/// Pads, slides, multiplies in `sum`'s dtype and adds up.
NodeId convolve(Builder &b, NodeId x, NodeId filters, const Convolution &how, DType sum);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_CONVOLUTION_H
