//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_DEVICE_H
#define ZYX_TEST_CONFORMANCE_DEVICE_H

#include "zyx/Base/Tensor.h"
#include "zyx/Graph/Graph.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zyx::conformance {

/// What is compared with the interpreter.
class Device {
public:
  virtual ~Device() = default;
  /// Fails where the device, or the compiler for it, refuses the graph.
  virtual Result<std::vector<HostTensor>> run(const graph::Graph &graph,
                                              std::span<const HostTensor> inputs) = 0;
};

/// A device of zyx::session, which compiles with or without optimisations.
std::unique_ptr<Device> openDevice(const std::string &name, bool optimise);
/// The interpreter with one bit of each output wrong: what the suite must find.
std::unique_ptr<Device> openCorrupted();

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_DEVICE_H
