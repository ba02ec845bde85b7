//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs without a thread between the caller and the device: threads that wake up for one another cost more than many a
// run.
//===----------------------------------------------------------------------===//
#include "StreamHandover.h"

#include "../../QueuedReplay.h"

#include "zyx/Base/Exceptions.h"

#include <utility>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// What the queue has of a run that goes on.
struct End {
  std::shared_ptr<Fence> fence = {};
  /// Points for whose fences the device waits; the run has failed where one of them fails.
  std::vector<Point> taken = {};
  std::shared_ptr<void> held = {};

  Status wait() const {
    ZYX_RETURN_IF_ERROR(fence->wait());
    for (const Point &point : taken)
      if (const Status status = point.wait(); !status.isOk())
        return dependencyFailed(status);
    return Status::ok();
  }
};

} // namespace

/// Whether a point is over, or the device can wait for it, which then has a fence for that.
static bool take(const StreamContext &context, const Point &point, bool mustSucceed,
                 std::vector<std::shared_ptr<Fence>> &fences, std::vector<Point> &taken) {
  std::shared_ptr<Fence> fence;
  const Timeline::Known known = point.timeline ? point.timeline->look(point.value, fence) : Timeline::Known::Reached;
  if (known == Timeline::Known::Reached || (known == Timeline::Known::Failed && !mustSucceed))
    return true;
  if (known != Timeline::Known::Announced || !context.canWaitFor(*fence))
    return false;
  fences.push_back(std::move(fence));
  if (mustSucceed)
    taken.push_back(point);
  return true;
}

bool runtime::handOver(const std::shared_ptr<StreamContext> &context, Queue &queue, const Handover &what,
                       std::shared_ptr<void> &held, const std::function<Status()> &run,
                       const std::function<void()> &failed) {
  auto end = std::make_shared<End>();
  std::vector<std::shared_ptr<Fence>> fences;
  for (const Point &point : what.wait)
    if (!take(*context, point, /*mustSucceed=*/true, fences, end->taken))
      return false;
  for (const Point &point : what.after)
    if (!take(*context, point, /*mustSucceed=*/false, fences, end->taken))
      return false;
  // Behind the first command nothing may fail but commands.
  Work work;
  work.name = what.name;
  work.signal = what.signal;
  work.body = [end] { return end->wait(); };
  const EnteredContext inside(*context);
  Status status = inside.status();
  for (const std::shared_ptr<Fence> &fence : fences)
    if (status.isOk())
      status = context->wait(Lane::Runs, *fence);
  if (status.isOk())
    status = run();
  if (status.isOk())
    status = withoutExceptions([&]() -> Status {
      ZYX_ASSIGN_OR_RETURN(end->fence, context->record());
      context->noteFlight(what.signal, what.outputBytes);
      return Status::ok();
    });
  if (!status.isOk()) {
    // What was handed over before a failure still runs, and uses the memory.
    if (inside.status().isOk())
      (void)context->backend().synchronize(context->stream());
    failed();
    held = nullptr;
    what.signal.timeline->fail(status);
    return true;
  }
  end->held = std::move(held);
  what.signal.timeline->announce(what.signal.value, end->fence);
  end = nullptr;
  queue.submit(std::move(work));
  return true;
}
