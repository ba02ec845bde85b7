//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StreamGate.h"

#include <atomic>

using namespace zyx;
using namespace zyx::runtime;

static constexpr const char *action = "hold the device's stream";

StreamGate::~StreamGate() {
  open();
  if (word)
    context.backend().freeHost(word);
}

Status StreamGate::close() {
  Result<void *> memory = context.backend().allocateHost(sizeof(*word));
  ZYX_RETURN_IF_ERROR(context.check(memory.status(), action));
  word = static_cast<uint32_t *>(*memory);
  *word = 0;
  ZYX_ASSIGN_OR_RETURN(guard, Thread::start([this] {
                         std::unique_lock lock(mutex);
                         if (!isOver.wait_for(lock, mostTime, [this] { return hasOpened; })) {
                           setWord();
                           wasLate = true;
                         }
                       }));
  return context.check(context.backend().hold(context.stream(), word), action);
}

void StreamGate::open() {
  {
    std::lock_guard lock(mutex);
    if (word)
      setWord();
    hasOpened = true;
  }
  isOver.notify_all();
  guard.join();
}

/// Atomically: the device reads the word meanwhile.
void StreamGate::setWord() { std::atomic_ref(*word).store(1, std::memory_order_release); }
