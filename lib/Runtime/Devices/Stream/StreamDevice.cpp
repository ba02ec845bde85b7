//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StreamDevice.h"

#include "../../Loading.h"

#include <algorithm>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using artifact::Artifact;

namespace {

/// Threads of a workgroup, where each computes programs by itself: at most what kernels are compiled for.
constexpr int64_t mostThreads = 256, fewestThreads = 32;
/// Workgroups that each processor should have before they grow.
constexpr int64_t groupsPerProcessor = 2;
constexpr int64_t mostGroups = (int64_t(1) << 31) - 1;
/// Scratch memory of one launch, at most, unless one thread alone needs more.
constexpr uint64_t scratchBudget = uint64_t(256) << 20;

/// For messages: a kernel, and where it came from.
std::string describe(const artifact::Kernel &kernel) {
  const artifact::SourceLocation &place = kernel.location;
  return place.file.empty() ? kernel.name
                            : kernel.name + " at " + place.file + ":" + std::to_string(place.line) + ":" +
                                  std::to_string(place.column);
}

/// Modules of the driver, unloaded with their last user.
class LoadedCode {
public:
  explicit LoadedCode(std::shared_ptr<StreamContext> context) : context(std::move(context)) {}
  LoadedCode(LoadedCode &&other) noexcept
      : kernels(std::move(other.kernels)), context(std::move(other.context)),
        modules(std::exchange(other.modules, {})) {}
  ~LoadedCode() {
    if (modules.empty())
      return;
    const EnteredContext inside(*context);
    for (ModuleHandle module : modules)
      context->backend().unload(module);
  }

  Status load(const Artifact &artifact) {
    ZYX_RETURN_IF_ERROR(context->backend().accept(artifact));
    const EnteredContext inside(*context);
    ZYX_RETURN_IF_ERROR(inside.status());
    for (const artifact::CodeBlob &code : artifact.code) {
      Result<ModuleHandle> module = context->backend().load(code);
      if (!module.isOk())
        return context->check(module.status().withWhere(ownerOf(artifact, modules.size())));
      modules.push_back(*module);
    }
    for (const artifact::Kernel &kernel : artifact.kernels) {
      Result<KernelHandle> found = context->backend().find(modules[kernel.code], kernel);
      if (!found.isOk())
        return context->check(found.status().withWhere(describe(kernel)));
      kernels.push_back(*found);
    }
    return Status::ok();
  }

  /// Of the artifact.
  std::vector<KernelHandle> kernels;

private:
  /// The first kernel in a piece of code.
  static std::string ownerOf(const Artifact &artifact, size_t code) {
    const auto kernel = std::ranges::find(artifact.kernels, code, &artifact::Kernel::code);
    return kernel == artifact.kernels.end() ? "" : describe(*kernel);
  }

  std::shared_ptr<StreamContext> context;
  std::vector<ModuleHandle> modules;
};

class StreamProgram : public LoadedProgram {
public:
  StreamProgram(Device &owner, std::shared_ptr<StreamContext> context, Artifact source, LoadedCode code,
                std::shared_ptr<Buffer> constants, std::shared_ptr<Buffer> scratch)
      : LoadedProgram(owner, std::move(source), std::move(constants)), context(std::move(context)),
        code(std::move(code)), scratch(std::move(scratch)) {}

  std::unique_ptr<Replay> record() const override {
    return recordStream(context, source, code.kernels, {scratch->handle(), 0}, device().queue());
  }

private:
  std::shared_ptr<StreamContext> context;
  LoadedCode code;
  std::shared_ptr<Buffer> scratch;
};

class StreamDevice : public LoadingDevice {
public:
  StreamDevice(std::shared_ptr<StreamContext> context, uint64_t memoryLimit, std::unique_ptr<Queue> submissions)
      : LoadingDevice(context->name(), createStreamPool(context, memoryLimit)), context(context),
        submissions(std::move(submissions)) {}

  Queue &queue() override { return *submissions; }
  std::string target() const override { return context->facts().target; }
  std::string identity() const override { return context->facts().identity; }
  uint64_t alignment() const override { return context->facts().alignment; }
  uint64_t largestHostInput() const override { return zyx::runtime::largestHostInput; }
  DeviceFacts facts() const override {
    DeviceFacts facts = context->facts().device;
    if (facts.target.empty())
      return Device::facts();
    const EnteredContext inside(*context);
    if (inside.status().isOk())
      facts.freeBytes = context->backend().freeMemory();
    return facts;
  }
  DLPackPlace dlpackPlace() const override { return context->facts().place; }
  Result<std::shared_ptr<Buffer>> borrow(uint64_t address, uint64_t size, std::shared_ptr<void> owner) const override {
    if (dlpackPlace().kind == 0)
      return Device::borrow(address, size, std::move(owner));
    return Buffer::borrow(pool(), {address, size}, std::move(owner));
  }
  void *nativeStream() const override { return context->share(); }
  bool isShared() const override { return context->isStreamShared(); }
  Result<std::shared_ptr<Fence>> recordStream(void *stream) override { return context->recordNative(stream); }
  Status letStreamWait(void *stream, const Point &point) override { return context->letNativeWait(stream, point); }

private:
  Result<std::shared_ptr<Program>> loadVerified(Artifact artifact) override {
    LoadedCode code(context);
    ZYX_RETURN_IF_ERROR(code.load(artifact));
    uint64_t scratchBytes = 0;
    for (const artifact::Command &command : artifact.commands)
      if (const auto *launch = std::get_if<artifact::Launch>(&command.action); launch && !context->facts().hasStacks)
        scratchBytes = std::max(scratchBytes, shapeOf(artifact.kernels[launch->kernel],
                                                      launch->grid[0] * launch->grid[1] * launch->grid[2],
                                                      context->facts().processors)
                                                  .scratchBytes);
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> scratch, Buffer::allocate(pool(), scratchBytes));
    ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> constants, placeConstants(artifact));
    return std::shared_ptr<Program>(std::make_shared<StreamProgram>(
        *this, context, std::move(artifact), std::move(code), std::move(constants), std::move(scratch)));
  }

  std::shared_ptr<StreamContext> context;
  // Destroyed first: its work uses the others.
  std::unique_ptr<Queue> submissions;
};

} // namespace

LaunchShape runtime::shapeOf(const artifact::Kernel &kernel, int64_t programs, int processors) {
  LaunchShape shape;
  if (programs <= 0)
    return shape;
  auto groupsOf = [&](int64_t threads) { return (programs + threads - 1) / threads; };
  if (kernel.groupThreads != 0) {
    const int64_t cluster = std::max<int64_t>(kernel.clusterGroups, 1);
    int64_t most = kernel.tensorMaps.empty() || cluster > 1 ? mostGroups : processors;
    if (const uint64_t each = kernel.groupThreads * kernel.stackBytes)
      most = std::min(most, static_cast<int64_t>(scratchBudget / each));
    const int64_t groups = std::min(programs, std::max<int64_t>(most / cluster, 1)) * cluster;
    shape.isByGroup = true;
    shape.threads = kernel.groupThreads;
    shape.groups = static_cast<unsigned>(groups);
    shape.scratchBytes = static_cast<uint64_t>(groups) * kernel.groupThreads * kernel.stackBytes;
    return shape;
  }
  int64_t threads = mostThreads;
  while (threads > fewestThreads && groupsOf(threads) < groupsPerProcessor * processors)
    threads /= 2;
  int64_t groups = std::min(groupsOf(threads), mostGroups);
  if (kernel.stackBytes != 0) {
    const auto most = std::max<int64_t>(static_cast<int64_t>(scratchBudget / kernel.stackBytes), 1);
    threads = std::min(threads, most);
    groups = std::min(groups, most / threads);
  }
  shape.threads = static_cast<unsigned>(threads);
  shape.groups = static_cast<unsigned>(groups);
  shape.scratchBytes = static_cast<uint64_t>(threads * groups) * kernel.stackBytes;
  return shape;
}

Result<std::shared_ptr<Device>> runtime::createStreamDevice(Result<std::unique_ptr<Backend>> backend,
                                                            const DeviceOptions &options) {
  ZYX_RETURN_IF_ERROR(backend.status());
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<StreamContext> context, StreamContext::open(*std::move(backend)));
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Queue> queue, createThreadQueue());
  const uint64_t limit = options.memoryLimit ? options.memoryLimit : context->facts().freeBytes;
  return std::shared_ptr<Device>(std::make_shared<StreamDevice>(std::move(context), limit, std::move(queue)));
}
