//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FailingAllocations.h"

#include <cerrno>
#include <cstdlib>

#ifndef ZYX_TEST_SANITIZED
static bool fails() {
  ++faults::calls;
  if (faults::left.load(std::memory_order_relaxed) < 0)
    return false;
  if (faults::left.fetch_sub(1) > 0)
    return false;
  if (faults::forGood)
    faults::left = 0;
  else
    faults::left = -1;
  faults::hasFailed = true;
  return true;
}

static void *counted(void *memory) {
  if (memory)
    ++faults::live;
  return memory;
}

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
void *malloc(size_t size) { return fails() ? zyxNoMemory() : counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return fails() ? zyxNoMemory() : counted(__libc_calloc(count, size)); }
void *realloc(void *memory, size_t size) {
  if (fails())
    return zyxNoMemory();
  void *const moved = __libc_realloc(memory, size);
  return memory ? moved : counted(moved);
}
void *memalign(size_t alignment, size_t size) {
  return fails() ? zyxNoMemory() : counted(__libc_memalign(alignment, size));
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
  ++faults::calls;
  if (memory)
    --faults::live;
  __libc_free(memory);
}
}
#pragma GCC visibility pop
#endif
