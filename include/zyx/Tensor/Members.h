//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// Members of Tensor as functions: exp(x) is x.exp().
#ifndef ZYX_TENSOR_MEMBERS_H
#define ZYX_TENSOR_MEMBERS_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

inline Tensor detach(const Tensor &x, Place where = Place::current()) { return x.detach(where); }
inline Tensor reshape(const Tensor &x, Shape shape, Place where = Place::current()) {
  return x.reshape(std::move(shape), where);
}
inline Tensor expand(const Tensor &x, Shape shape, Place where = Place::current()) {
  return x.expand(std::move(shape), where);
}
inline Tensor permute(const Tensor &x, Dims order, Place where = Place::current()) {
  return x.permute(std::move(order), where);
}
inline Tensor transpose(const Tensor &x, int64_t a = -2, int64_t b = -1, Place where = Place::current()) {
  return x.transpose(a, b, where);
}
inline Tensor flip(const Tensor &x, Dims dims, Place where = Place::current()) {
  return x.flip(std::move(dims), where);
}
inline Tensor unsqueeze(const Tensor &x, int64_t dim, Place where = Place::current()) {
  return x.unsqueeze(dim, where);
}
inline Tensor squeeze(const Tensor &x, std::optional<Dims> dims = std::nullopt, Place where = Place::current()) {
  return x.squeeze(std::move(dims), where);
}
inline Tensor flatten(const Tensor &x, int64_t from = 0, int64_t to = -1, Place where = Place::current()) {
  return x.flatten(from, to, where);
}
inline Tensor slice(const Tensor &x, std::vector<Slice> slices, Place where = Place::current()) {
  return x.slice(std::move(slices), where);
}
inline Tensor select(const Tensor &x, int64_t dim, int64_t position, Place where = Place::current()) {
  return x.select(dim, position, where);
}
inline Tensor pad(const Tensor &x, Dims low, Dims high, double value = 0, Place where = Place::current()) {
  return x.pad(std::move(low), std::move(high), value, where);
}
inline Tensor cast(const Tensor &x, DType dtype, Place where = Place::current()) { return x.cast(dtype, where); }
inline Tensor logicalNot(const Tensor &x, Place where = Place::current()) { return x.logicalNot(where); }
// Written by utils/gen-graph-inc.py from UnaryKinds.td, and not by hand:
inline Tensor neg(const Tensor &x, Place where = Place::current()) { return x.neg(where); }
inline Tensor exp(const Tensor &x, Place where = Place::current()) { return x.exp(where); }
inline Tensor exp2(const Tensor &x, Place where = Place::current()) { return x.exp2(where); }
inline Tensor log(const Tensor &x, Place where = Place::current()) { return x.log(where); }
inline Tensor log2(const Tensor &x, Place where = Place::current()) { return x.log2(where); }
inline Tensor reciprocal(const Tensor &x, Place where = Place::current()) { return x.reciprocal(where); }
inline Tensor sqrt(const Tensor &x, Place where = Place::current()) { return x.sqrt(where); }
inline Tensor rsqrt(const Tensor &x, Place where = Place::current()) { return x.rsqrt(where); }
inline Tensor sin(const Tensor &x, Place where = Place::current()) { return x.sin(where); }
inline Tensor cos(const Tensor &x, Place where = Place::current()) { return x.cos(where); }
inline Tensor tan(const Tensor &x, Place where = Place::current()) { return x.tan(where); }
inline Tensor tanh(const Tensor &x, Place where = Place::current()) { return x.tanh(where); }
inline Tensor erf(const Tensor &x, Place where = Place::current()) { return x.erf(where); }
inline Tensor floor(const Tensor &x, Place where = Place::current()) { return x.floor(where); }
inline Tensor ceil(const Tensor &x, Place where = Place::current()) { return x.ceil(where); }
inline Tensor round(const Tensor &x, Place where = Place::current()) { return x.round(where); }
inline Tensor trunc(const Tensor &x, Place where = Place::current()) { return x.trunc(where); }
inline Tensor abs(const Tensor &x, Place where = Place::current()) { return x.abs(where); }
inline Tensor expm1(const Tensor &x, Place where = Place::current()) { return x.expm1(where); }
inline Tensor cbrt(const Tensor &x, Place where = Place::current()) { return x.cbrt(where); }
// Written until here.
inline Tensor sum(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current()) {
  return x.sum(std::move(dims), keepDims, where);
}
inline Tensor prod(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current()) {
  return x.prod(std::move(dims), keepDims, where);
}
inline Tensor max(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current()) {
  return x.max(std::move(dims), keepDims, where);
}
inline Tensor min(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current()) {
  return x.min(std::move(dims), keepDims, where);
}
inline Tensor mean(const Tensor &x, Dims dims = {}, bool keepDims = false, Place where = Place::current()) {
  return x.mean(std::move(dims), keepDims, where);
}
inline Tensor var(const Tensor &x, Dims dims = {}, bool keepDims = false, double correction = 1,
                  Place where = Place::current()) {
  return x.var(std::move(dims), keepDims, correction, where);
}
inline Tensor argmax(const Tensor &x, int64_t dim, bool keepDims = false, Place where = Place::current()) {
  return x.argmax(dim, keepDims, where);
}
inline Tensor argmin(const Tensor &x, int64_t dim, bool keepDims = false, Place where = Place::current()) {
  return x.argmin(dim, keepDims, where);
}
inline Tensor softmax(const Tensor &x, int64_t dim = -1, Place where = Place::current()) {
  return x.softmax(dim, where);
}
inline Tensor logSoftmax(const Tensor &x, int64_t dim = -1, Place where = Place::current()) {
  return x.logSoftmax(dim, where);
}
inline Tensor relu(const Tensor &x, Place where = Place::current()) { return x.relu(where); }
inline Tensor sigmoid(const Tensor &x, Place where = Place::current()) { return x.sigmoid(where); }
inline Tensor gelu(const Tensor &x, Place where = Place::current()) { return x.gelu(where); }
inline Tensor silu(const Tensor &x, Place where = Place::current()) { return x.silu(where); }

} // namespace zyx

#endif // ZYX_TENSOR_MEMBERS_H
