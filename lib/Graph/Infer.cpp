//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "InferSymbolic.h"

#include "InferBody.h"
#include "InferOrder.h"

#include "zyx/Graph/UnaryKind.h"

#include <algorithm>

namespace zyx::graph {

#define ZYX_GRAPH_UNARY(Name, name) +1
static constexpr int numUnaryKinds = 0
#include "zyx/Graph/UnaryKinds.inc"
    ;
#define ZYX_GRAPH_BINARY(Name, name) +1
static constexpr int numBinaryKinds = 0
#include "zyx/Graph/GraphOps.inc"
    ;
#define ZYX_GRAPH_REDUCE(Name, name) +1
static constexpr int numReduceKinds = 0
#include "zyx/Graph/GraphOps.inc"
    ;
#define ZYX_GRAPH_SCATTER(Name, name) +1
static constexpr int numScatterKinds = 0
#include "zyx/Graph/GraphOps.inc"
    ;
#define ZYX_GRAPH_SORT(Name, name) +1
static constexpr int numSortKinds = 0
#include "zyx/Graph/GraphOps.inc"
    ;

/// How many kinds an op has; 0 where it takes none.
static int numKinds(Op op) {
  switch (op) {
  case Op::Unary:
    return numUnaryKinds;
  case Op::Binary:
    return numBinaryKinds;
  case Op::Reduce:
  case Op::Scan:
    return numReduceKinds;
  case Op::Scatter:
    return numScatterKinds;
  case Op::Sort:
    return numSortKinds;
  default:
    return 0;
  }
}

namespace {

/// The arguments of inferType, so that the rule of each op is one short function.
struct Inference {
  Op op;
  const Attributes &attributes;
  std::span<const TensorType *const> operands;
  const TensorType &requested;

  const TensorType &operand(size_t i) const { return *operands[i]; }

  Result<TensorType> constant() const;
  Result<TensorType> parameter() const;
  Result<TensorType> reshape() const;
  Result<TensorType> expand() const;
  Result<TensorType> permute() const;
  Result<TensorType> reduce() const;
  Result<TensorType> cast() const;
  Result<TensorType> unary() const;
  Result<TensorType> binary() const;
  Result<TensorType> select() const;
  Result<TensorType> iota() const;
  Result<TensorType> gather() const;
  Result<TensorType> flip() const;
  Result<TensorType> pad() const;
  Result<TensorType> window() const;
  Result<TensorType> concat() const;
  Result<TensorType> bitcast() const;
  Result<TensorType> transfer() const;

  Status checkIncreasingDims(const std::string &what) const;
  Status checkAttributes() const;
  Status checkResultDType() const;
};

} // namespace

/// Of a concat: each is code of its own, a part of a kernel.
static constexpr size_t maxParts = 4096;

static Status refuse(std::string reason) { return Status::invalidArgument(std::move(reason)); }

static bool isNumber(DType dtype) { return dtype != DType::Bool && !isStorageOnly(dtype); }
static bool isComputedFloat(DType dtype) { return isFloat(dtype) && !isStorageOnly(dtype); }
static bool isBits(DType dtype) { return dtype == DType::Bool || isInteger(dtype); }

/// Why an op of this name cannot take the dtype. `wanted` as in "a float".
static Status refuseDType(std::string_view what, std::string_view wanted, const TensorType &type) {
  std::string text = std::string(what) + " needs " + std::string(wanted) + ", not " + toString(type);
  if (isStorageOnly(type.dtype))
    text += ": 8-bit floats are storage only, cast them first";
  return refuse(std::move(text));
}

/// Numbers, of which none is a symbol.
static std::string list(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "[" : ", ") + std::to_string(value);
  return text.empty() ? "[]" : text + "]";
}

/// What every type must satisfy, in memory or not: see inferType.
static Status checkType(std::string_view op, const TensorType &type) {
  if (type.shape.size() > static_cast<size_t>(maxRank))
    return refuse(std::string(op) + " gives " + toString(type) + " of rank " + std::to_string(type.shape.size()) +
                  ", more than the largest rank, " + std::to_string(maxRank));
  const Result<int64_t> elements = numElements(type.shape);
  if (!elements.isOk())
    return refuse(std::string(op) + ": " + elements.status().message());
  int64_t bytes = 0;
  if (__builtin_mul_overflow(*elements, byteSize(type.dtype), &bytes))
    return refuse(std::string(op) + " gives " + toString(type) + ", whose bytes do not fit in 63 bits");
  return Status::ok();
}

/// Attributes that an op does not take must be absent, so that equal nodes have one form.
Status Inference::checkAttributes() const {
  const bool takesDims = op == Op::Permute || op == Op::Reduce || op == Op::Iota || op == Op::Gather ||
                         op == Op::Flip || op == Op::Window || op == Op::Concat || op == Op::Scan || op == Op::Sort ||
                         op == Op::Scatter;
  const bool takesKind = numKinds(op) != 0;
  const Attributes &a = attributes;
  const char *extra = nullptr;
  if (!takesKind && a.kind != 0)
    extra = "kind";
  else if (!takesDims && !a.dims.empty())
    extra = "dimensions";
  else if (op != Op::Pad && !(a.low.empty() && a.high.empty() && a.interior.empty()))
    extra = "padding";
  else if (op != Op::Window && !(a.size.empty() && a.stride.empty() && a.dilation.empty()))
    extra = "window";
  else if ((op != Op::Constant && op != Op::Custom && !a.value.empty()) || (op != Op::Constant && a.splat))
    extra = "value";
  else if (op != Op::Parameter && op != Op::Transfer && op != Op::Custom && !a.name.empty())
    extra = "name";
  else if (op != Op::Loop && op != Op::Custom && (a.body || a.result != 0))
    extra = "body";
  else if (op != Op::Custom && !a.implementations.empty())
    extra = "implementation";
  else if (op != Op::Loop && a.trips != 0)
    extra = "trips";
  else if ((a.exclusive && op != Op::Scan) || (a.reverse && op != Op::Scan && op != Op::Sort))
    extra = "direction";
  if (extra)
    return refuse(std::string(toString(op)) + " takes no " + extra);
  // Names end at it where C reads them.
  if (a.name.find('\0') != std::string::npos)
    return refuse(std::string(toString(op)) + " has a name with a zero byte");
  if (takesKind && a.kind >= numKinds(op))
    return refuse(std::string(toString(op)) + " has the unknown kind " + std::to_string(a.kind));
  return Status::ok();
}

Status Inference::checkResultDType() const {
  if (requested.dtype != operand(0).dtype)
    return refuse(std::string(toString(op)) + " of " + toString(operand(0)) + " to " + toString(requested) +
                  " changes the dtype");
  return Status::ok();
}

Result<TensorType> Inference::constant() const {
  const Result<int64_t> bytes = byteSize(requested);
  if (!bytes.isOk())
    return refuse("constant: " + bytes.status().message());
  const auto size = static_cast<int64_t>(attributes.value.size());
  const std::string held = "constant of " + toString(requested) + " holds " + std::to_string(size) + " bytes";
  if (attributes.splat) {
    if (size != byteSize(requested.dtype))
      return refuse(held + ", one element has " + std::to_string(byteSize(requested.dtype)));
  } else {
    if (size != *bytes)
      return refuse(held + " instead of " + std::to_string(*bytes));
    if (size > maxConstantBytes)
      return refuse(held + ", more than " + std::to_string(maxConstantBytes) + ": make it a parameter");
  }
  if (requested.dtype == DType::Bool)
    for (std::byte b : attributes.value)
      if (static_cast<uint8_t>(b) > 1)
        return refuse("constant of " + toString(requested) + " holds a byte that is neither 0 nor 1");
  return requested;
}

Result<TensorType> Inference::parameter() const {
  if (attributes.name.empty())
    return refuse("parameter of " + toString(requested) + " has no name");
  const Result<int64_t> bytes = byteSize(requested);
  if (!bytes.isOk())
    return refuse("parameter " + attributes.name + ": " + bytes.status().message());
  return requested;
}

Result<TensorType> Inference::reshape() const {
  ZYX_RETURN_IF_ERROR(checkResultDType());
  ZYX_RETURN_IF_ERROR(checkType("reshape", requested));
  const int64_t from = *numElements(operand(0).shape), to = *numElements(requested.shape);
  if (from != to)
    return refuse("reshape of " + toString(operand(0)) + " to " + toString(requested) +
                  " changes the number of elements from " + std::to_string(from) + " to " + std::to_string(to));
  return requested;
}

Result<TensorType> Inference::expand() const {
  ZYX_RETURN_IF_ERROR(checkResultDType());
  const std::string what = "expand of " + toString(operand(0)) + " to " + toString(requested);
  const Shape &from = operand(0).shape, &to = requested.shape;
  if (from.size() != to.size())
    return refuse(what + " changes the rank: reshape first");
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[i] && from[i] != 1)
      return refuse(what + " changes dimension " + std::to_string(i) + ", whose extent is not 1");
  return requested;
}

Result<TensorType> Inference::permute() const {
  const size_t rank = operand(0).shape.size();
  std::vector<bool> seen(rank);
  TensorType result{operand(0).dtype, {}};
  for (int64_t dim : attributes.dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[dim])
      break;
    seen[dim] = true;
    result.shape.push_back(operand(0).shape[dim]);
  }
  if (attributes.dims.size() != rank || result.shape.size() != rank)
    return refuse("permute of " + toString(operand(0)) + " by " + list(attributes.dims) +
                  ", which is no permutation of its dimensions");
  return result;
}

Result<TensorType> Inference::reduce() const {
  const auto kind = static_cast<ReduceKind>(attributes.kind);
  const TensorType &x = operand(0);
  const std::string what = "reduce " + std::string(toString(kind));
  switch (kind) {
  case ReduceKind::Add:
  case ReduceKind::Mul:
    if (!isNumber(x.dtype))
      return refuseDType(what, "a number", x);
    break;
  case ReduceKind::Max:
  case ReduceKind::Min:
    if (!isNumber(x.dtype) && x.dtype != DType::Bool)
      return refuseDType(what, "a number or bool", x);
    break;
  case ReduceKind::And:
  case ReduceKind::Or:
    if (!isBits(x.dtype))
      return refuseDType(what, "bool or an integer", x);
    break;
  }
  const std::string where = what + " of " + toString(x) + " over " + list(attributes.dims);
  if (attributes.dims.empty())
    return refuse(what + " of " + toString(x) + " lists no dimension");
  TensorType result{x.dtype, {}};
  size_t next = 0;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (next == attributes.dims.size() || attributes.dims[next] != static_cast<int64_t>(i)) {
      result.shape.push_back(x.shape[i]);
      continue;
    }
    if (x.shape[i] == 0 && (kind == ReduceKind::Max || kind == ReduceKind::Min))
      return refuse(where + " is empty, and " + std::string(toString(kind)) + " has no identity");
    ++next;
  }
  if (next != attributes.dims.size())
    return refuse(where + ", which are not increasing dimensions of it");
  return result;
}

Result<TensorType> Inference::cast() const {
  if (requested.shape != operand(0).shape)
    return refuse("cast of " + toString(operand(0)) + " to " + toString(requested) + " changes the shape");
  return requested;
}

Result<TensorType> Inference::unary() const {
  const auto kind = static_cast<UnaryKind>(attributes.kind);
  const TensorType &x = operand(0);
  switch (kind) {
#define ZYX_GRAPH_UNARY_NUMBERS(Name) case UnaryKind::Name:
#include "zyx/Graph/UnaryKinds.inc"
    if (!isNumber(x.dtype))
      return refuseDType(toString(kind), "a number", x);
    break;
#define ZYX_GRAPH_UNARY_BITS(Name) case UnaryKind::Name:
#include "zyx/Graph/UnaryKinds.inc"
    if (!isBits(x.dtype))
      return refuseDType(toString(kind), "bool or an integer", x);
    break;
#define ZYX_GRAPH_UNARY_FLOATS(Name) case UnaryKind::Name:
#include "zyx/Graph/UnaryKinds.inc"
    if (!isComputedFloat(x.dtype))
      return refuseDType(toString(kind), "a float", x);
    break;
  }
  return x;
}

Result<TensorType> Inference::binary() const {
  const auto kind = static_cast<BinaryKind>(attributes.kind);
  const TensorType &x = operand(0);
  const std::string_view name = toString(kind);
  if (operand(0) != operand(1))
    return refuse(std::string(name) + " of " + toString(operand(0)) + " and " + toString(operand(1)) +
                  ": both must have the same dtype and shape");
  switch (kind) {
  case BinaryKind::Add:
  case BinaryKind::Sub:
  case BinaryKind::Mul:
  case BinaryKind::Div:
  case BinaryKind::Rem:
  case BinaryKind::Pow:
    if (!isNumber(x.dtype))
      return refuseDType(name, "numbers", x);
    return x;
  case BinaryKind::Max:
  case BinaryKind::Min:
    if (!isNumber(x.dtype) && x.dtype != DType::Bool)
      return refuseDType(name, "numbers or bools", x);
    return x;
  case BinaryKind::And:
  case BinaryKind::Or:
  case BinaryKind::Xor:
    if (!isBits(x.dtype))
      return refuseDType(name, "bools or integers", x);
    return x;
  case BinaryKind::Shl:
  case BinaryKind::Shr:
    if (!isInteger(x.dtype))
      return refuseDType(name, "integers", x);
    return x;
  case BinaryKind::Lt:
  case BinaryKind::Le:
  case BinaryKind::Gt:
  case BinaryKind::Ge:
  case BinaryKind::Eq:
  case BinaryKind::Ne:
    if (isStorageOnly(x.dtype))
      return refuseDType(name, "numbers or bools", x);
    return TensorType{DType::Bool, x.shape};
  }
  ZYX_ASSERT(false, "the kind was checked");
  return x;
}

Result<TensorType> Inference::select() const {
  if (operand(0).dtype != DType::Bool)
    return refuse("select by " + toString(operand(0)) + ": the condition must be bool");
  if (operand(1) != operand(2))
    return refuse("select between " + toString(operand(1)) + " and " + toString(operand(2)) +
                  ": both must have the same dtype and shape");
  if (operand(0).shape != operand(1).shape)
    return refuse("select by " + toString(operand(0)) + " between " + toString(operand(1)) +
                  "s: the condition must have their shape");
  return operand(1);
}

Result<TensorType> Inference::iota() const {
  const std::string what = "iota of " + toString(requested);
  if (attributes.dims.size() != 1 || attributes.dims[0] < 0 ||
      attributes.dims[0] >= static_cast<int64_t>(requested.shape.size()))
    return refuse(what + " along " + list(attributes.dims) + ", which is not one of its dimensions");
  if (!isNumber(requested.dtype))
    return refuseDType("iota", "a number", requested);
  // The largest n such that every integer of 0..n is a value of the dtype.
  int64_t largest = 0;
  switch (requested.dtype) {
  case DType::F16:
    largest = int64_t(1) << 11;
    break;
  case DType::BF16:
    largest = int64_t(1) << 8;
    break;
  case DType::F32:
    largest = int64_t(1) << 24;
    break;
  case DType::F64:
    largest = int64_t(1) << 53;
    break;
  default: {
    const int bits = static_cast<int>(byteSize(requested.dtype)) * 8;
    const int valueBits = std::min(isSignedInteger(requested.dtype) ? bits - 1 : bits, 63);
    largest = static_cast<int64_t>((uint64_t(1) << valueBits) - 1);
  }
  }
  const int64_t extent = requested.shape[attributes.dims[0]];
  if (extent - 1 > largest)
    return refuse(what + " along dimension " + std::to_string(attributes.dims[0]) + " reaches " +
                  std::to_string(extent - 1) + ", but " + std::string(toString(requested.dtype)) +
                  " counts exactly to " + std::to_string(largest) + " only");
  return requested;
}

Result<TensorType> Inference::gather() const {
  const TensorType &x = operand(0), &indices = operand(1);
  if (!isInteger(indices.dtype))
    return refuse("gather from " + toString(x) + " by " + toString(indices) + ": the indices must be integers");
  if (attributes.dims.size() != 1 || attributes.dims[0] < 0 ||
      attributes.dims[0] >= static_cast<int64_t>(x.shape.size()))
    return refuse("gather from " + toString(x) + " along " + list(attributes.dims) +
                  ", which is not one of its dimensions");
  const auto dim = x.shape.begin() + attributes.dims[0];
  TensorType result{x.dtype, Shape(x.shape.begin(), dim)};
  result.shape.insert(result.shape.end(), indices.shape.begin(), indices.shape.end());
  result.shape.insert(result.shape.end(), dim + 1, x.shape.end());
  return result;
}

/// Dimensions of the operand that are listed once each, in order, and at least one.
Status Inference::checkIncreasingDims(const std::string &what) const {
  if (attributes.dims.empty())
    return refuse(what + " lists no dimension");
  int64_t least = 0;
  for (int64_t dim : attributes.dims) {
    if (dim < least || dim >= static_cast<int64_t>(operand(0).shape.size()))
      return refuse(what + " along " + list(attributes.dims) + ", which are not increasing dimensions of it");
    least = dim + 1;
  }
  return Status::ok();
}

Result<TensorType> Inference::flip() const {
  ZYX_RETURN_IF_ERROR(checkIncreasingDims("flip of " + toString(operand(0))));
  return operand(0);
}

Result<TensorType> Inference::pad() const {
  const TensorType &x = operand(0), &fill = operand(1);
  const std::string what = "pad of " + toString(x);
  if (fill.dtype != x.dtype || !fill.shape.empty())
    return refuse(what + " with " + toString(fill) + ": the fill must be one element of its dtype");
  const Attributes &a = attributes;
  for (const auto *numbers : {&a.low, &a.high, &a.interior})
    if (numbers->size() != x.shape.size())
      return refuse(what + " by low " + list(a.low) + " high " + list(a.high) + " interior " + list(a.interior) +
                    ": each needs one number per dimension");
  TensorType result = x;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    const std::string where = what + " along dimension " + std::to_string(d);
    if (a.interior[d] < 0)
      return refuse(where + " adds " + std::to_string(a.interior[d]) +
                    " elements between two, which cannot be removed");
    int64_t extent = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(x.shape[d] - 1, 0), a.interior[d], &extent) ||
        __builtin_add_overflow(extent, x.shape[d], &extent) || __builtin_add_overflow(extent, a.low[d], &extent) ||
        __builtin_add_overflow(extent, a.high[d], &extent))
      return refuse(where + " gives an extent that does not fit in 63 bits");
    if (extent < 0)
      return refuse(where + " removes " + std::to_string(-extent) + " elements more than there are");
    result.shape[d] = extent;
  }
  return result;
}

Result<TensorType> Inference::window() const {
  const TensorType &x = operand(0);
  const std::string what = "window of " + toString(x);
  ZYX_RETURN_IF_ERROR(checkIncreasingDims(what));
  const Attributes &a = attributes;
  for (const auto *numbers : {&a.size, &a.stride, &a.dilation}) {
    if (numbers->size() != a.dims.size())
      return refuse(what + " by size " + list(a.size) + " stride " + list(a.stride) + " dilation " + list(a.dilation) +
                    ": each needs one number per dimension of " + list(a.dims));
    if (std::ranges::any_of(*numbers, [](int64_t number) { return number < 1; }))
      return refuse(what + " by size " + list(a.size) + " stride " + list(a.stride) + " dilation " + list(a.dilation) +
                    ": each number must be positive");
  }
  TensorType result = x;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    int64_t &extent = result.shape[a.dims[i]];
    // How far the last element of a window lies from its first one.
    int64_t reach = 0;
    if (__builtin_mul_overflow(a.size[i] - 1, a.dilation[i], &reach))
      return refuse(what + " along dimension " + std::to_string(a.dims[i]) + " reaches further than fits in 63 bits");
    extent = extent > reach ? (extent - 1 - reach) / a.stride[i] + 1 : 0;
    result.shape.push_back(a.size[i]);
  }
  return result;
}

Result<TensorType> Inference::concat() const {
  const TensorType &first = operand(0);
  if (attributes.dims.size() != 1 || attributes.dims[0] < 0 ||
      attributes.dims[0] >= static_cast<int64_t>(first.shape.size()))
    return refuse("concat of " + toString(first) + " along " + list(attributes.dims) +
                  ", which is not one of its dimensions");
  if (operands.size() > maxParts)
    return refuse("concat of " + std::to_string(operands.size()) + " parts, more than " + std::to_string(maxParts) +
                  ": concat some of them first");
  const auto dim = static_cast<size_t>(attributes.dims[0]);
  TensorType result = first;
  for (size_t i = 1; i < operands.size(); ++i) {
    TensorType next = operand(i);
    if (next.shape.size() == first.shape.size()) {
      if (__builtin_add_overflow(result.shape[dim], next.shape[dim], &result.shape[dim]))
        return refuse("concat along dimension " + std::to_string(dim) +
                      " gives an extent that does not fit in 63 bits");
      next.shape[dim] = first.shape[dim];
    }
    if (next != first)
      return refuse("concat of " + toString(first) + " and " + toString(operand(i)) + " along dimension " +
                    std::to_string(dim) + ": all else must be the same");
  }
  return result;
}

Result<TensorType> Inference::bitcast() const {
  const TensorType &x = operand(0);
  const std::string what = "bitcast of " + toString(x) + " to " + toString(requested);
  if (requested.shape != x.shape)
    return refuse(what + " changes the shape");
  if (x.dtype == DType::Bool || requested.dtype == DType::Bool)
    return refuse(what + ": bools are no numbers of bits, cast them");
  if (byteSize(x.dtype) != byteSize(requested.dtype))
    return refuse(what + " changes the width of elements");
  return requested;
}

/// "cpu" or "cuda:1": letters and digits, a letter first, then maybe a colon and a number.
static bool isDeviceName(std::string_view name) {
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  const auto isLetter = [](char c) { return c >= 'a' && c <= 'z'; };
  const size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  if (kind.empty() || !isLetter(kind[0]) ||
      !std::ranges::all_of(kind, [&](char c) { return isLetter(c) || isDigit(c); }))
    return false;
  if (colon == std::string_view::npos)
    return true;
  const std::string_view number = name.substr(colon + 1);
  return !number.empty() && number.size() <= 9 && std::ranges::all_of(number, isDigit);
}

Result<TensorType> Inference::transfer() const {
  if (!isDeviceName(attributes.name))
    return refuse("transfer of " + toString(operand(0)) + " to '" + attributes.name +
                  "', which is no name of a device, such as cpu or cuda:1");
  return operand(0);
}

static Result<TensorType> inferByOp(const Inference &inference) {
  switch (inference.op) {
  case Op::Constant:
    return inference.constant();
  case Op::Parameter:
    return inference.parameter();
  case Op::Reshape:
    return inference.reshape();
  case Op::Expand:
    return inference.expand();
  case Op::Permute:
    return inference.permute();
  case Op::Reduce:
    return inference.reduce();
  case Op::Cast:
    return inference.cast();
  case Op::Unary:
    return inference.unary();
  case Op::Binary:
    return inference.binary();
  case Op::Select:
    return inference.select();
  case Op::Iota:
    return inference.iota();
  case Op::Gather:
    return inference.gather();
  case Op::Flip:
    return inference.flip();
  case Op::Pad:
    return inference.pad();
  case Op::Window:
    return inference.window();
  case Op::Concat:
    return inference.concat();
  case Op::Bitcast:
    return inference.bitcast();
  case Op::Transfer:
    return inference.transfer();
  case Op::Loop:
    return inferLoop(inference.attributes, inference.operands);
  case Op::Custom:
    return inferCustom(inference.attributes, inference.operands);
  case Op::Scan:
    return inferScan(inference.attributes, inference.operand(0));
  case Op::Sort:
    return inferSort(inference.attributes, inference.operand(0));
  case Op::Scatter:
    return inferScatter(inference.attributes, inference.operand(0), inference.operand(1), inference.operand(2));
  case Op::RandomBits:
    return inferRandomBits(inference.operand(0), inference.requested);
  }
  ZYX_ASSERT(false, "the op was checked");
  return inference.requested;
}

Result<TensorType> inferType(Op op, const Attributes &attributes, std::span<const TensorType *const> operands,
                             const TensorType &requested) {
  if (!isOp(static_cast<uint8_t>(op)))
    return refuse("there is no op number " + std::to_string(static_cast<int>(op)));
  if (arity(op) == variadic && operands.empty())
    return refuse(std::string(toString(op)) + " needs at least one operand");
  if (arity(op) != variadic && operands.size() != static_cast<size_t>(arity(op)))
    return refuse(std::string(toString(op)) + " takes " + std::to_string(arity(op)) + " operands, not " +
                  std::to_string(operands.size()));
  bool isSymbolic = requested.isSymbolic();
  for (const TensorType *operand : operands)
    isSymbolic |= operand->isSymbolic();
  if (isSymbolic)
    return inferSymbolicType(op, attributes, operands, requested);
  const Inference inference{op, attributes, operands, requested};
  ZYX_RETURN_IF_ERROR(inference.checkAttributes());
  for (const TensorType *operand : operands)
    ZYX_RETURN_IF_ERROR(checkType(toString(op), *operand));
  ZYX_ASSIGN_OR_RETURN(TensorType result, inferByOp(inference));
  ZYX_RETURN_IF_ERROR(checkType(toString(op), result));
  return result;
}

Result<TensorType> inferType(Op op, const Attributes &attributes, std::span<const TensorType> operands,
                             const TensorType &requested) {
  std::vector<const TensorType *> pointers;
  for (const TensorType &operand : operands)
    pointers.push_back(&operand);
  return inferType(op, attributes, std::span<const TensorType *const>(pointers), requested);
}

} // namespace zyx::graph
