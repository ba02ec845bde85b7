//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "Common/Files.h"

#include "zyx/Artifact/File.h"
#include "zyx/Base/File.h"
#include "zyx/Base/RandomTensor.h"
#include "zyx/Base/TextLimits.h"
#include "zyx/IO/Npy.h"
#include "zyx/IO/Print.h"
#include "zyx/IO/Safetensors.h"
#include "zyx/IO/TraceFile.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Runtime/Plugin.h"
#include "zyx/Session/GraphDevice.h"
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

double milliseconds(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// What is to be run, which a pipe gives only once.
struct Source {
  /// One of these: an artifact that was compiled before, or text.
  std::optional<artifact::Artifact> artifact;
  std::vector<std::byte> text;
};

Status readArtifact(ReadOnlyFile file, const Options &options, Source &source) {
  ZYX_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, artifact::readFile(file));
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact artifact, artifact::Artifact::deserialize(bytes, options.file));
  if (!options.entry.empty() && options.entry != artifact.entry)
    return Status::notFound(options.file + ": has no entry '" + options.entry + "', but " + artifact.entry);
  // "cuda:1" is a device of the kind "cuda".
  if (!options.device.empty() && options.device.substr(0, options.device.find(':')) != artifact.target)
    return Status::unsupported(options.file + ": is compiled for device '" + artifact.target + "', not '" +
                               options.device + "'");
  if (!options.isa.empty())
    return Status::invalidArgument(options.file + ": is compiled already, which --isa cannot change");
  source.artifact = std::move(artifact);
  return Status::ok();
}

/// A name that ends in .zyxa is an artifact's; a stream says by its first bytes what it is.
Status readSource(const Options &options, Source &source) {
  const bool isNamed = options.file.ends_with(".zyxa");
  if (!isNamed && !tools::isStream(options.file)) {
    ZYX_ASSIGN_OR_RETURN(source.text, readFile(options.file, Session::maxTextBytes));
    return Status::ok();
  }
  const auto limit = [](std::span<const std::byte> start) {
    return artifact::hasMark(start) ? tools::memoryForStreams() : uint64_t(TextLimits().bytes);
  };
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, tools::openInput(options.file, limit));
  std::vector<std::byte> bytes(std::min<uint64_t>(file.size(), artifact::markBytes));
  ZYX_RETURN_IF_ERROR(file.read(0, bytes));
  if (isNamed || artifact::hasMark(bytes))
    return readArtifact(std::move(file), options, source);
  source.text.resize(file.size());
  return file.read(0, source.text);
}

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

Result<std::unique_ptr<Executable>> prepare(Session &session, Source source, const Options &options,
                                            const Config &config) {
  if (source.artifact)
    return session.load(std::move(*source.artifact), options.device);
  const Clock::time_point begin = Clock::now();
  ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, session.parseGraphs(source.text, options.file));
  ZYX_ASSIGN_OR_RETURN(graph::Graph graph,
                       session::selectEntry(std::move(graphs), options.entry, options.file, options.bind));
  const auto parsing = std::chrono::nanoseconds(Clock::now() - begin).count();
  ZYX_ASSIGN_OR_RETURN(
      std::unique_ptr<Executable> executable,
      session.prepare(std::move(graph), options.device.empty() ? Session::defaultDevice(config) : options.device));
  executable->stages.insert(executable->stages.begin(), {"parse", static_cast<uint64_t>(parsing)});
  return executable;
}

Status list(Session &session, const Source &source, const Options &options) {
  std::string text;
  if (source.artifact) {
    text = signature(source.artifact->entry, source.artifact->inputs, source.artifact->outputs);
  } else {
    ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, session.parseGraphs(source.text, options.file));
    for (const graph::Graph &graph : graphs)
      text += signature(graph);
  }
  tools::print(text);
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

/// An input before its elements are there.
struct PlannedInput {
  TensorType type;
  /// None where the elements are random.
  std::optional<TensorSource> source;
};

Status checkNames(const Executable &executable, const Options &options) {
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    auto sameName = [&](const auto &other) { return other.name == options.inputs[i].name; };
    if (std::none_of(executable.inputs().begin(), executable.inputs().end(), sameName))
      return Status::invalidArgument("there is no input '" + options.inputs[i].name + "'; inputs are " +
                                     namesOf(executable.inputs()));
    if (std::any_of(options.inputs.begin(), options.inputs.begin() + i, sameName))
      return Status::invalidArgument("input '" + options.inputs[i].name + "' is given twice");
  }
  return Status::ok();
}

/// Finds every input, and compares its type by the header of its file.
Result<std::vector<PlannedInput>> planInputs(const Executable &executable, const Options &options) {
  ZYX_RETURN_IF_ERROR(checkNames(executable, options));
  std::shared_ptr<const io::SafetensorsFile> file;
  if (!options.inputsFile.empty()) {
    const auto limit = [](std::span<const std::byte>) { return tools::memoryForStreams(); };
    ZYX_ASSIGN_OR_RETURN(ReadOnlyFile opened, tools::openInput(options.inputsFile, limit));
    ZYX_ASSIGN_OR_RETURN(io::SafetensorsFile read, io::SafetensorsFile::open(std::move(opened)));
    file = std::make_shared<io::SafetensorsFile>(std::move(read));
  }
  std::vector<PlannedInput> inputs;
  for (const Argument &input : executable.inputs()) {
    auto spec = std::find_if(options.inputs.begin(), options.inputs.end(),
                             [&](const InputSpec &given) { return given.name == input.name; });
    const InputSpec inFile = {input.name, options.inputsFile, input.name, {}};
    if (spec != options.inputs.end()) {
      ZYX_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(*spec, input));
      inputs.push_back({source.type(), std::move(source)});
    } else if (file && (file->find(input.name) || file->unsupported().contains(input.name))) {
      ZYX_ASSIGN_OR_RETURN(TensorSource source, TensorSource::open(file, inFile, input));
      inputs.push_back({source.type(), std::move(source)});
    } else if (!options.random) {
      return Status::invalidArgument("input '" + input.name + "' is missing; it is " + toString(input.type));
    } else if (input.type.isSymbolic()) {
      return Status::invalidArgument("input '" + input.name + "' is " + toString(input.type) +
                                     ": random numbers need --bind for its symbols");
    } else {
      inputs.push_back({input.type, std::nullopt});
    }
  }
  return inputs;
}

Result<std::vector<HostTensor>> readInputs(const Executable &executable, const Options &options) {
  ZYX_ASSIGN_OR_RETURN(const std::vector<PlannedInput> planned, planInputs(executable, options));
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < planned.size(); ++i) {
    const auto &[type, source] = planned[i];
    const std::string wanted = "input '" + executable.inputs()[i].name + "', " + toString(type);
    ZYX_RETURN_IF_ERROR(tools::orOutOfMemory(wanted, [&]() -> Status {
      ZYX_ASSIGN_OR_RETURN(HostTensor tensor, source ? source->read() : randomTensor(type, *options.random + i));
      tensors.push_back(std::move(tensor));
      return Status::ok();
    }));
  }
  return tensors;
}

constexpr const char *outputForm = "--output=NAME=FILE";

/// `form` is how the user says which one.
Result<size_t> findOutput(const Executable &executable, const std::string &name, const char *form) {
  const std::vector<Argument> &outputs = executable.outputs();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == name || (name.empty() && outputs.size() == 1))
      return i;
  if (name.empty())
    return Status::invalidArgument("say which output as " + std::string(form) + ": " + namesOf(outputs));
  return Status::invalidArgument("there is no output '" + name + "'; outputs are " + namesOf(outputs));
}

Result<HostTensor> readOutput(Executable &executable, size_t index) {
  const Argument &output = executable.outputs()[index];
  HostTensor tensor;
  ZYX_RETURN_IF_ERROR(tools::orOutOfMemory("output '" + output.name + "', " + toString(output.type), [&]() -> Status {
    ZYX_ASSIGN_OR_RETURN(tensor, executable.readOutput(index));
    return Status::ok();
  }));
  return tensor;
}

/// What `--print` prints: text, or an output.
struct PrintedPart {
  std::string text;
  std::optional<size_t> output;
};

/// Of each output its name, type and values, or the template.
Result<std::vector<PrintedPart>> planPrint(const Executable &executable, const std::string &format) {
  std::vector<PrintedPart> parts;
  if (format.empty()) {
    for (size_t i = 0; i < executable.outputs().size(); ++i) {
      const Argument &output = executable.outputs()[i];
      parts.push_back({output.name + ": " + toString(output.type) + "\n", i});
      parts.push_back({"\n", std::nullopt});
    }
    return parts;
  }
  size_t at = 0;
  for (;;) {
    const size_t open = format.find('{', at);
    const size_t close = open == std::string::npos ? open : format.find('}', open);
    if (close == std::string::npos) {
      parts.push_back({format.substr(at) + "\n", std::nullopt});
      return parts;
    }
    ZYX_ASSIGN_OR_RETURN(const size_t index,
                         findOutput(executable, format.substr(open + 1, close - open - 1), "--print={NAME}"));
    parts.push_back({format.substr(at, open - at), index});
    at = close + 1;
  }
}

Status print(Executable &executable, const std::string &format) {
  ZYX_ASSIGN_OR_RETURN(const std::vector<PrintedPart> parts, planPrint(executable, format));
  for (const PrintedPart &part : parts) {
    tools::print(part.text);
    if (!part.output)
      continue;
    ZYX_ASSIGN_OR_RETURN(const HostTensor tensor, readOutput(executable, *part.output));
    tools::print(io::toString(tensor));
  }
  return Status::ok();
}

/// The files of outputs: open before the run, so that what can fail does so before there is anything to lose.
class OutputWriter {
public:
  Status open(const Executable &executable, const Options &options) {
    for (const OutputSpec &spec : options.outputs) {
      ZYX_ASSIGN_OR_RETURN(const size_t index, findOutput(executable, spec.name, outputForm));
      ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(spec.file));
      ZYX_ASSIGN_OR_RETURN(std::string header, io::npyHeader(executable.outputs()[index].type));
      files.push_back({index, std::move(header), std::move(file)});
    }
    if (!options.outputsFile.empty()) {
      std::vector<std::pair<std::string, TensorType>> types;
      for (const Argument &output : executable.outputs())
        types.emplace_back(output.name, output.type);
      ZYX_ASSIGN_OR_RETURN(io::SafetensorsWriter writer, io::SafetensorsWriter::create(options.outputsFile, types));
      all = std::make_unique<io::SafetensorsWriter>(std::move(writer));
    }
    if (!files.empty() || all)
      piece.resize(pieceBytes);
    return Status::ok();
  }

  /// All files are written before the first gets its name.
  Status write(Executable &executable) {
    for (NpyOutput &output : files) {
      ZYX_RETURN_IF_ERROR(output.file.write(std::as_bytes(std::span(output.header))));
      ZYX_RETURN_IF_ERROR(executable.streamOutput(
          output.index, piece, [&](std::span<const std::byte> part) { return output.file.write(part); }));
    }
    if (all)
      for (const size_t index : all->order())
        ZYX_RETURN_IF_ERROR(
            executable.streamOutput(index, piece, [&](std::span<const std::byte> part) { return all->write(part); }));
    for (NpyOutput &output : files)
      ZYX_RETURN_IF_ERROR(output.file.commit());
    return all ? all->commit() : Status::ok();
  }

private:
  struct NpyOutput {
    size_t index;
    std::string header;
    AtomicFile file;
  };
  static constexpr size_t pieceBytes = size_t(4) << 20;
  std::vector<NpyOutput> files;
  std::unique_ptr<io::SafetensorsWriter> all;
  /// Of an output on its way: taken before the run, as there may be no memory behind it.
  std::vector<std::byte> piece;
};

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::string timesText(const Executable &executable, std::vector<double> runs) {
  std::sort(runs.begin(), runs.end());
  char text[256];
  std::snprintf(text, sizeof(text), "kernels: %zu, in %zu launches\nrun: %.4f ms, median of %zu (%.4f to %.4f)\n",
                executable.numKernels, executable.numLaunches, runs[runs.size() / 2], runs.size(), runs.front(),
                runs.back());
  return "compile: " + session::toString(executable.stages) + "\n" + text;
}

/// What no file that is written may be.
Status claimOutputs(const Options &options) {
  tools::OutputFiles files;
  files.protect(options.file, "the program");
  for (const OutputSpec &output : options.outputs)
    ZYX_RETURN_IF_ERROR(files.claim(output.text, output.file));
  if (!options.outputsFile.empty())
    ZYX_RETURN_IF_ERROR(files.claim("--outputs=" + options.outputsFile, options.outputsFile));
  // An output may follow the input that it is made of; a trace is no tensor.
  for (const InputSpec &input : options.inputs)
    files.protect(input.file, "the input '" + input.name + "'");
  files.protect(options.inputsFile, "the inputs");
  return options.trace.empty() ? Status::ok() : files.claim("--trace=" + options.trace, options.trace);
}

session::SessionOptions sessionOptions(const Options &options, const Config &config) {
  session::SessionOptions made = session::SessionOptions::from(config);
  if (options.cacheFolder)
    made.cacheFolder = options.cacheFolder;
  if (options.noCache)
    made.cacheFolder.reset();
  made.tune |= options.tune;
  if (options.isolate)
    made.isolation.emplace();
  if (!options.isa.empty())
    made.isa = options.isa;
  return made;
}

/// "1.50 GiB".
std::string gibibytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

/// One indented line for each fact that is known.
void printFacts(const runtime::DeviceFacts &facts) {
  auto print = [](const char *name, const std::string &text) {
    if (!text.empty())
      std::printf("           %-10s %s\n", name, text.c_str());
  };
  auto number = [](const char *before, uint64_t number, const char *unit) {
    return number ? before + std::to_string(number) + unit : std::string();
  };
  print("target", facts.target + (facts.architecture.empty() ? "" : ", " + facts.architecture));
  print("identity", facts.identity);
  print("compute", number("", facts.processors, " processors") + number(" of ", facts.lanes, " lanes of f32") +
                       number(" at ", facts.megahertz, " MHz"));
  print("memory", gibibytes(facts.memoryBytes) +
                      (facts.freeBytes ? ", of which " + gibibytes(*facts.freeBytes) + " are free" : ""));
  print("limits", "buffers aligned to " + std::to_string(facts.alignment) + " bytes" +
                      number("; workgroups of ", facts.workgroupThreads, " threads") +
                      number(" and ", facts.sharedBytes, " bytes of shared memory") +
                      number(", subgroups of ", facts.subgroupThreads, " threads"));
  std::string dtypes;
  for (DType dtype : facts.dtypes)
    dtypes += (dtypes.empty() ? "" : " ") + std::string(toString(dtype));
  print("dtypes", dtypes);
}

void printDevices() {
  for (session::DeviceListing &device : Session::listDevices()) {
    std::printf("%-10s %-8s %s\n", device.name.c_str(), device.present ? "present" : "absent",
                device.description.c_str());
    if (!device.present)
      continue;
    // How much of a card's memory is free, it tells where it is open.
    if (!device.facts.freeBytes && !session::findGraphDevice(device.name))
      if (const Result<std::shared_ptr<runtime::Device>> open = runtime::createDevice(device.name))
        device.facts = (*open)->facts();
    printFacts(device.facts);
  }
}

Status runProgram(const Options &options, const Config &config) {
  if (options.listDevices) {
    runtime::loadBackends(config.backends);
    printDevices();
    return Status::ok();
  }
  ZYX_RETURN_IF_ERROR(claimOutputs(options));
  Session session(sessionOptions(options, config));
  Trace trace;
  if (!options.trace.empty())
    session.callbacks.trace = &trace;
  Source source;
  ZYX_RETURN_IF_ERROR(tools::orOutOfMemory("'" + options.file + "'", [&] { return readSource(options, source); }));
  if (options.list)
    return list(session, source, options);
  std::unique_ptr<Executable> executable;
  {
    tools::ProgressLine line(options.progress);
    session.callbacks.progress = line.callback();
    ZYX_ASSIGN_OR_RETURN(executable, prepare(session, std::move(source), options, config));
    session.callbacks.progress = nullptr;
  }
  // What is wrong with the names of outputs is said before anything is read.
  for (const OutputSpec &spec : options.outputs)
    ZYX_RETURN_IF_ERROR(findOutput(*executable, spec.name, outputForm).status());
  if (options.print)
    ZYX_RETURN_IF_ERROR(planPrint(*executable, options.printTemplate).status());
  ZYX_ASSIGN_OR_RETURN(std::vector<HostTensor> inputs, readInputs(*executable, options));
  ZYX_RETURN_IF_ERROR(executable->setInputs(std::move(inputs)));
  OutputWriter writer;
  ZYX_RETURN_IF_ERROR(writer.open(*executable, options));
  std::optional<AtomicFile> traceFile;
  if (!options.trace.empty()) {
    ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(options.trace));
    traceFile.emplace(std::move(file));
  }

  std::vector<double> runs;
  for (int64_t i = 0; i < options.repeat; ++i) {
    Clock::time_point begin = Clock::now();
    ZYX_RETURN_IF_ERROR(options.trace.empty() ? executable->run() : executable->run(trace));
    runs.push_back(milliseconds(Clock::now() - begin));
  }

  ZYX_RETURN_IF_ERROR(writer.write(*executable));
  if (traceFile) {
    const std::string text = io::encodeTrace(trace);
    ZYX_RETURN_IF_ERROR(traceFile->write(std::as_bytes(std::span(text))));
    ZYX_RETURN_IF_ERROR(traceFile->commit());
  }
  if (options.remarks)
    tools::print(executable->remarks);
  if (options.print)
    ZYX_RETURN_IF_ERROR(print(*executable, options.printTemplate));
  if (options.time)
    tools::print(timesText(*executable, std::move(runs)));
  return Status::ok();
}

} // namespace

int main(int argc, char **argv) { return tools::runTool("zyx-run", helpText, argc, argv, parseOptions, runProgram); }
