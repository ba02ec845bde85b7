//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// A kernel as it is executed: instructions with the function that does each for the lanes of a warp, and with the
// places of their registers. A register has a place for each of the 32 lanes, one behind the other; a predicate is a
// word with a bit for each. Constants and special registers are registers that nobody writes.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_PTX_PROGRAM_H
#define ZYX_TEST_FAKECUDA_PTX_PROGRAM_H

#include "Text.h"

#include <memory>

namespace zyx::ptx {

class Machine;
struct Warp;
struct Instruction;

inline constexpr unsigned lanes = 32;
inline constexpr uint32_t allLanes = ~uint32_t(0);

using Execute = void (*)(Machine &, Warp &, const Instruction &, uint32_t mask);

/// Cycles for which a quarter of a multiprocessor issues an instruction of a warp: of ordinary ones, of special
/// functions, and of tensor cores.
struct IssueCost {
  float issue = 1, special = 0, tensor = 0;
  static IssueCost of(const std::vector<std::string> &words);
};

/// A register: where it begins and the bytes of one lane. A sink has none.
struct RegisterSlice {
  uint32_t offset = 0, bytes = 0;
};

struct Instruction {
  enum Kind : uint8_t {
    Plain,
    /// To `target`.
    Branch,
    Exit,
    /// Of all lanes that its mask names, or of all of the warp, together.
    Together,
    /// bar.sync and its like.
    Barrier,
    /// Its lanes go on once `isOver` says so.
    Wait,
  } kind = Plain;
  bool isGuardNegated = false;
  /// 0 for none: no register is there.
  uint32_t guard = 0;
  Execute execute = nullptr;
  uint32_t out = 0, in[4] = {};
  uint32_t target = 0;
  /// Added to an address; or what else an instruction has to say.
  int64_t value = 0;
  /// The registers of vectors, in the program's list.
  uint32_t first = 0, count = 0;
  /// Of the mask of lanes that do it together; 0 for all lanes.
  uint32_t members = 0;
  uint16_t option = 0;
  uint32_t bytes = 0;
  int line = 0;
  IssueCost cost;
  /// A load that leaves nothing in the first cache.
  bool isPastL1 = false;
  bool (*isOver)(Machine &, Warp &, const Instruction &, unsigned lane) = nullptr;
};

struct Program {
  std::string name;
  std::vector<Instruction> code;
  std::vector<RegisterSlice> places;
  struct Constant {
    RegisterSlice place;
    uint64_t bits;
  };
  std::vector<Constant> constants;
  struct Special {
    RegisterSlice place;
    std::string name;
  };
  std::vector<Special> specials;
  uint32_t registerBytes = 0;
  uint64_t parameterBytes = 0, localBytes = 0, sharedBytes = 0;
  /// Bytes of each parameter, and where it begins.
  std::vector<std::pair<uint64_t, uint64_t>> parameters;
  unsigned clusterGroups = 1, maxThreads = 1024;
  /// Whether it waits for the kernel before.
  bool waits = false;
};

/// What a text has become. Its kernels find their variables in global memory here.
struct Module {
  std::vector<std::string> lines;
  std::vector<Program> programs;
  struct Global {
    uint64_t address, bytes;
    std::unique_ptr<uint8_t[]> memory;
  };
  std::vector<Global> globals;
};

/// Throws a Fault for whatever is not known.
std::unique_ptr<Module> load(std::string_view text);

} // namespace zyx::ptx

#endif // ZYX_TEST_FAKECUDA_PTX_PROGRAM_H
