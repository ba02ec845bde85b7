//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Plug-ins of this process, by the names of their devices.
#include "../Stream/StreamDevice.h"
#include "Plugin.h"

#include "zyx/Base/Config.h"
#include "zyx/Base/ProcessMutex.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <memory>
#include <vector>

using namespace zyx;
using namespace zyx::runtime;

namespace {

/// What is known of each; it lives until the process ends.
struct Registry {
  std::vector<std::unique_ptr<Plugin>> plugins;
  /// Paths of ZYX_BACKENDS and loadBackends() that could not be loaded, and why.
  std::vector<DeviceListing> refused;
  /// What the variable was when it was last looked at.
  std::string variable;
};
constinit ProcessMutex mutex;
Registry &registry() {
  static Registry &all = *new Registry;
  return all;
}

/// The functions of the table in their order, from its first one on. '?' marks those that may be missing, and '+' those
/// of graphs: all, or none.
constexpr char functionNames[] = "device_count\0get_facts\0open\0close\0?enter\0?leave\0?is_lost\0allocate\0free\0"
                                 "?free_memory\0?trim\0allocate_host\0free_host\0upload\0download\0copy\0fill\0load\0"
                                 "unload\0find\0launch\0create_stream\0destroy_stream\0synchronize_stream\0"
                                 "?native_stream\0create_event\0destroy_event\0record\0wait\0synchronize_event\0"
                                 "elapsed\0?hold\0+create_graph\0+destroy_graph\0+add_launch\0+add_copy\0+add_fill\0"
                                 "+finish_graph\0+update_launch\0+update_copy\0+update_fill\0+launch_graph\0";
constexpr size_t firstFunction = offsetof(zyx_backend_v1, device_count);
/// Of the first table that was published.
constexpr size_t leastSize = offsetof(zyx_backend_v1, launch_graph) + sizeof(zyx_backend_v1::launch_graph);
static_assert((leastSize - firstFunction) / sizeof(void (*)()) + 1 ==
                  static_cast<size_t>(std::count(std::begin(functionNames), std::end(functionNames), '\0')),
              "each function of the table has its name");

/// The first function that there must be and is not; null where there is none.
const char *missingFunction(const zyx_backend_v1 &table) {
  const auto *at = reinterpret_cast<const std::byte *>(&table) + firstFunction;
  for (const char *name = functionNames; *name; name += std::strlen(name) + 1, at += sizeof(void (*)())) {
    void (*function)() = nullptr;
    std::memcpy(&function, at, sizeof(function));
    if (!function && *name != '?' && (*name != '+' || table.create_graph))
      return *name == '+' ? name + 1 : name;
  }
  return nullptr;
}

/// Devices that zyx has itself. What a build lacks may come from a plug-in: "vulkan".
constexpr std::string_view taken[] = {"cpu", "c", "cuda", "hip", "reference", "gpu", "dummy", "disk"};

Plugin *findFamily(std::string_view family) {
  for (const std::unique_ptr<Plugin> &plugin : registry().plugins)
    if (plugin->name == family)
      return plugin.get();
  return nullptr;
}

Result<std::string> keep(const zyx_backend_v1 *table, const std::string &what, const std::string &path) {
  auto plugin = std::make_unique<Plugin>();
  ZYX_RETURN_IF_ERROR(readPlugin(table, what, *plugin));
  if (const Plugin *other = findFamily(plugin->name))
    return Status::invalidArgument(textOf({what, " has devices '", plugin->name, "', as has ",
                                           other->path.empty() ? "one of the program" : other->path}));
  plugin->path = path;
  registry().plugins.push_back(std::move(plugin));
  return registry().plugins.back()->name;
}

Result<std::string> loadLocked(const std::string &path) {
  for (const std::unique_ptr<Plugin> &plugin : registry().plugins)
    if (plugin->path == path)
      return plugin->name;
  const std::string what = textOf({"backend '", path, "'"});
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *said = ::dlerror();
    return Status::notFound(textOf({what, " cannot be loaded: ", said ? said : ""}));
  }
  void *symbol = ::dlsym(library, "zyx_backend");
  if (!symbol)
    return Status::invalidArgument(textOf({what, " exports no function zyx_backend"}));
  return keep(reinterpret_cast<const zyx_backend_v1 *(*)()>(symbol)(), what, path);
}

void loadOrRefuse(const std::string &path) {
  for (const DeviceListing &one : registry().refused)
    if (one.name == path)
      return;
  if (const Status loaded = loadLocked(path).status(); !loaded.isOk())
    registry().refused.push_back({path, false, loaded.message()});
}

/// With the lock held.
void loadNamed() {
  const char *variable = zyxVariable("BACKENDS");
  if (!variable || registry().variable == variable)
    return;
  registry().variable = variable;
  for (std::string_view rest = variable; !rest.empty();) {
    const std::string path(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
    if (!path.empty())
      loadOrRefuse(path);
  }
}

} // namespace

Status runtime::readPlugin(const zyx_backend_v1 *table, const std::string &what, Plugin &plugin) {
  if (!table)
    return Status::unsupported(textOf({what, " has nothing to give on this machine"}));
  if (table->abi_version != ZYX_BACKEND_ABI_VERSION)
    return Status::unsupported(textOf({what, " is of ABI version ", std::to_string(int(table->abi_version)),
                                       ", and this zyx takes version ", std::to_string(ZYX_BACKEND_ABI_VERSION)}));
  if (table->struct_size < leastSize)
    return Status::invalidArgument(
        textOf({what, " has a table of ", std::to_string(int(table->struct_size)),
                " bytes, less than the first of its version, ", std::to_string(int(leastSize))}));
  std::memcpy(&plugin.table, table, std::min(table->struct_size, sizeof(zyx_backend_v1)));
  if (plugin.table.name)
    plugin.name = plugin.table.name;
  const bool isName = !plugin.name.empty() && std::ranges::all_of(plugin.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!isName || std::ranges::count(taken, plugin.name))
    return Status::invalidArgument(
        textOf({what, " calls its devices '", plugin.name,
                isName ? "', which zyx has itself" : "'; a name has small letters, digits, - and _"}));
  if (const char *missing = missingFunction(plugin.table))
    return Status::invalidArgument(textOf({what, " lacks the function ", missing}));
  if ((plugin.table.enter == nullptr) != (plugin.table.leave == nullptr))
    return Status::invalidArgument(textOf({what, " has one of the functions enter and leave; it has both, or none"}));
  return Status::ok();
}

Result<std::string> runtime::loadBackend(const std::string &path) {
  const ProcessMutex::Guard lock(mutex);
  ZYX_RETURN_IF_ERROR(lock.check());
  return loadLocked(path);
}

void runtime::loadBackends(std::span<const std::string> paths) {
  if (paths.empty())
    return;
  if (const ProcessMutex::Guard lock(mutex); lock)
    for (const std::string &path : paths)
      loadOrRefuse(path);
}

Result<std::string> runtime::registerBackend(const zyx_backend_v1 &table) {
  const ProcessMutex::Guard lock(mutex);
  ZYX_RETURN_IF_ERROR(lock.check());
  return keep(&table, "the backend of the program", "");
}

const Plugin *runtime::findPlugin(std::string_view deviceName) {
  const ProcessMutex::Guard lock(mutex);
  if (!lock)
    return nullptr;
  loadNamed();
  return findFamily(deviceName.substr(0, deviceName.find(':')));
}

Result<std::shared_ptr<Device>> runtime::createPluginDevice(const Plugin &plugin, std::string name,
                                                            const DeviceOptions &options) {
  ZYX_ASSIGN_OR_RETURN(const size_t index,
                       indexAmong(name, textOf({"backend '", plugin.name, "'"}), plugin.table.device_count()));
  return createStreamDevice(openPlugin(plugin, std::move(name), static_cast<uint32_t>(index)), options);
}

std::vector<DeviceListing> runtime::listPluginDevices() {
  const ProcessMutex::Guard lock(mutex);
  if (!lock)
    return {};
  loadNamed();
  std::vector<DeviceListing> listings = registry().refused;
  for (const std::unique_ptr<Plugin> &plugin : registry().plugins) {
    const uint32_t count = plugin->table.device_count();
    for (uint32_t index = 0; index < std::max<uint32_t>(count, 1); ++index) {
      DeviceListing &one = listings.emplace_back();
      one.name = plugin->name;
      if (index != 0)
        one.name += textOf({":", std::to_string(int(index))});
      BackendFacts facts;
      const Status read = count == 0 ? Status::notFound(textOf({"backend '", plugin->name, "' has no device here"}))
                                     : readPluginFacts(*plugin, index, facts);
      one.present = read.isOk();
      one.description = !one.present ? read.message() : plugin->table.description ? plugin->table.description : "";
      if (one.present)
        one.facts = std::move(facts.device);
    }
  }
  return listings;
}
