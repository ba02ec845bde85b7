//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Apart from the reader of files, which the runtime's library does not need.
#include "zyx/Base/Config.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace zyx;

const char *zyx::zyxVariable(std::string_view name) { return std::getenv(("ZYX_" + std::string(name)).c_str()); }

static size_t editDistance(std::string_view a, std::string_view b) {
  // From the prefix of a that was walked to each prefix of b.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string_view zyx::nearestName(std::string_view name, std::span<const std::string_view> known) {
  return *std::ranges::min_element(known, {},
                                   [&](std::string_view candidate) { return editDistance(name, candidate); });
}
