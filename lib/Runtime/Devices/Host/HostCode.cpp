//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

static Status writeAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return Status::ioError("cannot write code to memory: " + std::string(std::strerror(errno)));
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return Status::ok();
}

void HostCode::Close::operator()(void *handle) const { ::dlclose(handle); }

Result<HostCode::Library> HostCode::loadLibrary(std::span<const std::byte> image) {
  const int descriptor = ::memfd_create("zyx-code", MFD_CLOEXEC);
  if (descriptor < 0)
    return Status::ioError("cannot create a file in memory: " + std::string(std::strerror(errno)));
  if (Status status = writeAll(descriptor, image); !status.isOk()) {
    ::close(descriptor);
    return status;
  }
  // dlopen takes a path that it has seen for the library that it loaded then, and descriptors are
  // used again: so each load spells the path in its own way.
  static std::atomic<uint32_t> loads = 0;
  std::string path = "/proc/self/fd/";
  for (uint32_t bits = loads++, i = 0; i < 32; ++i, bits >>= 1)
    path += bits & 1 ? "./" : "/";
  path += std::to_string(descriptor);
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string reason = handle ? "" : ::dlerror();
  ::close(descriptor);
  if (handle)
    return Library(handle);
  if (reason.starts_with(path))
    reason.replace(0, path.size(), "code");
  return Status::dataCorruption("cannot load code: " + reason);
}

Result<HostCode> HostCode::load(const Artifact &artifact) {
  if (artifact.target != "cpu" && artifact.target != "c")
    return Status::unsupported("code for '" + artifact.target + "' does not run on a host");
  ZYX_RETURN_IF_ERROR(checkCpuFeatures(artifact.cpuFeatures));

  HostCode result;
  for (const artifact::CodeBlob &code : artifact.code) {
    if (code.format != "elf-so")
      return Status::unsupported("code of format '" + code.format + "' is not known to a host");
    ZYX_ASSIGN_OR_RETURN(Library library, loadLibrary(code.bytes));
    result.libraries.push_back(std::move(library));
  }
  for (const artifact::Kernel &kernel : artifact.kernels) {
    void *address = ::dlsym(result.libraries[kernel.code].get(), kernel.symbol.c_str());
    if (!address)
      return Status::notFound("the code has no symbol '" + kernel.symbol + "'")
          .withWhere(kernel.name);
    result.addresses.push_back(reinterpret_cast<artifact::KernelFunction>(address));
  }
  return result;
}
