//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

using namespace zyx;
using testing::HasSubstr;

static std::vector<std::byte> sample() {
  ByteWriter writer;
  writer.u8(0xfe);
  writer.u32(0x01020304);
  writer.u64(0x1122334455667788);
  writer.i64(-2);
  writer.f64(-0.5);
  writer.string("zyx");
  writer.blob(std::as_bytes(std::span<const char>("\0\1", 2)));
  return writer.take();
}

TEST(BytesTest, RoundTrips) {
  const std::vector<std::byte> bytes = sample();
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u8("a"), 0xfe);
  EXPECT_EQ(reader.u32("b"), 0x01020304u);
  EXPECT_EQ(reader.u64("c"), 0x1122334455667788u);
  EXPECT_EQ(reader.i64("d"), -2);
  EXPECT_EQ(reader.f64("e"), -0.5);
  EXPECT_EQ(reader.string("f"), "zyx");
  EXPECT_EQ(reader.blob("g").size(), 2u);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.status().isOk());
}

TEST(BytesTest, IsLittleEndian) {
  ByteWriter writer;
  writer.u32(0x01020304);
  EXPECT_EQ(writer.view()[0], std::byte(4));
  EXPECT_EQ(writer.view()[3], std::byte(1));
}

TEST(BytesTest, EveryTruncationFails) {
  const std::vector<std::byte> bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader reader{std::span(bytes).first(size)};
    reader.u8("a");
    reader.u32("b");
    reader.u64("c");
    reader.i64("d");
    reader.f64("e");
    reader.string("f");
    reader.blob("g");
    EXPECT_EQ(reader.status().code(), ErrorCode::DataCorruption) << size;
  }
}

TEST(BytesTest, FirstFailureStays) {
  const std::vector<std::byte> bytes(3);
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u32("the version"), 0u);
  EXPECT_EQ(reader.u8("a byte that is there"), 0);
  EXPECT_EQ(reader.status().message(), "truncated: the version needs 4 bytes, 3 are left");
}

TEST(BytesTest, CountsMustFit) {
  ByteWriter writer;
  writer.u64(3);
  writer.u64(0);
  const std::vector<std::byte> bytes = writer.take();
  EXPECT_EQ(ByteReader(bytes).count("names", 2), 3u);
  ByteReader reader(bytes);
  EXPECT_EQ(reader.count("names", 4), 0u);
  EXPECT_THAT(reader.status().message(), HasSubstr("3 entries of names cannot fit in the 8 bytes that are left"));

  ByteWriter huge;
  huge.u64(std::numeric_limits<uint64_t>::max());
  ByteReader hugeReader(huge.view());
  EXPECT_EQ(hugeReader.string("a name"), "");
  EXPECT_FALSE(hugeReader.status().isOk());
}
