//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Functions of each element that the graph has no op for. A select does not keep a NaN out of the gradient of what
// it does not choose, so what is not chosen is computed of another number.
//===----------------------------------------------------------------------===//
#include "Compose.h"
#include "zyx/Graph/UnaryKind.h"
#include "zyx/Tensor/Functions.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace zyx;
using namespace zyx::detail;
using graph::UnaryKind;

static constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor zyx::operator~(Operand a) { return makeUnary(UnaryKind::Not, a.tensor, a.where); }

//===----------------------------------------------------------------------===//
// Powers and logarithms
//===----------------------------------------------------------------------===//

Tensor zyx::log10(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "log10", where,
                [&](const Tensor &t) { return at(t.log2(where)) * at(std::numbers::ln2 / std::numbers::ln10); });
}

/// log(u) x / (u - 1) with u = 1 + x as rounded: what u lost of x, the quotient has (Higham, "Accuracy and stability
/// of numerical algorithms", 1.14.1).
Tensor zyx::log1p(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "log1p", where, [&](const Tensor &t) {
    const Tensor u = at(t) + at(1), step = at(u) - at(1), isTiny = at(step) == at(0);
    const Tensor quotient = at(t) / at(zyx::where(isTiny, at(1), at(step)));
    const Tensor share = zyx::where(isFinite(step, where), at(quotient), at(1));
    return zyx::where(isTiny, at(t), at(at(u.log(where)) * at(share)));
  });
}

/// 2 t / (1 - t t) with t = tanh(x / 2) where x is small; else by the root of e^x, which overflows where the result
/// does.
Tensor zyx::sinh(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "sinh", where, [&](const Tensor &t) {
    const Tensor isSmall = at(t.abs(where)) < at(1);
    const Tensor half = (at(zyx::where(isSmall, at(t), at(0))) * at(0.5)).tanh(where);
    const Tensor near = at(at(half) * at(2)) / at(at(1) - at(at(half) * at(half)));
    const Tensor root = (at(t) * at(0.5)).exp(where), back = (at(t) * at(-0.5)).exp(where);
    const Tensor far = at(at(at(root) * at(0.5)) * at(root)) - at(at(at(back) * at(0.5)) * at(back));
    return zyx::where(isSmall, at(near), at(far));
  });
}

Tensor zyx::cosh(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "cosh", where, [&](const Tensor &t) {
    const Tensor root = (at(t) * at(0.5)).exp(where), back = (at(t) * at(-0.5)).exp(where);
    return at(at(at(root) * at(0.5)) * at(root)) + at(at(at(back) * at(0.5)) * at(back));
  });
}

/// Halley's steps, each of which has three times the digits of the one before, from a closed form that has two
/// (Winitzki, "A handy approximation for the error function and its inverse", 2008). The last step alone has
/// gradients: its own are those of the function, to the second order.
Tensor zyx::erfinv(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "erfinv", where, [&](const Tensor &t) {
    const Tensor isInside = at(t.abs(where)) < at(1);
    const Tensor inside = zyx::where(isInside, at(t), at(0));
    const Tensor still = makeNode(Op::Bitcast, {inside}, {}, where, inside.type());
    constexpr double a = 0.147;
    const Tensor log = (at(at(1) - at(still)) * at(at(1) + at(still))).log(where);
    const Tensor base = at(at(log) * at(0.5)) + at(2 / (std::numbers::pi * a)), part = at(log) * at(-1 / a);
    const Tensor root = (at(at(base) * at(base)) + at(part)).sqrt(where);
    const Tensor size = (at(part) / at(at(root) + at(base))).sqrt(where);
    const auto step = [&](const Tensor &y, const Tensor &goal) -> Tensor {
      const Tensor slope = (at(y) * at(y)).exp(where);
      const Tensor u = at(at(at(y.erf(where)) - at(goal)) * at(slope)) * at(1 / (2 * std::numbers::inv_sqrtpi));
      return at(y) - at(at(u) / at(at(at(y) * at(u)) + at(1)));
    };
    Tensor y = zyx::where(at(still) < at(0), at(size.neg(where)), at(size));
    y = step(step(y, still), still);
    y = step(makeNode(Op::Bitcast, {y}, {}, where, y.type()), inside);
    const Tensor none = constantLike(t, std::numeric_limits<double>::quiet_NaN(), t.dtype(), where);
    const Tensor end = zyx::where(at(t) == at(1), at(infinity), at(none));
    return zyx::where(isInside, at(y), at(zyx::where(at(t) == at(-1), at(-infinity), at(end))));
  });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Tensor zyx::frac(const Tensor &x, Place where) {
  expectFloat(x, "frac", where);
  const At at{where};
  return at(x) - at(x.trunc(where));
}

Tensor zyx::square(const Tensor &x, Place where) {
  const At at{where};
  return at(x) * at(x);
}

Tensor zyx::deg2rad(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "deg2rad", where, [&](const Tensor &t) { return at(t) * at(std::numbers::pi / 180); });
}

Tensor zyx::rad2deg(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "rad2deg", where, [&](const Tensor &t) { return at(t) * at(180 / std::numbers::pi); });
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

Tensor zyx::isClose(Operand a, Operand b, Tolerance tolerance) {
  const Place where = a.where;
  const At at{where};
  const Pair pair = resolve(a, b, "isClose");
  expectFloat(pair.a, "isClose", where);
  const Tensor x = wide(pair.a, where), y = wide(pair.b, where);
  const Tensor room = at(at(y.abs(where)) * at(tolerance.relative)) + at(tolerance.absolute);
  // An infinite room would hold everything.
  const Tensor isNear = at((at(x) - at(y)).abs(where)) <= at(room), isReal = at(room) < at(infinity);
  const Tensor isSame = at(x) == at(y);
  const Tensor close = at(isSame) | at(at(isNear) & at(isReal));
  return tolerance.equalNan ? at(close) | at(at(isNan(x, where)) & at(isNan(y, where))) : close;
}

bool zyx::allClose(const Tensor &a, const Tensor &b, Tolerance tolerance, Place where) {
  if (a.shape() != b.shape())
    return false;
  return all(isClose({a, where}, {b, where}, tolerance), {}, false, where).item<bool>(where);
}

Tensor zyx::cosineSimilarity(const Tensor &a, const Tensor &b, int64_t dim, double epsilon, Place where) {
  const At at{where};
  const Pair pair = resolve(at(a), at(b), "cosineSimilarity");
  expectFloat(pair.a, "cosineSimilarity", where);
  const Tensor x = wide(pair.a, where), y = wide(pair.b, where);
  // The root of what is too small has no gradient, which would be infinite at 0.
  const auto length = [&](const Tensor &t) {
    return maximum(at((at(t) * at(t)).sum({dim}, false, where)), at(epsilon * epsilon)).sqrt(where);
  };
  const Tensor product = (at(x) * at(y)).sum({dim}, false, where);
  return (at(product) / at(at(length(x)) * at(length(y)))).cast(pair.a.dtype(), where);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static DType unsignedOf(int64_t bytes) {
  switch (bytes) {
  case 1:
    return DType::U8;
  case 2:
    return DType::U16;
  case 4:
    return DType::U32;
  default:
    return DType::U64;
  }
}

Tensor zyx::bitcast(const Tensor &x, DType dtype, Place where) {
  expectTensor(x, "bitcast", where);
  const At at{where};
  const int64_t from = byteSize(x.dtype()), to = byteSize(dtype);
  const auto as = [&](const Tensor &t, DType other) {
    return t.dtype() == other ? t : makeNode(Op::Bitcast, {t}, {}, where, {other, t.shape()});
  };
  if (from == to || x.dtype() == DType::Bool || dtype == DType::Bool)
    return as(x, dtype);
  if (x.rank() == 0 || (from < to && x.shape().back() % (to / from) != 0))
    refuse("bitcast: the last dimension of " + toString(x.type()) + " is no whole number of " +
               std::string(toString(dtype)),
           where);
  const DType narrow = unsignedOf(std::min(from, to)), broad = unsignedOf(std::max(from, to));
  const int64_t count = std::max(from, to) / std::min(from, to), bits = 8 * std::min(from, to);
  Shape shape = x.shape();
  if (from > to) {
    const Tensor whole = as(x, broad).unsqueeze(-1, where), shifts = at(positionsIn(x, {count}, 0, where)) * at(bits);
    shape.back() *= count;
    return as((at(whole) >> at(shifts.cast(broad, where))).cast(narrow, where).reshape(shape, where), dtype);
  }
  shape.back() /= count;
  shape.push_back(count);
  const Tensor parts = as(x, narrow).reshape(shape, where).cast(broad, where);
  const Tensor shifts = at(positionsIn(x, {count}, 0, where)) * at(bits);
  // No two parts have a bit in common.
  return as((at(parts) << at(shifts.cast(broad, where))).sum({-1}, false, where).cast(broad, where), dtype);
}
