//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_RANDOM_H
#define ZYX_BASE_RANDOM_H

#include <cstdint>

namespace zyx {

/// What SplitMix64 counts by: its i-th number is mixBits(seed + i * splitMixStep).
inline constexpr uint64_t splitMixStep = 0x9e3779b97f4a7c15;

/// A bijection of which no pattern of the argument is left (Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014).
constexpr uint64_t mixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

} // namespace zyx

#endif // ZYX_BASE_RANDOM_H
