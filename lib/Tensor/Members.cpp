//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Members of Tensor that are functions of other headers.
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Activations.h"
#include "zyx/Tensor/Convolution.h"
#include "zyx/Tensor/Creation.h"
#include "zyx/Tensor/Factorizations.h"
#include "zyx/Tensor/Functions.h"
#include "zyx/Tensor/Indexing.h"
#include "zyx/Tensor/Selection.h"
#include "zyx/Tensor/Sorting.h"

using namespace zyx;

// Activations.h
Tensor Tensor::leakyRelu(double slope, Place where) const { return zyx::leakyRelu(*this, slope, where); }
Tensor Tensor::elu(double alpha, Place where) const { return zyx::elu(*this, alpha, where); }
Tensor Tensor::celu(double alpha, Place where) const { return zyx::celu(*this, alpha, where); }
Tensor Tensor::selu(Place where) const { return zyx::selu(*this, where); }
Tensor Tensor::geluTanh(Place where) const { return zyx::geluTanh(*this, where); }
Tensor Tensor::quickGelu(Place where) const { return zyx::quickGelu(*this, where); }
Tensor Tensor::softplus(double beta, Place where) const { return zyx::softplus(*this, beta, where); }
Tensor Tensor::mish(Place where) const { return zyx::mish(*this, where); }
Tensor Tensor::hardSigmoid(Place where) const { return zyx::hardSigmoid(*this, where); }
// Functions.h
Tensor Tensor::any(Dims dims, bool keepDims, Place where) const {
  return zyx::any(*this, std::move(dims), keepDims, where);
}
Tensor Tensor::all(Dims dims, bool keepDims, Place where) const {
  return zyx::all(*this, std::move(dims), keepDims, where);
}
Tensor Tensor::logsumexp(Dims dims, bool keepDims, Place where) const {
  return zyx::logsumexp(*this, std::move(dims), keepDims, where);
}
Tensor Tensor::norm(double p, Dims dims, bool keepDims, Place where) const {
  return zyx::norm(*this, p, std::move(dims), keepDims, where);
}
Tensor Tensor::stddev(Dims dims, bool keepDims, double correction, Place where) const {
  return zyx::stddev(*this, std::move(dims), keepDims, correction, where);
}
Tensor Tensor::clamp(Operand low, Operand high) const { return zyx::clamp(*this, std::move(low), std::move(high)); }
Tensor Tensor::sign(Place where) const { return zyx::sign(*this, where); }
Tensor Tensor::isNan(Place where) const { return zyx::isNan(*this, where); }
Tensor Tensor::isInf(Place where) const { return zyx::isInf(*this, where); }
Tensor Tensor::isFinite(Place where) const { return zyx::isFinite(*this, where); }
Tensor Tensor::log10(Place where) const { return zyx::log10(*this, where); }
Tensor Tensor::log1p(Place where) const { return zyx::log1p(*this, where); }
Tensor Tensor::sinh(Place where) const { return zyx::sinh(*this, where); }
Tensor Tensor::cosh(Place where) const { return zyx::cosh(*this, where); }
Tensor Tensor::asin(Place where) const { return zyx::asin(*this, where); }
Tensor Tensor::acos(Place where) const { return zyx::acos(*this, where); }
Tensor Tensor::atan(Place where) const { return zyx::atan(*this, where); }
Tensor Tensor::asinh(Place where) const { return zyx::asinh(*this, where); }
Tensor Tensor::acosh(Place where) const { return zyx::acosh(*this, where); }
Tensor Tensor::atanh(Place where) const { return zyx::atanh(*this, where); }
Tensor Tensor::signBit(Place where) const { return zyx::signBit(*this, where); }
Tensor Tensor::erfinv(Place where) const { return zyx::erfinv(*this, where); }
Tensor Tensor::frac(Place where) const { return zyx::frac(*this, where); }
Tensor Tensor::square(Place where) const { return zyx::square(*this, where); }
Tensor Tensor::deg2rad(Place where) const { return zyx::deg2rad(*this, where); }
Tensor Tensor::rad2deg(Place where) const { return zyx::rad2deg(*this, where); }
Tensor Tensor::bitcast(DType dtype, Place where) const { return zyx::bitcast(*this, dtype, where); }
// Indexing.h
Tensor Tensor::tril(int64_t diagonal, Place where) const { return zyx::tril(*this, diagonal, where); }
Tensor Tensor::triu(int64_t diagonal, Place where) const { return zyx::triu(*this, diagonal, where); }
Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length, Place where) const {
  return zyx::narrow(*this, dim, start, length, where);
}
Tensor Tensor::diagonal(int64_t offset, int64_t a, int64_t b, Place where) const {
  return zyx::diagonal(*this, offset, a, b, where);
}
Tensor Tensor::repeat(Dims counts, Place where) const { return zyx::repeat(*this, std::move(counts), where); }
Tensor Tensor::repeatInterleave(int64_t count, int64_t dim, Place where) const {
  return zyx::repeatInterleave(*this, count, dim, where);
}
Tensor Tensor::pad(Dims low, Dims high, PadMode mode, Place where) const {
  return zyx::pad(*this, std::move(low), std::move(high), mode, where);
}
std::vector<Tensor> Tensor::splitSizes(Dims sizes, int64_t dim, Place where) const {
  return zyx::splitSizes(*this, std::move(sizes), dim, where);
}
std::vector<Tensor> Tensor::split(int64_t size, int64_t dim, Place where) const {
  return zyx::split(*this, size, dim, where);
}
Tensor Tensor::roll(Dims shifts, Dims dims, Place where) const {
  return zyx::roll(*this, std::move(shifts), std::move(dims), where);
}
// Selection.h
Padded Tensor::nonzero(Place where) const { return zyx::nonzero(*this, where); }
Unique Tensor::unique(Place where) const { return zyx::unique(*this, where); }
// Sorting.h
Tensor Tensor::cumsum(int64_t dim, ScanOptions options, Place where) const {
  return zyx::cumsum(*this, dim, options, where);
}
Tensor Tensor::cumprod(int64_t dim, ScanOptions options, Place where) const {
  return zyx::cumprod(*this, dim, options, where);
}
Tensor Tensor::cummax(int64_t dim, ScanOptions options, Place where) const {
  return zyx::cummax(*this, dim, options, where);
}
Tensor Tensor::cummin(int64_t dim, ScanOptions options, Place where) const {
  return zyx::cummin(*this, dim, options, where);
}
Tensor Tensor::sort(int64_t dim, bool descending, Place where) const {
  return zyx::sort(*this, dim, descending, where);
}
Tensor Tensor::argsort(int64_t dim, bool descending, Place where) const {
  return zyx::argsort(*this, dim, descending, where);
}
Ranked Tensor::topk(int64_t k, int64_t dim, bool largest, Place where) const {
  return zyx::topk(*this, k, dim, largest, where);
}
// Convolution.h
Tensor Tensor::slidingWindows(Dims window, Dims stride, Dims dilation, Place where) const {
  return zyx::slidingWindows(*this, std::move(window), std::move(stride), std::move(dilation), where);
}
Tensor Tensor::maxPool(Dims window, WindowOptions options, Place where) const {
  return zyx::maxPool(*this, std::move(window), std::move(options), where);
}
Pooled Tensor::maxPoolWithIndices(Dims window, WindowOptions options, Place where) const {
  return zyx::maxPoolWithIndices(*this, std::move(window), std::move(options), where);
}
Tensor Tensor::avgPool(Dims window, AverageOptions options, Place where) const {
  return zyx::avgPool(*this, std::move(window), std::move(options), where);
}
Tensor Tensor::interpolate(Dims extents, Interpolation how, Place where) const {
  return zyx::interpolate(*this, std::move(extents), how, where);
}
// Factorizations.h
Tensor Tensor::cholesky(Place where) const { return zyx::cholesky(*this, where); }
QR Tensor::qr(Place where) const { return zyx::qr(*this, where); }
// Creation.h
Tensor Tensor::fullLike(double value, Place where) const { return zyx::fullLike(*this, value, where); }
Tensor Tensor::zerosLike(Place where) const { return zyx::zerosLike(*this, where); }
Tensor Tensor::onesLike(Place where) const { return zyx::onesLike(*this, where); }

// Tensor.h
Tensor Tensor::pow(Operand exponent) const { return zyx::pow({*this, exponent.where}, exponent); }
Tensor Tensor::matmul(Operand other) const { return zyx::matmul({*this, other.where}, other); }
