//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_FIRSTELEMENTS_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_FIRSTELEMENTS_H

#include "llvm/ADT/StringRef.h"

namespace zyx::graph::ir {

/// Of a sort, how many of its first elements are read, an integer: what lies behind them may be anything. Fusion
/// writes it, and removes what a text says.
inline constexpr llvm::StringLiteral firstElementsAttrName = "zyx.first";

/// Of a sort, of how many runs of one length its rows consist, each of which is sorted as the row is to be: an integer
/// that fusion writes, too.
inline constexpr llvm::StringLiteral runsAttrName = "zyx.runs";

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_FIRSTELEMENTS_H
