//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

using namespace zyx::ptx;

//===----------------------------------------------------------------------===//
// What is wrong
//===----------------------------------------------------------------------===//

std::string Machine::describe(const Warp &warp, int line) const {
  const Group &group = *warp.group;
  std::string text = "workgroup " + std::to_string(group.id[0]);
  if (launch.groups[1] * launch.groups[2] > 1)
    text += "," + std::to_string(group.id[1]) + "," + std::to_string(group.id[2]);
  text += " warp " + std::to_string(warp.number) + ", line " + std::to_string(line) + ":";
  if (line > 0 && static_cast<size_t>(line) <= launch.module->lines.size())
    text += " " + launch.module->lines[line - 1].substr(launch.module->lines[line - 1].find_first_not_of(" \t"));
  return text;
}

void Machine::fail(const Warp &warp, const Instruction &at, unsigned lane, const std::string &what,
                   bool isAddress) const {
  const std::string text =
      "kernel " + program.name + ", " + describe(warp, at.line) + ": lane " + std::to_string(lane) + ": " + what;
  if (isAddress)
    throw AddressFault(text);
  throw Fault(text);
}

static std::string listLanes(uint32_t mask) {
  if (mask == allLanes)
    return "all lanes";
  std::string text = "lanes";
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    unsigned last = lane;
    while (last + 1 < lanes && (mask >> (last + 1) & 1))
      ++last;
    text += " " + std::to_string(lane) + (last > lane ? "-" + std::to_string(last) : "");
    lane = last;
  }
  return text;
}

void Machine::reportDeadlock() const {
  std::string text = "kernel " + program.name + ": nothing can go on";
  for (const Group &group : groups)
    for (const Warp &warp : group.warps)
      for (auto [mask, what] :
           std::initializer_list<std::pair<uint32_t, const char *>>{{warp.together, "wait for the other lanes"},
                                                                    {warp.atBarrier, "wait at a barrier"},
                                                                    {warp.waiting, "wait"}})
        for (uint32_t left = mask; left;) {
          const uint32_t pc = warp.pc[std::countr_zero(left)];
          uint32_t here = 0;
          for (unsigned lane = 0; lane < lanes; ++lane)
            here |= (left >> lane & 1 && warp.pc[lane] == pc) ? uint32_t(1) << lane : 0;
          left &= ~here;
          text += "\n  " + describe(warp, program.code[pc].line) + " " + listLanes(here) + " " + what;
        }
  throw Fault(text);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool Machine::isGlobal(uint64_t address, uint64_t bytes, std::pair<uint64_t, uint64_t> &range) const {
  auto after = std::upper_bound(launch.memory.begin(), launch.memory.end(), std::pair(address, UINT64_MAX));
  if (after == launch.memory.begin())
    return false;
  range = *std::prev(after);
  return address >= range.first && address + bytes <= range.second;
}

static std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

uint8_t *Machine::shared(const Warp &warp, const Instruction &at, uint64_t address, uint64_t bytes,
                         uint64_t alignment) {
  const uint64_t rank = address >> rankShift, place = address & ((uint64_t(1) << rankShift) - 1);
  if (rank >= groups.size() || place < sharedBegin || place + bytes > groups[rank].shared.size())
    fail(warp, at, 0,
         std::to_string(bytes) + " bytes at " + hex(address) + " are outside of shared memory, which ends at " +
             hex(groups[warp.group->rank].shared.size()),
         true);
  if (address % alignment != 0)
    fail(warp, at, 0, "the address " + hex(address) + " is no multiple of " + std::to_string(alignment), true);
  return groups[rank].shared.data() + place;
}

uint8_t *Machine::resolve(Warp &warp, const Instruction &at, unsigned lane, Space space, uint64_t address,
                          uint64_t bytes, bool isWrite, uint64_t alignment) {
  if (space == Space::Generic) {
    const uint64_t window = address >> 60 << 60;
    space = window == sharedWindow  ? Space::Shared
            : window == localWindow ? Space::Local
            : window == paramWindow ? Space::Param
                                    : Space::Global;
    if (window)
      address -= window;
  }
  if (profiler)
    profiler->touch(space, address, bytes, isWrite);
  if (space == Space::Shared) {
    if (address >> rankShift == warp.group->rank) {
      const uint64_t place = address & ((uint64_t(1) << rankShift) - 1);
      if (place >= sharedBegin && place + bytes <= warp.group->shared.size() && address % alignment == 0)
        return warp.group->shared.data() + place;
    }
    return shared(warp, at, address, bytes, alignment);
  }
  if (address % alignment != 0)
    fail(warp, at, lane, "the address " + hex(address) + " is no multiple of " + std::to_string(alignment), true);
  if (space == Space::Global) {
    requireBehind(warp, at, lane);
    // LLVM makes loads of three elements those of four: what is aligned and begins inside meets no other page.
    const uint64_t needed = isWrite || bytes > 16 || alignment < bytes ? bytes : 1;
    if (address >= warp.nearby.first && address + needed <= warp.nearby.second)
      return reinterpret_cast<uint8_t *>(address);
    if (!isGlobal(address, needed, warp.nearby)) {
      const auto nearby = std::exchange(warp.nearby, {1, 0});
      fail(warp, at, lane,
           std::to_string(bytes) + " bytes at " + hex(address) + " are in no allocation; one from " +
               hex(nearby.first) + " to " + hex(nearby.second) + " is before it",
           true);
    }
    return reinterpret_cast<uint8_t *>(address);
  }
  if (space == Space::Local) {
    if (address + bytes > program.localBytes)
      fail(warp, at, lane, hex(address) + " is outside of local memory", true);
    return reinterpret_cast<uint8_t *>(warp.local.data()) + lane * program.localBytes + address;
  }
  if (isWrite || address + bytes > launch.parameters.size())
    fail(warp, at, lane, hex(address) + " is outside of the parameters", true);
  return const_cast<uint8_t *>(launch.parameters.data()) + address;
}

//===----------------------------------------------------------------------===//
// Lanes and warps
//===----------------------------------------------------------------------===//

Machine::Machine(const Launch &launch)
    : launch(launch), program(*launch.program), groups(launch.program->clusterGroups) {
  if (launch.options.counts)
    profiler.emplace(launch);
  const unsigned threads = launch.threads[0] * launch.threads[1] * launch.threads[2];
  for (unsigned rank = 0; rank < groups.size(); ++rank) {
    Group &group = groups[rank];
    group.rank = rank;
    group.warps.resize((threads + lanes - 1) / lanes);
    for (unsigned number = 0; number < group.warps.size(); ++number) {
      Warp &warp = group.warps[number];
      warp.number = number;
      const unsigned here = std::min(lanes, threads - number * lanes);
      warp.existing = here == lanes ? allLanes : (uint32_t(1) << here) - 1;
      warp.storage = std::make_unique<std::byte[]>(program.registerBytes + 64);
      warp.registers = warp.storage.get() + (64 - reinterpret_cast<uintptr_t>(warp.storage.get()) % 64) % 64;
      std::memset(warp.registers, 0xff, program.registerBytes);
      for (const Program::Constant &constant : program.constants)
        for (unsigned lane = 0; lane < lanes; ++lane)
          std::memcpy(warp.registers + constant.place.offset + lane * constant.place.bytes, &constant.bits,
                      constant.place.bytes);
      warp.local.resize(program.localBytes * lanes);
    }
  }
}

void Machine::begin(unsigned number) {
  engine.clear();
  meeting = liveWarps = 0;
  random.seed(launch.options.seed * 1000003 + number);
  for (Group &group : groups) {
    const unsigned linear = number * static_cast<unsigned>(groups.size()) + group.rank;
    group.id = {linear % launch.groups[0], linear / launch.groups[0] % launch.groups[1],
                linear / launch.groups[0] / launch.groups[1]};
    group.shared.assign(sharedBegin + program.sharedBytes + launch.dynamicSharedBytes, 0xff);
    group.barriers = {};
    for (Warp &warp : group.warps) {
      warp.group = &group;
      warp.ready = warp.existing;
      warp.behind = launch.isEarly || program.waits ? 0 : allLanes;
      warp.together = warp.atBarrier = warp.waiting = warp.exited = 0;
      warp.pc.fill(0);
      warp.meeting.fill(UINT32_MAX);
      warp.hasArrived = false;
      warp.copies.clear();
      warp.copies.resize(lanes);
      warp.bulks.clear();
      warp.bulks.resize(lanes);
      std::fill(warp.local.begin(), warp.local.end(), std::byte(0xff));
      ++liveWarps;
      for (const Program::Special &special : program.specials) {
        auto valueOf = [&](unsigned lane) -> uint64_t {
          const unsigned thread = warp.number * lanes + lane;
          const std::string &name = special.name;
          const unsigned clusterGroups = static_cast<unsigned>(groups.size());
          const size_t dim = name.back() == 'y' ? 1 : name.back() == 'z' ? 2 : 0;
          auto is = [&](const char *what) { return name.rfind(what, 0) == 0; };
          if (is("%tid."))
            return dim == 0   ? thread % launch.threads[0]
                   : dim == 1 ? thread / launch.threads[0] % launch.threads[1]
                              : thread / launch.threads[0] / launch.threads[1];
          if (is("%ntid."))
            return launch.threads[dim];
          if (is("%ctaid."))
            return group.id[dim];
          if (is("%nctaid."))
            return launch.groups[dim];
          if (is("%clusterid."))
            return dim == 0 ? group.id[0] / clusterGroups : group.id[dim];
          if (is("%nclusterid."))
            return dim == 0 ? launch.groups[0] / clusterGroups : launch.groups[dim];
          if (is("%cluster_ctaid."))
            return dim == 0 ? group.rank : 0;
          if (is("%cluster_nctaid."))
            return dim == 0 ? clusterGroups : 1;
          if (name == "%cluster_ctarank")
            return group.rank;
          if (name == "%cluster_nctarank")
            return clusterGroups;
          if (name == "%laneid")
            return lane;
          if (name == "%warpid")
            return warp.number;
          if (name == "%lanemask_lt")
            return (uint64_t(1) << lane) - 1;
          if (name == "%lanemask_le")
            return (uint64_t(2) << lane) - 1;
          if (name == "%lanemask_eq")
            return uint64_t(1) << lane;
          if (name == "%lanemask_gt")
            return uint32_t(allLanes << lane << 1);
          if (name == "%lanemask_ge")
            return uint32_t(allLanes << lane);
          if (name == "%dynamic_smem_size")
            return launch.dynamicSharedBytes;
          // The base of shared memory is that of the workgroup's own part: see `sharedWindow`.
          return uint64_t(group.rank) << rankShift;
        };
        for (unsigned lane = 0; lane < lanes; ++lane) {
          // Of an address what is behind the sign is added.
          uint64_t value = valueOf(lane);
          if (special.name[0] == '+')
            value += std::strtoull(special.name.c_str() + 1, nullptr, 10);
          std::memcpy(warp.registers + special.place.offset + lane * special.place.bytes, &value, special.place.bytes);
        }
      }
    }
  }
}

void Machine::runCluster(unsigned number) {
  begin(number);
  if (profiler)
    profiler->beginCluster();
  std::vector<Warp *> order;
  for (Group &group : groups)
    for (Warp &warp : group.warps)
      order.push_back(&warp);
  steps = 0;
  while (liveWarps != 0) {
    bool goesOn = false;
    if (launch.options.seed)
      std::shuffle(order.begin(), order.end(), random);
    for (Warp *warp : order)
      if (warp->live())
        goesOn |= runWarp(*warp);
    // In a random order copies are done sooner or later; else as late as can be.
    if (!engine.empty() && (!goesOn || (launch.options.seed && random() % 4 == 0))) {
      const size_t which = launch.options.seed ? random() % engine.size() : 0;
      const std::function<void()> work = std::move(engine[which]);
      engine.erase(engine.begin() + static_cast<ptrdiff_t>(which));
      work();
      goesOn = true;
    }
    if (!goesOn && liveWarps != 0)
      reportDeadlock();
  }
  while (!engine.empty()) {
    const std::function<void()> work = std::move(engine.front());
    engine.pop_front();
    work();
  }
  if (profiler)
    profiler->endCluster();
}

uint32_t Machine::chooseLanes(const Warp &warp) {
  uint32_t pc = UINT32_MAX;
  if (launch.options.seed) {
    uint32_t left = warp.ready;
    for (uint64_t skip = random() % static_cast<unsigned>(std::popcount(left)); skip > 0; --skip)
      left &= left - 1;
    pc = warp.pc[std::countr_zero(left)];
  } else {
    for (uint32_t left = warp.ready; left; left &= left - 1)
      pc = std::min(pc, warp.pc[std::countr_zero(left)]);
  }
  uint32_t mask = 0;
  for (uint32_t left = warp.ready; left; left &= left - 1)
    if (warp.pc[std::countr_zero(left)] == pc)
      mask |= left & -left;
  return mask;
}

bool Machine::runWarp(Warp &warp) {
  bool didSomething = false;
  const bool isRandom = launch.options.seed != 0;
  uint64_t turns = isRandom ? 1 + random() % 8 : UINT64_MAX;
  while (turns-- > 0) {
    if (warp.waiting)
      didSomething |= wake(warp);
    if (!warp.ready) {
      if (warp.together && meet(warp)) {
        didSomething = true;
        continue;
      }
      if (warp.atBarrier && arrive(warp)) {
        didSomething = true;
        continue;
      }
      break;
    }
    didSomething = true;
    runLanes(warp, chooseLanes(warp), isRandom ? 1 + random() % 64 : UINT64_MAX);
  }
  return didSomething;
}

uint32_t Machine::membersOf(Warp &warp, const Instruction &at, unsigned lane) const {
  return at.members ? warp.at<uint32_t>(at.members)[lane] : warp.live();
}

void Machine::runLanes(Warp &warp, uint32_t mask, uint64_t most) {
  uint32_t pc = warp.pc[std::countr_zero(mask)];
  // Where others of the warp are that are ready: there lanes meet.
  uint32_t others = UINT32_MAX;
  auto findOthers = [&] {
    others = UINT32_MAX;
    for (uint32_t left = warp.ready & ~mask; left; left &= left - 1)
      others = std::min(others, warp.pc[std::countr_zero(left)]);
  };
  findOthers();
  auto leave = [&](uint32_t lanesThere, uint32_t where) {
    for (uint32_t left = lanesThere; left; left &= left - 1)
      warp.pc[std::countr_zero(left)] = where;
  };
  const Instruction *const code = program.code.data();
  uint64_t done = 0;
  for (; done < most; ++done) {
    if (pc >= others) {
      leave(mask, pc);
      break;
    }
    const Instruction &instruction = code[pc];
    uint32_t active = mask;
    if (instruction.guard)
      active &= *warp.at<uint32_t>(instruction.guard) ^ (instruction.isGuardNegated ? allLanes : 0);
    if (instruction.kind == Instruction::Plain) {
      if (active)
        instruction.execute(*this, warp, instruction, active);
      if (profiler)
        profiler->note(warp, instruction);
      ++pc;
      continue;
    }
    if (profiler)
      profiler->note(warp, instruction);
    if (instruction.kind == Instruction::Branch) {
      if (active == mask) {
        pc = instruction.target;
      } else if (active == 0) {
        ++pc;
      } else {
        leave(active, instruction.target);
        leave(mask & ~active, pc + 1);
        break;
      }
      if (done > launch.options.limit)
        fail(warp, instruction, 0, "no end after " + std::to_string(done) + " instructions");
      continue;
    }
    if (active == 0) {
      ++pc;
      continue;
    }
    if (instruction.kind == Instruction::Together) {
      const uint32_t members = membersOf(warp, instruction, static_cast<unsigned>(std::countr_zero(active)));
      if ((members & ~active) == 0) {
        instruction.execute(*this, warp, instruction, active);
        ++pc;
        continue;
      }
    }
    // Whoever does not take part goes on.
    leave(active, pc);
    leave(mask & ~active, pc + 1);
    if (instruction.kind == Instruction::Exit) {
      exit(warp, active);
    } else {
      warp.ready &= ~active;
      (instruction.kind == Instruction::Together  ? warp.together
       : instruction.kind == Instruction::Barrier ? warp.atBarrier
                                                  : warp.waiting) |= active;
      // What a wait begins with, once.
      if (instruction.kind == Instruction::Wait && instruction.execute)
        instruction.execute(*this, warp, instruction, active);
    }
    break;
  }
  if (done == most)
    leave(mask, pc);
  steps += done;
  if (steps > launch.options.limit)
    fail(warp, code[pc], 0, "no end after " + std::to_string(steps) + " instructions");
}

bool Machine::meet(Warp &warp) {
  for (uint32_t left = warp.together; left;) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(left));
    const uint32_t pc = warp.pc[first];
    const Instruction &instruction = program.code[pc];
    const uint32_t members = membersOf(warp, instruction, first);
    uint32_t here = 0;
    for (uint32_t each = left; each; each &= each - 1)
      if (warp.pc[std::countr_zero(each)] == pc)
        here |= each & -each;
    left &= ~here;
    if (members & ~warp.existing)
      fail(warp, instruction, first,
           "lanes that are not there are asked to take part: " + listLanes(members & ~warp.existing));
    if (members & warp.exited)
      fail(warp, instruction, first,
           "lanes that have ended are asked to take part: " + listLanes(members & warp.exited));
    if (members & ~here)
      continue;
    instruction.execute(*this, warp, instruction, here);
    for (uint32_t each = here; each; each &= each - 1)
      ++warp.pc[std::countr_zero(each)];
    warp.together &= ~here;
    warp.ready |= here;
    return true;
  }
  return false;
}

bool Machine::wake(Warp &warp) {
  uint32_t woken = 0;
  for (uint32_t left = warp.waiting; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const Instruction &instruction = program.code[warp.pc[lane]];
    if (!instruction.isOver(*this, warp, instruction, lane))
      continue;
    ++warp.pc[lane];
    woken |= uint32_t(1) << lane;
  }
  warp.waiting &= ~woken;
  warp.ready |= woken;
  return woken != 0;
}

//===----------------------------------------------------------------------===//
// Barriers of a workgroup
//===----------------------------------------------------------------------===//
// Warps meet there, as a card counts them: one whose lanes stand at different barriers is a Fault.

bool Machine::arrive(Warp &warp) {
  if (warp.hasArrived || warp.atBarrier != warp.live())
    return false;
  const unsigned first = static_cast<unsigned>(std::countr_zero(warp.atBarrier));
  const uint32_t pc = warp.pc[first];
  const Instruction &instruction = program.code[pc];
  const unsigned barrier = warp.at<uint32_t>(instruction.in[0])[first];
  const uint32_t threads = instruction.in[1] ? warp.at<uint32_t>(instruction.in[1])[first] : 0;
  if (barrier >= warp.group->barriers.size())
    fail(warp, instruction, first, "there is no barrier " + std::to_string(barrier));
  if (instruction.in[1] && (threads == 0 || threads % lanes != 0))
    fail(warp, instruction, first, "a barrier of " + std::to_string(threads) + " threads, no multiple of 32");
  for (uint32_t left = warp.atBarrier; left; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    if (warp.pc[lane] != pc || warp.at<uint32_t>(instruction.in[0])[lane] != barrier)
      fail(warp, instruction, lane,
           "lanes of a warp stand at different barriers, another one at " +
               describe(warp, program.code[warp.pc[lane]].line));
  }
  NamedBarrier &meets = warp.group->barriers[barrier];
  if (meets.arrived != 0 && meets.expected != threads)
    fail(warp, instruction, first,
         "barrier " + std::to_string(barrier) + " of " + std::to_string(threads) + " threads is one of " +
             std::to_string(meets.expected) + " for others");
  meets.expected = threads;
  ++meets.arrived;
  if (threads && meets.arrived * lanes > threads)
    fail(warp, instruction, first, "more threads meet at barrier " + std::to_string(barrier) + " than it is for");
  // bar.arrive goes on.
  if (instruction.option) {
    for (uint32_t left = warp.atBarrier; left; left &= left - 1)
      ++warp.pc[std::countr_zero(left)];
    warp.ready |= std::exchange(warp.atBarrier, 0);
  } else {
    warp.hasArrived = true;
  }
  tryComplete(*warp.group, barrier);
  return true;
}

void Machine::tryComplete(Group &group, unsigned barrier) {
  NamedBarrier &meets = group.barriers[barrier];
  uint32_t live = 0;
  for (const Warp &warp : group.warps)
    live += warp.live() != 0;
  if (meets.arrived == 0 || (meets.expected ? meets.arrived * lanes < meets.expected : meets.arrived < live))
    return;
  meets = {};
  for (Warp &warp : group.warps) {
    if (!warp.hasArrived)
      continue;
    const unsigned first = static_cast<unsigned>(std::countr_zero(warp.atBarrier));
    const Instruction &instruction = program.code[warp.pc[first]];
    if (warp.at<uint32_t>(instruction.in[0])[first] != barrier)
      continue;
    for (uint32_t left = warp.atBarrier; left; left &= left - 1)
      ++warp.pc[std::countr_zero(left)];
    warp.ready |= std::exchange(warp.atBarrier, 0);
    warp.hasArrived = false;
  }
}

void Machine::tryMeet() {
  for (const Group &group : groups)
    for (const Warp &warp : group.warps)
      for (uint32_t left = warp.live(); left; left &= left - 1)
        if (warp.meeting[std::countr_zero(left)] != meeting)
          return;
  ++meeting;
}

void Machine::exit(Warp &warp, uint32_t mask) {
  if (const uint32_t early = mask & ~warp.behind)
    fail(warp, program.code[warp.pc[std::countr_zero(early)]], static_cast<unsigned>(std::countr_zero(early)),
         "ends without having waited for the kernel before");
  warp.ready &= ~mask;
  warp.exited |= mask;
  if (warp.live())
    return;
  --liveWarps;
  for (unsigned barrier = 0; barrier < warp.group->barriers.size(); ++barrier)
    tryComplete(*warp.group, barrier);
  if (groups.size() > 1)
    tryMeet();
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

void zyx::ptx::run(Launch launch) {
  for (const Module::Global &global : launch.module->globals)
    launch.memory.emplace_back(global.address, global.address + global.bytes);
  std::sort(launch.memory.begin(), launch.memory.end());
  const unsigned groups = launch.groups[0] * launch.groups[1] * launch.groups[2];
  const unsigned threads = launch.threads[0] * launch.threads[1] * launch.threads[2];
  const Program &program = *launch.program;
  if (threads == 0 || threads > program.maxThreads)
    throw Fault("kernel " + program.name + ": " + std::to_string(threads) + " threads; it takes up to " +
                std::to_string(program.maxThreads));
  if (launch.groups[0] % program.clusterGroups != 0)
    throw Fault("kernel " + program.name + ": " + std::to_string(launch.groups[0]) + " workgroups are no clusters of " +
                std::to_string(program.clusterGroups));
  const unsigned clusters = groups / program.clusterGroups;
  const unsigned executed = launch.options.sample ? std::min(launch.options.sample, clusters) : clusters;
  std::atomic<unsigned> next = 0;
  std::exception_ptr thrown;
  std::mutex mutex;
  auto work = [&] {
    try {
      Machine machine(launch);
      for (unsigned number; (number = next++) < executed;)
        machine.runCluster(static_cast<unsigned>((2 * uint64_t(number) + 1) * clusters / (2 * uint64_t(executed))));
      if (machine.profiler) {
        std::lock_guard lock(mutex);
        launch.options.counts->add(machine.profiler->counts);
      }
    } catch (...) {
      next = executed;
      std::lock_guard lock(mutex);
      if (!thrown)
        thrown = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::min(launch.options.hostThreads, executed); ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
  if (thrown)
    std::rethrow_exception(thrown);
}
