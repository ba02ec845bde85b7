//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Host.h"

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

namespace {

class HostProgram : public Program {
public:
  HostProgram(Device &owner, ThreadPool &threads, Artifact source, HostCode code,
              std::shared_ptr<Buffer> constants)
      : owner(owner), threads(threads), source(std::move(source)), code(std::move(code)),
        blob(std::move(constants)) {}

  Device &device() const override { return owner; }
  const Artifact &artifact() const override { return source; }
  const Buffer &constants() const override { return *blob; }
  std::unique_ptr<Replay> record() const override {
    return recordHost(source, code.functions(), threads, owner.queue());
  }

private:
  Device &owner;
  ThreadPool &threads;
  Artifact source;
  HostCode code;
  std::shared_ptr<Buffer> blob;
};

class HostDevice : public Device {
public:
  HostDevice(std::string name, uint64_t memoryLimit, std::shared_ptr<ThreadPool> threads,
             std::unique_ptr<Queue> submissions)
      : deviceName(std::move(name)), memory(createHostPool(memoryLimit)),
        threads(std::move(threads)), submissions(std::move(submissions)) {}

  const std::string &name() const override { return deviceName; }
  std::shared_ptr<MemoryPool> pool() const override { return memory; }
  Queue &queue() override { return *submissions; }

  Result<std::shared_ptr<Program>> load(Artifact artifact) override {
    Result<std::shared_ptr<Program>> program = tryLoad(std::move(artifact));
    if (!program)
      return program.status().withDevice(deviceName);
    return program;
  }

private:
  Result<std::shared_ptr<Program>> tryLoad(Artifact artifact) {
    ZYX_RETURN_IF_ERROR(artifact.verify());
    ZYX_ASSIGN_OR_RETURN(HostCode code, HostCode::load(artifact));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants,
                         Buffer::allocate(memory, artifact.constants.size()));
    ZYX_RETURN_IF_ERROR(constants->write(artifact.constants));
    // Both are elsewhere now.
    artifact.constants = {};
    for (artifact::CodeBlob &blob : artifact.code)
      blob.bytes = {};
    return std::shared_ptr<Program>(std::make_shared<HostProgram>(
        *this, *threads, std::move(artifact), std::move(code), std::move(constants)));
  }

  std::string deviceName;
  std::shared_ptr<MemoryPool> memory;
  std::shared_ptr<ThreadPool> threads;
  // Destroyed first: its work uses the others.
  std::unique_ptr<Queue> submissions;
};

} // namespace

Result<std::shared_ptr<Device>> runtime::createHostDevice(std::string name,
                                                          const DeviceOptions &options) {
  std::shared_ptr<ThreadPool> threads = options.threadPool;
  if (!threads) {
    ZYX_ASSIGN_OR_RETURN(threads, createThreadPool({options.threads, options.oversubscribe}));
  }
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, createThreadQueue());
  return std::shared_ptr<Device>(std::make_shared<HostDevice>(
      std::move(name), options.memoryLimit, std::move(threads), std::move(queue)));
}
