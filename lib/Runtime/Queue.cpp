//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Queue.h"

#include <deque>

using namespace zyx;
using namespace zyx::runtime;

namespace {

struct Item {
  Queue::Work work;
  Point signal;
  /// Waits that are not reached yet.
  size_t pending = 0;
  /// Of the first wait that failed.
  Status failure;
};

} // namespace

struct Queue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Item>> items;
  bool stopping = false;

  void loop();
};

void Queue::State::loop() {
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
    if (cancelled)
      status = Status(ErrorCode::Cancelled, "the queue was destroyed before the work could start");
    else if (!failure.isOk())
      status = Status::aborted("work that this depends on failed").withCause(failure);
    else
      status = item->work();
    // What the work holds goes before anyone learns that it is done.
    item->work = nullptr;
    if (status.isOk())
      status = item->signal.timeline->signal(item->signal.value);
    if (!status.isOk())
      item->signal.timeline->fail(status);
    lock.lock();
  }
}

Queue::Queue() : state(std::make_shared<State>()), thread([state = state] { state->loop(); }) {}

Queue::~Queue() {
  {
    std::lock_guard lock(state->mutex);
    state->stopping = true;
    state->changed.notify_all();
  }
  thread.join();
}

void Queue::submit(std::span<const Point> wait, Work work, Point signal) {
  auto item = std::make_shared<Item>();
  item->work = std::move(work);
  item->signal = std::move(signal);
  item->pending = wait.size();
  {
    std::lock_guard lock(state->mutex);
    state->items.push_back(item);
    state->changed.notify_all();
  }
  for (const Point &point : wait) {
    auto arrived = [state = state, item](const Status &status) {
      std::lock_guard lock(state->mutex);
      if (item->failure.isOk())
        item->failure = status;
      --item->pending;
      state->changed.notify_all();
    };
    if (point.timeline)
      point.timeline->onReach(point.value, arrived);
    else
      arrived(Status::ok());
  }
}
