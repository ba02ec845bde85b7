//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Program.h"

#include "zyx-c/Compiler.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace zyx::bench {
namespace {

void check(zyx_error *error) {
  if (!error)
    return;
  std::fprintf(stderr, "%s\n", zyx_error_get_message(error));
  std::exit(1);
}

zyx_compiler_result *check(zyx_compiler_result *result) {
  if (zyx_compiler_result_code(result) == 0)
    return result;
  std::fprintf(stderr, "%s\n", zyx_compiler_result_message(result));
  std::exit(1);
}

} // namespace

Compiled compile(const std::string &text, const std::string &name, int repeat) {
  zyx_compiler_parse_args parse = {};
  parse.struct_size = sizeof(parse);
  parse.text = {text.data(), text.size()};
  parse.file_name = name.c_str();
  zyx_compiler_result *graphs = check(zyx_compiler_parse(&parse));

  zyx_compiler_compile_args args = {};
  args.struct_size = sizeof(args);
  args.graph = zyx_compiler_result_graph(graphs, 0);
  args.target = "cpu";
  Compiled compiled;
  for (int i = 0; i < repeat; ++i) {
    auto began = std::chrono::steady_clock::now();
    zyx_compiler_result *result = check(zyx_compiler_compile(&args));
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    compiled.seconds.push_back(taken.count());
    zyx_compiler_bytes output = zyx_compiler_result_output(result);
    const char *bytes = static_cast<const char *>(output.data);
    compiled.artifact.assign(bytes, bytes + output.size);
    compiled.kernels = zyx_compiler_result_num_kernels(result);
    zyx_compiler_result_release(result);
  }
  zyx_compiler_result_release(graphs);
  return compiled;
}

Program::Program(const Compiled &compiled, const std::vector<std::vector<float> *> &inputs,
                 size_t outputSize)
    : result(outputSize) {
  zyx_device_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 1;
  check(zyx_device_create("cpu", &options, &device));
  check(zyx_executor_load_memory(device, compiled.artifact.data(), compiled.artifact.size(),
                                 &executor));
  for (size_t i = 0; i < inputs.size(); ++i)
    check(zyx_executor_borrow_input(executor, i, inputs[i]->data(),
                                    inputs[i]->size() * sizeof(float)));
  check(zyx_executor_borrow_output(executor, 0, result.data(), outputSize * sizeof(float)));
}

Program::~Program() {
  zyx_executor_release(executor);
  zyx_device_release(device);
}

void Program::run() { check(zyx_executor_run(executor)); }

} // namespace zyx::bench
