//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Hash.h"

#include <gtest/gtest.h>

#include <array>

using namespace zyx;

TEST(HashTest, IsStable) {
  // The published test value of XXH3-128 for no bytes: keys on disk depend on it.
  EXPECT_EQ(hashBytes(std::string_view()).toHex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash64({}), 0x2d06800538d394c2u);
}

TEST(HashTest, SeesEveryByte) {
  std::array<std::byte, 300> bytes{};
  const Hash128 base = hashBytes(bytes);
  const uint64_t base64 = hash64(bytes);
  for (std::byte &b : bytes) {
    b ^= std::byte(1);
    EXPECT_NE(hashBytes(bytes), base);
    EXPECT_NE(hash64(bytes), base64);
    b ^= std::byte(1);
  }
  EXPECT_EQ(hashBytes(bytes), base);
  EXPECT_EQ(hashBytes(std::string_view("ab")), hashBytes(std::as_bytes(std::span<const char>("ab", 2))));
}

TEST(HashTest, HexKeepsLeadingZeros) {
  EXPECT_EQ((Hash128{0x1, 0xabcdef}.toHex()), "00000000000000010000000000abcdef");
}
