//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

#include "zyx/Base/TempFolder.h"

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

/// A library of a path, by which it is called in messages as "code".
static Result<void *> openLibrary(const std::string &path) {
  errno = 0;
  if (void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
    return handle;
  const bool hasNoMemory = errno == ENOMEM;
  const char *said = ::dlerror();
  std::string reason = said ? said : "out of memory";
  if (reason.starts_with(path))
    reason.replace(0, path.size(), "code");
  // Without memory the loader has none to say so, either.
  if (hasNoMemory || !said)
    return Status::outOfMemory("cannot load code: " + reason);
  return Status::dataCorruption("cannot load code: " + reason);
}

/// A file in memory that may be run; -1 where the system gives none.
static int createCodeFile() {
  // Linux 6.3 wants it said that it is run, and may refuse (vm.memfd_noexec); others do not know the word.
  constexpr unsigned mayBeRun = 0x10;
  const int descriptor = ::memfd_create("zyx-code", MFD_CLOEXEC | mayBeRun);
  return descriptor < 0 && errno == EINVAL ? ::memfd_create("zyx-code", MFD_CLOEXEC) : descriptor;
}

Result<HostCode::Library> HostCode::loadLibrary(std::span<const std::byte> image) {
  const int descriptor = createCodeFile();
  if (descriptor < 0 && errno != EACCES && errno != EPERM && errno != ENOSYS)
    return Status::ioError("cannot create a file in memory: " + std::string(std::strerror(errno)));
  if (descriptor < 0) {
    // It is forbidden: a file of this user's that is gone as soon as it is loaded.
    ZYX_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::create());
    ZYX_ASSIGN_OR_RETURN(const std::string file, folder.write("code.so", image));
    ZYX_ASSIGN_OR_RETURN(void *handle, openLibrary(file));
    return Library(handle);
  }
  if (Status status = writeAll(descriptor, image); !status.isOk()) {
    ::close(descriptor);
    return status;
  }
  // dlopen takes a path that it has seen for the library that it loaded then, and descriptors are
  // used again: so each load spells the path in its own way.
  static std::atomic<uint32_t> loads = 0;
  // No string grows between the opening and the closing of the descriptor.
  std::string path;
  path.reserve(128);
  path = "/proc/self/fd/";
  for (uint32_t bits = loads++, i = 0; i < 32; ++i, bits >>= 1)
    path += bits & 1 ? "./" : "/";
  path += std::to_string(descriptor);
  Result<void *> handle = openLibrary(path);
  ::close(descriptor);
  if (!handle)
    return handle.status();
  return Library(*handle);
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
      return Status::notFound("the code has no symbol '" + kernel.symbol + "'").withWhere(kernel.name);
    result.addresses.push_back(reinterpret_cast<artifact::KernelFunction>(address));
  }
  return result;
}
