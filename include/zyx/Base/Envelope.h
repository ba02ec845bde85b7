//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_ENVELOPE_H
#define ZYX_BASE_ENVELOPE_H

#include "zyx/Base/Bytes.h"

namespace zyx {

/// How the byte forms of ours begin: a mark, a u32 version, and an XXH3 checksum of all that
/// follows, the contents.
struct Envelope {
  enum class Checksum : uint8_t { Bits64, Bits128 };

  /// Bytes that no other form begins with.
  std::string_view mark;
  uint32_t version = 0;
  Checksum checksum = Checksum::Bits128;
  /// The oldest version that is opened too; 0 for none but `version`.
  uint32_t oldest = 0;

  enum class State : uint8_t { Whole, Cut, OtherMark, OtherVersion, Damaged };
  struct Opened {
    /// The first of them that holds; `Damaged` where the contents have another checksum.
    State state = State::Whole;
    /// Where it is `Cut`, what is missing.
    Status cut;
    /// That of the bytes.
    uint32_t version = 0;
    /// All behind the checksum, right or not; empty where bytes are cut or have another mark.
    std::span<const std::byte> contents;
  };

  /// The contents behind their mark, version and checksum.
  std::vector<std::byte> seal(std::span<const std::byte> contents) const;
  /// The result views `bytes`.
  Opened open(std::span<const std::byte> bytes) const;
};

} // namespace zyx

#endif // ZYX_BASE_ENVELOPE_H
