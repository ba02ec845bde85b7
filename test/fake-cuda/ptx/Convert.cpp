//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Conversions between numbers, and moves of bits between registers.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Numbers.h"

#include <algorithm>

using namespace zyx::ptx;

namespace {

/// What a conversion is, packed into an instruction: it is rare enough for a look at it each time.
struct Conversion {
  Type to, from;
  Rounding rounding = Rounding::Even;
  bool toInteger = false, flushes = false, saturates = false, isFinite = false, isRelu = false;
};

double decodeNumber(Type type, uint64_t bits) {
  switch (type.kind) {
  case Type::Float:
    return type.bits == 16   ? fromHalf(static_cast<uint16_t>(bits))
           : type.bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                             : std::bit_cast<double>(bits);
  case Type::BFloat:
    return fromBHalf(static_cast<uint16_t>(bits));
  case Type::E4M3:
    return E4M3::decode(bits & 0xff);
  default:
    return E5M2::decode(bits & 0xff);
  }
}

float toSingle(double x, Rounding rounding) {
  const auto nearest = static_cast<float>(x);
  if (rounding == Rounding::Even || x != x || static_cast<double>(nearest) == x)
    return nearest;
  const bool isAbove = static_cast<double>(nearest) > x;
  const bool wantsAbove = rounding == Rounding::Up || (rounding == Rounding::Zero && x < 0);
  return isAbove == wantsAbove ? nearest : std::nextafterf(nearest, wantsAbove ? INFINITY : -INFINITY);
}

uint64_t encodeNumber(const Conversion &how, double x) {
  if (how.isRelu && !(x > 0))
    x = x != x ? x : 0;
  if (how.saturates)
    x = x > 0 ? std::min(x, 1.0) : 0;
  switch (how.to.kind) {
  case Type::Float:
    if (how.to.bits == 16)
      return Half::encode(x, how.rounding, how.isFinite);
    if (how.to.bits == 32) {
      const float single = canonical(toSingle(x, how.rounding));
      return std::bit_cast<uint32_t>(how.flushes ? flush(single) : single);
    }
    return std::bit_cast<uint64_t>(x);
  case Type::BFloat:
    return BHalf::encode(x, how.rounding, how.isFinite);
  case Type::TF32:
    return toTF32(static_cast<float>(x));
  case Type::E4M3:
    return E4M3::encode(x, how.rounding, how.isFinite);
  default:
    return E5M2::encode(x, how.rounding, how.isFinite);
  }
}

uint64_t toInteger(Type to, Type from, double x, Rounding rounding) {
  const bool isSigned = to.kind == Type::Signed;
  if (x != x)
    return from.bits == 64 || to.bits == 64 ? uint64_t(1) << (to.bits - 1) : 0;
  x = roundToInteger(x, rounding);
  const double limit = std::ldexp(1.0, static_cast<int>(to.bits - isSigned));
  if (x >= limit)
    return (isSigned ? uint64_t(1) << (to.bits - 1) : to.bits == 64 ? 0 : uint64_t(1) << to.bits) - 1;
  if (isSigned)
    return x < -limit ? uint64_t(1) << (to.bits - 1) : static_cast<uint64_t>(static_cast<int64_t>(x));
  return x <= 0 ? 0 : static_cast<uint64_t>(x);
}

uint64_t extend(Type type, uint64_t bits) {
  if (type.bits == 64)
    return bits;
  const unsigned shift = 64 - type.bits;
  return type.kind == Type::Signed ? static_cast<uint64_t>(static_cast<int64_t>(bits << shift) >> shift)
                                   : bits << shift >> shift;
}

uint64_t convertOne(const Conversion &how, uint64_t bits) {
  if (!how.from.isInteger()) {
    double x = decodeNumber(how.from, bits);
    if (how.flushes && how.from.is(Type::Float, 32))
      x = flush(static_cast<float>(x));
    if (how.to.isInteger())
      return toInteger(how.to, how.from, x, how.rounding);
    // To a number of the same type without a fraction.
    return encodeNumber(how, how.toInteger ? roundToInteger(x, how.rounding) : x);
  }
  bits = extend(how.from, bits);
  const bool isSigned = how.from.kind == Type::Signed;
  if (how.to.isInteger()) {
    if (!how.saturates)
      return bits;
    const bool toSigned = how.to.kind == Type::Signed;
    const __int128 value = isSigned ? __int128(static_cast<int64_t>(bits)) : __int128(bits);
    const __int128 most = (__int128(1) << (how.to.bits - toSigned)) - 1, least = toSigned ? -most - 1 : 0;
    return static_cast<uint64_t>(std::clamp(value, least, most));
  }
  // Integers of 64 bits are rounded once.
  if (how.to.is(Type::Float, 32) && how.rounding == Rounding::Even)
    return std::bit_cast<uint32_t>(isSigned ? static_cast<float>(static_cast<int64_t>(bits))
                                            : static_cast<float>(bits));
  return encodeNumber(how, isSigned ? static_cast<double>(static_cast<int64_t>(bits)) : static_cast<double>(bits));
}

/// A conversion stands in the numbers of its instruction.
Conversion conversionOf(const Instruction &at) {
  Conversion how;
  auto type = [](uint64_t code) {
    return Type{static_cast<Type::Kind>(code & 15), static_cast<unsigned>(code >> 4 & 0xff),
                static_cast<unsigned>(code >> 12 & 3)};
  };
  const auto bits = static_cast<uint64_t>(at.value);
  how.to = type(bits);
  how.from = type(bits >> 16);
  how.rounding = static_cast<Rounding>(bits >> 32 & 7);
  how.toInteger = bits >> 35 & 1;
  how.flushes = bits >> 36 & 1;
  how.saturates = bits >> 37 & 1;
  how.isFinite = bits >> 38 & 1;
  how.isRelu = bits >> 39 & 1;
  return how;
}
int64_t codeOf(const Conversion &how) {
  auto type = [](Type t) { return uint64_t(t.kind) | uint64_t(t.bits) << 4 | uint64_t(t.count) << 12; };
  return static_cast<int64_t>(type(how.to) | type(how.from) << 16 | uint64_t(how.rounding) << 32 |
                              uint64_t(how.toInteger) << 35 | uint64_t(how.flushes) << 36 |
                              uint64_t(how.saturates) << 37 | uint64_t(how.isFinite) << 38 |
                              uint64_t(how.isRelu) << 39);
}

void convert(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  const Conversion how = conversionOf(at);
  const RegisterSlice *places = machine.program.places.data() + at.first;
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    uint64_t result = 0;
    if (how.to.count == 1) {
      result = convertOne(how, readAny(warp, places[1], lane));
      if (how.to.isInteger() && how.to.bits < 8 * places[0].bytes)
        result = extend(how.to, result);
    } else if (at.count == 3) {
      // The first number goes to the upper half.
      result = convertOne(how, readAny(warp, places[1], lane)) << how.to.bits |
               convertOne(how, readAny(warp, places[2], lane));
    } else {
      const uint64_t both = readAny(warp, places[1], lane), low = both & ((uint64_t(1) << how.from.bits) - 1);
      result = convertOne(how, both >> how.from.bits) << how.to.bits | convertOne(how, low);
    }
    writeAny(warp, places[0], lane, result);
  }
}

bool decodeCvt(Decoder &decoder, Instruction &made) {
  Conversion how;
  const size_t rounding = decoder.takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  how.rounding = rounding == 1 || rounding == 6   ? Rounding::Zero
                 : rounding == 2 || rounding == 7 ? Rounding::Down
                 : rounding == 3 || rounding == 8 ? Rounding::Up
                 : rounding == 4                  ? Rounding::Away
                                                  : Rounding::Even;
  how.toInteger = rounding >= 5 && rounding <= 8;
  how.flushes = decoder.take("ftz");
  how.saturates = decoder.take("sat");
  how.isFinite = decoder.take("satfinite");
  how.isRelu = decoder.take("relu");
  how.to = decoder.takeType();
  how.from = decoder.takeType();
  decoder.require(how.from.kind != Type::None && how.from.kind != Type::Predicate, "converts what is not known");
  decoder.require(how.to.isInteger() == how.from.isInteger() || how.toInteger || how.from.isInteger(),
                  "has no rounding");
  // A pair comes of two numbers or of another pair.
  std::vector<RegisterSlice> places = {decoder.wide(decoder.operand(0), how.to.width(), true)};
  for (size_t i = 1; i < decoder.numOperands(); ++i)
    places.push_back(decoder.wide(decoder.operand(i), how.from.width(), false));
  decoder.require(how.to.count == 1 ? places.size() == 2 && how.from.count == 1
                                    : places.size() == (how.from.count == 2 ? 2u : 3u),
                  "has another number of operands");
  decoder.list(made, places);
  made.value = codeOf(how);
  made.execute = convert;
  // What kernels do all the time is done at once.
  auto simple = [&](auto execute, unsigned to, unsigned from) {
    if (places.size() != 2 || places[0].bytes * 8 != to || places[1].bytes * 8 != from)
      return;
    made.out = places[0].offset;
    made.in[0] = places[1].offset;
    made.execute = execute;
  };
  const bool isPlain = !how.flushes && !how.saturates && !how.isFinite && !how.isRelu;
  if (isPlain && how.from.is(Type::Float, 16) && how.to.is(Type::Float, 32))
    simple(each<float, uint16_t>([](uint16_t a) { return canonical(fromHalf(a)); }), 32, 16);
  if (isPlain && how.from.is(Type::BFloat, 16) && how.to.is(Type::Float, 32))
    simple(each<float, uint16_t>([](uint16_t a) { return canonical(fromBHalf(a)); }), 32, 16);
  if (isPlain && how.from.is(Type::Signed, 32) && how.to.is(Type::Signed, 64))
    simple(each<int64_t, int32_t>([](int32_t a) { return a; }), 64, 32);
  if (isPlain && how.from.is(Type::Unsigned, 32) && how.to.is(Type::Unsigned, 64))
    simple(each<uint64_t, uint32_t>([](uint32_t a) { return a; }), 64, 32);
  if (isPlain && how.from.is(Type::Unsigned, 64) && how.to.is(Type::Unsigned, 32))
    simple(each<uint32_t, uint64_t>([](uint64_t a) { return a; }), 32, 64);
  return true;
}

/// cvt.pack: two words, saturated to bytes, below what is there.
bool decodePack(Decoder &decoder, Instruction &made) {
  decoder.require(decoder.take("sat"), "packs in a way that is not known");
  const Type to = decoder.takeType(), from = decoder.takeType();
  decoder.require(from.is(Type::Signed, 32) && (to.bits == 8 || to.bits == 16), "packs what is not known");
  if (to.bits == 8)
    decoder.require(decoder.takeType().bits == 32, "packs what is not known");
  made.out = decoder.destination(0, 32);
  for (size_t i = 1; i < decoder.numOperands(); ++i)
    made.in[i - 1] = decoder.source(i, 32);
  if (to.bits == 16)
    made.in[2] = decoder.constant(0, 4);
  auto make = [&]<typename T>(T) {
    made.execute = each<uint32_t, int32_t, int32_t, uint32_t>([](int32_t a, int32_t b, uint32_t c) {
      auto limit = [](int32_t x) -> uint64_t {
        return std::make_unsigned_t<T>(
            std::clamp<int32_t>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
      };
      constexpr unsigned bits = 8 * sizeof(T);
      return static_cast<uint32_t>(uint64_t(c) << 2 * bits | limit(a) << bits | limit(b));
    });
  };
  if (to.kind == Type::Signed)
    to.bits == 8 ? make(int8_t()) : make(int16_t());
  else
    to.bits == 8 ? make(uint8_t()) : make(uint16_t());
  return true;
}

void splitOrJoin(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  const RegisterSlice *places = machine.program.places.data() + at.first;
  const RegisterSlice whole = places[0];
  const unsigned parts = at.count - 1, bytes = whole.bytes / parts;
  for (; mask; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::byte *memory = warp.registers + whole.offset + lane * whole.bytes;
    std::byte copy[16];
    if (at.option)
      std::memcpy(copy, memory, whole.bytes);
    for (unsigned i = 0; i < parts; ++i) {
      const RegisterSlice part = places[i + 1];
      std::byte *there = warp.registers + part.offset + lane * part.bytes;
      if (at.option && part.bytes)
        std::memcpy(there, copy + i * bytes, bytes);
      else if (!at.option)
        std::memcpy(copy + i * bytes, there, bytes);
    }
    if (!at.option)
      std::memcpy(memory, copy, whole.bytes);
  }
}

bool decodeMov(Decoder &decoder, Instruction &made) {
  const Type type = decoder.takeType();
  const unsigned bits = type.width();
  const bool splits = decoder.operand(0).kind == Operand::Vector, joins = decoder.operand(1).kind == Operand::Vector;
  if (splits || joins) {
    const Operand &vector = decoder.operand(splits ? 0 : 1), &scalar = decoder.operand(splits ? 1 : 0);
    const auto parts = static_cast<unsigned>(vector.parts.size());
    decoder.require(!(splits && joins) && parts > 1 && bits % parts == 0, "moves what is not known");
    std::vector<RegisterSlice> places = {
        {splits ? decoder.source(scalar, bits) : decoder.destination(scalar, bits), bits / 8}};
    for (const Operand &part : vector.parts) {
      if (part.kind == Operand::Sink)
        places.push_back({});
      else
        places.push_back(
            {splits ? decoder.destination(part, bits / parts) : decoder.source(part, bits / parts), bits / parts / 8});
    }
    decoder.list(made, places);
    made.option = splits;
    made.execute = splitOrJoin;
    return true;
  }
  made.out = decoder.destination(0, bits);
  if (decoder.operand(1).name.rfind("%clock", 0) == 0) {
    made.execute = bits == 64 ? each<uint64_t>([] { return 0; }) : each<uint32_t>([] { return 0; });
    return true;
  }
  made.in[0] = decoder.source(1, bits, type.kind);
  if (type.kind == Type::Predicate)
    made.execute = [](Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
      uint32_t &out = *warp.at<uint32_t>(at.out);
      out = (out & ~mask) | (*warp.at<uint32_t>(at.in[0]) & mask);
    };
  else if (bits == 16)
    made.execute = each<uint16_t, uint16_t>([](uint16_t a) { return a; });
  else if (bits == 32)
    made.execute = each<uint32_t, uint32_t>([](uint32_t a) { return a; });
  else if (bits == 64)
    made.execute = each<uint64_t, uint64_t>([](uint64_t a) { return a; });
  else
    return false;
  return true;
}

} // namespace

bool zyx::ptx::decodeConvert(Decoder &decoder, Instruction &made) {
  if (decoder.opcode() != "cvt")
    return false;
  return decoder.take("pack") ? decodePack(decoder, made) : decodeCvt(decoder, made);
}

bool zyx::ptx::decodeMove(Decoder &decoder, Instruction &made) {
  return decoder.opcode() == "mov" && decodeMov(decoder, made);
}
