//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "zyx/Reference/Reference.h"
#include "zyx/Session/Session.h"

namespace zyx::conformance {

namespace {

class SessionDevice final : public Device {
public:
  explicit SessionDevice(std::string name) : name(std::move(name)) {}
  Result<std::vector<HostTensor>> run(const graph::Graph &graph,
                                      std::span<const HostTensor> inputs) override {
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<session::Executable> executable,
                         session.prepare(graph, name));
    ZYX_RETURN_IF_ERROR(executable->setInputs({inputs.begin(), inputs.end()}));
    ZYX_RETURN_IF_ERROR(executable->run());
    return executable->readOutputs();
  }

private:
  session::Session session;
  std::string name;
};

class CorruptedDevice final : public Device {
public:
  Result<std::vector<HostTensor>> run(const graph::Graph &graph,
                                      std::span<const HostTensor> inputs) override {
    ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> outputs, reference::evaluate(graph, inputs));
    for (HostTensor &output : outputs)
      if (!output.data.empty())
        output.data[output.data.size() - 1] ^= std::byte(0x20);
    return outputs;
  }
};

} // namespace

std::unique_ptr<Device> openDevice(const std::string &name, const std::string &optimise) {
  return std::make_unique<SessionDevice>(name);
}

std::unique_ptr<Device> openCorrupted() { return std::make_unique<CorruptedDevice>(); }

} // namespace zyx::conformance
