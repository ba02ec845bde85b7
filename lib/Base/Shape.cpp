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
    if (extent == symbolicExtent)
      return Status::invalidArgument("shape " + toString(shape) + " has an extent that is not known yet");
    if (extent < 0)
      return Status::invalidArgument("shape " + toString(shape) + " has the negative extent " + std::to_string(extent));
    if (extent == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, extent, &product))
      return Status::invalidArgument("shape " + toString(shape) + " has more elements than fit in 63 bits");
  }
  return empty ? 0 : product;
}

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + (shape[i] == symbolicExtent ? "?" : std::to_string(shape[i]));
  return text + "]";
}

TensorType symbolicType(DType dtype, std::vector<Extent> extents) {
  TensorType type{dtype, {}};
  bool isSymbolic = false;
  for (const Extent &extent : extents) {
    const std::optional<int64_t> constant = extent.constant();
    isSymbolic |= !constant;
    type.shape.push_back(constant.value_or(symbolicExtent));
  }
  if (isSymbolic)
    type.extents = std::move(extents);
  return type;
}

Result<TensorType> specialise(const TensorType &type, const Bindings &bindings) {
  TensorType result{type.dtype, type.shape};
  for (size_t i = 0; i < type.extents.size(); ++i) {
    ZYX_ASSIGN_OR_RETURN(result.shape[i], type.extents[i].evaluate(bindings));
    if (result.shape[i] < 0)
      return Status::invalidArgument("the extent " + type.extents[i].toString() + " of " + toString(type) +
                                     " becomes " + std::to_string(result.shape[i]));
  }
  return result;
}

void collectSymbols(const TensorType &type, std::set<std::string> &symbols) {
  for (const Extent &extent : type.extents)
    extent.collectSymbols(symbols);
}

std::string toString(const TensorType &type) {
  if (type.isSymbolic()) {
    std::string text = std::string(toString(type.dtype)) + "[";
    for (size_t i = 0; i < type.extents.size(); ++i)
      text += (i ? ", " : "") + type.extents[i].toString();
    return text + "]";
  }
  return std::string(toString(type.dtype)) + toString(type.shape);
}

Result<int64_t> byteSize(const TensorType &type) {
  if (type.shape.size() > static_cast<size_t>(maxRank))
    return Status::invalidArgument("a tensor of rank " + std::to_string(type.shape.size()) +
                                   " exceeds the largest rank, " + std::to_string(maxRank));
  ZYX_ASSIGN_OR_RETURN(const int64_t elements, numElements(type.shape));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, byteSize(type.dtype), &bytes))
    return Status::invalidArgument("the tensor " + toString(type) + " has more bytes than fit in 63 bits");
  if (bytes > maxTensorBytes)
    return Status::invalidArgument("the tensor " + toString(type) + " has " + std::to_string(bytes) +
                                   " bytes, more than the largest size, " + std::to_string(maxTensorBytes));
  return bytes;
}

} // namespace zyx
