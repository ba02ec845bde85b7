//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_AGREEMENT_H
#define ZYX_SESSION_AGREEMENT_H

#include "zyx/Base/Shape.h"

#include <cstddef>
#include <span>
#include <string>

namespace zyx::session {

/// Whether two schedules of one kernel may have computed these: integers agree exactly, floats as far as the order of
/// sums goes. `terms` is how many products an element is the sum of, at most. Empty, or what differs.
///
/// A sum in another order differs by 2 n u of the sum of its terms' magnitudes at most, as in conformance (u is half of
/// the distance from 1 to the next number of the accumulator). Of random terms these are some sqrt(n) times as large as
/// the sum. Roundings behind the sum are 16 units of the result; all elements together agree to 4 of them.
std::string compareResults(const TensorType &type, std::span<const std::byte> expected,
                           std::span<const std::byte> actual, double terms);

} // namespace zyx::session

#endif // ZYX_SESSION_AGREEMENT_H
