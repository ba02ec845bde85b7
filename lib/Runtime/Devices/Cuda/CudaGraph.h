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

  Result<Node> add(const AnyCommand &command) override {
    ZYX_RETURN_IF_ERROR(graph ? Status::ok() : driver.statusOf(driver.graphCreate(&graph, 0)));
    Nodes made;
    ZYX_RETURN_IF_ERROR(std::visit([&](const auto &each) { return put(each, made); }, command));
    nodes.push_back(made);
    return nodes.size() - 1;
  }
  Status finish() override;
  Status update(Node node, const AnyCommand &command) override {
    return std::visit([&](const auto &each) { return change(nodes[node], each); }, command);
  }
  Status launch(StreamHandle stream) override;

private:
  /// Of each command the first node; a fill of different halves has a second one.
  struct Nodes {
    GraphNode first = nullptr, second = nullptr;
  };
  /// What the next node stands behind.
  const GraphNode *before() const { return last ? &last : nullptr; }
  Status append(Code code, GraphNode node);
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
  GraphNode last = nullptr;
  std::vector<Nodes> nodes;
};

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H
