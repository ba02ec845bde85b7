//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Order.h"

#include "Elements.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

namespace zyx::reference {

using graph::BinaryKind;
using graph::ReduceKind;
using graph::ScatterKind;

Rows::Rows(const Shape &shape, int64_t dim) : extent(shape[static_cast<size_t>(dim)]) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (static_cast<int64_t>(d) != dim)
      (static_cast<int64_t>(d) < dim ? outer : inner) *= shape[d];
}

/// Calls f with a value of the type in which elements of the dtype are held.
template <typename F> static void withHeld(DType dtype, F f) {
  switch (dtype) {
  case DType::I8:
    return f(int8_t());
  case DType::I16:
    return f(int16_t());
  case DType::I32:
    return f(int32_t());
  case DType::I64:
    return f(int64_t());
  case DType::U16:
    return f(uint16_t());
  case DType::U32:
    return f(uint32_t());
  case DType::U64:
    return f(uint64_t());
  case DType::F64:
    return f(double());
  default:
    return isFloat(dtype) ? f(float()) : f(uint8_t());
  }
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {

/// A running sum of doubles, compensated as Neumaier does.
struct RunningSum {
  double sum, lost = 0;
  void add(double x) {
    const double next = sum + x;
    // Beyond infinity the compensation is NaN and means nothing.
    if (std::isfinite(next))
      lost += std::fabs(sum) >= std::fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  double value() const { return lost == 0 || !std::isfinite(sum) ? sum : sum + lost; }
};

} // namespace

/// Walks the rows: `start()` makes a state, `take(state, x)` adds an element and `give(state)` is
/// what is stored.
template <typename T, typename Start, typename Take, typename Give>
static void walk(const graph::Attributes &attributes, const Rows &rows, const T *x, T *out, Start start, Take take,
                 Give give) {
  for (int64_t o = 0; o < rows.outer; ++o)
    for (int64_t i = 0; i < rows.inner; ++i) {
      auto state = start();
      for (int64_t j = 0; j < rows.extent; ++j) {
        const int64_t at = rows.at(o, attributes.reverse ? rows.extent - 1 - j : j, i);
        if (attributes.exclusive)
          out[at] = give(state);
        take(state, x[at]);
        if (!attributes.exclusive)
          out[at] = give(state);
      }
    }
}

template <typename T> static T round(DType dtype, double value) {
  switch (dtype) {
  case DType::F16:
    return static_cast<T>(F16::round(value));
  case DType::BF16:
    return static_cast<T>(BF16::round(value));
  default:
    return static_cast<T>(value);
  }
}

void scan(const graph::Attributes &attributes, const TensorType &type, const std::byte *x, std::byte *out) {
  const Rows rows(type.shape, attributes.dims[0]);
  const auto kind = static_cast<ReduceKind>(attributes.kind);
  const DType dtype = type.dtype;
  withHeld(dtype, [&](auto held) {
    using T = decltype(held);
    using Limits = std::numeric_limits<T>;
    const T *in = reinterpret_cast<const T *>(x);
    T *to = reinterpret_cast<T *>(out);
    const auto fold = [&](T identity, auto combine) {
      walk(
          attributes, rows, in, to, [&] { return identity; },
          [&](T &state, T element) { state = combine(state, element); }, [](T state) { return state; });
    };
    if (kind == ReduceKind::Max || kind == ReduceKind::Min) {
      const bool max = kind == ReduceKind::Max;
      T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
      if (dtype == DType::Bool)
        least = 0, most = 1;
      return max ? fold(least, larger<T>) : fold(most, smaller<T>);
    }
    if constexpr (std::is_floating_point_v<T>) {
      const auto give = [&](double value) { return round<T>(dtype, value); };
      if (kind == ReduceKind::Add)
        // From -0 on, the first element stays what it is.
        return walk(
            attributes, rows, in, to, [&] { return RunningSum{attributes.exclusive ? 0.0 : -0.0}; },
            [](RunningSum &state, T element) { state.add(element); },
            [&](const RunningSum &state) { return give(state.value()); });
      return walk(
          attributes, rows, in, to, [] { return 1.0; }, [](double &state, T element) { state *= element; }, give);
    } else {
      switch (kind) {
      case ReduceKind::Add:
        return fold(0, [](T a, T b) { return static_cast<T>(uint64_t(a) + uint64_t(b)); });
      case ReduceKind::Mul:
        return fold(1, [](T a, T b) { return static_cast<T>(uint64_t(a) * uint64_t(b)); });
      case ReduceKind::And:
        return fold(dtype == DType::Bool ? T(1) : static_cast<T>(~T(0)),
                    [](T a, T b) { return static_cast<T>(a & b); });
      default:
        return fold(0, [](T a, T b) { return static_cast<T>(a | b); });
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Sort
//===----------------------------------------------------------------------===//

template <typename T> static bool isNaN(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

void sortOrder(const graph::Attributes &attributes, const TensorType &type, const std::byte *x, int64_t *order) {
  const Rows rows(type.shape, attributes.dims[0]);
  std::vector<int64_t> row(static_cast<size_t>(rows.extent));
  withHeld(type.dtype, [&](auto held) {
    using T = decltype(held);
    const T *in = reinterpret_cast<const T *>(x);
    for (int64_t o = 0; o < rows.outer; ++o)
      for (int64_t i = 0; i < rows.inner; ++i) {
        std::iota(row.begin(), row.end(), int64_t(0));
        std::sort(row.begin(), row.end(), [&](int64_t left, int64_t right) {
          const T a = in[rows.at(o, left, i)], b = in[rows.at(o, right, i)];
          if (isNaN(a) != isNaN(b))
            return isNaN(b);
          if (isNaN(a) || a == b)
            return left < right;
          return attributes.reverse ? a > b : a < b;
        });
        for (int64_t j = 0; j < rows.extent; ++j)
          order[rows.at(o, j, i)] = row[static_cast<size_t>(j)];
      }
  });
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

static BinaryKind binaryOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::Max:
    return BinaryKind::Max;
  case ScatterKind::Min:
    return BinaryKind::Min;
  case ScatterKind::Mul:
    return BinaryKind::Mul;
  default:
    return BinaryKind::Add;
  }
}

void scatter(const graph::Attributes &attributes, const TensorType &type, std::byte *x, const int64_t *indices,
             int64_t numIndices, const std::byte *updates) {
  const Rows rows(type.shape, attributes.dims[0]);
  const auto kind = static_cast<ScatterKind>(attributes.kind);
  const int64_t width = heldBytes(type.dtype);
  const std::byte *update = updates;
  for (int64_t o = 0; o < rows.outer; ++o)
    for (int64_t u = 0; u < numIndices; ++u)
      for (int64_t i = 0; i < rows.inner; ++i, update += width) {
        if (indices[u] < 0 || indices[u] >= rows.extent)
          continue;
        std::byte *element = x + rows.at(o, indices[u], i) * width;
        if (kind == ScatterKind::Set)
          std::memcpy(element, update, static_cast<size_t>(width));
        else
          binary(binaryOf(kind), type.dtype, element, update, 1, element);
      }
}

//===----------------------------------------------------------------------===//
// Random bits
//===----------------------------------------------------------------------===//

PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t(0xD2511F53) * counter[0], q = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(q >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(q),
               static_cast<uint32_t>(p >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(p)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint32_t randomWord(uint64_t seed, uint64_t n) {
  const uint64_t block = n / 4;
  return philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)})[n % 4];
}

} // namespace zyx::reference
