//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_SIMULATED_HAPPENSBEFORE_H
#define ZYX_LIB_RUNTIME_DEVICES_SIMULATED_HAPPENSBEFORE_H

#include "zyx/Runtime/Simulation.h"

namespace zyx::runtime {

/// Which pieces of work, by their serial numbers, happen before something: a vector clock with a
/// component for each piece of work, since work of one queue is not ordered either.
class Clock {
public:
  bool contains(uint64_t serial) const;
  void add(uint64_t serial);
  void add(const Clock &other);

private:
  static constexpr uint64_t bits = 64;
  /// Drops leading words that are full.
  void normalise();

  /// All below are contained. A multiple of `bits`.
  uint64_t base = 0;
  /// From `base`.
  std::vector<uint64_t> words;
};

/// The uses of memory since all was quiet, and the races among them.
class HappensBefore {
public:
  /// The use of memory by the work `serial`, which all in `before` happens before. Each use is
  /// checked against the earlier ones, so that of two the later one to start finds the race.
  void use(const Access &access, uint64_t serial, const Clock &before, const std::string &name);
  /// Forgets all uses: everything is over, and happens before whatever comes.
  void clear() { uses.clear(); }
  const std::vector<Race> &races() const { return found; }

private:
  struct Use {
    Access access;
    uint64_t serial;
    std::string name;
  };
  std::vector<Use> uses;
  std::vector<Race> found;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_SIMULATED_HAPPENSBEFORE_H
