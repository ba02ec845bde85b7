//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "QueuedReplay.h"

#include <atomic>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;

void QueuedReplay::submit(Part part, std::vector<Point> wait, std::vector<Point> after, Point signal,
                          std::shared_ptr<void> held, std::function<void()> skipped) {
  if (submitNow(part, wait, after, signal, held, skipped))
    return;
  auto fences = std::make_shared<Fences>();
  Work work;
  work.body = [this, part, signal, fences, skipped, held = std::move(held), reads = reads] {
    const Status status = runBehind(part, std::exchange(*fences, {}), signal);
    if (!status.isOk() && !begun && skipped)
      skipped();
    return status;
  };
  work.skipped = std::move(skipped);
  work.wait = std::move(wait);
  work.after = std::move(after);
  work.signal = std::move(signal);
  work.name = name;
  if (auto canWaitFor = fenceTest())
    work.take = [canWaitFor = std::move(canWaitFor), fences](const std::shared_ptr<Fence> &fence) {
      const bool isTaken = canWaitFor(*fence);
      if (isTaken)
        fences->push_back(fence);
      return isTaken;
    };
  queue.submit(std::move(work));
}

bool QueuedReplay::isHandedOver() const {
  const bool isAlone = reads.use_count() == 1;
  std::atomic_thread_fence(std::memory_order_acquire);
  return isAlone;
}
