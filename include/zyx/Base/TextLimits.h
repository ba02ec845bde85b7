//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_TEXTLIMITS_H
#define ZYX_BASE_TEXTLIMITS_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zyx {

/// What is read as MLIR text at most. The parser recurses into brackets and operators, takes the
/// square of a number's digits in time, and has no bound of its own, so text from outside is scanned
/// before it gets there. docs/robustness.md lists the limits.
struct TextLimits {
  /// Bytes of the whole text.
  size_t bytes = size_t(64) << 20;
  /// Brackets of any kind inside each other, and minus signs in a row.
  int nesting = 256;
  /// Definitions of attribute and type aliases. Each may name the one before, which nests without
  /// a bracket.
  int aliases = 4096;
  /// Characters of a number with a fraction; no f64 has a longer exact one.
  size_t floatLength = 1100;
  /// Characters of any other number.
  size_t integerLength = 64;
  /// Operators of one affine expression, each of which nests in the next.
  int operators = 1024;
  /// Extents of one type.
  int rank = 64;
  /// Bytes to which a resource is aligned.
  uint64_t alignment = 4096;
};

/// Refuses MLIR text that exceeds the limits, with the line where it does; MLIR bytecode, whose
/// reader trusts its input; zero bytes; and numbers that the parser would read as other ones: integers that a
/// signless type holds as unsigned ones only (`dense<200> : tensor<4xi8>`), and floats beyond the
/// largest one of their type. Linear in the text.
Status checkTextLimits(std::string_view text, const TextLimits &limits = {});

} // namespace zyx

#endif // ZYX_BASE_TEXTLIMITS_H
