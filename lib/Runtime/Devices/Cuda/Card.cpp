//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Card.h"

#include "zyx/Base/SystemFile.h"

#include <algorithm>
#include <charconv>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

/// Older cards cannot run what the compiler makes.
static constexpr int oldestCapability = 75;
/// Of an H100: longer copies take a third longer as nodes than what the driver does by itself.
static constexpr uint64_t largestCopyInGraph = uint64_t(32) << 20;

static std::string describeCapability(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

Result<int> cuda::countCards(const Driver &driver, const Vendor &vendor) {
  int count = 0;
  ZYX_RETURN_IF_ERROR(driver.check(driver.deviceCount(&count), std::string("count the devices of ") +
                                                                   (vendor.family == Family::HIP ? "HIP" : "CUDA")));
  return count;
}

static Result<CardFacts> readFacts(const Driver &driver, int index) {
  Ordinal ordinal = 0;
  ZYX_RETURN_IF_ERROR(driver.check(driver.deviceGet(&ordinal, index), "open device " + std::to_string(index)));
  CardFacts facts;
  char name[256] = "";
  size_t bytes = 0;
  int major = 0, minor = 0;
  auto attribute = [&](int which, int &value) { return driver.deviceAttribute(&value, which, ordinal); };
  for (Code code : {driver.deviceName(name, sizeof(name) - 1, ordinal), driver.deviceMemory(&bytes, ordinal),
                    attribute(attributeMajor, major), attribute(attributeMinor, minor),
                    attribute(attributeProcessors, facts.processors), attribute(attributeKilohertz, facts.kilohertz),
                    attribute(attributeGroupThreads, facts.groupThreads), attribute(attributeWarp, facts.warpThreads),
                    attribute(attributeGroupBytes, facts.groupBytes)})
    ZYX_RETURN_IF_ERROR(driver.check(code, "ask for the facts of device " + std::to_string(index)));
  facts.capability = 10 * major + minor;
  facts.memoryBytes = bytes;
  facts.largestCopyInGraph = largestCopyInGraph;
  facts.description = std::string(name) + ", compute capability " + describeCapability(facts.capability) + ", " +
                      std::to_string(bytes >> 20) + " MiB";
  int version = 0;
  ZYX_RETURN_IF_ERROR(driver.check(driver.driverVersion(&version), "ask for the driver's version"));
  facts.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  // The module's own version, where the system tells it.
  std::string module = readSystemFile("/sys/module/nvidia/version");
  module = module.substr(0, module.find('\n'));
  if (!module.empty())
    facts.driver += ", driver " + module;
  return facts;
}

std::string cuda::targetOf(int capability) {
  switch (capability) {
  case 75:
  case 80:
  case 86:
  case 89:
    return "sm_" + std::to_string(capability);
  case 87:
    return "sm_86";
  case 90:
    return "sm_90a";
  default:
    return "cuda";
  }
}

unsigned cuda::lanesOf(int capability) { return capability <= 80 ? 64 : 128; }

static void describe(const CardFacts &card, DeviceFacts &facts) {
  facts.target = targetOf(card.capability);
  facts.architecture = "sm_" + std::to_string(card.capability);
  facts.lanes = lanesOf(card.capability);
}

DeviceFacts cuda::deviceFacts(const Vendor &vendor, const CardFacts &card) {
  DeviceFacts facts;
  vendor.describe(card, facts);
  facts.identity = card.description + ", " + card.driver;
  facts.processors = static_cast<unsigned>(card.processors);
  facts.megahertz = static_cast<unsigned>(card.kilohertz / 1000);
  facts.memoryBytes = card.memoryBytes;
  // Kernels load and store 16 bytes at once.
  facts.alignment = 16;
  facts.workgroupThreads = static_cast<unsigned>(card.groupThreads);
  facts.subgroupThreads = static_cast<unsigned>(card.warpThreads);
  facts.sharedBytes = static_cast<uint64_t>(card.groupBytes);
  facts.dtypes = allDTypes();
  return facts;
}

static Status checkAge(const CardFacts &facts) {
  if (facts.capability >= oldestCapability)
    return Status::ok();
  return Status::unsupported(facts.description + ": compute capability " + describeCapability(oldestCapability) +
                             " is needed");
}

/// Whether code for an architecture, "sm_90a", runs on the card.
static Status checkArchitecture(const CardFacts &facts, const std::string &architecture, bool isText) {
  int number = 0;
  const char *begin = architecture.data() + std::min<size_t>(3, architecture.size());
  const char *end = architecture.data() + architecture.size();
  auto [rest, error] = std::from_chars(begin, end, number);
  if (!architecture.starts_with("sm_") || error != std::errc() || end - rest > 1)
    return Status::dataCorruption("code for the unknown architecture '" + architecture + "'");
  const int capability = facts.capability;
  const bool runs = rest != end ? capability == number
                    : isText    ? capability >= number
                                : capability / 10 == number / 10 && capability >= number;
  if (runs)
    return Status::ok();
  return Status::unsupported("code for " + architecture + " does not run on " + facts.description);
}

static Status checkCode(const CardFacts &facts, const artifact::Artifact &artifact) {
  if (artifact.target != "cuda")
    return Status::unsupported("code for '" + artifact.target + "' does not run on a card of NVIDIA's");
  for (const artifact::CodeBlob &code : artifact.code) {
    if (code.format != "ptx" && code.format != "cubin")
      return Status::unsupported("code of format '" + code.format + "' is not known to a card of NVIDIA's");
    for (const std::string &architecture : artifact.cpuFeatures)
      ZYX_RETURN_IF_ERROR(checkArchitecture(facts, architecture, code.format == "ptx"));
  }
  return Status::ok();
}

const Vendor cuda::nvidia = {Family::CUDA, "cuda", DLPackPlace::cuda, readFacts, describe, checkAge, checkCode};
