//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CudaGraph.h"

using namespace zyx;
using namespace zyx::runtime;
using namespace zyx::runtime::cuda;

static constexpr const char *making = "make a graph of commands";
static constexpr const char *changing = "change a graph of commands";

CudaGraph::~CudaGraph() {
  // Work of it that is in flight goes on.
  if (made)
    (void)card.api().graphExecDestroy(made);
  if (graph)
    (void)card.api().graphDestroy(graph);
}

Status CudaGraph::begin() { return graph ? Status::ok() : card.check(card.api().graphCreate(&graph, 0), making); }

Status CudaGraph::append(Code code, Node node, Node &result) {
  ZYX_RETURN_IF_ERROR(card.check(code, making));
  result = last = node;
  return Status::ok();
}

Status CudaGraph::add(const KernelNode &kernel, Node &node) {
  ZYX_RETURN_IF_ERROR(begin());
  Node added = nullptr;
  const Code code = card.api().graphAddKernel(&added, graph, before(), last != nullptr, &kernel);
  return append(code, added, node);
}

Status CudaGraph::add(const CopyNode &copy, Node &node) {
  ZYX_RETURN_IF_ERROR(begin());
  Node added = nullptr;
  const Code code = card.api().graphAddCopy(&added, graph, before(), last != nullptr, &copy, card.itsContext());
  return append(code, added, node);
}

Status CudaGraph::add(const FillNode &fill, Node &node) {
  ZYX_RETURN_IF_ERROR(begin());
  Node added = nullptr;
  const Code code = card.api().graphAddFill(&added, graph, before(), last != nullptr, &fill, card.itsContext());
  return append(code, added, node);
}

Status CudaGraph::finish() { return card.check(card.api().graphInstantiate(&made, graph, 0), making); }

Status CudaGraph::update(Node node, const KernelNode &kernel) {
  return card.check(card.api().graphSetKernel(made, node, &kernel), changing);
}

Status CudaGraph::update(Node node, const CopyNode &copy) {
  return card.check(card.api().graphSetCopy(made, node, &copy, card.itsContext()), changing);
}

Status CudaGraph::update(Node node, const FillNode &fill) {
  return card.check(card.api().graphSetFill(made, node, &fill, card.itsContext()), changing);
}

Status CudaGraph::launch() {
  return card.check(card.api().graphLaunch(made, card.stream()), "launch a graph of commands");
}
