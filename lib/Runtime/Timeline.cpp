//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Timeline.h"

#include "zyx/Base/Exceptions.h"
#include "zyx/Base/Interruption.h"

using namespace zyx;
using namespace zyx::runtime;

Timeline::~Timeline() {
  // Who waits is not here, nor who may hold his locks.
  if (mark.isForked())
    return;
  // Nobody else has it any more, and a callback may not come back to it.
  for (const auto &[value, listener] : listeners)
    listener.callback(withoutExceptions([&, wanted = value] {
      return Status(ErrorCode::Cancelled, "nobody is left who could reach " + std::to_string(wanted) +
                                              " on the timeline, which is at " + std::to_string(reached));
    }));
}

uint64_t Timeline::value() const {
  std::lock_guard lock(mutex);
  return reached;
}

Status Timeline::status() const {
  std::lock_guard lock(mutex);
  return failure;
}

Timeline::Known Timeline::look(uint64_t value, std::shared_ptr<Fence> &fence) const {
  std::lock_guard lock(mutex);
  if (reached >= value)
    return Known::Reached;
  if (!failure.isOk())
    return Known::Failed;
  if (!announced.fence || announced.value < value)
    return Known::Nothing;
  fence = announced.fence;
  return Known::Announced;
}

Status Timeline::signal(uint64_t value) {
  // Moved node by node: who tells of an end may have no memory.
  std::multimap<uint64_t, Listener> due;
  Announcement over;
  {
    std::lock_guard lock(mutex);
    if (!failure.isOk())
      return failure;
    if (value <= reached)
      return Status::invalidArgument("the timeline is at " + std::to_string(reached) + " and cannot be signalled to " +
                                     std::to_string(value));
    reached = value;
    auto end = listeners.upper_bound(value);
    while (listeners.begin() != end)
      due.insert(due.end(), listeners.extract(listeners.begin()));
    if (announced.value <= value)
      std::swap(over, announced);
    changed.notify_all();
  }
  for (const auto &[wanted, listener] : due)
    listener.callback(Status::ok());
  return Status::ok();
}

void Timeline::fail(Status cause) {
  std::multimap<uint64_t, Listener> due;
  Announcement over;
  {
    std::lock_guard lock(mutex);
    if (!failure.isOk())
      return;
    failure = cause;
    due.swap(listeners);
    std::swap(over, announced);
    changed.notify_all();
  }
  for (const auto &[value, listener] : due)
    listener.callback(cause);
}

void Timeline::announce(uint64_t value, std::shared_ptr<Fence> fence) {
  std::multimap<uint64_t, Listener> asked;
  {
    std::lock_guard lock(mutex);
    if (!failure.isOk() || value <= reached)
      return;
    announced = {value, fence};
    auto end = listeners.upper_bound(value);
    for (auto it = listeners.begin(); it != end;) {
      if (it->second.take) {
        asked.insert(asked.end(), listeners.extract(it++));
      } else {
        ++it;
      }
    }
  }
  while (!asked.empty()) {
    auto node = asked.extract(asked.begin());
    Listener &listener = node.mapped();
    if (listener.take(fence)) {
      listener.callback(Status::ok());
      continue;
    }
    listener.take = nullptr;
    Status status;
    {
      std::lock_guard lock(mutex);
      if (reached < node.key() && failure.isOk()) {
        listeners.insert(std::move(node));
        continue;
      }
      if (reached < node.key())
        status = failure;
    }
    listener.callback(status);
  }
}

Status Timeline::wait(uint64_t value, Deadline deadline) const {
  if (mark.isForked()) {
    // Who would reach it is not here, nor who may hold the lock.
    std::unique_lock lock(mutex, std::try_to_lock);
    return lock && reached >= value ? Status::ok() : mark.check();
  }
  std::unique_lock lock(mutex);
  auto decided = [&] { return reached >= value || !failure.isOk(); };
  // A deadline of `never` would overflow in the conversion to the system's clock.
  if (const std::function<void()> *look = WatchedWait::current(); look && deadline == never) {
    while (!changed.wait_for(lock, std::chrono::milliseconds(20), decided)) {
      lock.unlock();
      (*look)();
      lock.lock();
    }
  } else if (deadline == never) {
    changed.wait(lock, decided);
  } else {
    changed.wait_until(lock, deadline, decided);
  }
  if (reached >= value)
    return Status::ok();
  if (!failure.isOk())
    return failure;
  return Status(ErrorCode::Timeout, "the timeline is at " + std::to_string(reached) + " and did not reach " +
                                        std::to_string(value) + " in time");
}

void Timeline::onReach(uint64_t value, Callback callback, Take take) {
  Status status;
  std::shared_ptr<Fence> fence;
  {
    std::lock_guard lock(mutex);
    if (reached < value && failure.isOk()) {
      if (take && announced.fence && announced.value >= value) {
        fence = announced.fence;
      } else {
        listeners.emplace(value, Listener{std::move(callback), std::move(take)});
        return;
      }
    }
    if (reached < value)
      status = failure;
  }
  if (fence && !take(fence))
    onReach(value, std::move(callback));
  else
    callback(status);
}
