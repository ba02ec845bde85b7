//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Simulation.h"

#include "SimulatedDevice.h"

using namespace zyx;
using namespace zyx::runtime;

struct Simulation::Impl {
  std::shared_ptr<SimulatedWorld> world;
  std::vector<std::shared_ptr<SimulatedDevice>> devices;

  Scheduler &scheduler() const { return *world->scheduler; }
};

Simulation::Simulation(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Simulation::~Simulation() = default;

Result<std::unique_ptr<Simulation>> Simulation::create(const SimulationOptions &options) {
  if (options.devices == 0 || options.queues == 0 || options.lanes == 0 || options.maxLatency == 0)
    return Status::invalidArgument("a simulation needs a device, a queue, a lane and a latency");
  auto impl = std::make_unique<Impl>();
  impl->world = std::make_shared<SimulatedWorld>();
  auto scheduler = std::make_shared<Scheduler>(options);
  impl->world->scheduler = scheduler;
  ZYX_ASSIGN_OR_RETURN(impl->world->thread, Thread::start([scheduler] { scheduler->run(); }));
  // Kernels run on the scheduler's thread alone.
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<ThreadPool> threads, createThreadPool({.threads = 1}));
  for (unsigned i = 0; i < options.devices; ++i)
    impl->devices.push_back(std::make_shared<SimulatedDevice>(impl->world, threads, i, options));
  return std::unique_ptr<Simulation>(new Simulation(std::move(impl)));
}

std::shared_ptr<Device> Simulation::device(unsigned index) const { return impl->devices[index]; }
Queue &Simulation::queue(unsigned device, unsigned index) const { return impl->devices[device]->queue(index); }

void Simulation::hold() { impl->scheduler().hold(true); }
void Simulation::release() { impl->scheduler().hold(false); }
void Simulation::waitIdle() { impl->scheduler().waitIdle(); }
uint64_t Simulation::now() const { return impl->scheduler().now(); }

void Simulation::failAllocations(unsigned device, uint64_t every) { impl->scheduler().failAllocations(device, every); }
void Simulation::failWork(unsigned device, uint64_t start) { impl->scheduler().failWork(device, start); }
void Simulation::loseDevice(unsigned device, uint64_t start) { impl->scheduler().loseDevice(device, start); }

std::vector<Race> Simulation::races() const { return impl->scheduler().races(); }
SimulationCounts Simulation::counts() const { return impl->scheduler().counts(); }
