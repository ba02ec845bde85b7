//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_TARGET_SHAREDOBJECT_H
#define ZYX_TEST_UNIT_TARGET_SHAREDOBJECT_H

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

/// Loads the bytes of a shared object for as long as it lives.
class SharedObject {
public:
  explicit SharedObject(const std::vector<std::byte> &bytes) {
    descriptor = memfd_create("kernels", MFD_CLOEXEC);
    if (write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      return;
    std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      message = dlerror();
  }
  SharedObject(const SharedObject &) = delete;
  ~SharedObject() {
    if (handle)
      dlclose(handle);
    close(descriptor);
  }
  template <typename Function> Function find(const char *name) {
    return handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
  }
  const std::string &error() const { return message; }

private:
  int descriptor;
  void *handle = nullptr;
  std::string message;
};

#endif // ZYX_TEST_UNIT_TARGET_SHAREDOBJECT_H
