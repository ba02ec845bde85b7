//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BENCHMARKS_PROGRAM_H
#define ZYX_BENCHMARKS_PROGRAM_H

#include "zyx-c/Runtime.h"

#include <string>
#include <vector>

namespace zyx::bench {

/// A program compiled by the C surface of the compiler. Every failure ends the process with the
/// compiler's message.
struct Compiled {
  std::vector<char> artifact;
  size_t kernels = 0;
  /// Of each compilation, from the graph's bytes to the artifact's.
  std::vector<double> seconds;
};

/// Compiles the only entry of MLIR text for this machine's CPU, `repeat` times.
Compiled compile(const std::string &text, const std::string &name, int repeat);

/// An artifact with bound inputs and output on the CPU, on one thread. Every failure ends the
/// process with the runtime's message.
class Program {
public:
  /// `inputs` stay alive and in place; so does the first output, of `outputSize` floats.
  Program(const Compiled &compiled, const std::vector<std::vector<float> *> &inputs,
          size_t outputSize);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Runs once and returns when the output is written.
  void run();
  const float *output() const { return result.data(); }

private:
  zyx_device *device = nullptr;
  zyx_executor *executor = nullptr;
  std::vector<float> result;
};

} // namespace zyx::bench

#endif // ZYX_BENCHMARKS_PROGRAM_H
