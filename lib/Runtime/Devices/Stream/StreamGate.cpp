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
  {
    std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  guard.join();
  if (word)
    context.backend().freeHost(word);
}

Status StreamGate::close() {
  if (!word) {
    Result<void *> memory = context.backend().allocateHost(sizeof(*word));
    ZYX_RETURN_IF_ERROR(context.check(memory.status(), action));
    word = static_cast<uint32_t *>(*memory);
    ZYX_ASSIGN_OR_RETURN(guard, Thread::start([this] { watch(); }));
  }
  {
    std::lock_guard lock(mutex);
    *word = 0;
    isOpen = false;
    numCommands = 0;
    ++numClosings;
    latest = std::chrono::steady_clock::now() + mostTime;
  }
  changed.notify_all();
  return context.check(context.backend().hold(context.stream(), word), action);
}

void StreamGate::open() {
  {
    std::lock_guard lock(mutex);
    if (word)
      setWord();
    isOpen = true;
  }
  changed.notify_all();
}

void StreamGate::watch() {
  std::unique_lock lock(mutex);
  while (!isOver) {
    changed.wait(lock, [this] { return isOver || !isOpen; });
    const uint64_t its = numClosings;
    if (isOver || changed.wait_until(lock, latest, [&] { return isOver || isOpen || numClosings != its; }))
      continue;
    setWord();
    isOpen = wasLate = true;
  }
}

/// Atomically: the device reads the word meanwhile.
void StreamGate::setWord() { std::atomic_ref(*word).store(1, std::memory_order_release); }
