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
wrote (.zyxa). "-" is the standard input, of either kind; pipes are read, too. A value may follow its
option behind a space instead of '='.

What to run, and where:
  --entry=NAME              the function to run; needed where the file has several
  --device=DEVICE           "cpu" (machine code), "c" (C code by the system's compiler), "cuda" or
                            "cuda:N" (a card of NVIDIA's), "hip" or "hip:N" (one of AMD's),
                            "opencl" or "opencl:N" (one of OpenCL's), "vulkan" or "vulkan:N" (one of
                            Vulkan's), "webgpu" or "webgpu:N" (an adapter of WebGPU's), or
                            "reference" (an interpreter).
                            Default: what an artifact was compiled for; else device of the
                            configuration or ZYX_DEVICE, or else the fastest one that is present
  --isa=NAME                the instruction set of code for the cpu: "native" (default), "x86-64",
                            "x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4", "sapphirerapids",
                            "aarch64"
  --bind=SYMBOL=VALUE       the value of a symbol in the entry's types, instead of what the inputs'
                            extents make it; once for each symbol
  --list                    print the entries of FILE with their inputs and outputs, and stop
  --list-devices            print every device with its facts, and why an absent one is absent, and stop

Compiled programs are kept, so that they are compiled once:
  --cache-dir=FOLDER        where. Default: cache_dir of the configuration or ZYX_CACHE_DIR ("off"
                            for nowhere), or else zyx in XDG_CACHE_HOME or in ~/.cache
  --no-cache                compile, and keep nothing
  --tune                    measure the schedules that each kernel may have on the device, and keep the
                            best ones there for all programs with these kernels. Default: tune of
                            the configuration or ZYX_TUNE
  --isolate                 read and compile FILE in a child process of limited time and memory;
                            FILE may then be MLIR bytecode. What the device's driver compiles is
                            loaded by a child process first

Data:
  --input=NAME=FILE[:TENSOR][[BEGIN:END]]
                            read an input from a .npy file or from a tensor of a .safetensors file,
                            or from its rows BEGIN to END - 1. A pipe, or "-", has either
  --inputs=FILE             read the other inputs from the tensors of their names in a .safetensors
                            file, as far as they are there
  --random=SEED             fill the inputs that are not given with reproducible numbers
  -o, --output=[NAME=]FILE  write an output to a .npy file
  --outputs=FILE            write all outputs to a .safetensors file, by their names
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

  -h, --help                print this text
  --version                 print zyx's version

examples, in the root of the repository:
  zyx-run examples/softmax.mlir --random=1 --output=probabilities.npy
  zyx-run examples/digits-knn.mlir --device=reference --print='{correct} of 797 correct' \
    --input='train_images=examples/digits.safetensors:images[0:1000]' \
    --input='train_labels=examples/digits.safetensors:labels[0:1000]' \
    --input='test_images=examples/digits.safetensors:images[1000:1797]' \
    --input='test_labels=examples/digits.safetensors:labels[1000:1797]'
  zyx-run examples/matmul.mlir --random=1 --repeat=100 --time
)";

static Result<OutputSpec> parseOutput(std::string_view value) {
  const size_t equals = value.find('=');
  OutputSpec spec;
  if (equals != std::string_view::npos)
    spec.name = value.substr(0, equals);
  spec.file = value.substr(equals == std::string_view::npos ? 0 : equals + 1);
  spec.text = "--output=" + std::string(value);
  if (!spec.file.ends_with(".npy"))
    return tools::badValue("--output", value,
                           "name of a .npy file; --outputs=FILE.safetensors writes all outputs to one file");
  return spec;
}

static Status checkOptions(const Options &options) {
  if (options.file.empty())
    return Status::invalidArgument("no file is given; see --help");
  const auto isStandardInput = [](const std::string &file) { return file == "-" || file == "/dev/stdin"; };
  size_t readers = isStandardInput(options.file) + isStandardInput(options.inputsFile);
  for (const InputSpec &input : options.inputs)
    readers += isStandardInput(input.file);
  if (readers > 1)
    return Status::invalidArgument("the standard input is read once, not for " + std::to_string(readers) + " files");
  return Status::ok();
}

Result<Options> run::parseOptions(int argc, char **argv) {
  using tools::Option;
  Options options;
  Option output = tools::value("--output", [&](std::string_view given) -> Status {
    ZYX_ASSIGN_OR_RETURN(OutputSpec spec, parseOutput(given));
    options.outputs.push_back(std::move(spec));
    return Status::ok();
  });
  output.letter = "-o";
  Option print = tools::value("--print", [&](std::string_view given) {
    options.print = true;
    options.printTemplate = given;
    return Status::ok();
  });
  print.takes = Option::Takes::MaybeValue;
  std::vector<Option> own = {
      tools::text("--device", options.device),
      tools::text("--isa", options.isa),
      tools::flag("--list", options.list),
      tools::flag("--list-devices", options.listDevices),
      tools::value("--cache-dir",
                   [&](std::string_view given) {
                     options.cacheFolder = given;
                     return Status::ok();
                   }),
      tools::flag("--no-cache", options.noCache),
      tools::flag("--isolate", options.isolate),
      tools::value("--input",
                   [&](std::string_view given) -> Status {
                     ZYX_ASSIGN_OR_RETURN(InputSpec spec, parseInputSpec(given));
                     options.inputs.push_back(std::move(spec));
                     return Status::ok();
                   }),
      tools::text("--inputs", options.inputsFile),
      tools::value("--random",
                   [&](std::string_view given) {
                     return tools::parseNumber(given, options.random.emplace())
                                ? Status::ok()
                                : tools::badValue("--random", given, "seed");
                   }),
      output,
      tools::value("--outputs",
                   [&](std::string_view given) {
                     options.outputsFile = given;
                     return given.ends_with(".safetensors")
                                ? Status::ok()
                                : tools::badValue("--outputs", given, "name of a .safetensors file");
                   }),
      print,
      tools::number<int64_t>("--repeat", options.repeat, "number of runs", 1),
  };
  ZYX_RETURN_IF_ERROR(options.parse(argc, argv, std::move(own)));
  if (!options.asked.help && !options.asked.version && !options.listDevices)
    ZYX_RETURN_IF_ERROR(checkOptions(options));
  return options;
}
