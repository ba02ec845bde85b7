//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Thread.h"

#include <cstring>

using namespace zyx;
using namespace zyx::runtime;

static void *runBody(void *context) {
  std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()> *>(context));
  (*body)();
  return nullptr;
}

Result<Thread> Thread::start(std::function<void()> body) {
  auto context = std::make_unique<std::function<void()>>(std::move(body));
  Thread thread;
  if (const int error = ::pthread_create(&thread.handle, nullptr, runBody, context.get()))
    return Status::outOfMemory("cannot start a thread: " + std::string(std::strerror(error)));
  [[maybe_unused]] auto *owned = context.release();
  thread.running = true;
  return thread;
}

void Thread::join() {
  if (std::exchange(running, false))
    ::pthread_join(handle, nullptr);
}
