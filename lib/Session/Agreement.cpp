//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Agreement.h"

#include "zyx/Base/Float.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace zyx;
using namespace zyx::session;

namespace {

/// Terms of a sum that nothing counts, as those of the rows of a softmax.
constexpr double fewestTerms = 1024;

/// Half of the distance from 1 to the next larger number.
double unitOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 0x1p-11;
  case DType::BF16:
    return 0x1p-8;
  case DType::F32:
    return 0x1p-24;
  case DType::F8E4M3FN:
    return 0x1p-4;
  case DType::F8E5M2:
    return 0x1p-3;
  default:
    return 0x1p-53;
  }
}

template <typename T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

double toDouble(DType dtype, const std::byte *from) {
  switch (dtype) {
  case DType::F16:
    return halfToFloat(load<uint16_t>(from));
  case DType::BF16:
    return bfloat16ToFloat(load<uint16_t>(from));
  case DType::F32:
    return load<float>(from);
  case DType::F8E4M3FN:
    return f8E4M3FNToFloat(load<uint8_t>(from));
  case DType::F8E5M2:
    return f8E5M2ToFloat(load<uint8_t>(from));
  default:
    return load<double>(from);
  }
}

std::string describe(size_t index, double expected, double actual) {
  return "element " + std::to_string(index) + " is " + std::to_string(actual) + " and not " + std::to_string(expected);
}

} // namespace

std::string session::compareResults(const TensorType &type, std::span<const std::byte> expected,
                                    std::span<const std::byte> actual, double terms) {
  if (expected.size() == actual.size() && std::memcmp(expected.data(), actual.data(), expected.size()) == 0)
    return "";
  if (expected.size() != actual.size())
    return "has another size";
  const DType dtype = type.dtype;
  if (!isFloat(dtype))
    return "differs in an element of " + std::string(toString(dtype));
  const size_t bytes = static_cast<size_t>(byteSize(dtype)), count = expected.size() / bytes;
  double squares = 0;
  size_t numFinite = 0;
  for (size_t i = 0; i < count; ++i)
    if (const double value = toDouble(dtype, &expected[i * bytes]); std::isfinite(value)) {
      squares += value * value;
      ++numFinite;
    }
  const double size = numFinite ? std::sqrt(squares / static_cast<double>(numFinite)) : 0;
  const double unit = unitOf(dtype), sumUnit = unitOf(accumulatorType(dtype));
  const double ofSum = 2 * sumUnit * std::max(terms * std::sqrt(terms), fewestTerms);
  double differences = 0;
  for (size_t i = 0; i < count; ++i) {
    const double a = toDouble(dtype, &expected[i * bytes]), b = toDouble(dtype, &actual[i * bytes]);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (a == b || (std::isnan(a) && std::isnan(b)))
        continue;
      return describe(i, a, b);
    }
    const double difference = std::abs(a - b);
    if (difference > 16 * unit * std::abs(a) + ofSum * std::max(std::abs(a), size))
      return describe(i, a, b);
    differences += difference * difference;
  }
  const double all = std::sqrt(differences), bound = (4 * unit + 2 * sumUnit * fewestTerms) * std::sqrt(squares);
  return all <= bound ? ""
                      : "differs by " + std::to_string(all) + " over all elements, more than " + std::to_string(bound);
}
