//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Interruption.h"

#include <atomic>

using namespace zyx;

namespace {
/// How often loops were interrupted. It orders no other memory: a loop that sees it a trip later ends a trip later.
std::atomic<uint64_t> interruptions = 0;
thread_local const std::function<void()> *looks = nullptr;
} // namespace

void zyx::interruptLoops() { interruptions.fetch_add(1, std::memory_order_relaxed); }

LoopInterruption::LoopInterruption() : begun(interruptions.load(std::memory_order_relaxed)) {}

bool LoopInterruption::isSet() const { return interruptions.load(std::memory_order_relaxed) != begun; }

Status LoopInterruption::status() { return Status(ErrorCode::Cancelled, "a loop was interrupted"); }

WatchedWait::WatchedWait(const std::function<void()> &look) : before(looks) {
  if (look)
    looks = &look;
}

WatchedWait::~WatchedWait() { looks = before; }

const std::function<void()> *WatchedWait::current() { return looks; }
