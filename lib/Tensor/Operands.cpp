//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Operands become tensors of one dtype and shape; what does not fit is refused with both.
//===----------------------------------------------------------------------===//
#include "Detail.h"

#include "zyx/Base/Float.h"

#include <algorithm>
#include <cmath>

using namespace zyx;
using namespace zyx::detail;

void zyx::detail::refuse(const std::string &message, const Place &where) {
  throw Error(Status::invalidArgument(message), where);
}

int64_t zyx::detail::dimension(int64_t dim, int64_t rank, std::string_view function, const Place &where) {
  const int64_t fromFront = dim < 0 ? dim + rank : dim;
  if (fromFront < 0 || fromFront >= rank)
    refuse(std::string(function) + ": a tensor of rank " + std::to_string(rank) + " has no dimension " +
               std::to_string(dim),
           where);
  return fromFront;
}

Dims zyx::detail::dimensions(const Dims &dims, int64_t rank, std::string_view function, const Place &where) {
  Dims all;
  if (dims.empty())
    for (int64_t dim = 0; dim < rank; ++dim)
      all.push_back(dim);
  for (int64_t dim : dims)
    all.push_back(dimension(dim, rank, function, where));
  std::sort(all.begin(), all.end());
  if (auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    refuse(std::string(function) + ": dimension " + std::to_string(*twice) + " is named twice", where);
  return all;
}

std::optional<DType> zyx::detail::promoted(DType a, DType b) {
  if (a == b)
    return a;
  if (isStorageOnly(a) || isStorageOnly(b))
    return std::nullopt;
  const int64_t widest = std::max(byteSize(a), byteSize(b));
  if (isFloat(a) && isFloat(b))
    return widest == 8 ? DType::F64 : DType::F32;
  if (!isInteger(a) || !isInteger(b))
    return std::nullopt;
  if (isSignedInteger(a) == isSignedInteger(b))
    return byteSize(a) == widest ? a : b;
  // Both signs: the unsigned one needs a digit more.
  const int64_t bytes = std::max(byteSize(isSignedInteger(a) ? a : b), 2 * byteSize(isSignedInteger(a) ? b : a));
  switch (bytes) {
  case 2:
    return DType::I16;
  case 4:
    return DType::I32;
  case 8:
    return DType::I64;
  default:
    return std::nullopt;
  }
}

std::optional<Shape> zyx::detail::broadcast(const Shape &a, const Shape &b) {
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    shape[shape.size() - i] = x == 1 ? y : x;
  }
  return shape;
}

Tensor zyx::detail::expandTo(const Tensor &x, const Shape &shape, const Place &where) {
  if (x.shape() == shape)
    return x;
  Tensor result = x;
  if (x.shape().size() != shape.size()) {
    Shape padded(shape.size() - x.shape().size(), 1);
    padded.insert(padded.end(), x.shape().begin(), x.shape().end());
    result = makeNode(Op::Reshape, {x}, {}, where, {x.dtype(), padded});
  }
  return result.shape() == shape ? result : makeNode(Op::Expand, {result}, {}, where, {x.dtype(), shape});
}

static bool staysFinite(double value, DType dtype) {
  switch (dtype) {
  case DType::F16:
    return std::isfinite(halfToFloat(floatToHalf(value)));
  case DType::BF16:
    return std::isfinite(bfloat16ToFloat(floatToBFloat16(value)));
  case DType::F8E4M3FN:
    return std::isfinite(f8E4M3FNToFloat(floatToF8E4M3FN(value)));
  case DType::F8E5M2:
    return std::isfinite(f8E5M2ToFloat(floatToF8E5M2(value)));
  case DType::F32:
    // Halfway between the largest one and the next power of two.
    return std::abs(value) < 0x1.ffffffp127;
  default:
    return true;
  }
}

bool zyx::detail::isRepresentable(double value, DType dtype) {
  if (isFloat(dtype))
    return !std::isfinite(value) || staysFinite(value, dtype);
  if (dtype == DType::Bool)
    return value == 0 || value == 1;
  const int bits = 8 * static_cast<int>(byteSize(dtype));
  const double end = std::ldexp(1, isSignedInteger(dtype) ? bits - 1 : bits);
  return value == std::trunc(value) && value < end && value >= (isSignedInteger(dtype) ? -end : 0);
}

/// Whether an integer of C++ is one of a dtype of integers.
static bool isWithin(const Operand &operand, DType dtype) {
  const int bits = 8 * static_cast<int>(byteSize(dtype));
  if (!isSignedInteger(dtype))
    return !operand.isNegative && operand.integer <= UINT64_MAX >> (64 - bits);
  const uint64_t most = static_cast<uint64_t>(INT64_MAX) >> (64 - bits);
  // The complement of a negative one is its distance from -1.
  return (operand.isNegative ? ~operand.integer : operand.integer) <= most;
}

/// A number as a constant of a dtype that holds it.
static Tensor asTensor(const Operand &operand, const Tensor &beside, std::string_view function) {
  if (operand.tensor.isDefined())
    return operand.tensor;
  if (!operand.isNumber)
    refuse(std::string(function) + ": there is no tensor in this place", operand.where);
  const DType dtype = beside.dtype();
  const auto integer = static_cast<int64_t>(operand.integer);
  const std::string number = !operand.isInteger   ? std::to_string(operand.number)
                             : operand.isNegative ? std::to_string(integer)
                                                  : std::to_string(operand.integer);
  bool fits = isFloat(dtype) && !isStorageOnly(dtype) && isRepresentable(operand.number, dtype);
  fits |= isInteger(dtype) && operand.isInteger && isWithin(operand, dtype);
  fits |= dtype == DType::Bool && operand.isInteger && !operand.isNegative && operand.integer <= 1;
  if (!fits)
    refuse(std::string(function) + ": no " + std::string(toString(dtype)) + " is " + number, operand.where);
  if (isFloat(dtype))
    return constantLike(beside, operand.number, dtype, operand.where);
  graph::Attributes attributes;
  attributes.splat = true;
  const auto *raw = reinterpret_cast<const std::byte *>(&operand.integer);
  attributes.value.assign(raw, raw + byteSize(dtype));
  return makeIn(stateOf(beside), Op::Constant, {}, std::move(attributes), operand.where, {dtype, {}});
}

Pair zyx::detail::resolve(const Operand &a, const Operand &b, std::string_view function, bool sameShape) {
  if (!a.tensor.isDefined() && !b.tensor.isDefined())
    refuse(std::string(function) + ": neither operand is a tensor", a.where);
  Pair pair{asTensor(a, b.tensor, function), asTensor(b, a.tensor, function)};
  // Before they are expanded, so that a refusal has the shapes of the call.
  Tensor both[] = {pair.a, pair.b};
  throwIfError(stateOf(pair.a).bringTogether(both, function, a.where), a.where);
  pair = {both[0], both[1]};
  const DType x = pair.a.dtype(), y = pair.b.dtype();
  if (x != y) {
    const std::optional<DType> both = pair.a.context().options().promote ? promoted(x, y) : std::nullopt;
    if (!both)
      refuse(std::string(function) + ": operands are of dtypes " + std::string(toString(x)) + " and " +
                 std::string(toString(y)) + "; cast one of them",
             a.where);
    pair.a = pair.a.cast(*both, a.where);
    pair.b = pair.b.cast(*both, b.where);
  }
  if (!sameShape)
    return pair;
  const std::optional<Shape> shape = broadcast(pair.a.shape(), pair.b.shape());
  if (!shape)
    refuse(std::string(function) + ": shapes " + toString(pair.a.shape()) + " and " + toString(pair.b.shape()) +
               " do not broadcast",
           a.where);
  return {expandTo(pair.a, *shape, a.where), expandTo(pair.b, *shape, b.where)};
}
