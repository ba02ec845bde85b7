//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products of a warp by mma.sync, and the loads and stores of its fragments. Lane l has of a left factor, in each
// register of 32 bits, elements of row l / 4 or of the one eight below, which begin at l % 4 registers; of a right one
// those of column l / 4; of a sum two neighbours in these two rows.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Numbers.h"

using namespace zyx::ptx;

namespace {

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// Matrices of 8 x 8 halves: lane 8 i + r has the address of row r of matrix i.
template <bool isLoad> void moveMatrices(Machine &machine, Warp &warp, const Instruction &at, uint32_t mask) {
  const RegisterSlice *places = machine.program.places.data() + at.first;
  const bool isLong = at.option & 1, isTransposed = at.option & 2;
  for (uint32_t matrix = 0; matrix < at.count; ++matrix) {
    uint16_t elements[8][8];
    uint8_t *rows[8];
    for (uint32_t row = 0; row < 8; ++row) {
      const unsigned lane = matrix * 8 + row;
      const uint64_t base = isLong ? warp.at<uint64_t>(at.in[0])[lane] : warp.at<uint32_t>(at.in[0])[lane];
      const uint64_t address = isLong ? base + static_cast<uint64_t>(at.value)
                                      : static_cast<uint32_t>(base + static_cast<uint64_t>(at.value));
      rows[row] = machine.resolve(warp, at, lane, at.option & 4 ? Space::Shared : Space::Generic, address, 16, !isLoad);
      if (isLoad)
        std::memcpy(elements[row], rows[row], 16);
    }
    uint32_t *values = warp.at<uint32_t>(places[matrix].offset);
    for (uint32_t lane = 0; lane < lanes; ++lane)
      for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t row = isTransposed ? lane % 4 * 2 + i : lane / 4,
                       column = isTransposed ? lane / 4 : lane % 4 * 2 + i;
        if (isLoad)
          values[lane] = i ? (values[lane] & 0xffff) | uint32_t(elements[row][column]) << 16 : elements[row][column];
        else
          elements[row][column] = static_cast<uint16_t>(values[lane] >> 16 * i);
      }
    if (!isLoad)
      for (uint32_t row = 0; row < 8; ++row)
        std::memcpy(rows[row], elements[row], 16);
  }
}

bool decodeMatrices(Decoder &decoder, Instruction &made, bool isLoad) {
  const size_t count = decoder.takeOneOf({"x1", "x2", "x4"});
  const bool isTransposed = decoder.take("trans"), isShared = decoder.take("shared") || decoder.take("shared::cta");
  decoder.require(decoder.take("sync") && decoder.take("aligned") && decoder.take("m8n8") && decoder.take("b16") &&
                      count < 3,
                  "moves matrices that are not known");
  const Operand &registers = decoder.operand(isLoad ? 0 : 1), &memory = decoder.operand(isLoad ? 1 : 0);
  decoder.require(registers.kind == Operand::Vector && registers.parts.size() == size_t(1) << count,
                  "has another number of registers");
  std::vector<RegisterSlice> places;
  for (const Operand &part : registers.parts)
    places.push_back({isLoad ? decoder.destination(part, 32) : decoder.source(part, 32), 4});
  bool isLong = false;
  made.in[0] = decoder.address(memory, made.value, isLong);
  made.option = static_cast<uint16_t>(isLong | isTransposed << 1 | isShared << 2);
  decoder.list(made, places);
  made.kind = Instruction::Together;
  made.execute = isLoad ? moveMatrices<true> : moveMatrices<false>;
  return true;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// A factor, as numbers: of f64 where they have a fraction, so that products and their sum are exact or nearly so.
template <typename N> struct Factors {
  N a[16][64], b[8][64];
};

template <typename N> N elementOf(Type type, uint32_t word, unsigned i) {
  switch (type.kind) {
  case Type::Float:
    return static_cast<N>(fromHalf(static_cast<uint16_t>(word >> 16 * i)));
  case Type::BFloat:
    return static_cast<N>(fromBHalf(static_cast<uint16_t>(word >> 16 * i)));
  case Type::TF32:
    return static_cast<N>(std::bit_cast<float>(word & ~uint32_t(0x1fff)));
  case Type::Signed:
    return static_cast<N>(static_cast<int8_t>(word >> 8 * i));
  case Type::Unsigned:
    return static_cast<N>(static_cast<uint8_t>(word >> 8 * i));
  case Type::E4M3:
    return static_cast<N>(E4M3::decode(word >> 8 * i & 0xff));
  default:
    return static_cast<N>(E5M2::decode(word >> 8 * i & 0xff));
  }
}

/// In `value` of the instruction: the types of the factors, of the sum, the registers of each factor.
struct Product {
  Type a, b;
  uint32_t aCount, bCount;
  bool isHalfSum;
};
Product productOf(const Instruction &at) {
  const auto bits = static_cast<uint64_t>(at.value);
  auto type = [](uint64_t code) {
    return Type{static_cast<Type::Kind>(code & 15), static_cast<unsigned>(code >> 4 & 0xff), 1};
  };
  return {type(bits), type(bits >> 12), static_cast<uint32_t>(bits >> 24 & 15), static_cast<uint32_t>(bits >> 28 & 15),
          (bits >> 32 & 1) != 0};
}

template <typename N, typename S> void multiply(Machine &machine, Warp &warp, const Instruction &at, uint32_t) {
  const Product what = productOf(at);
  const RegisterSlice *places = machine.program.places.data() + at.first;
  const uint32_t sums = what.isHalfSum ? 2 : 4;
  const RegisterSlice *a = places + sums, *b = a + what.aCount, *c = b + what.bCount;
  const uint32_t perWord = 32 / what.a.bits, depth = what.bCount * 4 * perWord;
  Factors<N> factors;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    for (uint32_t i = 0; i < what.aCount; ++i)
      for (uint32_t j = 0; j < perWord; ++j)
        factors.a[lane / 4 + i % 2 * 8][lane % 4 * perWord + i / 2 * 4 * perWord + j] =
            elementOf<N>(what.a, warp.at<uint32_t>(a[i].offset)[lane], j);
    for (uint32_t i = 0; i < what.bCount; ++i)
      for (uint32_t j = 0; j < perWord; ++j)
        factors.b[lane / 4][lane % 4 * perWord + i * 4 * perWord + j] =
            elementOf<N>(what.b, warp.at<uint32_t>(b[i].offset)[lane], j);
  }
  N products[16][8];
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      N sum = 0;
      for (uint32_t k = 0; k < depth; ++k)
        sum += factors.a[row][k] * factors.b[column][k];
      products[row][column] = sum;
    }
  for (uint32_t lane = 0; lane < lanes; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      const N product = products[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
      if (what.isHalfSum) {
        uint16_t *to = warp.at<uint16_t>(places[i / 2].offset) + 2 * lane + i % 2;
        const uint16_t *from = warp.at<uint16_t>(c[i / 2].offset) + 2 * lane + i % 2;
        *to = static_cast<uint16_t>(Half::encode(static_cast<double>(product) + fromHalf(*from)));
      } else if constexpr (std::is_same_v<S, float>) {
        warp.at<float>(places[i].offset)[lane] =
            canonical(static_cast<float>(static_cast<double>(product) + warp.at<float>(c[i].offset)[lane]));
      } else {
        warp.at<uint32_t>(places[i].offset)[lane] =
            static_cast<uint32_t>(product) + warp.at<uint32_t>(c[i].offset)[lane];
      }
    }
}

bool decodeProduct(Decoder &decoder, Instruction &made) {
  decoder.require(decoder.take("sync") && decoder.take("aligned") && decoder.take("row") && decoder.take("col"),
                  "multiplies in a way that is not known");
  const size_t shape = decoder.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  static constexpr uint32_t depths[] = {4, 8, 16, 32};
  decoder.require(shape < 4, "multiplies matrices of another shape");
  const Type d = decoder.takeType(), a = decoder.takeType(), b = decoder.takeType(), c = decoder.takeType();
  const bool isInteger = a.kind == Type::Signed || a.kind == Type::Unsigned, isHalf = d.is(Type::Float, 16);
  decoder.require(d == c && a.bits == b.bits && a.count == 1 &&
                      (isInteger ? d.is(Type::Signed, 32) && a.bits == 8 : d.is(Type::Float, 32) || isHalf) &&
                      (isInteger || (a.kind != Type::None && a.kind != Type::Bits && a.bits <= 32)),
                  "multiplies what is not known");
  decoder.require(!(a.kind == Type::Float && a.bits != 16), "multiplies what is not known");
  const uint32_t words = depths[shape] * a.bits / 128;
  decoder.require(words == 1 || words == 2, "multiplies matrices of another shape");
  std::vector<RegisterSlice> places;
  auto add = [&](size_t i, size_t count, bool isResult) {
    const Operand &vector = decoder.operand(i);
    const bool isAlone = vector.kind != Operand::Vector;
    decoder.require((isAlone ? 1 : vector.parts.size()) == count, "has another number of registers");
    for (size_t j = 0; j < count; ++j) {
      const Operand &part = isAlone ? vector : vector.parts[j];
      places.push_back({isResult ? decoder.destination(part, 32) : decoder.source(part, 32, Type::Float), 4});
    }
  };
  const size_t sums = isHalf ? 2 : 4;
  add(0, sums, true);
  add(1, 2 * words, false);
  add(2, words, false);
  add(3, sums, false);
  decoder.list(made, places);
  auto code = [](Type t) { return uint64_t(t.kind) | uint64_t(t.bits) << 4; };
  made.value = static_cast<int64_t>(code(a) | code(b) << 12 | uint64_t(2 * words) << 24 | uint64_t(words) << 28 |
                                    uint64_t(isHalf) << 32);
  made.kind = Instruction::Together;
  made.execute = isInteger ? multiply<int32_t, int32_t> : multiply<double, float>;
  return true;
}

} // namespace

bool zyx::ptx::decodeMatrix(Decoder &decoder, Instruction &made) {
  const std::string &opcode = decoder.opcode();
  if (opcode == "ldmatrix" || opcode == "stmatrix")
    return decodeMatrices(decoder, made, opcode == "ldmatrix");
  if (opcode == "mma")
    return decodeProduct(decoder, made);
  if (opcode == "wgmma")
    return decodeGroupProduct(decoder, made);
  return false;
}
