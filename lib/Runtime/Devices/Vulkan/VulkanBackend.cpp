//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Stream/Blocks.h"
#include "../Stream/Bundled.h"
#include "../Stream/FoundDevices.h"
#include "../Stream/QueueBackend.h"
#include "../Stream/RecordedGraph.h"
#include "Driver.h"

#include "zyx/Base/Hash.h"

#include <chrono>
#include <deque>
#include <thread>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::vulkan;

namespace {

constexpr uint64_t deviceBlockBytes = uint64_t(64) << 20, hostBlockBytes = uint64_t(16) << 20;
/// Memory that the backend has for itself: for arguments that are not pushed.
constexpr uint64_t ownBytes = uint64_t(64) << 10;
/// Push constants of each device, of 64 bits.
constexpr size_t mostPushed = 16;
/// Behind what every kernel gets: the distance to a thread's or workgroup's next program, and a zero that no compiler
/// sees.
constexpr uint64_t behindArguments = 2;
/// Lists of commands of the queue, and of a graph, that are in flight. One submission has fewer of the former.
constexpr size_t mostLists = 64, mostOfGraph = 4;
/// So long a card is looked at before the host sleeps, which a driver takes long to wake. A processor does itself what
/// it is waited for.
constexpr std::chrono::microseconds lookAtCard(5000), lookAtProcessor(100);

/// A large allocation, with a buffer over all of it.
struct Memory {
  Unique<vk::DeviceMemory> memory;
  Unique<vk::Buffer> buffer;
  uint64_t address = 0;
  std::byte *mapped = nullptr;
};
using BlockOffset = Blocks<Memory>::BlockOffset;

/// Where commands work, and what they do to memory.
struct Work {
  vk::PipelineStageFlags stages;
  vk::AccessFlags accesses;
};
using Stage = vk::PipelineStageFlagBits;
using Access = vk::AccessFlagBits;
constexpr Work ofAnything = {Stage::eAllCommands, Access::eMemoryRead | Access::eMemoryWrite};
constexpr Work ofKernels = {Stage::eComputeShader, Access::eShaderRead | Access::eShaderWrite};
constexpr Work ofTransfers = {Stage::eTransfer, Access::eTransferRead | Access::eTransferWrite};
constexpr Work ofHost = {Stage::eHost, Access::eHostRead};

/// A list of commands. Lists are used in turns.
struct List {
  vk::CommandBuffer commands;
  /// Where the queue is when they are over.
  uint64_t value = 0;
  /// Of the last command; nothing in front of the first one, where a semaphore has all before it be over.
  Work last = {};
  /// The host reads what it copies.
  bool isRead = false;
};

/// How messages of it begin, and the kernel.
using LoadedKernel = std::pair<std::string, Unique<vk::Pipeline>>;
struct LoadedModule {
  Unique<vk::ShaderModule> shader;
  std::string hash;
  std::deque<LoadedKernel> kernels;
};

class VulkanBackend final : public FoundDevice<QueueBackend, Driver, DeviceFound> {
public:
  using FoundDevice::FoundDevice;
  Status open() {
    constexpr auto hear = [](auto, auto, const VkDebugUtilsMessengerCallbackDataEXT *told, void *self) -> VkBool32 {
      static_cast<VulkanBackend *>(self)->say(textOf({launched, told->pMessage}));
      return VK_FALSE;
    };
    messages = driver.listen(**found.instance, hear, this);
    const std::string action = "open device '" + itsFacts.name + "'";
    const bool hasI8 = found.has(DType::I8), hasI16 = found.has(DType::I16);
    const vk::PhysicalDeviceFeatures types =
        vk::PhysicalDeviceFeatures().setShaderInt64(true).setShaderInt16(hasI16).setShaderFloat64(
            found.has(DType::F64));
    const vk::StructureChain features(vk::PhysicalDeviceFeatures2(types), vk::PhysicalDeviceVulkan11Features(hasI16),
                                      vk::PhysicalDeviceVulkan12Features()
                                          .setShaderInt8(hasI8)
                                          .setStorageBuffer8BitAccess(hasI8)
                                          .setBufferDeviceAddress(true)
                                          .setTimelineSemaphore(true)
                                          .setVulkanMemoryModel(true));
    const float priority = 1;
    const vk::DeviceQueueCreateInfo queues({}, found.queueFamily, 1, &priority);
    const vk::DeviceCreateInfo info({}, 1, &queues, 0, nullptr, 0, nullptr, nullptr, &features.get());
    ZYX_RETURN_IF_ERROR(take(found.device.createDeviceUnique(info, nullptr, driver), device, action));
    queue = device->getQueue(found.queueFamily, 0, driver);
    const vk::PushConstantRange pushed(vk::ShaderStageFlagBits::eCompute, 0, mostPushed * sizeof(uint64_t));
    ZYX_RETURN_IF_ERROR(
        take(device->createPipelineLayoutUnique({{}, 0, nullptr, 1, &pushed}, nullptr, driver), layout, action));
    const vk::CommandPoolCreateInfo resets(vk::CommandPoolCreateFlagBits::eResetCommandBuffer, found.queueFamily);
    ZYX_RETURN_IF_ERROR(take(device->createCommandPoolUnique(resets, nullptr, driver), pool, action));
    const vk::SemaphoreTypeCreateInfo counting(vk::SemaphoreType::eTimeline);
    ZYX_RETURN_IF_ERROR(take(device->createSemaphoreUnique({{}, &counting}, nullptr, driver), timeline, action));
    using Kind = vk::MemoryPropertyFlagBits;
    deviceMemory.emplace(deviceBlockBytes, [this](uint64_t bytes) { return makeMemory(bytes, {Kind::eDeviceLocal}); });
    hostMemory.emplace(hostBlockBytes, [this](uint64_t bytes) {
      constexpr vk::MemoryPropertyFlags host = Kind::eHostVisible | Kind::eHostCoherent;
      return makeMemory(bytes, {host | Kind::eHostCached, host});
    });
    ZYX_ASSIGN_OR_RETURN(const uint64_t address, deviceMemory->allocate(ownBytes));
    own = deviceMemory->find(address);
    // To hand over what is recorded takes less than to record a single command.
    itsFacts.fewestOfGraph = 1;
    nanosecondsOfTick = found.period;
    return Status::ok();
  }

  Result<uint64_t> allocate(StreamHandle, uint64_t bytes) override {
    ZYX_RETURN_IF_ERROR(checkAllocation(bytes, itsFacts.name, found.largestBytes));
    return deviceMemory->allocate(bytes);
  }
  Status free(StreamHandle, uint64_t handle) override {
    deviceMemory->free(handle);
    return Status::ok();
  }
  /// Meanwhile nobody puts commands there whose memory is free already, as that between copies.
  Status trim() override {
    const std::lock_guard lock(mutex);
    ZYX_RETURN_IF_ERROR(settle());
    deviceMemory->trim();
    return Status::ok();
  }
  Result<void *> allocateHost(uint64_t bytes) override {
    ZYX_ASSIGN_OR_RETURN(const uint64_t address, hostMemory->allocate(bytes));
    return static_cast<void *>(hostMemory->find(address).mapped());
  }
  void freeHost(void *memory) override {
    (void)settle();
    hostMemory->free(hostMemory->findMapped(memory).address());
  }
  Status upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) override {
    return append(stream, [&](List &list) { copyBetween(list, placeOf(to), hostMemory->findMapped(from), bytes); });
  }
  Status download(StreamHandle stream, void *to, MemoryRef from, uint64_t bytes) override {
    return append(stream, [&](List &list) {
      copyBetween(list, hostMemory->findMapped(to), placeOf(from), bytes);
      list.isRead = true;
    });
  }
  Status copy(StreamHandle stream, const CopyCommand &copy) override { return appendCommand(stream, copy); }
  Status fill(StreamHandle stream, const FillCommand &fill) override { return appendCommand(stream, fill); }

  /// Modules are read before the driver gets them: some trust what they are given.
  Result<ModuleHandle> load(const artifact::CodeBlob &code) override {
    constexpr uint32_t magic = 0x07230203, headerWords = 5, opExecutionMode = 16, opCapability = 17;
    constexpr uint32_t modeDenormPreserve = 4459, capabilityDenormPreserve = 4464;
    constexpr std::pair<uint32_t, DType> capabilities[] = {{10, DType::F64}, {22, DType::I16}, {39, DType::I8}};
    std::vector<uint32_t> module(code.bytes.size() / sizeof(uint32_t));
    std::copy_n(code.bytes.begin(), module.size() * sizeof(uint32_t), reinterpret_cast<std::byte *>(module.data()));
    if (module.size() < headerWords || module[0] != magic || code.bytes.size() % sizeof(uint32_t) != 0)
      return Status::unsupported("code of kernels is no SPIR-V");
    for (size_t at = headerWords; at < module.size();) {
      const uint32_t length = module[at] >> 16, op = module[at] & 0xffff;
      if (length == 0 || length > module.size() - at)
        return Status::unsupported("the SPIR-V of kernels is cut");
      const uint32_t capability = op == opCapability && length == 2 ? module[at + 1] : 0;
      for (const auto &[number, dtype] : capabilities)
        if (capability == number && !found.has(dtype))
          return refuseDType(itsFacts.name, dtype);
      const bool isOfDenormals = capability == capabilityDenormPreserve ||
                                 (op == opExecutionMode && length == 4 && module[at + 2] == modeDenormPreserve);
      if (isOfDenormals && !found.keepsDenormals)
        module.erase(module.begin() + static_cast<ptrdiff_t>(at), module.begin() + static_cast<ptrdiff_t>(at + length));
      else
        at += length;
    }
    auto made = std::make_unique<LoadedModule>();
    ZYX_RETURN_IF_ERROR(
        take(device->createShaderModuleUnique({{}, module}, nullptr, driver), made->shader, "take a module of SPIR-V"));
    made->hash = hashBytes(code.bytes).toHex();
    return handleOf<ModuleHandle>(made.release());
  }
  void unload(ModuleHandle module) override { delete objectOf<LoadedModule>(module); }
  Result<KernelHandle> find(ModuleHandle module, const artifact::Kernel &kernel) override {
    LoadedModule &owner = *objectOf<LoadedModule>(module);
    ZYX_RETURN_IF_ERROR(checkLimits(kernel, itsFacts.name,
                                    {.threads = found.facts.workgroupThreads,
                                     .sharedBytes = found.facts.sharedBytes,
                                     .arguments = ownBytes / sizeof(uint64_t) - 2 - behindArguments}));
    const std::string key = textOf({"vulkan ", found.cacheIdentity, "\n", owner.hash, " ", kernel.symbol});
    const auto kept = findKept(key);
    Unique<vk::PipelineCache> pipelines;
    // Without one everything is made again.
    if (cache)
      (void)take(device->createPipelineCacheUnique({{}, kept ? kept->size() : 0, kept ? kept->data() : nullptr},
                                                   nullptr, driver),
                 pipelines);
    const vk::ComputePipelineCreateInfo info(
        {}, {{}, vk::ShaderStageFlagBits::eCompute, *owner.shader, kernel.symbol.c_str()}, *layout);
    const std::string action = textOf({"compile kernel ", kernel.name, " on device '", itsFacts.name, "'"});
    LoadedKernel loaded("kernel " + kernel.name + ": ", Unique<vk::Pipeline>());
    ZYX_RETURN_IF_ERROR(
        take(device->createComputePipelineUnique(*pipelines, info, nullptr, driver), loaded.second, action));
    ZYX_RETURN_IF_ERROR(cannot(action, takeSaid()));
    std::vector<uint8_t> bytes;
    if (pipelines && !kept && take(device->getPipelineCacheData(*pipelines, driver), bytes).isOk() && !bytes.empty())
      cache->keep(key, std::as_bytes(std::span(bytes)));
    return handleOf<KernelHandle>(&owner.kernels.emplace_back(std::move(loaded)));
  }
  Status launch(StreamHandle stream, const LaunchCommand &launch) override { return appendCommand(stream, launch); }
  std::unique_ptr<CommandGraph> createGraph() override;

  Result<EventHandle> createEvent(bool isTimed) override {
    auto made = std::make_unique<TimedEvent>(isTimed);
    if (isTimed)
      ZYX_RETURN_IF_ERROR(
          take(device->createQueryPoolUnique({{}, vk::QueryType::eTimestamp, 1}, nullptr, driver), made->query));
    return handleOf<EventHandle>(static_cast<QueuedEvent *>(made.release()));
  }

private:
  friend class VulkanGraph;

  /// The first of the kinds of memory that the device has is taken. The host reaches what it sees.
  Result<std::unique_ptr<Memory>> makeMemory(uint64_t bytes,
                                             std::initializer_list<vk::MemoryPropertyFlags> kinds) const {
    using Use = vk::BufferUsageFlagBits;
    const vk::BufferCreateInfo info(
        {}, bytes, Use::eStorageBuffer | Use::eTransferSrc | Use::eTransferDst | Use::eShaderDeviceAddress);
    const vk::MemoryAllocateFlagsInfo flags(vk::MemoryAllocateFlagBits::eDeviceAddress);
    const vk::PhysicalDeviceMemoryProperties all = found.device.getMemoryProperties(driver);
    auto made = std::make_unique<Memory>();
    ZYX_RETURN_IF_ERROR(take(device->createBufferUnique(info, nullptr, driver), made->buffer));
    const vk::MemoryRequirements needs = device->getBufferMemoryRequirements(*made->buffer, driver);
    Status status = check(vk::Result::eErrorOutOfDeviceMemory);
    for (const vk::MemoryPropertyFlags kind : kinds)
      for (uint32_t type = 0; type < all.memoryTypeCount && status.code() == ErrorCode::OutOfMemory; ++type)
        if ((needs.memoryTypeBits >> type & 1) && (all.memoryTypes[type].propertyFlags & kind) == kind)
          status = take(device->allocateMemoryUnique({needs.size, type, &flags}, nullptr, driver), made->memory);
    ZYX_RETURN_IF_ERROR(status);
    ZYX_RETURN_IF_ERROR(check(device->bindBufferMemory(*made->buffer, *made->memory, 0, driver)));
    void *mapped = nullptr;
    if (*kinds.begin() & vk::MemoryPropertyFlagBits::eHostVisible)
      ZYX_RETURN_IF_ERROR(take(device->mapMemory(*made->memory, 0, VK_WHOLE_SIZE, {}, driver), mapped));
    made->mapped = static_cast<std::byte *>(mapped);
    made->address = device->getBufferAddress(*made->buffer, driver);
    return made;
  }
  BlockOffset placeOf(MemoryRef ref) const { return deviceMemory->find(ref.address()); }
  struct TimedEvent final : QueuedEvent {
    using QueuedEvent::QueuedEvent;
    Unique<vk::QueryPool> query;
  };
  Status stamp(StreamHandle stream, QueuedEvent &event) override {
    return append(stream, [&](List &list) {
      const vk::QueryPool query = *static_cast<TimedEvent &>(event).query;
      follow(list, ofAnything);
      list.commands.resetQueryPool(query, 0, 1, driver);
      list.commands.writeTimestamp(Stage::eBottomOfPipe, query, 0, driver);
    });
  }
  Result<uint64_t> stampOf(const QueuedEvent &event) override {
    uint64_t ticks = 0;
    ZYX_RETURN_IF_ERROR(take(
        device->getQueryPoolResult<uint64_t>(*static_cast<const TimedEvent &>(event).query, 0, 1, sizeof(uint64_t),
                                             vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait, driver),
        ticks));
    return ticks;
  }
  Status waitFor(uint64_t awaited) override {
    const auto end = std::chrono::steady_clock::now() + (found.isProcessor ? lookAtProcessor : lookAtCard);
    uint64_t reached = 0;
    do {
      ZYX_RETURN_IF_ERROR(take(device->getSemaphoreCounterValue(*timeline, driver), reached));
      if (reached >= awaited)
        return Status::ok();
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < end);
    return check(device->waitSemaphores({{}, *timeline, awaited}, UINT64_MAX, driver));
  }
  /// The next of some lists, empty, when the device is over with it.
  Result<List *> begin(std::span<List> lists, size_t &turn, vk::CommandBufferUsageFlagBits usage) {
    List &list = lists[turn % lists.size()];
    ZYX_RETURN_IF_ERROR(waitFor(std::min(list.value, value)));
    if (!list.commands) {
      std::vector<vk::CommandBuffer> made;
      ZYX_RETURN_IF_ERROR(
          take(device->allocateCommandBuffers({*pool, vk::CommandBufferLevel::ePrimary, 1}, driver), made));
      list.commands = made[0];
    }
    ZYX_RETURN_IF_ERROR(check(list.commands.begin({usage}, driver)));
    list = {.commands = list.commands};
    ++turn;
    return &list;
  }
  Status beginList() override {
    submitted.clear();
    current = nullptr;
    return ended = Status::ok();
  }
  /// What the next command is put into.
  Result<List *> opened() {
    if (current)
      return current;
    ZYX_ASSIGN_OR_RETURN(current, begin(lists, turn, vk::CommandBufferUsageFlagBits::eOneTimeSubmit));
    current->value = value + 1;
    if (!submitted.empty())
      current->last = ofAnything;
    return current;
  }
  /// The next command comes into another list. Where one of them cannot be whole nothing is submitted.
  Status close() {
    List *const list = std::exchange(current, nullptr);
    if (list && list->isRead)
      follow(*list, ofHost, ofTransfers);
    if (list && ended.isOk()) {
      ended = check(list->commands.end(driver));
      submitted.push_back(list->commands);
    }
    return ended;
  }
  /// Behind what was submitted before.
  Status submitList(uint64_t &next) override {
    ZYX_RETURN_IF_ERROR(close());
    const vk::PipelineStageFlags all = Stage::eAllCommands;
    const vk::TimelineSemaphoreSubmitInfo values(1, &value, 1, &next);
    const vk::SubmitInfo info(1, &*timeline, &all, static_cast<uint32_t>(submitted.size()), submitted.data(), 1,
                              &*timeline, &values);
    return check(queue.submit(info, nullptr, driver));
  }
  template <typename Put> Status append(StreamHandle stream, const Put &put) {
    const std::lock_guard lock(mutex);
    ZYX_RETURN_IF_ERROR(collect(stream));
    ZYX_ASSIGN_OR_RETURN(List *const list, opened());
    put(*list);
    return Status::ok();
  }
  template <typename Command> Status appendCommand(StreamHandle stream, const Command &command) {
    return append(stream, [&](List &list) { put(list, command); });
  }
  /// What comes next is behind all before.
  void follow(List &list, const Work &next) const { follow(list, next, list.last); }
  void follow(List &list, const Work &next, const Work &before) const {
    const vk::MemoryBarrier all(before.accesses, next.accesses);
    if (before.stages)
      list.commands.pipelineBarrier(before.stages, next.stages, {}, all, {}, {}, driver);
    list.last = next;
  }
  void copyBetween(List &list, BlockOffset to, BlockOffset from, uint64_t bytes) const {
    follow(list, ofTransfers);
    list.commands.copyBuffer(*from.memory->buffer, *to.memory->buffer, vk::BufferCopy(from.offset, to.offset, bytes),
                             driver);
  }
  /// Programs beyond the last workgroup are taken in turns.
  void put(List &list, const LaunchCommand &launch) {
    const uint64_t groups = std::min(launch.groupsOf(threadsOfGroup), found.mostGroups);
    words.clear();
    for (const KernelArgument &argument : launch.arguments)
      words.push_back(argument.value);
    words.push_back(launch.isByGroup ? groups : std::min(launch.allThreads(), groups * threadsOfGroup));
    words.push_back(0);
    if (words.size() > mostPushed) {
      follow(list, ofTransfers);
      list.commands.updateBuffer<uint64_t>(*own.memory->buffer, own.offset, words, driver);
      words.assign(1, own.address());
    }
    follow(list, ofKernels);
    const LoadedKernel &kernel = *objectOf<LoadedKernel>(launch.kernel);
    launched = kernel.first;
    list.commands.bindPipeline(vk::PipelineBindPoint::eCompute, *kernel.second, driver);
    list.commands.pushConstants<uint64_t>(*layout, vk::ShaderStageFlagBits::eCompute, 0, words, driver);
    list.commands.dispatch(static_cast<uint32_t>(groups), 1, 1, driver);
    launched = {};
  }
  void put(List &list, const CopyCommand &copy) { copyBetween(list, placeOf(copy.to), placeOf(copy.from), copy.bytes); }
  /// Vulkan fills words of four bytes. What is none is the pattern once, in memory of our own, and copies of it.
  void put(List &list, const FillCommand &fill) {
    BlockOffset to = placeOf(fill.to);
    const uint64_t pattern = fill.repeated();
    const auto put = [&](const BlockOffset &place, uint64_t bytes, uint64_t word) {
      follow(list, ofTransfers);
      list.commands.fillBuffer(*place.memory->buffer, place.offset, bytes, static_cast<uint32_t>(word), driver);
    };
    if (static_cast<uint32_t>(pattern) == pattern >> 32 && (fill.to.address() | fill.bytes) % 4 == 0)
      return put(to, fill.bytes, pattern);
    put(own, 4, pattern);
    put({own.memory, own.offset + 4}, 4, pattern >> 32);
    copyBetween(list, to, own, std::min<uint64_t>(fill.bytes, 8));
    for (uint64_t done = 8; done < fill.bytes; done *= 2)
      copyBetween(list, {to.memory, to.offset + done}, to, std::min(done, fill.bytes - done));
  }

  /// The kernel whose launch this thread records, and who hears what a layer says of it.
  static inline thread_local std::string_view launched;
  std::shared_ptr<void> messages;
  Unique<vk::Device> device;
  vk::Queue queue;
  Unique<vk::PipelineLayout> layout;
  std::optional<Blocks<Memory>> deviceMemory, hostMemory;
  BlockOffset own;
  Unique<vk::CommandPool> pool;
  Unique<vk::Semaphore> timeline;
  List lists[mostLists];
  size_t turn = 0;
  /// Of what is collected, the lists that are whole, and the one that is not, if there is one.
  std::vector<vk::CommandBuffer> submitted;
  List *current = nullptr;
  Status ended;
  /// Of a launch: kept for their memory.
  std::vector<uint64_t> words;
};

/// Commands that are recorded once, and again where one of them changed: into the list that is over, of a few.
class VulkanGraph final : public RecordedGraph {
public:
  explicit VulkanGraph(VulkanBackend &backend) : backend(backend) {}
  ~VulkanGraph() override {
    (void)backend.settle();
    const std::lock_guard lock(backend.mutex);
    for (const List &list : lists)
      backend.device->freeCommandBuffers(*backend.pool, list.commands, backend.driver);
  }

  Status launch(StreamHandle stream) override {
    const std::lock_guard lock(backend.mutex);
    if (isStale) {
      // The oldest may be part of what is collected.
      if (lists[turn % mostOfGraph].value > backend.value)
        backend.flush();
      ZYX_ASSIGN_OR_RETURN(recorded, backend.begin(lists, turn, vk::CommandBufferUsageFlagBits::eSimultaneousUse));
      for (const AnyCommand &each : commands)
        std::visit([&](const auto &command) { backend.put(*recorded, command); }, each);
      ZYX_RETURN_IF_ERROR(check(recorded->commands.end(backend.driver)));
      isStale = false;
    }
    ZYX_RETURN_IF_ERROR(backend.collect(stream));
    // It begins with no barrier: a semaphore is in front of a submission, and few are of more than one graph.
    if (backend.current || !backend.submitted.empty()) {
      ZYX_ASSIGN_OR_RETURN(List *const list, backend.opened());
      backend.follow(*list, ofAnything);
      ZYX_RETURN_IF_ERROR(backend.close());
    }
    backend.submitted.push_back(recorded->commands);
    recorded->value = backend.value + 1;
    return Status::ok();
  }

private:
  VulkanBackend &backend;
  List lists[mostOfGraph];
  size_t turn = 0;
  /// The list that has the commands as they are.
  List *recorded = nullptr;
};

std::unique_ptr<CommandGraph> VulkanBackend::createGraph() { return std::make_unique<VulkanGraph>(*this); }

} // namespace

ZYX_BUNDLED_DEVICES(VulkanBackend, Driver)
