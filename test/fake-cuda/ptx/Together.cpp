//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What lanes of a warp do together, and where threads wait for each other.
//===----------------------------------------------------------------------===//
#include "Decoder.h"

#include <algorithm>

using namespace zyx::ptx;

namespace {

enum class Shuffle { Up, Down, Butterfly, Index };

template <Shuffle how> void shuffle(Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
  uint32_t values[lanes];
  std::memcpy(values, warp.at<uint32_t>(at.in[0]), sizeof(values));
  const uint32_t *b = warp.at<uint32_t>(at.in[1]), *c = warp.at<uint32_t>(at.in[2]);
  for (uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t by = b[lane] & 31, last = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const uint32_t highest = (lane & segment) | (last & ~segment), lowest = lane & segment;
    uint32_t from = 0;
    bool isInside = false;
    switch (how) {
    case Shuffle::Up:
      from = lane - by;
      isInside = static_cast<int32_t>(from) >= static_cast<int32_t>(highest);
      break;
    case Shuffle::Down:
      from = lane + by;
      isInside = from <= highest;
      break;
    case Shuffle::Butterfly:
      from = lane ^ by;
      isInside = from <= highest;
      break;
    case Shuffle::Index:
      from = lowest | (by & ~segment);
      isInside = from <= highest;
    }
    if (!isInside)
      from = lane;
    warp.at<uint32_t>(at.out)[lane] = values[from & 31];
    if (at.option) {
      uint32_t &flag = *warp.at<uint32_t>(at.in[3]);
      flag = (flag & ~(uint32_t(1) << lane)) | uint32_t(isInside) << lane;
    }
  }
}

bool decodeShuffle(Decoder &decoder, Instruction &made) {
  decoder.require(decoder.take("sync"), "is known with .sync only");
  const size_t how = decoder.takeOneOf({"up", "down", "bfly", "idx"});
  decoder.require(how < 4 && decoder.take("b32"), "shuffles in a way that is not known");
  const size_t results = decoder.numOperands() - 4;
  made.kind = Instruction::Together;
  made.out = decoder.destination(0, 32);
  made.option = results == 2;
  if (results == 2)
    made.in[3] = decoder.destination(1, 1);
  for (size_t i = 0; i < 3; ++i)
    made.in[i] = decoder.source(results + i, 32);
  made.members = decoder.source(results + 3, 32);
  static constexpr Execute all[] = {shuffle<Shuffle::Up>, shuffle<Shuffle::Down>, shuffle<Shuffle::Butterfly>,
                                    shuffle<Shuffle::Index>};
  made.execute = all[how];
  return true;
}

bool decodeVote(Decoder &decoder, Instruction &made) {
  decoder.require(decoder.take("sync"), "is known with .sync only");
  const size_t how = decoder.takeOneOf({"all", "any", "uni", "ballot"});
  decoder.require(how < 4, "votes in a way that is not known");
  decoder.take("pred") || decoder.take("b32");
  made.kind = Instruction::Together;
  made.out = decoder.destination(0, how == 3 ? 32 : 1);
  made.in[0] = decoder.source(1, 1);
  made.members = decoder.source(2, 32);
  made.option = static_cast<uint16_t>(how | (decoder.operand(1).isNegated ? 4 : 0));
  made.execute = [](Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
    const uint32_t votes = (*warp.at<uint32_t>(at.in[0]) ^ (at.option & 4 ? allLanes : 0)) & mask;
    if ((at.option & 3) == 3) {
      for (uint32_t left = mask; left; left &= left - 1)
        warp.at<uint32_t>(at.out)[std::countr_zero(left)] = votes;
      return;
    }
    const bool result = (at.option & 3) == 0   ? votes == mask
                        : (at.option & 3) == 1 ? votes != 0
                                               : votes == 0 || votes == mask;
    uint32_t &out = *warp.at<uint32_t>(at.out);
    out = result ? out | mask : out & ~mask;
  };
  return true;
}

/// redux: one number of those of all lanes.
bool decodeReduction(Decoder &decoder, Instruction &made) {
  decoder.require(decoder.take("sync"), "is known with .sync only");
  const size_t how = decoder.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  const Type type = decoder.takeType();
  decoder.require(how < 6 && type.bits == 32 && type.isInteger(), "reduces what is not known");
  made.kind = Instruction::Together;
  made.out = decoder.destination(0, 32);
  made.in[0] = decoder.source(1, 32);
  made.members = decoder.source(2, 32);
  made.option = static_cast<uint16_t>(how | (type.kind == Type::Signed ? 8 : 0));
  made.execute = [](Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
    const uint32_t *values = warp.at<uint32_t>(at.in[0]);
    uint32_t result = values[std::countr_zero(mask)];
    for (uint32_t left = mask & (mask - 1); left; left &= left - 1) {
      const uint32_t each = values[std::countr_zero(left)];
      const bool isLess = at.option & 8 ? static_cast<int32_t>(each) < static_cast<int32_t>(result) : each < result;
      switch (at.option & 7) {
      case 0:
        result += each;
        break;
      case 1:
        result = isLess ? each : result;
        break;
      case 2:
        result = isLess ? result : each;
        break;
      case 3:
        result &= each;
        break;
      case 4:
        result |= each;
        break;
      default:
        result ^= each;
      }
    }
    for (uint32_t left = mask; left; left &= left - 1)
      warp.at<uint32_t>(at.out)[std::countr_zero(left)] = result;
  };
  return true;
}

bool decodeBar(Decoder &decoder, Instruction &made) {
  decoder.take("cta");
  const bool isWarp = decoder.take("warp");
  const bool arrives = decoder.take("arrive");
  decoder.require(arrives || decoder.take("sync"), "is a barrier that is not known");
  decoder.take("aligned");
  if (isWarp) {
    made.kind = Instruction::Together;
    made.members = decoder.source(0, 32);
    made.execute = [](Machine &, Warp &, const Instruction &, uint32_t) {};
    return true;
  }
  made.kind = Instruction::Barrier;
  made.option = arrives;
  made.in[0] = decoder.source(0, 32);
  if (decoder.numOperands() > 1)
    made.in[1] = decoder.source(1, 32);
  decoder.require(!arrives || made.in[1], "does not say for how many threads");
  return true;
}

/// Of the threads of a cluster. Each lane arrives, and waits for the meeting that it has joined to be over.
bool decodeClusterBarrier(Decoder &decoder, Instruction &made) {
  const bool arrives = decoder.take("arrive");
  decoder.require(arrives || decoder.take("wait"), "is a barrier that is not known");
  for (const char *word : {"release", "relaxed", "acquire", "aligned"})
    decoder.take(word);
  if (arrives) {
    made.execute = [](Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
      for (uint32_t left = mask; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        if (warp.meeting[lane] == machine.meeting)
          machine.fail(warp, at, lane, "arrives twice at the cluster's barrier");
        warp.meeting[lane] = machine.meeting;
      }
      machine.tryMeet();
    };
    return true;
  }
  made.kind = Instruction::Wait;
  made.isOver = [](Machine &machine, Warp &warp, const Instruction &at, unsigned lane) {
    if (warp.meeting[lane] == UINT32_MAX)
      machine.fail(warp, at, lane, "waits at the cluster's barrier without having arrived");
    return warp.meeting[lane] != machine.meeting;
  };
  return true;
}

/// Whoever launches the kernel behind this one decides when that begins: nothing is done for it here.
bool decodeGridControl(Decoder &decoder, Instruction &made) {
  const bool waits = decoder.take("wait");
  decoder.require(waits || decoder.take("launch_dependents"), "controls grids in a way that is not known");
  made.execute = [](Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
    for (uint32_t left = mask; left; left &= left - 1)
      machine.requireBehind(warp, at, static_cast<unsigned>(std::countr_zero(left)), "lets the next kernel begin");
  };
  if (waits) {
    decoder.program.waits = true;
    made.execute = [](Machine &, Warp &warp, const Instruction &, uint32_t mask) { warp.behind |= mask; };
  }
  return true;
}

} // namespace

bool zyx::ptx::decodeWarp(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  if (opcode == "shfl")
    return decodeShuffle(decoder, made);
  if (opcode == "vote")
    return decodeVote(decoder, made);
  if (opcode == "redux")
    return decodeReduction(decoder, made);
  if (opcode == "bar" || opcode == "barrier")
    return decoder.take("cluster") ? decodeClusterBarrier(decoder, made) : decodeBar(decoder, made);
  if (opcode == "griddepcontrol")
    return decodeGridControl(decoder, made);
  if (opcode == "activemask") {
    decoder.take("b32");
    made.out = decoder.destination(0, 32);
    made.execute = [](Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
      for (uint32_t left = mask; left; left &= left - 1)
        warp.at<uint32_t>(at.out)[std::countr_zero(left)] = mask;
    };
    return true;
  }
  if (opcode == "elect") {
    decoder.require(decoder.take("sync"), "is known with .sync only");
    made.kind = Instruction::Together;
    made.out = decoder.operand(0).kind == Operand::Sink ? 0 : decoder.destination(0, 32);
    made.in[0] = decoder.destination(1, 1);
    made.members = decoder.source(2, 32);
    made.execute = [](Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
      const auto leader = static_cast<uint32_t>(std::countr_zero(mask));
      uint32_t &isLeader = *warp.at<uint32_t>(at.in[0]);
      isLeader = (isLeader & ~mask) | uint32_t(1) << leader;
      for (uint32_t left = mask; left && at.out; left &= left - 1)
        warp.at<uint32_t>(at.out)[std::countr_zero(left)] = leader;
    };
    return true;
  }
  return false;
}
