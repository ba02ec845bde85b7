//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_SMITH_REDUCE_H
#define ZYX_TEST_SMITH_REDUCE_H

#include "conformance/Device.h"
#include "conformance/Runner.h"

#include <functional>

namespace zyx::smith {

using conformance::Program;

/// Whether a program still shows what is looked for.
using Interesting = std::function<bool(const Program &)>;

/// Cuts a program down while it stays interesting, until nothing of this can be done any more:
/// leave out outputs; put a node's operand, a parameter with the value that the interpreter gives
/// it, or a constant in the place of a node; put the body of a loop or custom op in its place, or do
/// the same inside of it, with fewer trips, carried values and operands; make an extent smaller in
/// every shape. Deterministic.
/// At most `maxTests` programs are tried.
Program reduceProgram(Program program, const Interesting &interesting, int64_t maxTests = 2000);

/// How a program fails. Runs in a child process, whose end by a signal is an outcome like others; `tolerance` as that
/// of a case.
struct Failure {
  conformance::Outcome outcome;
  std::string text;
};
Failure runInChild(const Program &program, const std::function<std::unique_ptr<conformance::Device>()> &make,
                   unsigned seconds, double tolerance = 0);
/// Whether two failures are the same for the reducer: the outcome, for a refusal also its text, but
/// for numbers.
bool isSameFailure(const Failure &a, const Failure &b);

} // namespace zyx::smith

#endif // ZYX_TEST_SMITH_REDUCE_H
