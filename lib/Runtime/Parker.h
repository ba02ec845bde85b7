//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_PARKER_H
#define ZYX_LIB_RUNTIME_PARKER_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace zyx::runtime {

/// What two threads on different processors write lies this far apart: processors fetch the line
/// beside the one that is asked for.
inline constexpr size_t linePair = 128;

/// How one thread waits for what others write to atomics: it looks again and again for some
/// microseconds, about as long as waking a sleeping thread takes, then it sleeps. Whoever was woken and
/// comes too late looks for longer before it sleeps again: work comes in runs, and between two of them
/// the caller may have done all of it alone. Where threads outnumber the processors, the one that it
/// waits for may need its own, and it sleeps at once.
class Parker {
public:
  explicit Parker(bool spins) : spins(spins) {}

  /// Returns when `isReady()`, which reads atomics by acquire. One thread at a time.
  template <typename IsReady> void await(IsReady isReady) {
    if (isReady() || (spins && spin(isReady, spinNanoseconds)))
      return;
    for (;;) {
      asleep.store(1, std::memory_order_relaxed);
      // Either this thread sees what it waits for, or the other one sees it asleep.
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (isReady())
        break;
      sleep();
      if (spins && spin(isReady, lateNanoseconds))
        break;
    }
    asleep.store(0, std::memory_order_relaxed);
  }

  /// Call after a seq_cst read-modify-write of what the other one waits for.
  void wake() {
    if (asleep.load(std::memory_order_seq_cst) != 0)
      wakeSleeping();
  }

private:
  template <typename IsReady> static bool spin(IsReady isReady, uint64_t nanoseconds) {
    const uint64_t end = now() + nanoseconds;
    do {
      // The clock costs as much as some looks.
      for (int i = 0; i < 16; ++i) {
        relax();
        if (isReady())
          return true;
      }
    } while (now() < end);
    return false;
  }
  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  static constexpr uint64_t spinNanoseconds = 30'000;
  /// Longer than a run that is too short for a thread that sleeps, with what the caller does between two.
  static constexpr uint64_t lateNanoseconds = 300'000;
  static uint64_t now();
  void sleep();
  void wakeSleeping();

  const bool spins;
  std::atomic<uint32_t> asleep = 0;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_PARKER_H
