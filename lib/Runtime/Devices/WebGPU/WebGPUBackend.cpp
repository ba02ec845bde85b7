//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A panic of wgpu-native ends the process, and it panics where something invalid is submitted. So each call that makes
// an object is between error scopes, what is encoded is checked before, and behind a failure nothing is submitted.
//===----------------------------------------------------------------------===//
#include "WebGPUBackend.h"

#include "../Plugin/Export.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <iterator>
#include <tuple>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::webgpu;

namespace {

/// Threads of a workgroup, where each computes programs by itself: as the text says.
constexpr uint32_t threadsOfGroup = 64;
/// Sets of buffers that are kept.
constexpr size_t mostBindGroups = 4096;
/// Allocations have multiples of these bytes.
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

template <typename Body> Status WebGPUBackend::scoped(const std::string &what, Body body) {
  for (WGPUErrorFilter filter : {WGPUErrorFilter_OutOfMemory, WGPUErrorFilter_Validation})
    driver.DevicePushErrorScope(device, filter);
  const bool isMade = body();
  Status status = popScope();
  const Status outer = popScope();
  if (status.isOk())
    status = outer.isOk() && !isMade ? Status::internal("nothing was made") : outer;
  if (status.isOk())
    return status;
  ZYX_RETURN_IF_ERROR(checkLost());
  return {status.code(), "cannot " + what + ": " + status.message()};
}

Status WebGPUBackend::popScope() {
  const auto popped = std::make_shared<Answer>();
  (void)driver.DevicePopErrorScope(device, callbackOf<WGPUPopErrorScopeCallbackInfo>(popped));
  while (!popped->isThere)
    driver.InstanceProcessEvents(driver.instance);
  return popped->value <= WGPUErrorType_NoError       ? Status::ok()
         : popped->value == WGPUErrorType_OutOfMemory ? Status::outOfMemory(popped->text)
                                                      : Status::internal(popped->text);
}

Status WebGPUBackend::open() {
  WGPUDeviceDescriptor info = {};
  info.requiredLimits = &limits;
  info.deviceLostCallbackInfo = {
      nullptr, WGPUCallbackMode_AllowSpontaneous,
      [](const WGPUDevice *, WGPUDeviceLostReason reason, WGPUStringView text, void *self, void *) {
        if (reason != WGPUDeviceLostReason_Destroyed)
          static_cast<WebGPUBackend *>(self)->lose("the device is lost: " + textOf(text));
      },
      this, nullptr};
  info.uncapturedErrorCallbackInfo = {nullptr,
                                      [](const WGPUDevice *, WGPUErrorType, WGPUStringView text, void *self, void *) {
                                        static_cast<WebGPUBackend *>(self)->lose(textOf(text));
                                      },
                                      this, nullptr};
  const auto given = std::make_shared<Answer>();
  (void)driver.AdapterRequestDevice(found.adapter.get(), &info, callbackOf<WGPURequestDeviceCallbackInfo>(given));
  while (!given->isThere)
    driver.InstanceProcessEvents(driver.instance);
  device = given->status == WGPUStatus_Success ? reinterpret_cast<WGPUDevice>(given->value) : nullptr;
  if (!device)
    return Status::internal(itsFacts.identity + " gives no device: " + given->text);
  queue = driver.DeviceGetQueue(device);
  ZYX_RETURN_IF_ERROR(makeBuffer(WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, sizeof(argumentValues), arguments));
  WGPUBindGroupLayoutEntry entry = {};
  entry.visibility = WGPUShaderStage_Compute;
  entry.buffer.type = WGPUBufferBindingType_Uniform;
  entry.buffer.hasDynamicOffset = 1;
  entry.buffer.minBindingSize = argumentBytes;
  ZYX_RETURN_IF_ERROR(make("lay out arguments", driver.DeviceCreateBindGroupLayout, driver.BindGroupLayoutRelease,
                           {nullptr, {}, 1, &entry}, argumentLayout));
  WGPUBindGroupEntry bound = {};
  bound.buffer = arguments;
  bound.size = argumentBytes;
  ZYX_RETURN_IF_ERROR(make("bind arguments", driver.DeviceCreateBindGroup, driver.BindGroupRelease,
                           {nullptr, {}, argumentLayout, 1, &bound}, argumentGroup));
  ZYX_RETURN_IF_ERROR(makeShader(bytesText, bytesShader));
  ZYX_RETURN_IF_ERROR(makeKernel(bytesShader, fillKernel, "k_fill"));
  return makeKernel(bytesShader, copyKernel, "k_copy");
}

WebGPUBackend::~WebGPUBackend() {
  if (!device)
    return;
  if (checkLost().isOk())
    (void)synchronize(StreamHandle(1));
  endPass();
  const auto drop = []<typename T>(void (*release)(T), T object) {
    if (object)
      release(object);
  };
  drop(driver.CommandEncoderRelease, current);
  forgetBindGroups();
  release(fillKernel);
  release(copyKernel);
  drop(driver.ShaderModuleRelease, bytesShader);
  drop(driver.BindGroupRelease, argumentGroup);
  drop(driver.BindGroupLayoutRelease, argumentLayout);
  drop(driver.BufferRelease, arguments);
  drop(driver.BufferRelease, reader);
  for (const auto &[handle, memory] : memories.all())
    driver.BufferRelease(memory.buffer);
  driver.QueueRelease(queue);
  driver.DeviceRelease(device);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status WebGPUBackend::makeBuffer(WGPUBufferUsage usage, uint64_t bytes, WGPUBuffer &buffer) {
  return make("allocate " + std::to_string(bytes) + " bytes", driver.DeviceCreateBuffer, driver.BufferRelease,
              {nullptr, {}, usage, bytes, 0}, buffer);
}

/// Of a larger one a kernel would see the beginning, and lose what it writes behind it. Distances of bytes are numbers
/// of 32 bits with a sign.
Result<uint64_t> WebGPUBackend::allocate(StreamHandle, uint64_t bytes) {
  const std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(checkLost());
  Memory made{nullptr, (bytes + allocationAlignment - 1) / allocationAlignment * allocationAlignment};
  ZYX_RETURN_IF_ERROR(
      checkAllocation(made.bytes, itsFacts.name,
                      std::min({limits.maxStorageBufferBindingSize, limits.maxBufferSize, uint64_t(1) << 31})));
  ZYX_RETURN_IF_ERROR(
      makeBuffer(WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, made.bytes, made.buffer));
  return memories.add(made, made.bytes);
}

/// The driver keeps it for commands that are not over, and for those that were not handed over.
Status WebGPUBackend::free(StreamHandle, uint64_t handle) {
  const std::lock_guard lock(mutex);
  forgetBindGroups(handle);
  driver.BufferRelease(memories.take(handle).buffer);
  return Status::ok();
}

Result<Memory> WebGPUBackend::place(MemoryRef at, uint64_t bytes) const {
  const Memory memory = memories.find(at);
  if (at.offset > memory.bytes || bytes > memory.bytes - at.offset)
    return Status::internal("a place is outside of all memory");
  return memory;
}

Status WebGPUBackend::upload(StreamHandle stream, MemoryRef to, const void *from, uint64_t bytes) {
  const std::lock_guard lock(mutex);
  ZYX_ASSIGN_OR_RETURN(const Memory memory, place(to, bytes));
  // Written before what is encoded and not handed over yet.
  ZYX_RETURN_IF_ERROR(flush());
  const auto *data = static_cast<const unsigned char *>(from);
  // Of words that it has in part, the rest stays as it is.
  const auto part = [&](uint64_t begin, uint64_t count) {
    uint64_t pattern = 0;
    std::memcpy(&pattern, data + begin, count);
    return count == 0 ? Status::ok() : fill(stream, {{to.handle, to.offset + begin}, count, pattern, sizeof pattern});
  };
  const uint64_t head = std::min(bytes, (4 - to.offset % 4) % 4), whole = (bytes - head) / 4 * 4;
  if (whole != 0)
    driver.QueueWriteBuffer(queue, memory.buffer, to.offset + head, data + head, whole);
  ZYX_RETURN_IF_ERROR(part(0, head));
  ZYX_RETURN_IF_ERROR(part(head + whole, bytes - head - whole));
  return checkLost();
}

Status WebGPUBackend::download(StreamHandle, void *to, MemoryRef from, uint64_t bytes) {
  const std::lock_guard lock(mutex);
  ZYX_ASSIGN_OR_RETURN(const Memory memory, place(from, bytes));
  const TouchedWords words(from.offset, bytes);
  const uint64_t wholeBytes = 4 * words.count;
  if (readerBytes < wholeBytes) {
    if (reader)
      driver.BufferRelease(std::exchange(reader, nullptr));
    readerBytes = 0;
    ZYX_RETURN_IF_ERROR(makeBuffer(WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, wholeBytes, reader));
    readerBytes = wholeBytes;
  }
  copyWords(reader, 0, memory.buffer, 4 * words.first, wholeBytes);
  ZYX_RETURN_IF_ERROR(flush());
  const auto mapped = std::make_shared<Answer>();
  (void)driver.BufferMapAsync(reader, WGPUMapMode_Read, 0, wholeBytes, callbackOf<WGPUBufferMapCallbackInfo>(mapped));
  while (!mapped->isThere && checkLost().isOk())
    (void)driver.DevicePoll(device, 1, nullptr);
  if (mapped->isThere && mapped->status != WGPUMapAsyncStatus_Success)
    lose("cannot map a buffer: " + mapped->text);
  ZYX_RETURN_IF_ERROR(checkLost());
  std::memcpy(to, static_cast<const char *>(driver.BufferGetConstMappedRange(reader, 0, wholeBytes)) + from.offset % 4,
              bytes);
  driver.BufferUnmap(reader);
  return checkLost();
}

Status WebGPUBackend::dispatchBytes(const LoadedKernel &kernel, std::span<const MemoryRef> buffers, uint64_t begin,
                                    uint64_t bytes, uint64_t pattern, uint64_t distance) {
  const TouchedWords words(begin, bytes);
  const auto low = [](uint64_t number) { return static_cast<uint32_t>(number); };
  const uint32_t values[] = {
      low(words.count), 0, low(pattern), low(pattern >> 32), low(words.first), words.firstMask, words.lastMask,
      low(distance)};
  return dispatch(kernel, buffers, values, (words.count + threadsOfGroup - 1) / threadsOfGroup);
}

Status WebGPUBackend::copy(StreamHandle stream, const CopyCommand &copy) {
  const std::lock_guard lock(mutex);
  MemoryRef from = copy.from;
  ZYX_ASSIGN_OR_RETURN(Memory source, place(from, copy.bytes));
  ZYX_ASSIGN_OR_RETURN(const Memory target, place(copy.to, copy.bytes));
  ZYX_RETURN_IF_ERROR(checkLost());
  // No copy is within one buffer.
  if (source.buffer == target.buffer) {
    const TouchedWords read(from.offset, copy.bytes);
    if (betweenBytes < 4 * read.count) {
      if (std::exchange(betweenBytes, 0) != 0)
        (void)free(stream, between);
      ZYX_ASSIGN_OR_RETURN(between, allocate(stream, 4 * read.count));
      betweenBytes = 4 * read.count;
    }
    const Memory other = memories.find({between, 0});
    copyWords(other.buffer, 0, source.buffer, 4 * read.first, 4 * read.count);
    source = other;
    from = {between, from.offset % 4};
  }
  if ((copy.to.offset | from.offset | copy.bytes) % 4 == 0) {
    copyWords(target.buffer, copy.to.offset, source.buffer, from.offset, copy.bytes);
    return Status::ok();
  }
  const MemoryRef buffers[] = {{copy.to.handle, 0}, {from.handle, 0}};
  return dispatchBytes(copyKernel, buffers, copy.to.offset, copy.bytes, 0, from.offset - copy.to.offset);
}

Status WebGPUBackend::fill(StreamHandle, const FillCommand &fill) {
  const std::lock_guard lock(mutex);
  const MemoryRef to = fill.to, whole = {to.handle, 0};
  ZYX_ASSIGN_OR_RETURN(const Memory memory, place(to, fill.bytes));
  const uint64_t pattern = fill.repeated();
  if (pattern == 0 && (to.offset | fill.bytes) % 4 == 0) {
    ZYX_RETURN_IF_ERROR(checkLost());
    endPass();
    driver.CommandEncoderClearBuffer(encoder(), memory.buffer, to.offset, fill.bytes);
    return Status::ok();
  }
  // As it stands at multiples of 8 bytes.
  return dispatchBytes(fillKernel, {&whole, 1}, to.offset, fill.bytes,
                       std::rotl(pattern, static_cast<int>(8 * (to.offset % 8))), 0);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

Status WebGPUBackend::makeShader(std::string_view text, WGPUShaderModule &shader) {
  WGPUShaderSourceWGSL source = {{nullptr, WGPUSType_ShaderSourceWGSL}, {text.data(), text.size()}};
  return make("compile kernels", driver.DeviceCreateShaderModule, driver.ShaderModuleRelease, {&source.chain, {}},
              shader);
}

Result<ModuleHandle> WebGPUBackend::load(const artifact::CodeBlob &code) {
  const std::lock_guard lock(mutex);
  auto made = std::make_unique<LoadedModule>();
  ZYX_RETURN_IF_ERROR(makeShader({reinterpret_cast<const char *>(code.bytes.data()), code.bytes.size()}, made->shader));
  return handleOf<ModuleHandle>(made.release());
}

void WebGPUBackend::release(LoadedKernel &kernel) {
  if (kernel.pipeline)
    driver.ComputePipelineRelease(kernel.pipeline);
  if (kernel.layout)
    driver.BindGroupLayoutRelease(kernel.layout);
}

void WebGPUBackend::unload(ModuleHandle module) {
  const std::lock_guard lock(mutex);
  const std::unique_ptr<LoadedModule> owned(objectOf<LoadedModule>(module));
  // Their layouts, by which they are found, may be another kernel's next.
  forgetBindGroups();
  for (const std::unique_ptr<LoadedKernel> &kernel : owned->kernels)
    release(*kernel);
  driver.ShaderModuleRelease(owned->shader);
}

Status WebGPUBackend::makeKernel(WGPUShaderModule shader, LoadedKernel &kernel, const std::string &entry) {
  std::vector<WGPUBindGroupLayoutEntry> entries(kernel.numBuffers);
  for (uint32_t i = 0; i < kernel.numBuffers; ++i) {
    entries[i].binding = i;
    entries[i].visibility = WGPUShaderStage_Compute;
    entries[i].buffer.type = WGPUBufferBindingType_Storage;
  }
  const std::string what = "lay out kernel " + kernel.name;
  ZYX_RETURN_IF_ERROR(make(what, driver.DeviceCreateBindGroupLayout, driver.BindGroupLayoutRelease,
                           {nullptr, {}, entries.size(), entries.data()}, kernel.layout));
  const WGPUBindGroupLayout layouts[] = {kernel.layout, argumentLayout};
  WGPUPipelineLayout whole = nullptr;
  ZYX_RETURN_IF_ERROR(
      make(what, driver.DeviceCreatePipelineLayout, driver.PipelineLayoutRelease, {nullptr, {}, 2, layouts, 0}, whole));
  const Status status =
      make("compile kernel " + kernel.name, driver.DeviceCreateComputePipeline, driver.ComputePipelineRelease,
           {nullptr, {}, whole, {nullptr, shader, {entry.data(), entry.size()}, 0, nullptr}}, kernel.pipeline);
  driver.PipelineLayoutRelease(whole);
  return status;
}

Result<KernelHandle> WebGPUBackend::find(ModuleHandle module, const artifact::Kernel &kernel) {
  const std::lock_guard lock(mutex);
  const auto check = [&](const char *has, uint32_t count, const char *device, uint32_t most) {
    return count <= most ? Status::ok()
                         : Status::unsupported("kernel " + kernel.name + " has " + std::to_string(count) + has +
                                               ", and " + device + std::to_string(most));
  };
  ZYX_RETURN_IF_ERROR(
      check(" buffers", kernel.numBuffers, "the device binds ", limits.maxStorageBuffersPerShaderStage));
  ZYX_RETURN_IF_ERROR(check(" scalars", kernel.numScalars, "there is room for ", argumentWords - 2));
  ZYX_RETURN_IF_ERROR(checkLimits(kernel, itsFacts.name, limits.maxComputeInvocationsPerWorkgroup,
                                  limits.maxComputeWorkgroupStorageSize));
  LoadedModule &owner = *objectOf<LoadedModule>(module);
  LoadedKernel &made = *owner.kernels.emplace_back(std::make_unique<LoadedKernel>(
      LoadedKernel{kernel.name, kernel.numBuffers, kernel.numScalars, kernel.groupThreads != 0}));
  ZYX_RETURN_IF_ERROR(makeKernel(owner.shader, made, "k_" + kernel.symbol));
  return handleOf<KernelHandle>(&made);
}

//===----------------------------------------------------------------------===//
// Launches and order
//===----------------------------------------------------------------------===//

void WebGPUBackend::endPass() {
  if (!pass)
    return;
  driver.ComputePassEncoderEnd(pass);
  driver.ComputePassEncoderRelease(std::exchange(pass, nullptr));
}

Status WebGPUBackend::flush() {
  ZYX_RETURN_IF_ERROR(checkLost());
  if (!current)
    return Status::ok();
  endPass();
  if (launches != 0)
    driver.QueueWriteBuffer(queue, arguments, 0, argumentValues, size_t(launches) * argumentBytes);
  launches = 0;
  WGPUCommandBuffer commands = nullptr;
  const Status status = scoped("hand over commands", [&] {
    commands = driver.CommandEncoderFinish(current, nullptr);
    return commands != nullptr;
  });
  driver.CommandEncoderRelease(std::exchange(current, nullptr));
  if (!status.isOk())
    lose(status.message());
  // Submitting what is invalid would end the process, and other arguments than are meant are none.
  if (checkLost().isOk()) {
    submission = driver.QueueSubmitForIndex(queue, 1, &commands);
    hasSubmitted = true;
  }
  if (commands)
    driver.CommandBufferRelease(commands);
  return checkLost();
}

void WebGPUBackend::forgetBindGroups(std::optional<uint64_t> part) {
  std::erase_if(bindGroups, [&](const auto &each) {
    if (part && std::ranges::find(each.first, *part) == each.first.end())
      return false;
    driver.BindGroupRelease(each.second);
    return true;
  });
}

Result<WGPUBindGroup> WebGPUBackend::bind(const LoadedKernel &kernel, std::span<const MemoryRef> buffers) {
  std::vector<uint64_t> key = {reinterpret_cast<uint64_t>(kernel.layout)};
  for (const MemoryRef &each : buffers)
    key.insert(key.end(), {each.handle, each.offset});
  if (const auto known = bindGroups.find(key); known != bindGroups.end())
    return known->second;
  std::vector<WGPUBindGroupEntry> entries(buffers.size());
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    ZYX_ASSIGN_OR_RETURN(const Memory memory, place(buffers[i], 1));
    if (buffers[i].offset % limits.minStorageBufferOffsetAlignment != 0)
      return Status::unsupported("kernel " + kernel.name + " gets a buffer from byte " +
                                 std::to_string(buffers[i].offset) + " on; the device binds from multiples of " +
                                 std::to_string(limits.minStorageBufferOffsetAlignment));
    entries[i].binding = i;
    entries[i].buffer = memory.buffer;
    entries[i].offset = buffers[i].offset;
    entries[i].size = memory.bytes - buffers[i].offset;
  }
  if (bindGroups.size() >= mostBindGroups)
    forgetBindGroups();
  WGPUBindGroup group = nullptr;
  ZYX_RETURN_IF_ERROR(make("bind the buffers of kernel " + kernel.name, driver.DeviceCreateBindGroup,
                           driver.BindGroupRelease, {nullptr, {}, kernel.layout, entries.size(), entries.data()},
                           group));
  return bindGroups.emplace(std::move(key), group).first->second;
}

Status WebGPUBackend::dispatch(const LoadedKernel &kernel, std::span<const MemoryRef> buffers,
                               std::span<const uint32_t> values, uint64_t groups) {
  ZYX_RETURN_IF_ERROR(checkLost());
  ZYX_ASSIGN_OR_RETURN(const WGPUBindGroup group, bind(kernel, buffers));
  if (launches == launchesOfSubmission)
    ZYX_RETURN_IF_ERROR(flush());
  const uint32_t offset = launches * argumentBytes;
  std::ranges::copy(values, argumentValues + size_t(launches++) * argumentWords);
  if (!pass)
    pass = driver.CommandEncoderBeginComputePass(encoder(), nullptr);
  driver.ComputePassEncoderSetPipeline(pass, kernel.pipeline);
  driver.ComputePassEncoderSetBindGroup(pass, 0, group, 0, nullptr);
  driver.ComputePassEncoderSetBindGroup(pass, 1, argumentGroup, 1, &offset);
  driver.ComputePassEncoderDispatchWorkgroups(
      pass, static_cast<uint32_t>(std::min<uint64_t>(groups, limits.maxComputeWorkgroupsPerDimension)), 1, 1);
  return Status::ok();
}

Status WebGPUBackend::launch(StreamHandle, const LaunchCommand &launch) {
  const std::lock_guard lock(mutex);
  const LoadedKernel &kernel = *objectOf<LoadedKernel>(launch.kernel);
  const uint64_t programs = launch.arguments.back().value;
  if (programs == 0)
    return Status::ok();
  // Threads add to the number of a program until it is as large.
  if (programs > uint64_t(1) << 31)
    return Status::unsupported("kernel " + kernel.name + " has " + std::to_string(programs) +
                               " programs, more than numbers of 32 bits count");
  std::vector<MemoryRef> buffers;
  uint32_t values[argumentWords] = {static_cast<uint32_t>(programs), 0};
  for (const KernelArgument &each : launch.arguments.first(kernel.numBuffers))
    buffers.push_back(each.memory);
  for (uint32_t i = 0; i < kernel.numScalars; ++i) {
    const auto value = static_cast<int64_t>(launch.arguments[kernel.numBuffers + i].value);
    if (value != static_cast<int32_t>(value))
      return Status::unsupported("kernel " + kernel.name + " gets the number " + std::to_string(value) +
                                 ", which has more than 32 bits");
    values[2 + i] = static_cast<uint32_t>(value);
  }
  return dispatch(kernel, buffers, {values, 2 + kernel.numScalars},
                  kernel.isByGroup ? launch.groups : launch.groupsOf(threadsOfGroup));
}

/// Others hand over meanwhile. It is called with the mutex held once.
Status WebGPUBackend::waitFor(uint64_t awaited) {
  mutex.unlock();
  (void)driver.DevicePoll(device, 1, &awaited);
  mutex.lock();
  return checkLost();
}

Status WebGPUBackend::record(StreamHandle, EventHandle event) {
  const std::lock_guard lock(mutex);
  ZYX_RETURN_IF_ERROR(flush());
  RecordedEvent &recorded = *objectOf<RecordedEvent>(event);
  recorded.submission = submission;
  recorded.wasRecorded = hasSubmitted;
  if (!recorded.isTimed)
    return Status::ok();
  // The host's clock, behind all that comes before: events are timed where a run is profiled.
  const Status status = hasSubmitted ? waitFor(submission) : checkLost();
  recorded.reached =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  return status;
}

const zyx_backend_v1 *zyx_backend(void) {
  return Export<WebGPUBackend, Driver, AdapterFound>::table("webgpu", "by wgpu-native");
}
