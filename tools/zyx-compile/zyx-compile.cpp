//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Common/Files.h"
#include "Common/Tool.h"

#include "zyx/Artifact/CSource.h"
#include "zyx/Base/File.h"
#include "zyx/IO/TraceFile.h"
#include "zyx/Runtime/Device.h"
#include "zyx/Session/GraphDevice.h"
#include "zyx/Session/Session.h"

#include <chrono>
#include <cstdio>

using namespace zyx;
using session::Session;

namespace {

const char *const helpText = R"(zyx-compile: compiles a tensor program

usage: zyx-compile FILE [options]

FILE is MLIR text, of which one entry is compiled to an artifact: the machine code of its kernels
and the plan that launches them. zyx-run runs it, and so does any program that links libZyxRuntime.
"-" is the standard input; pipes are read, too. A value may follow its option behind a space instead
of '='.

  --entry=NAME         the function to compile; needed where the file has several
  --bind=SYMBOL=VALUE  the value of a symbol in the entry's types; once for each symbol
  --target=TARGET      the machine: "cpu" (default), "c" (C code by the system's compiler), "cuda" (any
                       card of NVIDIA's, whose driver assembles the code), or a card's architecture,
                       for which ptxas does: "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", or
                       "sm_90a-fast" (f32 as tf32); or an architecture of AMD's cards: "gfx942", "gfx1100"
                       or "gfx1201"; or "opencl" (OpenCL C, which a device's driver compiles), or
                       "opencl-cpu" (the same for a processor),
                       "vulkan" (SPIR-V), or "webgpu" (WGSL), or one of these three for devices with
                       ops of subgroups: "opencl-subgroups", "vulkan-subgroups", "webgpu-subgroups"
  --isa=NAME           the instruction set of code for the cpu: "native" (this machine's; default),
                       "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4",
                       "sapphirerapids" or "aarch64"
  -o FILE, --output=FILE
                       where to write, "-" for the standard output; by default beside the input
                       with the suffix .zyxa or .c, and texts to the standard output
  --stop-after=PHASE   write the program's text after a phase instead: graph, groups, kernel,
                       schedule, lowered, plan or target
  --dump-dot=PHASE     write a drawing of the program in the language of Graphviz instead, after
                       graph, groups or plan
  --source             write one C source of the whole program instead, for the target c
  --verify-roundtrip   print and parse the program behind every phase, and fail where that changes it
  --no-optimise        each op a kernel of its own, with no schedule
  --fusion=HOW         which ops share kernels: weighed (where that is estimated to pay; default), all
                       (as many as can) or none
  --tune               measure the schedules that each kernel may have on the device of this machine
                       that has this target, and compile with the best ones; without it, what was
                       measured before is not looked at
  --time               print the time of each stage, the number of kernels and the size
  --remarks            print what the compiler chose
  --trace=FILE         write what took how long as JSON for Perfetto or chrome://tracing
  --progress=WHEN      show how far the compilation is: auto (in a terminal, after 0.5 s; default),
                       always or never
  --quiet              the same as --progress=never
  -h, --help           print this text
  --version            print zyx's version

examples, in the root of the repository:
  zyx-compile examples/digits-knn.mlir --entry=knn --target=cpu -o knn.zyxa --time
  zyx-compile examples/matmul.mlir --stop-after=lowered
  zyx-compile examples/matmul.mlir --dump-dot=groups | dot -Tsvg -o matmul.svg
)";

struct Options : tools::ProgramOptions {
  std::string output, dumpDot;
  session::CompileOptions compile;
};

Result<Options> parseOptions(int argc, char **argv) {
  Options options;
  ZYX_RETURN_IF_ERROR(options.parse(argc, argv,
                                    {
                                        tools::text("--target", options.compile.target),
                                        tools::text("--isa", options.compile.isa),
                                        tools::text("--output", options.output, "-o"),
                                        tools::text("--stop-after", options.compile.stopAfter),
                                        tools::text("--dump-dot", options.dumpDot),
                                        tools::flag("--source", options.compile.cSource),
                                        tools::flag("--verify-roundtrip", options.compile.verifyRoundtrip),
                                        tools::flag("--no-optimise", options.compile.noOptimise),
                                        tools::text("--fusion", options.compile.fusion),
                                    }));
  if (options.asked.help || options.asked.version)
    return options;
  if (options.file.empty())
    return Status::invalidArgument("no file is given; see --help");
  if (options.compile.cSource && (!options.compile.stopAfter.empty() || !options.dumpDot.empty()))
    return Status::invalidArgument("--source is of the whole program, and excludes --stop-after and --dump-dot");
  if (!options.dumpDot.empty()) {
    if (!options.compile.stopAfter.empty())
      return Status::invalidArgument("--dump-dot and --stop-after exclude each other");
    options.compile.stopAfter = options.dumpDot;
    options.compile.dumpDot = true;
  }
  return options;
}

/// "dir/name.mlir" -> "dir/name.zyxa".
std::string besideName(const std::string &file, const char *suffix) {
  size_t slash = file.rfind('/'), dot = file.rfind('.');
  bool hasSuffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return file.substr(0, hasSuffix ? dot : file.size()) + suffix;
}

/// The device here that runs code for the target.
Result<std::shared_ptr<runtime::Device>> findDevice(Session &session, const std::string &target) {
  for (const session::DeviceListing &device : Session::listDevices()) {
    if (!device.present || session::findGraphDevice(device.name) || !session.checkEnabled(device.name).isOk())
      continue;
    if (Result<std::string> its = session.targetOf(device.name); its && *its == target)
      return session.device(device.name);
  }
  return Status::unsupported("--tune: no device of this machine has the target '" + target + "'");
}

/// Where the output goes: a file, or "-".
Result<std::string> outputName(const Options &options) {
  if (!options.output.empty())
    return options.output;
  if (!options.compile.stopAfter.empty())
    return "-";
  if (tools::isStream(options.file))
    return Status::invalidArgument(options.file + ": needs --output=FILE, or '--output=-' for the standard output");
  return besideName(options.file, options.compile.cSource ? ".c" : ".zyxa");
}

/// A file that is written, open before anything is compiled; none for "-" and "".
Status openOutput(const std::string &path, std::optional<AtomicFile> &file) {
  if (path.empty() || path == "-")
    return Status::ok();
  ZYX_ASSIGN_OR_RETURN(AtomicFile opened, AtomicFile::create(path));
  file.emplace(std::move(opened));
  return Status::ok();
}

Status writeOutput(std::span<const std::byte> bytes, std::optional<AtomicFile> &file) {
  if (!file) {
    // What does not get there is found at the end of main.
    tools::print({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    return Status::ok();
  }
  ZYX_RETURN_IF_ERROR(file->write(bytes));
  return file->commit();
}

Status compileFile(const Options &options, const Config &config) {
  tools::OutputFiles claimed;
  claimed.protect(options.file, "the program");
  ZYX_ASSIGN_OR_RETURN(const std::string output, outputName(options));
  if (output != "-")
    ZYX_RETURN_IF_ERROR(claimed.claim("--output=" + output, output));
  if (!options.trace.empty())
    ZYX_RETURN_IF_ERROR(claimed.claim("--trace=" + options.trace, options.trace));
  Trace trace;
  session::SessionOptions sessionOptions;
  if (options.tune) {
    sessionOptions = session::SessionOptions::from(config);
    sessionOptions.tune = true;
  }
  Session session(std::move(sessionOptions));
  if (!options.trace.empty())
    session.callbacks.trace = &trace;
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::byte> text;
  ZYX_RETURN_IF_ERROR(tools::orOutOfMemory("'" + options.file + "'", [&]() -> Status {
    ZYX_ASSIGN_OR_RETURN(text, tools::readProgram(options.file));
    return Status::ok();
  }));
  ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, session.parseGraphs(text, options.file));
  ZYX_ASSIGN_OR_RETURN(graph::Graph graph,
                       session::selectEntry(std::move(graphs), options.entry, options.file, options.bind));
  std::chrono::nanoseconds parsing = std::chrono::steady_clock::now() - begin;
  std::optional<AtomicFile> outputFile, traceFile;
  ZYX_RETURN_IF_ERROR(openOutput(output, outputFile));
  ZYX_RETURN_IF_ERROR(openOutput(options.trace, traceFile));
  session::Compiled compiled;
  {
    tools::ProgressLine line(options.progress);
    session.callbacks.progress = line.callback();
    std::shared_ptr<runtime::Device> device;
    if (options.tune) {
      ZYX_ASSIGN_OR_RETURN(device, findDevice(session, options.compile.target));
    }
    ZYX_ASSIGN_OR_RETURN(compiled, session.compile(std::move(graph), options.compile, device));
  }
  compiled.stages.insert(compiled.stages.begin(), {"parse", static_cast<uint64_t>(parsing.count())});
  if (options.compile.cSource) {
    ZYX_ASSIGN_OR_RETURN(const artifact::Artifact program, compiled.readArtifact());
    ZYX_ASSIGN_OR_RETURN(const std::string source, artifact::printCSource(program));
    const auto bytes = std::as_bytes(std::span(source));
    compiled.output.assign(bytes.begin(), bytes.end());
  }
  ZYX_RETURN_IF_ERROR(writeOutput(compiled.output, outputFile));
  if (traceFile) {
    const std::string events = io::encodeTrace(trace);
    ZYX_RETURN_IF_ERROR(writeOutput(std::as_bytes(std::span(events)), traceFile));
  }
  // The text may be on the standard output.
  if (options.remarks)
    std::fputs(compiled.remarks.c_str(), stderr);
  if (options.time)
    std::fprintf(stderr, "compile: %s\nkernels: %zu\nsize: %zu bytes\n", session::toString(compiled.stages).c_str(),
                 compiled.numKernels, compiled.output.size());
  return Status::ok();
}

} // namespace

int main(int argc, char **argv) {
  return tools::runTool("zyx-compile", helpText, argc, argv, parseOptions, compileFile);
}
