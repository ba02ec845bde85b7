//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Vulkan.h"

#include "../Stream/Blocks.h"
#include "../Stream/FoundDevices.h"
#include "../Stream/ObjectTable.h"
#include "Driver.h"

#include "zyx/Base/Hash.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <set>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::vulkan;

namespace {

constexpr uint64_t deviceBlockBytes = uint64_t(64) << 20, hostBlockBytes = uint64_t(16) << 20;
/// Of one list of commands: what kernels get, and commands after which the device begins with it.
constexpr uint64_t argumentBytes = uint64_t(64) << 10;
constexpr unsigned mostCommands = 64;
/// Lists of a stream that are in flight.
constexpr size_t mostBatches = 8;

/// A large allocation, with a buffer over all of it.
struct Memory {
  uint64_t address = 0;
  std::byte *mapped = nullptr;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
};
using BlockOffset = Blocks<Memory>::BlockOffset;

/// A list of commands, and memory for what they read.
struct Batch {
  VkCommandBuffer commands = nullptr;
  uint64_t memory = 0, used = 0;
  std::byte *mapped = nullptr;
  unsigned numCommands = 0;
  /// Where the stream is when they are over.
  uint64_t value = 0;
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

class VulkanBackend : public Backend {
public:
  VulkanBackend(const Driver &driver, DeviceFound found, std::string name, std::shared_ptr<const CodeCache> cache)
      : driver(driver), found(std::move(found)), cache(std::move(cache)) {
    itsFacts = backendFacts(std::move(name), this->found.facts);
    itsFacts.processors = std::max(itsFacts.processors, 1);
  }
  ~VulkanBackend() override {
    deviceMemory.reset();
    hostMemory.reset();
    if (layout != VK_NULL_HANDLE)
      driver.DestroyPipelineLayout(device, layout, nullptr);
    if (device)
      driver.DestroyDevice(device, nullptr);
  }
  Status open();

  const BackendFacts &facts() const override { return itsFacts; }

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
    return copyBetween(stream, deviceMemory->find(to.address()), hostMemory->findMapped(from), bytes);
  }
  Status download(StreamHandle stream, void *to, MemoryRef from, uint64_t bytes) override {
    return copyBetween(stream, hostMemory->findMapped(to), deviceMemory->find(from.address()), bytes);
  }
  Status copy(StreamHandle stream, const CopyCommand &copy) override {
    return copyBetween(stream, deviceMemory->find(copy.to.address()), deviceMemory->find(copy.from.address()),
                       copy.bytes);
  }
  Status fill(StreamHandle stream, const FillCommand &fill) override;

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
  Status launch(StreamHandle stream, const LaunchCommand &launch) override;

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
  Result<Memory> makeMemory(uint64_t bytes, const std::vector<VkMemoryPropertyFlags> &kinds) const;
  std::vector<VulkanStream *> streamList() {
    const std::lock_guard lock(mutex);
    return streams;
  }
  Status wait(VkSemaphore timeline, uint64_t value) const {
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline,
                                      .pValues = &value};
    return check(driver.WaitSemaphores(device, &info, UINT64_MAX));
  }
  /// Appends commands that need so much memory of their list, behind all that was handed to any stream before.
  Status append(StreamHandle stream, uint64_t bytes, const std::function<void(Batch &)> &put);
  Status begin(VulkanStream &stream);
  Status submit(VulkanStream &stream);
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags to, VkAccessFlags access) const {
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                 .dstAccessMask = access};
    driver.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, to, 0, 1, &all, 0, nullptr, 0, nullptr);
  }
  Status copyBetween(StreamHandle stream, BlockOffset to, BlockOffset from, uint64_t bytes) {
    return append(stream, 0, [&](Batch &batch) {
      const VkBufferCopy region = {from.offset, to.offset, bytes};
      driver.CmdCopyBuffer(batch.commands, from.memory->buffer, to.memory->buffer, 1, &region);
    });
  }

  const Driver &driver;
  const DeviceFound found;
  const std::shared_ptr<const CodeCache> cache;
  BackendFacts itsFacts;
  VkDevice device = nullptr;
  VkQueue queue = nullptr;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::optional<Blocks<Memory>> deviceMemory, hostMemory;
  /// Of the queue, and of the list of streams.
  std::mutex queueMutex, mutex;
  std::vector<VulkanStream *> streams;
};

Status VulkanBackend::open() {
  Features features;
  features.all.features.shaderInt64 = VK_TRUE;
  features.v12.bufferDeviceAddress = features.v12.timelineSemaphore = features.v12.vulkanMemoryModel = VK_TRUE;
  for (const Capability &each : optionalCapabilities())
    if (std::ranges::find(found.capabilities, each.number) != found.capabilities.end())
      each.feature(features) = VK_TRUE;
  const float priority = 1;
  const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = found.queueFamily,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &features.all,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queues};
  ZYX_RETURN_IF_ERROR(
      check(driver.CreateDevice(found.device, &info, nullptr, &device), "open device '" + itsFacts.name + "'"));
  driver.GetDeviceQueue(device, found.queueFamily, 0, &queue);
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t)};
  const VkPipelineLayoutCreateInfo arguments = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                .pushConstantRangeCount = 1,
                                                .pPushConstantRanges = &range};
  ZYX_RETURN_IF_ERROR(
      check(driver.CreatePipelineLayout(device, &arguments, nullptr, &layout), "open device '" + itsFacts.name + "'"));
  constexpr VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  auto own = [this](uint64_t bytes) { return makeMemory(bytes, {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT}); };
  auto shared = [this](uint64_t bytes) { return makeMemory(bytes, {host | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, host}); };
  auto destroy = [this](const Memory &memory) {
    driver.DestroyBuffer(device, memory.buffer, nullptr);
    driver.FreeMemory(device, memory.memory, nullptr);
  };
  deviceMemory.emplace(deviceBlockBytes, own, destroy);
  hostMemory.emplace(hostBlockBytes, shared, destroy);
  return Status::ok();
}

/// The first of the kinds of memory that the device has is taken. The host reaches what it sees.
Result<Memory> VulkanBackend::makeMemory(uint64_t bytes, const std::vector<VkMemoryPropertyFlags> &kinds) const {
  Memory made;
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  ZYX_RETURN_IF_ERROR(check(driver.CreateBuffer(device, &info, nullptr, &made.buffer)));
  VkMemoryRequirements needs = {};
  driver.GetBufferMemoryRequirements(device, made.buffer, &needs);
  VkPhysicalDeviceMemoryProperties properties = {};
  driver.GetPhysicalDeviceMemoryProperties(found.device, &properties);
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (VkMemoryPropertyFlags kind : kinds)
    for (uint32_t type = 0; type < properties.memoryTypeCount && result == VK_ERROR_OUT_OF_DEVICE_MEMORY; ++type) {
      if (!(needs.memoryTypeBits >> type & 1) || (properties.memoryTypes[type].propertyFlags & kind) != kind)
        continue;
      const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                               .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
      const VkMemoryAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = needs.size,
                                           .memoryTypeIndex = type};
      result = driver.AllocateMemory(device, &wanted, nullptr, &made.memory);
    }
  if (result == VK_SUCCESS)
    result = driver.BindBufferMemory(device, made.buffer, made.memory, 0);
  void *mapped = nullptr;
  if (result == VK_SUCCESS && (kinds[0] & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
    result = driver.MapMemory(device, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
  if (result != VK_SUCCESS) {
    driver.DestroyBuffer(device, made.buffer, nullptr);
    driver.FreeMemory(device, made.memory, nullptr);
    return check(result);
  }
  made.mapped = static_cast<std::byte *>(mapped);
  const VkBufferDeviceAddressInfo asked = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                           .buffer = made.buffer};
  made.address = driver.GetBufferDeviceAddress(device, &asked);
  return made;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Result<StreamHandle> VulkanBackend::createStream() {
  auto *made = new VulkanStream;
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                        .queueFamilyIndex = found.queueFamily};
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  Status status = check(driver.CreateCommandPool(device, &pool, nullptr, &made->pool));
  if (status.isOk())
    status = check(driver.CreateSemaphore(device, &semaphore, nullptr, &made->timeline));
  const auto handle = handleOf<StreamHandle>(made);
  if (!status.isOk()) {
    destroyStream(handle);
    return status;
  }
  const std::lock_guard lock(mutex);
  streams.push_back(made);
  return handle;
}

void VulkanBackend::destroyStream(StreamHandle stream) {
  const std::unique_ptr<VulkanStream> owned(objectOf<VulkanStream>(stream));
  {
    const std::lock_guard lock(mutex);
    std::erase(streams, owned.get());
  }
  for (const Batch &batch : owned->batches)
    if (batch.memory != 0)
      hostMemory->free(batch.memory);
  driver.DestroyCommandPool(device, owned->pool, nullptr);
  driver.DestroySemaphore(device, owned->timeline, nullptr);
}

/// A stream that is far ahead of the device waits for the list whose turn it is.
Status VulkanBackend::begin(VulkanStream &stream) {
  if (stream.isOpen)
    return Status::ok();
  Batch &batch = stream.open();
  ZYX_RETURN_IF_ERROR(wait(stream.timeline, batch.value));
  const VkCommandBufferAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = stream.pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
  if (!batch.commands)
    ZYX_RETURN_IF_ERROR(check(driver.AllocateCommandBuffers(device, &wanted, &batch.commands)));
  if (batch.memory == 0) {
    ZYX_ASSIGN_OR_RETURN(batch.memory, hostMemory->allocate(argumentBytes));
    batch.mapped = hostMemory->find(batch.memory).mapped();
  }
  batch.used = batch.numCommands = 0;
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  ZYX_RETURN_IF_ERROR(check(driver.BeginCommandBuffer(batch.commands, &info)));
  stream.isOpen = true;
  return Status::ok();
}

Status VulkanBackend::append(StreamHandle stream, uint64_t bytes, const std::function<void(Batch &)> &put) {
  VulkanStream &own = *objectOf<VulkanStream>(stream);
  const std::lock_guard lock(own.mutex);
  if (own.open().used + bytes > argumentBytes || own.open().numCommands == mostCommands)
    ZYX_RETURN_IF_ERROR(submit(own));
  ZYX_RETURN_IF_ERROR(begin(own));
  Batch &batch = own.open();
  barrier(batch.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
  put(batch);
  batch.used += (bytes + 15) / 16 * 16;
  ++batch.numCommands;
  return Status::ok();
}

Status VulkanBackend::submit(VulkanStream &stream) {
  if (!std::exchange(stream.isOpen, false))
    return Status::ok();
  Batch &batch = stream.open();
  barrier(batch.commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  const uint64_t value = stream.value + 1;
  const VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                .signalSemaphoreValueCount = 1,
                                                .pSignalSemaphoreValues = &value};
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &values,
                             .commandBufferCount = 1,
                             .pCommandBuffers = &batch.commands,
                             .signalSemaphoreCount = 1,
                             .pSignalSemaphores = &stream.timeline};
  ZYX_RETURN_IF_ERROR(check(driver.EndCommandBuffer(batch.commands)));
  {
    const std::lock_guard lock(queueMutex);
    ZYX_RETURN_IF_ERROR(check(driver.QueueSubmit(queue, 1, &info, VK_NULL_HANDLE)));
  }
  stream.value = batch.value = value;
  ++stream.turn;
  return Status::ok();
}

Result<EventHandle> VulkanBackend::createEvent(bool isTimed) {
  auto made = std::make_unique<VulkanEvent>();
  const VkQueryPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 1};
  if (isTimed)
    ZYX_RETURN_IF_ERROR(check(driver.CreateQueryPool(device, &info, nullptr, &made->query)));
  return handleOf<EventHandle>(made.release());
}

Status VulkanBackend::record(StreamHandle stream, EventHandle event) {
  VulkanEvent &into = *objectOf<VulkanEvent>(event);
  if (into.query != VK_NULL_HANDLE)
    ZYX_RETURN_IF_ERROR(append(stream, 0, [&](Batch &batch) {
      driver.CmdResetQueryPool(batch.commands, into.query, 0, 1);
      driver.CmdWriteTimestamp(batch.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, into.query, 0);
    }));
  VulkanStream &own = *objectOf<VulkanStream>(stream);
  const std::lock_guard lock(own.mutex);
  ZYX_RETURN_IF_ERROR(submit(own));
  into.timeline = own.timeline;
  into.value = own.value;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Vulkan fills words of four bytes; everything else is copied from a piece of it.
Status VulkanBackend::fill(StreamHandle stream, const FillCommand &fill) {
  const BlockOffset to = deviceMemory->find(fill.to.address());
  std::byte pattern[8];
  for (size_t i = 0; i < sizeof(pattern); ++i)
    pattern[i] = static_cast<std::byte>(fill.pattern >> 8 * (i % fill.patternBytes));
  uint32_t words[2];
  std::memcpy(words, pattern, sizeof(words));
  if (words[0] == words[1] && to.offset % 4 == 0 && fill.bytes % 4 == 0)
    return append(stream, 0, [&](Batch &batch) {
      driver.CmdFillBuffer(batch.commands, to.memory->buffer, to.offset, fill.bytes, words[0]);
    });
  const uint64_t piece = std::min<uint64_t>(fill.bytes, argumentBytes / 4);
  return append(stream, piece, [&](Batch &batch) {
    for (uint64_t i = 0; i < piece; ++i)
      batch.mapped[batch.used + i] = pattern[i % sizeof(pattern)];
    const BlockOffset from = hostMemory->find(batch.memory + batch.used);
    std::vector<VkBufferCopy> regions;
    for (uint64_t done = 0; done < fill.bytes; done += piece)
      regions.push_back({from.offset, to.offset + done, std::min(piece, fill.bytes - done)});
    driver.CmdCopyBuffer(batch.commands, from.memory->buffer, to.memory->buffer, static_cast<uint32_t>(regions.size()),
                         regions.data());
  });
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Result<ModuleHandle> VulkanBackend::load(const artifact::CodeBlob &code) {
  constexpr uint32_t magic = 0x07230203, opExecutionMode = 16, opCapability = 17, localSize = 17, headerWords = 5;
  constexpr uint32_t modeDenormPreserve = 4459, capabilityDenormPreserve = 4464;
  std::vector<uint32_t> words(code.bytes.size() / sizeof(uint32_t));
  std::copy_n(code.bytes.begin(), words.size() * sizeof(uint32_t), reinterpret_cast<std::byte *>(words.data()));
  size_t at = headerWords;
  auto made = std::make_unique<LoadedModule>();
  if (words.size() < headerWords || words[0] != magic || code.bytes.size() % sizeof(uint32_t) != 0)
    return Status::unsupported("code of kernels is no SPIR-V");
  while (at < words.size()) {
    const uint32_t length = words[at] >> 16, op = words[at] & 0xffff;
    if (length == 0 || length > words.size() - at)
      return Status::unsupported("the SPIR-V of kernels is cut");
    if (op == opCapability && length == 2)
      for (const Capability &each : optionalCapabilities())
        if (words[at + 1] == each.number &&
            std::ranges::find(found.capabilities, each.number) == found.capabilities.end())
          return Status::unsupported("device '" + itsFacts.name + "' has no " + each.name +
                                     ", which the program computes with");
    if (op == opExecutionMode && length == 6 && words[at + 2] == localSize)
      made->localThreads = words[at + 3];
    const bool isOfDenormals = (op == opCapability && length == 2 && words[at + 1] == capabilityDenormPreserve) ||
                               (op == opExecutionMode && length == 4 && words[at + 2] == modeDenormPreserve);
    if (isOfDenormals && !found.keepsDenormals)
      words.erase(words.begin() + static_cast<ptrdiff_t>(at), words.begin() + static_cast<ptrdiff_t>(at + length));
    else
      at += length;
  }
  const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .codeSize = words.size() * sizeof(uint32_t),
                                         .pCode = words.data()};
  ZYX_RETURN_IF_ERROR(
      check(driver.CreateShaderModule(device, &info, nullptr, &made->shader), "take a module of SPIR-V"));
  made->hash = hashBytes(code.bytes).toHex();
  return handleOf<ModuleHandle>(made.release());
}

Result<KernelHandle> VulkanBackend::find(ModuleHandle module, const artifact::Kernel &kernel) {
  LoadedModule &owner = *objectOf<LoadedModule>(module);
  ZYX_RETURN_IF_ERROR(checkLimits(kernel, itsFacts.name, found.facts.workgroupThreads, found.facts.sharedBytes));
  const std::string key = "vulkan " + found.cacheIdentity + '\n' + owner.hash + ' ' + kernel.symbol;
  const std::optional<std::vector<std::byte>> kept = cache ? cache->find(key) : std::nullopt;
  const VkPipelineCacheCreateInfo from = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                          .initialDataSize = kept ? kept->size() : 0,
                                          .pInitialData = kept ? kept->data() : nullptr};
  VkPipelineCache pipelines = VK_NULL_HANDLE;
  // Without one everything is made again.
  if (cache && driver.CreatePipelineCache(device, &from, nullptr, &pipelines) != VK_SUCCESS)
    pipelines = VK_NULL_HANDLE;
  const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                      .module = owner.shader,
                                                      .pName = kernel.symbol.c_str()},
                                            .layout = layout};
  LoadedKernel loaded{VK_NULL_HANDLE, kernel.groupThreads != 0 ? 0 : owner.localThreads};
  const Status status = check(driver.CreateComputePipelines(device, pipelines, 1, &info, nullptr, &loaded.pipeline),
                              "compile kernel " + kernel.name + " on device '" + itsFacts.name + "'");
  size_t size = 0;
  if (status.isOk() && pipelines != VK_NULL_HANDLE && !kept &&
      driver.GetPipelineCacheData(device, pipelines, &size, nullptr) == VK_SUCCESS) {
    std::vector<std::byte> bytes(size);
    if (size != 0 && driver.GetPipelineCacheData(device, pipelines, &size, bytes.data()) == VK_SUCCESS)
      cache->keep(key, bytes);
  }
  if (pipelines != VK_NULL_HANDLE)
    driver.DestroyPipelineCache(device, pipelines, nullptr);
  ZYX_RETURN_IF_ERROR(status);
  return handleOf<KernelHandle>(&owner.kernels.emplace_back(loaded));
}

Status VulkanBackend::launch(StreamHandle stream, const LaunchCommand &launch) {
  const LoadedKernel &loaded = *objectOf<LoadedKernel>(launch.kernel);
  uint64_t groups = launch.groups, step = launch.groups;
  // Programs that are threads count all of them, however they are grouped. Programs beyond the last are taken in turns.
  if (loaded.localThreads != 0)
    groups = (launch.groups * uint64_t(launch.threads) + loaded.localThreads - 1) / loaded.localThreads;
  groups = std::min(groups, found.mostGroups);
  step = loaded.localThreads != 0 ? std::min(launch.groups * uint64_t(launch.threads), groups * loaded.localThreads)
                                  : groups;
  // Behind the arguments: the distance to a thread's or workgroup's next program, and a zero that no compiler sees.
  const uint64_t behind[] = {step, 0}, bytes = launch.arguments.size() * sizeof(uint64_t) + sizeof(behind);
  if (bytes > argumentBytes)
    return Status::unsupported("a kernel has more than " + std::to_string(argumentBytes / sizeof(uint64_t)) +
                               " arguments on device '" + itsFacts.name + "'");
  return append(stream, bytes, [&](Batch &batch) {
    std::byte *into = batch.mapped + batch.used;
    for (const KernelArgument &argument : launch.arguments) {
      std::memcpy(into, &argument.value, sizeof(uint64_t));
      into += sizeof(uint64_t);
    }
    std::memcpy(into, behind, sizeof(behind));
    const uint64_t address = batch.memory + batch.used;
    driver.CmdBindPipeline(batch.commands, VK_PIPELINE_BIND_POINT_COMPUTE, loaded.pipeline);
    driver.CmdPushConstants(batch.commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(address), &address);
    driver.CmdDispatch(batch.commands, static_cast<uint32_t>(groups), 1, 1);
  });
}

} // namespace

static Result<std::vector<DeviceFound>> findAll() {
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, Driver::open());
  return driver->find();
}

Result<std::shared_ptr<Device>> runtime::createVulkanDevice(std::string name, const DeviceOptions &options) {
  ZYX_ASSIGN_OR_RETURN(DeviceFound found, chooseDevice(findAll(), name, "Vulkan"));
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, Driver::open());
  auto backend = std::make_unique<VulkanBackend>(*driver, std::move(found), std::move(name), options.codeCache);
  ZYX_RETURN_IF_ERROR(backend->open());
  return createStreamDevice(std::move(backend), options);
}

std::vector<DeviceListing> runtime::listVulkanDevices() { return listFound("vulkan", findAll()); }
