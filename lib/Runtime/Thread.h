//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_THREAD_H
#define ZYX_LIB_RUNTIME_THREAD_H

#include "zyx/Base/Forked.h"
#include "zyx/Base/Status.h"

#include <cstdint>
#include <functional>
#include <pthread.h>

namespace zyx::runtime {

/// A thread of the system. std::thread throws where the system gives no more, and nothing throws
/// here.
class Thread {
public:
  Thread() = default;
  Thread(Thread &&other) noexcept : handle(other.handle), running(std::exchange(other.running, false)) {}
  Thread &operator=(Thread &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(running, other.running);
    return *this;
  }
  /// Whoever starts a thread joins it.
  ~Thread() { ZYX_ASSERT(!running, "a thread is joined before its end"); }

  static Result<Thread> start(std::function<void()> body);
  /// Waits for the end of the thread, if it was started in this process.
  void join();

private:
  const ForkMark mark;
  pthread_t handle{};
  bool running = false;
};

/// Every thread that is started here has a stack of so many bytes, whatever the limits of the process.
inline constexpr size_t threadStackBytes = size_t(8) << 20;

/// Asks the system to let the calling thread run soon after it is woken, for a short time: with a slice of
/// `sliceNanoseconds` it comes before threads that compute. Linux does so from 6.12 on; elsewhere nothing changes, and
/// that is no failure.
void wakeSoon();
inline constexpr uint64_t sliceNanoseconds = 100'000;

/// Bytes that the calling thread's stack has left; SIZE_MAX where that is not known, as on a stack that
/// the system has not made. The first call of a thread that was not started here may allocate.
size_t stackRoom();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_THREAD_H
