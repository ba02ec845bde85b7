//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Queue.h"

#include "Thread.h"

#include <deque>

using namespace zyx;
using namespace zyx::runtime;

namespace {

struct Item {
  Work work;
  /// Waits that are not decided yet.
  size_t pending = 0;
  /// Of the first wait that failed.
  Status failure;
  /// Waits that the body's device has taken over.
  std::vector<Point> taken;
};

/// Shared with the callbacks of points that may outlive the queue.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Item>> items;
  bool stopping = false;

  void loop();
};

Status dependencyFailed(const Status &cause) {
  return Status::aborted("work that this depends on failed").withCause(cause);
}

/// The host has not waited for what the device waited for by itself.
Status run(const Item &item) {
  ZYX_RETURN_IF_ERROR(item.work.body());
  for (const Point &point : item.taken)
    if (Status status = point.wait(); !status.isOk())
      return dependencyFailed(status);
  return Status::ok();
}

void State::loop() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(
        lock, [&] { return items.empty() ? stopping : stopping || items.front()->pending == 0; });
    if (items.empty())
      return;
    std::shared_ptr<Item> item = std::move(items.front());
    items.pop_front();
    const bool cancelled = item->pending != 0;
    const Status failure = item->failure;
    lock.unlock();

    Status status;
    if (cancelled) {
      status = Status(ErrorCode::Cancelled, "the queue was destroyed before the work could start");
    } else if (!failure.isOk()) {
      status = dependencyFailed(failure);
      if (item->work.skipped)
        item->work.skipped();
    } else {
      status = run(*item);
    }
    // What the work holds goes before anyone learns that it is done.
    item->work.body = nullptr;
    item->work.skipped = nullptr;
    const Point signal = std::move(item->work.signal);
    if (status.isOk())
      status = signal.timeline->signal(signal.value);
    if (!status.isOk())
      signal.timeline->fail(status);
    lock.lock();
  }
}

class ThreadQueue : public Queue {
public:
  Status start() {
    ZYX_ASSIGN_OR_RETURN(thread, Thread::start([state = state] { state->loop(); }));
    return Status::ok();
  }

  ~ThreadQueue() override {
    {
      std::lock_guard lock(state->mutex);
      state->stopping = true;
      state->changed.notify_all();
    }
    thread.join();
  }

  void submit(Work work) override;

private:
  std::shared_ptr<State> state = std::make_shared<State>();
  Thread thread;
};

void ThreadQueue::submit(Work work) {
  auto item = std::make_shared<Item>();
  const std::vector<Point> wait = std::move(work.wait), after = std::move(work.after);
  const bool canTake = work.take != nullptr;
  item->work = std::move(work);
  item->pending = wait.size() + after.size();
  {
    std::lock_guard lock(state->mutex);
    state->items.push_back(item);
    state->changed.notify_all();
  }
  auto listen = [&](const Point &point, bool mustSucceed) {
    auto arrived = [state = state, item, mustSucceed](const Status &status) {
      std::lock_guard lock(state->mutex);
      if (mustSucceed && item->failure.isOk())
        item->failure = status;
      --item->pending;
      state->changed.notify_all();
    };
    // The timeline holds this, and calls it while it lives.
    auto take = [state = state, item, mustSucceed, timeline = std::weak_ptr(point.timeline),
                 value = point.value](const std::shared_ptr<Fence> &fence) {
      std::lock_guard lock(state->mutex);
      const bool isTaken = item->work.take(fence);
      if (isTaken && mustSucceed)
        item->taken.push_back({timeline.lock(), value});
      return isTaken;
    };
    if (!point.timeline)
      arrived(Status::ok());
    else if (canTake)
      point.timeline->onReach(point.value, arrived, take);
    else
      point.timeline->onReach(point.value, arrived);
  };
  for (const Point &point : wait)
    listen(point, true);
  for (const Point &point : after)
    listen(point, false);
}

} // namespace

Result<std::unique_ptr<Queue>> runtime::createThreadQueue() {
  auto queue = std::make_unique<ThreadQueue>();
  ZYX_RETURN_IF_ERROR(queue->start());
  return std::unique_ptr<Queue>(std::move(queue));
}
