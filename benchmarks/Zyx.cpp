//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// zyx by its C surfaces, as a program that embeds it would use it.
#include "Worker.h"

#include "zyx-c/Compiler.h"
#include "zyx-c/Runtime.h"

#include <chrono>
#include <fstream>
#include <iterator>

namespace zyx::bench {
namespace {

void check(zyx_error *error) {
  if (!error)
    return;
  std::string message = zyx_error_get_message(error);
  zyx_error_release(error);
  throw std::runtime_error(message);
}

using CompilerResult = std::unique_ptr<zyx_compiler_result, void (*)(zyx_compiler_result *)>;

CompilerResult check(zyx_compiler_result *result) {
  CompilerResult owned(result, zyx_compiler_result_release);
  if (zyx_compiler_result_code(result) != 0)
    throw std::runtime_error(zyx_compiler_result_message(result));
  return owned;
}

std::string readText(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error(path + ": cannot read");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The artifact of the only entry of a text.
CompilerResult compile(const std::string &text, const std::string &name, nlohmann::json &details) {
  zyx_compiler_parse_args parse = {};
  parse.struct_size = sizeof(parse);
  parse.text = {text.data(), text.size()};
  parse.file_name = name.c_str();
  CompilerResult graphs = check(zyx_compiler_parse(&parse));

  zyx_compiler_compile_args args = {};
  args.struct_size = sizeof(args);
  args.graph = zyx_compiler_result_graph(graphs.get(), 0);
  args.target = "cpu";
  auto began = std::chrono::steady_clock::now();
  CompilerResult result = check(zyx_compiler_compile(&args));
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  details["compile_seconds"].push_back(taken.count());
  details["kernels"] = zyx_compiler_result_num_kernels(result.get());
  return result;
}

/// An artifact with bound inputs and output.
class Program {
public:
  Program(zyx_device *device, const Task &task, nlohmann::json &details) : task(task) {
    const std::string text = readText(task.program);
    for (int64_t left = task.arguments.value("compilations", 1); left > 1; --left)
      compile(text, task.program, details);
    CompilerResult compiled = compile(text, task.program, details);
    zyx_compiler_bytes artifact = zyx_compiler_result_output(compiled.get());
    zyx_executor *loaded = nullptr;
    check(zyx_executor_load_memory(device, artifact.data, artifact.size, &loaded));
    executor.reset(loaded);
    for (size_t i = 0; i < task.inputs.size(); ++i)
      check(zyx_executor_borrow_input(loaded, i, this->task.inputs[i].data(), task.inputs[i].size()));
    check(zyx_executor_borrow_output(loaded, 0, this->task.output.data(), task.output.size()));
  }
  void run() { check(zyx_executor_run(executor.get())); }

private:
  Task task;
  std::unique_ptr<zyx_executor, void (*)(zyx_executor *)> executor{nullptr, zyx_executor_release};
};

} // namespace

Contender zyxContender(unsigned threads, nlohmann::json &details) {
  zyx_device_options options = {};
  options.struct_size = sizeof(options);
  options.threads = threads;
  zyx_device *created = nullptr;
  check(zyx_device_create("cpu", &options, &created));
  std::shared_ptr<zyx_device> device(created, zyx_device_release);
  return {zyx_version(), [device, &details](const Task &task) -> Call {
            auto program = std::make_shared<Program>(device.get(), task, details);
            return [program] { program->run(); };
          }};
}

} // namespace zyx::bench
