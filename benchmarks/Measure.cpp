//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace zyx::bench {
namespace {

double seconds(const std::function<void()> &call, int repeat) {
  auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; ++i)
    call();
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  return taken.count() / repeat;
}

double largestError(const Workload &workload, const float *output) {
  double largest = 0;
  for (size_t i = 0; i < workload.expected.size(); ++i) {
    double expected = workload.expected[i];
    double error = std::fabs(output[i] - expected) / std::max(workload.floor, std::fabs(expected));
    // A NaN compares false with everything; it must not pass for a small error.
    largest = error <= largest ? largest : error;
    if (std::isnan(error))
      return error;
  }
  return largest;
}

} // namespace

std::vector<Timing> measure(const Workload &workload, int rounds) {
  const std::vector<Contender> &contenders = workload.contenders;
  std::vector<Timing> timings(contenders.size());
  std::vector<int> repeats(contenders.size());
  for (size_t i = 0; i < contenders.size(); ++i) {
    const Contender &contender = contenders[i];
    contender.call();
    timings[i].name = contender.name;
    timings[i].error = largestError(workload, contender.output);
    if (!(timings[i].error <= workload.tolerance)) {
      std::fprintf(stderr, "%s: %s is wrong: error %g, allowed %g\n", workload.name.c_str(),
                   contender.name.c_str(), timings[i].error, workload.tolerance);
      std::exit(1);
    }
    // A sample of about 4 ms is long beside the clock's resolution and short beside a time slice.
    double once = std::min(seconds(contender.call, 1), seconds(contender.call, 1));
    repeats[i] = std::clamp(static_cast<int>(4e-3 / once), 1, 10000);
  }
  for (int round = 0; round < rounds; ++round)
    for (size_t k = 0; k < contenders.size(); ++k) {
      size_t i = (k + round) % contenders.size();
      timings[i].seconds.push_back(seconds(contenders[i].call, repeats[i]));
    }
  return timings;
}

} // namespace zyx::bench
