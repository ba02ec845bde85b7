//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_SIMULATED_SIMULATEDDEVICE_H
#define ZYX_LIB_RUNTIME_DEVICES_SIMULATED_SIMULATEDDEVICE_H

#include "../../Loading.h"
#include "../../Thread.h"
#include "Scheduler.h"

namespace zyx::runtime {

/// The scheduler and its thread. Kept by the simulation and its devices.
struct SimulatedWorld {
  std::shared_ptr<Scheduler> scheduler;
  Thread thread;
  ~SimulatedWorld() {
    scheduler->stop();
    thread.join();
  }
};

class SimulatedDevice : public LoadingDevice {
public:
  SimulatedDevice(std::shared_ptr<SimulatedWorld> world, std::shared_ptr<ThreadPool> threads, unsigned index,
                  const SimulationOptions &options);

  Queue &queue() override { return *queues[0]; }
  Queue &queue(unsigned number) { return *queues[number]; }

private:
  Result<std::shared_ptr<Program>> loadVerified(artifact::Artifact artifact) override;

  std::shared_ptr<SimulatedWorld> world;
  std::shared_ptr<ThreadPool> threads;
  unsigned index;
  std::vector<std::unique_ptr<Queue>> queues;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_SIMULATED_SIMULATEDDEVICE_H
