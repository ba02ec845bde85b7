//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_GRAPHINMAKING_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_GRAPHINMAKING_H

#include "Backend.h"
#include "CommandOrder.h"

#include <vector>

namespace zyx::runtime {

/// A graph while commands are added to it: in a chain each is behind the one before, else behind those with which it
/// shares memory.
class GraphInMaking {
public:
  GraphInMaking(CommandGraph &graph, bool isChain) : graph(graph), isChain(isChain) {}

  /// A launch reads as many bytes as are given of each of its arguments, none of scalars, and writes those behind the
  /// first `numRead`.
  Result<CommandGraph::Node> add(const AnyCommand &command, std::span<const uint64_t> bytes, size_t numRead) {
    behind.clear();
    if (!isChain)
      for (const size_t earlier : order.add(touchesOf(command, bytes, numRead)))
        behind.push_back(nodes[earlier]);
    else if (!nodes.empty())
      behind.push_back(nodes.back());
    numEdges += behind.size();
    ZYX_ASSIGN_OR_RETURN(const CommandGraph::Node node, graph.add(command, behind));
    nodes.push_back(node);
    return node;
  }

  size_t numNodes() const { return nodes.size(); }
  size_t numEdges = 0;

private:
  static std::vector<Touch> touchesOf(const AnyCommand &command, std::span<const uint64_t> bytes, size_t numRead) {
    const auto touch = [](const MemoryRef &memory, uint64_t size, bool isWritten) {
      return Touch{memory.address(), memory.address() + size, isWritten};
    };
    if (const auto *copy = std::get_if<CopyCommand>(&command))
      return {touch(copy->from, copy->bytes, false), touch(copy->to, copy->bytes, true)};
    if (const auto *fill = std::get_if<FillCommand>(&command))
      return {touch(fill->to, fill->bytes, true)};
    const auto &arguments = std::get<LaunchCommand>(command).arguments;
    std::vector<Touch> touches;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (bytes[i] != 0)
        touches.push_back(touch(arguments[i].memory, bytes[i], i >= numRead));
    return touches;
  }

  CommandGraph &graph;
  const bool isChain;
  CommandOrder order;
  /// Of all commands.
  std::vector<CommandGraph::Node> nodes;
  /// What a command is behind.
  std::vector<CommandGraph::Node> behind;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_GRAPHINMAKING_H
