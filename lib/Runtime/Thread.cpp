//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Thread.h"

#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// The stack of a thread: [low, high), empty where it is not known.
struct StackRange {
  uintptr_t low = 0, high = 0;
};

thread_local constinit StackRange ownStack;
thread_local constinit bool isStackKnown = false;

uintptr_t here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

StackRange askForStack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
    return {};
  void *low = nullptr;
  size_t size = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &low, &size) == 0;
  ::pthread_attr_destroy(&attributes);
  const auto address = reinterpret_cast<uintptr_t>(low);
  return known ? StackRange{address, address + size} : StackRange{};
}

} // namespace

size_t runtime::stackRoom() {
  if (!isStackKnown) {
    ownStack = askForStack();
    isStackKnown = true;
  }
  const uintptr_t at = here();
  return at >= ownStack.low && at < ownStack.high ? at - ownStack.low : SIZE_MAX;
}

namespace {
/// As the system calls have it, in its first version. The library has no declaration.
struct SchedulingAttributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
} // namespace

void runtime::wakeSoon() {
  SchedulingAttributes attributes{};
  // What else was chosen for this thread stays: policies of another kind have no slice.
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0 || attributes.policy != SCHED_OTHER)
    return;
  attributes.size = sizeof(attributes);
  attributes.runtime = sliceNanoseconds;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static void *runBody(void *context) {
  // Asking would allocate in the middle of the first run.
  ownStack = {here() - threadStackBytes + threadStackBytes / 8, here() + 1};
  isStackKnown = true;
  std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()> *>(context));
  (*body)();
  return nullptr;
}

Result<Thread> Thread::start(std::function<void()> body) {
  auto context = std::make_unique<std::function<void()>>(std::move(body));
  Thread thread;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, threadStackBytes);
  const int error = ::pthread_create(&thread.handle, &attributes, runBody, context.get());
  ::pthread_attr_destroy(&attributes);
  if (error != 0)
    return Status::outOfMemory("cannot start a thread: " + std::string(std::strerror(error)));
  [[maybe_unused]] auto *owned = context.release();
  thread.running = true;
  return thread;
}

void Thread::join() {
  if (std::exchange(running, false) && !mark.isForked())
    ::pthread_join(handle, nullptr);
}
