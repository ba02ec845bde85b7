//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "QueueBackend.h"

#include <chrono>

using namespace zyx;
using namespace zyx::runtime;

Result<StreamHandle> QueueBackend::createStream() {
  const std::lock_guard lock(mutex);
  return StreamHandle(++numStreams);
}

Status QueueBackend::synchronize(StreamHandle stream) {
  const Status over = settle();
  const std::lock_guard lock(mutex);
  const Status status = std::exchange(lost[stream], Status::ok());
  ZYX_RETURN_IF_ERROR(status.isOk() ? over : status);
  return takeSaid();
}

Status QueueBackend::record(StreamHandle stream, EventHandle handle) {
  QueuedEvent &event = *objectOf<QueuedEvent>(handle);
  if (event.isTimed)
    ZYX_RETURN_IF_ERROR(stamp(stream, event));
  const std::lock_guard lock(mutex);
  flush();
  ZYX_RETURN_IF_ERROR(std::exchange(lost[stream], Status::ok()));
  event.value = value;
  return Status::ok();
}

Status QueueBackend::stamp(StreamHandle, QueuedEvent &event) {
  const Status status = settle();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  event.nanoseconds = static_cast<uint64_t>(now / std::chrono::nanoseconds(1));
  return status;
}

Result<uint64_t> QueueBackend::elapsed(EventHandle begin, EventHandle end) {
  ZYX_ASSIGN_OR_RETURN(const uint64_t from, stampOf(*objectOf<QueuedEvent>(begin)));
  ZYX_ASSIGN_OR_RETURN(const uint64_t to, stampOf(*objectOf<QueuedEvent>(end)));
  return to > from ? static_cast<uint64_t>(static_cast<double>(to - from) * nanosecondsOfTick) : 0;
}

Status QueueBackend::collect(StreamHandle stream) {
  if (numCommands == mostCommands)
    flush();
  if (numCommands == 0)
    ZYX_RETURN_IF_ERROR(beginList());
  ++numCommands;
  streams.insert(stream);
  return Status::ok();
}

void QueueBackend::flush() {
  if (numCommands == 0)
    return;
  uint64_t next = value + 1;
  const Status status = submitList(next);
  if (status.isOk())
    value = next;
  else
    for (StreamHandle stream : streams)
      lost[stream] = status;
  numCommands = 0;
  streams.clear();
}

void QueueBackend::lose(std::string why) {
  const std::lock_guard lock(saidMutex);
  if (whyLost.empty())
    whyLost = std::move(why);
}

Status QueueBackend::checkLost() const {
  const std::lock_guard lock(saidMutex);
  return whyLost.empty() ? Status::ok() : Status(ErrorCode::DeviceLost, whyLost);
}

void QueueBackend::say(std::string text) {
  const std::lock_guard lock(saidMutex);
  if (said.empty())
    said = std::move(text);
}

Status QueueBackend::takeSaid() {
  const std::lock_guard lock(saidMutex);
  const std::string text = std::exchange(said, "");
  return text.empty() ? Status::ok() : Status::internal(text);
}

Status QueueBackend::settle() {
  std::unique_lock lock(mutex);
  flush();
  const uint64_t handedOver = value;
  lock.unlock();
  return waitFor(handedOver);
}
