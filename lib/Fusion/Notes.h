//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What one pass of the room notes on an op for a later one. -zyx-fusion-check-entry removes what a text says.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_NOTES_H
#define ZYX_LIB_FUSION_NOTES_H

#include "llvm/ADT/StringRef.h"

namespace zyx::fusion {

/// On a reduction: those of its dimensions that are parts, of which each is combined before they are (an array of
/// numbers).
inline constexpr llvm::StringLiteral partsAttrName = "zyx.parts";
/// On a reduction of another one's result: it stays apart.
inline constexpr llvm::StringLiteral headsAttrName = "zyx.heads";
/// On an op: the dimension of its result that lies last in memory.
inline constexpr llvm::StringLiteral lastDimAttrName = "zyx.last";
/// On a permute of what is computed: its kernel stores that in this order.
inline constexpr llvm::StringLiteral storedAttrName = "zyx.stored";
/// On what is made of no input: it is stored, and nobody computes it again.
inline constexpr llvm::StringLiteral tableAttrName = "zyx.table";
/// On what computes the weights of an attention again: the number of its kernel among those of the block, what it is
/// there (RecomputeWeights.h), and its place among such (an array of three numbers).
inline constexpr llvm::StringLiteral recomputedAttrName = "zyx.recomputed";
/// On a sum over batches of what is computed of products: it is one kernel with these (SumProducts.h).
inline constexpr llvm::StringLiteral productsSumAttrName = "zyx.products_sum";

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_NOTES_H
