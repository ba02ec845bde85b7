//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_TIMELINE_H
#define ZYX_RUNTIME_TIMELINE_H

#include "zyx/Base/Forked.h"
#include "zyx/Base/Status.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace zyx::runtime {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline never = Deadline::max();

/// What a device signals by itself when work that was handed to it is over. Devices that know its kind can wait for
/// it without the host.
class Fence {
public:
  virtual ~Fence() = default;
  /// On the host.
  virtual Status wait() { return Status::unsupported("the host cannot wait for this fence"); }
};

/// A number that only grows, on which the host and devices synchronise. Waiting for a value before
/// anyone promises to signal it is legal. Values that are reached stay reached; once a timeline
/// has failed, all others never will be, and everyone who asks learns the first cause. At its end, what still waits
/// for it fails with Cancelled. A process that was forked since waits for none of them.
class Timeline {
public:
  using Callback = std::function<void(const Status &)>;
  /// Whether somebody waits for the fence by himself. Called on any thread, and must not wait.
  using Take = std::function<bool(const std::shared_ptr<Fence> &)>;

  Timeline() = default;
  Timeline(const Timeline &) = delete;
  ~Timeline();

  uint64_t value() const;
  /// The failure, if there is one.
  Status status() const;
  /// Refuses a value that does not exceed the present one, and failed timelines.
  Status signal(uint64_t value);
  /// The first cause wins.
  void fail(Status cause);
  /// The work that will signal `value` has been handed to a device, where `fence` is behind it. It may fail yet.
  void announce(uint64_t value, std::shared_ptr<Fence> fence);
  /// Waits until `value` is reached; fails with the timeline, or with Timeout at the deadline.
  Status wait(uint64_t value, Deadline deadline = never) const;
  /// Calls back once, with success or the failure: at once on this thread, or later on the one
  /// that signals. No lock is held during the call. With `take`, also once work that signals `value` is announced and
  /// its fence taken: the callback then has success, and the point may fail later.
  void onReach(uint64_t value, Callback callback, Take take = {});

  /// What is known of a value now. Of one that is announced `fence` is set.
  enum class Known : uint8_t { Reached, Announced, Nothing, Failed };
  Known look(uint64_t value, std::shared_ptr<Fence> &fence) const;

private:
  struct Listener {
    Callback callback;
    Take take;
  };
  struct Announcement {
    uint64_t value = 0;
    std::shared_ptr<Fence> fence;
  };

  const ForkMark mark;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  uint64_t reached = 0;
  Status failure;
  std::multimap<uint64_t, Listener> listeners;
  /// The last one, while it is not reached.
  Announcement announced;
};

/// "`timeline` has reached `value`". Without a timeline it is reached.
struct Point {
  std::shared_ptr<Timeline> timeline;
  uint64_t value = 0;

  Status wait(Deadline deadline = never) const { return timeline ? timeline->wait(value, deadline) : Status::ok(); }
  bool isReached() const { return !timeline || timeline->value() >= value; }
  /// Reached, or never to be.
  bool isDecided() const { return isReached() || !timeline->status().isOk(); }
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_TIMELINE_H
