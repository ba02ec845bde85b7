//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compare.h"

#include "Bounds.h"
#include "Values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace zyx::conformance {

static uint64_t bitsOf(DType dtype, const std::byte *data) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, static_cast<size_t>(byteSize(dtype)));
  return bits;
}

int64_t ulpDistance(DType dtype, const std::byte *a, const std::byte *b) {
  const bool aNaN = std::isnan(toDouble(dtype, a)), bNaN = std::isnan(toDouble(dtype, b));
  if (aNaN || bNaN)
    return aNaN && bNaN ? 0 : std::numeric_limits<int64_t>::max();
  const int width = static_cast<int>(byteSize(dtype)) * 8;
  const auto place = [&](const std::byte *data) {
    const uint64_t bits = bitsOf(dtype, data);
    const auto magnitude = static_cast<int64_t>(bits & ((uint64_t(1) << (width - 1)) - 1));
    return bits >> (width - 1) ? -magnitude : magnitude;
  };
  const auto distance = static_cast<__int128>(place(a)) - place(b);
  return static_cast<int64_t>(
      std::min<__int128>(distance < 0 ? -distance : distance, std::numeric_limits<int64_t>::max()));
}

namespace {
enum class Answer { Right, Wrong, Free };
} // namespace

static Answer compareBounded(double got, double want, double bound, bool strict) {
  if (got == want || (std::isnan(got) && std::isnan(want)))
    return Answer::Right;
  if (std::isfinite(bound))
    return std::fabs(got - want) <= bound ? Answer::Right : Answer::Wrong;
  return strict && !std::isfinite(want) ? Answer::Wrong : Answer::Free;
}

/// The largest finite answer.
static double largestOf(const HostTensor &want, size_t size, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i)
    if (const double value = std::fabs(toDouble(want.type.dtype, want.data.data() + i * size)); std::isfinite(value))
      largest = std::max(largest, value);
  return largest;
}

Difference compare(const HostTensor &got, const Expected &expected) {
  const HostTensor &want = expected.value;
  const DType dtype = want.type.dtype;
  Difference result;
  if (got.type != want.type || got.data.size() != want.data.size())
    return {0, 1, 0, 0};
  const auto size = static_cast<size_t>(byteSize(dtype));
  const size_t count = want.data.size() / size;
  const double largest = expected.tolerance != 0 ? largestOf(want, size, count) : 0;
  for (size_t i = 0; i < count; ++i) {
    const std::byte *g = got.data.data() + i * size, *w = want.data.data() + i * size;
    Answer answer = Answer::Right;
    if (!expected.function.empty()) {
      const int64_t ulps = ulpDistance(dtype, g, w);
      result.ulps = std::max(result.ulps, ulps);
      answer = ulps <= allowedUlps(dtype) ? Answer::Right : Answer::Wrong;
    } else if (std::memcmp(g, w, size) != 0) {
      const double a = toDouble(dtype, g), b = toDouble(dtype, w);
      if (isFloat(dtype) && std::isnan(a) && std::isnan(b))
        continue;
      answer = Answer::Wrong;
      if (expected.tolerance != 0) {
        const double scale = expected.size ? toDouble(DType::F64, expected.size->data.data() + i * 8) : largest;
        answer = std::fabs(a - b) <= expected.tolerance * scale ? Answer::Right : Answer::Wrong;
      } else if (expected.bound) {
        const double bound = toDouble(DType::F64, expected.bound->data.data() + i * 8);
        answer = compareBounded(a, b, bound, expected.strict);
        // Equal doubles may be unequal 64-bit integers, and a bound of 0 asks for bits.
        if (answer == Answer::Right && bound == 0)
          answer = Answer::Wrong;
      }
    }
    result.numFree += answer == Answer::Free;
    if (answer == Answer::Wrong) {
      if (result.element < 0)
        result.element = static_cast<int64_t>(i);
      ++result.numWrong;
    }
  }
  return result;
}

std::string describeElement(const HostTensor &tensor, int64_t element) {
  const int64_t size = byteSize(tensor.type.dtype);
  if (static_cast<int64_t>(tensor.data.size()) < (element + 1) * size)
    return "nothing";
  const std::byte *data = tensor.data.data() + element * size;
  char text[80];
  std::snprintf(text, sizeof(text), "0x%0*llx (%.9g)", static_cast<int>(size * 2),
                static_cast<unsigned long long>(bitsOf(tensor.type.dtype, data)), toDouble(tensor.type.dtype, data));
  return text;
}

} // namespace zyx::conformance
