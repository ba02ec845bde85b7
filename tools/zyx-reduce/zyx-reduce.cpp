//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../zyx-run/TensorFiles.h"
#include "Common/Files.h"
#include "Common/Tool.h"
#include "lib/Pipelines/DrawnSchedules.h"
#include "smith/WriteProgram.h"
#include "zyx/Base/File.h"
#include "zyx/Base/RandomTensor.h"
#include "zyx/Base/TempFolder.h"
#include "zyx/Session/Session.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace zyx;
using conformance::Optimise;
using conformance::Outcome;
using smith::Failure;
using smith::Program;

namespace {

constexpr const char *help =
    "zyx-reduce: cuts a failing program down while it fails\n"
    "usage: zyx-reduce FILE --output=OUT.mlir [options]\n"
    "A graph fails on a device where its answer is not the interpreter's, where it is refused, or\n"
    "where it ends the process:\n"
    "  --entry=NAME        the function; needed where the file has several\n"
    "  -o, --output=FILE   where to write\n"
    "  --device=NAME       cpu, c, cuda, reference or corrupted (default: cpu)\n"
    "  --isa=NAME          the instruction set of code for cpu (default: native)\n"
    "  --optimise=HOW      default, none, or schedules\n"
    "  --seed=N            what schedules are drawn from (default: 1)\n"
    "  --input=NAME=FILE   a tensor of a .npy or .safetensors file, as for zyx-run\n"
    "  --random=SEED       fills the other inputs (default: 1)\n"
    "Or a program says so:\n"
    "  --test=PROGRAM      run with the name of a file, it exits with another status than 0 while "
    "the\n"
    "                      file shows what is looked for, as for mlir-reduce\n"
    "  -h, --help          print this text\n"
    "  --version           print zyx's version\n"
    "OUT.mlir says how zyx-run replays it; the tensors of its inputs are written beside it.\n";

struct Settings {
  std::string file, out, entry, device = "cpu", isa = "native", test;
  Optimise way = Optimise::Default;
  uint64_t seed = 1, random = 1;
  std::vector<run::InputSpec> inputs;
};

std::vector<tools::Option> optionsOf(Settings &settings) {
  return {
      tools::text("--output", settings.out, "-o"),
      tools::text("--entry", settings.entry),
      tools::text("--device", settings.device),
      tools::text("--isa", settings.isa),
      tools::value("--optimise",
                   [&](std::string_view given) {
                     const std::optional<Optimise> way = conformance::parseOptimise(given);
                     if (!way)
                       return tools::badValue("--optimise", given, "way: default, none or schedules");
                     settings.way = *way;
                     return Status::ok();
                   }),
      tools::number("--seed", settings.seed, "seed"),
      tools::number("--random", settings.random, "seed"),
      tools::value("--test",
                   [&](std::string_view given) {
                     settings.test = std::filesystem::absolute(given);
                     return Status::ok();
                   }),
      tools::value("--input",
                   [&](std::string_view given) -> Status {
                     ZYX_ASSIGN_OR_RETURN(run::InputSpec spec, run::parseInputSpec(given));
                     settings.inputs.push_back(std::move(spec));
                     return Status::ok();
                   }),
  };
}

Status takeFile(std::string_view given, Settings &settings) {
  if (!settings.file.empty())
    return tools::noOperand(given);
  settings.file = given;
  return Status::ok();
}

Result<Program> readProgram(graph::Graph graph, const Settings &settings) {
  Program program{std::move(graph), {}};
  for (size_t i = 0; i < program.graph.inputs.size(); ++i) {
    const graph::Node &node = program.graph.node(program.graph.inputs[i]);
    const std::string &name = node.attributes.name;
    const auto given = std::find_if(settings.inputs.begin(), settings.inputs.end(),
                                    [&](const run::InputSpec &spec) { return spec.name == name; });
    HostTensor value;
    if (given != settings.inputs.end()) {
      ZYX_ASSIGN_OR_RETURN(value, run::readInput(*given, {name, node.type}));
    } else {
      ZYX_ASSIGN_OR_RETURN(value, zyx::randomTensor(node.type, settings.random + i));
    }
    program.tensors.push_back(std::move(value));
  }
  return program;
}

/// Whether the user's program fails on a graph's text.
bool failsTest(const Program &program, const std::string &test, const TempFolder &folder) {
  const std::string path = folder.file("candidate.mlir"), text = smith::toText(program.graph);
  const auto *begin = reinterpret_cast<const std::byte *>(text.data());
  if (!writeFileAtomically(path, {begin, text.size()}).isOk())
    return false;
  const pid_t child = fork();
  if (child == 0) {
    execl(test.c_str(), test.c_str(), path.c_str(), nullptr);
    _exit(0); // a program that cannot be run shows nothing
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

Status reduceByTest(Program program, const Settings &settings) {
  ZYX_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::create());
  if (!failsTest(program, settings.test, folder))
    return Status::invalidArgument(settings.file + ": the test does not fail on the whole file");
  program = smith::reduceProgram(std::move(program),
                                 [&](const Program &candidate) { return failsTest(candidate, settings.test, folder); });
  std::printf("cut down to %zu nodes\n", program.graph.reachable().size());
  return smith::writeProgram(program, settings.out, settings.device, settings.test + " fails on it");
}

Status reduceByDevice(Program program, const Settings &settings) {
  const auto make = [&] {
    std::unique_ptr<conformance::Device> device =
        settings.device == "corrupted" ? conformance::openCorrupted()
                                       : conformance::openDevice(settings.device, settings.way, settings.isa,
                                                                 /*hasWeights=*/true, "", test::compileDrawn);
    device->setSeed(settings.seed);
    return device;
  };
  constexpr unsigned seconds = 120;
  const Failure failure = smith::runInChild(program, make, seconds);
  if (failure.outcome == Outcome::Pass)
    return Status::invalidArgument(settings.file + ": does not fail on '" + settings.device + "'");
  program = smith::reduceProgram(std::move(program), [&](const Program &candidate) {
    return smith::isSameFailure(smith::runInChild(candidate, make, seconds), failure);
  });
  const std::string text = smith::runInChild(program, make, seconds).text;
  std::printf("cut down to %zu nodes: %s\n", program.graph.reachable().size(), text.c_str());
  return smith::writeProgram(program, settings.out,
                             settings.device + (settings.isa == "native" ? "" : " --isa=" + settings.isa),
                             "optimise=" + std::string(conformance::toString(settings.way)) +
                                 ", seed=" + std::to_string(settings.seed) + "\n" + text);
}

Status reduceFile(const Settings &settings) {
  tools::OutputFiles files;
  files.protect(settings.file, "the program");
  for (const run::InputSpec &input : settings.inputs)
    files.protect(input.file, "the input '" + input.name + "'");
  ZYX_RETURN_IF_ERROR(files.claim("--output=" + settings.out, settings.out));
  session::Session session;
  ZYX_ASSIGN_OR_RETURN(const std::vector<std::byte> text, tools::readProgram(settings.file));
  ZYX_ASSIGN_OR_RETURN(std::vector<graph::Graph> graphs, session.parseGraphs(text, settings.file));
  ZYX_ASSIGN_OR_RETURN(graph::Graph graph, session::selectEntry(std::move(graphs), settings.entry, settings.file));
  ZYX_ASSIGN_OR_RETURN(Program program, readProgram(std::move(graph), settings));
  return settings.test.empty() ? reduceByDevice(std::move(program), settings)
                               : reduceByTest(std::move(program), settings);
}

} // namespace

static int runReduce(int argc, char **argv) {
  Settings settings;
  const auto take = [&](std::string_view given) { return takeFile(given, settings); };
  if (const auto code = tools::parseOrAnswer("zyx-reduce", help, argc, argv, optionsOf(settings), take))
    return *code;
  if (settings.file.empty() || settings.out.empty()) {
    std::fprintf(stderr, "zyx-reduce: needs a file, and -o\n%s", help);
    return 2;
  }
  return tools::finish("zyx-reduce", reduceFile(settings));
}

int main(int argc, char **argv) {
  return tools::runMain("zyx-reduce", [&] { return runReduce(argc, argv); });
}
