//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_EVALUATE_H
#define ZYX_TEST_CONFORMANCE_EVALUATE_H

#include "Compare.h"
#include "Runner.h"

#include <span>

namespace zyx::conformance {

/// Runs one program on the device, and compares, by a tolerance as that of a case where it is not 0.
Verdict runProgram(const Program &program, bool strict, Device &device, double tolerance = 0);

/// What the interpreter answers for one batch of cases, and the bounds of that: devices with the same freedoms share
/// them.
class Expectations {
public:
  struct Known {
    /// Those that the bounds were made for, and which of these they depend on.
    Roundings allowed, asked;
    Result<std::vector<Expected>> expected;
  };
  /// That of a device with these roundings; null where none is known yet.
  const Known *find(const Roundings &roundings) const;
  const Known &add(Known made) { return *known.emplace_back(std::make_unique<Known>(std::move(made))); }

private:
  std::vector<std::unique_ptr<Known>> known;
};

/// Runs the cases `indices` on the device, packed into one graph, and compares; a part that is
/// wrong or refused is run again alone. Calls `report` once for each. `shared` has answers for just these cases.
void runBatch(const std::vector<Case> &cases, std::span<const size_t> indices, Device &device,
              const std::function<void(const Verdict &)> &report, Expectations *shared = nullptr);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_EVALUATE_H
