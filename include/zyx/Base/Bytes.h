//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_BYTES_H
#define ZYX_BASE_BYTES_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zyx {

/// Appends little-endian integers, strings and blobs: the one encoding of every format of ours.
class ByteWriter {
public:
  void u8(uint8_t value);
  void u32(uint32_t value);
  void u64(uint64_t value);
  void i64(int64_t value) { u64(static_cast<uint64_t>(value)); }
  void f64(double value);
  /// A u64 length, then the bytes.
  void string(std::string_view value);
  void blob(std::span<const std::byte> value);
  std::vector<std::byte> take() { return std::move(bytes); }
  std::span<const std::byte> view() const { return bytes; }

private:
  std::vector<std::byte> bytes;
};

/// Reads what ByteWriter wrote. Every read is checked against the end; after the first failure
/// all later reads return zero and `status()` tells what was cut.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes(bytes) {}
  uint8_t u8(const char *what);
  uint32_t u32(const char *what);
  uint64_t u64(const char *what);
  int64_t i64(const char *what) { return static_cast<int64_t>(u64(what)); }
  double f64(const char *what);
  std::string string(const char *what);
  std::span<const std::byte> blob(const char *what);
  /// A u64 that counts entries of at least `minBytes` each; fails where they cannot fit.
  uint64_t count(const char *what, uint64_t minBytes = 1);
  size_t remaining() const { return bytes.size() - position; }
  Status status() const { return failure; }

private:
  bool need(size_t size, const char *what);
  std::span<const std::byte> bytes;
  size_t position = 0;
  Status failure;
};

} // namespace zyx

#endif // ZYX_BASE_BYTES_H
