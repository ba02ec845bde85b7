//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Common/Tool.h"

#include "zyx/Base/File.h"
#include "zyx/Runtime/Device.h"
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

  --entry=NAME         the function to compile; needed where the file has several
  --bind=SYMBOL=VALUE  the value of a symbol in the entry's types; once for each symbol
  --target=TARGET      the machine: "cpu" (default), or "c" (C code by the system's compiler)
  --isa=NAME           the instruction set of code for the cpu: "native" (this machine's; default),
                       "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4",
                       "sapphirerapids" or "aarch64"
  -o FILE, --output=FILE
                       where to write; by default beside the input with the suffix .zyxa, and
                       texts to the standard output
  --stop-after=PHASE   write the program's text after a phase instead: graph, groups, kernel,
                       schedule, lowered, plan or target
  --dump-dot=PHASE     write a drawing of the program in the language of Graphviz instead, after
                       graph, groups or plan
  --verify-roundtrip   print and parse the program behind every phase, and fail where that changes it
  --no-optimise        each op a kernel of its own, with no schedule
  --tune               measure the schedules that each kernel may have on the device of this machine
                       that has this target, and compile with the best ones; without it, what was
                       measured before is not looked at
  --time               print the time of each stage, the number of kernels and the size
  --remarks            print what the compiler chose
  --trace=FILE         write what took how long as JSON for Perfetto or chrome://tracing
  --progress=WHEN      show how far the compilation is: auto (in a terminal, after 0.5 s; default),
                       always or never
  --quiet              the same as --progress=never
  --help               print this text

examples:
  zyx-compile digits-knn.mlir --entry=knn --target=cpu -o knn.zyxa --time
  zyx-compile gemm.mlir --stop-after=lowered
  zyx-compile gemm.mlir --dump-dot=groups | dot -Tsvg -o gemm.svg
)";

struct Options {
  std::string file, entry, output, dumpDot, trace, progress = "auto";
  std::vector<std::string> bind;
  session::CompileOptions compile;
  bool tune = false, time = false, remarks = false, quiet = false, help = false;
};

Result<Options> parseOptions(int argc, char **argv) {
  Options options;
  const std::pair<const char *, std::string *> values[] = {
      {"--entry=", &options.entry},
      {"--output=", &options.output},
      {"--target=", &options.compile.target},
      {"--isa=", &options.compile.isa},
      {"--stop-after=", &options.compile.stopAfter},
      {"--dump-dot=", &options.dumpDot},
      {"--trace=", &options.trace},
      {"--progress=", &options.progress}};
  const std::pair<const char *, bool *> flags[] = {
      {"--verify-roundtrip", &options.compile.verifyRoundtrip},
      {"--no-optimise", &options.compile.noOptimise},
      {"--tune", &options.tune},
      {"--time", &options.time},
      {"--remarks", &options.remarks},
      {"--quiet", &options.quiet},
      {"--help", &options.help}};
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    bool known = false;
    for (auto [name, value] : values) {
      if (argument.starts_with(name)) {
        *value = argument.substr(std::string_view(name).size());
        known = true;
      }
    }
    if (argument.starts_with("--bind=")) {
      options.bind.emplace_back(argument.substr(7));
      known = true;
    }
    for (auto [name, flag] : flags)
      if (argument == name)
        *flag = known = true;
    if (argument == "-o" && i + 1 < argc) {
      options.output = argv[++i];
    } else if (!known) {
      if (argument.starts_with("-") || !options.file.empty())
        return Status::invalidArgument("unexpected argument '" + std::string(argument) +
                                       "'; see --help");
      options.file = argument;
    }
  }
  if (options.file.empty() && !options.help)
    return Status::invalidArgument("no file is given; see --help");
  if (!options.dumpDot.empty()) {
    if (!options.compile.stopAfter.empty())
      return Status::invalidArgument("--dump-dot and --stop-after exclude each other");
    options.compile.stopAfter = options.dumpDot;
    options.compile.dumpDot = true;
  }
  return options;
}

/// "dir/name.mlir" -> "dir/name.zyxa".
std::string artifactName(const std::string &file) {
  size_t slash = file.rfind('/'), dot = file.rfind('.');
  bool hasSuffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return file.substr(0, hasSuffix ? dot : file.size()) + ".zyxa";
}

/// The device here that runs code for the target.
Result<std::shared_ptr<runtime::Device>> findDevice(Session &session, const std::string &target) {
  for (const session::DeviceListing &device : Session::listDevices()) {
    if (!device.present || device.name == "reference" || !session.checkEnabled(device.name).isOk())
      continue;
    if (Result<std::string> its = session.targetOf(device.name); its && *its == target)
      return session.device(device.name);
  }
  return Status::unsupported("--tune: no device of this machine has the target '" + target + "'");
}

Status compileFile(const Options &options, const Config &config) {
  ZYX_ASSIGN_OR_RETURN(tools::ProgressMode progress,
                       tools::parseProgressMode(options.quiet ? "never" : options.progress));
  Trace trace;
  session::SessionOptions sessionOptions;
  if (options.tune) {
    sessionOptions = session::SessionOptions::from(config);
    sessionOptions.tune = true;
  }
  Session session(std::move(sessionOptions));
  if (!options.trace.empty())
    session.observers.trace = &trace;
  auto begin = std::chrono::steady_clock::now();
  ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, session.readGraphs(options.file));
  ZYX_ASSIGN_OR_RETURN(graph::Graph graph,
                       session::selectEntry(std::move(graphs), options.entry, options.file,
                                            options.bind));
  std::chrono::nanoseconds parsing = std::chrono::steady_clock::now() - begin;
  session::Compiled compiled;
  {
    tools::ProgressLine line(progress);
    session.observers.progress = line.callback();
    std::shared_ptr<runtime::Device> device;
    if (options.tune) {
      ZYX_ASSIGN_OR_RETURN(device, findDevice(session, options.compile.target));
    }
    ZYX_ASSIGN_OR_RETURN(compiled, session.compile(std::move(graph), options.compile, device));
  }
  ZYX_RETURN_IF_ERROR(tools::writeTrace(trace, options.trace));
  compiled.stages.insert(compiled.stages.begin(),
                         {"parse", static_cast<uint64_t>(parsing.count())});

  if (!options.output.empty())
    ZYX_RETURN_IF_ERROR(writeFileAtomically(options.output, compiled.output));
  else if (options.compile.stopAfter.empty())
    ZYX_RETURN_IF_ERROR(writeFileAtomically(artifactName(options.file), compiled.output));
  else
    std::fwrite(compiled.output.data(), 1, compiled.output.size(), stdout);
  // The text may be on the standard output.
  if (options.remarks)
    std::fputs(compiled.remarks.c_str(), stderr);
  if (options.time)
    std::fprintf(stderr, "compile: %s\nkernels: %zu\nsize: %zu bytes\n",
                 session::toString(compiled.stages).c_str(), compiled.numKernels,
                 compiled.output.size());
  return Status::ok();
}

} // namespace

int main(int argc, char **argv) {
  return tools::runTool("zyx-compile", helpText, parseOptions(argc, argv), compileFile);
}
