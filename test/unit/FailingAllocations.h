//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Allocations that fail when they are told to: the program's malloc stands before that of libc for every library.
// Include it in one file of a program.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_FAILINGALLOCATIONS_H
#define ZYX_TEST_UNIT_FAILINGALLOCATIONS_H

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

// A sanitizer has its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ZYX_TEST_SANITIZED
#endif
#endif

namespace faults {

/// Allocations that succeed until one fails; none does where it is negative.
inline constinit std::atomic<int64_t> left = -1;
/// Whether all behind it fail, too.
inline constinit std::atomic<bool> forGood = false;
/// Whether one has failed.
inline constinit std::atomic<bool> hasFailed = false;
/// Blocks that are allocated and not freed.
inline constinit std::atomic<int64_t> live = 0;

inline bool fails() {
  if (left.load(std::memory_order_relaxed) < 0)
    return false;
  if (left.fetch_sub(1) > 0)
    return false;
  if (forGood)
    left = 0;
  else
    left = -1;
  hasFailed = true;
  return true;
}

/// Fails one allocation, or all from then on, behind so many others, while it lives.
class Fault {
public:
  Fault(int64_t behind, bool all) {
    hasFailed = false;
    forGood = all;
    left = behind;
  }
  ~Fault() { left = -1; }
  Fault(const Fault &) = delete;
};

inline void *counted(void *memory) {
  if (memory)
    ++live;
  return memory;
}

} // namespace faults

#ifndef ZYX_TEST_SANITIZED
// Hidden ones would stand for this file alone.
#pragma GCC visibility push(default)
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void *zyxNoMemory() {
  errno = ENOMEM;
  return nullptr;
}
void *malloc(size_t size) { return faults::fails() ? zyxNoMemory() : faults::counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) {
  return faults::fails() ? zyxNoMemory() : faults::counted(__libc_calloc(count, size));
}
void *realloc(void *memory, size_t size) {
  if (faults::fails())
    return zyxNoMemory();
  void *const moved = __libc_realloc(memory, size);
  return memory ? moved : faults::counted(moved);
}
void *memalign(size_t alignment, size_t size) {
  return faults::fails() ? zyxNoMemory() : faults::counted(__libc_memalign(alignment, size));
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *const made = memalign(alignment, size);
  if (!made)
    return ENOMEM;
  *memory = made;
  return 0;
}
void free(void *memory) {
  if (memory)
    --faults::live;
  __libc_free(memory);
}
}
#pragma GCC visibility pop
#endif

#endif // ZYX_TEST_UNIT_FAILINGALLOCATIONS_H
