//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STAGING_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STAGING_H

#include "StreamContext.h"

#include <array>
#include <cstddef>

namespace zyx::runtime {

/// Memory of the host that the device reaches without the driver's help: copies of two halves overlap. One copy at a
/// time, by a thread that has entered the context.
class Staging {
public:
  static constexpr size_t bytes = size_t(4) << 20;

  /// `context` outlives it.
  explicit Staging(StreamContext &context) : context(context) {}
  ~Staging();
  Staging(const Staging &) = delete;

  /// Each returns when all is copied.
  Status upload(MemoryRef to, std::span<const std::byte> from);
  Status download(std::span<std::byte> to, MemoryRef from);

private:
  struct Half {
    void *memory = nullptr;
    EventHandle done{};
    bool hasEvent = false, isInFlight = false;
  };

  Status open();
  Status record(size_t i);
  Status wait(size_t i);

  StreamContext &context;
  std::array<Half, 2> halves;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STAGING_H
