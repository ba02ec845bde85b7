//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Buffers and events of the C surface.
//===----------------------------------------------------------------------===//
#include "Objects.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::c;

static constexpr size_t leastBufferInfo = ZYX_SIZE_UP_TO(zyx_buffer_info, is_host);

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void zyx_event_release(zyx_event *event) {
  // Nobody else can signal it, and who waits may keep its timeline.
  if (event && event->isOwn && !event->mark.isForked() && !event->point.isDecided())
    (void)withoutExceptions([&] {
      event->point.timeline->fail(Status(ErrorCode::Cancelled, "an event was released before it was signalled"));
      return Status::ok();
    });
  delete event;
}

zyx_error *zyx_event_wait(const zyx_event *event, uint64_t nanoseconds) {
  return guard([&] {
    if (!event)
      return Status::ok();
    const auto now = std::chrono::steady_clock::now();
    const uint64_t left = static_cast<uint64_t>((never - now) / std::chrono::nanoseconds(1));
    return event->point.wait(nanoseconds >= left ? never : now + std::chrono::nanoseconds(nanoseconds));
  });
}

zyx_error *zyx_event_poll(const zyx_event *event, int *done) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(done, "done"));
    *done = !event || event->point.isDecided();
    if (!*done || event == nullptr || event->point.isReached())
      return Status::ok();
    return event->point.timeline->status();
  });
}

zyx_error *zyx_event_create(zyx_event **event) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(event, "event"));
    *event = nullptr;
    *event = std::make_unique<zyx_event>(zyx_event{{std::make_shared<Timeline>(), 1}, /*isOwn=*/true, {}}).release();
    return Status::ok();
  });
}

zyx_error *zyx_event_signal(zyx_event *event, zyx_error_code code, const char *message) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(event, "event"));
    if (!event->isOwn)
      return Status::invalidArgument("an event of zyx's own is signalled");
    if (code < ZYX_OK || code > ZYX_INTERNAL)
      return Status::invalidArgument("there is no error code " + std::to_string(code));
    if (event->point.isDecided())
      return Status::invalidArgument("an event that is over is signalled");
    if (code == ZYX_OK)
      return event->point.timeline->signal(event->point.value);
    event->point.timeline->fail(Status(static_cast<ErrorCode>(code), message ? message : "an event has failed"));
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Status c::checkWritable(const zyx_buffer &buffer) {
  if (!buffer.isReadOnly)
    return Status::ok();
  return Status::invalidArgument("the buffer is another library's tensor, which is read-only");
}

zyx_error *zyx_buffer_allocate(zyx_device *device, size_t size, zyx_buffer **buffer) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(buffer, "buffer"));
    *buffer = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(device, "device"));
    auto result = std::make_unique<zyx_buffer>();
    result->device = device->device;
    ZYX_ASSIGN_OR_RETURN(result->buffer, Buffer::allocate(device->device->pool(), size));
    ++device->counters->buffersAllocated;
    *buffer = result.release();
    return Status::ok();
  });
}

void zyx_buffer_release(zyx_buffer *buffer) { delete buffer; }

zyx_error *zyx_buffer_get_info(const zyx_buffer *buffer, zyx_buffer_info *info) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(buffer, "buffer"));
    ZYX_RETURN_IF_ERROR(checkNull(info, "info"));
    ZYX_RETURN_IF_ERROR(checkStruct(info->struct_size, leastBufferInfo, "info"));
    give(info, {0, buffer->buffer->size(), buffer->buffer->handle(), buffer->device->pool()->isHostMemory()});
    return Status::ok();
  });
}

zyx_error *zyx_buffer_write(zyx_buffer *buffer, const void *data, size_t size) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(buffer, "buffer"));
    ZYX_RETURN_IF_ERROR(checkData(data, size));
    ZYX_RETURN_IF_ERROR(checkWritable(*buffer));
    return buffer->buffer->write(asBytes(data, size));
  });
}

zyx_error *zyx_buffer_read(const zyx_buffer *buffer, size_t offset, void *data, size_t size) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(buffer, "buffer"));
    ZYX_RETURN_IF_ERROR(checkData(data, size));
    return buffer->buffer->read(offset, {static_cast<std::byte *>(data), size});
  });
}

zyx_error *zyx_buffer_copy(zyx_buffer *to, const zyx_buffer *from, zyx_event **event) {
  return guard([&] {
    if (event)
      *event = nullptr;
    ZYX_RETURN_IF_ERROR(checkNull(to, "to"));
    ZYX_RETURN_IF_ERROR(checkNull(from, "from"));
    ZYX_RETURN_IF_ERROR(checkWritable(*to));
    if (!event)
      return to->buffer->copyFrom(*from->buffer);
    auto result = std::make_unique<zyx_event>();
    // What is copied onto itself is there when it is.
    if (to->buffer == from->buffer) {
      std::vector<Point> points;
      to->buffer->beforeRead(points);
      result->point = points.front();
    } else if (!to->buffer->ownsMemory() || !from->buffer->ownsMemory()) {
      // No pool of ours has it, by which a queue would copy.
      ZYX_RETURN_IF_ERROR(to->buffer->copyFrom(*from->buffer));
    } else {
      ZYX_ASSIGN_OR_RETURN(result->point, Buffer::copyLater(from->buffer, to->buffer, to->device->queue()));
    }
    *event = result.release();
    return Status::ok();
  });
}

static zyx_error *bind(zyx_executor *executor, size_t index, zyx_buffer *buffer, bool isInput) {
  return guard([&] {
    ZYX_RETURN_IF_ERROR(checkNull(executor, "executor"));
    ZYX_RETURN_IF_ERROR(checkNull(buffer, "buffer"));
    if (!isInput)
      ZYX_RETURN_IF_ERROR(checkWritable(*buffer));
    return isInput ? executor->executor->bindInput(index, buffer->buffer)
                   : executor->executor->bindOutput(index, buffer->buffer);
  });
}

zyx_error *zyx_executor_bind_input(zyx_executor *executor, size_t index, zyx_buffer *buffer) {
  return bind(executor, index, buffer, true);
}

zyx_error *zyx_executor_bind_output(zyx_executor *executor, size_t index, zyx_buffer *buffer) {
  return bind(executor, index, buffer, false);
}
