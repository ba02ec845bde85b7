//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Elements.h"

#include "zyx/Graph/UnaryKind.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

namespace zyx::reference {

using graph::BinaryKind;
using graph::UnaryKind;

template <typename T> static const T *as(const std::byte *block) { return reinterpret_cast<const T *>(block); }
template <typename T> static T *as(std::byte *block) { return reinterpret_cast<T *>(block); }

template <typename T> struct Type {
  using type = T;
};

/// Calls f(Type<T>) with the integer type of the dtype; bool is uint8_t.
template <typename F> static void withInteger(DType dtype, F f) {
  switch (dtype) {
  case DType::I8:
    return f(Type<int8_t>());
  case DType::I16:
    return f(Type<int16_t>());
  case DType::I32:
    return f(Type<int32_t>());
  case DType::I64:
    return f(Type<int64_t>());
  case DType::U16:
    return f(Type<uint16_t>());
  case DType::U32:
    return f(Type<uint32_t>());
  case DType::U64:
    return f(Type<uint64_t>());
  default:
    return f(Type<uint8_t>());
  }
}

/// Calls f(Type<P>) with F16, BF16, F32 or F64.
template <typename F> static void withFloat(DType dtype, F f) {
  switch (dtype) {
  case DType::F16:
    return f(Type<F16>());
  case DType::BF16:
    return f(Type<BF16>());
  case DType::F64:
    return f(Type<F64>());
  default:
    return f(Type<F32>());
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Calls f(Type<stored type>, Type<block type>, decode, encode) for how the dtype lies in memory.
template <typename F> static void withStorage(DType dtype, F f) {
  const auto same = [](auto value) { return value; };
  switch (dtype) {
  case DType::F16:
    return f(
        Type<uint16_t>(), Type<float>(), [](uint16_t bits) { return static_cast<float>(halfToFloat(bits)); },
        floatToHalf);
  case DType::BF16:
    return f(
        Type<uint16_t>(), Type<float>(), [](uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); },
        floatToBFloat16);
  case DType::F8E4M3FN:
    return f(
        Type<uint8_t>(), Type<float>(), [](uint8_t bits) { return static_cast<float>(f8E4M3FNToFloat(bits)); },
        floatToF8E4M3FN);
  case DType::F8E5M2:
    return f(
        Type<uint8_t>(), Type<float>(), [](uint8_t bits) { return static_cast<float>(f8E5M2ToFloat(bits)); },
        floatToF8E5M2);
  case DType::F32:
    return f(Type<float>(), Type<float>(), same, same);
  case DType::F64:
    return f(Type<double>(), Type<double>(), same, same);
  default:
    return withInteger(dtype, [&](auto type) { f(type, type, same, same); });
  }
}

void loadRun(DType dtype, const std::byte *tensor, int64_t index, int64_t stride, int64_t count, std::byte *block) {
  withStorage(dtype, [&](auto stored, auto held, auto decode, auto) {
    const auto *in = as<typename decltype(stored)::type>(tensor) + index;
    auto *out = as<typename decltype(held)::type>(block);
    if (stride == 0) {
      const auto value = decode(*in);
      for (int64_t i = 0; i < count; ++i)
        out[i] = value;
    } else {
      for (int64_t i = 0; i < count; ++i)
        out[i] = decode(in[i * stride]);
    }
  });
}

void loadAt(DType dtype, const std::byte *tensor, const int64_t *indices, int64_t count, std::byte *block) {
  withStorage(dtype, [&](auto stored, auto held, auto decode, auto) {
    using Held = typename decltype(held)::type;
    const auto *in = as<typename decltype(stored)::type>(tensor);
    for (int64_t i = 0; i < count; ++i)
      as<Held>(block)[i] = indices[i] < 0 ? Held(0) : Held(decode(in[indices[i]]));
  });
}

void store(DType dtype, const std::byte *block, int64_t count, std::byte *tensor) {
  withStorage(dtype, [&](auto stored, auto held, auto, auto encode) {
    const auto *in = as<typename decltype(held)::type>(block);
    auto *out = as<typename decltype(stored)::type>(tensor);
    for (int64_t i = 0; i < count; ++i)
      out[i] = encode(in[i]);
  });
}

void fromIndices(DType dtype, const int64_t *indices, int64_t count, std::byte *block) {
  cast(DType::I64, dtype, reinterpret_cast<const std::byte *>(indices), count, block);
}

void toIndices(DType dtype, const std::byte *block, int64_t count, int64_t *indices) {
  withInteger(dtype, [&](auto type) {
    for (int64_t i = 0; i < count; ++i) {
      const auto value = as<typename decltype(type)::type>(block)[i];
      indices[i] = std::in_range<int64_t>(value) ? static_cast<int64_t>(value) : -1;
    }
  });
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// A double that rounds to any dtype of at most 24 significant bits as the integer does: bits that
/// do not fit in a double are kept as one sticky bit (rounding to odd).
template <typename Wide> static double toOddDouble(Wide value) {
  const bool negative = value < 0;
  uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int extra = std::bit_width(magnitude) - 53;
  if (extra > 0) {
    const bool sticky = (magnitude & ((uint64_t(1) << extra) - 1)) != 0;
    magnitude = (magnitude >> extra | uint64_t(sticky)) << extra;
  }
  const double result = static_cast<double>(magnitude);
  return negative ? -result : result;
}

template <typename T> static T saturate(double value) {
  if (std::isnan(value))
    return 0;
  // Both bounds are powers of two (or 0), so they are exact.
  const double upper = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value >= upper)
    return std::numeric_limits<T>::max();
  if (value < static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

/// Converts from the widest type of a family (int64_t, uint64_t or double) to a dtype.
template <typename Wide> static void narrow(DType to, const Wide *x, int64_t count, std::byte *out) {
  const auto each = [&](auto type, auto convert) {
    for (int64_t i = 0; i < count; ++i)
      as<typename decltype(type)::type>(out)[i] = convert(x[i]);
  };
  const auto toDouble = [](Wide value) {
    if constexpr (std::is_same_v<Wide, double>)
      return value;
    else
      return toOddDouble(value);
  };
  switch (to) {
  case DType::Bool:
    return each(Type<uint8_t>(), [](Wide value) { return value != 0; });
  case DType::F64:
    return each(Type<double>(), [](Wide value) { return static_cast<double>(value); });
  case DType::F32:
    return each(Type<float>(), [](Wide value) { return static_cast<float>(value); });
  case DType::F16:
    return each(Type<float>(), [&](Wide value) { return F16::round(toDouble(value)); });
  case DType::BF16:
    return each(Type<float>(), [&](Wide value) { return BF16::round(toDouble(value)); });
  case DType::F8E4M3FN:
    return each(Type<float>(),
                [&](Wide value) { return static_cast<float>(f8E4M3FNToFloat(floatToF8E4M3FN(toDouble(value)))); });
  case DType::F8E5M2:
    return each(Type<float>(),
                [&](Wide value) { return static_cast<float>(f8E5M2ToFloat(floatToF8E5M2(toDouble(value)))); });
  default:
    return withInteger(to, [&](auto type) {
      using T = typename decltype(type)::type;
      each(type, [](Wide value) {
        if constexpr (std::is_same_v<Wide, double>)
          return saturate<T>(value);
        else
          return static_cast<T>(value);
      });
    });
  }
}

template <typename Wide, typename T> static void castThrough(DType to, const T *x, int64_t count, std::byte *out) {
  Wide wide[blockElements];
  for (int64_t i = 0; i < count; ++i)
    wide[i] = x[i];
  narrow(to, wide, count, out);
}

void cast(DType from, DType to, const std::byte *x, int64_t count, std::byte *out) {
  if (from == DType::F64)
    return narrow(to, as<double>(x), count, out);
  if (isFloat(from)) {
    if (to == DType::F32) {
      std::memcpy(out, x, static_cast<size_t>(count) * sizeof(float));
      return;
    }
    return castThrough<double>(to, as<float>(x), count, out);
  }
  withInteger(from, [&](auto type) {
    using T = typename decltype(type)::type;
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    castThrough<Wide>(to, as<T>(x), count, out);
  });
}

void bitcast(DType from, DType to, const std::byte *x, int64_t count, std::byte *out) {
  alignas(8) std::byte stored[blockBytes];
  store(from, x, count, stored);
  loadRun(to, stored, 0, 1, count, out);
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

template <typename T, typename F> static void map(const std::byte *x, int64_t count, std::byte *out, F f) {
  for (int64_t i = 0; i < count; ++i)
    as<T>(out)[i] = f(as<T>(x)[i]);
}

// A kind without a case does not compile: docs/adding-an-op.md.
#pragma GCC diagnostic error "-Wswitch"
template <typename P> static void floatUnary(UnaryKind kind, const std::byte *x, int64_t count, std::byte *out) {
  using Carrier = typename P::Carrier;
  using Basic = typename P::Basic;
  const auto exact = [&](auto f) { map<Carrier>(x, count, out, f); };
  const auto basic = [&](auto f) { map<Carrier>(x, count, out, [&](Carrier v) { return P::round(f(Basic(v))); }); };
  // f64 has long double beside it: a libm's tangent next to a multiple of pi/2 may be 14 ULP off.
  using Wide = std::conditional_t<std::is_same_v<Carrier, double>, long double, double>;
  const auto wide = [&](auto f) {
    map<Carrier>(x, count, out, [&](Carrier v) { return P::round(static_cast<double>(f(Wide(v)))); });
  };
  switch (kind) {
  case UnaryKind::Neg:
    return exact([](Carrier v) { return -v; });
  case UnaryKind::Abs:
    return exact([](Carrier v) { return std::fabs(v); });
  case UnaryKind::Floor:
    return exact([](Carrier v) { return std::floor(v); });
  case UnaryKind::Ceil:
    return exact([](Carrier v) { return std::ceil(v); });
  case UnaryKind::Round:
    return exact([](Carrier v) { return std::nearbyint(v); });
  case UnaryKind::Trunc:
    return exact([](Carrier v) { return std::trunc(v); });
  case UnaryKind::Recip:
    return basic([](Basic v) { return 1 / v; });
  case UnaryKind::Sqrt:
    return basic([](Basic v) { return std::sqrt(v); });
  case UnaryKind::Rsqrt:
    return wide([](Wide v) { return 1 / std::sqrt(v); });
  case UnaryKind::Cbrt:
    return wide([](Wide v) { return std::cbrt(v); });
  case UnaryKind::Exp:
    return wide([](Wide v) { return std::exp(v); });
  case UnaryKind::Exp2:
    return wide([](Wide v) { return std::exp2(v); });
  case UnaryKind::Expm1:
    return wide([](Wide v) { return std::expm1(v); });
  case UnaryKind::Log:
    return wide([](Wide v) { return std::log(v); });
  case UnaryKind::Log2:
    return wide([](Wide v) { return std::log2(v); });
  case UnaryKind::Sin:
    return wide([](Wide v) { return std::sin(v); });
  case UnaryKind::Cos:
    return wide([](Wide v) { return std::cos(v); });
  case UnaryKind::Tan:
    return wide([](Wide v) { return std::tan(v); });
  case UnaryKind::Tanh:
    return wide([](Wide v) { return std::tanh(v); });
  case UnaryKind::Erf:
    return wide([](Wide v) { return std::erf(v); });
  case UnaryKind::Not:
    ZYX_ASSERT(false, "inference refuses not of floats");
  }
}

void unary(UnaryKind kind, DType dtype, const std::byte *x, int64_t count, std::byte *out) {
  if (isFloat(dtype))
    return withFloat(dtype, [&](auto p) { floatUnary<typename decltype(p)::type>(kind, x, count, out); });
  withInteger(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if (kind == UnaryKind::Neg)
      return map<T>(x, count, out, [](T v) { return static_cast<T>(0 - uint64_t(v)); });
    if (kind == UnaryKind::Abs)
      return map<T>(x, count, out, [](T v) { return v < 0 ? static_cast<T>(0 - uint64_t(v)) : v; });
    ZYX_ASSERT(kind == UnaryKind::Not, "inference refuses the others of integers");
    if (dtype == DType::Bool)
      return map<T>(x, count, out, [](T v) { return static_cast<T>(v ^ 1); });
    return map<T>(x, count, out, [](T v) { return static_cast<T>(~v); });
  });
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

template <typename T, typename R, typename F>
static void map(const std::byte *a, const std::byte *b, int64_t count, std::byte *out, F f) {
  for (int64_t i = 0; i < count; ++i)
    as<R>(out)[i] = f(as<T>(a)[i], as<T>(b)[i]);
}

/// The kinds that mean the same for all types; false for the others.
template <typename T>
static bool commonBinary(BinaryKind kind, const std::byte *a, const std::byte *b, int64_t count, std::byte *out) {
  const auto compare = [&](auto f) {
    map<T, uint8_t>(a, b, count, out, f);
    return true;
  };
  switch (kind) {
  case BinaryKind::Max:
    map<T, T>(a, b, count, out, larger<T>);
    return true;
  case BinaryKind::Min:
    map<T, T>(a, b, count, out, smaller<T>);
    return true;
  case BinaryKind::Lt:
    return compare([](T x, T y) { return x < y; });
  case BinaryKind::Le:
    return compare([](T x, T y) { return x <= y; });
  case BinaryKind::Gt:
    return compare([](T x, T y) { return x > y; });
  case BinaryKind::Ge:
    return compare([](T x, T y) { return x >= y; });
  case BinaryKind::Eq:
    return compare([](T x, T y) { return x == y; });
  case BinaryKind::Ne:
    return compare([](T x, T y) { return x != y; });
  default:
    return false;
  }
}

template <typename P>
static void floatBinary(BinaryKind kind, const std::byte *a, const std::byte *b, int64_t count, std::byte *out) {
  using Carrier = typename P::Carrier;
  using Basic = typename P::Basic;
  const auto basic = [&](auto f) {
    map<Carrier, Carrier>(a, b, count, out, [&](Carrier x, Carrier y) { return P::round(f(Basic(x), Basic(y))); });
  };
  switch (kind) {
  case BinaryKind::Add:
    return basic([](Basic x, Basic y) { return x + y; });
  case BinaryKind::Sub:
    return basic([](Basic x, Basic y) { return x - y; });
  case BinaryKind::Mul:
    return basic([](Basic x, Basic y) { return x * y; });
  case BinaryKind::Div:
    return basic([](Basic x, Basic y) { return x / y; });
  case BinaryKind::Rem:
    return basic([](Basic x, Basic y) { return std::fmod(x, y); });
  case BinaryKind::Pow:
    // pow(1, NaN) and pow(NaN, 0) are 1, but not for signalling NaNs in the C library.
    return map<Carrier, Carrier>(a, b, count, out, [](Carrier x, Carrier y) {
      const auto quiet = [](Carrier v) { return std::isnan(v) ? std::numeric_limits<double>::quiet_NaN() : double(v); };
      return P::round(std::pow(quiet(x), quiet(y)));
    });
  default:
    commonBinary<Carrier>(kind, a, b, count, out);
  }
}

template <typename T> static T divide(T x, T y) {
  if (y == 0)
    return static_cast<T>(~T(0));
  if (std::is_signed_v<T> && y == static_cast<T>(-1))
    return static_cast<T>(0 - uint64_t(x)); // the smallest one stays itself
  return static_cast<T>(x / y);
}

template <typename T> static T remainder(T x, T y) {
  if (y == 0)
    return x;
  if (std::is_signed_v<T> && y == static_cast<T>(-1))
    return 0;
  return static_cast<T>(x % y);
}

template <typename T> static T power(T x, T exponent) {
  if (exponent < 0) {
    if (x == 0 || x == 1)
      return divide(T(1), x);
    return x != static_cast<T>(-1) ? T(0) : exponent % 2 == 0 ? T(1) : x;
  }
  uint64_t result = 1, square = uint64_t(x);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left /= 2) {
    if (left % 2 != 0)
      result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

/// The shift amount is read as unsigned.
template <typename T> static T shiftLeft(T x, T amount) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(amount) >= sizeof(T) * 8)
    return 0;
  return static_cast<T>(uint64_t(x) << static_cast<U>(amount));
}

template <typename T> static T shiftRight(T x, T amount) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(amount) >= sizeof(T) * 8)
    return x < 0 ? static_cast<T>(-1) : 0;
  return static_cast<T>(x >> static_cast<U>(amount));
}

template <typename T>
static void integerBinary(BinaryKind kind, const std::byte *a, const std::byte *b, int64_t count, std::byte *out) {
  const auto each = [&](auto f) { map<T, T>(a, b, count, out, f); };
  // Unsigned 64-bit arithmetic wraps, and its low bits are those of every narrower type.
  const auto wrapping = [&](auto f) { each([&](T x, T y) { return static_cast<T>(f(uint64_t(x), uint64_t(y))); }); };
  switch (kind) {
  case BinaryKind::Add:
    return wrapping([](uint64_t x, uint64_t y) { return x + y; });
  case BinaryKind::Sub:
    return wrapping([](uint64_t x, uint64_t y) { return x - y; });
  case BinaryKind::Mul:
    return wrapping([](uint64_t x, uint64_t y) { return x * y; });
  case BinaryKind::Div:
    return each(divide<T>);
  case BinaryKind::Rem:
    return each(remainder<T>);
  case BinaryKind::Pow:
    return each(power<T>);
  case BinaryKind::And:
    return wrapping([](uint64_t x, uint64_t y) { return x & y; });
  case BinaryKind::Or:
    return wrapping([](uint64_t x, uint64_t y) { return x | y; });
  case BinaryKind::Xor:
    return wrapping([](uint64_t x, uint64_t y) { return x ^ y; });
  case BinaryKind::Shl:
    return each(shiftLeft<T>);
  case BinaryKind::Shr:
    return each(shiftRight<T>);
  default:
    commonBinary<T>(kind, a, b, count, out);
  }
}

void binary(BinaryKind kind, DType dtype, const std::byte *a, const std::byte *b, int64_t count, std::byte *out) {
  if (isFloat(dtype))
    return withFloat(dtype, [&](auto p) { floatBinary<typename decltype(p)::type>(kind, a, b, count, out); });
  withInteger(dtype, [&](auto type) { integerBinary<typename decltype(type)::type>(kind, a, b, count, out); });
}

void select(DType dtype, const std::byte *condition, const std::byte *a, const std::byte *b, int64_t count,
            std::byte *out) {
  withStorage(dtype, [&](auto, auto held, auto, auto) {
    using T = typename decltype(held)::type;
    for (int64_t i = 0; i < count; ++i)
      as<T>(out)[i] = as<uint8_t>(condition)[i] ? as<T>(a)[i] : as<T>(b)[i];
  });
}

} // namespace zyx::reference
