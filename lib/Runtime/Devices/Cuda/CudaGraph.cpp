//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CudaGraph.h"

#include <algorithm>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

CudaGraph::~CudaGraph() {
  // Work of it that is in flight goes on.
  if (made)
    (void)driver.graphExecDestroy(made);
  if (graph)
    (void)driver.graphDestroy(graph);
}

static KernelNode kernelOf(const LaunchCommand &launch) {
  KernelNode kernel;
  kernel.function = driverHandle<Function>(launch.kernel);
  kernel.groups[0] = launch.groups;
  kernel.threads[0] = launch.threads;
  kernel.sharedBytes = launch.sharedBytes;
  kernel.parameters = launch.parameters;
  return kernel;
}

static CopyNode copyOf(const CopyCommand &copy) {
  CopyNode node;
  node.from.address = copy.from.address();
  node.to.address = copy.to.address();
  node.width = node.from.pitch = node.to.pitch = copy.bytes;
  return node;
}

static bool hasTwoNodes(const FillCommand &fill) {
  return fill.patternBytes == 8 && fill.pattern >> 32 != static_cast<uint32_t>(fill.pattern);
}

/// Of a fill with two nodes, half 0 or 1: both halves are columns of rows of 8 bytes.
static FillNode fillOf(const FillCommand &fill, unsigned half) {
  FillNode node;
  node.address = fill.to.address() + 4 * half;
  node.value = static_cast<unsigned>(fill.pattern >> (32 * half));
  node.elementBytes = std::min<unsigned>(fill.patternBytes, 4);
  node.width = fill.bytes / node.elementBytes;
  if (hasTwoNodes(fill)) {
    node.pitch = 8;
    node.width = 1;
    node.height = fill.bytes / 8;
  }
  return node;
}

Status CudaGraph::begin() { return graph ? Status::ok() : driver.statusOf(driver.graphCreate(&graph, 0)); }

Status CudaGraph::append(Code code, GraphNode node) {
  ZYX_RETURN_IF_ERROR(driver.statusOf(code));
  last = node;
  return Status::ok();
}

Result<CommandGraph::Node> CudaGraph::add(const LaunchCommand &launch) {
  ZYX_RETURN_IF_ERROR(begin());
  const KernelNode kernel = kernelOf(launch);
  GraphNode node = nullptr;
  const Code code = driver.graphAddKernel(&node, graph, before(), last != nullptr, &kernel);
  ZYX_RETURN_IF_ERROR(append(code, node));
  nodes.push_back({node, nullptr});
  return nodes.size() - 1;
}

Result<CommandGraph::Node> CudaGraph::add(const CopyCommand &copy) {
  ZYX_RETURN_IF_ERROR(begin());
  const CopyNode command = copyOf(copy);
  GraphNode node = nullptr;
  const Code code = driver.graphAddCopy(&node, graph, before(), last != nullptr, &command, context);
  ZYX_RETURN_IF_ERROR(append(code, node));
  nodes.push_back({node, nullptr});
  return nodes.size() - 1;
}

Result<CommandGraph::Node> CudaGraph::add(const FillCommand &fill) {
  ZYX_RETURN_IF_ERROR(begin());
  Nodes both;
  for (unsigned half = 0; half <= hasTwoNodes(fill); ++half) {
    const FillNode command = fillOf(fill, half);
    GraphNode &node = half == 0 ? both.first : both.second;
    const Code code = driver.graphAddFill(&node, graph, before(), last != nullptr, &command, context);
    ZYX_RETURN_IF_ERROR(append(code, node));
  }
  nodes.push_back(both);
  return nodes.size() - 1;
}

Status CudaGraph::finish() { return driver.statusOf(driver.graphInstantiate(&made, graph, 0)); }

Status CudaGraph::update(Node node, const LaunchCommand &launch) {
  const KernelNode kernel = kernelOf(launch);
  return driver.statusOf(driver.graphSetKernel(made, nodes[node].first, &kernel));
}

Status CudaGraph::update(Node node, const CopyCommand &copy) {
  const CopyNode command = copyOf(copy);
  return driver.statusOf(driver.graphSetCopy(made, nodes[node].first, &command, context));
}

Status CudaGraph::update(Node node, const FillCommand &fill) {
  for (unsigned half = 0; half <= hasTwoNodes(fill); ++half) {
    const FillNode command = fillOf(fill, half);
    ZYX_RETURN_IF_ERROR(driver.statusOf(
        driver.graphSetFill(made, half == 0 ? nodes[node].first : nodes[node].second, &command, context)));
  }
  return Status::ok();
}

Status CudaGraph::launch(StreamHandle stream) {
  return driver.statusOf(driver.graphLaunch(made, driverHandle<Stream>(stream)));
}
