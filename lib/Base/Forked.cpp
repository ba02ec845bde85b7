//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Forked.h"

#include "zyx/Base/ProcessMutex.h"

#include <atomic>
#include <pthread.h>

using namespace zyx;

/// Of forks between the first process and this one.
static constinit std::atomic<uint64_t> forks = 0;

/// Before main: inside of a function, a thread could hold the lock of its first call at a fork.
[[maybe_unused]] static const int registered =
    ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

uint64_t ForkMark::now() { return forks.load(std::memory_order_relaxed); }

bool ProcessMutex::lock() {
  const uint64_t own = forks.load(std::memory_order_relaxed) + 1;
  for (;;) {
    uint64_t other = 0;
    if (holder.compare_exchange_strong(other, own, std::memory_order_acquire, std::memory_order_relaxed))
      return true;
    if (other != own)
      return false;
    holder.wait(other, std::memory_order_relaxed);
  }
}

void ProcessMutex::unlock() {
  holder.store(0, std::memory_order_release);
  holder.notify_one();
}

static Status forkedStatus() {
  return Status::unsupported("this process was forked after zyx began, and has none of the threads that zyx began "
                             "with; begin with zyx behind fork(), or run another program");
}

Status ForkMark::check() const { return isForked() ? forkedStatus() : Status::ok(); }

Status ProcessMutex::Guard::check() const { return isHeld ? Status::ok() : forkedStatus(); }
