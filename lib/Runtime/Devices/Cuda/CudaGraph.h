//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H
#define ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H

#include "Card.h"

namespace zyx::runtime::cuda {

/// Commands that the driver keeps and launches as one, each behind the one before. What a command does may change in
/// its addresses and values, and not in its kind. Of a call that fails the graph is left as it was.
class CudaGraph {
public:
  /// `card` outlives it.
  explicit CudaGraph(Card &card) : card(card) {}
  ~CudaGraph();
  CudaGraph(const CudaGraph &) = delete;

  /// Appends a command, whose node is `node`.
  Status add(const KernelNode &kernel, Node &node);
  Status add(const CopyNode &copy, Node &node);
  Status add(const FillNode &fill, Node &node);
  /// Makes what is launched of the commands that were added; none is added later.
  Status finish();

  Status update(Node node, const KernelNode &kernel);
  Status update(Node node, const CopyNode &copy);
  Status update(Node node, const FillNode &fill);
  Status launch();

private:
  Status begin();
  /// What the next command stands behind.
  const Node *before() const { return last ? &last : nullptr; }
  Status append(Code code, Node node, Node &result);

  Card &card;
  Graph graph = nullptr;
  GraphExec made = nullptr;
  Node last = nullptr;
};

} // namespace zyx::runtime::cuda

#endif // ZYX_LIB_RUNTIME_DEVICES_CUDA_CUDAGRAPH_H
