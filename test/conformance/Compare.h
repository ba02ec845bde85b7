//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_COMPARE_H
#define ZYX_TEST_CONFORMANCE_COMPARE_H

#include "zyx/Base/Tensor.h"

#include <optional>
#include <string>

namespace zyx::conformance {

/// What a device must answer for one output.
struct Expected {
  HostTensor value;
  /// f64 of the same shape: how far off each element may be. Without it bits must be equal.
  std::optional<HostTensor> bound;
  /// "exp.f32" if the output is compared by ULPs.
  std::string function;
  bool strict = true;
  /// As that of a case, in place of a bound, where it is not 0.
  double tolerance = 0;
  /// f64 of the same shape: what the tolerance is relative to; without it that is the largest finite answer.
  std::optional<HostTensor> size;
};

struct Difference {
  /// Index of the first wrong element; -1 if none is.
  int64_t element = -1;
  int64_t numWrong = 0;
  /// Elements that the bound leaves free.
  int64_t numFree = 0;
  /// The largest distance of a `function`.
  int64_t ulps = 0;
};

/// Values that lie between two of one dtype, one more than that: 0 for equal ones and two NaNs,
/// INT64_MAX for a NaN and a number.
int64_t ulpDistance(DType dtype, const std::byte *a, const std::byte *b);

Difference compare(const HostTensor &got, const Expected &expected);

/// "0x3f800000 (1)".
std::string describeElement(const HostTensor &tensor, int64_t element);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_COMPARE_H
