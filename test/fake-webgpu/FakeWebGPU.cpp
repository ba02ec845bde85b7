//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A wgpu-native over the host's memory, for what real ones do rarely: to lack something, to refuse, to be lost.
// Commands are done when they are submitted. Of kernels it knows three: `k_increment` of 32-bit integers, and the
// plug-in's `k_fill` and `k_copy`. Texts with the word "wrong" do not compile. Kernels are executed by a real library,
// in the conformance suite.
//===----------------------------------------------------------------------===//
#include "FakeWebGPU.h"

#include "../../lib/Runtime/Devices/WebGPU/Driver.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <pthread.h>

namespace zyx::webgpu {

/// Of a failed call comes an object that is not valid.
struct Object {
  bool isValid = true;
};
struct BufferTag : Object {
  std::vector<unsigned char> bytes;
  bool isMapped = false;
};
struct ShaderModuleTag : Object {};
struct BindGroupLayoutTag : Object {};
struct PipelineLayoutTag : Object {};
struct PipelineTag : Object {
  std::string entry;
};
struct BindGroupTag : Object {
  std::vector<BindGroupEntry> entries;
};
struct EncoderTag : Object {
  std::vector<std::function<void()>> commands;
};
struct CommandBufferTag : EncoderTag {};
struct PassTag {
  Encoder encoder;
  Pipeline pipeline;
  BindGroup groups[2];
  uint32_t offset;
};
struct Scope {
  uint32_t filter, type;
  std::string text;
};
struct DeviceTag {
  DeviceInfo info;
  std::vector<Scope> scopes;
  std::vector<std::pair<Buffer, CallbackInfo>> mapping;
  bool isLost = false;
  /// What commands that were not submitted may still use.
  std::vector<std::shared_ptr<void>> released;
};

} // namespace zyx::webgpu

using namespace zyx::webgpu;

namespace {

FakeWebGPU fake;
int instance, adapters[3], queue;
DeviceHandle theDevice = nullptr;
/// What is answered when the device that was asked is lost, and maybe gone.
std::vector<CallbackInfo> late;

Text textOf(const std::string &text) { return {text.data(), text.size()}; }

void lose() {
  if (!theDevice || theDevice->isLost)
    return;
  theDevice->isLost = true;
  const auto callback =
      reinterpret_cast<void (*)(const DeviceHandle *, uint32_t, Text, void *, void *)>(theDevice->info.lost.callback);
  callback(&theDevice, 1, textOf("pulled out"), theDevice->info.lost.first, nullptr);
}

void raise(uint32_t type, const std::string &text) {
  for (auto scope = theDevice->scopes.rbegin(); scope != theDevice->scopes.rend(); ++scope)
    if (scope->filter == (type == errorOutOfMemory ? filterOutOfMemory : filterValidation)) {
      if (scope->type == errorNone)
        *scope = {scope->filter, type, text};
      return;
    }
  const ErrorCallbackInfo &uncaptured = theDevice->info.uncaptured;
  uncaptured.callback(&theDevice, type, textOf(text), uncaptured.first, uncaptured.second);
}

void answer(const CallbackInfo &callback, uint32_t status) {
  reinterpret_cast<void (*)(uint32_t, Text, void *, void *)>(callback.callback)(status, textOf("not mapped"),
                                                                                callback.first, nullptr);
}

/// Whether what is there is a frame of this thread's stack.
bool isOnStack(const void *at) {
  pthread_attr_t attributes;
  void *stack = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return false;
  pthread_attr_getstack(&attributes, &stack, &bytes);
  pthread_attr_destroy(&attributes);
  return at >= stack && at < static_cast<char *>(stack) + bytes;
}

/// Whether this call is the one that fails.
bool fails(const char *call) {
  if (!fake.failIn || std::strcmp(fake.failIn, call) != 0 || --fake.after != 0)
    return false;
  if (fake.failWith == 0)
    lose();
  else if (theDevice)
    raise(fake.failWith, std::string(call) + " failed");
  return fake.failWith != 0;
}

template <typename T> T *made(T *object, const char *call, int &count, bool isValid = true) {
  ++count;
  object->isValid = !fails(call) && isValid;
  return object;
}

void dispatchOf(const PassTag &pass) {
  const auto at = [&](size_t binding) {
    const BindGroupEntry &entry = pass.groups[0]->entries[binding];
    return reinterpret_cast<uint32_t *>(entry.buffer->bytes.data() + entry.offset);
  };
  const BindGroupEntry &arguments = pass.groups[1]->entries[0];
  const auto *values = reinterpret_cast<const uint32_t *>(arguments.buffer->bytes.data() + pass.offset);
  const auto isInside = [&](size_t binding, uint64_t words) {
    const BindGroupEntry &entry = pass.groups[0]->entries[binding];
    return entry.offset + 4 * words <= entry.buffer->bytes.size();
  };
  const bool isFill = pass.pipeline->entry == "k_fill", isCopy = pass.pipeline->entry == "k_copy";
  const uint64_t words = values[0];
  if (isFill || isCopy ? !isInside(0, values[4] + words) : !isInside(0, words) || !isInside(1, words)) {
    ++fake.panics;
    return;
  }
  ++fake.dispatches;
  if (!isFill && !isCopy) {
    for (uint32_t i = 0; i < words; ++i)
      at(1)[i] = at(0)[i] + 1;
    return;
  }
  auto *bytes = reinterpret_cast<unsigned char *>(at(0) + values[4]);
  const auto *pattern = reinterpret_cast<const unsigned char *>(values + 2);
  for (uint32_t i = 0; i < 4 * words; ++i) {
    const uint32_t bit = uint32_t(1) << 8 * (i % 4);
    if ((i < 4 && !(values[5] & bit)) || (i >= 4 * words - 4 && !(values[6] & bit)))
      continue;
    const uint32_t place = 4 * values[4] + i;
    bytes[i] = isFill ? pattern[place % 8] : reinterpret_cast<unsigned char *>(at(1))[place + values[7]];
  }
}

template <typename T> void release(T *object, int &count) {
  --count;
  theDevice->released.push_back(std::shared_ptr<T>(object));
}

} // namespace

extern "C" {

FakeWebGPU *zyxFakeWebGPU() { return &fake; }

uint32_t wgpuGetVersion() { return fake.version << 24; }
Instance wgpuCreateInstance(const void *) { return fake.hasInstance ? reinterpret_cast<Instance>(&instance) : nullptr; }
size_t wgpuInstanceEnumerateAdapters(Instance, const EnumerateOptions *, Adapter *into) {
  for (const CallbackInfo &each : std::exchange(late, {})) {
    ++fake.lateAnswers;
    answer(each, 4);
  }
  for (size_t i = 0; into && i < fake.adapters; ++i, ++fake.heldAdapters)
    into[i] = reinterpret_cast<Adapter>(&adapters[i]);
  return fake.adapters;
}
void wgpuInstanceProcessEvents(Instance) {}
uint32_t wgpuAdapterGetInfo(Adapter adapter, AdapterInfo *info) {
  const auto number = reinterpret_cast<int *>(adapter) - adapters;
  constexpr const char *names[] = {"Processor", "Card", "Laptop"};
  constexpr uint32_t types[] = {adapterCPU, adapterDiscrete, adapterIntegrated};
  *info = {};
  info->device.data = names[number];
  info->description.data = "driver 7";
  info->type = types[number];
  info->backend = fake.backend;
  return statusSuccess;
}
void wgpuAdapterInfoFreeMembers(AdapterInfo) {}
void wgpuAdapterRelease(Adapter) { --fake.heldAdapters; }
uint32_t wgpuAdapterGetLimits(Adapter, Limits *limits) {
  limits->groupThreads = fake.groupThreads;
  limits->sharedBytes = fake.sharedBytes;
  limits->storageBuffers = fake.storageBuffers;
  limits->storageAlignment = fake.storageAlignment;
  limits->storageBytes = limits->bufferBytes = fake.storageBytes;
  limits->groups = 65535;
  return statusSuccess;
}
uint64_t wgpuAdapterRequestDevice(Adapter, const DeviceInfo *info, CallbackInfo callback) {
  const auto call = reinterpret_cast<void (*)(uint32_t, DeviceHandle, Text, void *, void *)>(callback.callback);
  theDevice = nullptr;
  if (fails(__func__)) {
    call(3, nullptr, textOf("limits are too high"), callback.first, nullptr);
    return 0;
  }
  theDevice = new DeviceTag{*info, {}, {}, false, {}};
  ++fake.devices;
  call(statusSuccess, theDevice, {}, callback.first, nullptr);
  return 0;
}
Queue wgpuDeviceGetQueue(DeviceHandle) { return reinterpret_cast<Queue>(&queue); }
void wgpuDeviceRelease(DeviceHandle device) {
  delete device;
  theDevice = nullptr;
  --fake.devices;
}
void wgpuQueueRelease(Queue) {}
void wgpuDevicePushErrorScope(DeviceHandle device, uint32_t filter) {
  device->scopes.push_back({filter, errorNone, ""});
}
uint64_t wgpuDevicePopErrorScope(DeviceHandle device, CallbackInfo callback) {
  const Scope scope = device->scopes.back();
  device->scopes.pop_back();
  const auto call = reinterpret_cast<void (*)(uint32_t, uint32_t, Text, void *, void *)>(callback.callback);
  call(1, scope.type, textOf(scope.text), callback.first, nullptr);
  return 0;
}
Bool wgpuDevicePoll(DeviceHandle device, Bool, const uint64_t *) {
  (void)fails(__func__);
  for (const auto &[buffer, callback] : std::exchange(device->mapping, {})) {
    buffer->isMapped = !device->isLost;
    if (buffer->isMapped || !fake.answersLate)
      answer(callback, buffer->isMapped ? 1 : 4);
    else if (isOnStack(callback.first))
      ++fake.panics;
    else
      late.push_back(callback);
  }
  return 1;
}

Buffer wgpuDeviceCreateBuffer(DeviceHandle, const BufferInfo *info) {
  Buffer buffer = made(new BufferTag, __func__, fake.buffers);
  buffer->bytes.resize(info->size);
  return buffer;
}
void wgpuBufferDestroy(Buffer) {}
void wgpuBufferRelease(Buffer buffer) { release(buffer, fake.buffers); }
uint64_t wgpuBufferMapAsync(Buffer buffer, Flags, size_t, size_t, CallbackInfo callback) {
  if (!fails(__func__))
    theDevice->mapping.emplace_back(buffer, callback);
  return 0;
}
const void *wgpuBufferGetConstMappedRange(Buffer buffer, size_t offset, size_t) {
  return buffer->isMapped ? buffer->bytes.data() + offset : nullptr;
}
void wgpuBufferUnmap(Buffer buffer) { buffer->isMapped = false; }

ShaderModule wgpuDeviceCreateShaderModule(DeviceHandle, const ShaderInfo *info) {
  const std::string text = reinterpret_cast<const SourceWGSL *>(info->next)->code.str();
  const bool isWrong = text.find("wrong") != std::string::npos;
  if (isWrong)
    raise(2, "1:1: error: that is wrong");
  return made(new ShaderModuleTag, __func__, fake.shaders, !isWrong);
}
void wgpuShaderModuleRelease(ShaderModule shader) { release(shader, fake.shaders); }
BindGroupLayout wgpuDeviceCreateBindGroupLayout(DeviceHandle, const LayoutInfo *) {
  return made(new BindGroupLayoutTag, __func__, fake.layouts);
}
void wgpuBindGroupLayoutRelease(BindGroupLayout layout) { release(layout, fake.layouts); }
PipelineLayout wgpuDeviceCreatePipelineLayout(DeviceHandle, const PipelineLayoutInfo *) {
  return made(new PipelineLayoutTag, __func__, fake.layouts);
}
void wgpuPipelineLayoutRelease(PipelineLayout layout) { release(layout, fake.layouts); }
Pipeline wgpuDeviceCreateComputePipeline(DeviceHandle, const PipelineInfo *info) {
  if (!info->module->isValid)
    ++fake.panics;
  const std::string entry = info->entryPoint.str();
  const bool isKnown = entry == "k_fill" || entry == "k_copy" || entry == "k_increment";
  if (!isKnown)
    raise(2, "there is no entry point " + entry);
  Pipeline pipeline = made(new PipelineTag, __func__, fake.pipelines, isKnown);
  pipeline->entry = entry;
  return pipeline;
}
void wgpuComputePipelineRelease(Pipeline pipeline) { release(pipeline, fake.pipelines); }
BindGroup wgpuDeviceCreateBindGroup(DeviceHandle, const BindGroupInfo *info) {
  BindGroup group = made(new BindGroupTag, __func__, fake.bindGroups);
  group->entries.assign(info->entries, info->entries + info->count);
  return group;
}
void wgpuBindGroupRelease(BindGroup group) { release(group, fake.bindGroups); }

Encoder wgpuDeviceCreateCommandEncoder(DeviceHandle, const void *) {
  return made(new EncoderTag, __func__, fake.encoders);
}
void wgpuCommandEncoderRelease(Encoder encoder) { release(encoder, fake.encoders); }
Pass wgpuCommandEncoderBeginComputePass(Encoder encoder, const void *) { return new PassTag{encoder, {}, {}, 0}; }
void wgpuCommandEncoderCopyBufferToBuffer(Encoder encoder, Buffer from, uint64_t fromOffset, Buffer to,
                                          uint64_t toOffset, uint64_t bytes) {
  encoder->isValid &= !fails(__func__) && from != to && fromOffset % 4 == 0 && toOffset % 4 == 0 && bytes % 4 == 0 &&
                      fromOffset + bytes <= from->bytes.size() && toOffset + bytes <= to->bytes.size();
  encoder->commands.emplace_back(
      [=] { std::memcpy(to->bytes.data() + toOffset, from->bytes.data() + fromOffset, bytes); });
}
void wgpuCommandEncoderClearBuffer(Encoder encoder, Buffer buffer, uint64_t offset, uint64_t bytes) {
  encoder->isValid &= !fails(__func__);
  encoder->commands.emplace_back([=] { std::memset(buffer->bytes.data() + offset, 0, bytes); });
}
CommandBuffer wgpuCommandEncoderFinish(Encoder encoder, const void *) {
  if (!encoder->isValid)
    raise(2, "a command is not valid");
  CommandBuffer commands = made(new CommandBufferTag, __func__, fake.commandBuffers, encoder->isValid);
  commands->commands = encoder->commands;
  return commands;
}
void wgpuCommandBufferRelease(CommandBuffer commands) { release(commands, fake.commandBuffers); }
void wgpuComputePassEncoderSetPipeline(Pass pass, Pipeline pipeline) {
  pass->encoder->isValid &= pipeline->isValid;
  pass->pipeline = pipeline;
}
void wgpuComputePassEncoderSetBindGroup(Pass pass, uint32_t index, BindGroup group, size_t count,
                                        const uint32_t *offsets) {
  pass->groups[index] = group;
  if (count != 0)
    pass->offset = *offsets;
}
void wgpuComputePassEncoderDispatchWorkgroups(Pass pass, uint32_t groups, uint32_t, uint32_t) {
  pass->encoder->isValid &= !fails(__func__) && groups <= 65535;
  pass->encoder->commands.emplace_back([its = *pass] { dispatchOf(its); });
}
void wgpuComputePassEncoderEnd(Pass) {}
void wgpuComputePassEncoderRelease(Pass pass) { delete pass; }
void wgpuQueueWriteBuffer(Queue, Buffer buffer, uint64_t offset, const void *from, size_t bytes) {
  if (!fails(__func__) && offset + bytes <= buffer->bytes.size())
    std::memcpy(buffer->bytes.data() + offset, from, bytes);
}
uint64_t wgpuQueueSubmitForIndex(Queue, size_t, const CommandBuffer *commands) {
  if (!(*commands)->isValid)
    ++fake.panics;
  else if (!fails(__func__) && !theDevice->isLost)
    for (const std::function<void()> &command : (*commands)->commands)
      command();
  return ++fake.submissions;
}

} // extern "C"
