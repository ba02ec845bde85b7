//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "HappensBefore.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime;

bool Clock::contains(uint64_t serial) const {
  if (serial < base)
    return true;
  const uint64_t word = (serial - base) / bits;
  return word < words.size() && (words[word] >> ((serial - base) % bits) & 1);
}

void Clock::add(uint64_t serial) {
  if (serial < base)
    return;
  const uint64_t word = (serial - base) / bits;
  if (word >= words.size())
    words.resize(word + 1);
  words[word] |= uint64_t(1) << ((serial - base) % bits);
  normalise();
}

void Clock::add(const Clock &other) {
  if (other.base > base) {
    const uint64_t dropped = std::min<uint64_t>((other.base - base) / bits, words.size());
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(dropped));
    base = other.base;
  }
  // Words of the other that lie below this base are contained already.
  const uint64_t skipped = (base - other.base) / bits;
  for (uint64_t i = skipped; i < other.words.size(); ++i) {
    if (i - skipped >= words.size())
      words.resize(i - skipped + 1);
    words[i - skipped] |= other.words[i];
  }
  normalise();
}

void Clock::normalise() {
  size_t full = 0;
  while (full < words.size() && words[full] == UINT64_MAX)
    ++full;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(full));
  base += full * bits;
}

void HappensBefore::use(const Access &access, uint64_t serial, const Clock &before, const std::string &name) {
  if (access.begin >= access.end)
    return;
  std::erase_if(uses, [&](const Use &earlier) {
    const uint64_t begin = std::max(access.begin, earlier.access.begin);
    const uint64_t end = std::min(access.end, earlier.access.end);
    if (begin >= end || earlier.serial == serial)
      return false;
    const bool isOrdered = before.contains(earlier.serial);
    if (!isOrdered && (access.isWrite || earlier.access.isWrite))
      found.push_back({earlier.name, name, earlier.access.isWrite, access.isWrite, begin, end});
    // Whatever races with the earlier use, and does not happen before this one, races with this
    // write too.
    return isOrdered && access.isWrite && begin == earlier.access.begin && end == earlier.access.end;
  });
  uses.push_back({access, serial, name});
}

std::string Race::toString() const {
  return "'" + first + "' " + (firstWrites ? "writes" : "reads") + " and '" + second + "' " +
         (secondWrites ? "writes" : "reads") + " the same " + std::to_string(end - begin) +
         " bytes, and neither waits for the other";
}
