//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Device.h"

#include "Symbols.h"

#include "zyx/Base/Bytes.h"
#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/File.h"
#include "zyx/Base/Hash.h"
#include "zyx/Graph/Devices.h"
#include "zyx/Reference/Reference.h"
#include "zyx/Session/Session.h"
#include "zyx/Target/Info/TargetInfo.h"

#include <algorithm>
#include <sys/wait.h>
#include <unistd.h>

namespace zyx::conformance {

namespace {

/// With the device's own name in transfers: a program that names another one is refused.
Result<graph::Graph> onDevice(const graph::Graph &from, std::string_view device) {
  if (!graph::namesDevices(from))
    return from;
  graph::Graph made;
  made.name = from.name;
  made.numWeights = from.numWeights;
  std::vector<graph::NodeId> copies;
  for (graph::NodeId id = 0; id < from.size(); ++id) {
    const graph::Node &node = from.node(id);
    std::vector<graph::NodeId> operands;
    for (graph::NodeId operand : node.operands)
      operands.push_back(copies[operand]);
    graph::Attributes attributes = node.attributes;
    if (node.op == graph::Op::Transfer)
      attributes.name = device;
    ZYX_ASSIGN_OR_RETURN(const graph::NodeId copy,
                         made.add(node.op, operands, std::move(attributes), node.type, from.location(id)));
    copies.push_back(copy);
  }
  for (graph::NodeId input : from.inputs)
    made.inputs.push_back(copies[input]);
  for (const graph::Output &output : from.outputs)
    made.outputs.push_back({output.name, copies[output.node]});
  return made;
}

/// Whether code for a processor may multiply bf16 by a unit or by instructions for it.
bool usesBf16(const artifact::Artifact &artifact) {
  return std::ranges::any_of(artifact.cpuFeatures, [](const std::string &feature) {
    return feature == "amx-bf16" || feature == "avx512bf16";
  });
}

/// How graphs become artifacts.
struct Compilation {
  Optimise optimise;
  CompileDrawn compileDrawn;
  uint64_t seed = 1;

  Result<artifact::Artifact> run(session::Session &session, const graph::Graph &graph,
                                 session::CompileOptions options) const {
    if (optimise == Optimise::Schedules) {
      if (!compileDrawn)
        return Status::unsupported("this program does not contain the compiler, which it needs to draw schedules");
      return compileDrawn(graph, options.target, options.isa, seed);
    }
    options.noOptimise = optimise == Optimise::None;
    ZYX_ASSIGN_OR_RETURN(session::Compiled compiled, session.compile(graph, options));
    return artifact::Artifact::deserialize(compiled.output);
  }
};

class SessionDevice final : public Device {
public:
  SessionDevice(std::string name, const Compilation &compilation, const std::string &isa, bool hasWeights,
                std::string target)
      : session({.isa = isa}), name(std::move(name)), isa(isa), target(std::move(target)), compilation(compilation),
        hasWeights(hasWeights) {}
  void setSeed(uint64_t value) override { compilation.seed = value; }
  Result<std::vector<HostTensor>> run(const graph::Graph &graph, std::span<const HostTensor> inputs) override {
    ZYX_ASSIGN_OR_RETURN(graph::Graph own, onDevice(graph, name));
    Program program{std::move(own), {inputs.begin(), inputs.end()}};
    if (hasWeights)
      program = withWeights(program);
    ZYX_ASSIGN_OR_RETURN(std::unique_ptr<session::Executable> executable, prepare(program.graph));
    if (hasWeights && compilation.optimise != Optimise::None && name != "reference") {
      // With other weights first, so that what is kept of them would be seen.
      std::vector<HostTensor> others = program.tensors;
      for (size_t i = others.size() - program.graph.numWeights; i < others.size(); ++i)
        std::ranges::fill(others[i].data, std::byte(0));
      ZYX_RETURN_IF_ERROR(executable->setInputs(std::move(others)));
      ZYX_RETURN_IF_ERROR(executable->run());
    }
    ZYX_RETURN_IF_ERROR(executable->setInputs(std::move(program.tensors)));
    ZYX_RETURN_IF_ERROR(executable->run());
    return executable->readOutputs();
  }
  Roundings roundings() const override {
    const bool hasTensorTiles = compiledFor.starts_with("sm_90a") && compilation.optimise != Optimise::None;
    // Some of the random choices compute weights again on every machine.
    return {.ofWeights = hasTensorTiles || (multipliesBf16 && compilation.optimise != Optimise::None),
            .ofResults = hasTensorTiles || compilation.optimise == Optimise::Schedules};
  }

private:
  Result<std::unique_ptr<session::Executable>> prepare(const graph::Graph &graph) {
    if (name == "reference")
      return session.prepare(graph, name);
    session::CompileOptions options;
    options.target = target;
    if (target.empty()) {
      ZYX_ASSIGN_OR_RETURN(options.target, session.targetOf(name));
    }
    compiledFor = options.target;
    options.isa = isa;
    ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, compilation.run(session, graph, std::move(options)));
    ZYX_RETURN_IF_ERROR(checkSymbols(artifact));
    multipliesBf16 = usesBf16(artifact);
    return session.load(std::move(artifact), name);
  }

  session::Session session;
  std::string name, isa, target, compiledFor;
  bool multipliesBf16 = false;
  Compilation compilation;
  bool hasWeights;
};

class CompilerDevice final : public Device {
public:
  CompilerDevice(std::string target, const Compilation &compilation, bool hasWeights, std::string codeFolder)
      : target(std::move(target)), compilation(compilation), hasWeights(hasWeights), codeFolder(std::move(codeFolder)) {
  }
  void setSeed(uint64_t value) override { compilation.seed = value; }
  bool isCompiler() const override { return true; }
  Result<std::vector<HostTensor>> run(const graph::Graph &graph, std::span<const HostTensor> inputs) override {
    ZYX_ASSIGN_OR_RETURN(const target::TargetInfo record, target::lookUpTarget(target));
    ZYX_ASSIGN_OR_RETURN(graph::Graph own, onDevice(graph, record.device));
    Program program{std::move(own), {inputs.begin(), inputs.end()}};
    if (hasWeights)
      program = withWeights(program);
    session::CompileOptions options;
    options.target = target;
    ZYX_ASSIGN_OR_RETURN(const artifact::Artifact artifact,
                         compilation.run(session, program.graph, std::move(options)));
    ZYX_RETURN_IF_ERROR(checkSymbols(artifact));
    if (!codeFolder.empty())
      for (const artifact::CodeBlob &blob : artifact.code)
        ZYX_RETURN_IF_ERROR(writeFileAtomically(
            codeFolder + "/" + hashBytes(std::span(blob.bytes)).toHex() + "." + blob.format, blob.bytes));
    return std::vector<HostTensor>();
  }

private:
  session::Session session;
  std::string target;
  Compilation compilation;
  bool hasWeights;
  std::string codeFolder;
};

class EmulatedDevice final : public Device {
public:
  EmulatedDevice(std::string isa, std::vector<std::string> command, bool hasWeights)
      : isa(std::move(isa)), command(std::move(command)), hasWeights(hasWeights) {}
  Result<std::vector<HostTensor>> run(const graph::Graph &graph, std::span<const HostTensor> inputs) override {
    ZYX_ASSIGN_OR_RETURN(graph::Graph own, onDevice(graph, "cpu"));
    Program program{std::move(own), {inputs.begin(), inputs.end()}};
    if (hasWeights)
      program = withWeights(program);
    session::CompileOptions options;
    options.isa = isa;
    ZYX_ASSIGN_OR_RETURN(session::Compiled compiled, session.compile(program.graph, options));
    ZYX_ASSIGN_OR_RETURN(const artifact::Artifact artifact, artifact::Artifact::deserialize(compiled.output));
    ZYX_RETURN_IF_ERROR(checkSymbols(artifact));
    multipliesBf16 = usesBf16(artifact);
    ByteWriter request;
    request.u64(compiled.output.size());
    std::vector<std::byte> bytes = request.take();
    bytes.insert(bytes.end(), compiled.output.begin(), compiled.output.end());
    for (const HostTensor &input : program.tensors)
      bytes.insert(bytes.end(), input.data.begin(), input.data.end());
    ZYX_ASSIGN_OR_RETURN(const ChildResult result, runChild(command, bytes));
    if (result.signal != 0 || result.exitCode != 0)
      return Status::internal("the emulator ends with " +
                              std::to_string(result.signal ? result.signal : result.exitCode) + ": " + result.messages);
    std::vector<HostTensor> outputs;
    std::span<const std::byte> rest = result.output;
    for (const artifact::Argument &output : artifact.outputs) {
      ZYX_ASSIGN_OR_RETURN(const int64_t size, byteSize(output.type));
      if (rest.size() < static_cast<size_t>(size))
        return Status::internal("the emulator writes too little");
      outputs.push_back({output.type, {rest.begin(), rest.begin() + size}});
      rest = rest.subspan(static_cast<size_t>(size));
    }
    return outputs;
  }
  Roundings roundings() const override { return {.ofWeights = multipliesBf16}; }

private:
  session::Session session;
  std::string isa;
  std::vector<std::string> command;
  bool multipliesBf16 = false;
  bool hasWeights;
};

class CorruptedDevice final : public Device {
public:
  Result<std::vector<HostTensor>> run(const graph::Graph &graph, std::span<const HostTensor> inputs) override {
    ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> outputs, reference::evaluate(graph, inputs));
    for (HostTensor &output : outputs)
      if (!output.data.empty())
        output.data[output.data.size() - 1] ^= std::byte(0x20);
    return outputs;
  }
};

} // namespace

Program withWeights(const Program &program) {
  Program made;
  made.graph = program.graph;
  made.graph.inputs.clear();
  made.graph.numWeights = program.graph.inputs.size() / 2;
  for (size_t first : {0, 1})
    for (size_t i = first; i < program.graph.inputs.size(); i += 2) {
      made.graph.inputs.push_back(program.graph.inputs[i]);
      made.tensors.push_back(program.tensors[i]);
    }
  return made;
}

static constexpr std::string_view optimiseNames[] = {"default", "none", "schedules"};

std::optional<Optimise> parseOptimise(std::string_view name) {
  for (size_t i = 0; i < std::size(optimiseNames); ++i)
    if (optimiseNames[i] == name)
      return static_cast<Optimise>(i);
  return std::nullopt;
}

std::string_view toString(Optimise optimise) { return optimiseNames[static_cast<size_t>(optimise)]; }

std::unique_ptr<Device> openDevice(const std::string &name, Optimise optimise, const std::string &isa, bool hasWeights,
                                   const std::string &target, CompileDrawn compileDrawn) {
  return std::make_unique<SessionDevice>(name, Compilation{optimise, compileDrawn}, isa, hasWeights, target);
}

std::unique_ptr<Device> openCompiler(const std::string &target, Optimise optimise, bool hasWeights,
                                     CompileDrawn compileDrawn, std::string codeFolder) {
  return std::make_unique<CompilerDevice>(target, Compilation{optimise, compileDrawn}, hasWeights,
                                          std::move(codeFolder));
}

Status findDevice(const std::string &name) {
  int ends[2];
  if (pipe(ends) != 0)
    return Status::internal("cannot make a pipe");
  const pid_t child = fork();
  if (child < 0)
    return Status::internal("cannot start a process");
  if (child == 0) {
    session::Session session(session::SessionOptions{});
    const std::string text = name == "reference" ? "" : session.targetOf(name).status().message();
    const bool isWritten = text.empty() || write(ends[1], text.data(), text.size()) >= 0;
    _exit(text.empty() && isWritten ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t size = 0; (size = read(ends[0], part, sizeof(part))) > 0;)
    text.append(part, static_cast<size_t>(size));
  close(ends[0]);
  int ended = 0;
  waitpid(child, &ended, 0);
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
    return Status::ok();
  return Status::notFound(text.empty() ? "device '" + name + "' ends the process that opens it" : text);
}

std::unique_ptr<Device> openEmulated(const std::string &isa, std::vector<std::string> command, bool hasWeights) {
  return std::make_unique<EmulatedDevice>(isa, std::move(command), hasWeights);
}

std::unique_ptr<Device> openCorrupted() { return std::make_unique<CorruptedDevice>(); }

} // namespace zyx::conformance
