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
  std::vector<Callback> due;
  {
    std::lock_guard lock(mutex);
    if (!failure.isOk())
      return failure;
    if (value <= reached)
      return Status::invalidArgument("the timeline is at " + std::to_string(reached) +
                                     " and cannot be signalled to " + std::to_string(value));
    reached = value;
    auto end = callbacks.upper_bound(value);
    for (auto it = callbacks.begin(); it != end; ++it)
      due.push_back(std::move(it->second));
    callbacks.erase(callbacks.begin(), end);
    changed.notify_all();
  }
  for (const Callback &callback : due)
    callback(Status::ok());
  return Status::ok();
}

void Timeline::fail(Status cause) {
  std::multimap<uint64_t, Callback> due;
  {
    std::lock_guard lock(mutex);
    if (!failure.isOk())
      return;
    failure = cause;
    due.swap(callbacks);
    changed.notify_all();
  }
  for (const auto &[value, callback] : due)
    callback(cause);
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

void Timeline::onReach(uint64_t value, Callback callback) {
  Status status;
  {
    std::lock_guard lock(mutex);
    if (reached < value && failure.isOk()) {
      callbacks.emplace(value, std::move(callback));
      return;
    }
    if (reached < value)
      status = failure;
  }
  callback(status);
}
