//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Sums of products.
#ifndef ZYX_TENSOR_LINALG_H
#define ZYX_TENSOR_LINALG_H

#include "zyx/Tensor/Tensor.h"

#include <string_view>

namespace zyx {

/// A sum of products in Einstein's notation, such as "ij,jk->ik": a letter for each dimension of each
/// operand, and those of the result. What the result does not name is summed up. A letter that an operand
/// has twice is its diagonal. Without "->" the result has the letters that occur once, in alphabetical
/// order, behind "...". "..." stands for any number of dimensions, which broadcast; without them in the
/// result they are summed up. Operands are multiplied from left to right, each product with its sum. f16
/// and bf16 accumulate in f32 throughout, small integers in 32 bits, as in matmul().
Tensor einsum(std::string_view notation, Tensors operands, Place where = Place::current());

struct DotProductAttentionOptions {
  /// Expands to [..., queries, keys]: bools say which keys a query sees, floats are added to the scores.
  Tensor mask = {};
  /// The last query sees all keys, and each one before it one key less.
  bool causal = false;
  /// Of the products; 1 / sqrt(width) without a value.
  std::optional<double> scale = std::nullopt;
};

/// softmax(queries keys^T * scale + mask) values, of floats of one dtype: queries [..., n, width], keys
/// [..., m, width], values [..., m, out]; what comes before the matrices broadcasts. f16 and bf16 are f32
/// until the last sum. A query that sees no key gives NaN.
Tensor scaledDotProductAttention(const Tensor &queries, const Tensor &keys, const Tensor &values,
                                 DotProductAttentionOptions options = {}, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_LINALG_H
