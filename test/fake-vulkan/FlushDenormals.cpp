//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Preloaded, it makes lavapipe a driver that takes denormals of floats for 0, as Vulkan allows: in the threads that
// lavapipe makes, the processor does. Other threads of the process compute as ever.
//===----------------------------------------------------------------------===//
#include <dlfcn.h>
#include <pthread.h>
#include <xmmintrin.h>

#include <cstring>
#include <memory>

namespace {

using Begin = void *(*)(void *);

struct Thread {
  Begin begin;
  void *argument;
};

/// Results that are denormals, and operands.
constexpr unsigned flushToZero = 0x8000, denormalsAreZero = 0x40;

void *run(void *thread) {
  const std::unique_ptr<Thread> own(static_cast<Thread *>(thread));
  _mm_setcsr(_mm_getcsr() | flushToZero | denormalsAreZero);
  return own->begin(own->argument);
}

bool isOfLavapipe(const void *caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname && std::strstr(info.dli_fname, "vulkan_lvp");
}

} // namespace

extern "C" int pthread_create(pthread_t *into, const pthread_attr_t *how, Begin begin, void *argument) noexcept {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!isOfLavapipe(__builtin_return_address(0)))
    return create(into, how, begin, argument);
  return create(into, how, run, new Thread{begin, argument});
}
