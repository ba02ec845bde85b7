//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Stream/StreamDevice.h"
#include "Card.h"
#include "Cuda.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

Result<std::shared_ptr<Device>> cuda::createCard(const Vendor &vendor, std::string name, const DeviceOptions &options) {
  ZYX_ASSIGN_OR_RETURN(const int index, ordinalIn(name, "card"));
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Backend> card, openCard(vendor, std::move(name), index));
  return createStreamDevice(std::move(card), options);
}

std::vector<DeviceListing> cuda::listCards(const Vendor &vendor) {
  auto absent = [&](const Status &why) { return std::vector<DeviceListing>{{vendor.kind, false, why.message()}}; };
  Result<const Driver *> driver = Driver::open(vendor.family);
  if (!driver)
    return absent(driver.status());
  Result<int> count = countCards(**driver, vendor);
  if (!count)
    return absent(count.status());
  std::vector<DeviceListing> listings;
  for (int i = 0; i < *count; ++i) {
    const std::string name = vendor.kind + (i == 0 ? "" : ":" + std::to_string(i));
    Result<CardFacts> facts = vendor.readFacts(**driver, i);
    listings.push_back({name, facts.isOk(), facts ? facts->description : facts.status().message(),
                        facts ? deviceFacts(vendor, *facts) : DeviceFacts()});
  }
  return listings.empty() ? absent(Status::notFound("the driver has no device")) : listings;
}

Result<std::shared_ptr<Device>> runtime::createCudaDevice(std::string name, const DeviceOptions &options) {
  return createCard(nvidia, std::move(name), options);
}

std::vector<DeviceListing> runtime::listCudaDevices() { return listCards(nvidia); }
