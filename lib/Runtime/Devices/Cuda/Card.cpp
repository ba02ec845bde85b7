//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Card.h"

#include "zyx/Base/Debug.h"
#include "zyx/Base/SystemFile.h"

#include <atomic>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

/// Older cards cannot run what the compiler makes.
static constexpr int oldestCapability = 75;
/// Cards of this process that are open.
static std::atomic<int> numOpen = 0;

static std::string describeCapability(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

Result<int> cuda::countCards(const Driver &driver) {
  int count = 0;
  ZYX_RETURN_IF_ERROR(driver.check(driver.deviceCount(&count), "count the devices of CUDA"));
  return count;
}

Result<CardFacts> cuda::readFacts(const Driver &driver, int index) {
  Ordinal ordinal = 0;
  ZYX_RETURN_IF_ERROR(driver.check(driver.deviceGet(&ordinal, index), "open device " + std::to_string(index)));
  CardFacts facts;
  char name[256] = "";
  size_t bytes = 0;
  int major = 0, minor = 0;
  auto attribute = [&](int which, int &value) { return driver.deviceAttribute(&value, which, ordinal); };
  for (Code code : {driver.deviceName(name, sizeof(name) - 1, ordinal), driver.deviceMemory(&bytes, ordinal),
                    attribute(attributeMajor, major), attribute(attributeMinor, minor),
                    attribute(attributeProcessors, facts.processors)})
    ZYX_RETURN_IF_ERROR(driver.check(code, "ask for the facts of device " + std::to_string(index)));
  facts.capability = 10 * major + minor;
  facts.memoryBytes = bytes;
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

Result<std::shared_ptr<Card>> Card::open(std::string name, int index) {
  ZYX_ASSIGN_OR_RETURN(const Driver *driver, Driver::open());
  ZYX_ASSIGN_OR_RETURN(const int count, countCards(*driver));
  if (index >= count)
    return Status::notFound("there is no device '" + name + "': the driver has " + std::to_string(count));
  std::shared_ptr<Card> card(new Card(*driver, std::move(name), index));
  ZYX_RETURN_IF_ERROR(card->start());
  return card;
}

Status Card::start() {
  ZYX_ASSIGN_OR_RETURN(itsFacts, readFacts(driver, index));
  if (itsFacts.capability < oldestCapability)
    return Status::unsupported(itsFacts.description + ": compute capability " + describeCapability(oldestCapability) +
                               " is needed");
  ZYX_RETURN_IF_ERROR(driver.check(driver.deviceGet(&ordinal, index), "open device '" + deviceName + "'"));
  ZYX_RETURN_IF_ERROR(driver.check(driver.contextRetain(&context, ordinal), "open device '" + deviceName + "'"));
  const PushedContext inside(*this);
  ZYX_RETURN_IF_ERROR(inside.status());
  size_t free = 0, all = 0;
  ZYX_RETURN_IF_ERROR(check(driver.memoryInfo(&free, &all), "ask how much memory is free"));
  itsFacts.freeBytes = free;
  ZYX_RETURN_IF_ERROR(check(driver.streamCreate(&mainStream, streamNonBlocking), "make a stream"));
  PoolProperties properties;
  properties.device = ordinal;
  ZYX_RETURN_IF_ERROR(check(driver.poolCreate(&memory, &properties), "make a memory pool"));
  // What is freed is kept for the next who asks.
  uint64_t everything = UINT64_MAX;
  ZYX_RETURN_IF_ERROR(
      check(driver.poolSet(memory, poolReleaseThreshold, &everything), "set up the device's memory pool"));
  isCounted = true;
  ++numOpen;
  return Status::ok();
}

Card::~Card() {
  numOpen -= isCounted;
  if (!context)
    return;
  {
    const PushedContext inside(*this);
    if (mainStream) {
      (void)driver.streamSynchronize(mainStream);
      (void)driver.streamDestroy(mainStream);
    }
    if (memory)
      (void)driver.poolDestroy(memory);
  }
  (void)driver.contextRelease(ordinal);
}

PushedContext::PushedContext(Card &card) : driver(card.driver) {
  const Code code = driver.contextPush(card.context);
  isPushed = code == 0;
  {
    std::lock_guard lock(card.mutex);
    entered = card.loss;
  }
  if (entered.isOk())
    entered = card.check(code, "talk to device '" + card.deviceName + "'");
}

PushedContext::~PushedContext() {
  Context popped = nullptr;
  if (isPushed)
    (void)driver.contextPop(&popped);
}

Status Card::check(Code code, const std::string &action) {
  Status status = driver.check(code, action);
  if (!isLoss(code))
    return status;
  std::lock_guard lock(mutex);
  if (loss.isOk())
    loss = Status(ErrorCode::DeviceLost, "device '" + deviceName + "' is lost").withCause(status);
  return loss;
}

Status Card::synchronize(const std::string &action) { return check(driver.streamSynchronize(mainStream), action); }

class cuda::CardFence : public Fence {
public:
  explicit CardFence(std::shared_ptr<Card> ofCard) : card(std::move(ofCard)) {}
  ~CardFence() override {
    if (!event)
      return;
    // Of a card that is lost the driver gives back what it can.
    const PushedContext inside(*card);
    (void)card->api().eventDestroy(event);
  }

  const std::shared_ptr<Card> card;
  Event event = nullptr;
};

Result<std::shared_ptr<Fence>> Card::record() {
  if (numOpen < 2)
    return std::shared_ptr<Fence>();
  auto fence = std::make_shared<CardFence>(shared_from_this());
  ZYX_RETURN_IF_ERROR(check(driver.eventCreate(&fence->event, eventNoTiming), "make an event"));
  ZYX_RETURN_IF_ERROR(check(driver.eventRecord(fence->event, mainStream), "record an event"));
  return std::shared_ptr<Fence>(std::move(fence));
}

bool Card::isFence(const Fence &fence) { return dynamic_cast<const CardFence *>(&fence) != nullptr; }

Status Card::wait(const Fence &fence) {
  const PushedContext inside(*this);
  ZYX_RETURN_IF_ERROR(inside.status());
  return check(driver.streamWait(mainStream, static_cast<const CardFence &>(fence).event, 0),
               "wait for another device");
}

Status Card::allow(const Card &reader) {
  if (reader.ordinal == ordinal)
    return Status::ok();
  std::lock_guard lock(accessMutex);
  const auto [found, isNew] = readers.try_emplace(reader.ordinal);
  Status &answer = found->second;
  if (!isNew)
    return answer;
  int reaches = 0;
  const std::string action = "let device '" + reader.name() + "' reach the memory of device '" + deviceName + "'";
  answer = check(driver.deviceReaches(&reaches, reader.ordinal, ordinal), action);
  const PoolAccess access = {.device = reader.ordinal};
  if (answer.isOk() && reaches)
    answer = check(driver.poolAccess(memory, &access, 1), action);
  else if (answer.isOk())
    answer = Status::internal("cannot " + action + ": the cards are not connected");
  if (answer.isOk() || answer.code() == ErrorCode::DeviceLost)
    return answer;
  answer = Status::unsupported(answer.message());
  ZYX_DEBUG(Devices,
            "copies from '" + deviceName + "' to '" + reader.name() + "' go through the host: " + answer.message());
  return answer;
}

Status Card::copyTo(Card &target, Address to, Address from, uint64_t size) {
  // A card that is lost has no values any more.
  const PushedContext inside(*this);
  ZYX_RETURN_IF_ERROR(inside.status());
  ZYX_RETURN_IF_ERROR(allow(target));
  const PushedContext there(target);
  ZYX_RETURN_IF_ERROR(there.status());
  const std::string action = "copy from device '" + deviceName + "' to device '" + target.name() + "'";
  ZYX_RETURN_IF_ERROR(
      target.check(driver.copyPeer(to, target.context, from, context, size, target.mainStream), action));
  return target.synchronize(action);
}

Status Card::trim() {
  ZYX_RETURN_IF_ERROR(synchronize("wait for the end of all work"));
  return check(driver.poolTrim(memory, 0), "give memory back");
}
