//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Staging.h"

#include <algorithm>
#include <cstring>

using namespace zyx;
using namespace zyx::runtime;

static constexpr const char *action = "copy between the host and the device";

Staging::~Staging() {
  // Of a device that is lost the driver takes back what it can.
  const EnteredContext inside(context);
  for (Half &half : halves) {
    if (half.memory)
      context.backend().freeHost(half.memory);
    if (half.hasEvent)
      context.backend().destroyEvent(half.done);
  }
}

Status Staging::open() {
  for (Half &half : halves) {
    if (!half.memory) {
      Result<void *> made = context.backend().allocateHost(bytes);
      ZYX_RETURN_IF_ERROR(context.check(made.status(), "allocate staging memory"));
      half.memory = *made;
    }
    if (!half.hasEvent) {
      Result<EventHandle> made = context.backend().createEvent(/*isTimed=*/true);
      ZYX_RETURN_IF_ERROR(context.check(made.status(), "make an event"));
      half.done = *made;
      half.hasEvent = true;
    }
  }
  return Status::ok();
}

Status Staging::record(size_t i) {
  halves[i].isInFlight = true;
  return context.check(context.backend().record(context.stream(), halves[i].done), action);
}

Status Staging::wait(size_t i) {
  if (!halves[i].isInFlight)
    return Status::ok();
  halves[i].isInFlight = false;
  return context.check(context.backend().synchronize(halves[i].done), action);
}

Status Staging::upload(MemoryRef to, std::span<const std::byte> from) {
  ZYX_RETURN_IF_ERROR(open());
  for (size_t i = 0; !from.empty(); i ^= 1) {
    const size_t size = std::min(bytes, from.size());
    ZYX_RETURN_IF_ERROR(wait(i));
    std::memcpy(halves[i].memory, from.data(), size);
    ZYX_RETURN_IF_ERROR(context.check(context.backend().upload(context.stream(), to, halves[i].memory, size), action));
    ZYX_RETURN_IF_ERROR(record(i));
    to.offset += size;
    from = from.subspan(size);
  }
  for (size_t i : {0, 1})
    ZYX_RETURN_IF_ERROR(wait(i));
  return Status::ok();
}

Status Staging::download(std::span<std::byte> to, MemoryRef from) {
  ZYX_RETURN_IF_ERROR(open());
  // What each half holds, and where it goes.
  std::array<std::span<std::byte>, 2> due;
  for (size_t i = 0;; i ^= 1) {
    if (!due[i].empty()) {
      ZYX_RETURN_IF_ERROR(wait(i));
      std::memcpy(due[i].data(), halves[i].memory, due[i].size());
      due[i] = {};
    }
    if (to.empty()) {
      if (due[i ^ 1].empty())
        return Status::ok();
      continue;
    }
    due[i] = to.first(std::min(bytes, to.size()));
    ZYX_RETURN_IF_ERROR(
        context.check(context.backend().download(context.stream(), halves[i].memory, from, due[i].size()), action));
    ZYX_RETURN_IF_ERROR(record(i));
    from.offset += due[i].size();
    to = to.subspan(due[i].size());
  }
}
