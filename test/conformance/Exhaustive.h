//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_EXHAUSTIVE_H
#define ZYX_TEST_CONFORMANCE_EXHAUSTIVE_H

#include "Device.h"

#include <functional>

namespace zyx::conformance {

/// Every unary function on every value of f32, in `jobs` processes: minutes for each function.
/// The interpreter computes in f64 and rounds once, so that it is within 0.5000001 ULP. Prints a
/// line per function: values that differ, the largest distance. False if one is off by more than
/// is allowed, or NaN where it is a number. Only functions whose name holds one of the filters.
bool runExhaustive(const std::function<std::unique_ptr<Device>()> &make, const std::vector<std::string> &filters,
                   int jobs);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_EXHAUSTIVE_H
