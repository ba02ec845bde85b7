//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "../Stream/DriverLibrary.h"

#include "zyx/Base/Config.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::webgpu;

#define ZYX_SYMBOL(name) "wgpu" #name,
#define ZYX_NATIVE_SYMBOL(name) "?wgpu" #name,
static constexpr const char *symbols[] = {ZYX_WEBGPU_FUNCTIONS(ZYX_SYMBOL)
                                              ZYX_WEBGPU_NATIVE_FUNCTIONS(ZYX_NATIVE_SYMBOL)};
#undef ZYX_SYMBOL
#undef ZYX_NATIVE_SYMBOL

static constexpr uint32_t supportedVersion = 29;
/// Of Dawn: several threads may call at once.
static constexpr auto implicitSynchronization = static_cast<WGPUFeatureName>(0x50004);

Result<const Driver *> Driver::open() {
  constexpr DriverName name = {"the library of WebGPU (ZYX_WEBGPU_DRIVER names it)", "wgpu-native 29, or Dawn,"};
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, openDriver<Driver>("WEBGPU_DRIVER", "libwgpu_native.so", name, symbols));
  const uint32_t version = driver->isDawn() ? supportedVersion : driver->GetVersion() >> 24;
  if (version != supportedVersion)
    return Status::unsupported("the library of WebGPU is wgpu-native " + std::to_string(version) +
                               ", and this zyx calls version " + std::to_string(supportedVersion));
  return driver;
}

std::vector<WGPUAdapter> Driver::list(WGPUInstance instance) const {
  std::vector<WGPUAdapter> all;
  if (isDawn()) {
    constexpr auto add = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void *all, void *) {
      if (adapter)
        static_cast<std::vector<WGPUAdapter> *>(all)->push_back(adapter);
    };
    for (WGPUPowerPreference preference : {WGPUPowerPreference_HighPerformance, WGPUPowerPreference_LowPower}) {
      const WGPURequestAdapterOptions asked = {nullptr, WGPUFeatureLevel_Core, preference};
      InstanceRequestAdapter(instance, &asked, {nullptr, WGPUCallbackMode_AllowSpontaneous, add, &all, nullptr});
    }
    return all;
  }
  const WGPUInstanceEnumerateAdapterOptions options = {nullptr, WGPUInstanceBackend_Primary};
  all.resize(InstanceEnumerateAdapters(instance, &options, nullptr));
  all.resize(std::min(all.size(), InstanceEnumerateAdapters(instance, &options, all.data())));
  return all;
}

uint64_t Driver::submit(WGPUQueue queue, WGPUCommandBuffer commands) const {
  if (!isDawn())
    return QueueSubmitForIndex(queue, 1, &commands) + 1;
  constexpr auto ignore = [](WGPUQueueWorkDoneStatus, WGPUStringView, void *, void *) {};
  QueueSubmit(queue, 1, &commands);
  return QueueOnSubmittedWorkDone(queue, {nullptr, WGPUCallbackMode_AllowSpontaneous, ignore, nullptr, nullptr}).id;
}

void Driver::wait(WGPUInstance instance, WGPUDevice device, uint64_t awaited) const {
  WGPUFutureWaitInfo future = {{awaited}, false};
  const uint64_t submission = awaited - 1;
  if (isDawn())
    (void)InstanceWaitAny(instance, 1, &future, UINT64_MAX);
  else
    (void)DevicePoll(device, 1, awaited == 0 ? nullptr : &submission);
}

static std::string refusalOf(const WGPULimits &limits, uint64_t alignment) {
  if (limits.minStorageBufferOffsetAlignment > alignment)
    return "it binds buffers from multiples of " + std::to_string(limits.minStorageBufferOffsetAlignment) +
           " bytes; zyx has them at multiples of " + std::to_string(alignment);
  if (limits.maxImmediateSize < 4 * fewestArgumentWords)
    return "a launch gives kernels " + std::to_string(limits.maxImmediateSize) + " bytes of numbers, and " +
           std::to_string(4 * fewestArgumentWords) + " are needed";
  return "";
}

Result<std::vector<AdapterFound>> Driver::find() const {
  constexpr WGPUInstanceFeatureName waits = WGPUInstanceFeatureName_TimedWaitAny;
  const WGPUInstanceDescriptor ofDawn = {nullptr, 1, &waits, nullptr};
  const WGPUInstance made = CreateInstance(isDawn() ? &ofDawn : nullptr);
  const std::string library = isDawn() ? "Dawn" : "wgpu-native " + std::to_string(supportedVersion);
  if (!made)
    return Status::internal(library + " gives no instance");
  const Owned<WGPUInstance> instance(made, InstanceRelease);
  const char *variable = zyxVariable("WEBGPU_POWER_PREFERENCE");
  const std::string_view preference = variable ? variable : "";
  const bool isLow = preference == "low-power";
  if (!preference.empty() && !isLow && preference != "high-performance")
    return Status::invalidArgument("ZYX_WEBGPU_POWER_PREFERENCE is low-power or high-performance, not " +
                                   std::string(preference));
  std::vector<AdapterFound> found;
  for (WGPUAdapter adapter : list(instance.get())) {
    AdapterFound each{{}, instance, {adapter, AdapterRelease}};
    WGPUAdapterInfo info = {};
    // A longer struct would go on in the second one.
    WGPULimits limits[2] = {};
    if (AdapterGetInfo(adapter, &info) != WGPUStatus_Success ||
        AdapterGetLimits(adapter, limits) != WGPUStatus_Success || info.backendType == WGPUBackendType_Null)
      continue;
    each.limits = limits[0];
    DeviceFacts &facts = each.facts;
    each.features = {isDawn() ? implicitSynchronization : static_cast<WGPUFeatureName>(WGPUNativeFeature_Immediates)};
    const auto subgroups =
        isDawn() ? WGPUFeatureName_Subgroups : static_cast<WGPUFeatureName>(WGPUNativeFeature_Subgroup);
    each.setTarget("webgpu", AdapterHasFeature(adapter, subgroups));
    if (each.hasSubgroups)
      each.features.push_back(subgroups);
    facts.identity = textOf(info.device) + ", " + textOf(info.description) + ", " + library +
                     (info.adapterType == WGPUAdapterType_CPU ? ", a processor" : "");
    facts.architecture = textOf(info.architecture);
    AdapterInfoFreeMembers(info);
    facts.processors = 16;
    facts.workgroupThreads = each.limits.maxComputeInvocationsPerWorkgroup;
    facts.sharedBytes = each.limits.maxComputeWorkgroupStorageSize;
    // WebGPU tells of no memory. What is more than there is, is an error of an allocation.
    facts.memoryBytes = uint64_t(8) << 30;
    facts.alignment = 64;
    // Of a larger one a kernel would see the beginning, and lose what it writes behind it. Distances of bytes are
    // numbers of 32 bits with a sign.
    each.largestBytes =
        std::min({each.limits.maxStorageBufferBindingSize, each.limits.maxBufferSize, uint64_t(1) << 31});
    facts.dtypes = dtypesWith(/*has8Bits=*/true, /*has16Bits=*/true, /*hasF64=*/false);
    each.refusal = limits[1].nextInChain ? "the library has other structs than the headers of wgpu-native 29"
                                         : refusalOf(each.limits, facts.alignment);
    each.rank = info.adapterType;
    if (isLow && info.adapterType <= WGPUAdapterType_IntegratedGPU)
      each.rank = WGPUAdapterType_DiscreteGPU + WGPUAdapterType_IntegratedGPU - info.adapterType;
    // Of Dawn one adapter may be there by each preference.
    const auto isSame = [&](const AdapterFound &one) { return one.facts.identity == facts.identity; };
    if (!isDawn() || std::ranges::none_of(found, isSame))
      found.push_back(std::move(each));
  }
  std::ranges::stable_sort(found, {}, &AdapterFound::rank);
  if (found.empty())
    return Status::notFound("no driver of Vulkan, Metal or DX12 has an adapter for WebGPU");
  return found;
}
