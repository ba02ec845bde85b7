//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Bytes.h"

#include <bit>

namespace zyx {

void ByteWriter::u8(uint8_t value) { bytes.push_back(static_cast<std::byte>(value)); }

template <typename T> static void append(std::vector<std::byte> &bytes, T value) {
  std::byte encoded[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i)
    encoded[i] = static_cast<std::byte>(value >> (8 * i));
  bytes.insert(bytes.end(), encoded, encoded + sizeof(T));
}

void ByteWriter::u32(uint32_t value) { append(bytes, value); }
void ByteWriter::u64(uint64_t value) { append(bytes, value); }
void ByteWriter::f64(double value) { u64(std::bit_cast<uint64_t>(value)); }

void ByteWriter::string(std::string_view value) { blob(std::as_bytes(std::span(value.data(), value.size()))); }

void ByteWriter::blob(std::span<const std::byte> value) {
  u64(value.size());
  bytes.insert(bytes.end(), value.begin(), value.end());
}

bool ByteReader::need(size_t size, const char *what) {
  if (!failure.isOk())
    return false;
  if (size <= remaining())
    return true;
  failure = Status::dataCorruption("truncated: " + std::string(what) + " needs " + std::to_string(size) + " bytes, " +
                                   std::to_string(remaining()) + " are left");
  return false;
}

uint8_t ByteReader::u8(const char *what) {
  if (!need(1, what))
    return 0;
  return static_cast<uint8_t>(bytes[position++]);
}

uint32_t ByteReader::u32(const char *what) {
  if (!need(4, what))
    return 0;
  uint32_t value = 0;
  for (int shift = 0; shift < 32; shift += 8)
    value |= static_cast<uint32_t>(bytes[position++]) << shift;
  return value;
}

uint64_t ByteReader::u64(const char *what) {
  if (!need(8, what))
    return 0;
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 8)
    value |= static_cast<uint64_t>(bytes[position++]) << shift;
  return value;
}

double ByteReader::f64(const char *what) { return std::bit_cast<double>(u64(what)); }

std::string ByteReader::string(const char *what) {
  const std::span<const std::byte> value = blob(what);
  return std::string(reinterpret_cast<const char *>(value.data()), value.size());
}

std::span<const std::byte> ByteReader::blob(const char *what) {
  const uint64_t size = count(what);
  if (!failure.isOk())
    return {};
  const std::span<const std::byte> value = bytes.subspan(position, size);
  position += size;
  return value;
}

uint64_t ByteReader::count(const char *what, uint64_t minBytes) {
  const uint64_t value = u64(what);
  if (!failure.isOk())
    return 0;
  if (minBytes != 0 && value > remaining() / minBytes) {
    failure = Status::dataCorruption("truncated: " + std::to_string(value) + " entries of " + std::string(what) +
                                     " cannot fit in the " + std::to_string(remaining()) + " bytes that are left");
    return 0;
  }
  return value;
}

} // namespace zyx
