//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_UPDATES_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_UPDATES_H

#include "llvm/ADT/StringRef.h"

namespace zyx::graph::ir {

/// On a scatter: no two of its indices that name a row are the same, so that updates have no order.
inline constexpr llvm::StringLiteral apartAttrName = "zyx.apart";
/// On a scatter that adds along dimension 0: updates fall into so many parts of as many in row-major order, and those
/// of part p name rows of part p of the result alone, or none.
inline constexpr llvm::StringLiteral scatterPartsAttrName = "zyx.scatter_parts";
/// On a scatter along the only dimension of its result, [outer, extent, inner] in row-major order. Along the extent an
/// update goes to its own place or to one before; these do not decrease, and each of them goes to itself.
inline constexpr llvm::StringLiteral segmentsAttrName = "zyx.segments";

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_UPDATES_H
