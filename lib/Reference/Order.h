//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The ops in which the order of elements counts, on whole tensors. Elements are held as in blocks
// (see Elements.h), however many there are.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_REFERENCE_ORDER_H
#define ZYX_LIB_REFERENCE_ORDER_H

#include "zyx/Base/Shape.h"
#include "zyx/Graph/Graph.h"

#include <array>

namespace zyx::reference {

/// A tensor as [outer, extent, inner], where `extent` is that of one dimension.
struct Rows {
  Rows(const Shape &shape, int64_t dim);
  int64_t outer = 1, extent, inner = 1;
  int64_t at(int64_t o, int64_t j, int64_t i) const { return (o * extent + j) * inner + i; }
};

void scan(const graph::Attributes &attributes, const TensorType &type, const std::byte *x, std::byte *out);
/// `order` gets, for each element of the result, its index along the dimension in `x`.
void sortOrder(const graph::Attributes &attributes, const TensorType &type, const std::byte *x, int64_t *order);
/// `x` becomes the result. An index that is no index of the dimension is negative or too large.
void scatter(const graph::Attributes &attributes, const TensorType &type, std::byte *x, const int64_t *indices,
             int64_t numIndices, const std::byte *updates);
/// Philox4x32-10; words with the least significant first.
using PhiloxBlock = std::array<uint32_t, 4>;
PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key);
/// Element n of the words of a seed.
uint32_t randomWord(uint64_t seed, uint64_t n);

} // namespace zyx::reference

#endif // ZYX_LIB_REFERENCE_ORDER_H
