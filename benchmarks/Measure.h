//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BENCHMARKS_MEASURE_H
#define ZYX_BENCHMARKS_MEASURE_H

#include <functional>
#include <string>
#include <vector>

namespace zyx::bench {

/// One implementation of a workload.
struct Contender {
  std::string name;
  /// Computes the whole workload and returns when it is done.
  std::function<void()> call;
  /// Where `call` leaves its result; as many elements as Workload::expected.
  const float *output = nullptr;
};

struct Workload {
  std::string name;
  /// What one call does, in 1e9 of `unit` (GFLOP, GB).
  double amount = 0;
  std::string unit;
  /// The result computed in double, and the error |y - expected| / max(floor, |expected|) that no
  /// contender may exceed: a wrong result has no speed.
  std::vector<double> expected;
  double floor = 1e-3, tolerance = 1e-5;
  /// zyx first.
  std::vector<Contender> contenders;
};

struct Timing {
  std::string name;
  double error = 0;
  /// Seconds per call, one entry per round; entries of one round were taken beside each other.
  std::vector<double> seconds;
};

/// Checks and times every contender, interleaved: in each round all of them run, in an order that
/// rotates, so that a slow phase of the machine meets them alike. Aborts the program with a message
/// if a result is wrong.
std::vector<Timing> measure(const Workload &workload, int rounds);

} // namespace zyx::bench

#endif // ZYX_BENCHMARKS_MEASURE_H
