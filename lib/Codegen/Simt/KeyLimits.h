//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_SIMT_KEYLIMITS_H
#define ZYX_LIB_CODEGEN_SIMT_KEYLIMITS_H

#include "zyx/Codegen/Tile/SharedAttention.h"

namespace zyx::kernel {

/// What a condition says of the keys that a row sees: those below, or not below, a number that is evaluated for it.
struct KeyLimit {
  mlir::Value number;
  bool isEnd;
  int64_t plus;
};

/// The limits of scores that are minus infinity elsewhere.
llvm::SmallVector<KeyLimit> findKeyLimits(const SharedAttention &attention, const Axes &axes);

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_SIMT_KEYLIMITS_H
