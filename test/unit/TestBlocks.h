//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Blocks of quantised numbers, and a decoder that shares nothing with the graph's.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_TESTBLOCKS_H
#define ZYX_TEST_UNIT_TESTBLOCKS_H

#include "zyx/Base/BlockFormat.h"
#include "zyx/Base/Float.h"
#include "zyx/Base/Tensor.h"

#include <random>
#include <vector>

namespace zyx::test {

inline constexpr BlockFormat allFormats[] = {BlockFormat::Q4_0, BlockFormat::Q4_1, BlockFormat::Q5_0, BlockFormat::Q5_1,
                                             BlockFormat::Q8_0, BlockFormat::Q2_K, BlockFormat::Q3_K, BlockFormat::Q4_K,
                                             BlockFormat::Q5_K, BlockFormat::Q6_K};

/// Where the f16 numbers of a block begin.
inline std::vector<size_t> halvesOf(BlockFormat format) {
  switch (format) {
  case BlockFormat::Q4_1:
  case BlockFormat::Q5_1:
  case BlockFormat::Q4_K:
  case BlockFormat::Q5_K:
    return {0, 2};
  case BlockFormat::Q2_K:
    return {80, 82};
  case BlockFormat::Q3_K:
    return {108};
  case BlockFormat::Q6_K:
    return {208};
  default:
    return {0};
  }
}

/// One element of one block, from the definition of the format: a scalar at a time.
inline float decode(BlockFormat format, const uint8_t *block, int e) {
  auto half = [&](size_t at) {
    return static_cast<float>(halfToFloat(static_cast<uint16_t>(block[at] | block[at + 1] << 8)));
  };
  auto bit = [](const uint8_t *from, int i) { return from[i / 8] >> (i % 8) & 1; };
  /// The 6-bit scale (of==0) or minimum (of==4) of sub-block j.
  auto six = [](const uint8_t *q, int j, int of) {
    if (j < 4)
      return q[j + of] & 63;
    return (of == 0 ? q[j + 4] & 15 : q[j + 4] >> 4) | (q[j - 4 + of] >> 6) << 4;
  };
  auto nibble = [&](const uint8_t *q) { return e < 16 ? q[e] & 15 : q[e - 16] >> 4; };
  const int part = e / 128, in = e % 128;
  switch (format) {
  case BlockFormat::Q4_0:
    return half(0) * static_cast<float>(nibble(block + 2) - 8);
  case BlockFormat::Q4_1:
    return half(0) * static_cast<float>(nibble(block + 4)) + half(2);
  case BlockFormat::Q5_0:
    return half(0) * static_cast<float>(nibble(block + 6) + 16 * bit(block + 2, e) - 16);
  case BlockFormat::Q5_1:
    return half(0) * static_cast<float>(nibble(block + 8) + 16 * bit(block + 4, e)) + half(2);
  case BlockFormat::Q8_0:
    return half(0) * static_cast<float>(static_cast<int8_t>(block[2 + e]));
  case BlockFormat::Q2_K: {
    const uint8_t scale = block[e / 16];
    const int quant = block[16 + part * 32 + in % 32] >> (in / 32 * 2) & 3;
    return half(80) * static_cast<float>(scale & 15) * static_cast<float>(quant) -
           half(82) * static_cast<float>(scale >> 4);
  }
  case BlockFormat::Q3_K: {
    const int i = e / 16;
    const uint8_t *packed = block + 96;
    const int scale = (i < 8 ? packed[i] & 15 : packed[i - 8] >> 4) | (packed[8 + i % 4] >> (i / 4 * 2) & 3) << 4;
    const int low = block[32 + part * 32 + in % 32] >> (in / 32 * 2) & 3;
    const int high = block[in % 32] >> (part * 4 + in / 32) & 1;
    return half(108) * static_cast<float>(scale - 32) * static_cast<float>(low - (high ? 0 : 4));
  }
  case BlockFormat::Q4_K:
  case BlockFormat::Q5_K: {
    const bool five = format == BlockFormat::Q5_K;
    const int i = e / 32, byte = block[(five ? 48 : 16) + e / 64 * 32 + e % 32];
    int quant = i % 2 ? byte >> 4 : byte & 15;
    if (five)
      quant += (block[16 + e % 32] >> i & 1) * 16;
    return half(0) * static_cast<float>(six(block + 4, i, 0)) * static_cast<float>(quant) -
           half(2) * static_cast<float>(six(block + 4, i, 4));
  }
  case BlockFormat::Q6_K: {
    const int byte = block[part * 64 + in % 64];
    const int low = in < 64 ? byte & 15 : byte >> 4;
    const int high = block[128 + part * 32 + in % 32] >> (in / 32 * 2) & 3;
    const auto scale = static_cast<int8_t>(block[192 + e / 16]);
    return half(208) * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
  }
  }
  return 0;
}

/// Random blocks. Where `finite`, no scale is an infinity or NaN.
inline HostTensor randomBlocks(BlockFormat format, const Shape &shape, unsigned seed, bool finite) {
  std::mt19937 random(seed);
  HostTensor blocks;
  blocks.type = *blockedType(format, shape);
  for (int64_t i = *byteSize(blocks.type); i > 0; --i)
    blocks.data.push_back(static_cast<std::byte>(random()));
  if (finite)
    for (size_t block = 0; block < blocks.data.size(); block += static_cast<size_t>(blockBytes(format)))
      for (size_t at : halvesOf(format))
        blocks.data[block + at + 1] &= std::byte{0xbb};
  return blocks;
}

inline std::vector<float> decodeAll(BlockFormat format, const HostTensor &blocks) {
  std::vector<float> values;
  const auto *data = reinterpret_cast<const uint8_t *>(blocks.data.data());
  for (size_t block = 0; block < blocks.data.size(); block += static_cast<size_t>(blockBytes(format)))
    for (int e = 0; e < blockElements(format); ++e)
      values.push_back(decode(format, data + block, e));
  return values;
}

} // namespace zyx::test

#endif // ZYX_TEST_UNIT_TESTBLOCKS_H
