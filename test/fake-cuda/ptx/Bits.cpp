//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Bits: logic of words and of predicates, shifts, and what takes words apart.
//===----------------------------------------------------------------------===//
#include "Decoder.h"

#include <algorithm>

using namespace zyx::ptx;

namespace {

template <typename F> bool withBits(unsigned bits, F &&body) {
  switch (bits) {
  case 16:
    body(uint16_t());
    return true;
  case 32:
    body(uint32_t());
    return true;
  case 64:
    body(uint64_t());
    return true;
  default:
    return false;
  }
}

enum class Logic { And, Or, Xor, Not };

template <Logic logic> struct Apply {
  template <typename T> T operator()(T a, T b) const {
    return static_cast<T>(logic == Logic::And ? a & b : logic == Logic::Or ? a | b : a ^ b);
  }
};

/// Predicates of all lanes are one word.
template <Logic logic> void predicates(Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
  auto read = [&](size_t i) { return *warp.at<uint32_t>(at.in[i]) ^ (at.option >> i & 1 ? allLanes : 0); };
  const uint32_t result = logic == Logic::Not ? ~read(0) : Apply<logic>()(read(0), read(1));
  uint32_t &out = *warp.at<uint32_t>(at.out);
  out = (out & ~mask) | (result & mask);
}

template <Logic logic> bool decodeBits(Decoder &decoder, Instruction &made) {
  const Type type = decoder.takeType();
  made.out = decoder.destination(0, type.bits);
  for (size_t i = 0; i < (logic == Logic::Not ? 1 : 2); ++i) {
    made.in[i] = decoder.source(i + 1, type.bits);
    made.option |= static_cast<uint16_t>(decoder.operand(i + 1).isNegated << i);
  }
  if (type.kind == Type::Predicate) {
    made.execute = predicates<logic>;
    return true;
  }
  decoder.require(type.kind == Type::Bits && made.option == 0, "has no type of bits");
  return withBits(type.bits, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (logic == Logic::Not)
      made.execute = each<T, T>([](T a) { return ~a; });
    else
      made.execute = each<T, T, T>(Apply<logic>());
  });
}

/// Beyond the width nothing is left, or the sign.
bool decodeShift(Decoder &decoder, Instruction &made, bool isLeft) {
  const Type type = decoder.takeType();
  made.out = decoder.destination(0, type.bits);
  made.in[0] = decoder.source(1, type.bits);
  made.in[1] = decoder.source(2, 32);
  return withBits(type.bits, [&](auto zero) {
    using T = decltype(zero);
    using S = std::make_signed_t<T>;
    constexpr unsigned bits = 8 * sizeof(T);
    if (isLeft)
      made.execute = each<T, T, uint32_t>([](T a, uint32_t b) { return b < bits ? static_cast<T>(a << b) : T(0); });
    else if (type.kind == Type::Signed)
      made.execute = each<S, S, uint32_t>([](S a, uint32_t b) { return a >> std::min(b, bits - 1); });
    else
      made.execute = each<T, T, uint32_t>([](T a, uint32_t b) { return b < bits ? static_cast<T>(a >> b) : T(0); });
  });
}

bool decodeFunnel(Decoder &decoder, Instruction &made) {
  const bool isLeft = decoder.take("l"), isRight = decoder.take("r");
  const bool wraps = decoder.take("wrap"), clamps = decoder.take("clamp");
  decoder.require(isLeft != isRight && wraps != clamps && decoder.takeType().bits == 32,
                  "shifts in a way that is not known");
  made.out = decoder.destination(0, 32);
  for (size_t i = 0; i < 3; ++i)
    made.in[i] = decoder.source(i + 1, 32);
  auto make = [&]<bool left, bool wrap>() {
    made.execute = each<uint32_t, uint32_t, uint32_t, uint32_t>([](uint32_t low, uint32_t high, uint32_t by) {
      const unsigned n = wrap ? by & 31 : std::min(by, 32u);
      const uint64_t both = uint64_t(high) << 32 | low;
      return static_cast<uint32_t>(left ? both << n >> 32 : both >> n);
    });
  };
  if (isLeft)
    wraps ? make.operator()<true, true>() : make.operator()<true, false>();
  else
    wraps ? make.operator()<false, true>() : make.operator()<false, false>();
  return true;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t way = selector >> 4 * i & 15;
    uint32_t byte = static_cast<uint32_t>(both >> 8 * (way & 7)) & 0xff;
    if (way & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

/// lop3: each bit of the result is the bit of the table that the bits of three words name.
void decodeTable(Decoder &decoder, Instruction &made) {
  decoder.require(decoder.take("b32"), "has no type of bits");
  made.out = decoder.destination(0, 32);
  for (size_t i = 0; i < 3; ++i)
    made.in[i] = decoder.source(i + 1, 32);
  made.in[3] = decoder.constant(decoder.number(4), 4);
  made.execute =
      each<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
        uint32_t result = 0;
        for (unsigned i = 0; i < 8; ++i)
          if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        return result;
      });
}

template <typename T, bool isSigned> T extractBits(T a, uint32_t position, uint32_t length) {
  constexpr uint32_t bits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  T result = 0;
  const uint32_t last = std::min(position + length - 1, bits - 1);
  const bool sign = isSigned && length != 0 && (a >> last & 1);
  for (uint32_t i = 0; i < bits; ++i) {
    const bool bit = i < length && position + i < bits ? a >> (position + i) & 1 : sign;
    result |= static_cast<T>(bit) << i;
  }
  return result;
}

template <typename T> T insertBits(T a, T b, uint32_t position, uint32_t length) {
  constexpr uint32_t bits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  for (uint32_t i = 0; i < length && position + i < bits; ++i) {
    const T bit = T(1) << (position + i);
    b = (a >> i & 1) ? b | bit : b & ~bit;
  }
  return b;
}

bool decodeFields(Decoder &decoder, Instruction &made, bool inserts) {
  const Type type = decoder.takeType();
  decoder.require(type.isInteger() && (type.bits == 32 || type.bits == 64), "has no type of bits");
  made.out = decoder.destination(0, type.bits);
  size_t i = 0;
  for (; i < (inserts ? 2 : 1); ++i)
    made.in[i] = decoder.source(i + 1, type.bits);
  made.in[i] = decoder.source(i + 1, 32);
  made.in[i + 1] = decoder.source(i + 2, 32);
  return withBits(type.bits, [&](auto zero) {
    using T = decltype(zero);
    if (inserts)
      made.execute =
          each<T, T, T, uint32_t, uint32_t>([](T a, T b, uint32_t p, uint32_t n) { return insertBits(a, b, p, n); });
    else if (type.kind == Type::Signed)
      made.execute =
          each<T, T, uint32_t, uint32_t>([](T a, uint32_t p, uint32_t n) { return extractBits<T, true>(a, p, n); });
    else
      made.execute =
          each<T, T, uint32_t, uint32_t>([](T a, uint32_t p, uint32_t n) { return extractBits<T, false>(a, p, n); });
  });
}

bool decodeCount(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  const bool isShift = decoder.take("shiftamt");
  const Type type = decoder.takeType();
  const bool isReverse = opcode == "brev";
  made.out = decoder.destination(0, isReverse ? type.bits : 32);
  made.in[0] = decoder.source(1, type.bits);
  return withBits(type.bits, [&](auto zero) {
    using T = decltype(zero);
    using S = std::make_signed_t<T>;
    constexpr int bits = 8 * sizeof(T);
    if (opcode == "popc")
      made.execute = each<uint32_t, T>([](T a) { return std::popcount(a); });
    else if (opcode == "clz")
      made.execute = each<uint32_t, T>([](T a) { return std::countl_zero(a); });
    else if (isReverse)
      made.execute = each<T, T>([](T a) {
        T result = 0;
        for (int i = 0; i < bits; ++i)
          result = static_cast<T>(result << 1 | (a >> i & 1));
        return result;
      });
    else if (type.kind == Type::Signed && !isShift)
      made.execute = each<uint32_t, T>([](T a) {
        const T x = static_cast<T>(static_cast<S>(a) < 0 ? ~a : a);
        return x ? static_cast<uint32_t>(bits - 1 - std::countl_zero(x)) : ~uint32_t(0);
      });
    else {
      decoder.require(type.kind != Type::Signed, "finds no bit of what is signed");
      if (isShift)
        made.execute =
            each<uint32_t, T>([](T a) { return a ? static_cast<uint32_t>(std::countl_zero(a)) : ~uint32_t(0); });
      else
        made.execute = each<uint32_t, T>(
            [](T a) { return a ? static_cast<uint32_t>(bits - 1 - std::countl_zero(a)) : ~uint32_t(0); });
    }
  });
}

} // namespace

bool zyx::ptx::decodeLogic(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  if (opcode == "and")
    return decodeBits<Logic::And>(decoder, made);
  if (opcode == "or")
    return decodeBits<Logic::Or>(decoder, made);
  if (opcode == "xor")
    return decodeBits<Logic::Xor>(decoder, made);
  if (opcode == "not")
    return decodeBits<Logic::Not>(decoder, made);
  if (opcode == "shl" || opcode == "shr")
    return decodeShift(decoder, made, opcode == "shl");
  if (opcode == "shf")
    return decodeFunnel(decoder, made);
  if (opcode == "bfe" || opcode == "bfi")
    return decodeFields(decoder, made, opcode == "bfi");
  if (opcode == "popc" || opcode == "clz" || opcode == "brev" || opcode == "bfind")
    return decodeCount(decoder, made);
  if (opcode == "lop3") {
    decodeTable(decoder, made);
    return true;
  }
  if (opcode == "prmt" && decoder.take("b32")) {
    made.out = decoder.destination(0, 32);
    for (size_t i = 0; i < 3; ++i)
      made.in[i] = decoder.source(i + 1, 32);
    made.execute = each<uint32_t, uint32_t, uint32_t, uint32_t>(
        [](uint32_t a, uint32_t b, uint32_t s) { return permute(a, b, s); });
    return true;
  }
  return false;
}
