//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_TEXTLIMITS_H
#define ZYX_BASE_TEXTLIMITS_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <string_view>

namespace zyx {

/// What is read as MLIR text at most. The parser recurses into brackets and has no bound of its
/// own, so text from outside is scanned before it gets there.
struct TextLimits {
  /// Bytes of the whole text.
  size_t bytes = size_t(64) << 20;
  /// Brackets of any kind inside each other, and minus signs in a row.
  int nesting = 256;
  /// Definitions of attribute and type aliases. Each may name the one before, which nests without
  /// a bracket.
  int aliases = 4096;
};

/// Refuses MLIR text that exceeds the limits, with the line where it does, and MLIR bytecode,
/// whose reader trusts its input. Linear in the text; allocates nothing.
Status checkTextLimits(std::string_view text, const TextLimits &limits = {});

} // namespace zyx

#endif // ZYX_BASE_TEXTLIMITS_H
