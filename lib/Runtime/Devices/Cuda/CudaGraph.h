//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H

#include "../Stream/Backend.h"
#include "Driver.h"

#include <vector>

namespace zyx::runtime::cuda {

/// What the driver gave out, of the handle that stands for it.
template <typename T, typename HandleT> T driverHandle(HandleT handle) {
  return reinterpret_cast<T>(static_cast<uintptr_t>(handle));
}
using GraphNode = Node;

/// A graph of the driver, in which each node is behind the one before.
class CudaGraph : public CommandGraph {
public:
  CudaGraph(const Driver &driver, Context context) : driver(driver), context(context) {}
  ~CudaGraph() override;

  Result<Node> add(const LaunchCommand &launch) override;
  Result<Node> add(const CopyCommand &copy) override;
  Result<Node> add(const FillCommand &fill) override;
  Status finish() override;
  Status update(Node node, const LaunchCommand &launch) override;
  Status update(Node node, const CopyCommand &copy) override;
  Status update(Node node, const FillCommand &fill) override;
  Status launch(StreamHandle stream) override;

private:
  Status begin();
  /// What the next node stands behind.
  const GraphNode *before() const { return last ? &last : nullptr; }
  Status append(Code code, GraphNode node);

  const Driver &driver;
  const Context context;
  Graph graph = nullptr;
  GraphExec made = nullptr;
  GraphNode last = nullptr;
  /// Of each command the first node; a fill of different halves has a second one.
  struct Nodes {
    GraphNode first = nullptr, second = nullptr;
  };
  std::vector<Nodes> nodes;
};

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H
