//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_SIMT_KEYLIMITS_H
#define ZYX_LIB_CODEGEN_SIMT_KEYLIMITS_H

#include "zyx/Codegen/Tile/SharedAttention.h"

namespace zyx::kernel {

/// What a condition says of the keys that a row sees: those below, or not below, a number that is evaluated for it.
/// Where keys are counted from another number on, which is none of a single key, this is `base`.
struct KeyLimit {
  mlir::Value number, base;
  bool isEnd;
  int64_t plus;
};

/// A part of a mask: scores are minus infinity where it does not hold, or where it does.
struct KeyCondition {
  mlir::Value tile;
  bool isSeen;
};

/// What masks compare besides limits: data of rows and keys, of which a program finds out by evaluating it. None of it
/// depends on scores.
llvm::SmallVector<KeyCondition> findKeyConditions(const SharedAttention &attention, const Axes &axes);

/// The limits of scores that are minus infinity elsewhere.
llvm::SmallVector<KeyLimit> findKeyLimits(const SharedAttention &attention, const Axes &axes);

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_SIMT_KEYLIMITS_H
