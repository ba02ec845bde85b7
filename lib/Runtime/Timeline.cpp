//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Timeline.h"

using namespace zyx;
using namespace zyx::runtime;

uint64_t Timeline::value() const {
  std::lock_guard lock(mutex);
  return reached;
}

Status Timeline::status() const {
  std::lock_guard lock(mutex);
  return failure;
}

Status Timeline::signal(uint64_t value) {
  std::vector<Listener> due;
  Announcement over;
  {
    std::lock_guard lock(mutex);
    if (!failure.isOk())
      return failure;
    if (value <= reached)
      return Status::invalidArgument("the timeline is at " + std::to_string(reached) +
                                     " and cannot be signalled to " + std::to_string(value));
    reached = value;
    auto end = listeners.upper_bound(value);
    for (auto it = listeners.begin(); it != end; ++it)
      due.push_back(std::move(it->second));
    listeners.erase(listeners.begin(), end);
    if (announced.value <= value)
      std::swap(over, announced);
    changed.notify_all();
  }
  for (const Listener &listener : due)
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
  std::vector<std::pair<uint64_t, Listener>> asked;
  {
    std::lock_guard lock(mutex);
    if (!failure.isOk() || value <= reached)
      return;
    announced = {value, fence};
    auto end = listeners.upper_bound(value);
    for (auto it = listeners.begin(); it != end;) {
      if (it->second.take) {
        asked.emplace_back(it->first, std::move(it->second));
        it = listeners.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (auto &[wanted, listener] : asked) {
    if (listener.take(fence))
      listener.callback(Status::ok());
    else
      onReach(wanted, std::move(listener.callback));
  }
}

Status Timeline::wait(uint64_t value, Deadline deadline) const {
  std::unique_lock lock(mutex);
  auto decided = [&] { return reached >= value || !failure.isOk(); };
  // A deadline of `never` would overflow in the conversion to the system's clock.
  if (deadline == never)
    changed.wait(lock, decided);
  else
    changed.wait_until(lock, deadline, decided);
  if (reached >= value)
    return Status::ok();
  if (!failure.isOk())
    return failure;
  return Status(ErrorCode::Timeout, "the timeline is at " + std::to_string(reached) +
                                        " and did not reach " + std::to_string(value) + " in time");
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
