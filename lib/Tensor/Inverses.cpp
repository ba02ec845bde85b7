//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Inverse trigonometric and hyperbolic functions. A select does not keep a NaN out of the gradient of what it does not
// choose, so what is not chosen is computed of another number. Signs are taken off by a select, because abs() has no
// slope at 0.
//===----------------------------------------------------------------------===//
#include "Compose.h"
#include "zyx/Tensor/Functions.h"

#include <initializer_list>
#include <limits>
#include <numbers>

using namespace zyx;
using namespace zyx::detail;

static constexpr double pi = std::numbers::pi;
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// By Horner, the highest power first.
static Tensor polynomial(const Tensor &x, std::initializer_list<double> coefficients, const Place &where) {
  const At at{where};
  Tensor sum;
  for (const double coefficient : coefficients)
    sum = sum.isDefined() ? at(at(sum) * at(x)) + at(coefficient)
                          : expandTo(constantLike(x, coefficient, x.dtype(), where), x.shape(), where);
  return sum;
}

/// (asin(s) / s - 1) of s squared, up to 1/4: the quotient of fdlibm's e_asin.c.
static Tensor asinTail(const Tensor &square, const Place &where) {
  const At at{where};
  const Tensor above = polynomial(square,
                                  {3.47933107596021167570e-05, 7.91534994289814532176e-04, -4.00555345006794114027e-02,
                                   2.01212532134862925881e-01, -3.25565818622400915405e-01, 1.66666666666666657415e-01},
                                  where);
  const Tensor below = polynomial(square,
                                  {7.70381505559019352791e-02, -6.88283971605453293030e-01, 2.02094576023350569471e+00,
                                   -2.40339491173441421878e+00, 1},
                                  where);
  return at(at(square) * at(above)) / at(below);
}

/// asin(s) of s, or of its square where that is exact.
static Tensor asinNear(const Tensor &s, const Tensor &square, const Place &where) {
  const At at{where};
  return at(s) + at(at(s) * at(asinTail(square, where)));
}

static Tensor magnitude(const Tensor &x, const Place &where) {
  const At at{where};
  return zyx::where(at(x) < at(0), at(x.neg(where)), at(x));
}
static Tensor withSignOf(const Tensor &x, const Tensor &y, const Place &where) {
  const At at{where};
  return zyx::where(at(x) < at(0), at(y.neg(where)), at(y));
}

/// Near 1 as pi / 2 - 2 asin(sqrt((1 - x) / 2)).
Tensor zyx::asin(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "asin", where, [&](const Tensor &t) {
    const Tensor size = magnitude(t, where), isSmall = at(size) < at(0.5);
    const Tensor small = zyx::where(isSmall, at(size), at(0));
    const Tensor rest = at(at(1) - at(zyx::where(isSmall, at(0.5), at(size)))) * at(0.5);
    const Tensor far = at(pi / 2) - at(at(2) * at(asinNear(rest.sqrt(where), rest, where)));
    const Tensor near = asinNear(small, at(small) * at(small), where);
    return withSignOf(t, zyx::where(isSmall, at(near), at(far)), where);
  });
}

Tensor zyx::acos(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "acos", where, [&](const Tensor &t) {
    const Tensor size = magnitude(t, where), isSmall = at(size) < at(0.5);
    const Tensor small = zyx::where(isSmall, at(t), at(0));
    const Tensor rest = at(at(1) - at(zyx::where(isSmall, at(0.5), at(size)))) * at(0.5);
    const Tensor far = at(2) * at(asinNear(rest.sqrt(where), rest, where));
    const Tensor near = at(pi / 2) - at(asinNear(small, at(small) * at(small), where));
    return zyx::where(isSmall, at(near), at(zyx::where(at(t) < at(0), at(at(pi) - at(far)), at(far))));
  });
}

/// Of what is above tan(3 pi / 8) by -1 / x, of what is above 0.66 by (x - 1) / (x + 1), and then the quotient of
/// Cephes' atan.c.
static Tensor atanOf(const Tensor &x, const Place &where) {
  const At at{where};
  const Tensor size = magnitude(x, where);
  const Tensor isLarge = at(size) > at(2.41421356237309504880);
  const Tensor isMiddle = at(at(size) > at(0.66)) & at(isLarge.logicalNot(where));
  const Tensor large = at(-1) / at(zyx::where(isLarge, at(size), at(1)));
  const Tensor middle = zyx::where(isMiddle, at(size), at(1));
  const Tensor moved = at(at(middle) - at(1)) / at(at(middle) + at(1));
  const Tensor small = zyx::where(at(isLarge) | at(isMiddle), at(0), at(size));
  const Tensor t = zyx::where(isLarge, at(large), at(zyx::where(isMiddle, at(moved), at(small))));
  const Tensor z = at(t) * at(t);
  const Tensor above = polynomial(z,
                                  {-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                                   -1.228866684490136173410e2, -6.485021904942025371773e1},
                                  where);
  const Tensor below = polynomial(z,
                                  {1, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
                                   4.853903996359136964868e2, 1.945506571482613964425e2},
                                  where);
  const Tensor tail = at(at(z) * at(above)) / at(below);
  const Tensor near = at(t) + at(at(t) * at(tail));
  // What the halves and quarters of pi lack in f64.
  const Tensor far = at(at(near) + at(6.123233995736765886130e-17)) + at(pi / 2);
  const Tensor between = at(at(near) + at(3.061616997868382943065e-17)) + at(pi / 4);
  return withSignOf(x, zyx::where(isLarge, at(far), at(zyx::where(isMiddle, at(between), at(near)))), where);
}

Tensor zyx::atan(const Tensor &x, Place where) {
  return widely(x, "atan", where, [&](const Tensor &t) { return atanOf(t, where); });
}

namespace {
/// Two floats of one shape without their signs, and which of them is the larger one: by selects, whose gradients are
/// right where both are equal.
struct Sides {
  Tensor isSwapped, small, large;
};
} // namespace

static Sides sidesOf(const Tensor &a, const Tensor &b, const Place &where) {
  const At at{where};
  const Tensor isSwapped = at(a) > at(b);
  return {isSwapped, zyx::where(isSwapped, at(b), at(a)), zyx::where(isSwapped, at(a), at(b))};
}

/// Two operands as floats of one shape, f16 and bf16 in f32.
static Pair floatsOf(const Operand &a, const Operand &b, std::string_view function) {
  const Place where = a.where;
  Pair pair = resolve(a, b, function);
  expectFloat(pair.a, function, where);
  return {wide(pair.a, where), wide(pair.b, where)};
}
/// The dtype that two operands have together.
static DType dtypeOf(const Operand &a, const Operand &b, std::string_view function) {
  return resolve(a, b, function).a.dtype();
}

Tensor zyx::atan2(Operand y, Operand x) {
  const Place where = y.where;
  const At at{where};
  const auto [up, right] = floatsOf(y, x, "atan2");
  const Tensor isDown = signBit(up, where), isLeft = signBit(right, where);
  const Tensor height = zyx::where(isDown, at(up.neg(where)), at(up));
  const Tensor width = zyx::where(isLeft, at(right.neg(where)), at(right));
  const auto [isSteep, small, large] = sidesOf(height, width, where);
  const Tensor isOrigin = at(large) == at(0), isDiagonal = isInf(small, where);
  const Tensor usable = zyx::where(at(isOrigin) | at(isDiagonal), at(1), at(large));
  const Tensor quotient = zyx::where(isDiagonal, at(1), at(at(small) / at(usable)));
  const Tensor angle = atanOf(quotient, where);
  const Tensor quarter = zyx::where(isSteep, at(at(pi / 2) - at(angle)), at(angle));
  const Tensor half = zyx::where(isLeft, at(at(pi) - at(quarter)), at(quarter));
  // A NaN on either side: a select by comparisons alone would lose it.
  const Tensor isNone = at(isNan(up, where)) | at(isNan(right, where));
  const Tensor whole = zyx::where(isDown, at(half.neg(where)), at(half));
  return zyx::where(isNone, at(nan), at(whole)).cast(dtypeOf(y, x, "atan2"), where);
}

Tensor zyx::hypot(Operand a, Operand b) {
  const Place where = a.where;
  const At at{where};
  const auto [x, y] = floatsOf(a, b, "hypot");
  const Tensor isInfinite = at(isInf(x, where)) | at(isInf(y, where));
  const Tensor isNone = at(isNan(x, where)) | at(isNan(y, where));
  const Tensor isReal = (at(isInfinite) | at(isNone)).logicalNot(where);
  const Sides sides = sidesOf(magnitude(zyx::where(isReal, at(x), at(1)), where),
                              magnitude(zyx::where(isReal, at(y), at(1)), where), where);
  const Tensor share = at(sides.small) / at(zyx::where(at(sides.large) == at(0), at(1), at(sides.large)));
  const Tensor length = at(sides.large) * at((at(at(share) * at(share)) + at(1)).sqrt(where));
  const Tensor none = zyx::where(isInfinite, at(std::numeric_limits<double>::infinity()), at(at(x) + at(y)));
  return zyx::where(isReal, at(length), at(none)).cast(dtypeOf(a, b, "hypot"), where);
}

Tensor zyx::logAddExp(Operand a, Operand b) {
  const Place where = a.where;
  const At at{where};
  const auto [x, y] = floatsOf(a, b, "logAddExp");
  const auto [isSwapped, small, large] = sidesOf(x, y, where);
  // An infinite or missing number is the result itself: the difference would be NaN.
  const Tensor isReal = isFinite(large, where);
  const Tensor below = at(zyx::where(isReal, at(small), at(0))) - at(zyx::where(isReal, at(large), at(0)));
  const Tensor sum = at(large) + at(log1p(below.exp(where), where));
  const Tensor other = zyx::where(isNan(small, where), at(small), at(large));
  return zyx::where(isReal, at(sum), at(other)).cast(dtypeOf(a, b, "logAddExp"), where);
}

/// Above 2^28, and 2^13 in f32, x^2 + 1 is x^2.
static Tensor isHuge(const Tensor &size, const Place &where) {
  const At at{where};
  return at(size) > at(size.dtype() == DType::F64 ? 0x1p28 : 0x1p13);
}

/// log(x + sqrt(x^2 + 1)).
Tensor zyx::asinh(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "asinh", where, [&](const Tensor &t) {
    const Tensor size = magnitude(t, where), huge = isHuge(size, where);
    const Tensor small = zyx::where(huge, at(1), at(size)), square = at(small) * at(small);
    const Tensor root = (at(square) + at(1)).sqrt(where);
    const Tensor near = log1p(at(small) + at(at(square) / at(at(root) + at(1))), where);
    const Tensor far = at(zyx::where(huge, at(size), at(1)).log(where)) + at(std::numbers::ln2);
    return withSignOf(t, zyx::where(huge, at(far), at(near)), where);
  });
}

/// log(x + sqrt(x^2 - 1)), of what is left of x above 1.
Tensor zyx::acosh(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "acosh", where, [&](const Tensor &t) {
    const Tensor huge = isHuge(t, where), isInside = at(at(t) >= at(1)) & at(huge.logicalNot(where));
    const Tensor rest = at(zyx::where(isInside, at(t), at(2))) - at(1);
    const Tensor root = (at(rest) * at(at(rest) + at(2))).sqrt(where);
    const Tensor near = log1p(at(rest) + at(root), where);
    const Tensor far = at(zyx::where(huge, at(t), at(1)).log(where)) + at(std::numbers::ln2);
    return zyx::where(isInside, at(near), at(zyx::where(huge, at(far), at(nan))));
  });
}

/// log((1 + x) / (1 - x)) / 2.
Tensor zyx::atanh(const Tensor &x, Place where) {
  const At at{where};
  return widely(x, "atanh", where, [&](const Tensor &t) {
    const Tensor size = magnitude(t, where);
    const Tensor quotient = at(at(size) * at(2)) / at(at(1) - at(size));
    return withSignOf(t, at(log1p(quotient, where)) * at(0.5), where);
  });
}

//===----------------------------------------------------------------------===//
// Bits of floats
//===----------------------------------------------------------------------===//

static DType bitsOf(DType dtype) {
  switch (byteSize(dtype)) {
  case 2:
    return DType::I16;
  case 4:
    return DType::I32;
  default:
    return DType::I64;
  }
}

Tensor zyx::signBit(const Tensor &x, Place where) {
  expectFloat(x, "signBit", where);
  const At at{where};
  return at(bitcast(x, bitsOf(x.dtype()), where)) < at(0);
}

Tensor zyx::copySign(Operand size, Operand sign) {
  const Place where = size.where;
  const At at{where};
  const Pair pair = resolve(size, sign, "copySign");
  expectFloat(pair.a, "copySign", where);
  const Tensor isSame = at(signBit(pair.a, where)) == at(signBit(pair.b, where));
  return zyx::where(isSame, at(pair.a), at(pair.a.neg(where)));
}

Tensor zyx::nextAfter(Operand from, Operand to) {
  const Place where = from.where;
  const At at{where};
  const auto [a, b] = resolve(from, to, "nextAfter");
  expectFloat(a, "nextAfter", where);
  const DType integers = bitsOf(a.dtype());
  // Bits without the sign grow with the size.
  const Tensor isOutward = at(at(a) < at(b)) == at(at(a) > at(0));
  const Tensor bits = at(bitcast(a, integers, where)) +
                      at(zyx::where(isOutward, at(Tensor(constantLike(a, 1, integers, where))), at(-1)));
  const Tensor smallest = bitcast(expandTo(constantLike(a, 1, integers, where), a.shape(), where), a.dtype(), where);
  const Tensor moved =
      zyx::where(at(a) == at(0), at(copySign(at(smallest), at(b))), at(bitcast(bits, a.dtype(), where)));
  const Tensor isNone = at(isNan(a, where)) | at(isNan(b, where));
  return zyx::where(isNone, at(at(a) + at(b)), at(zyx::where(at(a) == at(b), at(b), at(moved))));
}

//===----------------------------------------------------------------------===//
// Quotients towards minus infinity
//===----------------------------------------------------------------------===//

/// Whether a remainder has another sign than the divisor.
static Tensor isWrongSide(const Tensor &rest, const Tensor &divisor, const Place &where) {
  const At at{where};
  return at(at(rest) != at(0)) & at(at(at(rest) < at(0)) != at(at(divisor) < at(0)));
}

Tensor zyx::floorDivide(Operand a, Operand b) {
  const Place where = a.where;
  const At at{where};
  const Pair pair = resolve(a, b, "floorDivide");
  const DType dtype = pair.a.dtype();
  if (!isFloat(dtype)) {
    const Tensor quotient = at(pair.a) / at(pair.b);
    if (!isSignedInteger(dtype))
      return quotient;
    const Tensor isBelow = isWrongSide(at(pair.a) % at(pair.b), pair.b, where);
    return at(quotient) - at(isBelow.cast(dtype, where));
  }
  // As NumPy: the quotient of what the remainder leaves is a whole number but for its rounding.
  const Tensor x = wide(pair.a, where), y = wide(pair.b, where), rest = at(x) % at(y);
  const Tensor quotient = at(at(x) - at(rest)) / at(y);
  const Tensor lowered = at(quotient) - at(isWrongSide(rest, y, where).cast(x.dtype(), where));
  const Tensor below = lowered.floor(where);
  const Tensor whole = at(below) + at((at(at(lowered) - at(below)) > at(0.5)).cast(x.dtype(), where));
  return zyx::where(at(y) == at(0), at(at(x) / at(y)), at(whole)).cast(dtype, where);
}

Tensor zyx::floorRemainder(Operand a, Operand b) {
  const Place where = a.where;
  const At at{where};
  const Pair pair = resolve(a, b, "floorRemainder");
  const Tensor x = isFloat(pair.a.dtype()) ? wide(pair.a, where) : pair.a;
  const Tensor y = isFloat(pair.b.dtype()) ? wide(pair.b, where) : pair.b;
  const Tensor rest = at(x) % at(y);
  if (isUnsignedInteger(x.dtype()))
    return rest;
  return zyx::where(isWrongSide(rest, y, where), at(at(rest) + at(y)), at(rest)).cast(pair.a.dtype(), where);
}
