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

namespace {

/// A shared object that was loaded from memory.
class Library {
public:
  static Result<Library> load(std::span<const std::byte> image);
  Library(Library &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Library &operator=(Library &&) = delete;
  ~Library() {
    if (handle)
      ::dlclose(handle);
  }
  void *find(const std::string &symbol) const { return ::dlsym(handle, symbol.c_str()); }

private:
  explicit Library(void *handle) : handle(handle) {}
  void *handle;
};

Status writeAll(int descriptor, std::span<const std::byte> bytes) {
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

Result<Library> Library::load(std::span<const std::byte> image) {
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

class HostProgram : public Program {
public:
  HostProgram(Device &owner, ThreadPool &threads, Artifact source, std::vector<Library> libraries,
              std::vector<artifact::KernelFunction> functions, std::shared_ptr<Buffer> constants)
      : owner(owner), threads(threads), source(std::move(source)), libraries(std::move(libraries)),
        functions(std::move(functions)), blob(std::move(constants)) {}

  Device &device() const override { return owner; }
  const Artifact &artifact() const override { return source; }
  const Buffer &constants() const override { return *blob; }
  std::unique_ptr<Replay> record() const override { return recordHost(source, functions, threads); }

private:
  Device &owner;
  ThreadPool &threads;
  Artifact source;
  std::vector<Library> libraries;
  std::vector<artifact::KernelFunction> functions;
  std::shared_ptr<Buffer> blob;
};

class HostDevice : public Device {
public:
  HostDevice(std::string name, const DeviceOptions &options)
      : deviceName(std::move(name)), memory(createHostPool(options.memoryLimit)),
        threads(options.threadPool ? options.threadPool : createThreadPool(options.threads)) {}

  const std::string &name() const override { return deviceName; }
  std::shared_ptr<MemoryPool> pool() const override { return memory; }
  Queue &queue() override { return submissions; }

  Result<std::shared_ptr<Program>> load(Artifact artifact) override {
    Result<std::shared_ptr<Program>> program = tryLoad(std::move(artifact));
    if (!program)
      return program.status().withDevice(deviceName);
    return program;
  }

private:
  Result<std::shared_ptr<Program>> tryLoad(Artifact artifact) {
    ZYX_RETURN_IF_ERROR(artifact.verify());
    if (artifact.target != "cpu" && artifact.target != "c")
      return Status::unsupported("code for '" + artifact.target + "' does not run on a host");
    ZYX_RETURN_IF_ERROR(checkCpuFeatures(artifact.cpuFeatures));

    std::vector<Library> libraries;
    for (const artifact::CodeBlob &code : artifact.code) {
      if (code.format != "elf-so")
        return Status::unsupported("code of format '" + code.format + "' is not known to a host");
      ZYX_ASSIGN_OR_RETURN(Library library, Library::load(code.bytes));
      libraries.push_back(std::move(library));
    }
    std::vector<artifact::KernelFunction> functions;
    for (const artifact::Kernel &kernel : artifact.kernels) {
      void *address = libraries[kernel.code].find(kernel.symbol);
      if (!address)
        return Status::notFound("the code has no symbol '" + kernel.symbol + "'")
            .withWhere(kernel.name);
      functions.push_back(reinterpret_cast<artifact::KernelFunction>(address));
    }
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants,
                         Buffer::allocate(memory, artifact.constants.size()));
    ZYX_RETURN_IF_ERROR(constants->write(artifact.constants));

    // Both are elsewhere now.
    artifact.constants = {};
    for (artifact::CodeBlob &code : artifact.code)
      code.bytes = {};
    return std::shared_ptr<Program>(
        std::make_shared<HostProgram>(*this, *threads, std::move(artifact), std::move(libraries),
                                      std::move(functions), std::move(constants)));
  }

  std::string deviceName;
  std::shared_ptr<MemoryPool> memory;
  std::shared_ptr<ThreadPool> threads;
  // Destroyed first: its work uses the others.
  Queue submissions;
};

} // namespace

std::shared_ptr<Device> runtime::createHostDevice(std::string name, const DeviceOptions &options) {
  return std::make_shared<HostDevice>(std::move(name), options);
}
