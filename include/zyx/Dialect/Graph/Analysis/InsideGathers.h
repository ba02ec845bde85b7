//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_INSIDEGATHERS_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_INSIDEGATHERS_H

#include "llvm/ADT/StringRef.h"

namespace zyx::graph::ir {

/// On a gather: none of its indices is outside of what it reads. Fusion writes it, and removes what a text says.
inline constexpr llvm::StringLiteral insideAttrName = "zyx.inside";

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_INSIDEGATHERS_H
