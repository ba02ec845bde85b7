//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What functions that are made of others share.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_COMPOSE_H
#define ZYX_LIB_TENSOR_COMPOSE_H

#include "Detail.h"

namespace zyx::detail {

/// Makes operands with the place of the user's call.
struct At {
  const Place &where;
  template <typename T> Operand operator()(const T &x) const { return {x, where}; }
};

/// Throws where there is no tensor.
void expectTensor(const Tensor &x, std::string_view function, const Place &where);
void expectFloat(const Tensor &x, std::string_view function, const Place &where);
/// What was reduced, with extents of 1 in the place of the reduced dimensions if asked for.
Tensor unsqueezeReduced(const Tensor &reduced, const Tensor &x, const Dims &dims, bool keepDims, const Place &where);
/// Integers in which sums and products of small ones have room: at least 32 bits.
Tensor withRoom(const Tensor &x, const Place &where);
/// f16 and bf16 in f32.
Tensor wide(const Tensor &x, const Place &where);
/// A function of x, of floats, that is computed in f32 or f64, in the dtype of x.
template <typename F> Tensor widely(const Tensor &x, std::string_view function, const Place &where, F &&compute) {
  expectFloat(x, function, where);
  return compute(wide(x, where)).cast(x.dtype(), where);
}
/// Each element is its own position along a dimension.
Tensor positionsIn(const Tensor &beside, const Shape &shape, int64_t dim, const Place &where, DType dtype = DType::I64);

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_COMPOSE_H
