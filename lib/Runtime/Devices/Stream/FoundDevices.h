//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Devices that a driver's loader counts, which a `Driver` opens and finds. Each `Found` has the facts of a device, and
// a refusal: why the compiler's code does not run there, or nothing.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_FOUNDDEVICES_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_FOUNDDEVICES_H

#include "Refusals.h"
#include "StreamDevice.h"

namespace zyx::runtime {

template <typename Driver> auto findAll() -> decltype(std::declval<const Driver>().find()) {
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, Driver::open());
  return driver->find();
}

/// What a backend of such a device has.
template <typename Base, typename DriverT, typename Found> class FoundDevice : public Base {
public:
  FoundDevice(const DriverT &driver, Found found, std::string name, std::shared_ptr<const CodeCache> cache)
      : driver(driver), found(std::move(found)), cache(std::move(cache)),
        itsFacts(backendFacts(std::move(name), this->found.facts)) {}
  const BackendFacts &facts() const final { return itsFacts; }
  Status accept(const artifact::Artifact &artifact) const final {
    return checkFormat(artifact, DriverT::deviceName, DriverT::format, textOf({"a device of ", DriverT::driverName}),
                       found.hasSubgroups);
  }

protected:
  /// Code that the driver made, in an earlier process, too.
  std::optional<std::vector<std::byte>> findKept(const std::string &key) const {
    return cache ? cache->find(key) : std::nullopt;
  }

  const DriverT &driver;
  const Found found;
  /// Null where there is none.
  const std::shared_ptr<const CodeCache> cache;
  BackendFacts itsFacts;
};

/// A backend of what a name with a number is of, such as "vulkan:1" among those of "Vulkan".
template <typename DriverBackend, typename Driver>
Result<std::unique_ptr<Backend>> openFound(std::string name, const DeviceOptions &options) {
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, Driver::open());
  ZYX_ASSIGN_OR_RETURN(auto all, driver->find());
  ZYX_ASSIGN_OR_RETURN(const size_t index, indexAmong(name, Driver::driverName, all.size()));
  auto &chosen = all[index];
  ZYX_RETURN_IF_ERROR(checkRefusal(chosen.facts, chosen.refusal));
  auto backend = std::make_unique<DriverBackend>(*driver, std::move(chosen), std::move(name), options.codeCache);
  ZYX_RETURN_IF_ERROR(backend->open());
  return std::unique_ptr<Backend>(std::move(backend));
}

/// The device on it.
template <typename DriverBackend, typename Driver>
Result<std::shared_ptr<Device>> createFound(std::string name, const DeviceOptions &options) {
  return createStreamDevice(openFound<DriverBackend, Driver>(std::move(name), options), options);
}

/// A line for each device, or one that says why there is none.
template <typename Driver> std::vector<DeviceListing> listFound() {
  const auto all = findAll<Driver>();
  std::vector<DeviceListing> listings;
  if (!all)
    addListing(listings, Driver::deviceName, {}, all.status());
  else
    for (const auto &found : *all)
      addListing(listings, Driver::deviceName, found.facts, checkRefusal(found.facts, found.refusal));
  return listings;
}

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_FOUNDDEVICES_H
