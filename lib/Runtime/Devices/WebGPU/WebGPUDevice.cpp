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
#include <tuple>

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
/// Of a call whose answer may have a value between its status and its text.
template <typename Info> Info callbackOf(const std::shared_ptr<Answer> &its) {
  constexpr auto callback = [](auto status, auto... rest) {
    const std::tuple all(rest...);
    constexpr size_t text = sizeof...(rest) - 3;
    const std::unique_ptr<std::shared_ptr<Answer>> owned(
        static_cast<std::shared_ptr<Answer> *>(std::get<text + 1>(all)));
    Answer &answer = **owned;
    answer.status = status;
    if constexpr (text == 1)
      answer.value = uint64_t(std::get<0>(all));
    answer.text = textOf(std::get<text>(all));
    answer.isThere = true;
  };
  return {nullptr, WGPUCallbackMode_AllowSpontaneous, callback, new std::shared_ptr<Answer>(its), nullptr};
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
  constexpr WGPUErrorFilter filters[] = {WGPUErrorFilter_OutOfMemory, WGPUErrorFilter_Validation};
  for (WGPUErrorFilter filter : filters)
    driver.DevicePushErrorScope(device, filter);
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
  WGPUDeviceDescriptor info = {};
  info.requiredLimits = &limits;
  info.deviceLostCallbackInfo = {
      nullptr, WGPUCallbackMode_AllowSpontaneous,
      [](const WGPUDevice *, WGPUDeviceLostReason reason, WGPUStringView text, void *self, void *) {
        if (reason != WGPUDeviceLostReason_Destroyed)
          static_cast<OpenDevice *>(self)->lose("the device is lost: " + textOf(text));
      },
      this, nullptr};
  info.uncapturedErrorCallbackInfo = {nullptr,
                                      [](const WGPUDevice *, WGPUErrorType, WGPUStringView text, void *self, void *) {
                                        static_cast<OpenDevice *>(self)->lose(textOf(text));
                                      },
                                      this, nullptr};
  const auto given = std::make_shared<Answer>();
  (void)driver.AdapterRequestDevice(found->adapter, &info, callbackOf<WGPURequestDeviceCallbackInfo>(given));
  while (!given->isThere)
    driver.InstanceProcessEvents(driver.instance);
  device = given->status == WGPUStatus_Success ? reinterpret_cast<WGPUDevice>(given->value) : nullptr;
  if (!device)
    return {ZYX_INTERNAL, std::string(found->identity) + " gives no device: " + given->text};
  queue = driver.DeviceGetQueue(device);
  if (Failure failure =
          makeBuffer(WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, sizeof(argumentValues), arguments))
    return failure;
  WGPUBindGroupLayoutEntry entry = {};
  entry.visibility = WGPUShaderStage_Compute;
  entry.buffer.type = WGPUBufferBindingType_Uniform;
  entry.buffer.hasDynamicOffset = 1;
  entry.buffer.minBindingSize = argumentBytes;
  if (Failure failure = make("lay out arguments", driver.DeviceCreateBindGroupLayout, driver.BindGroupLayoutRelease,
                             {nullptr, {}, 1, &entry}, argumentLayout))
    return failure;
  WGPUBindGroupEntry bound = {};
  bound.buffer = arguments;
  bound.size = argumentBytes;
  if (Failure failure = make("bind arguments", driver.DeviceCreateBindGroup, driver.BindGroupRelease,
                             {nullptr, {}, argumentLayout, 1, &bound}, argumentGroup))
    return failure;
  if (Failure failure = load("wgsl", bytesText, std::strlen(bytesText), &bytesModule))
    return failure;
  WGPUShaderModule shader = objectOf<LoadedModule>(bytesModule).shader;
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
    driver.CommandEncoderRelease(current);
  release(fillKernel);
  release(copyKernel);
  if (bytesModule)
    unload(&objectOf<LoadedModule>(bytesModule));
  if (argumentGroup)
    driver.BindGroupRelease(argumentGroup);
  if (argumentLayout)
    driver.BindGroupLayoutRelease(argumentLayout);
  for (WGPUBuffer buffer : {arguments, reader})
    if (buffer)
      driver.BufferRelease(buffer);
  for (const auto &[handle, memory] : memories)
    if (memory.buffer)
      driver.BufferRelease(memory.buffer);
  driver.QueueRelease(queue);
  driver.DeviceRelease(device);
}

void OpenDevice::popScope(Failure &failure) {
  const auto popped = std::make_shared<Answer>();
  (void)driver.DevicePopErrorScope(device, callbackOf<WGPUPopErrorScopeCallbackInfo>(popped));
  while (!popped->isThere)
    driver.InstanceProcessEvents(driver.instance);
  if (popped->value > WGPUErrorType_NoError && !failure)
    failure = {popped->value == WGPUErrorType_OutOfMemory ? ZYX_OUT_OF_MEMORY : ZYX_INTERNAL, popped->text};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Failure OpenDevice::makeBuffer(WGPUBufferUsage usage, uint64_t bytes, WGPUBuffer &buffer) {
  const WGPUBufferDescriptor info = {nullptr, {}, usage, bytes, 0};
  return make("allocate " + std::to_string(bytes) + " bytes", driver.DeviceCreateBuffer, driver.BufferRelease, info,
              buffer);
}

Failure OpenDevice::allocate(uint64_t bytes, uint64_t *handle) {
  if (Failure failure = checkLost())
    return failure;
  // Distances of bytes are numbers of 32 bits with a sign.
  const uint64_t most = std::min({limits.maxStorageBufferBindingSize, limits.maxBufferSize, uint64_t(1) << 31});
  const uint64_t rounded = (bytes + allocationAlignment - 1) / allocationAlignment * allocationAlignment;
  // Of a larger one a kernel would see the beginning, and lose what it writes behind it.
  if (rounded > most)
    return refuse("a kernel of WebGPU reaches " + std::to_string(most) + " bytes of a buffer here, and " +
                  std::to_string(bytes) + " are asked for");
  const auto at = memories.emplace(nextHandle, Memory{nullptr, rounded}).first;
  Failure failure = makeBuffer(WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, rounded,
                               at->second.buffer);
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
      driver.BindGroupRelease(each->second);
      each = bindGroups.erase(each);
    } else {
      ++each;
    }
  // The driver keeps it for commands that are not over, and for those that were not handed over.
  driver.BufferRelease(at->second.buffer);
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
    driver.QueueWriteBuffer(queue, memory.buffer, to.offset + head, data + head, whole);
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
      driver.BufferRelease(std::exchange(reader, nullptr));
    readerBytes = 0;
    if (Failure failure = makeBuffer(WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, wholeBytes, reader))
      return failure;
    readerBytes = wholeBytes;
  }
  endPass();
  driver.CommandEncoderCopyBufferToBuffer(encoder(), memory.buffer, 4 * words.first, reader, 0, wholeBytes);
  if (Failure failure = flush())
    return failure;
  const auto mapped = std::make_shared<Answer>();
  (void)driver.BufferMapAsync(reader, WGPUMapMode_Read, 0, wholeBytes, callbackOf<WGPUBufferMapCallbackInfo>(mapped));
  while (!mapped->isThere && !isLost())
    (void)driver.DevicePoll(device, 1, nullptr);
  if (mapped->isThere && mapped->status != WGPUStatus_Success)
    lose("cannot map a buffer: " + mapped->text);
  if (Failure failure = checkLost())
    return failure;
  std::memcpy(to, static_cast<const char *>(driver.BufferGetConstMappedRange(reader, 0, wholeBytes)) + from.offset % 4,
              bytes);
  driver.BufferUnmap(reader);
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
    driver.CommandEncoderCopyBufferToBuffer(encoder(), source.buffer, 4 * read.first, other.buffer, 0, 4 * read.count);
    source = other;
    from = {between, from.offset % 4};
  }
  if ((to.offset | from.offset | bytes) % 4 == 0) {
    endPass();
    driver.CommandEncoderCopyBufferToBuffer(encoder(), source.buffer, from.offset, target.buffer, to.offset, bytes);
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
    driver.CommandEncoderClearBuffer(encoder(), memory.buffer, to.offset, bytes);
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
  WGPUShaderSourceWGSL source = {{nullptr, WGPUSType_ShaderSourceWGSL}, {static_cast<const char *>(code), size}};
  auto made = std::make_unique<LoadedModule>();
  Failure failure = make("compile kernels", driver.DeviceCreateShaderModule, driver.ShaderModuleRelease,
                         {&source.chain, {}}, made->shader);
  if (!failure)
    *module = reinterpret_cast<uint64_t>(made.release());
  return failure;
}

void OpenDevice::release(LoadedKernel &kernel) {
  if (kernel.pipeline)
    driver.ComputePipelineRelease(kernel.pipeline);
  if (kernel.layout)
    driver.BindGroupLayoutRelease(kernel.layout);
}

void OpenDevice::unload(LoadedModule *module) {
  const std::unique_ptr<LoadedModule> owned(module);
  // Their layouts, by which they are found, may be another kernel's next.
  forgetBindGroups();
  for (const std::unique_ptr<LoadedKernel> &kernel : owned->kernels)
    release(*kernel);
  driver.ShaderModuleRelease(owned->shader);
}

Failure OpenDevice::makeKernel(WGPUShaderModule shader, LoadedKernel &kernel, const std::string &entry) {
  std::vector<WGPUBindGroupLayoutEntry> entries(kernel.numBuffers);
  for (uint32_t i = 0; i < kernel.numBuffers; ++i) {
    entries[i].binding = i;
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = WGPUBufferBindingType_Storage;
  }
  const std::string what = "lay out kernel " + kernel.name;
  if (Failure failure = make(what, driver.DeviceCreateBindGroupLayout, driver.BindGroupLayoutRelease,
                             {nullptr, {}, entries.size(), entries.data()}, kernel.layout))
    return failure;
  const WGPUBindGroupLayout layouts[] = {kernel.layout, argumentLayout};
  WGPUPipelineLayout whole = nullptr;
  Failure failure =
      make(what, driver.DeviceCreatePipelineLayout, driver.PipelineLayoutRelease, {nullptr, {}, 2, layouts, 0}, whole);
  if (!failure)
    failure = make("compile kernel " + kernel.name, driver.DeviceCreateComputePipeline, driver.ComputePipelineRelease,
                   {nullptr, {}, whole, {nullptr, shader, {entry.data(), entry.size()}, 0, nullptr}}, kernel.pipeline);
  if (whole)
    driver.PipelineLayoutRelease(whole);
  return failure;
}

Failure OpenDevice::find(uint64_t module, const zyx_backend_kernel_v1 *what, uint64_t *kernel) {
  const std::string name = what->name;
  if (what->num_buffers > limits.maxStorageBuffersPerShaderStage)
    return refuse("kernel " + name + " has " + std::to_string(what->num_buffers) + " buffers, and the device binds " +
                  std::to_string(limits.maxStorageBuffersPerShaderStage));
  if (what->num_scalars > argumentWords - 2)
    return refuse("kernel " + name + " has " + std::to_string(what->num_scalars) + " scalars, and there is room for " +
                  std::to_string(argumentWords - 2));
  if (what->group_threads > limits.maxComputeInvocationsPerWorkgroup ||
      what->shared_bytes > limits.maxComputeWorkgroupStorageSize)
    return refuse("kernel " + name + " has workgroups of " + std::to_string(what->group_threads) + " threads and " +
                  std::to_string(what->shared_bytes) + " bytes of shared memory, and the device has " +
                  std::to_string(limits.maxComputeInvocationsPerWorkgroup) + " and " +
                  std::to_string(limits.maxComputeWorkgroupStorageSize));
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
  driver.ComputePassEncoderEnd(pass);
  driver.ComputePassEncoderRelease(std::exchange(pass, nullptr));
}

Failure OpenDevice::flush() {
  if (Failure failure = checkLost())
    return failure;
  if (!current)
    return {};
  endPass();
  if (launches != 0)
    driver.QueueWriteBuffer(queue, arguments, 0, argumentValues, size_t(launches) * argumentBytes);
  launches = 0;
  WGPUCommandBuffer commands = nullptr;
  const Failure failure = scoped("hand over commands", [&] {
    commands = driver.CommandEncoderFinish(current, nullptr);
    return commands != nullptr;
  });
  driver.CommandEncoderRelease(std::exchange(current, nullptr));
  if (failure)
    lose(failure.text);
  // Submitting what is invalid would end the process, and other arguments than are meant are none.
  if (!isLost()) {
    submission = driver.QueueSubmitForIndex(queue, 1, &commands);
    hasSubmitted = true;
  }
  if (commands)
    driver.CommandBufferRelease(commands);
  return checkLost();
}

Failure OpenDevice::bind(const LoadedKernel &kernel, const zyx_backend_memory *buffers, WGPUBindGroup &group) {
  std::vector<uint64_t> key = {reinterpret_cast<uint64_t>(kernel.layout)};
  for (uint32_t i = 0; i < kernel.numBuffers; ++i) {
    key.push_back(buffers[i].handle);
    key.push_back(buffers[i].offset);
  }
  if (const auto known = bindGroups.find(key); known != bindGroups.end()) {
    group = known->second;
    return {};
  }
  std::vector<WGPUBindGroupEntry> entries(kernel.numBuffers);
  for (uint32_t i = 0; i < kernel.numBuffers; ++i) {
    Memory memory;
    if (Failure failure = place(buffers[i], 1, memory))
      return failure;
    if (buffers[i].offset % limits.minStorageBufferOffsetAlignment != 0)
      return refuse("kernel " + kernel.name + " gets a buffer from byte " + std::to_string(buffers[i].offset) +
                    " on; the device binds from multiples of " +
                    std::to_string(limits.minStorageBufferOffsetAlignment));
    entries[i].binding = i;
    entries[i].buffer = memory.buffer;
    entries[i].offset = buffers[i].offset;
    entries[i].size = memory.bytes - buffers[i].offset;
  }
  if (bindGroups.size() >= mostBindGroups)
    forgetBindGroups();
  const auto at = bindGroups.emplace(std::move(key), nullptr).first;
  Failure failure =
      make("bind the buffers of kernel " + kernel.name, driver.DeviceCreateBindGroup, driver.BindGroupRelease,
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
  WGPUBindGroup group = nullptr;
  if (Failure failure = bind(kernel, buffers, group))
    return failure;
  if (launches == launchesOfSubmission)
    if (Failure failure = flush())
      return failure;
  const uint32_t offset = launches * argumentBytes;
  std::copy_n(values, numValues, argumentValues + size_t(launches++) * argumentWords);
  if (!pass)
    pass = driver.CommandEncoderBeginComputePass(encoder(), nullptr);
  driver.ComputePassEncoderSetPipeline(pass, kernel.pipeline);
  driver.ComputePassEncoderSetBindGroup(pass, 0, group, 0, nullptr);
  driver.ComputePassEncoderSetBindGroup(pass, 1, argumentGroup, 1, &offset);
  driver.ComputePassEncoderDispatchWorkgroups(
      pass, static_cast<uint32_t>(std::min<uint64_t>(groups, limits.maxComputeWorkgroupsPerDimension)), 1, 1);
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
  (void)driver.DevicePoll(device, 1, &awaited);
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
