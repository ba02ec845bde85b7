//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_GRAPH_DEVICES_H
#define ZYX_GRAPH_DEVICES_H

#include "zyx/Graph/Graph.h"

namespace zyx::graph {

/// Whether two names are of one device: "cuda" is "cuda:0".
bool isSameDevice(std::string_view a, std::string_view b);

/// Whether an op of the graph, or of a body in it, names a device.
bool namesDevices(const Graph &graph);

/// Refuses a graph one of whose transfers, in a body too, goes to another device than the one that the
/// graph is to run on: an artifact has one device, and nothing may be dropped silently. The message
/// begins with the place of the op.
Status checkDevices(const Graph &graph, std::string_view device);

} // namespace zyx::graph

#endif // ZYX_GRAPH_DEVICES_H
