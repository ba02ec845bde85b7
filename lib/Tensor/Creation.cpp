//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Creation.h"
#include "Compose.h"
#include "zyx/Tensor/Indexing.h"

using namespace zyx;
using namespace zyx::detail;

static Tensor alike(const Tensor &x, double value, std::string_view function, const Place &where) {
  expectTensor(x, function, where);
  const ContextScope scope(x.context());
  return Tensor::full(x.shape(), value, x.dtype(), where);
}

Tensor zyx::fullLike(const Tensor &x, double value, Place where) { return alike(x, value, "fullLike", where); }
Tensor zyx::zerosLike(const Tensor &x, Place where) { return alike(x, 0, "zerosLike", where); }
Tensor zyx::onesLike(const Tensor &x, Place where) { return alike(x, 1, "onesLike", where); }

Tensor zyx::tri(int64_t rows, int64_t columns, int64_t diagonal, DType dtype, Place where) {
  return tril(Tensor::ones({rows, columns}, dtype, where), diagonal, where);
}

/// From the nearer end on, so that both ends are exact.
Tensor zyx::linspace(double first, double last, int64_t count, DType dtype, Place where) {
  if (count < 0)
    refuse("linspace: there are no " + std::to_string(count) + " numbers", where);
  const At at{where};
  const Tensor numbers = Tensor::arange(0, count, 1, DType::F64, where);
  const double step = count > 1 ? (last - first) / static_cast<double>(count - 1) : 0;
  const Tensor forwards = at(at(numbers) * at(step)) + at(first);
  const Tensor backwards = at(at(at(numbers) - at(count - 1)) * at(step)) + at(count > 1 ? last : first);
  const Tensor all = zyx::where(at(at(numbers) * at(2)) < at(count - 1), at(forwards), at(backwards));
  expectFloat(Tensor::zeros({}, dtype, where), "linspace", where);
  return all.cast(dtype, where);
}
