//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H

#include "../Stream/Backend.h"
#include "../Stream/Crowding.h"
#include "Driver.h"

#include <atomic>
#include <map>
#include <utility>
#include <vector>

namespace zyx::runtime::cuda {

/// What the driver gave out, of the handle that stands for it.
template <typename T, typename HandleT> T driverHandle(HandleT handle) {
  return reinterpret_cast<T>(static_cast<uintptr_t>(handle));
}
using GraphNode = Node;

/// Which kernels of graphs begin before the one that they are behind is over.
struct EarlyKernels {
  /// False where the driver has none, and once it has refused a graph with such kernels.
  std::atomic<bool> areAllowed = false;
  /// Those alone that lose nothing by it on a card of so many multiprocessors, and not all that can.
  bool areChosen = false;
  uint64_t processors = 1;
};

/// A graph of the driver. A kernel that waits, and is behind one other kernel alone, may begin early:
/// docs/device-cuda.md says why that is safe.
class CudaGraph : public CommandGraph {
public:
  CudaGraph(const Driver &driver, Context context, EarlyKernels &early)
      : driver(driver), context(context), early(early) {}
  ~CudaGraph() override;

  Result<Node> add(const AnyCommand &command, std::span<const Node> behind) override;
  Status finish() override;
  Status update(Node node, const AnyCommand &command) override {
    return std::visit([&](const auto &each) { return change(nodes[node], each); }, command);
  }
  Status launch(StreamHandle stream) override;

private:
  /// Of each command the first node; a fill of different halves has a second one behind it.
  struct Nodes {
    GraphNode first = nullptr, second = nullptr;
    bool isKernel = false;
    /// Of a kernel, where some are chosen.
    Occupancy occupancy = {};
    GraphNode last() const { return second ? second : first; }
  };
  /// What the driver says; without kernels that begin early the next graph may be made.
  Status unlessRefused(Code code);
  Status ask(const LaunchCommand &launch, Occupancy &occupancy);
  Status put(const LaunchCommand &launch, Nodes &made);
  Status put(const CopyCommand &copy, Nodes &made);
  Status put(const FillCommand &fill, Nodes &made);
  Status change(const Nodes &itsNodes, const LaunchCommand &launch);
  Status change(const Nodes &itsNodes, const CopyCommand &copy);
  Status change(const Nodes &itsNodes, const FillCommand &fill);

  const Driver &driver;
  const Context context;
  Graph graph = nullptr;
  GraphExec made = nullptr;
  std::vector<Nodes> nodes;
  EarlyKernels &early;
  size_t numEarly = 0;
  /// By kernel and threads: workgroups that a multiprocessor has at once, and the shared memory that its code declares.
  std::map<std::pair<KernelHandle, unsigned>, std::pair<int, int>> resident;
  /// What the next node stands behind.
  std::vector<GraphNode> before;
};

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H
