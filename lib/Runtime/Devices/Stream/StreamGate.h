//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMGATE_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMGATE_H

#include "../../Thread.h"
#include "StreamContext.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace zyx::runtime {

/// A word of the host that the device's stream waits for, so that it begins with what is behind it when all is handed
/// over. Nothing that waits for the device may happen while it is closed. Another thread, of a library that uses the
/// same device, may do so, and have what we need to go on: after a time the gate opens by itself. It may be closed
/// again once the stream is past it.
class StreamGate {
public:
  /// By a thread that has entered the context, which outlives it.
  explicit StreamGate(StreamContext &context) : context(context) {}
  ~StreamGate();
  StreamGate(const StreamGate &) = delete;

  static constexpr std::chrono::seconds mostTime{1};
  /// Commands that wait behind a gate, at most: where the driver's queue is full, a launch waits for the device, which
  /// would wait for us.
  static constexpr size_t mostCommands = 256;

  Status close();
  void open();
  /// Notes what is handed over, and opens where that is much.
  void count(size_t commands) {
    numCommands += commands;
    if (numCommands >= mostCommands)
      open();
  }
  /// Whether it has ever opened by itself, before all was behind it.
  bool isLate() const { return wasLate; }

private:
  void setWord();
  /// Opens a gate that nobody opens, as long as there is this one.
  void watch();

  StreamContext &context;
  /// Memory that a driver takes long to make, as the thread is: both are made once.
  uint32_t *word = nullptr;
  Thread guard;
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = true, isOver = false, wasLate = false;
  uint64_t numClosings = 0;
  std::chrono::steady_clock::time_point latest;
  size_t numCommands = 0;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMGATE_H
