//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Devices.h"

namespace zyx::graph {

/// The first of its kind has two names.
static std::string_view nameOf(std::string_view device) {
  return device.ends_with(":0") ? device.substr(0, device.size() - 2) : device;
}

bool isSameDevice(std::string_view a, std::string_view b) { return nameOf(a) == nameOf(b); }

bool namesDevices(const Graph &graph) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node &node = graph.node(id);
    if (node.op == Op::Transfer || (node.attributes.body && namesDevices(node.attributes.body.graph())))
      return true;
  }
  return false;
}

Status checkDevices(const Graph &graph, std::string_view device) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node &node = graph.node(id);
    if (node.attributes.body)
      ZYX_RETURN_IF_ERROR(checkDevices(node.attributes.body.graph(), device));
    if (node.op != Op::Transfer || isSameDevice(node.attributes.name, device))
      continue;
    const Location &place = graph.location(id);
    std::string where;
    if (!place.file.empty())
      where = std::string(place.file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
    return Status::unsupported(where + "transfer of " + zyx::toString(node.type) + " to '" + node.attributes.name +
                               "' in a program for '" + std::string(device) + "': a program has one device");
  }
  return Status::ok();
}

} // namespace zyx::graph
