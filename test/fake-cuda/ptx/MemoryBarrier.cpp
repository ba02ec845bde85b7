//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Barriers in shared memory, and stores to other workgroups that complete at them.
//===----------------------------------------------------------------------===//
#include "Decoder.h"

using namespace zyx::ptx;

static constexpr uint64_t initialized = 0x5a;

MemoryBarrier *Machine::barrierAt(Warp &warp, const Instruction &at, unsigned lane, uint64_t address) {
  auto *barrier = reinterpret_cast<MemoryBarrier *>(resolve(warp, at, lane, Space::Shared, address, 8, true));
  if (barrier->isInitialized != initialized)
    fail(warp, at, lane, "there is no barrier that has been initialised");
  return barrier;
}

/// Where all have arrived and all bytes have come, the next phase begins.
static void tryFlip(MemoryBarrier &barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0)
    return;
  barrier.phase ^= 1;
  barrier.pending = barrier.expected;
}

void Machine::complete(Warp &warp, const Instruction &at, unsigned lane, uint64_t address, uint32_t bytes) {
  MemoryBarrier &barrier = *barrierAt(warp, at, lane, address);
  barrier.bytes -= bytes;
  tryFlip(barrier);
}

namespace {

uint64_t addressOf(Warp &warp, const Instruction &at, unsigned lane) {
  const uint64_t address = at.option & 1 ? warp.at<uint64_t>(at.in[0])[lane] : warp.at<uint32_t>(at.in[0])[lane];
  const uint64_t all = address + static_cast<uint64_t>(at.value);
  return all >> 60 == sharedWindow >> 60 ? all - sharedWindow : at.option & 1 ? all : static_cast<uint32_t>(all);
}

template <typename F> void forEach(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask, F &&body) {
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    body(lane, addressOf(warp, at, lane));
  }
}

void initialize(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  forEach(machine, warp, at, mask, [&](unsigned lane, uint64_t address) {
    auto *barrier = reinterpret_cast<MemoryBarrier *>(machine.resolve(warp, at, lane, Space::Shared, address, 8, true));
    const uint32_t count = warp.at<uint32_t>(at.in[1])[lane];
    if (count == 0 || count > 4095)
      machine.fail(warp, at, lane, "a barrier of " + std::to_string(count) + " arrivals is not modelled");
    *barrier = {count, count, 0, initialized, 0};
  });
}

/// `bytes` is 1 where bytes are expected.
void arrive(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  forEach(machine, warp, at, mask, [&](unsigned lane, uint64_t address) {
    MemoryBarrier &barrier = *machine.barrierAt(warp, at, lane, address);
    const uint32_t number = at.in[1] ? warp.at<uint32_t>(at.in[1])[lane] : 1;
    if (at.bytes)
      barrier.bytes += number;
    const uint32_t arrivals = at.bytes ? (at.bytes == 2 ? 0 : 1) : number;
    if (arrivals > barrier.pending)
      machine.fail(warp, at, lane, "more arrivals at a barrier than its phase has");
    if (at.out)
      warp.at<uint64_t>(at.out)[lane] = barrier.phase;
    barrier.pending -= arrivals;
    tryFlip(barrier);
  });
}

bool isOver(Machine &machine, Warp &warp, const Instruction &at, unsigned lane) {
  const MemoryBarrier &barrier = *machine.barrierAt(warp, at, lane, addressOf(warp, at, lane));
  // By its parity, or by the state that an arrival gave.
  const uint64_t phase = at.option & 2 ? warp.at<uint32_t>(at.in[1])[lane] & 1 : warp.at<uint64_t>(at.in[1])[lane] & 1;
  if (barrier.phase == phase)
    return false;
  *warp.at<uint32_t>(at.out) |= uint32_t(1) << lane;
  return true;
}

/// test_wait does not wait.
void testNow(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    *warp.at<uint32_t>(at.out) &= ~(uint32_t(1) << lane);
    isOver(machine, warp, at, lane);
  }
}

void takeScope(Decoder &decoder) {
  for (const char *word :
       {"release", "acquire", "relaxed", "cta", "cluster", "shared", "shared::cta", "shared::cluster", "b64"})
    decoder.take(word);
}

void takeAddress(Decoder &decoder, Instruction &made, size_t operand) {
  bool isLong = false;
  made.in[0] = decoder.address(decoder.operand(operand), made.value, isLong);
  made.option |= isLong;
}

bool decodeMemoryBarrier(Decoder &decoder, Instruction &made) {
  const size_t which = decoder.takeOneOf({"init", "inval", "arrive", "try_wait", "test_wait", "expect_tx"});
  const bool expects = decoder.take("expect_tx"), isParity = decoder.take("parity");
  const bool drops = decoder.take("noComplete");
  takeScope(decoder);
  decoder.require(which < 6 && !drops, "is not known of barriers in memory");
  if (which <= 1) {
    takeAddress(decoder, made, 0);
    if (which == 0)
      made.in[1] = decoder.source(1, 32);
    made.execute = which == 0 ? initialize : [](Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
      forEach(machine, warp, at, mask,
              [&](unsigned lane, uint64_t address) { machine.barrierAt(warp, at, lane, address)->isInitialized = 0; });
    };
    return true;
  }
  if (which == 3 || which == 4) {
    made.out = decoder.destination(0, 1);
    takeAddress(decoder, made, 1);
    made.option |= isParity << 1;
    made.in[1] = decoder.source(2, isParity ? 32 : 64);
    if (which == 3) {
      made.kind = Instruction::Wait;
      made.isOver = isOver;
    } else {
      made.execute = testNow;
    }
    return true;
  }
  // The state that an arrival gives may be missing.
  const size_t first = decoder.operand(0).kind == Operand::Memory ? 0 : 1;
  if (first == 1 && decoder.operand(0).kind != Operand::Sink)
    made.out = decoder.destination(0, 64);
  takeAddress(decoder, made, first);
  made.bytes = which == 5 ? 2 : expects;
  if (decoder.numOperands() > first + 1)
    made.in[1] = decoder.source(first + 1, 32);
  decoder.require(!made.bytes || made.in[1], "says not how many bytes it expects");
  made.execute = arrive;
  return true;
}

} // namespace

/// The engine takes it from the registers now and brings it later.
bool zyx::ptx::decodeRemoteStore(Decoder &decoder, Instruction &made) {
  takeScope(decoder);
  decoder.take("weak");
  const bool completes = decoder.take("mbarrier::complete_tx::bytes");
  const size_t vector = decoder.takeOneOf({"v2", "v4"});
  const Type type = decoder.takeType();
  // .b64 is among the words of a scope.
  decoder.require(completes && (type.bits == 32 || type.bits == 64), "stores in a way that is not known");
  takeAddress(decoder, made, 0);
  const Operand &value = decoder.operand(1);
  std::vector<RegisterSlice> places;
  if (vector == 2)
    places.push_back({decoder.source(value, type.bits), type.bits / 8});
  else
    for (const Operand &part : value.parts)
      places.push_back({decoder.source(part, type.bits, type.kind), type.bits / 8});
  decoder.require(places.size() == (vector == 2 ? 1 : 2u << vector), "has another number of elements");
  decoder.list(made, places);
  int64_t offset = 0;
  bool isLong = false;
  made.in[1] = decoder.address(decoder.operand(2), offset, isLong);
  decoder.require(!isLong && !(made.option & 1) && offset == 0, "has addresses that are not known here");
  made.bytes = type.bits / 8;
  made.execute = [](Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
    const RegisterSlice *places = machine.program.places.data() + at.first;
    forEach(machine, warp, at, mask, [&](unsigned lane, uint64_t address) {
      std::vector<uint8_t> bytes(at.count * at.bytes);
      for (uint32_t i = 0; i < at.count; ++i)
        std::memcpy(bytes.data() + i * at.bytes, warp.registers + places[i].offset + lane * at.bytes, at.bytes);
      const uint64_t barrier = warp.at<uint32_t>(at.in[1])[lane];
      machine.engine.push_back([&machine, &warp, &at, lane, address, barrier, bytes] {
        std::memcpy(machine.resolve(warp, at, lane, Space::Shared, address, bytes.size(), true), bytes.data(),
                    bytes.size());
        machine.complete(warp, at, lane, barrier, static_cast<uint32_t>(bytes.size()));
      });
    });
  };
  return true;
}

bool zyx::ptx::decodeBarrier(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  if (opcode == "mbarrier")
    return decodeMemoryBarrier(decoder, made);
  // Orders that a single thread of the host keeps anyway, and registers that nobody runs out of.
  const bool isFence = opcode == "fence", isOther = opcode == "setmaxnreg" || opcode == "griddepcontrol";
  if (!isFence && !isOther)
    return false;
  takeScope(decoder);
  for (const char *word : {"proxy",
                           "async",
                           "async::generic",
                           "sc",
                           "acq_rel",
                           "gpu",
                           "sys",
                           "global",
                           "mbarrier_init",
                           "alias",
                           "tensormap::generic",
                           "sync",
                           "aligned",
                           "inc",
                           "dec",
                           "u32",
                           "wait",
                           "launch_dependents",
                           "sync_restrict::shared::cta",
                           "sync_restrict::shared::cluster"})
    decoder.take(word);
  made.execute = [](Machine &, Warp &, const Instruction &, uint32_t) {};
  return true;
}
