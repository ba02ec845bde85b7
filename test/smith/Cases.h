//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_SMITH_CASES_H
#define ZYX_TEST_SMITH_CASES_H

#include "conformance/Builder.h"

namespace zyx::smith {

/// A graph for each of the seeds, named "random.SEED".
void addRandomCases(std::vector<conformance::Case> &cases, uint64_t firstSeed, int64_t numSeeds);

} // namespace zyx::smith

#endif // ZYX_TEST_SMITH_CASES_H
