//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Executables.h"

#include "zyx/Base/Allocate.h"
#include "zyx/Graph/Symbols.h"
#include "zyx/Runtime/Executor.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::session;

namespace {

std::vector<artifact::Argument> inputsOf(const graph::Graph &graph) {
  std::vector<artifact::Argument> inputs;
  const size_t firstWeight = graph.inputs.size() - graph.numWeights;
  for (graph::NodeId id : graph.inputs)
    inputs.push_back({graph.node(id).attributes.name, graph.node(id).type, inputs.size() >= firstWeight});
  return inputs;
}

class GraphExecutable : public Executable {
public:
  GraphExecutable(const GraphDevice &device, graph::Graph of) : device(device), graph(std::move(of)) {
    inputArguments = inputsOf(graph);
    for (const graph::Output &output : graph.outputs)
      outputArguments.push_back({output.name, graph.node(output.node).type});
  }

  Status setInputs(std::vector<HostTensor> tensors) override {
    ZYX_RETURN_IF_ERROR(checkInputs(tensors));
    given = std::move(tensors);
    return Status::ok();
  }
  Status run() override {
    ZYX_ASSIGN_OR_RETURN(results, device.evaluate(graph, given));
    return Status::ok();
  }
  Status run(Trace &trace) override {
    ScopedSpan span(&trace, "device " + std::string(device.name), std::string(device.work), graph.name);
    return run();
  }
  Result<std::vector<HostTensor>> readOutputs() override { return results; }
  Status streamOutput(size_t index, std::span<std::byte>,
                      const std::function<Status(std::span<const std::byte>)> &take) override {
    if (index >= results.size())
      return Status::invalidArgument("there is no output " + std::to_string(index) + " before the first run");
    return take(results[index].data);
  }

private:
  const GraphDevice &device;
  graph::Graph graph;
  std::vector<HostTensor> given, results;
};

class DeviceExecutable : public Executable {
public:
  explicit DeviceExecutable(std::unique_ptr<runtime::Executor> of) : executor(std::move(of)) {
    const artifact::Artifact &artifact = executor->artifact();
    inputArguments = artifact.inputs;
    outputArguments = artifact.outputs;
    numKernels = artifact.kernels.size();
    for (const artifact::Command &command : std::span(artifact.commands).subspan(artifact.numInitCommands))
      numLaunches += std::holds_alternative<artifact::Launch>(command.action);
    memoryBytes = artifact.arenaSize;
    keptBytes = artifact.keptSize;
    for (const auto *arguments : {&inputArguments, &outputArguments})
      for (const artifact::Argument &argument : *arguments)
        memoryBytes += static_cast<uint64_t>(*byteSize(argument.type));
  }

  Status setInputs(std::vector<HostTensor> tensors) override {
    ZYX_RETURN_IF_ERROR(checkInputs(tensors));
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto found = shared.find(i);
      ZYX_RETURN_IF_ERROR(found == shared.end() ? executor->setInput(i, tensors[i].data)
                                                : found->second->update(tensors[i].data));
    }
    return Status::ok();
  }
  Status shareWeights(std::map<size_t, std::shared_ptr<runtime::Buffer>> &weights) override {
    for (size_t i = 0; i < inputArguments.size(); ++i) {
      if (!inputArguments[i].isWeight)
        continue;
      const auto size = static_cast<uint64_t>(*byteSize(inputArguments[i].type));
      std::shared_ptr<runtime::Buffer> &weight = weights[i];
      if (!weight || weight->size() != size) {
        ZYX_ASSIGN_OR_RETURN(weight, runtime::Buffer::allocate(executor->pool(), size));
      }
      ZYX_RETURN_IF_ERROR(executor->bindInput(i, weight));
      shared[i] = weight;
      memoryBytes -= size;
    }
    return Status::ok();
  }
  void forEachKept(const std::function<void(const runtime::Buffer &)> &visit) const override {
    executor->forEachKept(visit);
  }
  Status run() override { return executor->run(); }
  Status run(Trace &trace) override {
    const artifact::Artifact &artifact = executor->artifact();
    uint64_t begin = Trace::now();
    ZYX_ASSIGN_OR_RETURN(std::vector<runtime::CommandTime> times, executor->profile());
    std::vector<size_t> spans;
    for (size_t i = 0; i < times.size(); ++i) {
      std::string place;
      if (const auto *launch = std::get_if<artifact::Launch>(&artifact.commands[i].action)) {
        const artifact::SourceLocation &location = artifact.kernels[launch->kernel].location;
        if (!location.file.empty())
          place = location.file + ":" + std::to_string(location.line);
      }
      // Commands run one after the other.
      spans.push_back(
          trace.add({"device " + artifact.target, times[i].name, std::move(place), begin, times[i].nanoseconds}));
      begin += times[i].nanoseconds;
      for (uint32_t earlier : artifact.commands[i].wait)
        trace.addDependency(spans[earlier], spans[i]);
    }
    return Status::ok();
  }
  Result<std::vector<HostTensor>> readOutputs() override {
    std::vector<HostTensor> tensors;
    for (size_t i = 0; i < outputArguments.size(); ++i) {
      const TensorType &type = outputArguments[i].type;
      ZYX_ASSIGN_OR_RETURN(int64_t size, byteSize(type));
      ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> data,
                           allocateBytes(static_cast<uint64_t>(size), "output '" + outputArguments[i].name + "'"));
      HostTensor tensor{type, std::move(data)};
      ZYX_RETURN_IF_ERROR(executor->readOutput(i, tensor.data));
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }
  Status streamOutput(size_t index, std::span<std::byte> piece,
                      const std::function<Status(std::span<const std::byte>)> &take) override {
    const auto size = static_cast<uint64_t>(*byteSize(outputArguments[index].type));
    for (uint64_t done = 0; done < size;) {
      const std::span<std::byte> part = piece.first(std::min<uint64_t>(piece.size(), size - done));
      ZYX_RETURN_IF_ERROR(executor->readOutput(index, done, part));
      ZYX_RETURN_IF_ERROR(take(part));
      done += part.size();
    }
    return Status::ok();
  }

private:
  std::unique_ptr<runtime::Executor> executor;
  /// Inputs whose memory others use, too.
  std::map<size_t, std::shared_ptr<runtime::Buffer>> shared;
};

/// A graph with symbols, made ready for each set of values that its inputs give them.
class SymbolicExecutable : public Executable {
public:
  SymbolicExecutable(Session &session, graph::Graph of, std::string device, uint64_t readyBytes)
      : session(session), graph(std::move(of)), device(std::move(device)), readyBytes(readyBytes) {
    inputArguments = inputsOf(graph);
    for (const graph::Output &output : graph.outputs)
      outputArguments.push_back({output.name, graph.node(output.node).type});
  }

  Status setInputs(std::vector<HostTensor> tensors) override {
    std::vector<TensorType> types;
    for (const HostTensor &tensor : tensors)
      types.push_back(tensor.type);
    ZYX_ASSIGN_OR_RETURN(Bindings bindings, graph::bindSymbols(graph, types));
    auto found = ready.find(bindings);
    if (found == ready.end()) {
      ZYX_ASSIGN_OR_RETURN(graph::Graph numbers, graph::specialise(graph, bindings));
      ZYX_ASSIGN_OR_RETURN(std::unique_ptr<Executable> made, session.prepare(std::move(numbers), device));
      ZYX_RETURN_IF_ERROR(made->shareWeights(weights));
      // It may be the one that goes, also where memory ends right behind that.
      current = nullptr;
      makeRoom(made->memoryBytes + made->keptBytes);
      found = ready.emplace(std::move(bindings), Ready{std::move(made)}).first;
    }
    found->second.lastUse = ++uses;
    current = found->second.executable.get();
    numKernels = current->numKernels;
    numLaunches = current->numLaunches;
    stages = current->stages;
    remarks = current->remarks;
    outputArguments = current->outputs();
    return current->setInputs(std::move(tensors));
  }
  Status run(Trace &trace) override { return current ? current->run(trace) : noInputs(); }
  Status run() override { return current ? current->run() : noInputs(); }
  Result<std::vector<HostTensor>> readOutputs() override {
    if (!current)
      return noInputs();
    return current->readOutputs();
  }
  Status streamOutput(size_t index, std::span<std::byte> piece,
                      const std::function<Status(std::span<const std::byte>)> &take) override {
    return current ? current->streamOutput(index, piece, take) : noInputs();
  }

private:
  struct Ready {
    std::unique_ptr<Executable> executable;
    uint64_t lastUse = 0;
  };

  /// A program that is called with ever new sizes must not fill the memory.
  void makeRoom(uint64_t bytes) {
    runtime::KeptBytes kept;
    for (const auto &[bindings, one] : ready) {
      bytes += one.executable->memoryBytes;
      kept.add(*one.executable);
    }
    while (!ready.empty() && (bytes + kept.total() > readyBytes || ready.size() >= maxReady)) {
      const auto oldest = std::ranges::min_element(ready, {}, [](const auto &one) { return one.second.lastUse; });
      bytes -= oldest->second.executable->memoryBytes;
      kept.remove(*oldest->second.executable);
      ready.erase(oldest);
    }
  }

  Status noInputs() const {
    return Status::invalidArgument("graph " + graph.name + " has symbols, and no inputs gave them values");
  }

  static constexpr size_t maxReady = 64;
  Session &session;
  graph::Graph graph;
  std::string device;
  uint64_t readyBytes, uses = 0;
  /// The memory of weights, by their input.
  std::map<size_t, std::shared_ptr<runtime::Buffer>> weights;
  std::map<Bindings, Ready> ready;
  /// One of these.
  Executable *current = nullptr;
};

} // namespace

Status Executable::checkInputs(std::span<const HostTensor> tensors) const {
  if (tensors.size() != inputArguments.size())
    return Status::invalidArgument(std::to_string(tensors.size()) + " tensors are given for " +
                                   std::to_string(inputArguments.size()) + " inputs");
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].type != inputArguments[i].type)
      return Status::invalidArgument("input '" + inputArguments[i].name + "' is " + toString(inputArguments[i].type) +
                                     ", and " + toString(tensors[i].type) + " is given");
  return Status::ok();
}

Result<HostTensor> Executable::readOutput(size_t index) {
  const TensorType &type = outputArguments[index].type;
  ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(type));
  HostTensor tensor{type, std::vector<std::byte>(static_cast<size_t>(size))};
  ZYX_RETURN_IF_ERROR(streamOutput(index, tensor.data, [&](std::span<const std::byte> all) {
    // A device fills the tensor itself.
    if (all.data() != tensor.data.data())
      std::ranges::copy(all, tensor.data.begin());
    return Status::ok();
  }));
  return tensor;
}

std::unique_ptr<Executable> session::makeGraphExecutable(const GraphDevice &device, graph::Graph graph) {
  return std::make_unique<GraphExecutable>(device, std::move(graph));
}

std::unique_ptr<Executable> session::makeDeviceExecutable(std::unique_ptr<runtime::Executor> executor) {
  return std::make_unique<DeviceExecutable>(std::move(executor));
}

std::unique_ptr<Executable> session::makeSymbolicExecutable(Session &session, graph::Graph graph, std::string device,
                                                            uint64_t readyBytes) {
  return std::make_unique<SymbolicExecutable>(session, std::move(graph), std::move(device), readyBytes);
}
