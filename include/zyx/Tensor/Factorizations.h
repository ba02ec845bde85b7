//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Of matrices of floats in the last two dimensions; those before are many of them. Each is a loop with one trip for
// each row or column, in f32 at least, which suits small matrices. All have gradients.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_FACTORIZATIONS_H
#define ZYX_TENSOR_FACTORIZATIONS_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

struct TriangularOptions {
  /// What lies below the diagonal counts as 0, instead of what lies above it.
  bool upper = false;
  /// The diagonal counts as ones.
  bool unitDiagonal = false;
};
/// The x with a x = b: a [..., n, n], b [..., n, k]; what comes before the matrices broadcasts. The other triangle
/// of a takes no part. A 0 on the diagonal gives what a division by 0 gives.
Tensor triangularSolve(const Tensor &a, const Tensor &b, TriangularOptions options = {},
                       Place where = Place::current());

/// The lower triangle l with l l^T = a, of symmetric positive definite a, of which what lies above the diagonal is not
/// looked at; so the gradient is that of the lower triangle. NaN where a is not positive definite.
Tensor cholesky(const Tensor &a, Place where = Place::current());

/// q r = a with orthonormal columns in q [..., m, k], k = min(m, n), and r [..., k, n], which has 0 below its
/// diagonal and no negative numbers on it. Of matrices whose first k columns are independent; else the columns
/// of q that are not determined are NaN or noise.
struct QR {
  Tensor q, r;
};
QR qr(const Tensor &a, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_FACTORIZATIONS_H
