//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Queue.h"

#include "QueuedReplay.h"
#include "Thread.h"

#include "zyx/Base/Exceptions.h"
#include "zyx/Base/Forked.h"

#include <deque>

using namespace zyx;
using namespace zyx::runtime;

Status runtime::dependencyFailed(const Status &cause) {
  return Status::aborted("work that this depends on failed").withCause(cause);
}

namespace {

struct Item {
  Work work;
  /// Waits that are not decided yet.
  size_t pending = 0;
  /// Of the first wait that failed.
  Status failure;
  /// Waits that the body's device has taken over.
  std::vector<Point> taken;

  void skip() noexcept {
    if (work.skipped) [[maybe_unused]]
      const Status ended = withoutExceptions([&] {
        work.skipped();
        return Status::ok();
      });
  }
};

/// Shared with the callbacks of points that may outlive the queue.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Item>> items;
  bool stopping = false;

  void loop();
};

/// The host has not waited for what the device waited for by itself. Where such work fails while the body hands its own
/// commands over, the body may fail by it: the first cause is what is told.
Status run(const Item &item) {
  const Status status = item.work.body();
  for (const Point &point : item.taken)
    if (const Status ended = point.wait(); !ended.isOk())
      return dependencyFailed(ended);
  return status;
}

void State::loop() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return items.empty() ? stopping : stopping || items.front()->pending == 0; });
    if (items.empty())
      return;
    std::shared_ptr<Item> item = std::move(items.front());
    items.pop_front();
    const bool cancelled = item->pending != 0;
    const Status failure = item->failure;
    lock.unlock();

    // Nobody is above this thread who could catch what is thrown.
    Status status = withoutExceptions([&]() -> Status {
      if (cancelled)
        return Status(ErrorCode::Cancelled, "the queue was destroyed before the work could start");
      return failure.isOk() ? run(*item) : dependencyFailed(failure);
    });
    if (cancelled || !failure.isOk())
      item->skip();
    // What the work holds goes before anyone learns that it is done.
    item->work.body = nullptr;
    item->work.skipped = nullptr;
    const Point signal = std::move(item->work.signal);
    if (status.isOk())
      status = withoutExceptions([&] { return signal.timeline->signal(signal.value); });
    if (!status.isOk())
      signal.timeline->fail(status);
    // With it goes what it waited for, whose end may call back.
    item.reset();
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
    if (mark.isForked()) {
      // The thread is not here, and what it waits on is no longer to be ended.
      [[maybe_unused]] auto *kept = new std::shared_ptr<State>(std::move(state));
      thread.join();
      return;
    }
    {
      std::lock_guard lock(state->mutex);
      state->stopping = true;
      state->changed.notify_all();
    }
    thread.join();
  }

  void submit(Work work) override;

private:
  const ForkMark mark;
  std::shared_ptr<State> state = std::make_shared<State>();
  Thread thread;
};

void ThreadQueue::submit(Work work) {
  const std::vector<Point> wait = std::move(work.wait), after = std::move(work.after);
  const bool canTake = work.take != nullptr;
  const Point signal = work.signal;
  std::shared_ptr<Item> item;
  // Whoever submits has noted the point already: what is not taken over fails.
  const Status accepted = withoutExceptions([&] {
    ZYX_RETURN_IF_ERROR(mark.check());
    item = std::make_shared<Item>();
    item->work = std::move(work);
    item->pending = wait.size() + after.size();
    std::lock_guard lock(state->mutex);
    state->items.push_back(item);
    state->changed.notify_all();
    return Status::ok();
  });
  if (!accepted.isOk()) {
    // It has moved if there was memory for it.
    if (const auto &skipped = item ? item->work.skipped : work.skipped)
      skipped();
    signal.timeline->fail(accepted);
    return;
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
  // One that cannot be waited for is as bad as one that fails.
  auto listenOrFail = [&](const Point &point, bool mustSucceed) {
    const Status status = withoutExceptions([&] {
      listen(point, mustSucceed);
      return Status::ok();
    });
    if (status.isOk())
      return;
    std::lock_guard lock(state->mutex);
    if (item->failure.isOk())
      item->failure = status;
    --item->pending;
    state->changed.notify_all();
  };
  for (const Point &point : wait)
    listenOrFail(point, true);
  for (const Point &point : after)
    listenOrFail(point, false);
}

} // namespace

Result<std::unique_ptr<Queue>> runtime::createThreadQueue() {
  auto queue = std::make_unique<ThreadQueue>();
  ZYX_RETURN_IF_ERROR(queue->start());
  return std::unique_ptr<Queue>(std::move(queue));
}
