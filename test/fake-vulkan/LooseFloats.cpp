//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Preloaded, it makes lavapipe a driver that promises less of floats, as Vulkan allows: in the threads that lavapipe
// makes, the processor takes denormals for 0 (LOOSE_FLOATS=flush) or rounds upwards, so that every second result is one
// unit off (LOOSE_FLOATS=round-up). Other threads of the process compute as ever.
//===----------------------------------------------------------------------===//
#include <dlfcn.h>
#include <pthread.h>
#include <xmmintrin.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace {

using Begin = void *(*)(void *);

struct Thread {
  Begin begin;
  void *argument;
};

/// Results that are denormals, and operands.
constexpr unsigned flushToZero = 0x8000, denormalsAreZero = 0x40;
constexpr unsigned roundUp = 0x4000;

/// Bits of the register that rules floats; a name that is none ends the process, lest a test sees an ordinary driver.
unsigned mode() {
  const char *name = std::getenv("LOOSE_FLOATS");
  const std::string_view asked = name ? name : "";
  if (asked == "flush")
    return flushToZero | denormalsAreZero;
  if (asked != "round-up")
    std::abort();
  return roundUp;
}

void *run(void *thread) {
  const std::unique_ptr<Thread> own(static_cast<Thread *>(thread));
  _mm_setcsr(_mm_getcsr() | mode());
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
