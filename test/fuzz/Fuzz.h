//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FUZZ_FUZZ_H
#define ZYX_TEST_FUZZ_FUZZ_H

#include "zyx/Base/Hash.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

/// What each program of this folder defines: one input from outside, to be read or refused. The
/// program ends by libFuzzer in the preset `fuzz`, and by Replay.cpp elsewhere.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace zyx::fuzz {

/// Ends the program where a property that every accepted input has does not hold.
inline void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

inline std::span<const std::byte> bytesOf(const uint8_t *data, size_t size) {
  return {reinterpret_cast<const std::byte *>(data), size};
}

/// The bytes with the 64-bit checksum at `offset`, of all that follows it, made right: without that
/// no mutation gets behind the checksum.
inline std::vector<std::byte> withHash64(std::span<const std::byte> bytes, size_t offset) {
  std::vector<std::byte> fixed(bytes.begin(), bytes.end());
  if (fixed.size() < offset + 8)
    return fixed;
  uint64_t hash = hash64(std::span(fixed).subspan(offset + 8));
  std::memcpy(fixed.data() + offset, &hash, sizeof(hash));
  return fixed;
}

/// The same for a checksum of 128 bits, the high word first.
inline std::vector<std::byte> withHash128(std::span<const std::byte> bytes, size_t offset) {
  std::vector<std::byte> fixed(bytes.begin(), bytes.end());
  if (fixed.size() < offset + 16)
    return fixed;
  Hash128 hash = hashBytes(std::span<const std::byte>(fixed).subspan(offset + 16));
  std::memcpy(fixed.data() + offset, &hash.high, sizeof(hash.high));
  std::memcpy(fixed.data() + offset + 8, &hash.low, sizeof(hash.low));
  return fixed;
}

} // namespace zyx::fuzz

#endif // ZYX_TEST_FUZZ_FUZZ_H
