//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A panic of wgpu-native ends the process, and it panics where something invalid is submitted. So each call that makes
// an object is between error scopes, what is encoded is checked before, and behind a failure nothing is submitted.
//===----------------------------------------------------------------------===//
#include "WebGPUDevice.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <iterator>
#include <string_view>

namespace zyx::webgpu {
namespace {

/// Threads of a workgroup, where each computes programs by itself: as the text says.
constexpr uint32_t threadsOfGroup = 64;
/// Sets of buffers that are kept.
constexpr size_t mostBindGroups = 4096;
/// Allocations lie at multiples of this, and so do their numbers.
constexpr uint64_t allocationAlignment = 256;

/// What a kernel cannot reach otherwise: bytes of words, of which the first and the last may be written in part, by
/// masks. Words from [1].x on are set to [0].zw in turns, or to what is [1].w bytes further on in `source`.
constexpr const char *bytesText = R"(@group(1) @binding(0) var<uniform> zyx_args: array<vec4<u32>, 16>;
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> source: array<u32>;
fn write(i: u32, value: u32) {
  let mask = select(0xffffffffu, zyx_args[1].y, i == 0u) & select(0xffffffffu, zyx_args[1].z, i == zyx_args[0].x - 1u);
  let at = zyx_args[1].x + i;
  words[at] = (words[at] & ~mask) | (value & mask);
}
@compute @workgroup_size(64)
fn k_fill(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var i: u32 = id.x; i < zyx_args[0].x; i += groups.x * 64u) {
    write(i, select(zyx_args[0].z, zyx_args[0].w, ((zyx_args[1].x + i) & 1u) != 0u));
  }
}
@compute @workgroup_size(64)
fn k_copy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let bits = (zyx_args[1].w & 3u) * 8u;
  for (var i: u32 = id.x; i < zyx_args[0].x; i += groups.x * 64u) {
    let word = u32(i32(zyx_args[1].w) >> 2u) + zyx_args[1].x + i;
    write(i, (source[max(i32(word), 0)] >> bits) | ((source[word + 1u] << 1u) << (31u - bits)));
  }
}
)";

/// What the driver says, of who asks and of who answers: an answer after a device that is lost may come on any thread,
/// when the call is over that asked.
struct Answer {
  uint32_t status = 0;
  uint64_t value = 0;
  std::string text;
  std::atomic<bool> isThere = false;
};
template <typename... Value> void answer(uint32_t status, Value... value, Text text, void *into, void *) {
  const std::unique_ptr<std::shared_ptr<Answer>> owned(static_cast<std::shared_ptr<Answer> *>(into));
  Answer &its = **owned;
  its.status = status;
  ((its.value = uint64_t(value)), ...);
  its.text = text.str();
  its.isThere = true;
}
/// Of a call whose answer has such a value between its status and its text.
template <typename... Value> CallbackInfo callbackOf(const std::shared_ptr<Answer> &its) {
  CallbackInfo info;
  info.callback = reinterpret_cast<void (*)()>(&answer<Value...>);
  info.first = new std::shared_ptr<Answer>(its);
  return info;
}

/// The words that bytes touch, and what of the first and the last one is theirs.
struct TouchedWords {
  uint64_t first, count;
  uint32_t firstMask, lastMask;
  TouchedWords(uint64_t begin, uint64_t bytes)
      : first(begin / 4), count((begin + bytes + 3) / 4 - first), firstMask(~uint32_t(0) << 8 * (begin % 4)),
        lastMask(~uint32_t(0) >> 8 * ((4 - (begin + bytes) % 4) % 4)) {}
};

} // namespace

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

template <typename Body> Failure OpenDevice::scoped(const std::string &what, Body body) {
  constexpr uint32_t filters[] = {filterOutOfMemory, filterValidation};
  for (uint32_t filter : filters)
    driver.pushScope(device, filter);
  const bool isMade = body();
  Failure failure;
  for (size_t i = 0; i < std::size(filters); ++i)
    popScope(failure);
  if (!failure && !isMade)
    failure = {ZYX_INTERNAL, "nothing was made"};
  if (failure)
    failure.text = "cannot " + what + ": " + failure.text;
  return failure;
}

Failure OpenDevice::open() {
  DeviceInfo info = {};
  info.limits = &limits;
  info.lost.callback =
      reinterpret_cast<void (*)()>(+[](const DeviceHandle *, uint32_t reason, Text text, void *self, void *) {
        if (reason != lostDestroyed)
          static_cast<OpenDevice *>(self)->lose("the device is lost: " + text.str());
      });
  info.lost.first = this;
  info.uncaptured = {nullptr,
                     +[](const DeviceHandle *, uint32_t, Text text, void *self, void *) {
                       static_cast<OpenDevice *>(self)->lose(text.str());
                     },
                     this, nullptr};
  const auto given = std::make_shared<Answer>();
  (void)driver.requestDevice(found->adapter, &info, callbackOf<DeviceHandle>(given));
  while (!given->isThere)
    driver.processEvents(driver.instance);
  device = given->status == statusSuccess ? reinterpret_cast<DeviceHandle>(given->value) : nullptr;
  if (!device)
    return {ZYX_INTERNAL, std::string(found->identity) + " gives no device: " + given->text};
  queue = driver.getQueue(device);
  if (Failure failure = makeBuffer(usageUniform | usageCopyTarget, sizeof(argumentValues), arguments))
    return failure;
  LayoutEntry entry = {};
  entry.visibility = stageCompute;
  entry.buffer.type = bindUniform;
  entry.buffer.isDynamic = 1;
  entry.buffer.leastBytes = argumentBytes;
  if (Failure failure = make("lay out arguments", driver.createLayout, driver.layoutRelease, {nullptr, {}, 1, &entry},
                             argumentLayout))
    return failure;
  BindGroupEntry bound = {};
  bound.buffer = arguments;
  bound.size = argumentBytes;
  if (Failure failure = make("bind arguments", driver.createBindGroup, driver.bindGroupRelease,
                             {nullptr, {}, argumentLayout, 1, &bound}, argumentGroup))
    return failure;
  if (Failure failure = load("wgsl", bytesText, std::strlen(bytesText), &bytesModule))
    return failure;
  const ShaderModule shader = objectOf<LoadedModule>(bytesModule).shader;
  fillKernel.name = "fill";
  fillKernel.numBuffers = 1;
  copyKernel.name = "copy";
  copyKernel.numBuffers = 2;
  if (Failure failure = makeKernel(shader, fillKernel, "k_fill"))
    return failure;
  return makeKernel(shader, copyKernel, "k_copy");
}

OpenDevice::~OpenDevice() {
  if (!device)
    return;
  const std::lock_guard lock(mutex);
  if (!isLost())
    (void)synchronize();
  endPass();
  if (current)
    driver.encoderRelease(current);
  release(fillKernel);
  release(copyKernel);
  if (bytesModule)
    unload(&objectOf<LoadedModule>(bytesModule));
  if (argumentGroup)
    driver.bindGroupRelease(argumentGroup);
  if (argumentLayout)
    driver.layoutRelease(argumentLayout);
  for (Buffer buffer : {arguments, reader})
    if (buffer)
      driver.bufferRelease(buffer);
  for (const auto &[handle, memory] : memories)
    if (memory.buffer)
      driver.bufferRelease(memory.buffer);
  driver.queueRelease(queue);
  driver.deviceRelease(device);
}

void OpenDevice::popScope(Failure &failure) {
  const auto popped = std::make_shared<Answer>();
  (void)driver.popScope(device, callbackOf<uint32_t>(popped));
  while (!popped->isThere)
    driver.processEvents(driver.instance);
  if (popped->value > errorNone && !failure)
    failure = {popped->value == errorOutOfMemory ? ZYX_OUT_OF_MEMORY : ZYX_INTERNAL, popped->text};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Failure OpenDevice::makeBuffer(Flags usage, uint64_t bytes, Buffer &buffer) {
  const BufferInfo info = {nullptr, {}, usage, bytes, 0};
  return make("allocate " + std::to_string(bytes) + " bytes", driver.createBuffer, driver.bufferRelease, info, buffer);
}

Failure OpenDevice::allocate(uint64_t bytes, uint64_t *handle) {
  if (Failure failure = checkLost())
    return failure;
  // Distances of bytes are numbers of 32 bits with a sign.
  const uint64_t most = std::min({limits.storageBytes, limits.bufferBytes, uint64_t(1) << 31});
  const uint64_t rounded = (bytes + allocationAlignment - 1) / allocationAlignment * allocationAlignment;
  // Of a larger one a kernel would see the beginning, and lose what it writes behind it.
  if (rounded > most)
    return refuse("a kernel of WebGPU reaches " + std::to_string(most) + " bytes of a buffer here, and " +
                  std::to_string(bytes) + " are asked for");
  const auto at = memories.emplace(nextHandle, Memory{nullptr, rounded}).first;
  Failure failure = makeBuffer(usageStorage | usageCopySource | usageCopyTarget, rounded, at->second.buffer);
  if (failure) {
    memories.erase(at);
    return failure;
  }
  *handle = nextHandle;
  nextHandle += rounded;
  return {};
}

Failure OpenDevice::free(uint64_t handle) {
  const auto at = memories.find(handle);
  if (at == memories.end())
    return {ZYX_INTERNAL, "no memory has this handle"};
  for (auto each = bindGroups.begin(); each != bindGroups.end();)
    if (std::find(each->first.begin(), each->first.end(), handle) != each->first.end()) {
      driver.bindGroupRelease(each->second);
      each = bindGroups.erase(each);
    } else {
      ++each;
    }
  // The driver keeps it for commands that are not over, and for those that were not handed over.
  driver.bufferRelease(at->second.buffer);
  memories.erase(at);
  return {};
}

Failure OpenDevice::place(zyx_backend_memory at, uint64_t bytes, Memory &memory) const {
  const auto known = memories.find(at.handle);
  if (known == memories.end() || at.offset > known->second.bytes || bytes > known->second.bytes - at.offset)
    return {ZYX_INTERNAL, "a place is outside of all memory"};
  memory = known->second;
  return {};
}

Failure OpenDevice::upload(zyx_backend_memory to, const void *from, uint64_t bytes) {
  Memory memory;
  if (Failure failure = place(to, bytes, memory))
    return failure;
  // Written before what is encoded and not handed over yet.
  if (Failure failure = flush())
    return failure;
  const auto *data = static_cast<const unsigned char *>(from);
  // Of words that it has in part, the rest stays as it is.
  const auto part = [&](uint64_t begin, uint64_t count) -> Failure {
    uint64_t pattern = 0;
    if (count == 0)
      return {};
    std::memcpy(&pattern, data + begin, count);
    return fill({to.handle, to.offset + begin}, count, pattern, sizeof pattern);
  };
  const uint64_t head = std::min(bytes, (4 - to.offset % 4) % 4), whole = (bytes - head) / 4 * 4;
  if (whole != 0)
    driver.write(queue, memory.buffer, to.offset + head, data + head, whole);
  if (Failure failure = part(0, head))
    return failure;
  if (Failure failure = part(head + whole, bytes - head - whole))
    return failure;
  return checkLost();
}

Failure OpenDevice::download(void *to, zyx_backend_memory from, uint64_t bytes) {
  Memory memory;
  if (Failure failure = place(from, bytes, memory))
    return failure;
  const TouchedWords words(from.offset, bytes);
  const uint64_t wholeBytes = 4 * words.count;
  if (readerBytes < wholeBytes) {
    if (reader)
      driver.bufferRelease(std::exchange(reader, nullptr));
    readerBytes = 0;
    if (Failure failure = makeBuffer(usageMapRead | usageCopyTarget, wholeBytes, reader))
      return failure;
    readerBytes = wholeBytes;
  }
  endPass();
  driver.copy(encoder(), memory.buffer, 4 * words.first, reader, 0, wholeBytes);
  if (Failure failure = flush())
    return failure;
  const auto mapped = std::make_shared<Answer>();
  (void)driver.bufferMap(reader, mapRead, 0, wholeBytes, callbackOf<>(mapped));
  while (!mapped->isThere && !isLost())
    (void)driver.poll(device, 1, nullptr);
  if (mapped->isThere && mapped->status != statusSuccess)
    lose("cannot map a buffer: " + mapped->text);
  if (Failure failure = checkLost())
    return failure;
  std::memcpy(to, static_cast<const char *>(driver.bufferMapped(reader, 0, wholeBytes)) + from.offset % 4, bytes);
  driver.bufferUnmap(reader);
  return checkLost();
}

Failure OpenDevice::dispatchBytes(const LoadedKernel &kernel, const zyx_backend_memory *buffers, uint64_t begin,
                                  uint64_t bytes, uint64_t pattern, uint64_t distance) {
  const TouchedWords words(begin, bytes);
  const auto low = [](uint64_t number) { return static_cast<uint32_t>(number); };
  const uint32_t values[] = {
      low(words.count), 0, low(pattern), low(pattern >> 32), low(words.first), words.firstMask, words.lastMask,
      low(distance)};
  return dispatch(kernel, buffers, values, std::size(values), (words.count + threadsOfGroup - 1) / threadsOfGroup);
}

Failure OpenDevice::copy(zyx_backend_memory to, zyx_backend_memory from, uint64_t bytes) {
  Memory source, target;
  if (Failure failure = place(from, bytes, source))
    return failure;
  if (Failure failure = place(to, bytes, target))
    return failure;
  if (Failure failure = checkLost())
    return failure;
  // No copy is within one buffer.
  if (source.buffer == target.buffer) {
    const TouchedWords read(from.offset, bytes);
    if (betweenBytes < 4 * read.count) {
      if (betweenBytes != 0)
        (void)free(between);
      betweenBytes = 0;
      if (Failure failure = allocate(4 * read.count, &between))
        return failure;
      betweenBytes = 4 * read.count;
    }
    const Memory &other = memories.find(between)->second;
    endPass();
    driver.copy(encoder(), source.buffer, 4 * read.first, other.buffer, 0, 4 * read.count);
    source = other;
    from = {between, from.offset % 4};
  }
  if ((to.offset | from.offset | bytes) % 4 == 0) {
    endPass();
    driver.copy(encoder(), source.buffer, from.offset, target.buffer, to.offset, bytes);
    return {};
  }
  const zyx_backend_memory buffers[] = {{to.handle, 0}, {from.handle, 0}};
  return dispatchBytes(copyKernel, buffers, to.offset, bytes, 0, from.offset - to.offset);
}

Failure OpenDevice::fill(zyx_backend_memory to, uint64_t bytes, uint64_t pattern, uint32_t patternBytes) {
  Memory memory;
  if (Failure failure = place(to, bytes, memory))
    return failure;
  for (uint32_t width = patternBytes; width < 8; width *= 2) {
    pattern &= (uint64_t(1) << 8 * width) - 1;
    pattern |= pattern << 8 * width;
  }
  if (pattern == 0 && (to.offset | bytes) % 4 == 0) {
    if (Failure failure = checkLost())
      return failure;
    endPass();
    driver.clear(encoder(), memory.buffer, to.offset, bytes);
    return {};
  }
  // As it stands at multiples of 8 bytes.
  pattern = std::rotl(pattern, static_cast<int>(8 * (to.offset % 8)));
  const zyx_backend_memory whole = {to.handle, 0};
  return dispatchBytes(fillKernel, &whole, to.offset, bytes, pattern, 0);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Failure OpenDevice::load(const char *format, const void *code, size_t size, uint64_t *module) {
  if (std::string_view(format) != "wgsl")
    return refuse("code of format '" + std::string(format) + "' is not known to a device of WebGPU");
  SourceWGSL source = {{nullptr, sTypeWGSL}, {static_cast<const char *>(code), size}};
  auto made = std::make_unique<LoadedModule>();
  Failure failure =
      make("compile kernels", driver.createShader, driver.shaderRelease, {&source.chain, {}}, made->shader);
  if (!failure)
    *module = reinterpret_cast<uint64_t>(made.release());
  return failure;
}

void OpenDevice::release(LoadedKernel &kernel) {
  if (kernel.pipeline)
    driver.pipelineRelease(kernel.pipeline);
  if (kernel.layout)
    driver.layoutRelease(kernel.layout);
}

void OpenDevice::unload(LoadedModule *module) {
  const std::unique_ptr<LoadedModule> owned(module);
  // Their layouts, by which they are found, may be another kernel's next.
  forgetBindGroups();
  for (const std::unique_ptr<LoadedKernel> &kernel : owned->kernels)
    release(*kernel);
  driver.shaderRelease(owned->shader);
}

Failure OpenDevice::makeKernel(ShaderModule shader, LoadedKernel &kernel, const std::string &entry) {
  std::vector<LayoutEntry> entries(kernel.numBuffers);
  for (uint32_t i = 0; i < kernel.numBuffers; ++i) {
    entries[i].binding = i;
    entries[i].visibility = stageCompute;
    entries[i].buffer.type = bindStorage;
  }
  const std::string what = "lay out kernel " + kernel.name;
  if (Failure failure = make(what, driver.createLayout, driver.layoutRelease,
                             {nullptr, {}, entries.size(), entries.data()}, kernel.layout))
    return failure;
  const BindGroupLayout layouts[] = {kernel.layout, argumentLayout};
  PipelineLayout whole = nullptr;
  Failure failure =
      make(what, driver.createPipelineLayout, driver.pipelineLayoutRelease, {nullptr, {}, 2, layouts, 0}, whole);
  if (!failure)
    failure = make("compile kernel " + kernel.name, driver.createPipeline, driver.pipelineRelease,
                   {nullptr, {}, whole, nullptr, shader, {entry.data(), entry.size()}, 0, nullptr}, kernel.pipeline);
  if (whole)
    driver.pipelineLayoutRelease(whole);
  return failure;
}

Failure OpenDevice::find(uint64_t module, const zyx_backend_kernel_v1 *what, uint64_t *kernel) {
  const std::string name = what->name;
  if (what->num_buffers > limits.storageBuffers)
    return refuse("kernel " + name + " has " + std::to_string(what->num_buffers) + " buffers, and the device binds " +
                  std::to_string(limits.storageBuffers));
  if (what->num_scalars > argumentWords - 2)
    return refuse("kernel " + name + " has " + std::to_string(what->num_scalars) + " scalars, and there is room for " +
                  std::to_string(argumentWords - 2));
  if (what->group_threads > limits.groupThreads || what->shared_bytes > limits.sharedBytes)
    return refuse("kernel " + name + " has workgroups of " + std::to_string(what->group_threads) + " threads and " +
                  std::to_string(what->shared_bytes) + " bytes of shared memory, and the device has " +
                  std::to_string(limits.groupThreads) + " and " + std::to_string(limits.sharedBytes));
  auto &owner = objectOf<LoadedModule>(module);
  LoadedKernel &made = *owner.kernels.emplace_back(std::make_unique<LoadedKernel>());
  made.name = name;
  made.numBuffers = what->num_buffers;
  made.numScalars = what->num_scalars;
  made.isByGroup = what->group_threads != 0;
  *kernel = reinterpret_cast<uint64_t>(&made);
  return makeKernel(owner.shader, made, "k_" + std::string(what->symbol));
}

//===----------------------------------------------------------------------===//
// Launches and order
//===----------------------------------------------------------------------===//

void OpenDevice::endPass() {
  if (!pass)
    return;
  driver.endPass(pass);
  driver.passRelease(std::exchange(pass, nullptr));
}

Failure OpenDevice::flush() {
  if (Failure failure = checkLost())
    return failure;
  if (!current)
    return {};
  endPass();
  if (launches != 0)
    driver.write(queue, arguments, 0, argumentValues, size_t(launches) * argumentBytes);
  launches = 0;
  CommandBuffer commands = nullptr;
  const Failure failure = scoped("hand over commands", [&] {
    commands = driver.finish(current, nullptr);
    return commands != nullptr;
  });
  driver.encoderRelease(std::exchange(current, nullptr));
  if (failure)
    lose(failure.text);
  // Submitting what is invalid would end the process, and other arguments than are meant are none.
  if (!isLost()) {
    submission = driver.submit(queue, 1, &commands);
    hasSubmitted = true;
  }
  if (commands)
    driver.commandBufferRelease(commands);
  return checkLost();
}

Failure OpenDevice::bind(const LoadedKernel &kernel, const zyx_backend_memory *buffers, BindGroup &group) {
  std::vector<uint64_t> key = {reinterpret_cast<uint64_t>(kernel.layout)};
  for (uint32_t i = 0; i < kernel.numBuffers; ++i) {
    key.push_back(buffers[i].handle);
    key.push_back(buffers[i].offset);
  }
  if (const auto known = bindGroups.find(key); known != bindGroups.end()) {
    group = known->second;
    return {};
  }
  std::vector<BindGroupEntry> entries(kernel.numBuffers);
  for (uint32_t i = 0; i < kernel.numBuffers; ++i) {
    Memory memory;
    if (Failure failure = place(buffers[i], 1, memory))
      return failure;
    if (buffers[i].offset % limits.storageAlignment != 0)
      return refuse("kernel " + kernel.name + " gets a buffer from byte " + std::to_string(buffers[i].offset) +
                    " on; the device binds from multiples of " + std::to_string(limits.storageAlignment));
    entries[i].binding = i;
    entries[i].buffer = memory.buffer;
    entries[i].offset = buffers[i].offset;
    entries[i].size = memory.bytes - buffers[i].offset;
  }
  if (bindGroups.size() >= mostBindGroups)
    forgetBindGroups();
  const auto at = bindGroups.emplace(std::move(key), nullptr).first;
  Failure failure = make("bind the buffers of kernel " + kernel.name, driver.createBindGroup, driver.bindGroupRelease,
                         {nullptr, {}, kernel.layout, entries.size(), entries.data()}, at->second);
  if (failure)
    bindGroups.erase(at);
  else
    group = at->second;
  return failure;
}

Failure OpenDevice::dispatch(const LoadedKernel &kernel, const zyx_backend_memory *buffers, const uint32_t *values,
                             size_t numValues, uint64_t groups) {
  if (Failure failure = checkLost())
    return failure;
  BindGroup group = nullptr;
  if (Failure failure = bind(kernel, buffers, group))
    return failure;
  if (launches == launchesOfSubmission)
    if (Failure failure = flush())
      return failure;
  const uint32_t offset = launches * argumentBytes;
  std::copy_n(values, numValues, argumentValues + size_t(launches++) * argumentWords);
  if (!pass)
    pass = driver.beginPass(encoder(), nullptr);
  driver.setPipeline(pass, kernel.pipeline);
  driver.setBindGroup(pass, 0, group, 0, nullptr);
  driver.setBindGroup(pass, 1, argumentGroup, 1, &offset);
  driver.dispatch(pass, static_cast<uint32_t>(std::min<uint64_t>(groups, limits.groups)), 1, 1);
  return {};
}

Failure OpenDevice::launch(const zyx_backend_launch_v1 *launch) {
  const LoadedKernel &kernel = objectOf<LoadedKernel>(launch->kernel);
  if (launch->programs == 0)
    return {};
  // Threads add to the number of a program until it is as large.
  if (launch->programs > uint64_t(1) << 31)
    return refuse("kernel " + kernel.name + " has " + std::to_string(launch->programs) +
                  " programs, more than numbers of 32 bits count");
  std::vector<zyx_backend_memory> buffers;
  uint32_t values[argumentWords] = {static_cast<uint32_t>(launch->programs), 0};
  for (uint32_t i = 0; i < kernel.numBuffers; ++i)
    buffers.push_back(launch->arguments[i].memory);
  for (uint32_t i = 0; i < kernel.numScalars; ++i) {
    const auto value = static_cast<int64_t>(launch->arguments[kernel.numBuffers + i].value);
    if (value != static_cast<int32_t>(value))
      return refuse("kernel " + kernel.name + " gets the number " + std::to_string(value) +
                    ", which has more than 32 bits");
    values[2 + i] = static_cast<uint32_t>(value);
  }
  uint64_t groups = launch->groups;
  if (!kernel.isByGroup)
    groups = (uint64_t(launch->groups) * launch->threads + threadsOfGroup - 1) / threadsOfGroup;
  return dispatch(kernel, buffers.data(), values, 2 + kernel.numScalars, groups);
}

Failure OpenDevice::waitFor(uint64_t awaited) {
  // Others hand over meanwhile.
  mutex.unlock();
  (void)driver.poll(device, 1, &awaited);
  mutex.lock();
  return checkLost();
}

Failure OpenDevice::record(uint64_t event) {
  if (Failure failure = flush())
    return failure;
  auto &recorded = objectOf<RecordedEvent>(event);
  recorded.submission = submission;
  recorded.wasRecorded = hasSubmitted;
  if (!recorded.isTimed)
    return {};
  // The host's clock, behind all that comes before: events are timed where a run is profiled.
  const Failure failure = synchronizeEvent(event);
  recorded.reached =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  return failure;
}

} // namespace zyx::webgpu
