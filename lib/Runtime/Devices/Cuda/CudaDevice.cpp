//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Stream/StreamDevice.h"
#include "Card.h"
#include "Cuda.h"

#include <charconv>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

Result<std::shared_ptr<Device>> runtime::createCudaDevice(std::string name, const DeviceOptions &options) {
  int index = 0;
  if (const size_t colon = name.find(':'); colon != std::string::npos) {
    const char *end = name.data() + name.size();
    auto [rest, error] = std::from_chars(name.data() + colon + 1, end, index);
    if (error != std::errc() || rest != end || index < 0)
      return Status::invalidArgument("'" + name + "' names no card: a number follows the colon, as in cuda:1");
  }
  ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Backend> card, openCard(std::move(name), index));
  return createStreamDevice(std::move(card), options);
}

std::vector<DeviceListing> runtime::listCudaDevices() {
  auto absent = [](const Status &why) { return std::vector<DeviceListing>{{"cuda", false, why.message()}}; };
  Result<const Driver *> driver = Driver::open();
  if (!driver)
    return absent(driver.status());
  Result<int> count = countCards(**driver);
  if (!count)
    return absent(count.status());
  std::vector<DeviceListing> listings;
  for (int i = 0; i < *count; ++i) {
    const std::string name = i == 0 ? "cuda" : "cuda:" + std::to_string(i);
    Result<CardFacts> facts = readFacts(**driver, i);
    listings.push_back({name, facts.isOk(), facts ? facts->description : facts.status().message(),
                        facts ? deviceFacts(*facts) : DeviceFacts()});
  }
  return listings.empty() ? absent(Status::notFound("the driver has no device")) : listings;
}
