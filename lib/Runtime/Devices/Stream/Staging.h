//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STAGING_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STAGING_H

#include "StreamContext.h"

#include <array>
#include <cstddef>
#include <mutex>

namespace zyx::runtime {

/// A ring of pieces of the host's memory that the device reaches without the driver's help, for the copies of one lane:
/// the device copies some while the host copies the next. One copy at a time; the others wait. Calls come from threads
/// that have entered the context.
class Staging {
public:
  /// Of a piece.
  static constexpr size_t bytes = size_t(2) << 20;

  /// `context` outlives it.
  Staging(StreamContext &context, Lane lane) : context(context), lane(lane) {}
  ~Staging();
  Staging(const Staging &) = delete;

  /// Each returns when all is copied, or no copy is at work any more.
  Status upload(MemoryRef to, std::span<const std::byte> from);
  Status download(std::span<std::byte> to, MemoryRef from);

private:
  struct Piece {
    void *memory = nullptr;
    EventHandle done{};
    bool hasEvent = false, isInFlight = false;
    /// Of a download: where what it holds goes.
    std::span<std::byte> due;
  };

  Status open();
  template <typename Copy> Status copyAll(Copy copy);
  Status copyIn(MemoryRef to, std::span<const std::byte> from);
  Status copyOut(std::span<std::byte> to, MemoryRef from);
  Status record(Piece &piece);
  /// Until the piece can be used again.
  Status finish(Piece &piece);

  StreamContext &context;
  const Lane lane;
  std::mutex mutex;
  /// During a copy.
  StreamHandle stream{};
  std::array<Piece, 4> ring;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STAGING_H
