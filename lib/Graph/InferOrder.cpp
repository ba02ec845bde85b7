//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "InferOrder.h"

namespace zyx::graph {

static Status refuse(std::string reason) { return Status::invalidArgument(std::move(reason)); }

static bool isNumber(DType dtype) { return dtype != DType::Bool && !isStorageOnly(dtype); }

/// The op takes one dimension, which x must have.
static Status checkDim(const std::string &what, const Attributes &attributes, const TensorType &x) {
  if (attributes.dims.size() == 1 && attributes.dims[0] >= 0 &&
      attributes.dims[0] < static_cast<int64_t>(x.shape.size()))
    return Status::ok();
  return refuse(what + " along " + zyx::toString(Shape(attributes.dims)) + ", which is not one of its dimensions");
}

Result<TensorType> inferScan(const Attributes &attributes, const TensorType &x) {
  const auto kind = static_cast<ReduceKind>(attributes.kind);
  const std::string what = "scan " + std::string(toString(kind)) + " of " + toString(x);
  switch (kind) {
  case ReduceKind::Add:
  case ReduceKind::Mul:
    if (!isNumber(x.dtype))
      return refuse(what + ": the elements must be numbers");
    break;
  case ReduceKind::Max:
  case ReduceKind::Min:
    if (isStorageOnly(x.dtype))
      return refuse(what + ": 8-bit floats are storage only, cast them first");
    break;
  case ReduceKind::And:
  case ReduceKind::Or:
    if (isFloat(x.dtype))
      return refuse(what + ": the elements must be bools or integers");
    break;
  }
  ZYX_RETURN_IF_ERROR(checkDim(what, attributes, x));
  return x;
}

Result<TensorType> inferSort(const Attributes &attributes, const TensorType &x) {
  const std::string what = "sort of " + toString(x);
  if (isStorageOnly(x.dtype))
    return refuse(what + ": 8-bit floats are storage only, cast them first");
  ZYX_RETURN_IF_ERROR(checkDim(what, attributes, x));
  if (static_cast<SortKind>(attributes.kind) == SortKind::Values)
    return x;
  return TensorType{DType::I64, x.shape};
}

Result<TensorType> inferScatter(const Attributes &attributes, const TensorType &x, const TensorType &indices,
                                const TensorType &updates) {
  const auto kind = static_cast<ScatterKind>(attributes.kind);
  const std::string what = "scatter " + std::string(toString(kind)) + " into " + toString(x);
  if (!isInteger(indices.dtype))
    return refuse(what + " by " + toString(indices) + ": the indices must be integers");
  const bool isArithmetic = kind == ScatterKind::Add || kind == ScatterKind::Mul;
  if (kind != ScatterKind::Set && (isArithmetic ? !isNumber(x.dtype) : isStorageOnly(x.dtype)))
    return refuse(what + ": the elements must be numbers" + (isArithmetic ? "" : " or bools"));
  ZYX_RETURN_IF_ERROR(checkDim(what, attributes, x));
  const auto dim = x.shape.begin() + attributes.dims[0];
  TensorType wanted{x.dtype, Shape(x.shape.begin(), dim)};
  wanted.shape.insert(wanted.shape.end(), indices.shape.begin(), indices.shape.end());
  wanted.shape.insert(wanted.shape.end(), dim + 1, x.shape.end());
  if (updates != wanted)
    return refuse(what + " along dimension " + std::to_string(attributes.dims[0]) + " by " + toString(indices) +
                  " takes updates of " + toString(wanted) + ", not " + toString(updates));
  return x;
}

Result<TensorType> inferRandomBits(const TensorType &seed, const TensorType &requested) {
  if (seed != TensorType{DType::U64, {}})
    return refuse("random_bits of the seed " + toString(seed) + ", which must be " +
                  toString(TensorType{DType::U64, {}}));
  if (requested.dtype != DType::U32)
    return refuse("random_bits gives " + toString(requested) + ", but bits are " + std::string(toString(DType::U32)));
  return requested;
}

} // namespace zyx::graph
