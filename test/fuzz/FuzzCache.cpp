//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/Session/Cache.h"

using namespace zyx;

/// Magic of 8 bytes and the version of 4 stand before the checksum.
static constexpr size_t checksumOffset = 12;

static void readEntry(std::span<const std::byte> bytes) {
  Result<session::CacheEntry> entry = session::CacheEntry::deserialize(bytes);
  if (!entry)
    return;
  Result<session::CacheEntry> again = session::CacheEntry::deserialize(entry->serialize());
  fuzz::require(again.isOk() && *again == *entry, "a cache entry changes when it is written again");
}

/// An entry of the cache of artifacts, as it is and with a right checksum.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  readEntry(fuzz::bytesOf(data, size));
  readEntry(fuzz::withHash128(fuzz::bytesOf(data, size), checksumOffset));
  return 0;
}
