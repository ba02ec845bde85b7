//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Loops as a part of a program.
#ifndef ZYX_TENSOR_LOOP_H
#define ZYX_TENSOR_LOOP_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// The values of the next trip, of as many and of the same types as `carried`, those of this one. `trip` is an i64 of
/// rank 0: 0 in the first one.
using LoopBody = std::function<std::vector<Tensor>(const Tensor &trip, std::span<const Tensor> carried)>;

/// The carried values after the last trip, and `initial` where there is none. The body is called once, with tensors
/// that have no values; what it builds is evaluated in each trip. Tensors of outside that it reads keep their values.
/// A loop of so many trips has a gradient; loops may lie in bodies of others.
std::vector<Tensor> loop(int64_t trips, Tensors initial, const LoopBody &body, Place where = Place::current());
/// As often as an i64 of rank 0 says, which is data; never where that is negative. It has a gradient where the number
/// is the smaller one of data and a constant, or a cast of a bool.
std::vector<Tensor> loop(const Tensor &trips, Tensors initial, const LoopBody &body, Place where = Place::current());

/// A bool of rank 0, made of carried values.
using LoopCondition = std::function<Tensor(std::span<const Tensor> carried)>;
/// While the condition is true, which is asked before each trip. `condition` is called twice, `body` once. Nothing ends
/// a loop whose condition stays true. It has no gradient.
std::vector<Tensor> whileLoop(Tensors initial, const LoopCondition &condition, const LoopBody &body,
                              Place where = Place::current());

/// Results of a branch, from `operands`.
using Branch = std::function<std::vector<Tensor>(std::span<const Tensor> operands)>;
/// What `then` makes where a bool of rank 0 is true, else what `otherwise` makes: as many tensors, of the same types.
/// Both are called; what a branch makes of `operands` is evaluated where it is chosen alone, and what it makes of other
/// tensors always. It has a gradient.
std::vector<Tensor> cond(const Tensor &condition, Tensors operands, const Branch &then, const Branch &otherwise,
                         Place where = Place::current());
/// What the branch makes whose number `index`, an i64 of rank 0, is; the last one where it is none of theirs.
std::vector<Tensor> choose(const Tensor &index, Tensors operands, std::span<const Branch> branches,
                           Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_LOOP_H
