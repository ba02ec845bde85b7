//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What all devices of ours have in common: how an artifact becomes a program.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_LOADING_H
#define ZYX_LIB_RUNTIME_LOADING_H

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

/// A program whose constants lie in a buffer of its device.
class LoadedProgram : public Program {
public:
  LoadedProgram(Device &owner, artifact::Artifact source, std::shared_ptr<Buffer> constants)
      : source(std::move(source)), owner(owner), blob(std::move(constants)) {}

  Device &device() const final { return owner; }
  const artifact::Artifact &artifact() const final { return source; }
  const Buffer &constants() const final { return *blob; }

protected:
  const artifact::Artifact source;

private:
  Device &owner;
  std::shared_ptr<Buffer> blob;
};

/// A device whose programs keep their constants in its pool.
class LoadingDevice : public Device {
public:
  const std::string &name() const final { return deviceName; }
  std::shared_ptr<MemoryPool> pool() const final { return memory; }
  Result<std::shared_ptr<Program>> load(artifact::Artifact artifact) final;

protected:
  LoadingDevice(std::string name, std::shared_ptr<MemoryPool> memory)
      : deviceName(std::move(name)), memory(std::move(memory)) {}

  /// Loads the code of a verified artifact, then places its constants.
  virtual Result<std::shared_ptr<Program>> loadVerified(artifact::Artifact artifact) = 0;
  /// Gives the constants memory, and drops from the artifact the bytes that lie elsewhere then: the
  /// constants, and the code, which is loaded.
  Result<std::shared_ptr<Buffer>> placeConstants(artifact::Artifact &artifact) const;

private:
  std::string deviceName;
  std::shared_ptr<MemoryPool> memory;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_LOADING_H
