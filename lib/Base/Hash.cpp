//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace zyx {

static Hash128 hashMemory(const void *data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.high64, hash.low64};
}

std::string Hash128::toHex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint64_t word : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4)
      text += digits[word >> shift & 15];
  return text;
}

Hash128 hashBytes(std::span<const std::byte> bytes) { return hashMemory(bytes.data(), bytes.size()); }
Hash128 hashBytes(std::string_view bytes) { return hashMemory(bytes.data(), bytes.size()); }
uint64_t hash64(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

} // namespace zyx
