//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Device.h"

#include "Devices/Drivers.h"
#include "Devices/Host/Host.h"
#include "Devices/Plugin/Plugin.h"
#include "Devices/Stream/Bundled.h"
#include "Devices/Stream/StreamDevice.h"

#include <algorithm>
#include <iterator>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// Devices whose backends are in a library that comes with zyx.
struct BundledFamily {
  const char *name, *library;
};
constexpr BundledFamily vulkan = {"vulkan", "libZyxVulkan.so"};
constexpr BundledFamily webGPU = {"webgpu", "libZyxWebGPU.so"};

template <const BundledFamily &family>
Result<std::shared_ptr<Device>> createBundledDevice(std::string name, const DeviceOptions &options) {
  ZYX_ASSIGN_OR_RETURN(const BundledDevices *its, findBundled(family.library));
  return createStreamDevice(its->open(std::move(name), options), options);
}
template <const BundledFamily &family> std::vector<DeviceListing> listBundledDevices() {
  const Result<const BundledDevices *> its = findBundled(family.library);
  return its ? (*its)->list() : std::vector<DeviceListing>{{family.name, false, its.status().message()}};
}

/// What the runtime knows of each device; `create` is null for those that this build lacks, and `list` for
/// those of which there is one, whose `facts` are asked for.
struct Entry {
  std::string_view name, description;
  Result<std::shared_ptr<Device>> (*create)(std::string name, const DeviceOptions &options);
  std::vector<DeviceListing> (*list)() = nullptr;
  DeviceFacts (*facts)(std::string_view name) = nullptr;
  /// Its devices are none that anybody gets who names none.
  bool isOnlyByName = false;
};
constexpr Entry entries[] = {
    {"cpu", "this machine's processors, running the compiler's machine code", createHostDevice, nullptr,
     listedHostFacts},
    {"c", "this machine's processors, running C code by the system's compiler", createHostDevice, nullptr,
     listedHostFacts},
    {"cuda", "", createCudaDevice, listCudaDevices},
    {"hip", "", createHipDevice, listHipDevices},
    {"opencl", "", createOpenCLDevice, listOpenCLDevices, nullptr, /*isOnlyByName=*/true},
    {vulkan.name, "", createBundledDevice<vulkan>, listBundledDevices<vulkan>, nullptr, /*isOnlyByName=*/true},
    {webGPU.name, "", createBundledDevice<webGPU>, listBundledDevices<webGPU>, nullptr, /*isOnlyByName=*/true},
    {"tenstorrent", "this build has no Tenstorrent device: no package has the compiler of its cores (sfpi)", nullptr},
};

/// Of a name that could be any card's.
Status refuseGpu() {
  std::string present, absent;
  for (const Entry &entry : entries)
    for (const DeviceListing &one : entry.list ? entry.list() : std::vector<DeviceListing>()) {
      std::string &text = one.present ? present : absent;
      text += textOf({text.empty() ? "" : ", ", one.name, " (", one.description, ")"});
    }
  return Status::notFound(textOf({"no device is called 'gpu'; ", present.empty() ? "there is none: " : "there are ",
                                  present.empty() ? absent : present}));
}

Result<std::shared_ptr<Device>> refuseAllocator(std::string_view name) {
  return Status::unsupported(textOf({"the memory of device '", name, "' is its driver's, and takes no allocator"}));
}

} // namespace

std::string runtime::canonicalDeviceName(std::string_view name) {
  const bool isFirst = name.ends_with(":0") && std::ranges::any_of(entries, [&](const Entry &entry) {
                         return name.substr(0, name.size() - 2) == entry.name;
                       });
  return std::string(isFirst || (name.ends_with(":0") && findPlugin(name)) ? name.substr(0, name.size() - 2) : name);
}

Result<std::shared_ptr<Device>> runtime::createDevice(std::string_view given, const DeviceOptions &options) {
  const std::string name = given.empty() ? fastestDevice(listDefaultDevices()) : canonicalDeviceName(given);
  if (name == "gpu")
    return refuseGpu();
  // Before those that the build lacks.
  if (const Plugin *plugin = findPlugin(name))
    return options.allocator ? refuseAllocator(name) : createPluginDevice(*plugin, name, options);
  std::string known;
  for (const Entry &entry : entries) {
    const bool isOneOfList = entry.list && name.starts_with(entry.name) && name[entry.name.size()] == ':';
    if (entry.name == name || isOneOfList) {
      if (!entry.create)
        return Status::unsupported(std::string(entry.description));
      return entry.list && options.allocator ? refuseAllocator(name) : entry.create(name, options);
    }
    if (entry.create)
      known += textOf({known.empty() ? "" : ", ", entry.name});
  }
  std::string refused;
  for (const DeviceListing &one : listPluginDevices())
    (one.present ? known : refused) += textOf({one.present ? ", " : "; ", one.present ? one.name : one.description});
  if (!options.otherDevices.empty())
    known += textOf({", and ", options.otherDevices});
  return Status::notFound(textOf({"no device '", name, "'; known are ", known, refused}));
}

static std::vector<DeviceListing> listEntries(bool onlyDefault) {
  std::vector<DeviceListing> listings;
  for (const Entry &entry : entries) {
    if (onlyDefault && entry.isOnlyByName)
      continue;
    if (!entry.list) {
      listings.push_back({std::string(entry.name), entry.create != nullptr, std::string(entry.description),
                          entry.facts ? entry.facts(entry.name) : DeviceFacts()});
      continue;
    }
    for (DeviceListing &one : entry.list())
      listings.push_back(std::move(one));
  }
  std::ranges::move(listPluginDevices(), std::back_inserter(listings));
  return listings;
}

std::vector<DeviceListing> runtime::listDevices() { return listEntries(/*onlyDefault=*/false); }
std::vector<DeviceListing> runtime::listDefaultDevices() { return listEntries(/*onlyDefault=*/true); }

std::string runtime::fastestDevice(std::span<const DeviceListing> listings) {
  const DeviceListing *fastest = nullptr;
  for (const DeviceListing &one : listings)
    if (one.present && (!fastest || one.facts.flops() > fastest->facts.flops()))
      fastest = &one;
  return fastest ? fastest->name : "cpu";
}

DeviceFacts Device::facts() const {
  const PoolUsage usage = pool()->usage();
  DeviceFacts facts;
  facts.target = target();
  facts.identity = identity();
  facts.memoryBytes = usage.limit;
  facts.freeBytes = usage.limit - usage.inUse;
  facts.alignment = alignment();
  facts.dtypes = allDTypes();
  return facts;
}

DLPackPlace Device::dlpackPlace() const {
  return pool()->isHostMemory() ? DLPackPlace() : DLPackPlace{/*kind=*/0, /*number=*/0};
}

Result<std::shared_ptr<Fence>> Device::recordStream(void *) {
  return Status::unsupported(textOf({"device '", name(), "' takes no streams of the host program"}));
}
Status Device::letStreamWait(void *stream, const Point &) { return recordStream(stream).status(); }

Result<std::shared_ptr<Buffer>> Device::borrow(uint64_t address, uint64_t size, std::shared_ptr<void> owner) const {
  if (!pool()->isHostMemory())
    return Status::unsupported("device '" + name() + "' takes no memory of other libraries");
  return Buffer::borrow(reinterpret_cast<void *>(address), size, std::move(owner));
}
