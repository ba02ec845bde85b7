//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_HOST_HOST_H
#define ZYX_LIB_RUNTIME_DEVICES_HOST_HOST_H

#include "../../QueuedReplay.h"

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// Success where this machine, and its operating system, have all of these CPU features. Asks Linux to
/// let this process use the matrix unit where one of them is of it.
Status checkCpuFeatures(std::span<const std::string> features);

/// The code of an artifact, loaded into this process.
class HostCode {
public:
  /// Refuses what this machine cannot run.
  static Result<HostCode> load(const artifact::Artifact &artifact);

  /// Of the artifact's kernels.
  std::span<const artifact::KernelFunction> functions() const { return addresses; }

private:
  /// dlclose.
  struct Close {
    void operator()(void *handle) const;
  };
  using Library = std::unique_ptr<void, Close>;
  static Result<Library> loadLibrary(std::span<const std::byte> image);

  std::vector<Library> libraries;
  std::vector<artifact::KernelFunction> addresses;
};

/// A replay whose commands can also be run one by one.
class HostReplay : public QueuedReplay {
public:
  using QueuedReplay::QueuedReplay;
  /// Runs one command on this thread; a loop with all its body. `command` is an index in
  /// Artifact::commands.
  virtual Status runCommand(size_t command) = 0;
};

/// `functions` are those of the artifact's kernels. They, the artifact, the threads and the queue
/// outlive the result.
std::unique_ptr<HostReplay> recordHost(const artifact::Artifact &artifact,
                                       std::span<const artifact::KernelFunction> functions, ThreadPool &threads,
                                       Queue &queue);

/// Multiplies and adds in registers, and reads memory that no cache holds, on all of the threads.
/// None where there is no memory for that.
std::optional<Peak> measureHostPeak(ThreadPool &threads);

Result<std::shared_ptr<Device>> createHostDevice(std::string name, const DeviceOptions &options);
/// Of a device of so many threads; `name` is "cpu", whose code has vectors, or "c".
DeviceFacts hostFacts(std::string_view name, unsigned threads);
/// Of one that is created without options.
DeviceFacts listedHostFacts(std::string_view name);

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_HOST_HOST_H
