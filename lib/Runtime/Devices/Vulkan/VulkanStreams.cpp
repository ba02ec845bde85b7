//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "VulkanBackend.h"

#include <chrono>
#include <cstring>
#include <thread>
#include <variant>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::vulkan;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// A driver takes long to wake who sleeps, so that the beginning is spent looking.
Status VulkanBackend::wait(VkSemaphore timeline, uint64_t value) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  uint64_t reached = 0;
  do {
    ZYX_RETURN_IF_ERROR(check(driver.GetSemaphoreCounterValue(device, timeline, &reached)));
    if (reached >= value)
      return Status::ok();
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  const VkSemaphoreWaitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &timeline, .pValues = &value};
  return check(driver.WaitSemaphores(device, &info, UINT64_MAX));
}

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

Status VulkanBackend::beginList(Batch &batch, VkCommandPool pool, uint64_t bytes, VkCommandBufferUsageFlags usage) {
  const VkCommandBufferAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
  if (!batch.commands)
    ZYX_RETURN_IF_ERROR(check(driver.AllocateCommandBuffers(device, &wanted, &batch.commands)));
  if (bytes > batch.bytes) {
    ZYX_ASSIGN_OR_RETURN(const uint64_t memory, hostMemory->allocate(bytes));
    if (batch.memory != 0)
      hostMemory->free(batch.memory);
    batch.memory = memory;
    batch.bytes = bytes;
    batch.mapped = hostMemory->find(memory).mapped();
  }
  batch.used = batch.numCommands = 0;
  batch.last = ofAnything;
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = usage};
  return check(driver.BeginCommandBuffer(batch.commands, &info));
}

/// A stream that is far ahead of the device waits for the list whose turn it is.
Status VulkanBackend::begin(VulkanStream &stream) {
  if (stream.isOpen)
    return Status::ok();
  Batch &batch = stream.open();
  ZYX_RETURN_IF_ERROR(wait(stream.timeline, batch.value));
  ZYX_RETURN_IF_ERROR(beginList(batch, stream.pool, argumentBytes, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT));
  stream.isOpen = true;
  return Status::ok();
}

Status VulkanBackend::append(StreamHandle stream, uint64_t bytes, const std::function<void(Batch &)> &put) {
  VulkanStream &own = *objectOf<VulkanStream>(stream);
  const std::lock_guard lock(own.mutex);
  ZYX_RETURN_IF_ERROR(std::exchange(own.lost, Status::ok()));
  if (own.open().used + bytes > argumentBytes || own.open().numCommands == mostCommands)
    ZYX_RETURN_IF_ERROR(submit(own));
  ZYX_RETURN_IF_ERROR(begin(own));
  Batch &batch = own.open();
  put(batch);
  batch.used += padded(bytes);
  ++batch.numCommands;
  return Status::ok();
}

Status VulkanBackend::submit(VulkanStream &stream, VkCommandBuffer further) {
  ZYX_RETURN_IF_ERROR(std::exchange(stream.lost, Status::ok()));
  const bool isOpen = std::exchange(stream.isOpen, false);
  if (!isOpen && !further)
    return Status::ok();
  Batch &batch = stream.open();
  const VkCommandBuffer lists[] = {isOpen ? batch.commands : further, further};
  const uint64_t value = stream.value + 1;
  const VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                .signalSemaphoreValueCount = 1,
                                                .pSignalSemaphoreValues = &value};
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &values,
                             .commandBufferCount = isOpen && further ? 2U : 1U,
                             .pCommandBuffers = lists,
                             .signalSemaphoreCount = 1,
                             .pSignalSemaphores = &stream.timeline};
  Status status = isOpen ? endList(batch) : Status::ok();
  if (status.isOk()) {
    const std::lock_guard lock(queueMutex);
    status = check(driver.QueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
  }
  // Without its graph a replay would go on.
  if (isOpen && further)
    stream.lost = status;
  ZYX_RETURN_IF_ERROR(status);
  stream.value = value;
  if (isOpen) {
    batch.value = value;
    ++stream.turn;
  }
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
      follow(batch, ofAnything);
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

/// The word that is repeated, where it is one: Vulkan fills words of four bytes.
std::optional<uint32_t> VulkanBackend::wordOf(const FillCommand &fill) const {
  const uint64_t pattern = fill.repeated();
  const auto word = static_cast<uint32_t>(pattern);
  return word == pattern >> 32 && (fill.to.address() | fill.bytes) % 4 == 0 ? std::optional(word) : std::nullopt;
}

/// What is no word is copied from a piece of it.
void VulkanBackend::put(Batch &batch, const FillCommand &fill) const {
  const BlockOffset to = deviceMemory->find(fill.to.address());
  follow(batch, ofTransfers);
  if (const std::optional<uint32_t> word = wordOf(fill)) {
    driver.CmdFillBuffer(batch.commands, to.memory->buffer, to.offset, fill.bytes, *word);
    return;
  }
  const uint64_t piece = *bytesOf(fill), pattern = fill.repeated();
  for (uint64_t i = 0; i < piece; ++i)
    batch.mapped[batch.used + i] = static_cast<std::byte>(pattern >> 8 * (i % 8));
  const BlockOffset from = hostMemory->find(batch.memory + batch.used);
  std::vector<VkBufferCopy> regions;
  for (uint64_t done = 0; done < fill.bytes; done += piece)
    regions.push_back({from.offset, to.offset + done, std::min(piece, fill.bytes - done)});
  driver.CmdCopyBuffer(batch.commands, from.memory->buffer, to.memory->buffer, static_cast<uint32_t>(regions.size()),
                       regions.data());
}

Result<uint64_t> VulkanBackend::bytesOf(const LaunchCommand &launch) const {
  const uint64_t bytes = (launch.arguments.size() + behindArguments) * sizeof(uint64_t);
  if (bytes > argumentBytes)
    return Status::unsupported(textOf({"a kernel has more than ", std::to_string(argumentBytes / sizeof(uint64_t)),
                                       " arguments on device '", itsFacts.name, "'"}));
  return bytes <= pushedBytes ? 0 : bytes;
}

void VulkanBackend::put(Batch &batch, const LaunchCommand &launch) const {
  const LoadedKernel &loaded = *objectOf<LoadedKernel>(launch.kernel);
  uint64_t groups = launch.groups, step = launch.groups;
  // Programs beyond the last are taken in turns.
  if (loaded.localThreads != 0)
    groups = launch.groupsOf(loaded.localThreads);
  groups = std::min(groups, found.mostGroups);
  step = loaded.localThreads != 0 ? std::min(launch.groups * uint64_t(launch.threads), groups * loaded.localThreads)
                                  : groups;
  const size_t count = launch.arguments.size() + behindArguments;
  const bool isPushed = count * sizeof(uint64_t) <= pushedBytes;
  uint64_t pushed[pushedBytes / sizeof(uint64_t)] = {batch.memory + batch.used};
  uint64_t *into = isPushed ? pushed : reinterpret_cast<uint64_t *>(batch.mapped + batch.used);
  for (const KernelArgument &argument : launch.arguments)
    *into++ = argument.value;
  *into++ = step;
  *into = 0;
  follow(batch, ofKernels);
  driver.CmdBindPipeline(batch.commands, VK_PIPELINE_BIND_POINT_COMPUTE, loaded.pipeline);
  driver.CmdPushConstants(batch.commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<uint32_t>((isPushed ? count : 1) * sizeof(uint64_t)), pushed);
  driver.CmdDispatch(batch.commands, static_cast<uint32_t>(groups), 1, 1);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace zyx::runtime::vulkan {

/// Commands that are recorded once, and again where one of them changed: into the list that is over, of a few.
class VulkanGraph final : public CommandGraph {
public:
  explicit VulkanGraph(VulkanBackend &backend) : backend(backend) {}
  ~VulkanGraph() override {
    for (const Batch &list : lists) {
      if (list.value != 0)
        (void)backend.wait(timeline, list.value);
      if (list.memory != 0)
        backend.hostMemory->free(list.memory);
    }
    backend.driver.DestroyCommandPool(backend.device, pool, nullptr);
  }

  Result<Node> add(const LaunchCommand &launch) override { return append(launch); }
  Result<Node> add(const CopyCommand &copy) override { return append(copy); }
  Result<Node> add(const FillCommand &fill) override { return append(fill); }
  Status finish() override {
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = backend.found.queueFamily};
    return check(backend.driver.CreateCommandPool(backend.device, &info, nullptr, &pool));
  }
  Status update(Node node, const LaunchCommand &launch) override { return change(node, launch); }
  Status update(Node node, const CopyCommand &copy) override { return change(node, copy); }
  Status update(Node node, const FillCommand &fill) override { return change(node, fill); }

  Status launch(StreamHandle stream) override {
    VulkanStream &own = *objectOf<VulkanStream>(stream);
    const std::lock_guard lock(own.mutex);
    timeline = own.timeline;
    if (isStale)
      ZYX_RETURN_IF_ERROR(recordList());
    ZYX_RETURN_IF_ERROR(backend.submit(own, lists[turn].commands));
    lists[turn].value = own.value;
    return Status::ok();
  }

private:
  /// A command, with its own arguments.
  struct Command {
    std::variant<LaunchCommand, CopyCommand, FillCommand> what;
    std::vector<KernelArgument> arguments;
    uint64_t bytes = 0;
  };
  template <typename What> Result<Node> append(const What &what) {
    commands.emplace_back();
    ZYX_RETURN_IF_ERROR(change(commands.size() - 1, what));
    return commands.size() - 1;
  }
  template <typename What> Status change(Node node, const What &what) {
    Command &command = commands[node];
    ZYX_ASSIGN_OR_RETURN(command.bytes, backend.bytesOf(what));
    if constexpr (std::is_same_v<What, LaunchCommand>)
      command.arguments.assign(what.arguments.begin(), what.arguments.end());
    command.what = what;
    isStale = true;
    return Status::ok();
  }

  Status recordList() {
    turn = (turn + 1) % mostOfGraph;
    Batch &list = lists[turn];
    if (list.value != 0)
      ZYX_RETURN_IF_ERROR(backend.wait(timeline, list.value));
    uint64_t bytes = 0;
    for (const Command &each : commands)
      bytes += padded(each.bytes);
    ZYX_RETURN_IF_ERROR(backend.beginList(list, pool, bytes, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT));
    for (Command &each : commands) {
      if (auto *launch = std::get_if<LaunchCommand>(&each.what))
        launch->arguments = each.arguments;
      std::visit([&](const auto &what) { backend.put(list, what); }, each.what);
      list.used += padded(each.bytes);
    }
    ZYX_RETURN_IF_ERROR(backend.endList(list));
    isStale = false;
    return Status::ok();
  }

  VulkanBackend &backend;
  std::vector<Command> commands;
  VkCommandPool pool = VK_NULL_HANDLE;
  /// Of the stream that it is launched on.
  VkSemaphore timeline = VK_NULL_HANDLE;
  Batch lists[mostOfGraph];
  size_t turn = 0;
  bool isStale = true;
};

} // namespace zyx::runtime::vulkan

std::unique_ptr<CommandGraph> VulkanBackend::createGraph() { return std::make_unique<VulkanGraph>(*this); }
