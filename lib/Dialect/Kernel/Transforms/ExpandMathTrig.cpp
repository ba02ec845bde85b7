//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sine, cosine and tangent of f32 over its whole range, and exact remainders.
//===----------------------------------------------------------------------===//
#include "ExpandMathEmitter.h"

#include <cmath>

using namespace mlir;

namespace zyx::kernel::expand {

//===----------------------------------------------------------------------===//
// Argument reduction
//===----------------------------------------------------------------------===//

namespace {
/// |x| = quadrant * pi/2 + rest, with |rest| <= pi/4 and a little, as f64; of the quadrant, an i64, the
/// low two bits count.
struct Reduced {
  Num quadrant, rest;
};
} // namespace

/// 2/pi in pieces of 28 bits: the product of a piece and the 24 digits of an f32 is exact in f64.
static constexpr uint32_t twoOverPi[] = {0xa2f9836, 0xe4e4415, 0x29fc275, 0x7d1f534,
                                         0xddc0db6, 0x295993c, 0x439041f};

static double piece(unsigned index) {
  return std::ldexp(double(twoOverPi[index]), -28 * int(index + 1));
}

/// Multiplies |x| by 2/pi and keeps what is left of whole numbers. Four pieces always suffice: those
/// before them make products that are multiples of 4 for a large x, those behind them are too small to
/// matter. Sums are exact until the last, so that nothing is lost where x is nearly a multiple of
/// pi/2; an f32 comes no nearer than 2^-31.
static Reduced reduce(Num size) {
  Num x = toFormat(size, Float64Type::get(size.type().getContext()));
  Num below53 = x < 0x1p53, below81 = x < 0x1p81, below109 = x < 0x1p109;
  auto pieceAt = [&](unsigned k) {
    Num high = select(below109, piece(k + 2), x.emitter->constant(x, piece(k + 3)));
    return select(below53, piece(k), select(below81, piece(k + 1), high));
  };
  Num first = x * pieceAt(0);
  Num sum = fma(nearest(first * 0.25), -4.0, first);
  Num whole = nearest(sum);
  Num quadrant = whole;
  for (unsigned k = 1; k != 3; ++k) {
    sum = fma(x, pieceAt(k), sum - whole);
    whole = nearest(sum);
    quadrant = quadrant + whole;
  }
  sum = fma(x, pieceAt(3), sum - whole);
  return {toBits(quadrant + 0x1.8p52), sum * 1.57079632679489661923};
}

// The rest is at hand in f64, where a short polynomial leaves one rounding to f32 at the end.

/// sin(r) for |r| <= pi/4: 2^-27.9.
static Num sinPolynomial(Num r) {
  Num z = r * r;
  return fma(r * z, polynomial(z, {-1.666665375e-1, 8.33211001e-3, -1.950856531e-4}), r);
}

/// cos(r) for |r| <= pi/4: 2^-32.7.
static Num cosPolynomial(Num r) {
  Num z = r * r;
  Num p = polynomial(z, {4.166664556e-2, -1.388729899e-3, 2.443028643e-5});
  return fma(z * z, p, fma(z, -0.5, 1.0));
}

static Num isOdd(Num quadrant) {
  return (quadrant & quadrant.emitter->bits(quadrant, 1)) != 0.0;
}

/// `value` with its sign turned where bit 1 of `quadrant` is set.
static Num turnSign(Num value, Num quadrant) {
  Num sign = (quadrant & quadrant.emitter->bits(quadrant, 2)) << 62;
  return fromBits(toBits(value) ^ sign);
}

static Num toF32(Num x) { return toFormat(x, Float32Type::get(x.type().getContext())); }

/// `value` with its sign turned where `x` is negative.
static Num turnSignWith(Num value, Num x) {
  Num sign = toBits(x) & x.emitter->bits(toBits(x), 0x80000000);
  return fromBits(toBits(value) ^ sign);
}

Num sin(Num x) {
  auto [quadrant, r] = reduce(abs(x));
  Num size = select(isOdd(quadrant), cosPolynomial(r), sinPolynomial(r));
  return turnSignWith(toF32(turnSign(size, quadrant)), x);
}

Num cos(Num x) {
  auto [quadrant, r] = reduce(abs(x));
  Num size = select(isOdd(quadrant), sinPolynomial(r), cosPolynomial(r));
  // Quadrants 1 and 2 are negative.
  return toF32(turnSign(size, quadrant + quadrant.emitter->bits(quadrant, 1)));
}

Num tan(Num x) {
  auto [quadrant, r] = reduce(abs(x));
  Num odd = isOdd(quadrant);
  Num s = sinPolynomial(r), c = cosPolynomial(r);
  return turnSignWith(toF32(select(odd, negate(c), s) / select(odd, s, c)), x);
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

Num fmod(Num dividend, Num divisor) {
  MLIRContext *context = dividend.type().getContext();
  Type f64 = Float64Type::get(context);
  Num x = abs(toFormat(dividend, f64)), y = abs(toFormat(divisor, f64));
  // An infinite divisor leaves x, as does one above every f32.
  y = clampAbove(y, 0x1p200);
  // Long division, 50 digits of the quotient at a time. A step's quotient is at most one off, so that
  // its remainder is exact; the quotient of two f32 is below 2^277.
  Num rest = x;
  for (int step = 5; step >= 0; --step) {
    Num scaled = y * std::ldexp(1.0, 50 * step);
    rest = fma(negate(truncate(rest / scaled)), scaled, rest);
    rest = select(rest < 0.0, rest + scaled, rest);
  }
  return copySign(toFormat(rest, getElementTypeOrSelf(dividend.type())), dividend);
}

} // namespace zyx::kernel::expand
