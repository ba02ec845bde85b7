//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Parker.h"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace zyx::runtime;

uint64_t Parker::now() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel sees the number");

void Parker::sleep() {
  // Whether it was woken, interrupted, or asleep is 0 already: the caller looks again.
  ::syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
}

void Parker::wakeSleeping() {
  asleep.store(0, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}
