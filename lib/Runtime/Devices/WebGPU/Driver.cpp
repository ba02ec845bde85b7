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
static constexpr const char *symbols[] = {ZYX_WEBGPU_FUNCTIONS(ZYX_SYMBOL)};
#undef ZYX_SYMBOL

static constexpr uint32_t supportedVersion = 29;

Result<const Driver *> Driver::open() {
  constexpr DriverName name = {"the library of WebGPU (ZYX_WEBGPU_DRIVER names it)", "wgpu-native 29"};
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, openDriver<Driver>("WEBGPU_DRIVER", "libwgpu_native.so", name, symbols));
  if (const uint32_t version = driver->GetVersion() >> 24; version != supportedVersion)
    return Status::unsupported("the library of WebGPU is wgpu-native " + std::to_string(version) +
                               ", and this zyx calls version " + std::to_string(supportedVersion));
  return driver;
}

static std::string refusalOf(const WGPULimits &limits, uint64_t alignment) {
  if (limits.minStorageBufferOffsetAlignment > alignment)
    return "it binds buffers from multiples of " + std::to_string(limits.minStorageBufferOffsetAlignment) +
           " bytes; zyx has them at multiples of " + std::to_string(alignment);
  if (limits.maxImmediateSize < 4 * argumentWords)
    return "a launch gives kernels " + std::to_string(limits.maxImmediateSize) + " bytes of numbers, and " +
           std::to_string(4 * argumentWords) + " are needed";
  return "";
}

Result<std::vector<AdapterFound>> Driver::find() const {
  const WGPUInstance made = CreateInstance(nullptr);
  if (!made)
    return Status::internal("wgpu-native gives no instance");
  const Owned<WGPUInstance> instance(made, InstanceRelease);
  const WGPUInstanceEnumerateAdapterOptions options = {nullptr, WGPUInstanceBackend_Primary};
  std::vector<WGPUAdapter> listed(InstanceEnumerateAdapters(instance.get(), &options, nullptr));
  listed.resize(std::min(listed.size(), InstanceEnumerateAdapters(instance.get(), &options, listed.data())));
  const char *variable = zyxVariable("WEBGPU_POWER_PREFERENCE");
  const std::string_view preference = variable ? variable : "";
  const bool isLow = preference == "low-power";
  if (!preference.empty() && !isLow && preference != "high-performance")
    return Status::invalidArgument("ZYX_WEBGPU_POWER_PREFERENCE is low-power or high-performance, not " +
                                   std::string(preference));
  std::vector<AdapterFound> found;
  for (WGPUAdapter adapter : listed) {
    AdapterFound each{{}, instance, {adapter, AdapterRelease}};
    WGPUAdapterInfo info = {};
    if (AdapterGetInfo(adapter, &info) != WGPUStatus_Success ||
        AdapterGetLimits(adapter, &each.limits) != WGPUStatus_Success || info.backendType == WGPUBackendType_Null)
      continue;
    DeviceFacts &facts = each.facts;
    each.setTarget("webgpu", AdapterHasFeature(adapter, static_cast<WGPUFeatureName>(WGPUNativeFeature_Subgroup)));
    facts.identity = textOf(info.device) + ", " + textOf(info.description) + ", wgpu-native " +
                     std::to_string(supportedVersion) +
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
    each.refusal = refusalOf(each.limits, facts.alignment);
    each.rank = info.adapterType;
    if (isLow && info.adapterType <= WGPUAdapterType_IntegratedGPU)
      each.rank = WGPUAdapterType_DiscreteGPU + WGPUAdapterType_IntegratedGPU - info.adapterType;
    found.push_back(std::move(each));
  }
  std::ranges::stable_sort(found, {}, &AdapterFound::rank);
  if (found.empty())
    return Status::notFound("no driver of Vulkan, Metal or DX12 has an adapter for WebGPU");
  return found;
}
