//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A wgpu-native over the host's memory, for what real ones do rarely: to lack something, to refuse, to be lost.
// Commands are done when they are submitted. Of kernels it knows two: `k_increment` of 32-bit integers, and the
// library's own `k_bytes`. Texts with the word "wrong" do not compile. Kernels are executed by a real library,
// in the conformance suite. With ZYX_FAKE_DAWN it is a Dawn, which has no function of wgpu-native's own, and lets no
// kernel have a byte by two names.
//===----------------------------------------------------------------------===//
#include "FakeWebGPU.h"

#include "../../lib/Runtime/Devices/Stream/Bundled.h"
#include "../../lib/Runtime/Devices/WebGPU/Driver.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <pthread.h>

/// Of a failed call comes an object that is not valid.
struct Object {
  bool isValid = true;
};
struct WGPUBufferImpl : Object {
  std::vector<unsigned char> bytes;
  bool isMapped = false;
};
struct WGPUShaderModuleImpl : Object {};
struct WGPUBindGroupLayoutImpl : Object {};
struct WGPUPipelineLayoutImpl : Object {};
struct WGPUComputePipelineImpl : Object {
  std::string entry;
};
struct WGPUBindGroupImpl : Object {
  std::vector<WGPUBindGroupEntry> entries;
};
struct WGPUCommandEncoderImpl : Object {
  std::vector<std::function<void()>> commands;
};
struct WGPUCommandBufferImpl : WGPUCommandEncoderImpl {};
struct WGPUComputePassEncoderImpl {
  WGPUCommandEncoder encoder;
  WGPUComputePipeline pipeline;
  WGPUBindGroup group;
  std::vector<uint32_t> values;
};
struct Scope {
  uint32_t filter, type;
  std::string text;
};
struct WGPUDeviceImpl {
  WGPUDeviceDescriptor info;
  std::vector<Scope> scopes;
  std::vector<std::pair<WGPUBuffer, WGPUBufferMapCallbackInfo>> mapping;
  bool isLost = false;
  /// What commands that were not submitted may still use.
  std::vector<std::shared_ptr<void>> released;
};

using zyx::runtime::webgpu::textOf;

namespace {

FakeWebGPU fake;
int instance, adapters[3], queue;
WGPUDevice theDevice = nullptr;
/// What is answered when the device that was asked is lost, and maybe gone.
std::vector<WGPUBufferMapCallbackInfo> late;
/// What a call that fails, and what no poll came to, is answered when the instance is given back.
std::vector<WGPUBufferMapCallbackInfo> unanswered;

#ifdef ZYX_FAKE_DAWN
constexpr auto always = static_cast<WGPUFeatureName>(0x50004), subgroups = WGPUFeatureName_Subgroups;
constexpr bool isDawn = true;
#else
constexpr auto always = static_cast<WGPUFeatureName>(WGPUNativeFeature_Immediates),
               subgroups = static_cast<WGPUFeatureName>(WGPUNativeFeature_Subgroup);
constexpr bool isDawn = false;
#endif

WGPUStringView viewOf(const std::string &text) { return {text.data(), text.size()}; }

void lose() {
  if (!theDevice || theDevice->isLost)
    return;
  theDevice->isLost = true;
  const WGPUDeviceLostCallbackInfo &lost = theDevice->info.deviceLostCallbackInfo;
  lost.callback(&theDevice, WGPUDeviceLostReason_Unknown, viewOf("pulled out"), lost.userdata1, nullptr);
}

void raise(uint32_t type, const std::string &text) {
  for (auto scope = theDevice->scopes.rbegin(); scope != theDevice->scopes.rend(); ++scope)
    if (scope->filter ==
        (type == WGPUErrorType_OutOfMemory ? WGPUErrorFilter_OutOfMemory : WGPUErrorFilter_Validation)) {
      if (scope->type == WGPUErrorType_NoError)
        *scope = {scope->filter, type, text};
      return;
    }
  const WGPUUncapturedErrorCallbackInfo &uncaptured = theDevice->info.uncapturedErrorCallbackInfo;
  uncaptured.callback(&theDevice, static_cast<WGPUErrorType>(type), viewOf(text), uncaptured.userdata1, nullptr);
}

void answer(const WGPUBufferMapCallbackInfo &info, WGPUMapAsyncStatus status) {
  info.callback(status, viewOf("not mapped"), info.userdata1, nullptr);
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
  if (object->isValid || fake.failWith != WGPUErrorType_NoError)
    return object;
  --count;
  delete object;
  return nullptr;
}

void dispatchOf(const WGPUComputePassEncoderImpl &pass) {
  const auto at = [&](size_t binding) {
    const WGPUBindGroupEntry &entry = pass.group->entries[binding];
    return reinterpret_cast<uint32_t *>(entry.buffer->bytes.data() + entry.offset);
  };
  const auto isInside = [&](size_t binding, uint64_t words) {
    const WGPUBindGroupEntry &entry = pass.group->entries[binding];
    return entry.offset + 4 * words <= entry.buffer->bytes.size();
  };
  const bool isBytes = pass.pipeline->entry == "k_bytes";
  const std::vector<uint32_t> &values = pass.values;
  const uint64_t words = values[0];
  if (isBytes ? !isInside(0, values[4] / 4 + words) : !isInside(0, words) || !isInside(1, words)) {
    ++fake.panics;
    return;
  }
  ++fake.dispatches;
  if (!isBytes) {
    for (uint32_t i = 0; i < words; ++i)
      at(1)[i] = at(0)[i] + 1;
    return;
  }
  auto *bytes = reinterpret_cast<unsigned char *>(at(0));
  const auto *pattern = reinterpret_cast<const unsigned char *>(values.data() + 2);
  for (uint32_t i = values[4]; i < values[5]; ++i)
    bytes[i] =
        values[7] != 0 ? reinterpret_cast<unsigned char *>(at(1))[i + static_cast<int32_t>(values[6])] : pattern[i % 8];
}

template <typename T> void release(T *object, int &count) {
  --count;
  theDevice->released.push_back(std::shared_ptr<T>(object));
}

} // namespace

extern "C" {

FakeWebGPU *zyxFakeWebGPU() { return &fake; }
/// As a library of devices it is another version's.
const zyx::runtime::BundledDevices *zyxBundledDevices() {
  static constexpr zyx::runtime::BundledDevices made = {"0.0.0", nullptr, nullptr};
  return &made;
}

#ifndef ZYX_FAKE_DAWN
uint32_t wgpuGetVersion() { return fake.version << 24; }
#endif
WGPUInstance wgpuCreateInstance(const WGPUInstanceDescriptor *) {
  fake.instances += fake.hasInstance;
  return fake.hasInstance ? reinterpret_cast<WGPUInstance>(&instance) : nullptr;
}
void wgpuInstanceRelease(WGPUInstance) {
  --fake.instances;
  for (const WGPUBufferMapCallbackInfo &each : std::exchange(unanswered, {}))
    answer(each, WGPUMapAsyncStatus_CallbackCancelled);
}
WGPUFuture wgpuInstanceRequestAdapter(WGPUInstance, const WGPURequestAdapterOptions *options,
                                      WGPURequestAdapterCallbackInfo asked) {
  const size_t number = options->powerPreference == WGPUPowerPreference_LowPower ? 2 : 1;
  const bool isThere = fake.adapters != 0;
  fake.heldAdapters += isThere;
  asked.callback(isThere ? WGPURequestAdapterStatus_Success : WGPURequestAdapterStatus_Unavailable,
                 isThere ? reinterpret_cast<WGPUAdapter>(&adapters[number % fake.adapters]) : nullptr, {},
                 asked.userdata1, nullptr);
  return {};
}
#ifndef ZYX_FAKE_DAWN
size_t wgpuInstanceEnumerateAdapters(WGPUInstance, const WGPUInstanceEnumerateAdapterOptions *, WGPUAdapter *into) {
  for (const WGPUBufferMapCallbackInfo &each : std::exchange(late, {})) {
    ++fake.lateAnswers;
    answer(each, WGPUMapAsyncStatus_Aborted);
  }
  for (size_t i = 0; into && i < fake.adapters; ++i, ++fake.heldAdapters)
    into[i] = reinterpret_cast<WGPUAdapter>(&adapters[i]);
  return fake.adapters;
}
#endif
WGPUStatus wgpuAdapterGetInfo(WGPUAdapter adapter, WGPUAdapterInfo *info) {
  const auto number = reinterpret_cast<int *>(adapter) - adapters;
  constexpr const char *names[] = {"Processor", "Card", "Laptop"};
  constexpr WGPUAdapterType types[] = {WGPUAdapterType_CPU, WGPUAdapterType_DiscreteGPU, WGPUAdapterType_IntegratedGPU};
  *info = {};
  info->device = {names[number], WGPU_STRLEN};
  info->description = {"driver 7", WGPU_STRLEN};
  info->adapterType = types[number];
  info->backendType = static_cast<WGPUBackendType>(fake.backend);
  return WGPUStatus_Success;
}
void wgpuAdapterInfoFreeMembers(WGPUAdapterInfo) {}
void wgpuAdapterRelease(WGPUAdapter) { --fake.heldAdapters; }
WGPUStatus wgpuAdapterGetLimits(WGPUAdapter, WGPULimits *limits) {
  limits->maxComputeInvocationsPerWorkgroup = fake.groupThreads;
  limits->maxComputeWorkgroupStorageSize = fake.sharedBytes;
  limits->maxStorageBuffersPerShaderStage = fake.storageBuffers;
  limits->minStorageBufferOffsetAlignment = fake.storageAlignment;
  limits->maxStorageBufferBindingSize = limits->maxBufferSize = fake.storageBytes;
  limits->maxComputeWorkgroupsPerDimension = 65535;
  limits->maxImmediateSize = fake.immediateBytes;
  // What another header has behind.
  if (fake.hasOtherStructs)
    *reinterpret_cast<uint32_t *>(limits + 1) = 16;
  return WGPUStatus_Success;
}
WGPUBool wgpuAdapterHasFeature(WGPUAdapter, WGPUFeatureName feature) {
  return feature == subgroups && fake.hasSubgroups;
}
WGPUFuture wgpuAdapterRequestDevice(WGPUAdapter, const WGPUDeviceDescriptor *info,
                                    WGPURequestDeviceCallbackInfo asked) {
  theDevice = nullptr;
  if (info->requiredFeatureCount != (fake.hasSubgroups ? 2 : 1) || info->requiredFeatures[0] != always ||
      (fake.hasSubgroups && info->requiredFeatures[1] != subgroups))
    ++fake.panics;
  if (fails(__func__)) {
    asked.callback(WGPURequestDeviceStatus_Error, nullptr, viewOf("limits are too high"), asked.userdata1, nullptr);
    return {};
  }
  theDevice = new WGPUDeviceImpl{*info, {}, {}, false, {}};
  ++fake.devices;
  asked.callback(WGPURequestDeviceStatus_Success, theDevice, {}, asked.userdata1, nullptr);
  return {};
}
WGPUQueue wgpuDeviceGetQueue(WGPUDevice) { return reinterpret_cast<WGPUQueue>(&queue); }
void wgpuDeviceRelease(WGPUDevice device) {
  for (const auto &[buffer, callback] : device->mapping)
    unanswered.push_back(callback);
  delete device;
  theDevice = nullptr;
  --fake.devices;
}
void wgpuQueueRelease(WGPUQueue) {}
void wgpuDevicePushErrorScope(WGPUDevice device, WGPUErrorFilter filter) {
  device->scopes.push_back({filter, WGPUErrorType_NoError, ""});
}
WGPUFuture wgpuDevicePopErrorScope(WGPUDevice device, WGPUPopErrorScopeCallbackInfo asked) {
  const Scope scope = device->scopes.back();
  device->scopes.pop_back();
  asked.callback(WGPUPopErrorScopeStatus_Success, static_cast<WGPUErrorType>(scope.type), viewOf(scope.text),
                 asked.userdata1, nullptr);
  return {};
}
static void poll(WGPUDevice device, const char *call) {
  (void)fails(call);
  for (const auto &[buffer, callback] : std::exchange(device->mapping, {})) {
    buffer->isMapped = !device->isLost;
    if (buffer->isMapped || !fake.answersLate)
      answer(callback, buffer->isMapped ? WGPUMapAsyncStatus_Success : WGPUMapAsyncStatus_Aborted);
    else if (isOnStack(callback.userdata1))
      ++fake.panics;
    else
      late.push_back(callback);
  }
}
WGPUWaitStatus wgpuInstanceWaitAny(WGPUInstance, size_t, WGPUFutureWaitInfo *, uint64_t) {
  poll(theDevice, __func__);
  return WGPUWaitStatus_Success;
}
#ifndef ZYX_FAKE_DAWN
WGPUBool wgpuDevicePoll(WGPUDevice device, WGPUBool, const uint64_t *) {
  poll(device, __func__);
  return 1;
}
#endif

WGPUBuffer wgpuDeviceCreateBuffer(WGPUDevice, const WGPUBufferDescriptor *info) {
  WGPUBuffer buffer = made(new WGPUBufferImpl, __func__, fake.buffers);
  buffer->bytes.resize(info->size);
  return buffer;
}
void wgpuBufferDestroy(WGPUBuffer) {}
void wgpuBufferRelease(WGPUBuffer buffer) { release(buffer, fake.buffers); }
WGPUFuture wgpuBufferMapAsync(WGPUBuffer buffer, WGPUMapMode, size_t, size_t, WGPUBufferMapCallbackInfo info) {
  if (fails(__func__))
    unanswered.push_back(info);
  else
    theDevice->mapping.emplace_back(buffer, info);
  return {};
}
const void *wgpuBufferGetConstMappedRange(WGPUBuffer buffer, size_t offset, size_t) {
  return buffer->isMapped ? buffer->bytes.data() + offset : nullptr;
}
void wgpuBufferUnmap(WGPUBuffer buffer) { buffer->isMapped = false; }

// Kernels read outside of a buffer what nobody takes.
static WGPUShaderModule shaderOf(const WGPUShaderModuleDescriptor *info, bool isChecked, const char *call) {
  const std::string text = textOf(reinterpret_cast<const WGPUShaderSourceWGSL *>(info->nextInChain)->code);
  const bool isEnabled = text.starts_with("enable subgroups; ");
  const bool isWrong =
      text.find("wrong") != std::string::npos || !isChecked || isEnabled != (isDawn && fake.hasSubgroups);
  if (isWrong)
    raise(2, "1:1: error: that is wrong");
  return made(new WGPUShaderModuleImpl, call, fake.shaders, !isWrong);
}
WGPUShaderModule wgpuDeviceCreateShaderModule(WGPUDevice, const WGPUShaderModuleDescriptor *info) {
  return shaderOf(info, isDawn, __func__);
}
#ifndef ZYX_FAKE_DAWN
WGPUShaderModule wgpuDeviceCreateShaderModuleTrusted(WGPUDevice, const WGPUShaderModuleDescriptor *info,
                                                     WGPUShaderRuntimeChecks checks) {
  return shaderOf(info, (checks & WGPUShaderRuntimeChecks_BoundsChecks) != 0, __func__);
}
#endif
void wgpuShaderModuleRelease(WGPUShaderModule shader) { release(shader, fake.shaders); }
WGPUBindGroupLayout wgpuDeviceCreateBindGroupLayout(WGPUDevice, const WGPUBindGroupLayoutDescriptor *) {
  return made(new WGPUBindGroupLayoutImpl, __func__, fake.layouts);
}
void wgpuBindGroupLayoutRelease(WGPUBindGroupLayout layout) { release(layout, fake.layouts); }
WGPUPipelineLayout wgpuDeviceCreatePipelineLayout(WGPUDevice, const WGPUPipelineLayoutDescriptor *) {
  return made(new WGPUPipelineLayoutImpl, __func__, fake.layouts);
}
void wgpuPipelineLayoutRelease(WGPUPipelineLayout layout) { release(layout, fake.layouts); }
WGPUComputePipeline wgpuDeviceCreateComputePipeline(WGPUDevice, const WGPUComputePipelineDescriptor *info) {
  if (!info->compute.module->isValid)
    ++fake.panics;
  const std::string entry = textOf(info->compute.entryPoint);
  const bool isKnown = entry == "k_bytes" || entry == "k_increment";
  if (!isKnown)
    raise(2, "there is no entry point " + entry);
  WGPUComputePipeline pipeline = made(new WGPUComputePipelineImpl, __func__, fake.pipelines, isKnown);
  pipeline->entry = entry;
  return pipeline;
}
void wgpuComputePipelineRelease(WGPUComputePipeline pipeline) { release(pipeline, fake.pipelines); }
WGPUBindGroup wgpuDeviceCreateBindGroup(WGPUDevice, const WGPUBindGroupDescriptor *info) {
  WGPUBindGroup group = made(new WGPUBindGroupImpl, __func__, fake.bindGroups);
  group->entries.assign(info->entries, info->entries + info->entryCount);
  for (const WGPUBindGroupEntry &entry : group->entries)
    if (entry.offset % 64 != 0)
      raise(WGPUErrorType_Validation, "offset " + std::to_string(entry.offset) + " is no multiple of 64");
  return group;
}
void wgpuBindGroupRelease(WGPUBindGroup group) { release(group, fake.bindGroups); }

WGPUCommandEncoder wgpuDeviceCreateCommandEncoder(WGPUDevice, const WGPUCommandEncoderDescriptor *) {
  return made(new WGPUCommandEncoderImpl, __func__, fake.encoders);
}
void wgpuCommandEncoderRelease(WGPUCommandEncoder encoder) { release(encoder, fake.encoders); }
WGPUComputePassEncoder wgpuCommandEncoderBeginComputePass(WGPUCommandEncoder encoder,
                                                          const WGPUComputePassDescriptor *) {
  return new WGPUComputePassEncoderImpl{encoder, {}, {}, {}};
}
void wgpuCommandEncoderCopyBufferToBuffer(WGPUCommandEncoder encoder, WGPUBuffer from, uint64_t fromOffset,
                                          WGPUBuffer to, uint64_t toOffset, uint64_t bytes) {
  encoder->isValid &= !fails(__func__) && from != to && fromOffset % 4 == 0 && toOffset % 4 == 0 && bytes % 4 == 0 &&
                      fromOffset + bytes <= from->bytes.size() && toOffset + bytes <= to->bytes.size();
  encoder->commands.emplace_back(
      [=] { std::memcpy(to->bytes.data() + toOffset, from->bytes.data() + fromOffset, bytes); });
}
void wgpuCommandEncoderClearBuffer(WGPUCommandEncoder encoder, WGPUBuffer buffer, uint64_t offset, uint64_t bytes) {
  encoder->isValid &= !fails(__func__);
  encoder->commands.emplace_back([=] { std::memset(buffer->bytes.data() + offset, 0, bytes); });
}
WGPUCommandBuffer wgpuCommandEncoderFinish(WGPUCommandEncoder encoder, const WGPUCommandBufferDescriptor *) {
  if (!encoder->isValid)
    raise(2, "a command is not valid");
  WGPUCommandBuffer commands = made(new WGPUCommandBufferImpl, __func__, fake.commandBuffers, encoder->isValid);
  commands->commands = encoder->commands;
  return commands;
}
void wgpuCommandBufferRelease(WGPUCommandBuffer commands) { release(commands, fake.commandBuffers); }
void wgpuComputePassEncoderSetPipeline(WGPUComputePassEncoder pass, WGPUComputePipeline pipeline) {
  pass->encoder->isValid &= pipeline->isValid;
  pass->pipeline = pipeline;
}
void wgpuComputePassEncoderSetBindGroup(WGPUComputePassEncoder pass, uint32_t index, WGPUBindGroup group, size_t count,
                                        const uint32_t *) {
  pass->encoder->isValid &= index == 0 && count == 0 && group->isValid;
  pass->group = group;
}
void wgpuComputePassEncoderSetImmediates(WGPUComputePassEncoder pass, uint32_t offset, const void *data, size_t size) {
  pass->encoder->isValid &= offset == 0 && size % 4 == 0 && size <= fake.immediateBytes;
  pass->values.resize(fake.immediateBytes / 4);
  std::memcpy(pass->values.data(), data, std::min<size_t>(size, fake.immediateBytes));
}
void wgpuComputePassEncoderDispatchWorkgroups(WGPUComputePassEncoder pass, uint32_t groups, uint32_t, uint32_t) {
  pass->encoder->isValid &= !fails(__func__) && groups <= 65535;
  for (const WGPUBindGroupEntry &a : pass->group->entries)
    for (const WGPUBindGroupEntry &b : pass->group->entries)
      pass->encoder->isValid &= !isDawn || a.binding == b.binding || a.buffer != b.buffer ||
                                a.offset + a.size <= b.offset || b.offset + b.size <= a.offset;
  pass->encoder->commands.emplace_back([its = *pass] { dispatchOf(its); });
}
void wgpuComputePassEncoderEnd(WGPUComputePassEncoder) {}
void wgpuComputePassEncoderRelease(WGPUComputePassEncoder pass) { delete pass; }
void wgpuQueueWriteBuffer(WGPUQueue, WGPUBuffer buffer, uint64_t offset, const void *from, size_t bytes) {
  if (!fails(__func__) && offset + bytes <= buffer->bytes.size())
    std::memcpy(buffer->bytes.data() + offset, from, bytes);
}
static uint64_t submit(const WGPUCommandBuffer *commands, const char *call) {
  if (!(*commands)->isValid)
    ++fake.panics;
  else if (!fails(call) && !theDevice->isLost)
    for (const std::function<void()> &command : (*commands)->commands)
      command();
  return ++fake.submissions;
}
void wgpuQueueSubmit(WGPUQueue, size_t, const WGPUCommandBuffer *commands) { submit(commands, __func__); }
WGPUFuture wgpuQueueOnSubmittedWorkDone(WGPUQueue, WGPUQueueWorkDoneCallbackInfo asked) {
  asked.callback(WGPUQueueWorkDoneStatus_Success, {}, asked.userdata1, nullptr);
  return {static_cast<uint64_t>(fake.submissions)};
}
#ifndef ZYX_FAKE_DAWN
uint64_t wgpuQueueSubmitForIndex(WGPUQueue, size_t, const WGPUCommandBuffer *commands) {
  return submit(commands, __func__);
}
#endif

} // extern "C"
