//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Tensors of constants beside those that Tensor makes.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_CREATION_H
#define ZYX_TENSOR_CREATION_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

// Of the shape, the dtype and the context of another tensor.
Tensor fullLike(const Tensor &x, double value, Place where = Place::current());
Tensor zerosLike(const Tensor &x, Place where = Place::current());
Tensor onesLike(const Tensor &x, Place where = Place::current());

/// 0, 1, ... below `stop`, as Tensor::arange.
inline Tensor arange(int64_t stop, DType dtype = DType::I64, Place where = Place::current()) {
  return Tensor::arange(stop, dtype, where);
}

/// 1 on the diagonal of that number, counted to the right of the main one, and below it; 0 above it.
Tensor tri(int64_t rows, int64_t columns, int64_t diagonal = 0, DType dtype = DType::F32,
           Place where = Place::current());
/// `count` floats with equal distances, the first and the last of which are given; the first alone where one is asked
/// for.
Tensor linspace(double first, double last, int64_t count, DType dtype = DType::F32, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_CREATION_H
