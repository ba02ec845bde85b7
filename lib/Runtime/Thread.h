//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_THREAD_H
#define ZYX_LIB_RUNTIME_THREAD_H

#include "zyx/Base/Status.h"

#include <functional>
#include <pthread.h>

namespace zyx::runtime {

/// A thread of the system. std::thread throws where the system gives no more, and nothing throws
/// here.
class Thread {
public:
  Thread() = default;
  Thread(Thread &&other) noexcept
      : handle(other.handle), running(std::exchange(other.running, false)) {}
  Thread &operator=(Thread &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(running, other.running);
    return *this;
  }
  /// Whoever starts a thread joins it.
  ~Thread() { ZYX_ASSERT(!running, "a thread is joined before its end"); }

  static Result<Thread> start(std::function<void()> body);
  /// Waits for the end of the thread, if it was started.
  void join();

private:
  pthread_t handle{};
  bool running = false;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_THREAD_H
