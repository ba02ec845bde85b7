//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Ends loops of programs that run: data may say that one has no end, and whoever waits for it may be interrupted.
#ifndef ZYX_BASE_INTERRUPTION_H
#define ZYX_BASE_INTERRUPTION_H

#include "zyx/Base/Status.h"

#include <cstdint>
#include <functional>

namespace zyx {

/// Those loops that run now and that a condition ends end before their next trip, and their runs fail with
/// ErrorCode::Cancelled. Others come to their end, and runs that begin later are not touched. Safe on any thread.
void interruptLoops();

/// Of a run: whether loops were interrupted since it began.
class LoopInterruption {
public:
  LoopInterruption();
  bool isSet() const;
  /// What the run fails with.
  static Status status();

private:
  uint64_t begun;
};

/// While it lives, a wait of this thread for a run calls `look` each 20 ms. Whoever has one holds no lock that `look`
/// may need. `look` outlives it, and may be empty.
class WatchedWait {
public:
  explicit WatchedWait(const std::function<void()> &look);
  ~WatchedWait();
  WatchedWait(const WatchedWait &) = delete;
  WatchedWait &operator=(const WatchedWait &) = delete;

  /// What a wait of this thread calls, or null.
  static const std::function<void()> *current();

private:
  const std::function<void()> *const before;
};

} // namespace zyx

#endif // ZYX_BASE_INTERRUPTION_H
