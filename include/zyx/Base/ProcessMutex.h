//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_PROCESSMUTEX_H
#define ZYX_BASE_PROCESSMUTEX_H

#include "zyx/Base/Status.h"

#include <atomic>
#include <cstdint>

namespace zyx {

/// A lock of the whole process, which new contexts of a forked process need too. Where another thread held it at the
/// fork, what it guards may be half changed, and that thread is not there to let go of it: it is lost to the child.
/// Not recursive.
class ProcessMutex {
public:
  class Guard {
  public:
    explicit Guard(ProcessMutex &mutex) : mutex(mutex), isHeld(mutex.lock()) {}
    ~Guard() {
      if (isHeld)
        mutex.unlock();
    }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;
    /// False where it is lost: what it guards may not be looked at.
    explicit operator bool() const { return isHeld; }
    /// Where nothing can be done without it.
    Status check() const;

  private:
    ProcessMutex &mutex;
    const bool isHeld;
  };

private:
  bool lock();
  void unlock();

  /// 0 where nobody holds it, else the number of forks behind the process whose thread does, and one.
  std::atomic<uint64_t> holder = 0;
};

} // namespace zyx

#endif // ZYX_BASE_PROCESSMUTEX_H
