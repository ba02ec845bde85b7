//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs grids of programs. The lanes of a warp that stand at the same instruction do it together; those that are behind
// go first, so that lanes meet again. A warp runs until none of its lanes can go on, then the next one of the cluster
// does. Where no warp can, what the copy engine has to do is done; where it has nothing to do either, that is a
// deadlock, and a Fault says who waits where.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_PTX_MACHINE_H
#define ZYX_TEST_FAKECUDA_PTX_MACHINE_H

#include "Profile.h"
#include "Program.h"

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <random>

namespace zyx::ptx {

/// An access to memory that is not there, or is not aligned.
struct AddressFault : Fault {
  using Fault::Fault;
};

struct Options {
  /// Other than 0: warps and lanes go on in a random order, and stop anywhere.
  uint64_t seed = 0;
  /// Threads of the host, over which clusters are shared out.
  unsigned hostThreads = 1;
  /// Instructions of warps, at most, of one cluster.
  uint64_t limit = uint64_t(1) << 33;
  /// Clusters that are executed, spread over the grid; 0 for all. Results are then incomplete.
  unsigned sample = 0;
  /// Where what is counted goes; null where nothing is.
  Counts *counts = nullptr;
};

struct Launch {
  const Module *module = nullptr;
  const Program *program = nullptr;
  std::array<unsigned, 3> groups = {1, 1, 1}, threads = {1, 1, 1};
  uint64_t dynamicSharedBytes = 0;
  /// The kernel before may not be over: until a thread has waited for that (griddepcontrol.wait) it may touch no global
  /// memory, and it may not end. Of programs that have the instruction this is always asked.
  bool isEarly = false;
  std::vector<uint8_t> parameters;
  /// Memory that kernels may reach, besides the module's own: begin and end of each.
  std::vector<std::pair<uint64_t, uint64_t>> memory;
  Options options;
};

/// Throws a Fault.
void run(Launch launch);

/// Spaces of generic addresses; what is below is global memory. An address of shared memory has the number of its
/// workgroup in the cluster above its lowest 24 bits, as in a card.
inline constexpr uint64_t sharedWindow = uint64_t(1) << 60, localWindow = uint64_t(2) << 60,
                          paramWindow = uint64_t(3) << 60;
inline constexpr unsigned rankShift = 24;
/// A card has something of its own in front.
inline constexpr uint32_t sharedBegin = 1024;

struct Group;

struct Warp {
  Group *group = nullptr;
  unsigned number = 0;
  std::unique_ptr<std::byte[]> storage;
  std::byte *registers = nullptr;
  std::vector<std::byte> local;

  /// Lanes by what they do: each lane of the warp is in one of these.
  uint32_t ready = 0, together = 0, atBarrier = 0, waiting = 0, exited = 0;
  uint32_t existing = 0;
  /// Those that may touch global memory.
  uint32_t behind = 0;
  std::array<uint32_t, lanes> pc = {};
  bool hasArrived = false;
  uint32_t live() const { return existing & ~exited; }

  /// For lanes that wait for the cluster: which of its meetings each has joined.
  std::array<uint32_t, lanes> meeting = {};
  /// Copies that threads have begun, by the groups that they committed.
  struct CopyGroups {
    std::vector<std::function<void()>> open;
    std::deque<std::vector<std::function<void()>>> committed;
  };
  std::vector<CopyGroups> copies, bulks;
  /// Where the latest access to global memory was.
  std::pair<uint64_t, uint64_t> nearby = {1, 0};

  template <typename T> T *at(uint32_t offset) { return reinterpret_cast<T *>(registers + offset); }
};

struct NamedBarrier {
  uint32_t expected = 0, arrived = 0;
};

/// A barrier in shared memory, as we keep it there: what a card has in its 64 bits is not known.
struct MemoryBarrier {
  uint64_t expected : 12, pending : 12, phase : 1, isInitialized : 7;
  int64_t bytes : 32;
};
static_assert(sizeof(MemoryBarrier) == 8);

struct Group {
  unsigned rank = 0;
  std::array<unsigned, 3> id = {};
  std::vector<uint8_t> shared;
  std::vector<Warp> warps;
  std::array<NamedBarrier, 16> barriers;
};

/// What runs one cluster after the other.
class Machine {
public:
  explicit Machine(const Launch &launch);

  void runCluster(unsigned number);

  const Launch &launch;
  const Program &program;
  std::vector<Group> groups;
  /// The cluster's barrier.
  uint32_t meeting = 0;
  /// Whether all have arrived, who are told then.
  void tryMeet();
  /// What the copy engine still has to do; each is called once.
  std::deque<std::function<void()>> engine;
  std::mt19937_64 random;
  std::optional<Profiler> profiler;

  /// Where memory lies in the host's; a Fault where it is not all there, or is not aligned.
  uint8_t *resolve(Warp &warp, const Instruction &at, unsigned lane, Space space, uint64_t address, uint64_t bytes,
                   bool isWrite, uint64_t alignment);
  uint8_t *resolve(Warp &warp, const Instruction &at, unsigned lane, Space space, uint64_t address, uint64_t bytes,
                   bool isWrite) {
    return resolve(warp, at, lane, space, address, bytes, isWrite, bytes);
  }
  /// Fails where a lane may not do that yet.
  void requireBehind(const Warp &warp, const Instruction &at, unsigned lane,
                     const char *what = "touches memory") const {
    if (!(warp.behind >> lane & 1))
      fail(warp, at, lane, std::string(what) + " before it has waited for the kernel before");
  }
  /// Shared memory of the cluster.
  uint8_t *shared(const Warp &warp, const Instruction &at, uint64_t address, uint64_t bytes, uint64_t alignment);
  /// A barrier there that has been initialised.
  MemoryBarrier *barrierAt(Warp &warp, const Instruction &at, unsigned lane, uint64_t address);
  /// So many bytes have come for which it waits.
  void complete(Warp &warp, const Instruction &at, unsigned lane, uint64_t address, uint32_t bytes);
  bool isGlobal(uint64_t address, uint64_t bytes, std::pair<uint64_t, uint64_t> &range) const;

  [[noreturn]] void fail(const Warp &warp, const Instruction &at, unsigned lane, const std::string &what,
                         bool isAddress = false) const;
  std::string describe(const Warp &warp, int line) const;

private:
  void begin(unsigned number);
  /// Whether it did anything.
  bool runWarp(Warp &warp);
  void runLanes(Warp &warp, uint32_t mask, uint64_t steps);
  uint32_t chooseLanes(const Warp &warp);
  bool meet(Warp &warp);
  bool wake(Warp &warp);
  bool arrive(Warp &warp);
  void tryComplete(Group &group, unsigned barrier);
  void exit(Warp &warp, uint32_t mask);
  [[noreturn]] void reportDeadlock() const;
  uint32_t membersOf(Warp &warp, const Instruction &at, unsigned lane) const;

  uint64_t steps = 0;
  unsigned liveWarps = 0;
};

} // namespace zyx::ptx

#endif // ZYX_TEST_FAKECUDA_PTX_MACHINE_H
