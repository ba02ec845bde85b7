//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_PLUGIN_PLUGIN_H
#define ZYX_LIB_RUNTIME_DEVICES_PLUGIN_PLUGIN_H

#include "../Stream/Refusals.h"

#include "zyx-c/Backend.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Runtime/Plugin.h"

#include <string_view>

namespace zyx::runtime {

/// A backend that was loaded. It stays as it is until the process ends.
struct Plugin {
  /// What is beyond the library's size is null.
  zyx_backend_v1 table = {};
  std::string name;
  /// Empty where the program has registered it.
  std::string path;
};

/// Checks what a library gives: version, size, name, and the functions that there must be. Messages begin with `what`.
Status readPlugin(const zyx_backend_v1 *table, const std::string &what, Plugin &plugin);

/// Of device `name`, the index-th of the library.
Result<std::unique_ptr<Backend>> openPlugin(const Plugin &plugin, std::string name, uint32_t index);
/// All but the name, of a device that need not be open.
Status readPluginFacts(const Plugin &plugin, uint32_t index, BackendFacts &facts);

/// The plug-in that has a device of that name, "name" or "name:N"; null where none has. Loads those of ZYX_BACKENDS.
const Plugin *findPlugin(std::string_view deviceName);
Result<std::shared_ptr<Device>> createPluginDevice(const Plugin &plugin, std::string name,
                                                   const DeviceOptions &options);

/// Devices of all plug-ins, and as absent ones the paths of ZYX_BACKENDS that cannot be loaded.
std::vector<DeviceListing> listPluginDevices();

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_PLUGIN_PLUGIN_H
