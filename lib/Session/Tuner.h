//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SESSION_TUNER_H
#define ZYX_LIB_SESSION_TUNER_H

#include "zyx/Runtime/Device.h"
#include "zyx/Session/Compiler.h"
#include "zyx/Session/TuningTable.h"

namespace zyx::session {

/// Measures the schedules that each kernel of a graph may have, on the device that is to run it.
class Tuner {
public:
  /// Choices of a kernel that are compiled, at most.
  static constexpr unsigned mostChoices = 8;

  /// `options` say what the graph is compiled for.
  Tuner(const Compiler &compiler, std::shared_ptr<runtime::Device> device, CompileOptions options)
      : compiler(compiler), device(std::move(device)), options(std::move(options)) {}

  /// Of the kernels that have several choices and are not among the known ones, what each does best with. A choice
  /// that does not compile, does not run, or computes something else than the first one does, is left out.
  Result<MeasuredChoices> tune(const graph::Graph &graph, const MeasuredChoices &known);

  /// What was measured, and what was left out and why.
  std::string remarks;

private:
  struct Candidate;
  struct Kernel;
  void compileAll(const graph::Graph &graph, std::span<Kernel> kernels) const;
  Status prepare(Kernel &kernel);
  Status check(Kernel &kernel);
  void measure(Kernel &kernel);
  std::optional<MeasuredChoice> choose(Kernel &kernel);
  void report(const Kernel &kernel, const Candidate &best);

  const Compiler &compiler;
  std::shared_ptr<runtime::Device> device;
  const CompileOptions options;
};

} // namespace zyx::session

#endif // ZYX_LIB_SESSION_TUNER_H
