//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Drivers.h"
#include "../Stream/Refusals.h"
#include "../Stream/StreamDevice.h"
#include "Card.h"
#include "Cuda.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

Result<std::shared_ptr<Device>> cuda::createCard(const Vendor &vendor, std::string name, const DeviceOptions &options) {
  ZYX_ASSIGN_OR_RETURN(const int index, ordinalIn(name, "card"));
  return createStreamDevice(openCard(vendor, std::move(name), index), options);
}

std::vector<DeviceListing> cuda::listCards(const Vendor &vendor) {
  std::vector<DeviceListing> listings;
  const auto absent = [&](const Status &why) {
    addListing(listings, vendor.kind, {}, why);
    return listings;
  };
  Result<const Driver *> driver = Driver::open(vendor.family);
  if (!driver)
    return absent(driver.status());
  Result<int> count = countCards(**driver, vendor);
  if (!count)
    return absent(count.status());
  for (int i = 0; i < *count; ++i) {
    Result<CardFacts> facts = vendor.readFacts(**driver, i);
    addListing(listings, vendor.kind, facts ? deviceFacts(vendor, *facts) : DeviceFacts(), facts.status());
    if (facts)
      listings.back().description = facts->description;
  }
  return listings.empty() ? absent(Status::notFound("the driver has no device")) : listings;
}

Result<std::shared_ptr<Device>> runtime::createCudaDevice(std::string name, const DeviceOptions &options) {
  return createCard(nvidia, std::move(name), options);
}

std::vector<DeviceListing> runtime::listCudaDevices() { return listCards(nvidia); }
