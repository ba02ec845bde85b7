/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/

/* A program that knows zyx by find_package alone: compiles a text and runs what comes out. */

#include "zyx-c/Compiler.h"
#include "zyx-c/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "func.func @twice(%x: tensor<4xf32> {graph.name = \"x\"}) -> (tensor<4xf32> {graph.name = \"y\"}) {\n"
    "  %y = graph.binary add %x, %x : tensor<4xf32>\n"
    "  return %y : tensor<4xf32>\n"
    "}\n";

static void check_compiler(const zyx_compiler_result *result) {
  if (zyx_compiler_result_code(result) != 0) {
    fprintf(stderr, "outside: %s\n", zyx_compiler_result_message(result));
    exit(1);
  }
}

static void check(zyx_error *error) {
  if (error) {
    fprintf(stderr, "outside: %s\n", zyx_error_get_message(error));
    exit(1);
  }
}

int main(void) {
  zyx_compiler_parse_args parse = {sizeof(parse), {text, sizeof(text) - 1}, "twice.mlir"};
  zyx_compiler_result *program = zyx_compiler_parse(&parse);
  check_compiler(program);

  zyx_compiler_compile_args compile;
  memset(&compile, 0, sizeof(compile));
  compile.struct_size = sizeof(compile);
  compile.graph = zyx_compiler_result_graph(program, 0);
  zyx_compiler_result *compiled = zyx_compiler_compile(&compile);
  check_compiler(compiled);

  zyx_compiler_bytes artifact = zyx_compiler_result_output(compiled);
  zyx_device *device;
  zyx_executor *executor;
  check(zyx_device_create("cpu", NULL, &device));
  check(zyx_executor_load_memory(device, artifact.data, artifact.size, &executor));
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  check(zyx_executor_set_input(executor, 0, x, sizeof(x)));
  check(zyx_executor_run(executor));
  check(zyx_executor_read_output(executor, 0, y, sizeof(y)));
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);

  zyx_executor_release(executor);
  zyx_device_release(device);
  zyx_compiler_result_release(compiled);
  zyx_compiler_result_release(program);
  return 0;
}
