//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CudaGraph.h"

#include "zyx/Base/Debug.h"

#include <algorithm>
#include <utility>

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

/// Shared memory of each workgroup that the device takes, of all cards whose kernels begin early.
static constexpr uint64_t reservedBytes = 1024;

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

Result<CommandGraph::Node> CudaGraph::add(const AnyCommand &command, std::span<const Node> behind) {
  ZYX_RETURN_IF_ERROR(graph ? Status::ok() : driver.statusOf(driver.graphCreate(&graph, 0)));
  before.clear();
  for (const Node node : behind)
    before.push_back(nodes[node].last());
  const auto *launch = std::get_if<LaunchCommand>(&command);
  Nodes made{.isKernel = launch != nullptr};
  if (launch && early.areAllowed && early.areChosen)
    ZYX_RETURN_IF_ERROR(ask(*launch, made.occupancy));
  const bool isEarly = launch && launch->waits && behind.size() == 1 && nodes[behind[0]].isKernel && early.areAllowed &&
                       (!early.areChosen || isUncrowded(nodes[behind[0]].occupancy, made.occupancy, early.processors));
  const GraphNode kernelBefore = isEarly ? before[0] : nullptr;
  if (isEarly)
    before.clear();
  ZYX_RETURN_IF_ERROR(std::visit([&](const auto &each) { return put(each, made); }, command));
  nodes.push_back(made);
  if (isEarly) {
    const EdgeData edge;
    ++numEarly;
    ZYX_RETURN_IF_ERROR(unlessRefused(driver.graphAddDependencies(graph, &kernelBefore, &made.first, &edge, 1)));
  }
  return nodes.size() - 1;
}

Status CudaGraph::ask(const LaunchCommand &launch, Occupancy &occupancy) {
  const auto [known, isNew] = resident.try_emplace({launch.kernel, launch.threads});
  auto &[groups, ownBytes] = known->second;
  if (isNew) {
    const auto function = driverHandle<Function>(launch.kernel);
    ZYX_RETURN_IF_ERROR(
        driver.check(driver.residentGroups(&groups, function, static_cast<int>(launch.threads), launch.sharedBytes),
                     "ask how many workgroups a multiprocessor runs"));
    ZYX_RETURN_IF_ERROR(driver.check(driver.functionGet(&ownBytes, functionOwnSharedBytes, function),
                                     "ask how much shared memory a kernel declares"));
  }
  occupancy = {launch.groups, launch.threads, reservedBytes + launch.sharedBytes + static_cast<uint64_t>(ownBytes),
               static_cast<uint64_t>(std::max(groups, 1)), launch.clusterGroups > 1};
  return Status::ok();
}

Status CudaGraph::put(const LaunchCommand &launch, Nodes &made) {
  const KernelNode kernel = kernelOf(launch);
  return driver.statusOf(driver.graphAddKernel(&made.first, graph, before.data(), before.size(), &kernel));
}

Status CudaGraph::put(const CopyCommand &copy, Nodes &made) {
  const CopyNode command = copyOf(copy);
  return driver.statusOf(driver.graphAddCopy(&made.first, graph, before.data(), before.size(), &command, context));
}

Status CudaGraph::put(const FillCommand &fill, Nodes &made) {
  for (unsigned half = 0; half <= hasTwoNodes(fill); ++half) {
    const FillNode command = fillOf(fill, half);
    GraphNode &node = half == 0 ? made.first : made.second;
    ZYX_RETURN_IF_ERROR(
        driver.statusOf(driver.graphAddFill(&node, graph, before.data(), before.size(), &command, context)));
    before = {node};
  }
  return Status::ok();
}

Status CudaGraph::unlessRefused(Code code) {
  const Status status = driver.statusOf(code);
  if (!status && numEarly != 0 && status.code() != ErrorCode::DeviceLost && early.areAllowed.exchange(false))
    ZYX_DEBUG(Devices, "kernels of graphs do not begin early: " + status.message());
  return status;
}

Status CudaGraph::finish() {
  ZYX_DEBUG(Devices, std::to_string(numEarly) + " of " + std::to_string(nodes.size()) + " commands begin early");
  return unlessRefused(driver.graphInstantiate(&made, graph, 0));
}

Status CudaGraph::change(const Nodes &itsNodes, const LaunchCommand &launch) {
  const KernelNode kernel = kernelOf(launch);
  return unlessRefused(driver.graphSetKernel(made, itsNodes.first, &kernel));
}

Status CudaGraph::change(const Nodes &itsNodes, const CopyCommand &copy) {
  const CopyNode command = copyOf(copy);
  return driver.statusOf(driver.graphSetCopy(made, itsNodes.first, &command, context));
}

Status CudaGraph::change(const Nodes &itsNodes, const FillCommand &fill) {
  for (unsigned half = 0; half <= hasTwoNodes(fill); ++half) {
    const FillNode command = fillOf(fill, half);
    ZYX_RETURN_IF_ERROR(
        driver.statusOf(driver.graphSetFill(made, half == 0 ? itsNodes.first : itsNodes.second, &command, context)));
  }
  return Status::ok();
}

Status CudaGraph::launch(StreamHandle stream) {
  return unlessRefused(driver.graphLaunch(made, driverHandle<Stream>(stream)));
}
