//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What AMD's cards are. docs/device-hip.md says what was never tried on one.
//===----------------------------------------------------------------------===//
#include "../Cuda/Card.h"
#include "../Cuda/Cuda.h"
#include "../Drivers.h"

#include <algorithm>
#include <cstring>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

namespace {

/// What we read of the driver's description of a card, laid out as HIP 6 and later write it. It is as long as any of
/// theirs so far; the rest is not read.
struct Properties {
  char name[256];
  char unread0[32];
  uint64_t memoryBytes, groupBytes;
  int registers, waveThreads;
  uint64_t pitch;
  int groupThreads;
  char unread1[24];
  int kilohertz;
  char unread2[36];
  int processors;
  char unread3[768];
  char architecture[256];
  char unread4[2680];
};
static_assert(offsetof(Properties, memoryBytes) == 288 && offsetof(Properties, groupThreads) == 320 &&
              offsetof(Properties, kilohertz) == 348 && offsetof(Properties, processors) == 388 &&
              offsetof(Properties, architecture) == 1160 && sizeof(Properties) == 4096);

/// Architectures that the compiler has records of.
constexpr const char *known[] = {"gfx942", "gfx1100", "gfx1201"};
constexpr int32_t dlpackRocm = 10;

Result<CardFacts> readFacts(const Driver &driver, int index) {
  Properties properties = {};
  ZYX_RETURN_IF_ERROR(
      driver.check(driver.properties(&properties, index), "ask for the facts of device " + std::to_string(index)));
  int version = 0;
  ZYX_RETURN_IF_ERROR(driver.check(driver.driverVersion(&version), "ask for the driver's version"));
  CardFacts facts;
  const auto textOf = [](const char (&field)[256]) { return std::string(field, strnlen(field, sizeof(field))); };
  // "gfx942:sramecc+:xnack-": code of ours runs with any such settings.
  facts.architecture = textOf(properties.architecture);
  facts.architecture = facts.architecture.substr(0, facts.architecture.find(':'));
  facts.processors = properties.processors;
  facts.kilohertz = properties.kilohertz;
  facts.groupThreads = properties.groupThreads;
  facts.warpThreads = properties.waveThreads;
  facts.groupBytes = static_cast<int>(properties.groupBytes);
  facts.memoryBytes = properties.memoryBytes;
  facts.description =
      textOf(properties.name) + ", " + facts.architecture + ", " + std::to_string(facts.memoryBytes >> 20) + " MiB";
  facts.driver = "HIP " + std::to_string(version / 10000000) + "." + std::to_string(version % 10000000 / 100000);
  return facts;
}

bool isKnown(const CardFacts &card) { return std::ranges::count(known, card.architecture) != 0; }

void describe(const CardFacts &card, DeviceFacts &facts) {
  facts.target = isKnown(card) ? card.architecture : "";
  facts.architecture = card.architecture;
  // Of all of them a compute unit begins so many additions of f32 in a cycle, by AMD's tables.
  facts.lanes = 128;
}

Status checkCard(const CardFacts &card) {
  if (isKnown(card))
    return Status::ok();
  return Status::unsupported(card.description + ": code is made for gfx942, gfx1100 and gfx1201");
}

Status checkCode(const CardFacts &card, const artifact::Artifact &artifact) {
  if (artifact.target != "hip")
    return Status::unsupported("code for '" + artifact.target + "' does not run on a card of AMD's");
  for (const artifact::CodeBlob &code : artifact.code)
    if (code.format != "hsaco")
      return Status::unsupported("code of format '" + code.format + "' is not known to a card of AMD's");
  for (const std::string &architecture : artifact.cpuFeatures)
    if (architecture != card.architecture)
      return Status::unsupported("code for " + architecture + " does not run on " + card.description);
  return Status::ok();
}

} // namespace

const Vendor cuda::amd = {Family::HIP, "hip", dlpackRocm, readFacts, describe, checkCard, checkCode};

Result<std::shared_ptr<Device>> runtime::createHipDevice(std::string name, const DeviceOptions &options) {
  return createCard(amd, std::move(name), options);
}

std::vector<DeviceListing> runtime::listHipDevices() { return listCards(amd); }
