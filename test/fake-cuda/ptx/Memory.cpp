//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Loads, stores and atomic operations of single lanes, and addresses.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Numbers.h"

#include <atomic>

using namespace zyx::ptx;

namespace {

uint64_t addressOf(const Warp &warp, const Instruction &at, unsigned lane) {
  // Bit 0 of `option`: addresses of 64 bits.
  if (at.option & 1)
    return reinterpret_cast<const uint64_t *>(warp.registers + at.in[0])[lane] + static_cast<uint64_t>(at.value);
  return reinterpret_cast<const uint32_t *>(warp.registers + at.in[0])[lane] + static_cast<uint32_t>(at.value);
}
Space spaceOf(const Instruction &at) { return static_cast<Space>(at.option >> 1 & 7); }
bool isSignedLoad(const Instruction &at) { return at.option >> 4 & 1; }

Space takeSpace(Decoder &decoder) {
  switch (decoder.takeOneOf(
      {"global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "const"})) {
  case 0:
    return Space::Global;
  case 1:
  case 2:
  case 3:
    return Space::Shared;
  case 4:
    return Space::Local;
  case 5:
  case 6:
    return Space::Param;
  case 7:
    return Space::Global;
  default:
    return Space::Generic;
  }
}

/// What says how a cache is used, and how the order is seen: all memory here is in order.
void takeHints(Decoder &decoder) {
  for (const char *hint : {"nc",
                           "weak",
                           "relaxed",
                           "acquire",
                           "release",
                           "acq_rel",
                           "volatile",
                           "cta",
                           "cluster",
                           "gpu",
                           "sys",
                           "ca",
                           "cg",
                           "cs",
                           "lu",
                           "cv",
                           "wb",
                           "wt",
                           "L1::no_allocate",
                           "L1::evict_first",
                           "L1::evict_last",
                           "L1::evict_normal",
                           "L1::evict_unchanged",
                           "L2::64B",
                           "L2::128B",
                           "L2::256B"})
    decoder.take(hint);
}

template <typename T> void loadOne(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  T *out = warp.at<T>(at.out);
  const Space space = spaceOf(at);
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::memcpy(&out[lane], machine.resolve(warp, at, lane, space, addressOf(warp, at, lane), sizeof(T), false),
                sizeof(T));
  }
}

void load(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  const RegisterSlice *places = machine.program.places.data() + at.first;
  const Space space = spaceOf(at);
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    const uint8_t *from =
        machine.resolve(warp, at, lane, space, addressOf(warp, at, lane), uint64_t(at.bytes) * at.count, false);
    for (uint32_t i = 0; i < at.count; ++i, from += at.bytes) {
      if (at.bytes == 16) {
        std::memcpy(warp.registers + places[i].offset + lane * 16, from, 16);
        continue;
      }
      uint64_t bits = 0;
      std::memcpy(&bits, from, at.bytes);
      if (const unsigned above = 64 - 8 * at.bytes; isSignedLoad(at))
        bits = static_cast<uint64_t>(static_cast<int64_t>(bits << above) >> above);
      writeAny(warp, places[i], lane, bits);
    }
  }
}

void store(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  const RegisterSlice *places = machine.program.places.data() + at.first;
  const Space space = spaceOf(at);
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    uint8_t *to =
        machine.resolve(warp, at, lane, space, addressOf(warp, at, lane), uint64_t(at.bytes) * at.count, true);
    for (uint32_t i = 0; i < at.count; ++i, to += at.bytes)
      std::memcpy(to, warp.registers + places[i].offset + lane * places[i].bytes, at.bytes);
  }
}

bool decodeLoadOrStore(Decoder &decoder, Instruction &made, bool isLoad) {
  const Space space = takeSpace(decoder);
  takeHints(decoder);
  const size_t vector = decoder.takeOneOf({"v2", "v4", "v8"});
  const uint32_t count = vector == 3 ? 1 : 2u << vector;
  const Type type = decoder.takeType();
  decoder.require(type.kind != Type::None && type.kind != Type::Predicate && type.count == 1,
                  "moves what is not known");
  const Operand &memory = decoder.operand(isLoad ? 1 : 0), &value = decoder.operand(isLoad ? 0 : 1);
  bool isLong = false;
  made.in[0] = decoder.address(memory, made.value, isLong);
  decoder.require(memory.parts.size() == 1, "has an address of several parts");
  made.option = static_cast<uint16_t>(isLong | static_cast<unsigned>(space) << 1 |
                                      (isLoad && type.kind == Type::Signed ? 16 : 0));
  made.bytes = type.bits / 8;
  std::vector<RegisterSlice> places;
  if (value.kind == Operand::Vector)
    for (const Operand &part : value.parts)
      places.push_back(decoder.wide(part, type.bits, isLoad));
  else
    places.push_back(decoder.wide(value, type.bits, isLoad));
  decoder.require(places.size() == count, "has another number of elements");
  decoder.list(made, places);
  made.execute = isLoad ? load : store;
  if (isLoad && count == 1 && places[0].bytes == made.bytes && made.bytes >= 2 && made.bytes <= 8) {
    made.out = places[0].offset;
    made.execute = made.bytes == 2 ? loadOne<uint16_t> : made.bytes == 4 ? loadOne<uint32_t> : loadOne<uint64_t>;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

enum class Atomic { Add, Min, Max, And, Or, Xor, Exch, Inc, Dec, Cas };

template <typename T> T combine(Atomic how, T a, T b) {
  switch (how) {
  case Atomic::Add:
    return static_cast<T>(a + b);
  case Atomic::Min:
    if constexpr (std::is_floating_point_v<T>)
      return smaller<false>(a, b);
    else
      return std::min(a, b);
  case Atomic::Max:
    if constexpr (std::is_floating_point_v<T>)
      return larger<false>(a, b);
    else
      return std::max(a, b);
  case Atomic::Exch:
    return b;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>)
    switch (how) {
    case Atomic::And:
      return a & b;
    case Atomic::Or:
      return a | b;
    case Atomic::Xor:
      return a ^ b;
    case Atomic::Inc:
      return a >= b ? 0 : a + 1;
    case Atomic::Dec:
      return a == 0 || a > b ? b : a - 1;
    default:
      break;
    }
  return b;
}

template <typename T, Atomic how> void atomic(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    uint8_t *place = machine.resolve(warp, at, lane, spaceOf(at), addressOf(warp, at, lane), sizeof(T), true);
    const std::atomic_ref<Bits> memory(*reinterpret_cast<Bits *>(place));
    Bits before = memory.load();
    const T value = warp.at<T>(at.in[1])[lane];
    if constexpr (how == Atomic::Cas) {
      memory.compare_exchange_strong(before = std::bit_cast<Bits>(value), warp.at<Bits>(at.in[2])[lane]);
    } else {
      while (!memory.compare_exchange_weak(before, std::bit_cast<Bits>(combine(how, std::bit_cast<T>(before), value))))
        ;
    }
    if (at.out)
      warp.at<Bits>(at.out)[lane] = before;
  }
}

bool decodeAtomic(Decoder &decoder, Instruction &made, bool isReduction) {
  const Space space = takeSpace(decoder);
  takeHints(decoder);
  const size_t which = decoder.takeOneOf({"add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas"});
  const Type type = decoder.takeType();
  decoder.take("noftz");
  decoder.require(which < 10 && type.count == 1 && (type.bits == 32 || type.bits == 64),
                  "is done to what is not known");
  const size_t first = isReduction ? 0 : 1;
  if (!isReduction && decoder.operand(0).kind != Operand::Sink)
    made.out = decoder.destination(0, type.bits);
  bool isLong = false;
  made.in[0] = decoder.address(decoder.operand(first), made.value, isLong);
  made.in[1] = decoder.source(first + 1, type.bits, type.kind);
  if (which == 9)
    made.in[2] = decoder.source(first + 2, type.bits);
  made.option = static_cast<uint16_t>(isLong | static_cast<unsigned>(space) << 1);
  auto make = [&]<typename T>(T) {
    static constexpr Execute all[] = {atomic<T, Atomic::Add>,  atomic<T, Atomic::Min>, atomic<T, Atomic::Max>,
                                      atomic<T, Atomic::And>,  atomic<T, Atomic::Or>,  atomic<T, Atomic::Xor>,
                                      atomic<T, Atomic::Exch>, atomic<T, Atomic::Inc>, atomic<T, Atomic::Dec>,
                                      atomic<T, Atomic::Cas>};
    made.execute = all[which];
  };
  if (type.kind == Type::Float) {
    decoder.require(which <= 2 || which == 6, "is done to no numbers");
    type.bits == 32 ? make(float()) : make(double());
  } else if (type.kind == Type::Signed) {
    type.bits == 32 ? make(int32_t()) : make(int64_t());
  } else {
    type.bits == 32 ? make(uint32_t()) : make(uint64_t());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

bool decodeAddress(Decoder &decoder, Instruction &made) {
  const bool isTo = decoder.take("to");
  const Space space = takeSpace(decoder);
  const Type type = decoder.takeType();
  decoder.require(type.bits == 64, "has addresses of 32 bits");
  made.out = decoder.destination(0, 64);
  made.in[0] = decoder.source(1, 64);
  const uint64_t window = space == Space::Shared  ? sharedWindow
                          : space == Space::Local ? localWindow
                          : space == Space::Param ? paramWindow
                                                  : 0;
  made.in[1] = decoder.constant(isTo ? 0 - window : window, 8);
  made.execute = each<uint64_t, uint64_t, uint64_t>([](uint64_t a, uint64_t b) { return a + b; });
  return true;
}

/// The same place in another workgroup of the cluster.
bool decodeMap(Decoder &decoder, Instruction &made) {
  const bool isGeneric = takeSpace(decoder) == Space::Generic;
  const Type type = decoder.takeType();
  decoder.require(type.bits == 64 || (type.bits == 32 && !isGeneric), "maps no shared memory");
  made.out = decoder.destination(0, type.bits);
  made.in[0] = decoder.source(1, type.bits);
  made.in[1] = decoder.source(2, 32);
  constexpr uint64_t low = (uint64_t(1) << rankShift) - 1;
  if (type.bits == 32)
    made.execute = each<uint32_t, uint32_t, uint32_t>(
        [](uint32_t a, uint32_t rank) { return static_cast<uint32_t>(a & low) | rank << rankShift; });
  else
    made.execute = each<uint64_t, uint64_t, uint32_t>(
        [](uint64_t a, uint32_t rank) { return (a >> 60 << 60) | (a & low) | uint64_t(rank) << rankShift; });
  return true;
}

} // namespace

bool zyx::ptx::decodeMemory(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  if (opcode == "ld" || opcode == "ldu")
    return decodeLoadOrStore(decoder, made, true);
  if (opcode == "st" && !decoder.take("async"))
    return decodeLoadOrStore(decoder, made, false);
  if (opcode == "st")
    return decodeRemoteStore(decoder, made);
  if (opcode == "atom" || opcode == "red")
    return decodeAtomic(decoder, made, opcode == "red");
  if (opcode == "cvta")
    return decodeAddress(decoder, made);
  if (opcode == "mapa")
    return decodeMap(decoder, made);
  if (opcode == "prefetch" || opcode == "membar") {
    // Nobody sees them here.
    takeSpace(decoder);
    takeHints(decoder);
    for (const char *word : {"L1", "L2", "tensormap", "gl"})
      decoder.take(word);
    made.execute = [](Machine &, Warp &, const Instruction &, uint32_t) {};
    return true;
  }
  return false;
}
