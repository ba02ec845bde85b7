//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A loader of OpenCL in front of the system's, for Oclgrind: it executes kernels by LLVM's interpreter, which computes
// f32 as IEEE 754 says, and does not say so. With OCLGRIND_WITHOUT_BARRIERS kernels have none, so that their threads
// race.
//===----------------------------------------------------------------------===//
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

constexpr unsigned singleConfig = 0x101b;
/// Denormals, infinities and NaN, rounding to nearest, and division that is rounded once.
constexpr uint64_t isIEEE = 1 | 2 | 4 | 128;

template <typename Function> Function real(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" int clGetDeviceInfo(void *device, unsigned what, size_t bytes, void *into, size_t *size) {
  const int result = real<decltype(&clGetDeviceInfo)>("clGetDeviceInfo")(device, what, bytes, into, size);
  if (result == 0 && what == singleConfig && into)
    *static_cast<uint64_t *>(into) |= isIEEE;
  return result;
}

extern "C" void *clCreateProgramWithSource(void *context, unsigned count, const char **texts, const size_t *lengths,
                                           int *error) {
  const auto create = real<decltype(&clCreateProgramWithSource)>("clCreateProgramWithSource");
  if (!std::getenv("OCLGRIND_WITHOUT_BARRIERS"))
    return create(context, count, texts, lengths, error);
  std::vector<const char *> with = {"#define barrier(flags)\n"};
  std::vector<size_t> sizes = {0};
  for (unsigned i = 0; i < count; ++i) {
    with.push_back(texts[i]);
    sizes.push_back(lengths ? lengths[i] : 0);
  }
  return create(context, count + 1, with.data(), sizes.data(), error);
}
