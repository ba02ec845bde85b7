//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_PREPAREOPS_H
#define ZYX_LIB_FUSION_PREPAREOPS_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/StringRef.h"

namespace zyx::fusion {

/// Stores iotas that no kernel can count itself: those seen through a reshape, and those that an op
/// reads which is a kernel of its own.
void storeIotas(mlir::Block &block);

/// Makes scatters of selects that exchange rows at a position in what may be given up: an argument, or what a loop
/// carries, which nobody else reads.
void formUpdates(mlir::Block &block);

/// Folds what is added to integers and is 0, and what they are multiplied with and is 1; makes iotas of another type of
/// those that are cast. Then gives each of those who read numbers that are counted along one dimension numbers of their
/// own: rows and keys of an attention may be counted by one iota, and be different axes.
void foldPlaces(mlir::Block &block);
void separatePlaces(mlir::Block &block);

/// Compares indices that are counted by iotas in 32 bits where they fit: in a kernel of f32 those have vectors
/// of as many elements as the rest, and 64 bits have half of them. Other numbers that may equal such ones are narrowed
/// where each is repeated along them, as the target of a cross-entropy is.
void narrowIndices(mlir::Block &block);

/// Replaces random bits by the element-wise integer ops that compute them from their index.
void expandRandomBits(mlir::Block &block);

/// On a reduction: those of its dimensions that are parts, of which each is combined before they are (an array of
/// numbers).
inline constexpr llvm::StringLiteral partsAttrName = "zyx.parts";

/// Notes, on what contractions of 16-bit factors are made of in the end, which dimension is going to lie last in memory
/// (-zyx-cost-lay-out-results), where that is not its own last one.
void noteLastDims(mlir::Block &block);
void forgetLastDims(mlir::Block &block);

/// Splits long reductions to few results in two, of which the first has results for many programs: a
/// kernel of one program has one core. Sums of f16 and bf16 are cast in the end, not between the two. The first
/// function gives operands a dimension of parts where they have none, in front of the normal form of views; the second
/// one splits, behind it.
///
/// Of a machine that wants many `threads` (0 for none), each of which computes some neighbouring results or, along
/// rows, a part of one, results are few where they are fewer than these. Sums of an attention stay as they are that has
/// enough programs, with so many workgroups in a cluster for each.
void partReductions(mlir::Block &block, int64_t threads, int64_t cluster);
void splitReductions(mlir::Block &block, int64_t threads);
/// Makes two sums of a long contraction with few results, where a card has `threads`: of each part of it, and of all
/// parts in their order. The first function gives factors a dimension of parts, the second one splits, as above.
void partContractions(mlir::Block &block, int64_t threads);
void splitContractions(mlir::Block &block, int64_t threads);

/// Gives rows a dimension of parts where a kernel may sum up both along them and along columns: in what sums of columns
/// are made of that read sums of rows, and in what is made of all of it (PartRows.cpp). What lies in memory stays there
/// as it is. For a machine that wants many `threads`.
void partRows(mlir::Block &block, int64_t threads);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_PREPAREOPS_H
