//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// From statements to instructions. Each family of instructions has a function that says whether a statement is one of
// it, and takes the statement's words: one that nobody takes is a Fault, as is an operand of a width that does not fit.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_PTX_DECODER_H
#define ZYX_TEST_FAKECUDA_PTX_DECODER_H

#include "Machine.h"

#include <bit>
#include <initializer_list>
#include <tuple>
#include <utility>

namespace zyx::ptx {

struct Type {
  enum Kind : uint8_t { None, Bits, Unsigned, Signed, Float, BFloat, TF32, E4M3, E5M2, Predicate } kind = None;
  unsigned bits = 0;
  /// Numbers in one register.
  unsigned count = 1;
  unsigned width() const { return bits * count; }
  bool is(Kind k, unsigned b) const { return kind == k && bits == b && count == 1; }
  bool isInteger() const { return kind == Bits || kind == Unsigned || kind == Signed; }
  bool operator==(const Type &) const = default;
};

class Decoder {
public:
  Decoder(const ModuleText &text, const KernelText &kernel, Program &program,
          const std::map<std::string, uint64_t> &globals);
  void run();

  const Statement *statement = nullptr;
  const std::string &opcode() const { return statement->words[0]; }
  /// Whether the word is there; it is no more then.
  bool take(std::string_view word);
  /// The number of the word of a list that is there, the number of words where none is.
  size_t takeOneOf(std::initializer_list<std::string_view> words);
  /// The next type; None where there is none.
  Type takeType();
  void require(bool isTrue, const std::string &what) const;
  [[noreturn]] void fail(const std::string &what) const;

  size_t numOperands() const { return statement->operands.size(); }
  const Operand &operand(size_t i) const;
  /// A register of that width, or a number.
  uint32_t source(const Operand &operand, unsigned bits, Type::Kind kind = Type::Bits);
  uint32_t source(size_t i, unsigned bits, Type::Kind kind = Type::Bits) { return source(operand(i), bits, kind); }
  uint32_t destination(const Operand &operand, unsigned bits);
  uint32_t destination(size_t i, unsigned bits) { return destination(operand(i), bits); }
  /// A register that is as wide or wider.
  RegisterSlice wide(const Operand &operand, unsigned bits, bool isDestination);
  /// The base of a memory operand, and whether its addresses have 64 bits; `value` is what is added.
  uint32_t address(const Operand &operand, int64_t &value, bool &isLong);
  /// The elements of a vector, or the one that there is, as a list of the program's.
  void list(Instruction &made, const std::vector<RegisterSlice> &places);
  uint32_t constant(uint64_t bits, unsigned bytes);
  uint64_t number(size_t i) const;
  const KernelText &kernel;
  Program &program;

private:
  RegisterSlice find(const Operand &operand) const;
  uint32_t allot(unsigned bits);
  uint32_t symbol(const Operand &operand, unsigned bits);
  uint32_t special(const std::string &name, unsigned bits);

  const ModuleText &text;
  const std::map<std::string, uint64_t> &globals;
  std::vector<std::string> left;
  std::map<std::string, RegisterSlice> registers;
  std::map<std::pair<uint64_t, unsigned>, uint32_t> constants;
  std::map<std::pair<std::string, unsigned>, uint32_t> specials;
  std::map<std::string, std::pair<Space, uint64_t>> variables;
};

/// Whether a statement is of the family; the instruction is made then.
bool decodeInteger(Decoder &decoder, Instruction &made);
bool decodeLogic(Decoder &decoder, Instruction &made);
bool decodeFloat(Decoder &decoder, Instruction &made);
bool decodeHalf(Decoder &decoder, Instruction &made);
bool decodeCompare(Decoder &decoder, Instruction &made);
bool decodeConvert(Decoder &decoder, Instruction &made);
bool decodeMove(Decoder &decoder, Instruction &made);
bool decodeMemory(Decoder &decoder, Instruction &made);
/// st.async, which is of the family of barriers in memory.
bool decodeRemoteStore(Decoder &decoder, Instruction &made);
bool decodeWarp(Decoder &decoder, Instruction &made);
bool decodeMatrix(Decoder &decoder, Instruction &made);
/// wgmma, which is of the family of matrices.
bool decodeGroupProduct(Decoder &decoder, Instruction &made);
bool decodeCopy(Decoder &decoder, Instruction &made);
bool decodeBarrier(Decoder &decoder, Instruction &made);

//===----------------------------------------------------------------------===//
// Instructions that do the same for each lane
//===----------------------------------------------------------------------===//

template <typename F> void forLanes(uint32_t mask, F &&body) {
  if (mask == allLanes) {
#pragma clang loop vectorize(assume_safety)
    for (unsigned lane = 0; lane < lanes; ++lane)
      body(lane);
  } else {
    for (; mask; mask &= mask - 1)
      body(static_cast<unsigned>(std::countr_zero(mask)));
  }
}

/// out = F(in[0], in[1], ...).
template <typename D, typename... S, typename F> Execute each(F) {
  return [](Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      D *out = warp.at<D>(at.out);
      std::tuple<const S *...> in(warp.at<S>(at.in[I])...);
      forLanes(mask, [&](unsigned lane) { out[lane] = static_cast<D>(F()(std::get<I>(in)[lane]...)); });
    }(std::index_sequence_for<S...>());
  };
}

/// The same where F is a condition.
template <typename... S, typename F> Execute eachCondition(F) {
  return [](Machine &, Warp &warp, const Instruction &at, uint32_t mask) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      std::tuple<const S *...> in(warp.at<S>(at.in[I])...);
      uint32_t bits = 0;
      for (unsigned lane = 0; lane < lanes; ++lane)
        bits |= static_cast<uint32_t>(bool(F()(std::get<I>(in)[lane]...))) << lane;
      uint32_t &out = *warp.at<uint32_t>(at.out);
      out = (out & ~mask) | (bits & mask);
    }(std::index_sequence_for<S...>());
  };
}

/// A register that may be wider than what is taken of it.
inline uint64_t readAny(const Warp &warp, RegisterSlice place, unsigned lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, warp.registers + place.offset + lane * place.bytes, place.bytes < 8 ? place.bytes : 8);
  return bits;
}
inline void writeAny(Warp &warp, RegisterSlice place, unsigned lane, uint64_t bits) {
  if (place.bytes)
    std::memcpy(warp.registers + place.offset + lane * place.bytes, &bits, place.bytes < 8 ? place.bytes : 8);
}

} // namespace zyx::ptx

#endif // ZYX_TEST_FAKECUDA_PTX_DECODER_H
