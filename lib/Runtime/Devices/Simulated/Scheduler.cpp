//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Scheduler.h"

#include "zyx/Base/Random.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;

/// The scheduler that runs work on this thread.
static thread_local const Scheduler *runningHere = nullptr;

Scheduler::Scheduler(const SimulationOptions &options)
    : options(options), random(options.seed), devices(options.devices) {
  for (DeviceState &device : devices)
    device.queues.resize(options.queues);
}

/// The numbers of SplitMix64.
uint64_t Scheduler::draw(uint64_t below) { return mixBits(random += splitMixStep) % below; }

void Scheduler::submit(unsigned device, std::vector<Submission> batch) {
  std::vector<ItemPtr> items;
  std::vector<std::vector<Point>> wait, after;
  {
    std::lock_guard lock(mutex);
    for (Submission &given : batch) {
      auto item = std::make_shared<Item>();
      wait.push_back(std::move(given.work.wait));
      after.push_back(std::move(given.work.after));
      for (std::vector<Point> *points : {&wait.back(), &after.back()})
        std::erase_if(*points, [](const Point &point) { return !point.timeline; });
      item->work = std::move(given.work);
      item->device = device;
      item->queue = given.queue ? *given.queue : static_cast<unsigned>(draw(options.queues));
      item->serial = nextSerial++;
      item->latency = given.latency;
      item->pending += wait.back().size() + after.back().size();
      item->before = over;
      live.emplace(item->serial, item);
      ++numbers.submitted;
      items.push_back(std::move(item));
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    auto listen = [&](const Point &point, bool mustSucceed) {
      auto arrived = [self = shared_from_this(), item = items[i], mustSucceed](const Status &status) {
        std::lock_guard lock(self->mutex);
        self->arrive(item, mustSucceed ? status : Status::ok());
      };
      point.timeline->onReach(point.value, arrived);
    };
    for (const Point &point : wait[i])
      listen(point, true);
    for (const Point &point : after[i])
      listen(point, false);
  }
  std::lock_guard lock(mutex);
  for (const ItemPtr &item : items)
    release(item);
}

void Scheduler::arrive(const ItemPtr &item, const Status &failure) {
  if (item->state != Item::Waiting)
    return;
  if (item->failure.isOk() && !failure.isOk()) {
    item->failure = Status::aborted("work that this depends on failed").withCause(failure);
    item->isSkipped = true;
  }
  if (runningHere == this && signalling) {
    item->before.add(signalling->before);
    item->before.add(signalling->serial);
  } else {
    // A point of the host: it comes after all that was over when it was signalled.
    item->before.add(over);
  }
  release(item);
}

void Scheduler::release(const ItemPtr &item) {
  if (item->state != Item::Waiting || --item->pending != 0)
    return;
  item->state = Item::Ready;
  devices[item->device].queues[item->queue].ready.push_back(item);
  ++numReady;
  changed.notify_all();
}

void Scheduler::startReady() {
  for (DeviceState &device : devices)
    for (Queued &queue : device.queues)
      while (!queue.ready.empty() && queue.inFlight < options.lanes) {
        std::swap(queue.ready[draw(queue.ready.size())], queue.ready.back());
        const ItemPtr item = std::move(queue.ready.back());
        queue.ready.pop_back();
        --numReady;
        start(item);
      }
}

void Scheduler::start(const ItemPtr &item) {
  DeviceState &device = devices[item->device];
  item->state = Item::InFlight;
  item->end = time;
  if (item->failure.isOk()) {
    const uint64_t number = ++device.starts;
    if (number == device.loseAt)
      lose(item->device, item->work.name);
    if (number == device.failAt)
      item->failure = Status::internal("the work was told to fail").withWhere(item->work.name);
    if (!device.lost.isOk())
      item->failure = device.lost;
  }
  if (item->failure.isOk()) {
    for (const Access &access : item->work.accesses)
      checker.use(access, item->serial, item->before, item->work.name);
    const uint64_t latency = 1 + draw(options.maxLatency);
    item->end += latency;
    if (item->latency)
      *item->latency += latency;
    item->takesLane = true;
    ++device.queues[item->queue].inFlight;
  }
  inFlight.emplace(item->end, item->serial);
}

void Scheduler::lose(unsigned index, const std::string &name) {
  DeviceState &device = devices[index];
  device.lost = Status(ErrorCode::DeviceLost, "the device was lost").withDevice(nameOf(index)).withWhere(name);
  std::set<std::pair<uint64_t, uint64_t>> kept;
  for (const auto &[end, serial] : inFlight) {
    Item &item = *live.at(serial);
    if (item.device == index && item.failure.isOk()) {
      item.failure = device.lost;
      item.end = time;
    }
    kept.emplace(item.end, serial);
  }
  inFlight.swap(kept);
}

void Scheduler::finish(ItemPtr item, std::unique_lock<std::mutex> &lock) {
  item->state = Item::Over;
  time = std::max(time, item->end);
  Status status = item->failure;
  lock.unlock();
  if (status.isOk())
    status = item->work.body();
  else if (item->isSkipped && item->work.skipped)
    item->work.skipped();
  // What the work holds goes before anyone learns that it is done.
  item->work.body = nullptr;
  item->work.skipped = nullptr;
  lock.lock();
  if (item->takesLane)
    --devices[item->device].queues[item->queue].inFlight;
  over.add(item->serial);
  live.erase(item->serial);
  if (live.empty())
    checker.clear();
  ++(status.isOk() ? numbers.succeeded : numbers.failed);
  signalling = item;
  lock.unlock();
  const Point signal = std::move(item->work.signal);
  if (status.isOk())
    status = signal.timeline->signal(signal.value);
  if (!status.isOk())
    signal.timeline->fail(status);
  lock.lock();
  signalling = nullptr;
}

void Scheduler::run() {
  runningHere = this;
  std::unique_lock lock(mutex);
  for (;;) {
    if (!held)
      startReady();
    if (!inFlight.empty()) {
      const uint64_t serial = inFlight.begin()->second;
      inFlight.erase(inFlight.begin());
      finish(live.at(serial), lock);
      continue;
    }
    if (stopping && live.empty())
      return;
    if (stopping) {
      const ItemPtr item = live.begin()->second;
      item->end = time;
      item->failure = Status(ErrorCode::Cancelled, "the queue was destroyed before the work could start");
      finish(item, lock);
      continue;
    }
    resting = true;
    rested.notify_all();
    changed.wait(lock, [&] { return stopping || canStart(); });
    resting = false;
  }
}

void Scheduler::stop() {
  std::lock_guard lock(mutex);
  stopping = true;
  held = false;
  changed.notify_all();
}

void Scheduler::hold(bool isHeld) {
  std::lock_guard lock(mutex);
  held = isHeld;
  changed.notify_all();
}

void Scheduler::waitIdle() {
  std::unique_lock lock(mutex);
  rested.wait(lock, [&] { return resting && !canStart(); });
}

uint64_t Scheduler::now() const {
  std::lock_guard lock(mutex);
  return time;
}

void Scheduler::failAllocations(unsigned device, uint64_t every) {
  std::lock_guard lock(mutex);
  devices[device].allocations = 0;
  devices[device].failEvery = every;
}

void Scheduler::failWork(unsigned device, uint64_t start) {
  std::lock_guard lock(mutex);
  devices[device].failAt = devices[device].starts + start;
}

void Scheduler::loseDevice(unsigned device, uint64_t start) {
  std::lock_guard lock(mutex);
  devices[device].loseAt = devices[device].starts + start;
}

std::vector<Race> Scheduler::races() const {
  std::lock_guard lock(mutex);
  return checker.races();
}

SimulationCounts Scheduler::counts() const {
  std::lock_guard lock(mutex);
  return numbers;
}

Status Scheduler::lost(unsigned device) const {
  std::lock_guard lock(mutex);
  return devices[device].lost;
}

Status Scheduler::allocation(unsigned device) {
  std::lock_guard lock(mutex);
  DeviceState &state = devices[device];
  ZYX_RETURN_IF_ERROR(state.lost);
  if (++state.allocations; state.failEvery && state.allocations % state.failEvery == 0)
    return Status::outOfMemory("allocation " + std::to_string(state.allocations) + " was told to fail");
  return Status::ok();
}

void Scheduler::hostUse(const Access &access, const char *name) {
  // Work that copies between pools has said what it touches.
  if (runningHere == this)
    return;
  std::lock_guard lock(mutex);
  if (live.empty())
    return;
  const uint64_t serial = nextSerial++;
  checker.use(access, serial, over, name);
  over.add(serial);
}
