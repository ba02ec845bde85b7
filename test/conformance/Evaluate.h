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

/// Runs the cases `indices` on the device, packed into one graph, and compares; a part that is
/// wrong or refused is run again alone. Calls `report` once for each.
void runBatch(const std::vector<Case> &cases, std::span<const size_t> indices, Device &device,
              const std::function<void(const Verdict &)> &report);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_EVALUATE_H
