//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include "../Stream/DriverLibrary.h"

#include "zyx/Base/Config.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::webgpu;

#define ZYX_SYMBOL(name) {"wgpu" #name, offsetof(Functions, name)},
static constexpr DriverSymbol symbols[] = {ZYX_WEBGPU_FUNCTIONS(ZYX_SYMBOL)};
#undef ZYX_SYMBOL

Result<const Driver *> Driver::open() {
  static std::mutex mutex;
  static std::map<const void *, Driver> &all = *new std::map<const void *, Driver>;
  const char *named = zyxVariable("WEBGPU_DRIVER");
  ZYX_ASSIGN_OR_RETURN(const void *table,
                       openDriverTable(named && *named ? named : "libwgpu_native.so",
                                       {"the library of WebGPU (ZYX_WEBGPU_DRIVER names it)", "wgpu-native 29"},
                                       symbols, sizeof(Functions)));
  const std::lock_guard lock(mutex);
  Driver &driver = all.try_emplace(table, Driver{*static_cast<const Functions *>(table)}).first->second;
  if (driver.instance)
    return &driver;
  if (const uint32_t version = driver.GetVersion() >> 24; version != supportedVersion)
    return Status::unsupported("the library of WebGPU is wgpu-native " + std::to_string(version) +
                               ", and this zyx calls version " + std::to_string(supportedVersion));
  driver.instance = driver.CreateInstance(nullptr);
  return driver.instance ? Result<const Driver *>(&driver) : Status::internal("wgpu-native gives no instance");
}

Result<std::vector<AdapterFound>> Driver::find() const {
  const WGPUInstanceEnumerateAdapterOptions options = {nullptr, WGPUInstanceBackend_Primary};
  std::vector<WGPUAdapter> listed(InstanceEnumerateAdapters(instance, &options, nullptr));
  listed.resize(std::min(listed.size(), InstanceEnumerateAdapters(instance, &options, listed.data())));
  const char *preference = zyxVariable("WEBGPU_POWER_PREFERENCE");
  const bool isLow = preference && std::string_view(preference) == "low-power";
  std::multimap<uint32_t, AdapterFound> ranked;
  for (WGPUAdapter adapter : listed) {
    AdapterFound each;
    each.adapter = {adapter, AdapterRelease};
    WGPUAdapterInfo info = {};
    if (AdapterGetInfo(adapter, &info) != WGPUStatus_Success)
      continue;
    if (AdapterGetLimits(adapter, &each.limits) == WGPUStatus_Success && info.backendType != WGPUBackendType_Null) {
      const WGPULimits &limits = each.limits;
      DeviceFacts &facts = each.facts;
      facts.target = "webgpu";
      facts.identity = textOf(info.device) + ", " + textOf(info.description) + ", wgpu-native " +
                       std::to_string(GetVersion() >> 24) +
                       (info.adapterType == WGPUAdapterType_CPU ? ", a processor" : "");
      facts.architecture = textOf(info.architecture);
      facts.processors = 16;
      facts.workgroupThreads = limits.maxComputeInvocationsPerWorkgroup;
      facts.sharedBytes = limits.maxComputeWorkgroupStorageSize;
      // WebGPU tells of no memory. What is more than there is, is an error of an allocation.
      facts.memoryBytes = uint64_t(8) << 30;
      facts.alignment = 64;
      facts.dtypes = allDTypes();
      std::erase(facts.dtypes, DType::F64);
      if (limits.minStorageBufferOffsetAlignment > facts.alignment)
        each.refusal = "it binds buffers from multiples of " + std::to_string(limits.minStorageBufferOffsetAlignment) +
                       " bytes; zyx has them at multiples of 64";
      const bool isTurned = isLow && info.adapterType <= WGPUAdapterType_IntegratedGPU;
      ranked.emplace(isTurned ? WGPUAdapterType_DiscreteGPU + WGPUAdapterType_IntegratedGPU - info.adapterType
                              : info.adapterType,
                     std::move(each));
    }
    AdapterInfoFreeMembers(info);
  }
  std::vector<AdapterFound> found;
  for (auto &[rank, each] : ranked)
    found.push_back(std::move(each));
  if (found.empty())
    return Status::notFound("no driver of Vulkan, Metal or DX12 has an adapter for WebGPU");
  return found;
}
