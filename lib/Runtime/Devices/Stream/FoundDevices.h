//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Devices that a driver's loader counts. Each `Found` has the facts of a device, and a refusal: why the compiler's code
// does not run there, or nothing.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_FOUNDDEVICES_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_FOUNDDEVICES_H

#include "StreamDevice.h"

namespace zyx::runtime {

/// The device that a name with a number is of, such as "vulkan:1" among those of "Vulkan".
template <typename Found>
Result<Found> chooseDevice(Result<std::vector<Found>> all, const std::string &name, const std::string &driver) {
  ZYX_ASSIGN_OR_RETURN(const int index, ordinalIn(name, "device"));
  ZYX_RETURN_IF_ERROR(all.status());
  if (static_cast<size_t>(index) >= all->size())
    return Status::notFound("there is no device '" + name + "': " + driver + " has " + std::to_string(all->size()));
  Found &chosen = (*all)[index];
  if (!chosen.refusal.empty())
    return Status::unsupported(chosen.facts.identity + ": " + chosen.refusal);
  return std::move(chosen);
}

/// A line for each device, or one that says why there is none.
template <typename Found>
std::vector<DeviceListing> listFound(const std::string &name, const Result<std::vector<Found>> &all) {
  if (!all)
    return {{name, false, all.status().message()}};
  std::vector<DeviceListing> listings;
  for (const Found &found : *all) {
    const std::string number = listings.empty() ? "" : ":" + std::to_string(listings.size());
    const bool isPresent = found.refusal.empty();
    listings.push_back({name + number, isPresent, found.facts.identity + (isPresent ? "" : ": " + found.refusal),
                        isPresent ? found.facts : DeviceFacts()});
  }
  return listings;
}

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_FOUNDDEVICES_H
