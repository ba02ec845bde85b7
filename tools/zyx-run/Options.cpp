//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "Common/CommandLine.h"

using namespace zyx;
using namespace zyx::run;

const char *const run::helpText = R"(zyx-run: runs a tensor program

usage: zyx-run FILE [options]

FILE is MLIR text (.mlir), of which one entry is compiled and run, or an artifact that zyx-compile
wrote (.zyxa).

What to run, and where:
  --entry=NAME              the function to run; needed where the file has several
  --device=DEVICE           "cpu" (machine code), "c" (C code by the system's compiler) or
                            "reference" (an interpreter). Default: device of the configuration or
                            ZYX_DEVICE, or else cpu; what an artifact was compiled for
  --isa=NAME                the instruction set of code for the cpu: "native" (default), "x86-64",
                            "x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4", "sapphirerapids",
                            "aarch64"
  --bind=SYMBOL=VALUE       the value of a symbol in the entry's types, instead of what the inputs'
                            extents make it; once for each symbol
  --list                    print the entries of FILE with their inputs and outputs, and stop
  --list-devices            print every device, and why an absent one is absent, and stop

Compiled programs are kept, so that they are compiled once:
  --cache-dir=FOLDER        where. Default: cache_dir of the configuration or ZYX_CACHE_DIR ("off"
                            for nowhere), or else zyx in XDG_CACHE_HOME or in ~/.cache
  --no-cache                compile, and keep nothing
  --tune                    measure the schedules that each kernel may have on the device, and keep the
                            best ones there for all programs with these kernels. Default: tune of
                            the configuration or ZYX_TUNE
  --isolate                 read and compile FILE in a child process of limited time and memory;
                            FILE may then be MLIR bytecode

Data:
  --input=NAME=FILE[:TENSOR][[BEGIN:END]]
                            read an input from a .npy file or from a tensor of a .safetensors file,
                            or from its rows BEGIN to END - 1
  --inputs=FILE             read the other inputs from the tensors of their names in a .safetensors
                            file, as far as they are there
  --random=SEED             fill the inputs that are not given with reproducible numbers
  --output=[NAME=]FILE      write an output to a .npy file
  --print                   print the outputs as NumPy prints arrays
  --print=TEXT              print TEXT, with {NAME} replaced by the output of that name

Measuring:
  --repeat=N                run N times
  --time                    print the time of each stage of the compilation, the number of kernels,
                            and the time of a run: the median of N, the shortest and the longest
  --remarks                 print what the compiler chose
  --trace=FILE              write what took how long, of the compilation and of every launch, as JSON
                            for Perfetto or chrome://tracing
  --progress=WHEN           show how far a compilation is: auto (in a terminal, after 0.5 s; default),
                            always or never
  --quiet                   the same as --progress=never

  --help                    print this text

examples:
  zyx-run softmax.mlir --input=x=logits.npy --output=probabilities.npy
  zyx-run digits-knn.mlir --entry=knn --device=reference --print='{correct} of {total} correct' \
    --input='test_images=digits.safetensors:images[1000:1797]' ...
  zyx-run gemm.mlir --random=1 --repeat=100 --time
)";

static Status badValue(std::string_view option, std::string_view value, const char *wanted) {
  return Status::invalidArgument("--" + std::string(option) + "=" + std::string(value) +
                                 ": is no " + wanted);
}

static Status addOutput(std::string_view value, Options &options) {
  size_t equals = value.find('=');
  OutputSpec spec;
  if (equals != std::string_view::npos)
    spec.name = value.substr(0, equals);
  spec.file = value.substr(equals == std::string_view::npos ? 0 : equals + 1);
  if (!spec.file.ends_with(".npy"))
    return badValue("output", value, "name of a .npy file");
  options.outputs.push_back(std::move(spec));
  return Status::ok();
}

/// An option with a value, as `--name=value`.
static Status setOption(std::string_view name, std::string_view value, Options &options) {
  if (name == "entry")
    options.entry = value;
  else if (name == "device")
    options.device = value;
  else if (name == "isa") {
    if (value.empty())
      return badValue(name, value, "instruction set");
    options.isa = value;
  } else if (name == "bind")
    options.bind.emplace_back(value);
  else if (name == "trace")
    options.trace = value;
  else if (name == "progress") {
    ZYX_ASSIGN_OR_RETURN(options.progress, tools::parseProgressMode(value));
  } else if (name == "input") {
    ZYX_ASSIGN_OR_RETURN(InputSpec spec, parseInputSpec(value));
    options.inputs.push_back(std::move(spec));
  } else if (name == "inputs") {
    options.inputsFile = value;
  } else if (name == "output")
    return addOutput(value, options);
  else if (name == "print") {
    options.print = true;
    options.printTemplate = value;
  } else if (name == "random") {
    if (!tools::parseNumber(value, options.random.emplace()))
      return badValue(name, value, "seed");
  } else if (name == "repeat") {
    if (!tools::parsePositive(value, options.repeat))
      return badValue(name, value, "number of runs");
  } else if (name == "cache-dir") {
    if (value.empty())
      return badValue(name, value, "folder");
    options.cacheFolder = value;
  } else
    return Status::invalidArgument("unknown option '--" + std::string(name) + "'; see --help");
  return Status::ok();
}

static bool *findFlag(std::string_view name, Options &options) {
  if (name == "print")
    return &options.print;
  if (name == "time")
    return &options.time;
  if (name == "remarks")
    return &options.remarks;
  if (name == "no-cache")
    return &options.noCache;
  if (name == "tune")
    return &options.tune;
  if (name == "quiet")
    return &options.quiet;
  if (name == "isolate")
    return &options.isolate;
  if (name == "list")
    return &options.list;
  if (name == "list-devices")
    return &options.listDevices;
  if (name == "help")
    return &options.help;
  return nullptr;
}

Result<Options> run::parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("--")) {
      if (!options.file.empty() || argument.starts_with("-"))
        return Status::invalidArgument("unexpected argument '" + std::string(argument) +
                                       "'; see --help");
      options.file = argument;
      continue;
    }
    argument.remove_prefix(2);
    size_t equals = argument.find('=');
    std::string_view name = argument.substr(0, equals);
    if (equals != std::string_view::npos) {
      ZYX_RETURN_IF_ERROR(setOption(name, argument.substr(equals + 1), options));
    } else if (bool *flag = findFlag(name, options)) {
      *flag = true;
    } else {
      return Status::invalidArgument("option '--" + std::string(name) +
                                     "' is unknown or lacks '=VALUE'; see --help");
    }
  }
  if (options.file.empty() && !options.help && !options.listDevices)
    return Status::invalidArgument("no file is given; see --help");
  return options;
}
