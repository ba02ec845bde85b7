//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Results of which data says how many elements they have. Programs have shapes that are known before they run, so each
// is as large as it can become, with the number of elements that count beside it: what follows reads on, in the same
// program. `exact` reads the number and cuts the rest off.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_SELECTION_H
#define ZYX_TENSOR_SELECTION_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// A result whose size depends on data, padded to the largest size that it may have. The first `count` (an i64 of
/// rank 0) elements of `values` along a dimension are the result. The padding is 0, or -1 where the values are indices.
struct Padded {
  Tensor values, count;
  int64_t dim = 0;
  /// The result without its padding. Computes `values` and `count`.
  Tensor trim(Place where = Place::current()) const;
};

/// Positions of what is not 0, in row-major order: i64 [n, rank], n up to the number of elements.
Padded nonzero(const Tensor &x, Place where = Place::current());
/// The elements where the mask, of bools, holds, in row-major order, in one dimension. Both broadcast.
Padded maskedSelect(const Tensor &x, const Tensor &mask, Place where = Place::current());
/// The slices along a dimension where the mask, of bools and of one dimension, holds.
Padded compress(const Tensor &x, const Tensor &mask, int64_t dim = 0, Place where = Place::current());

/// The elements that differ from each other, in increasing order, in one dimension; NaN differs from NaN. `inverse`, of
/// the shape of x, says which of them each element is, and `counts` how many elements each is.
struct Unique {
  Padded values;
  Tensor inverse, counts;
};
Unique unique(const Tensor &x, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_SELECTION_H
