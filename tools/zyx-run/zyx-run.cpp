//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "zyx/Base/File.h"
#include "zyx/Base/RandomTensor.h"
#include "zyx/IO/Npy.h"
#include "zyx/IO/Print.h"
#include "zyx/IO/Safetensors.h"
#include "zyx/Session/Session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace zyx;
using namespace zyx::run;
using artifact::Argument;
using session::Executable;
using session::Session;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

bool isArtifact(const std::string &path) { return path.ends_with(".zyxa"); }

std::string signature(const std::string &name, const std::vector<Argument> &inputs,
                      const std::vector<Argument> &outputs) {
  auto list = [](const std::vector<Argument> &arguments) {
    std::string text;
    for (const Argument &argument : arguments)
      text += "\n    " + argument.name + ": " + toString(argument.type);
    return text;
  };
  return name + "\n  inputs:" + list(inputs) + "\n  outputs:" + list(outputs) + "\n";
}

std::string signature(const graph::Graph &graph) {
  std::vector<Argument> inputs, outputs;
  for (graph::NodeId id : graph.inputs)
    inputs.push_back({graph.node(id).attributes.name, graph.node(id).type});
  for (const graph::Output &output : graph.outputs)
    outputs.push_back({output.name, graph.node(output.node).type});
  return signature(graph.name, inputs, outputs);
}

Result<artifact::Artifact> readArtifact(const Options &options) {
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, readFile(options.file));
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact,
                       artifact::Artifact::deserialize(bytes, options.file));
  if (!options.entry.empty() && options.entry != artifact.entry)
    return Status::notFound(options.file + ": has no entry '" + options.entry + "', but " +
                            artifact.entry);
  // "cuda:1" is a device of the kind "cuda".
  if (!options.device.empty() && options.device.substr(0, options.device.find(':')) != artifact.target)
    return Status::unsupported(options.file + ": is compiled for device '" + artifact.target +
                               "', not '" + options.device + "'");
  return artifact;
}

Result<std::unique_ptr<Executable>> prepare(Session &session, const Options &options, const Config &config) {
  if (isArtifact(options.file)) {
    if (!options.isa.empty())
      return Status::invalidArgument(options.file + ": is compiled already, which --isa cannot change");
    ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, readArtifact(options));
    return session.load(std::move(artifact), options.device);
  }
  Clock::time_point begin = Clock::now();
  ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, session.readGraphs(options.file));
  ZYX_ASSIGN_OR_RETURN(graph::Graph graph,
                       session::selectEntry(std::move(graphs), options.entry, options.file,
                                            options.bind));
  auto parsing = std::chrono::nanoseconds(Clock::now() - begin).count();
  ZYX_ASSIGN_OR_RETURN(
      std::unique_ptr<Executable> executable,
      session.prepare(std::move(graph), options.device.empty() ? config.device.value_or("cpu") : options.device));
  executable->stages.insert(executable->stages.begin(), {"parse", static_cast<uint64_t>(parsing)});
  return executable;
}

Status list(Session &session, const Options &options) {
  std::string text;
  if (isArtifact(options.file)) {
    ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, readArtifact(options));
    text = signature(artifact.entry, artifact.inputs, artifact.outputs);
  } else {
    ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, session.readGraphs(options.file));
    for (const graph::Graph &graph : graphs)
      text += signature(graph);
  }
  std::fputs(text.c_str(), stdout);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

std::string namesOf(const std::vector<Argument> &arguments) {
  std::string names;
  for (const Argument &argument : arguments)
    names += (names.empty() ? "" : ", ") + argument.name;
  return names.empty() ? "none" : names;
}

Result<std::vector<HostTensor>> readInputs(const Executable &executable, const Options &options) {
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    auto sameName = [&](const auto &other) { return other.name == options.inputs[i].name; };
    if (std::none_of(executable.inputs().begin(), executable.inputs().end(), sameName))
      return Status::invalidArgument("there is no input '" + options.inputs[i].name +
                                     "'; inputs are " + namesOf(executable.inputs()));
    if (std::any_of(options.inputs.begin(), options.inputs.begin() + i, sameName))
      return Status::invalidArgument("input '" + options.inputs[i].name + "' is given twice");
  }
  std::optional<io::SafetensorsFile> file;
  if (!options.inputsFile.empty()) {
    ZYX_ASSIGN_OR_RETURN(file, io::SafetensorsFile::open(options.inputsFile));
  }
  std::vector<HostTensor> tensors;
  for (const Argument &input : executable.inputs()) {
    auto spec = std::find_if(options.inputs.begin(), options.inputs.end(),
                             [&](const InputSpec &given) { return given.name == input.name; });
    if (spec != options.inputs.end()) {
      ZYX_ASSIGN_OR_RETURN(HostTensor tensor, readInput(*spec, input));
      tensors.push_back(std::move(tensor));
    } else if (file && file->find(input.name)) {
      ZYX_ASSIGN_OR_RETURN(HostTensor tensor,
                           readInput({input.name, options.inputsFile, input.name, {}}, input));
      tensors.push_back(std::move(tensor));
    } else if (options.random) {
      if (input.type.isSymbolic())
        return Status::invalidArgument("input '" + input.name + "' is " + toString(input.type) +
                                       ": random numbers need --bind for its symbols");
      ZYX_ASSIGN_OR_RETURN(HostTensor tensor,
                           randomTensor(input.type, *options.random + tensors.size()));
      tensors.push_back(std::move(tensor));
    } else {
      return Status::invalidArgument("input '" + input.name + "' is missing; it is " +
                                     toString(input.type));
    }
  }
  return tensors;
}

Result<size_t> findOutput(const Executable &executable, const std::string &name) {
  const std::vector<Argument> &outputs = executable.outputs();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == name || (name.empty() && outputs.size() == 1))
      return i;
  if (name.empty())
    return Status::invalidArgument("say which output as --output=NAME=FILE: " + namesOf(outputs));
  return Status::invalidArgument("there is no output '" + name + "'; outputs are " +
                                 namesOf(outputs));
}

/// `--print`: of each output its name, type and values, or the template.
Result<std::string> toText(const Executable &executable, std::span<const HostTensor> outputs,
                           const std::string &format) {
  std::string text;
  if (format.empty()) {
    for (size_t i = 0; i < outputs.size(); ++i)
      text += executable.outputs()[i].name + ": " + toString(outputs[i].type) + "\n" +
              io::toString(outputs[i]) + "\n";
    return text;
  }
  for (size_t at = 0; at < format.size();) {
    size_t open = format.find('{', at);
    size_t close = open == std::string::npos ? open : format.find('}', open);
    if (close == std::string::npos) {
      text += format.substr(at);
      break;
    }
    ZYX_ASSIGN_OR_RETURN(size_t index,
                         findOutput(executable, format.substr(open + 1, close - open - 1)));
    text += format.substr(at, open - at) + io::toString(outputs[index]);
    at = close + 1;
  }
  return text + "\n";
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::string timesText(const Executable &executable, std::vector<double> runs) {
  std::sort(runs.begin(), runs.end());
  char text[256];
  std::snprintf(text, sizeof(text),
                "kernels: %zu, in %zu launches\nrun: %.4f ms, median of %zu (%.4f to %.4f)\n",
                executable.numKernels, executable.numLaunches, runs[runs.size() / 2], runs.size(),
                runs.front(), runs.back());
  return "compile: " + session::toString(executable.stages) + "\n" + text;
}

Status runProgram(const Options &options, const Config &config) {
  if (options.listDevices) {
    for (const session::DeviceListing &device : Session::listDevices())
      std::printf("%-10s %-8s %s\n", device.name.c_str(), device.present ? "present" : "absent",
                  device.description.c_str());
    return Status::ok();
  }
  session::SessionOptions sessionOptions = session::SessionOptions::from(config);
  if (options.cacheFolder)
    sessionOptions.cacheFolder = options.cacheFolder;
  if (options.noCache)
    sessionOptions.cacheFolder.reset();
  sessionOptions.tune |= options.tune;
  if (options.isolate)
    sessionOptions.isolation.emplace();
  if (!options.isa.empty())
    sessionOptions.isa = options.isa;
  Session session(std::move(sessionOptions));
  Trace trace;
  if (!options.trace.empty())
    session.observers.trace = &trace;
  if (options.list)
    return list(session, options);
  std::unique_ptr<Executable> executable;
  {
    tools::ProgressLine line(options.quiet ? tools::ProgressMode::Never : options.progress);
    session.observers.progress = line.callback();
    ZYX_ASSIGN_OR_RETURN(executable, prepare(session, options, config));
    session.observers.progress = nullptr;
  }
  // What is wrong with the names of outputs is said before anything runs.
  std::vector<size_t> written;
  for (const OutputSpec &spec : options.outputs) {
    ZYX_ASSIGN_OR_RETURN(size_t index, findOutput(*executable, spec.name));
    written.push_back(index);
  }
  ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> inputs, readInputs(*executable, options));
  ZYX_RETURN_IF_ERROR(executable->setInputs(std::move(inputs)));

  std::vector<double> runs;
  for (int64_t i = 0; i < options.repeat; ++i) {
    Clock::time_point begin = Clock::now();
    ZYX_RETURN_IF_ERROR(options.trace.empty() ? executable->run() : executable->run(trace));
    runs.push_back(milliseconds(Clock::now() - begin));
  }

  ZYX_RETURN_IF_ERROR(tools::writeTrace(trace, options.trace));
  ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> outputs, executable->readOutputs());
  std::string text = options.remarks ? executable->remarks : std::string();
  if (options.print) {
    ZYX_ASSIGN_OR_RETURN(std::string printed, toText(*executable, outputs, options.printTemplate));
    text += printed;
  }
  // All files are encoded before the first is written.
  std::vector<std::vector<std::byte>> files;
  for (size_t index : written) {
    ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, io::encodeNpy(outputs[index]));
    files.push_back(std::move(bytes));
  }
  for (size_t i = 0; i < files.size(); ++i)
    ZYX_RETURN_IF_ERROR(writeFileAtomically(options.outputs[i].file, files[i]));
  if (options.time)
    text += timesText(*executable, std::move(runs));
  std::fputs(text.c_str(), stdout);
  return Status::ok();
}

} // namespace

int main(int argc, char **argv) {
  return tools::runTool("zyx-run", helpText, parseOptions(argc, argv), runProgram);
}
