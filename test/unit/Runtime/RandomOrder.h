//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_RUNTIME_RANDOMORDER_H
#define ZYX_TEST_UNIT_RUNTIME_RANDOMORDER_H

#include "zyx/Runtime/Simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

/// How many random graphs a test draws: ZYX_RUNTIME_GRAPHS, or what is quick.
inline uint64_t numGraphs(uint64_t quick) {
  const char *asked = std::getenv("ZYX_RUNTIME_GRAPHS");
  return asked ? std::strtoull(asked, nullptr, 10) : quick;
}

/// splitmix64 (Steele, Lea, Flood 2014).
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t end) { return next() % end; }
  bool oneIn(uint64_t n) { return below(n) == 0; }
};

/// What happens before what, worked out apart from the checker that is tested.
class Order {
public:
  /// A node that comes after those of `before`; returns its number.
  size_t add(const std::string &name, std::vector<zyx::runtime::Access> accesses, const std::vector<size_t> &before) {
    std::vector<bool> ancestors(nodes.size());
    for (size_t node : before) {
      ancestors[node] = true;
      for (size_t i = 0; i < node; ++i)
        ancestors[i] = ancestors[i] || nodes[node].ancestors[i];
    }
    nodes.push_back({name, std::move(accesses), std::move(ancestors)});
    return nodes.size() - 1;
  }

  /// The names of each two that conflict without an order, the lesser one first.
  std::set<std::pair<std::string, std::string>> conflicts() const {
    std::set<std::pair<std::string, std::string>> found;
    for (size_t later = 0; later < nodes.size(); ++later)
      for (size_t earlier = 0; earlier < later; ++earlier)
        if (!nodes[later].ancestors[earlier] && conflict(nodes[later], nodes[earlier]))
          found.insert(std::minmax(nodes[earlier].name, nodes[later].name));
    return found;
  }

private:
  struct Node {
    std::string name;
    std::vector<zyx::runtime::Access> accesses;
    std::vector<bool> ancestors;
  };
  static bool conflict(const Node &a, const Node &b) {
    for (const auto &x : a.accesses)
      for (const auto &y : b.accesses)
        if ((x.isWrite || y.isWrite) && std::max(x.begin, y.begin) < std::min(x.end, y.end))
          return true;
    return false;
  }
  std::vector<Node> nodes;
};

/// There is a race where there is a conflict, and each race is one of them.
inline void expectRaces(const zyx::runtime::Simulation &simulation, const Order &order) {
  const auto conflicts = order.conflicts();
  const auto races = simulation.races();
  EXPECT_EQ(races.empty(), conflicts.empty());
  for (const zyx::runtime::Race &race : races)
    EXPECT_TRUE(conflicts.contains(std::minmax(race.first, race.second))) << race.toString();
}

#endif // ZYX_TEST_UNIT_RUNTIME_RANDOMORDER_H
