//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/RandomTensor.h"

#include "zyx/Base/Allocate.h"
#include "zyx/Base/Float.h"
#include "zyx/Base/Random.h"

#include <cstring>

using namespace zyx;

/// SplitMix64: the same numbers on every machine.
static uint64_t nextRandom(uint64_t &state) { return mixBits(state += splitMixStep); }

template <typename T> static void store(std::byte *to, T value) { std::memcpy(to, &value, sizeof(value)); }

static void storeFloat(DType dtype, double value, std::byte *to) {
  switch (dtype) {
  case DType::F16:
    return store(to, floatToHalf(value));
  case DType::BF16:
    return store(to, floatToBFloat16(value));
  case DType::F32:
    return store(to, static_cast<float>(value));
  case DType::F8E4M3FN:
    return store(to, floatToF8E4M3FN(value));
  case DType::F8E5M2:
    return store(to, floatToF8E5M2(value));
  default:
    return store(to, value);
  }
}

Result<HostTensor> zyx::randomTensor(const TensorType &type, uint64_t seed) {
  ZYX_ASSIGN_OR_RETURN(int64_t size, byteSize(type));
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> data,
                       allocateBytes(static_cast<uint64_t>(size), "a random " + toString(type)));
  HostTensor tensor{type, std::move(data)};
  int64_t bytes = byteSize(type.dtype);
  uint64_t state = seed;
  for (int64_t at = 0; at < size; at += bytes) {
    uint64_t bits = nextRandom(state);
    if (isFloat(type.dtype))
      storeFloat(type.dtype, static_cast<double>(bits >> 11) * 0x1p-52 - 1.0, &tensor.data[at]);
    else
      // The remaining bytes of a wider integer are 0.
      tensor.data[at] = static_cast<std::byte>(bits >> 32 & (type.dtype == DType::Bool ? 1 : 15));
  }
  return tensor;
}
