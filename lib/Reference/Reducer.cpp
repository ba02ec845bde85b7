//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Reducer.h"

#include "Elements.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace zyx::reference {

using graph::ReduceKind;

namespace {

/// A fold of T by a function without state; integers wrap because the function does.
template <typename T, typename Combine> class Fold final : public Reducer {
public:
  Fold(T identity, Combine combine) : identity(identity), state(identity), combine(combine) {}
  void add(const std::byte *elements, int64_t count) override {
    const T *x = reinterpret_cast<const T *>(elements);
    T local = state;
    for (int64_t i = 0; i < count; ++i)
      local = combine(local, x[i]);
    state = local;
  }
  void finish(std::byte *element) override { *reinterpret_cast<T *>(element) = std::exchange(state, identity); }

private:
  const T identity;
  T state;
  Combine combine;
};

/// Sums and products of f16, bf16 and f32: in double, rounded once.
template <typename P, bool product> class WideFloat final : public Reducer {
public:
  void add(const std::byte *elements, int64_t count) override {
    const float *x = reinterpret_cast<const float *>(elements);
    int64_t i = 0;
    // Four chains, because one is bound by the latency of an addition.
    for (; i + 4 <= count; i += 4)
      for (int k = 0; k < 4; ++k)
        combine(state[k], x[i + k]);
    for (; i < count; ++i)
      combine(state[0], x[i]);
  }
  void finish(std::byte *element) override {
    double result = state[0];
    for (int k = 1; k < 4; ++k)
      combine(result, state[k]);
    *reinterpret_cast<float *>(element) = P::round(result);
    for (double &s : state)
      s = identity;
  }

private:
  static constexpr double identity = product ? 1 : 0;
  static void combine(double &into, double value) {
    if constexpr (product)
      into *= value;
    else
      into += value;
  }
  double state[4] = {identity, identity, identity, identity};
};

/// Sums of f64, compensated as Neumaier does: the error does not grow with the number of terms.
class CompensatedSum final : public Reducer {
public:
  void add(const std::byte *elements, int64_t count) override {
    const double *x = reinterpret_cast<const double *>(elements);
    for (int64_t i = 0; i < count; ++i) {
      const double next = sum + x[i];
      lost += std::fabs(sum) >= std::fabs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
      sum = next;
    }
  }
  void finish(std::byte *element) override {
    // Beyond infinity the compensation is NaN and means nothing.
    *reinterpret_cast<double *>(element) = std::isfinite(sum) ? sum + lost : sum;
    sum = lost = 0;
  }

private:
  double sum = 0, lost = 0;
};

} // namespace

template <typename T, typename Combine> static std::unique_ptr<Reducer> fold(T identity, Combine combine) {
  return std::make_unique<Fold<T, Combine>>(identity, combine);
}

template <typename T> static std::unique_ptr<Reducer> extreme(bool max) {
  // Nothing is ever reduced by max or min without an element, so any value below (above) all
  // others starts it.
  using Limits = std::numeric_limits<T>;
  if (max)
    return fold<T>(Limits::has_infinity ? -Limits::infinity() : Limits::lowest(), larger<T>);
  return fold<T>(Limits::has_infinity ? Limits::infinity() : Limits::max(), smaller<T>);
}

template <typename T> static std::unique_ptr<Reducer> integer(ReduceKind kind, bool isBool) {
  const T ones = isBool ? T(1) : static_cast<T>(~T(0));
  switch (kind) {
  case ReduceKind::Add:
    return fold<T>(0, [](T a, T b) { return static_cast<T>(uint64_t(a) + uint64_t(b)); });
  case ReduceKind::Mul:
    return fold<T>(1, [](T a, T b) { return static_cast<T>(uint64_t(a) * uint64_t(b)); });
  case ReduceKind::And:
    return fold<T>(ones, [](T a, T b) { return static_cast<T>(a & b); });
  case ReduceKind::Or:
    return fold<T>(0, [](T a, T b) { return static_cast<T>(a | b); });
  case ReduceKind::Max:
  case ReduceKind::Min:
    break;
  }
  return extreme<T>(kind == ReduceKind::Max);
}

template <typename P> static std::unique_ptr<Reducer> smallFloat(ReduceKind kind) {
  if (kind == ReduceKind::Add)
    return std::make_unique<WideFloat<P, false>>();
  if (kind == ReduceKind::Mul)
    return std::make_unique<WideFloat<P, true>>();
  return extreme<float>(kind == ReduceKind::Max);
}

std::unique_ptr<Reducer> Reducer::create(ReduceKind kind, DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return integer<uint8_t>(kind, true);
  case DType::I8:
    return integer<int8_t>(kind, false);
  case DType::I16:
    return integer<int16_t>(kind, false);
  case DType::I32:
    return integer<int32_t>(kind, false);
  case DType::I64:
    return integer<int64_t>(kind, false);
  case DType::U8:
    return integer<uint8_t>(kind, false);
  case DType::U16:
    return integer<uint16_t>(kind, false);
  case DType::U32:
    return integer<uint32_t>(kind, false);
  case DType::U64:
    return integer<uint64_t>(kind, false);
  case DType::F16:
    return smallFloat<F16>(kind);
  case DType::BF16:
    return smallFloat<BF16>(kind);
  case DType::F64:
    if (kind == ReduceKind::Add)
      return std::make_unique<CompensatedSum>();
    if (kind == ReduceKind::Mul)
      return fold<double>(1, [](double a, double b) { return a * b; });
    return extreme<double>(kind == ReduceKind::Max);
  default:
    return smallFloat<F32>(kind);
  }
}

} // namespace zyx::reference
