//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_SIMULATED_SCHEDULER_H
#define ZYX_LIB_RUNTIME_DEVICES_SIMULATED_SCHEDULER_H

#include "HappensBefore.h"

#include <map>
#include <optional>
#include <set>

namespace zyx::runtime {

/// The work of all devices of a simulation, in virtual time. One thread is in `run`; calls of the
/// rest from several threads are safe. Shared with the callbacks of points, which may outlive the
/// simulation.
class Scheduler : public std::enable_shared_from_this<Scheduler> {
public:
  explicit Scheduler(const SimulationOptions &options);

  struct Submission {
    Work work;
    /// Drawn where it is absent.
    std::optional<unsigned> queue;
    /// The virtual nanoseconds that the work took are added here.
    uint64_t *latency = nullptr;
  };
  /// Nothing of a batch starts before all of it is there.
  void submit(unsigned device, std::vector<Submission> batch);

  /// Until `stop`, and until all work is over: what still waits then is cancelled.
  void run();
  void stop();

  void hold(bool held);
  void waitIdle();
  uint64_t now() const;
  void failAllocations(unsigned device, uint64_t every);
  void failWork(unsigned device, uint64_t start);
  void loseDevice(unsigned device, uint64_t start);
  std::vector<Race> races() const;
  SimulationCounts counts() const;

  static std::string nameOf(unsigned device) { return "simulated" + std::to_string(device); }
  /// The failure of a device that is lost.
  Status lost(unsigned device) const;
  /// Whether the device may allocate now.
  Status allocation(unsigned device);
  /// The host itself uses memory, at once.
  void hostUse(const Access &access, const char *name);

private:
  struct Item {
    Work work;
    unsigned device = 0, queue = 0;
    uint64_t serial = 0, end = 0;
    uint64_t *latency = nullptr;
    /// Points that are not decided, and the registration itself.
    size_t pending = 1;
    enum { Waiting, Ready, InFlight, Over } state = Waiting;
    /// Why the body does not run.
    Status failure;
    /// That is because a wait failed.
    bool isSkipped = false;
    Clock before;
    bool takesLane = false;
  };
  using ItemPtr = std::shared_ptr<Item>;
  struct Queued {
    std::vector<ItemPtr> ready;
    unsigned inFlight = 0;
  };
  struct DeviceState {
    std::vector<Queued> queues;
    Status lost;
    uint64_t allocations = 0, failEvery = 0;
    uint64_t starts = 0, failAt = 0, loseAt = 0;
  };

  // The lock is held by the callers of these.
  uint64_t draw(uint64_t below);
  /// A point that the item waits for is decided.
  void arrive(const ItemPtr &item, const Status &failure);
  /// One thing less keeps the item from starting.
  void release(const ItemPtr &item);
  bool canStart() const { return !held && numReady > 0; }
  void startReady();
  void start(const ItemPtr &item);
  void lose(unsigned device, const std::string &name);
  void finish(ItemPtr item, std::unique_lock<std::mutex> &lock);

  const SimulationOptions options;
  mutable std::mutex mutex;
  std::condition_variable changed, rested;
  bool held = false, stopping = false, resting = false;
  uint64_t random, time = 0, nextSerial = 0;
  size_t numReady = 0;
  std::vector<DeviceState> devices;
  /// All that is not over, by serial number.
  std::map<uint64_t, ItemPtr> live;
  /// By their end; ties by serial number.
  std::set<std::pair<uint64_t, uint64_t>> inFlight;
  /// Work and uses by the host that are over.
  Clock over;
  HappensBefore checker;
  SimulationCounts numbers;
  /// Whose point is being signalled.
  ItemPtr signalling;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_SIMULATED_SCHEDULER_H
