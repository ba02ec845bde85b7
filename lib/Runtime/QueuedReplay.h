//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_QUEUEDREPLAY_H
#define ZYX_LIB_RUNTIME_QUEUEDREPLAY_H

#include "zyx/Runtime/Program.h"
#include "zyx/Runtime/Queue.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace zyx::runtime {

/// What becomes of work that waited for what failed.
Status dependencyFailed(const Status &cause);

/// A replay whose submitted runs are work of its device's queue.
class QueuedReplay : public Replay {
public:
  /// The queue outlives the replay.
  QueuedReplay(Queue &queue, std::string name) : name(std::move(name)), queue(queue) {}

  void submit(Part part, std::vector<Point> wait, std::vector<Point> after, Point signal, std::shared_ptr<void> held,
              std::function<void()> skipped) final;

protected:
  using Fences = std::vector<std::shared_ptr<Fence>>;

  /// Says of a fence whether runs can wait for it without the host; none where they can wait for no fence. What is
  /// returned may be asked after the end of the replay.
  virtual std::function<bool(const Fence &)> fenceTest() const { return {}; }
  /// A run on the queue. It may begin behind the fences, which it waits for by itself.
  virtual Status runBehind(Part part, const Fences &fences, const Point &signal) { return run(part, {}); }

  /// Where everything that a run is behind is over, or was handed to a device that runs can wait for: hands it over on
  /// this thread, and leaves only its end to the queue. False where nothing was done.
  virtual bool submitNow(Part part, std::span<const Point> wait, std::span<const Point> after, const Point &signal,
                         std::shared_ptr<void> &held, std::function<void()> &skipped) {
    return false;
  }
  bool isHandedOver() const override;

  /// Of the artifact's entry.
  const std::string name;
  Queue &queue;

private:
  /// Work of the queue that will read what is bound has it, too.
  const std::shared_ptr<int> reads = std::make_shared<int>();
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_QUEUEDREPLAY_H
