//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Shape.h"

namespace zyx {

Result<int64_t> numElements(const Shape &shape) {
  // Extents of zero do not hide an overflow of the others: strides are products of them too.
  int64_t product = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return Status::invalidArgument("shape " + toString(shape) + " has the negative extent " +
                                     std::to_string(extent));
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, extent, &product))
      return Status::invalidArgument("shape " + toString(shape) +
                                     " has more elements than fit in 63 bits");
  }
  return empty ? 0 : product;
}

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string toString(const TensorType &type) {
  return std::string(toString(type.dtype)) + toString(type.shape);
}

Result<int64_t> byteSize(const TensorType &type) {
  if (type.shape.size() > static_cast<size_t>(maxRank))
    return Status::invalidArgument("a tensor of rank " + std::to_string(type.shape.size()) +
                                   " exceeds the largest rank, " + std::to_string(maxRank));
  ZYX_ASSIGN_OR_RETURN(const int64_t elements, numElements(type.shape));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, byteSize(type.dtype), &bytes))
    return Status::invalidArgument("the tensor " + toString(type) +
                                   " has more bytes than fit in 63 bits");
  if (bytes > maxTensorBytes)
    return Status::invalidArgument("the tensor " + toString(type) + " has " +
                                   std::to_string(bytes) + " bytes, more than the largest size, " +
                                   std::to_string(maxTensorBytes));
  return bytes;
}

} // namespace zyx
