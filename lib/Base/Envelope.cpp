//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Envelope.h"

#include "zyx/Base/Hash.h"

#include <algorithm>

namespace zyx {

/// The 64-bit sum is one number, the other one two.
static Hash128 sumUp(Envelope::Checksum checksum, std::span<const std::byte> contents) {
  return checksum == Envelope::Checksum::Bits64 ? Hash128{hash64(contents), 0} : hashBytes(contents);
}

std::vector<std::byte> Envelope::seal(std::span<const std::byte> contents) const {
  ByteWriter whole;
  for (char c : mark)
    whole.u8(static_cast<uint8_t>(c));
  whole.u32(version);
  const Hash128 sum = sumUp(checksum, contents);
  whole.u64(sum.high);
  if (checksum == Checksum::Bits128)
    whole.u64(sum.low);
  std::vector<std::byte> bytes = whole.take();
  bytes.insert(bytes.end(), contents.begin(), contents.end());
  return bytes;
}

Envelope::Opened Envelope::open(std::span<const std::byte> bytes) const {
  Opened opened;
  ByteReader from(bytes);
  for (size_t i = 0; i < std::min(mark.size(), bytes.size()); ++i)
    if (from.u8("the mark") != static_cast<uint8_t>(mark[i])) {
      opened.state = State::OtherMark;
      return opened;
    }
  if (bytes.size() < mark.size())
    from.u8("the mark");
  opened.version = from.u32("the version");
  Hash128 sum{from.u64("the checksum"), 0};
  if (checksum == Checksum::Bits128)
    sum.low = from.u64("the checksum");
  opened.cut = from.status();
  if (!opened.cut.isOk()) {
    opened.state = State::Cut;
    return opened;
  }
  opened.contents = bytes.last(from.remaining());
  if (opened.version > version || opened.version < (oldest ? oldest : version))
    opened.state = State::OtherVersion;
  else if (sumUp(checksum, opened.contents) != sum)
    opened.state = State::Damaged;
  return opened;
}

} // namespace zyx
