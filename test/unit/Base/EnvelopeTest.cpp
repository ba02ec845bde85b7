//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Envelope.h"

#include <gtest/gtest.h>

using namespace zyx;
using State = Envelope::State;

static constexpr Envelope narrow{"ZYXT", 3, Envelope::Checksum::Bits64};
static constexpr Envelope wide{"\x7fZYXTEST", 0x01020304, Envelope::Checksum::Bits128};

static std::vector<std::byte> contents() {
  ByteWriter writer;
  writer.string("what is sealed");
  return writer.take();
}

static std::string toHex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte byte : bytes)
    for (int nibble : {std::to_integer<int>(byte) >> 4, std::to_integer<int>(byte) & 15})
      text += "0123456789abcdef"[nibble];
  return text;
}

TEST(EnvelopeTest, GivesBackWhatWasSealed) {
  for (const Envelope &envelope : {narrow, wide})
    for (const std::vector<std::byte> &inside : {contents(), std::vector<std::byte>()}) {
      const std::vector<std::byte> bytes = envelope.seal(inside);
      const Envelope::Opened opened = envelope.open(bytes);
      EXPECT_EQ(opened.state, State::Whole);
      EXPECT_EQ(toHex(opened.contents), toHex(inside));
    }
}

// Files that were written before have these bytes.
TEST(EnvelopeTest, HasTheseBytes) {
  const std::byte one[] = {std::byte(1)};
  EXPECT_EQ(toHex(narrow.seal(one)), "5a59585403000000ebce86ebd2f92ee101");
  EXPECT_EQ(toHex(wide.seal(one)), "7f5a5958544553540403020105558391445a0251ebce86ebd2f92ee101");
}

TEST(EnvelopeTest, EveryTruncationOfTheHeaderIsCut) {
  for (const Envelope &envelope : {narrow, wide}) {
    const std::vector<std::byte> bytes = envelope.seal({});
    for (size_t size = 0; size < bytes.size(); ++size) {
      const Envelope::Opened opened = envelope.open(std::span(bytes).first(size));
      EXPECT_EQ(opened.state, State::Cut) << size;
      EXPECT_EQ(opened.cut.code(), ErrorCode::DataCorruption) << size;
    }
  }
}

TEST(EnvelopeTest, EveryChangedByteIsSeen) {
  for (const Envelope &envelope : {narrow, wide}) {
    std::vector<std::byte> bytes = envelope.seal(contents());
    for (size_t at = 0; at < bytes.size(); ++at) {
      bytes[at] ^= std::byte(0x40);
      const State expected = at < envelope.mark.size()       ? State::OtherMark
                             : at < envelope.mark.size() + 4 ? State::OtherVersion
                                                             : State::Damaged;
      EXPECT_EQ(envelope.open(bytes).state, expected) << at;
      bytes[at] ^= std::byte(0x40);
    }
    bytes.push_back(std::byte(0));
    EXPECT_EQ(envelope.open(bytes).state, State::Damaged);
    bytes.resize(bytes.size() - 2);
    EXPECT_EQ(envelope.open(bytes).state, State::Damaged);
  }
}

// A reader of another version may say which one, and who wrote it.
TEST(EnvelopeTest, ShowsContentsOfAnotherVersion) {
  Envelope later = wide;
  later.version = 7;
  const std::vector<std::byte> bytes = later.seal(contents());
  const Envelope::Opened opened = wide.open(bytes);
  EXPECT_EQ(opened.state, State::OtherVersion);
  EXPECT_EQ(opened.version, 7u);
  EXPECT_EQ(toHex(opened.contents), toHex(contents()));
}

TEST(EnvelopeTest, BytesOfAnotherKindAreNotCut) {
  const std::string_view text = "ZYZ";
  EXPECT_EQ(narrow.open(std::as_bytes(std::span(text))).state, State::OtherMark);
}
