//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_QUEUE_H
#define ZYX_RUNTIME_QUEUE_H

#include "zyx/Runtime/Timeline.h"

#include <functional>
#include <memory>
#include <span>
#include <thread>

namespace zyx::runtime {

/// A thread that runs submitted work in order. Calls from several threads are safe.
class Queue {
public:
  using Work = std::function<Status()>;

  Queue();
  /// Runs what is submitted and ready; work whose waits are not reached is cancelled.
  ~Queue();

  /// Runs `work` after all earlier work and all of `wait`, then signals. Where a wait or the work
  /// fails, the timeline of `signal` fails instead, and later work goes on.
  void submit(std::span<const Point> wait, Work work, Point signal);

private:
  struct State;
  /// Shared with the callbacks of points that may outlive the queue.
  std::shared_ptr<State> state;
  std::thread thread;
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_QUEUE_H
