//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../../Loading.h"
#include "Host.h"
#include "zyx/Base/Processors.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

namespace {

class HostProgram : public LoadedProgram {
public:
  HostProgram(Device &owner, ThreadPool &threads, Artifact source, HostCode code, std::shared_ptr<Buffer> constants)
      : LoadedProgram(owner, std::move(source), std::move(constants)), threads(threads), code(std::move(code)) {}

  std::unique_ptr<Replay> record() const override {
    return recordHost(source, code.functions(), threads, device().queue());
  }

private:
  ThreadPool &threads;
  HostCode code;
};

class HostDevice : public LoadingDevice {
public:
  HostDevice(std::string name, std::shared_ptr<MemoryPool> memory, std::shared_ptr<ThreadPool> threads,
             std::unique_ptr<Queue> submissions)
      : LoadingDevice(std::move(name), std::move(memory)), threads(std::move(threads)),
        submissions(std::move(submissions)) {}

  Queue &queue() override { return *submissions; }
  std::string identity() const override {
    return processorName() + ", " + std::to_string(threads->threads()) + " threads";
  }
  DeviceFacts facts() const override {
    DeviceFacts facts = hostFacts(name(), threads->threads());
    const PoolUsage usage = pool()->usage();
    facts.memoryBytes = usage.limit;
    facts.freeBytes = std::min(facts.freeBytes.value_or(UINT64_MAX), usage.limit - usage.inUse);
    return facts;
  }
  std::optional<Peak> measurePeak() override { return measureHostPeak(*threads); }

private:
  Result<std::shared_ptr<Program>> loadVerified(Artifact artifact) override {
    ZYX_ASSIGN_OR_RETURN(HostCode code, HostCode::load(artifact));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants, placeConstants(artifact));
    return std::shared_ptr<Program>(
        std::make_shared<HostProgram>(*this, *threads, std::move(artifact), std::move(code), std::move(constants)));
  }

  std::shared_ptr<ThreadPool> threads;
  // Destroyed first: its work uses the others.
  std::unique_ptr<Queue> submissions;
};

} // namespace

Result<std::shared_ptr<Device>> runtime::createHostDevice(std::string name, const DeviceOptions &options) {
  // Each launch has some bytes of each thread.
  constexpr unsigned mostThreads = 4096;
  std::shared_ptr<ThreadPool> threads = options.threadPool;
  if (threads && (threads->threads() == 0 || threads->threads() > mostThreads))
    return Status::invalidArgument("a thread pool of " + std::to_string(threads->threads()) +
                                   " threads is given; it may have 1 to " + std::to_string(mostThreads));
  if (!threads) {
    ZYX_ASSIGN_OR_RETURN(threads, createThreadPool({options.threads, options.oversubscribe}));
  }
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, createThreadQueue());
  return std::shared_ptr<Device>(std::make_shared<HostDevice>(
      std::move(name), createHostPool(options.memoryLimit, options.allocator), std::move(threads), std::move(queue)));
}
