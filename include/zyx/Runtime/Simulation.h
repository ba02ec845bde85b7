//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_RUNTIME_SIMULATION_H
#define ZYX_RUNTIME_SIMULATION_H

#include "zyx/Runtime/Device.h"

namespace zyx::runtime {

struct SimulationOptions {
  /// Of all that is drawn: latencies, and what starts first.
  uint64_t seed = 0;
  unsigned devices = 1;
  /// Of each device.
  unsigned queues = 2;
  /// Pieces of work that a queue has in flight at once.
  unsigned lanes = 2;
  /// A piece of work takes between 1 and this many nanoseconds of virtual time.
  uint64_t maxLatency = 1000;
  /// Of each device's pool, in bytes; 0 = the memory of the machine.
  uint64_t memoryLimit = 0;
};

/// Two uses of the same memory, one of them a write, with nothing that orders them.
struct Race {
  /// The names of both, in the order in which they happened to start.
  std::string first, second;
  bool firstWrites = false, secondWrites = false;
  /// The addresses that both use.
  uint64_t begin = 0, end = 0;

  /// "'a' writes and 'b' reads the same 16 bytes, and neither waits for the other"
  std::string toString() const;
};

/// Pieces of work.
struct SimulationCounts {
  uint64_t submitted = 0, succeeded = 0, failed = 0;
};

/// Devices that run compiled code of hosts, in virtual time, in an order that the seed draws among
/// all that the waits allow: work of a queue overlaps and ends out of order. Each use of memory is
/// checked against all others: of two that conflict, one must happen before the other. Work happens
/// before what waits for its point, and before what is submitted, and what the host does with the
/// pool, after its end. Faults come when they are asked for. With one thread that submits while the
/// simulation is held, everything is a function of the seed.
///
/// The devices stand for machines with several queues in tests of programs, plans and the runtime;
/// they are no names of createDevice.
class Simulation {
public:
  static Result<std::unique_ptr<Simulation>> create(const SimulationOptions &options = {});
  /// Devices and buffers may outlive it.
  ~Simulation();

  std::shared_ptr<Device> device(unsigned index = 0) const;
  /// Queue 0 is the one of Device::queue. Programs use all.
  Queue &queue(unsigned device, unsigned index) const;

  /// Nothing starts between hold and release.
  void hold();
  void release();
  /// Returns when nothing is in flight and nothing can start: what is undecided then waits for
  /// points that nobody here will signal.
  void waitIdle();
  /// In nanoseconds.
  uint64_t now() const;

  /// Each allocation whose number, from now and from 1, is a multiple of `every` fails; 0 = none.
  void failAllocations(unsigned device, uint64_t every);
  /// The piece of work that starts as number `start` from now, from 1, fails.
  void failWork(unsigned device, uint64_t start);
  /// The device is lost when its work number `start` from now starts: with it all fails that is in
  /// flight there, and whatever comes later. Its memory can only be freed.
  void loseDevice(unsigned device, uint64_t start);

  std::vector<Race> races() const;
  SimulationCounts counts() const;

private:
  struct Impl;
  explicit Simulation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace zyx::runtime

#endif // ZYX_RUNTIME_SIMULATION_H
