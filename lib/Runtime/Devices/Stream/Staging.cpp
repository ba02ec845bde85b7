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
  for (Piece &piece : ring) {
    if (piece.memory)
      context.backend().freeHost(piece.memory);
    if (piece.hasEvent)
      context.backend().destroyEvent(piece.done);
  }
}

Status Staging::open() {
  for (Piece &piece : ring) {
    if (!piece.memory) {
      Result<void *> made = context.backend().allocateHost(bytes);
      ZYX_RETURN_IF_ERROR(context.check(made.status(), "allocate staging memory"));
      piece.memory = *made;
    }
    if (!piece.hasEvent) {
      Result<EventHandle> made = context.backend().createEvent(/*isTimed=*/false);
      ZYX_RETURN_IF_ERROR(context.check(made.status(), "make an event"));
      piece.done = *made;
      piece.hasEvent = true;
    }
  }
  return Status::ok();
}

Status Staging::record(Piece &piece) {
  piece.isInFlight = true;
  return context.check(context.backend().record(stream, piece.done), action);
}

Status Staging::finish(Piece &piece) {
  if (!piece.isInFlight)
    return Status::ok();
  ZYX_RETURN_IF_ERROR(context.check(context.backend().synchronize(piece.done), action));
  piece.isInFlight = false;
  if (!piece.due.empty())
    std::memcpy(piece.due.data(), piece.memory, piece.due.size());
  piece.due = {};
  return Status::ok();
}

template <typename Copy> Status Staging::copyAll(Copy copy) {
  std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(open());
  stream = context.stream(lane);
  Status status = copy();
  for (Piece &piece : ring)
    if (status.isOk())
      status = finish(piece);
  if (!status.isOk()) {
    // What was handed over before a failure still runs, and uses the memory.
    (void)context.backend().synchronize(stream);
    for (Piece &piece : ring) {
      piece.isInFlight = false;
      piece.due = {};
    }
  }
  return status;
}

Status Staging::copyIn(MemoryRef to, std::span<const std::byte> from) {
  for (size_t i = 0; !from.empty(); i = (i + 1) % ring.size()) {
    const size_t size = std::min(bytes, from.size());
    ZYX_RETURN_IF_ERROR(finish(ring[i]));
    std::memcpy(ring[i].memory, from.data(), size);
    ZYX_RETURN_IF_ERROR(context.check(context.backend().upload(stream, to, ring[i].memory, size), action));
    ZYX_RETURN_IF_ERROR(record(ring[i]));
    to.offset += size;
    from = from.subspan(size);
  }
  return Status::ok();
}

Status Staging::copyOut(std::span<std::byte> to, MemoryRef from) {
  for (size_t i = 0; !to.empty(); i = (i + 1) % ring.size()) {
    const size_t size = std::min(bytes, to.size());
    ZYX_RETURN_IF_ERROR(finish(ring[i]));
    ZYX_RETURN_IF_ERROR(context.check(context.backend().download(stream, ring[i].memory, from, size), action));
    ring[i].due = to.first(size);
    ZYX_RETURN_IF_ERROR(record(ring[i]));
    from.offset += size;
    to = to.subspan(size);
  }
  return Status::ok();
}

Status Staging::upload(MemoryRef to, std::span<const std::byte> from) {
  return copyAll([&] { return copyIn(to, from); });
}

Status Staging::download(std::span<std::byte> to, MemoryRef from) {
  return copyAll([&] { return copyOut(to, from); });
}
