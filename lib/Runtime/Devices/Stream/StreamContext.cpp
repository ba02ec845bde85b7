//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StreamContext.h"

#include "zyx/Base/Debug.h"

#include <utility>

using namespace zyx;
using namespace zyx::runtime;

Result<std::shared_ptr<StreamContext>> StreamContext::open(std::unique_ptr<Backend> backend) {
  std::shared_ptr<StreamContext> context(new StreamContext(std::move(backend)));
  ZYX_RETURN_IF_ERROR(context->start());
  return context;
}

Status StreamContext::start() {
  const EnteredContext inside(*this);
  ZYX_RETURN_IF_ERROR(inside.status());
  while (numStreams < numLanes) {
    Result<StreamHandle> made = itsBackend->createStream();
    ZYX_RETURN_IF_ERROR(check(made.status(), "make a stream"));
    streams[numStreams++] = *made;
  }
  return Status::ok();
}

StreamContext::~StreamContext() {
  if (numStreams == 0)
    return;
  const EnteredContext inside(*this);
  for (size_t i = 0; i < numStreams; ++i)
    (void)itsBackend->synchronize(streams[i]);
  while (numStreams > 0)
    itsBackend->destroyStream(streams[--numStreams]);
}

void *StreamContext::share() {
  void *const native = itsBackend->nativeStream(streams[0]);
  isShared = isShared || native;
  return native;
}

EnteredContext::EnteredContext(StreamContext &context) : context(context) {
  const Status status = context.itsBackend->enter();
  isInside = status.isOk();
  {
    std::lock_guard lock(context.mutex);
    entered = context.loss;
  }
  if (entered.isOk())
    entered = context.check(status, "talk to device '", context.name(), "'");
}

EnteredContext::~EnteredContext() {
  if (isInside)
    context.itsBackend->leave();
}

Status StreamContext::refuse(const Status &status, std::initializer_list<std::string_view> action) {
  Status said = status;
  if (action.size() != 0 && status.code() != ErrorCode::Unsupported) {
    std::string text = "cannot ";
    for (std::string_view part : action)
      text += part;
    said = Status(status.code(), text + ": " + status.message());
  }
  if (said.code() != ErrorCode::DeviceLost)
    return said;
  std::lock_guard lock(mutex);
  if (loss.isOk())
    loss = Status(ErrorCode::DeviceLost, "device '" + name() + "' is lost").withCause(said);
  return loss;
}

Status StreamContext::copy(const CopyCommand &copy) {
  const char *action = "copy within the device";
  if (copy.to.address() == copy.from.address())
    return Status::ok();
  if (copy.isApart())
    return check(itsBackend->copy(stream(), copy), action);
  const Result<uint64_t> temporary = itsBackend->allocate(stream(), copy.bytes);
  ZYX_RETURN_IF_ERROR(check(temporary.status(), "allocate memory for a copy"));
  const MemoryRef between{*temporary, 0};
  Status status = check(itsBackend->copy(stream(), {between, copy.from, copy.bytes}), action);
  if (status.isOk())
    status = check(itsBackend->copy(stream(), {copy.to, between, copy.bytes}), action);
  Status freed = check(itsBackend->free(stream(), *temporary), "free memory of a copy");
  return status.isOk() ? freed : status;
}

namespace {

/// Reached when a device's stream has come to where it was recorded.
class StreamFence : public Fence {
public:
  explicit StreamFence(std::shared_ptr<StreamContext> ofContext) : context(std::move(ofContext)) {}
  ~StreamFence() override {
    if (!hasEvent)
      return;
    // Of a device that is lost the driver takes back what it can.
    const EnteredContext inside(*context);
    context->backend().destroyEvent(event);
  }

  Status wait() override {
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    return context->check(context->backend().synchronize(event), "wait for an event");
  }

  const std::shared_ptr<StreamContext> context;
  EventHandle event{};
  bool hasEvent = false;
};

} // namespace

Result<std::shared_ptr<Fence>> StreamContext::record() {
  return itsBackend->hasPeers() || isWatched || isShared ? recordOn(stream()) : std::shared_ptr<Fence>();
}

void StreamContext::noteFlight(const Point &end, uint64_t bytes) {
  const std::lock_guard lock(flightMutex);
  flights.push_back({end, bytes});
  bytesInFlight += bytes;
}

void StreamContext::awaitFlights(uint64_t bytes) {
  const uint64_t most = facts().freeBytes / leastPart;
  for (;;) {
    Point first;
    {
      const std::lock_guard lock(flightMutex);
      for (; !flights.empty() && flights.front().end.isDecided(); flights.pop_front())
        bytesInFlight -= flights.front().bytes;
      if (flights.empty() || (flights.size() < mostFlights && bytesInFlight + bytes <= most))
        return;
      first = flights.front().end;
    }
    (void)first.wait();
  }
}

Result<std::shared_ptr<Fence>> StreamContext::recordNative(void *native) {
  const EnteredContext inside(*this);
  ZYX_RETURN_IF_ERROR(inside.status());
  ZYX_ASSIGN_OR_RETURN(const StreamHandle theirs, itsBackend->adoptStream(native));
  isWatched = true;
  return recordOn(theirs);
}

Status StreamContext::letNativeWait(void *native, const Point &point) {
  ZYX_ASSIGN_OR_RETURN(const StreamHandle theirs, itsBackend->adoptStream(native));
  if (!point.timeline)
    return Status::ok();
  isWatched = true;
  struct Answer {
    Status waits;
    Timeline over;
  };
  const auto answer = std::make_shared<Answer>();
  point.timeline->onReach(
      point.value,
      [answer](const Status &status) {
        const Status &ended = status.isOk() ? answer->waits : status;
        if (ended.isOk())
          (void)answer->over.signal(1);
        else
          answer->over.fail(ended);
      },
      [answer, theirs, self = shared_from_this()](const std::shared_ptr<Fence> &fence) {
        if (!self->canWaitFor(*fence))
          return false;
        answer->waits = self->waitOn(theirs, *fence, "have a stream of the host program wait");
        return true;
      });
  return answer->over.wait(1);
}

Result<std::shared_ptr<Fence>> StreamContext::recordOn(StreamHandle stream) {
  auto fence = std::make_shared<StreamFence>(shared_from_this());
  Result<EventHandle> made = itsBackend->createEvent(/*isTimed=*/false);
  ZYX_RETURN_IF_ERROR(check(made.status(), "make an event"));
  fence->event = *made;
  fence->hasEvent = true;
  ZYX_RETURN_IF_ERROR(check(itsBackend->record(stream, fence->event), "record an event"));
  return std::shared_ptr<Fence>(std::move(fence));
}

bool StreamContext::canWaitFor(const Fence &fence) const {
  const auto *other = dynamic_cast<const StreamFence *>(&fence);
  return other && (other->context.get() == this || itsBackend->isPeer(other->context->backend()));
}

Status StreamContext::wait(Lane lane, const Fence &fence) {
  return waitOn(stream(lane), fence, "wait for another device");
}

Status StreamContext::waitOn(StreamHandle stream, const Fence &fence, const char *action) {
  const EnteredContext inside(*this);
  ZYX_RETURN_IF_ERROR(inside.status());
  return check(itsBackend->wait(stream, static_cast<const StreamFence &>(fence).event), action);
}

Status StreamContext::allow(const StreamContext &reader) {
  if (!reader.itsBackend->isPeer(*itsBackend))
    return Status::unsupported("devices '" + name() + "' and '" + reader.name() + "' are no peers");
  std::lock_guard lock(accessMutex);
  const auto [found, isNew] = readers.try_emplace(reader.name());
  Status &answer = found->second;
  if (!isNew)
    return answer;
  const std::string action = "let device '" + reader.name() + "' reach the memory of device '" + name() + "'";
  answer = itsBackend->allow(*reader.itsBackend);
  if (answer.code() == ErrorCode::DeviceLost)
    answer = check(answer, action);
  if (answer.isOk() || answer.code() == ErrorCode::DeviceLost)
    return answer;
  answer = Status::unsupported("cannot " + action + ": " + answer.message());
  ZYX_DEBUG(Devices,
            "copies from '" + name() + "' to '" + reader.name() + "' go through the host: " + answer.message());
  return answer;
}

Status StreamContext::copyTo(StreamContext &target, MemoryRef to, MemoryRef from, uint64_t bytes) {
  // A device that is lost has no values any more.
  const EnteredContext inside(*this);
  ZYX_RETURN_IF_ERROR(inside.status());
  ZYX_RETURN_IF_ERROR(allow(target));
  const EnteredContext there(target);
  ZYX_RETURN_IF_ERROR(there.status());
  const std::string action = "copy from device '" + name() + "' to device '" + target.name() + "'";
  const StreamHandle stream = target.stream(Lane::Copies);
  ZYX_RETURN_IF_ERROR(target.check(target.itsBackend->copyFromPeer(stream, to, *itsBackend, from, bytes), action));
  return target.synchronize(stream, action);
}

Status StreamContext::trim() {
  for (StreamHandle stream : streams)
    ZYX_RETURN_IF_ERROR(synchronize(stream, "wait for the end of all work"));
  return check(itsBackend->trim(), "give memory back");
}
