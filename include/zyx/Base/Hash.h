//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_HASH_H
#define ZYX_BASE_HASH_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace zyx {

/// A 128-bit content hash (XXH3-128). Used for cache keys and checksums; not for security.
struct Hash128 {
  uint64_t high = 0, low = 0;
  bool operator==(const Hash128 &) const = default;
  /// 32 hexadecimal digits.
  std::string toHex() const;
};

Hash128 hashBytes(std::span<const std::byte> bytes);
Hash128 hashBytes(std::string_view bytes);
uint64_t hash64(std::span<const std::byte> bytes);

} // namespace zyx

#endif // ZYX_BASE_HASH_H
