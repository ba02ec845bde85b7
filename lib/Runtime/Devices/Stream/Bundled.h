//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Backends in a library of their own that comes with zyx, of the same build: a program that names no device of it
// neither opens it nor carries its code. Libraries of other builds are plug-ins, which have a table in C.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_BUNDLED_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_BUNDLED_H

#include "Backend.h"

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

struct BundledDevices {
  /// Of zyx. What follows is known to be as it is here where the version is the same.
  const char *version;
  Result<std::unique_ptr<Backend>> (*open)(std::string name, const DeviceOptions &options);
  std::vector<DeviceListing> (*list)();
};

/// The devices of such a library: from beside this one, for a program from `../lib`, else where the system finds it.
Result<const BundledDevices *> findBundled(const char *library);

} // namespace zyx::runtime

/// The one function that such a library shows.
extern "C" [[gnu::visibility("default")]] const zyx::runtime::BundledDevices *zyxBundledDevices();

/// Defines it, of devices that a driver finds (FoundDevices.h).
#define ZYX_BUNDLED_DEVICES(DriverBackend, Driver)                                                                     \
  const zyx::runtime::BundledDevices *zyxBundledDevices() {                                                            \
    using namespace zyx::runtime;                                                                                      \
    static constexpr BundledDevices made = {ZYX_VERSION, openFound<DriverBackend, Driver>, listFound<Driver>};         \
    return &made;                                                                                                      \
  }

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_BUNDLED_H
