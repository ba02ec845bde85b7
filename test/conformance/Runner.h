//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_RUNNER_H
#define ZYX_TEST_CONFORMANCE_RUNNER_H

#include "Builder.h"
#include "Device.h"

#include "zyx/Base/Processors.h"

#include <functional>
#include <map>

namespace zyx::conformance {

enum class Outcome : char { Pass = 'P', Wrong = 'W', Refused = 'R', Crash = 'C' };

struct Verdict {
  size_t index = 0;
  /// Among those that run the cases.
  size_t device = 0;
  Outcome outcome = Outcome::Pass;
  int64_t numFree = 0;
  /// What is wrong, why it is refused, how it ended.
  std::string text;
  /// The largest distance of each function that was compared by ULPs.
  std::map<std::string, int64_t> ulps;
};

struct RunOptions {
  /// Cases in one graph, processes at a time, seconds for one graph on one device.
  size_t batch = 48;
  int jobs = static_cast<int>(usableProcessors());
  unsigned seconds = 120;
};

using MakeDevice = std::function<std::unique_ptr<Device>()>;

/// Runs all cases on each device in child processes, so that an end of the compiler or of a kernel is one verdict and
/// not the end of the suite. Cases are packed into graphs; what is wrong, refused or fatal in a graph is looked for
/// alone. Devices share the interpreter's answers. Each of `devices` is called once in each child.
std::vector<Verdict> runCases(const std::vector<Case> &cases, const std::vector<MakeDevice> &devices,
                              const RunOptions &options);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_RUNNER_H
