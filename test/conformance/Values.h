//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_VALUES_H
#define ZYX_TEST_CONFORMANCE_VALUES_H

#include "zyx/Base/Tensor.h"

#include <cstdint>
#include <vector>

/// Tensors to compute with: values that hurt, and seeded random ones.
namespace zyx::conformance {

/// splitmix64: the same numbers everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits();
  /// 0 .. n-1.
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  /// [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

private:
  uint64_t state;
};

inline constexpr DType allDTypes[] = {DType::Bool, DType::I8,  DType::I16, DType::I32,      DType::I64,
                                      DType::U8,   DType::U16, DType::U32, DType::U64,      DType::F16,
                                      DType::BF16, DType::F32, DType::F64, DType::F8E4M3FN, DType::F8E5M2};

/// The element at `data` as a double; 64-bit integers beyond 2^53 are rounded.
double toDouble(DType dtype, const std::byte *data);
/// Stores a number in a dtype: rounded, or wrapped for integers.
void fromDouble(DType dtype, double value, std::byte *data);
HostTensor makeTensor(DType dtype, Shape shape, const std::vector<double> &values);

/// Zeros of both signs, ones, denormals, the largest and smallest, infinities, NaN, what lies at
/// the edge of other dtypes, shift amounts around the width.
HostTensor specials(DType dtype);
/// Specials, then random bit patterns, to `count` elements; every value for dtypes of at most 16
/// bits if `count` is 0.
HostTensor hurting(DType dtype, int64_t count, Random &random);
/// All pairs of specials followed by random pairs: both sides of a binary op.
std::pair<HostTensor, HostTensor> hurtingPairs(DType dtype, int64_t randomPairs, Random &random);
/// Floats of -4..4 with full mantissas, integers of -9..9 (0..9 unsigned), bools.
HostTensor moderate(DType dtype, Shape shape, Random &random);
/// The same, but floats near 1 and integers that are not 0.
HostTensor nearOne(DType dtype, Shape shape, Random &random);
/// Integers of low..high.
HostTensor integers(DType dtype, Shape shape, int64_t low, int64_t high, Random &random);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_VALUES_H
