//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_COMPILER_ISOLATION_H
#define ZYX_LIB_COMPILER_ISOLATION_H

#include "zyx-c/Compiler.h"
#include "zyx/Base/Status.h"
#include "zyx/Base/Trace.h"
#include "zyx/Pipelines/Pipelines.h"

struct zyx_compiler_result {
  zyx::Status status;
  std::vector<std::vector<std::byte>> graphs;
  std::vector<std::byte> output;
  size_t numKernels = 0, numFoundKernels = 0;
  std::vector<zyx::pipelines::Stage> stages;
  std::vector<zyx::Span> spans;
  std::string remarks;
  struct Choice {
    std::string key, kernel, text;
    double cost = 0;
  };
  std::vector<Choice> choices;
};

/// Calls of the compiler in a child process: bytes in, a result out.
namespace zyx::isolation {

/// Whether this process is such a child.
bool serving();

/// Makes the dump of a crash tell which pass ran on what.
void nameInCrashes(mlir::MLIRContext &context);

/// The calls with `args.isolation`; `name` stands for the input in messages.
Status parse(const zyx_compiler_parse_args &args, const std::string &name, zyx_compiler_result &result);
Status compile(const zyx_compiler_compile_args &args, const std::string &name, zyx_compiler_result &result);

} // namespace zyx::isolation

#endif // ZYX_LIB_COMPILER_ISOLATION_H
