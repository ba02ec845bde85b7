//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Forked.h"

#include <atomic>
#include <pthread.h>

using namespace zyx;

/// Of forks between the first process and this one.
static constinit std::atomic<uint64_t> forks = 0;

uint64_t ForkMark::now() {
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  return forks.load(std::memory_order_relaxed);
}

Status ForkMark::check() const {
  if (!isForked())
    return Status::ok();
  return Status::unsupported("this process was forked after zyx began, and has none of the threads that zyx began "
                             "with; begin with zyx behind fork(), or run another program");
}
