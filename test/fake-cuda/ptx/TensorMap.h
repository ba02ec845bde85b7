//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tensor maps, as the fake driver writes them and the copy engine here reads them: what a card's has in its 128 bytes
// is not known.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_PTX_TENSORMAP_H
#define ZYX_TEST_FAKECUDA_PTX_TENSORMAP_H

#include <cstdint>
#include <cstring>

namespace zyx::ptx {

inline constexpr unsigned mostDimensions = 5;

/// The innermost dimension first.
struct TensorMap {
  uint64_t address = 0;
  uint64_t extents[mostDimensions] = {}, strides[mostDimensions] = {};
  /// Of pixels, how many there are and their channels come first.
  uint32_t box[mostDimensions] = {};
  int32_t low[3] = {}, high[3] = {};
  uint32_t steps[mostDimensions] = {};
  uint32_t rank = 0, elementBytes = 0, swizzle = 0;
  bool isPixels = false;
};

/// 128 bytes; the address is the first eight of them.
struct PackedTensorMap {
  uint64_t address;
  uint32_t extents[mostDimensions];
  uint16_t box[mostDimensions];
  uint8_t steps[mostDimensions];
  uint8_t rank, elementBytes, swizzle;
  uint64_t strides[mostDimensions - 1];
  int16_t low[3], high[3];
  uint8_t isPixels;
  uint8_t unused[27];
  uint64_t magic;
};
static_assert(sizeof(PackedTensorMap) == 128);
inline constexpr uint64_t tensorMapMagic = 0x7a79782d6d617073;

inline void pack(const TensorMap &map, void *memory) {
  PackedTensorMap packed = {};
  packed.address = map.address;
  for (unsigned i = 0; i < mostDimensions; ++i) {
    packed.extents[i] = static_cast<uint32_t>(map.extents[i]);
    packed.box[i] = static_cast<uint16_t>(map.box[i]);
    packed.steps[i] = static_cast<uint8_t>(map.steps[i]);
    if (i > 0)
      packed.strides[i - 1] = map.strides[i];
  }
  for (unsigned i = 0; i < 3; ++i) {
    packed.low[i] = static_cast<int16_t>(map.low[i]);
    packed.high[i] = static_cast<int16_t>(map.high[i]);
  }
  packed.rank = static_cast<uint8_t>(map.rank);
  packed.elementBytes = static_cast<uint8_t>(map.elementBytes);
  packed.swizzle = static_cast<uint8_t>(map.swizzle);
  packed.isPixels = map.isPixels;
  packed.magic = tensorMapMagic;
  std::memcpy(memory, &packed, sizeof(packed));
}

/// False where there is no map.
inline bool unpack(const void *memory, TensorMap &map) {
  PackedTensorMap packed;
  std::memcpy(&packed, memory, sizeof(packed));
  map = {};
  map.address = packed.address;
  for (unsigned i = 0; i < mostDimensions; ++i) {
    map.extents[i] = packed.extents[i];
    map.box[i] = packed.box[i];
    map.steps[i] = packed.steps[i];
    map.strides[i] = i == 0 ? packed.elementBytes : packed.strides[i - 1];
  }
  for (unsigned i = 0; i < 3; ++i) {
    map.low[i] = packed.low[i];
    map.high[i] = packed.high[i];
  }
  map.rank = packed.rank;
  map.elementBytes = packed.elementBytes;
  map.swizzle = packed.swizzle;
  map.isPixels = packed.isPixels;
  return packed.magic == tensorMapMagic;
}

} // namespace zyx::ptx

#endif // ZYX_TEST_FAKECUDA_PTX_TENSORMAP_H
