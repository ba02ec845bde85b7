//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>

namespace zyx::webgpu {
namespace {

/// Fills the table.
Failure open(const std::string &file, Driver &driver) {
  void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *said = ::dlerror();
    return {ZYX_NOT_FOUND, "the library of WebGPU cannot be opened (ZYX_WEBGPU_DRIVER names wgpu-native): " +
                               std::string(said ? said : "")};
  }
#define ZYX_SYMBOL(name)                                                                                               \
  driver.name = reinterpret_cast<decltype(driver.name)>(::dlsym(library, "wgpu" #name));                               \
  if (!driver.name)                                                                                                    \
    return refuse("'" + file + "' is not wgpu-native: it lacks wgpu" #name);
  ZYX_WEBGPU_FUNCTIONS(ZYX_SYMBOL)
#undef ZYX_SYMBOL
  if (const uint32_t version = driver.GetVersion() >> 24; version != supportedVersion)
    return refuse("'" + file + "' is wgpu-native " + std::to_string(version) + ", and this zyx calls version " +
                  std::to_string(supportedVersion));
  driver.instance = driver.CreateInstance(nullptr);
  return driver.instance ? Failure() : Failure{ZYX_INTERNAL, "wgpu-native gives no instance"};
}

/// The library that the environment names now. One that could be opened stays.
Failure openDriver(const Driver *&driver) {
  static std::map<std::string, Driver> &all = *new std::map<std::string, Driver>;
  const char *named = std::getenv("ZYX_WEBGPU_DRIVER");
  const std::string file = named && *named ? named : "libwgpu_native.so";
  const auto at = all.try_emplace(file).first;
  driver = &at->second;
  Failure failure = at->second.instance ? Failure() : open(file, at->second);
  if (failure)
    all.erase(at);
  return failure;
}

} // namespace

Failure findAdapters(Adapters &all) {
  static std::mutex mutex;
  static std::set<std::string> &texts = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  const Driver *opened = nullptr;
  if (Failure failure = openDriver(opened))
    return failure;
  const Driver &driver = *opened;
  const WGPUInstanceEnumerateAdapterOptions options = {nullptr, WGPUInstanceBackend_Primary};
  std::vector<WGPUAdapter> listed(driver.InstanceEnumerateAdapters(driver.instance, &options, nullptr));
  listed.resize(std::min(listed.size(), driver.InstanceEnumerateAdapters(driver.instance, &options, listed.data())));
  const char *preference = std::getenv("ZYX_WEBGPU_POWER_PREFERENCE");
  const bool isLow = preference && std::string_view(preference) == "low-power";
  std::vector<std::pair<uint32_t, std::shared_ptr<const AdapterFound>>> ranked;
  for (WGPUAdapter adapter : listed) {
    auto each = std::make_shared<AdapterFound>(driver, adapter);
    WGPUAdapterInfo info = {};
    if (driver.AdapterGetInfo(adapter, &info) != WGPUStatus_Success)
      continue;
    if (driver.AdapterGetLimits(adapter, &each->limits) == WGPUStatus_Success &&
        info.backendType != WGPUBackendType_Null) {
      const std::string identity = textOf(info.device) + ", " + textOf(info.description) + ", wgpu-native " +
                                   std::to_string(driver.GetVersion() >> 24) +
                                   (info.adapterType == WGPUAdapterType_CPU ? ", a processor" : "");
      each->identity = texts.insert(identity).first->c_str();
      each->architecture = texts.insert(textOf(info.architecture)).first->c_str();
      const bool isTurned = isLow && info.adapterType <= WGPUAdapterType_IntegratedGPU;
      ranked.emplace_back(isTurned ? WGPUAdapterType_DiscreteGPU + WGPUAdapterType_IntegratedGPU - info.adapterType
                                   : info.adapterType,
                          std::move(each));
    }
    driver.AdapterInfoFreeMembers(info);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto &[rank, each] : ranked)
    all.push_back(std::move(each));
  return all.empty() ? noAdapter() : Failure();
}

} // namespace zyx::webgpu
