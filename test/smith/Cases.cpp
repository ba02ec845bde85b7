//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "smith/Cases.h"

#include "smith/Drawer.h"

namespace zyx::smith {

void addRandomCases(std::vector<conformance::Case> &cases, uint64_t firstSeed, int64_t numSeeds) {
  static const Profile profile = Profile::mixed();
  for (uint64_t seed = firstSeed; seed < firstSeed + static_cast<uint64_t>(numSeeds); ++seed)
    cases.push_back({"random." + std::to_string(seed), [seed](Builder &b) { return Drawer(b, seed, profile).draw(); },
                     /*strict=*/false, seed});
}

} // namespace zyx::smith
