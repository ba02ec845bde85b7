//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_COVERAGE_H
#define ZYX_TEST_CONFORMANCE_COVERAGE_H

#include "Builder.h"
#include "Runner.h"

namespace zyx::conformance {

/// The ops with their kinds, and the dtypes of them that inference accepts, that no case is about,
/// one per line; random graphs do not count. Empty if there are none.
std::string missingCases(const std::vector<Case> &cases);

/// What utils/conformance.py reads: lines of "row", its dtypes; of "case", its outcome, cells, ULPs
/// and text. False if the file cannot be written.
bool writeReport(const std::string &path, const std::vector<Case> &cases, const std::vector<Verdict> &verdicts);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_COVERAGE_H
