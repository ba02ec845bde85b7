//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/GraphDevice.h"

#include "zyx/Base/Processors.h"
#include "zyx/Reference/Reference.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::session;

static Result<std::vector<HostTensor>> interpret(const graph::Graph &graph, std::span<const HostTensor> inputs) {
  return reference::evaluate(graph, inputs);
}

std::span<const GraphDevice> session::graphDevices() {
  static constexpr GraphDevice devices[] = {{"reference", "the interpreter",
                                             "interprets the graph on this host; the meaning of every op", "evaluate",
                                             interpret}};
  return devices;
}

const GraphDevice *session::findGraphDevice(std::string_view name) {
  const auto found = std::ranges::find(graphDevices(), name, &GraphDevice::name);
  return found == graphDevices().end() ? nullptr : &*found;
}

runtime::DeviceListing GraphDevice::listing() const {
  runtime::DeviceListing listing{std::string(name), true, std::string(description)};
  listing.facts.target = name;
  listing.facts.identity = processorName();
  listing.facts.memoryBytes = usableMemory();
  listing.facts.dtypes = runtime::allDTypes();
  return listing;
}
