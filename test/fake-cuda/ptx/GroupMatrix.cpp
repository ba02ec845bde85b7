//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products of four warps by wgmma. The right factor lies in shared memory, the left one there or in registers; what a
// descriptor says of them is what the instruction reads. Each warp computes its sixteen rows when it comes to the
// instruction: sums are there early, which no kernel may rely on.
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "Numbers.h"

using namespace zyx::ptx;

namespace {

constexpr uint32_t warpRows = 16, mostColumns = 256, mostDepth = 32;

/// Where elements of a factor are: along the contraction (`isKMajor`) rows of a panel follow each other, else the
/// elements of one step do.
struct Descriptor {
  explicit Descriptor(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
        base(bits >> 49 & 7), mode(bits >> 62) {}
  uint64_t start, leading, stride, base, mode;
  uint64_t width() const { return mode == 1 ? 128 : mode == 2 ? 64 : mode == 3 ? 32 : 16; }
  /// Of the element `at` along rows or columns and `k` along the contraction.
  uint64_t place(uint64_t at, uint64_t k, uint64_t bytes, bool isKMajor) const {
    const uint64_t along = (isKMajor ? k : at) * bytes, across = isKMajor ? at : k;
    uint64_t address = start + across % 8 * width() + across / 8 * stride + along % width();
    if (mode == 0)
      address = isKMajor ? start + across % 8 * 16 + across / 8 * stride + along % 16 + along / 16 * leading
                         : start + across % 8 * 16 + across / 8 * leading + along % 16 + along / 16 * stride;
    else if (!isKMajor)
      address += along / width() * leading;
    // The swizzle is one of the address's own bits.
    return address ^ (mode == 1   ? (address >> 7 & 7) << 4
                      : mode == 2 ? (address >> 7 & 3) << 4
                      : mode == 3 ? (address >> 7 & 1) << 4
                                  : 0);
  }
};

float decodeElement(Type type, const uint8_t *from) {
  uint32_t word = 0;
  std::memcpy(&word, from, type.bits / 8);
  switch (type.kind) {
  case Type::Float:
    return fromHalf(static_cast<uint16_t>(word));
  case Type::BFloat:
    return fromBHalf(static_cast<uint16_t>(word));
  case Type::TF32:
    return std::bit_cast<float>(word & ~uint32_t(0x1fff));
  case Type::Signed:
    return static_cast<int8_t>(word);
  case Type::Unsigned:
    return static_cast<float>(word);
  case Type::E4M3:
    return static_cast<float>(E4M3::decode(word));
  default:
    return static_cast<float>(E5M2::decode(word));
  }
}

/// In `value`: types, and the places of what are numbers.
struct Product {
  Type a, b;
  bool isInteger, fromRegisters, isKMajorA, isKMajorB, negatesA, negatesB, hasPredicate, isScaled, isHalfSum;
  uint32_t columns;
};
int64_t codeOf(const Product &p) {
  auto type = [](Type t) { return uint64_t(t.kind) | uint64_t(t.bits) << 4; };
  uint64_t bits = type(p.a) | type(p.b) << 12;
  unsigned shift = 24;
  for (bool flag : {p.isInteger, p.fromRegisters, p.isKMajorA, p.isKMajorB, p.negatesA, p.negatesB, p.hasPredicate,
                    p.isScaled, p.isHalfSum})
    bits |= uint64_t(flag) << shift++;
  return static_cast<int64_t>(bits | uint64_t(p.columns) << 40);
}
Product productOf(int64_t code) {
  const auto bits = static_cast<uint64_t>(code);
  auto type = [](uint64_t c) { return Type{static_cast<Type::Kind>(c & 15), static_cast<unsigned>(c >> 4 & 0xff), 1}; };
  auto flag = [&](unsigned i) { return (bits >> (24 + i) & 1) != 0; };
  return {type(bits), type(bits >> 12), flag(0), flag(1), flag(2), flag(3),
          flag(4),    flag(5),          flag(6), flag(7), flag(8), static_cast<uint32_t>(bits >> 40)};
}

void multiply(Machine &machine, Warp &warp, const Instruction &at, uint32_t) {
  const Product what = productOf(at.value);
  const RegisterSlice *sums = machine.program.places.data() + at.first,
                      *left = sums + what.columns / (what.isHalfSum ? 4 : 2);
  const uint32_t bytes = what.b.bits / 8, depth = 32 / bytes;
  static thread_local double a[warpRows][mostDepth], b[mostDepth][mostColumns];
  auto read = [&](const Descriptor &from, Type type, uint32_t i, uint32_t k, bool isKMajor) -> double {
    const uint64_t place = from.place(i, k, bytes, isKMajor);
    const uint8_t *memory = machine.shared(warp, at, uint64_t(warp.group->rank) << rankShift | place, bytes, bytes);
    return decodeElement(type, memory);
  };
  const uint32_t firstRow = warp.number % 4 * warpRows;
  for (uint32_t lane = 0; lane < lanes && what.fromRegisters; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < 4 / bytes; ++j) {
        const uint32_t word = warp.at<uint32_t>(left[i].offset)[lane] >> 8 * bytes * j;
        a[lane / 4 + i % 2 * 8][lane % 4 * (4 / bytes) + i / 2 * (16 / bytes) + j] =
            decodeElement(what.a, reinterpret_cast<const uint8_t *>(&word));
      }
  if (!what.fromRegisters) {
    const Descriptor from(warp.at<uint64_t>(at.in[0])[0]);
    if (from.base)
      machine.fail(warp, at, 0, "the base offset of a descriptor is not modelled");
    for (uint32_t row = 0; row < warpRows; ++row)
      for (uint32_t k = 0; k < depth; ++k)
        a[row][k] = read(from, what.a, firstRow + row, k, what.isKMajorA);
  }
  const Descriptor from(warp.at<uint64_t>(at.in[1])[0]);
  if (from.base)
    machine.fail(warp, at, 0, "the base offset of a descriptor is not modelled");
  for (uint32_t k = 0; k < depth; ++k)
    for (uint32_t column = 0; column < what.columns; ++column)
      b[k][column] = read(from, what.b, column, k, what.isKMajorB);
  const bool accumulates = what.hasPredicate ? *warp.at<uint32_t>(at.in[2]) & 1 : what.isScaled;
  const double sign = what.negatesA != what.negatesB ? -1 : 1;
  static thread_local double row[mostColumns];
  for (uint32_t r = 0; r < warpRows; ++r) {
    std::fill(row, row + what.columns, 0.0);
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t column = 0; column < what.columns; ++column)
        row[column] += a[r][k] * b[k][column];
    for (uint32_t column = 0; column < what.columns; ++column) {
      const uint32_t lane = r % 8 * 4 + column % 8 / 2, i = column / 8 * 4 + r / 8 * 2 + column % 2;
      if (what.isInteger) {
        uint32_t &sum = warp.at<uint32_t>(sums[i].offset)[lane];
        sum = (accumulates ? sum : 0) + static_cast<uint32_t>(static_cast<int32_t>(row[column]));
      } else if (what.isHalfSum) {
        uint16_t &sum = warp.at<uint16_t>(sums[i / 2].offset)[2 * lane + i % 2];
        sum = static_cast<uint16_t>(Half::encode(sign * row[column] + (accumulates ? fromHalf(sum) : 0)));
      } else {
        float &sum = warp.at<float>(sums[i].offset)[lane];
        sum = canonical(static_cast<float>(sign * row[column] + (accumulates ? sum : 0)));
      }
    }
  }
}

bool decodeMultiply(Decoder &decoder, Instruction &made) {
  Product what = {};
  const std::string shape = decoder.statement->words.size() > 4 ? decoder.statement->words[4] : "";
  unsigned columns = 0, depth = 0;
  decoder.require(std::sscanf(shape.c_str(), "m64n%uk%u", &columns, &depth) == 2 && columns % 8 == 0 && columns >= 8 &&
                      columns <= mostColumns && decoder.take(shape),
                  "multiplies matrices of another shape");
  const Type d = decoder.takeType();
  what.a = decoder.takeType();
  what.b = decoder.takeType();
  what.columns = columns;
  what.isInteger = d.is(Type::Signed, 32);
  what.isHalfSum = d.is(Type::Float, 16);
  decoder.require(what.isInteger || what.isHalfSum || d.is(Type::Float, 32), "sums up what is not known");
  decoder.require(what.a.bits == what.b.bits && depth * what.b.bits == 256 && what.a.kind != Type::None &&
                      what.a.kind != Type::Bits,
                  "multiplies what is not known");
  const Operand &sums = decoder.operand(0), &left = decoder.operand(1);
  decoder.require(sums.kind == Operand::Vector && sums.parts.size() == columns / (what.isHalfSum ? 4 : 2),
                  "has another number of sums");
  std::vector<RegisterSlice> places;
  for (const Operand &sum : sums.parts)
    places.push_back({decoder.destination(sum, 32), 4});
  what.fromRegisters = left.kind == Operand::Vector;
  if (what.fromRegisters) {
    decoder.require(left.parts.size() == 4, "has another number of registers");
    for (const Operand &part : left.parts)
      places.push_back({decoder.source(part, 32), 4});
  } else {
    made.in[0] = decoder.source(1, 64);
  }
  made.in[1] = decoder.source(2, 64);
  const Operand &scale = decoder.operand(3);
  what.hasPredicate = scale.kind == Operand::Register;
  if (what.hasPredicate)
    made.in[2] = decoder.source(3, 1);
  else
    what.isScaled = decoder.number(3) != 0;
  what.isKMajorA = what.isKMajorB = true;
  size_t next = 4;
  if (!what.isInteger) {
    what.negatesA = static_cast<int64_t>(decoder.number(next++)) < 0;
    what.negatesB = static_cast<int64_t>(decoder.number(next++)) < 0;
    if (what.b.bits == 16) {
      if (!what.fromRegisters)
        what.isKMajorA = decoder.number(next++) == 0;
      what.isKMajorB = decoder.number(next++) == 0;
    }
  }
  decoder.require(next == decoder.numOperands(), "has another number of operands");
  decoder.list(made, places);
  made.value = codeOf(what);
  made.execute = multiply;
  return true;
}

} // namespace

bool zyx::ptx::decodeGroupProduct(Decoder &decoder, Instruction &made) {
  made.kind = Instruction::Together;
  const size_t which = decoder.takeOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  decoder.require(which < 4 && decoder.take("sync") && decoder.take("aligned"), "is not known of four warps");
  if (which == 0)
    return decodeMultiply(decoder, made);
  if (which == 3)
    decoder.number(0);
  made.execute = [](Machine &, Warp &, const Instruction &, uint32_t) {};
  return true;
}
