//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_PARTATTENTION_H
#define ZYX_LIB_FUSION_PARTATTENTION_H

#include "zyx/Dialect/Graph/Analysis/Attention.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::fusion {

/// What an attention computes, by the elements of its factors in memory.
struct AttentionSizes {
  /// Pairs of keys and values, queries that read the same pair, and keys.
  int64_t programs, rows, keys;
  /// Elements of a key and of a value, and bytes of both.
  int64_t depth, width, keyBytes;
  /// Rows of a tile that lie side by side, and whether values have 16 bits.
  int64_t queries;
  bool isNarrow;

  /// None where the values have no columns, or there is one key.
  static std::optional<AttentionSizes> of(const graph::ir::Attention &found);
};

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_PARTATTENTION_H
