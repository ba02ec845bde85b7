//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_INDEXING_H
#define ZYX_TENSOR_INDEXING_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// How an update is combined with the element that it is written to. If several updates go to one element, `Set`
/// leaves the last of them in row-major order.
enum class ScatterMode { Set, Add, Max, Min, Mul };

/// result[..., i, ...] = x[..., positions[..., i, ...], ...] along a dimension. Both have one rank; the
/// other dimensions broadcast. A position that is none, negative ones among them, gives 0.
Tensor takeAlongAxis(const Tensor &x, const Tensor &positions, int64_t dim, Place where = Place::current());
/// x with updates[..., i, ...] combined into [..., positions[..., i, ...], ...] along a dimension. Positions have the
/// rank of x, and expand to its other dimensions; updates expand to the shape of the positions. Updates of positions
/// that are none are dropped.
Tensor putAlongAxis(const Tensor &x, const Tensor &positions, const Tensor &updates, int64_t dim,
                    ScatterMode mode = ScatterMode::Set, Place where = Place::current());
/// x with whole slices combined into positions along a dimension: updates have the shape of
/// take(x, positions, dim).
Tensor scatter(const Tensor &x, const Tensor &positions, const Tensor &updates, int64_t dim = 0,
               ScatterMode mode = ScatterMode::Set, Place where = Place::current());
/// scatter() with ScatterMode::Add.
Tensor indexAdd(const Tensor &x, const Tensor &positions, const Tensor &updates, int64_t dim = 0,
                Place where = Place::current());
/// x, and the value where the mask, of bools, holds; it expands to the shape of x.
Tensor maskedFill(const Tensor &x, const Tensor &mask, Operand value);
/// Matrices in the last two dimensions with 0 above the diagonal, or below it; the diagonal of that number
/// stands so many to the right of the main one.
Tensor tril(const Tensor &x, int64_t diagonal = 0, Place where = Place::current());
Tensor triu(const Tensor &x, int64_t diagonal = 0, Place where = Place::current());

/// `length` elements from `start` on along a dimension, which has them; a negative start counts from the end.
Tensor narrow(const Tensor &x, int64_t dim, int64_t start, int64_t length, Place where = Place::current());
/// The elements [..., i, ..., i + offset, ...] of two dimensions, which go, in a new last one.
Tensor diagonal(const Tensor &x, int64_t offset = 0, int64_t a = 0, int64_t b = 1, Place where = Place::current());

/// Copies along each dimension, one behind the other; with more counts than dimensions, new ones in front.
Tensor repeat(const Tensor &x, Dims counts, Place where = Place::current());
/// Each element `count` times along a dimension, copies beside each other.
Tensor repeatInterleave(const Tensor &x, int64_t count, int64_t dim, Place where = Place::current());
/// `low` and `high` elements more before and behind each dimension. `Reflect` adds fewer elements than the dimension
/// has, `Circular` at most as many.
Tensor pad(const Tensor &x, Dims low, Dims high, PadMode mode, Place where = Place::current());

/// Along a new dimension; all have one shape.
Tensor stack(Tensors parts, int64_t dim = 0, Place where = Place::current());
/// Pieces of these extents along a dimension, which they fill.
std::vector<Tensor> splitSizes(const Tensor &x, Dims sizes, int64_t dim = 0, Place where = Place::current());
/// Pieces of `size` along a dimension; the last one is shorter where it does not divide the extent.
std::vector<Tensor> split(const Tensor &x, int64_t size, int64_t dim = 0, Place where = Place::current());
/// Elements move on by `shifts`, backwards where negative; what leaves at one end enters at the other.
Tensor roll(const Tensor &x, Dims shifts, Dims dims, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_INDEXING_H
