//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_QUEUE_H
#define ZYX_RUNTIME_QUEUE_H

#include "zyx/Runtime/Timeline.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zyx::runtime {

/// Bytes [begin, end) of a pool of host memory that a piece of work reads or writes.
struct Access {
  uint64_t begin = 0, end = 0;
  bool isWrite = false;
};

/// What a queue runs, and what must be over before.
struct Work {
  /// Runs on a thread of the queue, holding no lock.
  std::function<Status()> body;
  /// Reached before the body runs. Where one fails, the body does not run, and `signal` fails with
  /// that cause.
  std::vector<Point> wait;
  /// Reached or failed before the body runs: earlier users of memory that is used again.
  std::vector<Point> after;
  /// Reached when the body has succeeded. Where it has not, the timeline fails.
  Point signal;
  /// For messages.
  std::string name;
  /// All memory that the body touches; devices that check the order look at it.
  std::vector<Access> accesses;
  /// Whether the body has its device wait for a fence, so that it may begin when what it waits for has been handed to
  /// another device. Where that fails after all, `signal` fails with that cause, and the body has run in vain.
  Timeline::Take take = {};
  /// Called instead of the body where a wait failed, before `signal` does.
  std::function<void()> skipped = {};
};

/// Runs submitted work. The order between two pieces of work is that of their points and nothing
/// else: they may overlap or change places, though a queue may also run one after the other. So
/// what work waits for must be promised by other means than later work of the same queue. Calls
/// from several threads are safe.
class Queue {
public:
  /// Runs what is submitted and ready; work whose waits are not reached is cancelled.
  virtual ~Queue() = default;
  virtual void submit(Work work) = 0;
};

/// A thread that runs its work one by one.
Result<std::unique_ptr<Queue>> createThreadQueue();

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_QUEUE_H
