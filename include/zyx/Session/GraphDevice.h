//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_GRAPHDEVICE_H
#define ZYX_SESSION_GRAPHDEVICE_H

#include "zyx/Base/Tensor.h"
#include "zyx/Runtime/DeviceFacts.h"

#include <span>
#include <string_view>
#include <vector>

namespace zyx::graph {
class Graph;
}

namespace zyx::session {

/// A device that runs graphs as they are: nothing is compiled for it, and its values are in the host's memory. It is
/// always present and has no number. Devices that run artifacts are runtime::Device.
struct GraphDevice {
  std::string_view name;
  /// What it is, in a few words and in a line of the list of devices.
  std::string_view kind, description;
  /// The name of its programs' spans in traces.
  std::string_view work;
  /// One tensor per output, of a graph without symbols.
  Result<std::vector<HostTensor>> (*evaluate)(const graph::Graph &graph, std::span<const HostTensor> inputs);

  runtime::DeviceListing listing() const;
};

/// In the order in which they are listed.
std::span<const GraphDevice> graphDevices();
/// The one of that name, or null.
const GraphDevice *findGraphDevice(std::string_view name);

} // namespace zyx::session

#endif // ZYX_SESSION_GRAPHDEVICE_H
