//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMHANDOVER_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMHANDOVER_H

#include "StreamContext.h"

#include "zyx/Runtime/Queue.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace zyx::runtime {

/// A run that may be handed over: what it is behind, as in Work, and the bytes of its outputs.
struct Handover {
  const std::string &name;
  std::span<const Point> wait, after;
  const Point &signal;
  uint64_t outputBytes;
};

/// Puts a run on the stream of runs from this thread, where all that it is behind is over, or is work for which the
/// device can wait. The queue waits for its end, lets go of `held` and tells it. False where nothing was done. `run`
/// puts the commands there; where that fails `failed` is called before `signal` fails.
bool handOver(const std::shared_ptr<StreamContext> &context, Queue &queue, const Handover &what,
              std::shared_ptr<void> &held, const std::function<Status()> &run, const std::function<void()> &failed);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_STREAMHANDOVER_H
