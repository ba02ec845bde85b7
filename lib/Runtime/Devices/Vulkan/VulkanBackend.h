//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// One device of Vulkan: memory and code in VulkanBackend.cpp, commands in VulkanStreams.cpp.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_VULKAN_VULKANBACKEND_H
#define ZYX_LIB_RUNTIME_DEVICES_VULKAN_VULKANBACKEND_H

#include "../Stream/Blocks.h"
#include "../Stream/FoundDevices.h"
#include "../Stream/ObjectTable.h"
#include "Driver.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

namespace zyx::runtime::vulkan {

constexpr uint64_t deviceBlockBytes = uint64_t(64) << 20, hostBlockBytes = uint64_t(16) << 20;
/// Of one list of commands: memory for what they read, and commands after which the device begins with it.
constexpr uint64_t argumentBytes = uint64_t(64) << 10;
constexpr unsigned mostCommands = 64;
/// Lists of a stream, and of a graph, that are in flight.
constexpr size_t mostBatches = 8, mostOfGraph = 4;
/// Push constants of each device. More arguments lie in memory of the list, whose address is pushed.
constexpr uint64_t pushedBytes = 128;
/// Behind the arguments: the distance to a thread's or workgroup's next program, and a zero that no compiler sees.
constexpr size_t behindArguments = 2;
/// Of memory that a command has of its list.
constexpr uint64_t padded(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

/// A large allocation, with a buffer over all of it.
struct Memory {
  uint64_t address = 0;
  std::byte *mapped = nullptr;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
};
using BlockOffset = Blocks<Memory>::BlockOffset;

/// Where a command works, and what it does to memory.
struct Scope {
  VkPipelineStageFlags stage;
  VkAccessFlags reads, writes;
};
constexpr Scope ofAnything = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT,
                              VK_ACCESS_MEMORY_WRITE_BIT};
constexpr Scope ofKernels = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT,
                             VK_ACCESS_SHADER_WRITE_BIT};
constexpr Scope ofTransfers = {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT,
                               VK_ACCESS_TRANSFER_WRITE_BIT};
constexpr Scope ofHost = {VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT, 0};

/// A list of commands, and memory for what they read.
struct Batch {
  VkCommandBuffer commands = nullptr;
  uint64_t memory = 0, bytes = 0, used = 0;
  std::byte *mapped = nullptr;
  unsigned numCommands = 0;
  /// Where the stream is when they are over.
  uint64_t value = 0;
  /// Of the last command; of the first one's predecessors nothing is known.
  Scope last = ofAnything;
};

/// Commands are collected until somebody waits for them. Lists are used in turns.
struct VulkanStream {
  std::mutex mutex;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkSemaphore timeline = VK_NULL_HANDLE;
  /// Of the last list that was handed over.
  uint64_t value = 0;
  Batch batches[mostBatches];
  size_t turn = 0;
  bool isOpen = false;
  /// Why commands were lost that a graph's list should have come behind: the next call says it.
  Status lost;
  Batch &open() { return batches[turn % mostBatches]; }
};

struct VulkanEvent {
  VkSemaphore timeline = VK_NULL_HANDLE;
  uint64_t value = 0;
  VkQueryPool query = VK_NULL_HANDLE;
};

struct LoadedKernel {
  VkPipeline pipeline = VK_NULL_HANDLE;
  /// Threads of a workgroup whose programs are threads; 0 where they are workgroups.
  uint64_t localThreads = 0;
};

struct LoadedModule {
  VkShaderModule shader = VK_NULL_HANDLE;
  std::string hash;
  uint64_t localThreads = 1;
  std::deque<LoadedKernel> kernels;
};

class VulkanBackend final : public Backend, protected FoundDevice<Driver, DeviceFound> {
public:
  using FoundDevice::FoundDevice;
  const BackendFacts &facts() const override { return itsFacts; }
  ~VulkanBackend() override {
    deviceMemory.reset();
    hostMemory.reset();
    if (layout != VK_NULL_HANDLE)
      driver.DestroyPipelineLayout(device, layout, nullptr);
    if (device)
      driver.DestroyDevice(device, nullptr);
  }
  Status open();

  Result<uint64_t> allocate(StreamHandle, uint64_t bytes) override {
    ZYX_RETURN_IF_ERROR(checkAllocation(bytes, itsFacts.name, found.largestBytes));
    return deviceMemory->allocate(bytes);
  }
  /// All streams are one queue, whose commands each wait for those before: whoever gets it next comes behind.
  Status free(StreamHandle, uint64_t handle) override {
    deviceMemory->free(handle);
    return Status::ok();
  }
  Status trim() override {
    deviceMemory->trim();
    return Status::ok();
  }
  Result<void *> allocateHost(uint64_t bytes) override {
    ZYX_ASSIGN_OR_RETURN(const uint64_t address, hostMemory->allocate(bytes));
    const BlockOffset place = hostMemory->find(address);
    return static_cast<void *>(place.mapped());
  }
  void freeHost(void *memory) override {
    for (VulkanStream *stream : streamList())
      (void)synchronize(handleOf<StreamHandle>(stream));
    const BlockOffset place = hostMemory->findMapped(memory);
    hostMemory->free(place.address());
  }
  Status upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) override {
    return append(stream, 0, [&](Batch &batch) {
      copyBetween(batch, deviceMemory->find(to.address()), hostMemory->findMapped(from), bytes);
    });
  }
  Status download(StreamHandle stream, void *to, MemoryRef from, uint64_t bytes) override {
    return append(stream, 0, [&](Batch &batch) {
      copyBetween(batch, hostMemory->findMapped(to), deviceMemory->find(from.address()), bytes);
    });
  }
  Status copy(StreamHandle stream, const CopyCommand &copy) override { return append(stream, copy); }
  Status fill(StreamHandle stream, const FillCommand &fill) override { return append(stream, fill); }

  Status accept(const artifact::Artifact &artifact) const override {
    return checkFormat(artifact, "vulkan", "spirv", "a device of Vulkan");
  }
  Result<ModuleHandle> load(const artifact::CodeBlob &code) override;
  void unload(ModuleHandle module) override {
    const std::unique_ptr<LoadedModule> owned(objectOf<LoadedModule>(module));
    for (LoadedKernel &each : owned->kernels)
      driver.DestroyPipeline(device, each.pipeline, nullptr);
    driver.DestroyShaderModule(device, owned->shader, nullptr);
  }
  Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) override;
  Status launch(StreamHandle stream, const LaunchCommand &launch) override { return append(stream, launch); }
  std::unique_ptr<CommandGraph> createGraph() override;

  Result<StreamHandle> createStream() override;
  void destroyStream(StreamHandle stream) override;
  Status synchronize(StreamHandle stream) override {
    VulkanStream &own = *objectOf<VulkanStream>(stream);
    const std::lock_guard lock(own.mutex);
    ZYX_RETURN_IF_ERROR(submit(own));
    return wait(own.timeline, own.value);
  }
  Result<EventHandle> createEvent(bool isTimed) override;
  void destroyEvent(EventHandle event) override {
    const std::unique_ptr<VulkanEvent> owned(objectOf<VulkanEvent>(event));
    if (owned->query != VK_NULL_HANDLE)
      driver.DestroyQueryPool(device, owned->query, nullptr);
  }
  Status record(StreamHandle stream, EventHandle event) override;
  /// What was recorded has been handed over to the one queue, where everything comes behind.
  Status wait(StreamHandle, EventHandle) override { return Status::ok(); }
  Status synchronize(EventHandle event) override {
    const VulkanEvent &awaited = *objectOf<VulkanEvent>(event);
    return awaited.timeline != VK_NULL_HANDLE ? wait(awaited.timeline, awaited.value) : Status::ok();
  }
  Result<uint64_t> elapsed(EventHandle begin, EventHandle end) override {
    uint64_t ticks[2] = {};
    for (const EventHandle each : {begin, end})
      ZYX_RETURN_IF_ERROR(check(driver.GetQueryPoolResults(device, objectOf<VulkanEvent>(each)->query, 0, 1,
                                                           sizeof(uint64_t), &ticks[each == end], sizeof(uint64_t),
                                                           VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT)));
    return ticks[1] > ticks[0] ? static_cast<uint64_t>(static_cast<double>(ticks[1] - ticks[0]) * found.period) : 0;
  }

private:
  friend class VulkanGraph;

  Result<Memory> makeMemory(uint64_t bytes, const std::vector<VkMemoryPropertyFlags> &kinds) const;
  std::vector<VulkanStream *> streamList() {
    const std::lock_guard lock(mutex);
    return streams;
  }
  Status wait(VkSemaphore timeline, uint64_t value) const;
  /// Appends a command that needs so much memory of its list, behind all that was handed to any stream before.
  Status append(StreamHandle stream, uint64_t bytes, const std::function<void(Batch &)> &put);
  template <typename Command> Status append(StreamHandle stream, const Command &command) {
    ZYX_ASSIGN_OR_RETURN(const uint64_t bytes, bytesOf(command));
    return append(stream, bytes, [&](Batch &batch) { put(batch, command); });
  }
  Status begin(VulkanStream &stream);
  Status beginList(Batch &batch, VkCommandPool pool, uint64_t bytes, VkCommandBufferUsageFlags usage);
  Status endList(Batch &batch) {
    barrier(batch, ofHost, ofAnything);
    return check(driver.EndCommandBuffer(batch.commands));
  }
  /// Hands over what the stream has collected, and behind it `further` commands, if there are any.
  Status submit(VulkanStream &stream, VkCommandBuffer further = nullptr);
  /// What comes next is behind all before, of which `batch.last` is known.
  void barrier(Batch &batch, const Scope &next, const Scope &last) const {
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = last.writes,
                                 .dstAccessMask = next.reads | next.writes};
    driver.CmdPipelineBarrier(batch.commands, last.stage, next.stage, 0, 1, &all, 0, nullptr, 0, nullptr);
    batch.last = next;
  }
  void follow(Batch &batch, const Scope &next) const { barrier(batch, next, batch.last); }
  void copyBetween(Batch &batch, BlockOffset to, BlockOffset from, uint64_t bytes) const {
    const VkBufferCopy region = {from.offset, to.offset, bytes};
    follow(batch, ofTransfers);
    driver.CmdCopyBuffer(batch.commands, from.memory->buffer, to.memory->buffer, 1, &region);
  }
  /// Memory that a command needs of its list, and the command.
  Result<uint64_t> bytesOf(const LaunchCommand &launch) const;
  Result<uint64_t> bytesOf(const CopyCommand &) const { return 0; }
  Result<uint64_t> bytesOf(const FillCommand &fill) const {
    return wordOf(fill) ? 0 : std::min<uint64_t>(fill.bytes, argumentBytes / 4);
  }
  void put(Batch &batch, const LaunchCommand &launch) const;
  void put(Batch &batch, const CopyCommand &copy) const {
    copyBetween(batch, deviceMemory->find(copy.to.address()), deviceMemory->find(copy.from.address()), copy.bytes);
  }
  void put(Batch &batch, const FillCommand &fill) const;
  std::optional<uint32_t> wordOf(const FillCommand &fill) const;

  VkDevice device = nullptr;
  VkQueue queue = nullptr;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::optional<Blocks<Memory>> deviceMemory, hostMemory;
  /// Of the queue, and of the list of streams.
  std::mutex queueMutex, mutex;
  std::vector<VulkanStream *> streams;
};

} // namespace zyx::runtime::vulkan

#endif // ZYX_LIB_RUNTIME_DEVICES_VULKAN_VULKANBACKEND_H
