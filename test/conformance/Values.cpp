//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Values.h"

#include "zyx/Base/Float.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace zyx::conformance {

uint64_t Random::bits() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <typename T> static T read(const std::byte *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

double toDouble(DType dtype, const std::byte *data) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return read<uint8_t>(data);
  case DType::I8:
    return read<int8_t>(data);
  case DType::I16:
    return read<int16_t>(data);
  case DType::I32:
    return read<int32_t>(data);
  case DType::I64:
    return static_cast<double>(read<int64_t>(data));
  case DType::U16:
    return read<uint16_t>(data);
  case DType::U32:
    return read<uint32_t>(data);
  case DType::U64:
    return static_cast<double>(read<uint64_t>(data));
  case DType::F16:
    return halfToFloat(read<uint16_t>(data));
  case DType::BF16:
    return bfloat16ToFloat(read<uint16_t>(data));
  case DType::F32:
    return read<float>(data);
  case DType::F64:
    return read<double>(data);
  case DType::F8E4M3FN:
    return f8E4M3FNToFloat(read<uint8_t>(data));
  case DType::F8E5M2:
    return f8E5M2ToFloat(read<uint8_t>(data));
  }
  return 0;
}

void fromDouble(DType dtype, double value, std::byte *data) {
  const auto write = [&](auto bits) { std::memcpy(data, &bits, sizeof(bits)); };
  switch (dtype) {
  case DType::Bool:
    return write(uint8_t(value != 0));
  case DType::F16:
    return write(floatToHalf(value));
  case DType::BF16:
    return write(floatToBFloat16(value));
  case DType::F32:
    return write(static_cast<float>(value));
  case DType::F64:
    return write(value);
  case DType::F8E4M3FN:
    return write(floatToF8E4M3FN(value));
  case DType::F8E5M2:
    return write(floatToF8E5M2(value));
  default: {
    const int64_t bits = static_cast<int64_t>(value);
    std::memcpy(data, &bits, static_cast<size_t>(byteSize(dtype)));
  }
  }
}

template <typename F> static HostTensor generate(DType dtype, Shape shape, F next) {
  HostTensor tensor{{dtype, std::move(shape)}, {}};
  const int64_t count = *numElements(tensor.type.shape), size = byteSize(dtype);
  tensor.data.resize(static_cast<size_t>(count * size));
  for (int64_t i = 0; i < count; ++i)
    next(i, tensor.data.data() + i * size);
  return tensor;
}

HostTensor makeTensor(DType dtype, Shape shape, const std::vector<double> &values) {
  return generate(dtype, std::move(shape),
                  [&](int64_t i, std::byte *out) { fromDouble(dtype, values[static_cast<size_t>(i)], out); });
}

/// Elements by their bits.
static HostTensor fromBits(DType dtype, const std::vector<uint64_t> &bits) {
  return generate(dtype, {static_cast<int64_t>(bits.size())}, [&](int64_t i, std::byte *out) {
    std::memcpy(out, &bits[static_cast<size_t>(i)], static_cast<size_t>(byteSize(dtype)));
  });
}

/// Exponent and mantissa bits of a float.
static std::pair<int, int> formatOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return {5, 10};
  case DType::BF16:
    return {8, 7};
  case DType::F64:
    return {11, 52};
  case DType::F8E4M3FN:
    return {4, 3};
  case DType::F8E5M2:
    return {5, 2};
  default:
    return {8, 23};
  }
}

static std::vector<uint64_t> floatSpecials(DType dtype) {
  const auto [exponent, mantissa] = formatOf(dtype);
  const uint64_t sign = uint64_t(1) << (exponent + mantissa);
  const uint64_t infinity = ((uint64_t(1) << exponent) - 1) << mantissa;
  const uint64_t one = ((uint64_t(1) << (exponent - 1)) - 1) << mantissa;
  const uint64_t smallest = uint64_t(1) << mantissa;
  std::vector<uint64_t> magnitudes = {0,
                                      1,
                                      smallest - 1,
                                      smallest,
                                      one - 1,
                                      one,
                                      one + 1,
                                      infinity - 1,
                                      infinity,
                                      infinity + 1,
                                      infinity | (smallest >> 1)};
  std::byte element[8];
  // Ties of round, bounds of the integer dtypes, where exp overflows, pi.
  for (double value : {0.5, 1.5, 2.5, 3.0, 127.0, 128.0, 255.0, 256.0, 32767.0, 32768.0, 65535.0, 65536.0, 0x1p31,
                       0x1p32, 0x1p63, 0x1p64, 88.8, 709.9, 3.14159265358979}) {
    std::memset(element, 0, sizeof(element));
    fromDouble(dtype, value, element);
    magnitudes.push_back(read<uint64_t>(element) & (sign - 1));
  }
  std::vector<uint64_t> bits;
  for (uint64_t magnitude : magnitudes) {
    bits.push_back(magnitude);
    bits.push_back(magnitude | sign);
  }
  return bits;
}

HostTensor specials(DType dtype) {
  if (dtype == DType::Bool)
    return fromBits(dtype, {0, 1});
  if (isFloat(dtype))
    return fromBits(dtype, floatSpecials(dtype));
  const int width = static_cast<int>(byteSize(dtype)) * 8;
  const uint64_t high = uint64_t(1) << (width - 1);
  std::vector<uint64_t> bits = {0,
                                1,
                                2,
                                3,
                                5,
                                7,
                                uint64_t(width) - 1,
                                uint64_t(width),
                                uint64_t(width) + 1,
                                high - 1,
                                high,
                                high + 1,
                                ~uint64_t(0),
                                ~uint64_t(1),
                                ~uint64_t(6),
                                100,
                                0x55};
  return fromBits(dtype, bits);
}

HostTensor hurting(DType dtype, int64_t count, Random &random) {
  std::vector<uint64_t> bits;
  if (count == 0) {
    const int64_t all = dtype == DType::Bool ? 2 : int64_t(1) << (byteSize(dtype) * 8);
    for (int64_t i = 0; i < all; ++i)
      bits.push_back(static_cast<uint64_t>(i));
    return fromBits(dtype, bits);
  }
  HostTensor tensor = specials(dtype);
  const size_t size = static_cast<size_t>(byteSize(dtype));
  while (static_cast<int64_t>(tensor.data.size() / size) < count) {
    uint64_t next = random.bits();
    if (dtype == DType::Bool) {
      next &= 1;
    } else if (isFloat(dtype) && random.chance(0.6)) {
      // Most bit patterns are huge or tiny: more of what functions are used with.
      std::byte element[8] = {};
      fromDouble(dtype, (random.unit() * 2 - 1) * std::exp2(random.below(14) - 6), element);
      next = read<uint64_t>(element);
    }
    const std::byte *from = reinterpret_cast<const std::byte *>(&next);
    tensor.data.insert(tensor.data.end(), from, from + size);
  }
  tensor.type.shape = {static_cast<int64_t>(tensor.data.size() / size)};
  return tensor;
}

std::pair<HostTensor, HostTensor> hurtingPairs(DType dtype, int64_t randomPairs, Random &random) {
  const HostTensor values = specials(dtype);
  const size_t size = static_cast<size_t>(byteSize(dtype)), n = values.data.size() / size;
  HostTensor a{{dtype, {}}, {}}, b = a;
  const auto append = [&](HostTensor &to, const std::byte *from) { to.data.insert(to.data.end(), from, from + size); };
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      append(a, values.data.data() + i * size);
      append(b, values.data.data() + j * size);
    }
  const HostTensor left = hurting(dtype, static_cast<int64_t>(n) + randomPairs, random);
  const HostTensor right = hurting(dtype, static_cast<int64_t>(n) + randomPairs, random);
  for (size_t i = n; i < n + static_cast<size_t>(randomPairs); ++i) {
    append(a, left.data.data() + i * size);
    append(b, right.data.data() + i * size);
  }
  a.type.shape = b.type.shape = {static_cast<int64_t>(a.data.size() / size)};
  return {std::move(a), std::move(b)};
}

HostTensor integers(DType dtype, Shape shape, int64_t low, int64_t high, Random &random) {
  return generate(dtype, std::move(shape), [&](int64_t, std::byte *out) {
    fromDouble(dtype, static_cast<double>(low + random.below(high - low + 1)), out);
  });
}

HostTensor moderate(DType dtype, Shape shape, Random &random) {
  if (isFloat(dtype))
    return generate(dtype, std::move(shape),
                    [&](int64_t, std::byte *out) { fromDouble(dtype, random.unit() * 8 - 4, out); });
  if (dtype == DType::Bool)
    return integers(dtype, std::move(shape), 0, 1, random);
  return integers(dtype, std::move(shape), isSignedInteger(dtype) ? -9 : 0, 9, random);
}

HostTensor nearOne(DType dtype, Shape shape, Random &random) {
  if (isFloat(dtype))
    return generate(dtype, std::move(shape),
                    [&](int64_t, std::byte *out) { fromDouble(dtype, 0.75 + random.unit() / 2, out); });
  return integers(dtype, std::move(shape), 1, dtype == DType::Bool ? 1 : 3, random);
}

} // namespace zyx::conformance
