//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// PTX as it is written: kernels, their registers and variables, and statements whose words are taken apart, but not yet
// understood.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_FAKECUDA_PTX_TEXT_H
#define ZYX_TEST_FAKECUDA_PTX_TEXT_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace zyx::ptx {

/// What is wrong with a text, or with what a kernel did.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Operand {
  enum Kind { Register, Integer, Single, Double, Symbol, Memory, Vector, Sink } kind = Sink;
  std::string name;
  /// Of numbers; of memory, the bytes behind its first part.
  uint64_t bits = 0;
  bool isNegated = false;
  /// Elements of a vector; of memory, its base and whatever else stands in the brackets.
  std::vector<Operand> parts;
};

struct Statement {
  int line = 0;
  /// A predicate under which it is done.
  std::string guard;
  bool isGuardNegated = false;
  /// "ld", "global", "v4", "b32".
  std::vector<std::string> words;
  std::vector<Operand> operands;
};

enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Const };

struct Variable {
  Space space = Space::Global;
  std::string name;
  uint64_t bytes = 0, alignment = 1;
  std::vector<uint8_t> initial;
};

struct KernelText {
  std::string name;
  /// With their places among the parameters in `bytes`.
  std::vector<Variable> parameters;
  /// Bits of each; 1 for predicates.
  std::map<std::string, unsigned> registers;
  std::vector<Variable> variables;
  std::vector<Statement> statements;
  /// The statement before which each stands.
  std::map<std::string, uint32_t> labels;
  unsigned clusterGroups = 1, maxThreads = 1024;
};

struct ModuleText {
  std::vector<std::string> lines;
  std::string target;
  std::vector<Variable> variables;
  std::vector<KernelText> kernels;
};

/// Throws a Fault that names the line.
ModuleText parse(std::string_view text);

} // namespace zyx::ptx

#endif // ZYX_TEST_FAKECUDA_PTX_TEXT_H
