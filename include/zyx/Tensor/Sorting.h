//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_SORTING_H
#define ZYX_TENSOR_SORTING_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

// Scans: element i along a dimension combines elements 0 to i. The shape stays.
/// Sums of integers have at least 32 bits, of bools as well, as those of sum().
Tensor cumsum(const Tensor &x, int64_t dim, ScanOptions options = {}, Place where = Place::current());
Tensor cumprod(const Tensor &x, int64_t dim, ScanOptions options = {}, Place where = Place::current());
/// NaN from the first one on.
Tensor cummax(const Tensor &x, int64_t dim, ScanOptions options = {}, Place where = Place::current());
Tensor cummin(const Tensor &x, int64_t dim, ScanOptions options = {}, Place where = Place::current());

// Orders. All are stable: equal elements keep their order, in descending ones too. NaN stands last,
// ascending or descending.
/// The elements in order along a dimension; shape and dtype stay.
Tensor sort(const Tensor &x, int64_t dim = -1, bool descending = false, Place where = Place::current());
/// Where the elements of sort() come from, as i64.
Tensor argsort(const Tensor &x, int64_t dim = -1, bool descending = false, Place where = Place::current());
/// Elements, and their indices along the dimension, as i64.
struct Ranked {
  Tensor values, indices;
};
/// The k largest or smallest ones, the best first; refused where a dimension has fewer. NaN comes last.
Ranked topk(const Tensor &x, int64_t k, int64_t dim = -1, bool largest = true, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_SORTING_H
