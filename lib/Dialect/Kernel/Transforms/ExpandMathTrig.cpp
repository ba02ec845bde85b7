//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Sine, cosine and tangent over the whole range of f32 and f64, and exact remainders.
//===----------------------------------------------------------------------===//
#include "ExpandMathEmitter.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace zyx::kernel::expand {

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Argument reduction
//===----------------------------------------------------------------------===//

namespace {
/// |x| = quadrant * pi/2 + rest, with |rest| <= pi/4 and a little, as f64, or as f32 where there is no f64; of the
/// quadrant, an integer of as many bits, the low two count.
struct Reduced {
  Num quadrant, rest;
};
} // namespace

/// 2/pi in pieces of 28 bits, for f32: the product of a piece and the 24 digits of an f32 is exact in f64.
static constexpr uint32_t pieces28[] = {0xa2f9836, 0xe4e4415, 0x29fc275, 0x7d1f534, 0xddc0db6, 0x295993c, 0x439041f};

static double piece(unsigned index) { return std::ldexp(double(pieces28[index]), -28 * int(index + 1)); }

/// Multiplies |x| by 2/pi and keeps what is left of whole numbers. Four pieces always suffice: those
/// before them make products that are multiples of 4 for a large x, those behind them are too small to
/// matter. Sums are exact until the last, so that nothing is lost where x is nearly a multiple of
/// pi/2; an f32 comes no nearer than 2^-31.
static Reduced reduceF32(Num size) {
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

/// 2/pi in pieces of 26 bits, for f64.
static constexpr uint32_t pieces26[] = {
    0x28be60d, 0x2e4e441, 0x14a7f09, 0x357d1f5, 0xd37703,  0x1b62959, 0x24f10e4, 0x41fe51,  0x18eaf7a, 0x3bc561b,
    0x1c91b8e, 0x2424dd2, 0x3801924, 0x2eea09d, 0x64873f,  0x21deb1c, 0x2c4a69c, 0x3ee8823, 0x17d4bae, 0x34484e9,
    0x271c09a, 0x345f7e4, 0x4e6475,  0x2398353, 0xe7d272,  0x45f8bb,  0x37e4a0e, 0x31ff897, 0x3ff7816, 0x180fef2,
    0x3c462d6, 0x20a6d1f, 0x1b4d9fb, 0xf27cb0,  0x26dd3d1, 0x23f669e, 0x17fa8b5, 0x3527bac, 0x1faf97c, 0x17b3d07,
    0xe7de29,  0x1292ea6, 0x2fed7ec, 0x11f8d5d, 0x21580c,  0x3046fc7};

/// Adds `term` to the pair (high, low) without an error above 2^-53 of low.
static void addTo(Num &high, Num &low, Num term) {
  Num sum = high + term;
  Num part = sum - high;
  low = low + ((high - (sum - part)) + (term - part));
  high = sum;
}

/// 2/pi in pieces of 12 bits, for f32 where there is no f64.
static constexpr uint32_t pieces12[] = {0xa2f, 0x983, 0x6e4, 0xe44, 0x152, 0x9fc, 0x275, 0x7d1, 0xf53,
                                        0x4dd, 0xc0d, 0xb62, 0x959, 0x93c, 0x439, 0x041, 0xfda};

/// The same for f64, in two halves of 26 and 27 digits. The eight pieces that matter are those behind
/// the first w, where |x| / 2^(26 w) is below 2^80; they are found by selects, one round for each bit of
/// w. An f64 comes as near as 2^-62 to a multiple of pi/2, so that the sum is a pair. So it is for f32 in f32, in
/// halves of 12 digits, where |x| / 2^(12 w) is below 2^37: until level 5 a pair has all digits of the sum, and behind
/// it what is left where those cancelled.
static Reduced reduceByPieces(Num x) {
  constexpr unsigned numPieces = 8;
  const bool is64 = x.width() == 64;
  const unsigned digits = is64 ? 26 : 12, mantissa = is64 ? 52 : 23, bias = is64 ? 1023 : 127;
  const unsigned firstBit = is64 ? 32 : 8, mostGroups = is64 ? 37 : 8;
  Num exponent = toBits(x) >> mantissa;
  Num above = exponent - exponent.emitter->bits(exponent, bias + mantissa + 2);
  above = select(above < 0.0, 0.0, above);
  // above / digits, exact for every exponent.
  Num w = (above * exponent.emitter->bits(exponent, is64 ? 2521 : 1366)) >> (is64 ? 16 : 14);
  SmallVector<Num> pieces;
  for (uint32_t value : is64 ? ArrayRef(pieces26) : ArrayRef(pieces12))
    pieces.push_back(x.emitter->constant(x, value));
  for (unsigned bit = firstBit; bit != 0; bit /= 2) {
    Num isSet = (w & w.emitter->bits(w, bit)) != 0.0;
    unsigned count =
        std::min<unsigned>(bit == firstBit ? mostGroups - bit + numPieces : bit - 1 + numPieces, pieces.size() - bit);
    for (unsigned i = 0; i != count; ++i)
      pieces[i] = select(isSet, pieces[i + bit], pieces[i]);
  }

  Num scale = (w.emitter->bits(w, bias) - w * w.emitter->bits(w, digits)) << mantissa;
  Num scaled = x * fromBits(scale);
  Num head = fromBits(toBits(scaled) & w.emitter->bits(w, is64 ? ~uint64_t(0) << 27 : ~uint32_t(0) << 12));
  Num tail = scaled - head;
  Num zero = x.emitter->constant(x, 0);
  Num high = zero, low = zero, quadrant = zero;
  auto add = [&](Num term, unsigned level) {
    // Multiples of 4 do not count; from level 3 on there are none.
    if (level < 3)
      term = is64 ? fma(nearest(term * 0.25), -4.0, term) : term - nearest(term * 0.25) * 4.0;
    addTo(high, low, term);
    if (level < 4) {
      Num whole = nearest(high);
      high = high - whole;
      quadrant = quadrant + whole;
    }
    // What cancelled in high is made up from low.
    Num rest = low;
    low = zero;
    addTo(high, low, rest);
  };
  for (unsigned level = 0; level != numPieces; ++level) {
    add(head * (pieces[level] * std::ldexp(1.0, -int(digits * (level + 1)))), level);
    if (level != 0)
      add(tail * (pieces[level - 1] * std::ldexp(1.0, -int(digits * level))), level);
  }
  const double halfPi = is64 ? 1.5707963267948966 : 1.57079637050628662,
               halfPiLow = is64 ? 6.1232339957367658861e-17 : -4.37113882867379276e-8;
  Num rest = high * halfPi;
  Num restLow = fma(high, halfPi, negate(rest)) + fma(high, halfPiLow, low * halfPi);
  // Small arguments are their own rest, and their products with the pieces might be denormal.
  return {toBits(quadrant + (is64 ? 0x1.8p52 : 0x1.8p23)), select(x < 0.78, x, rest + restLow)};
}

static Reduced reduce(Num size) {
  return size.width() == 64 || !size.emitter->has.doubles ? reduceByPieces(size) : reduceF32(size);
}

// The rest of an f32 is at hand in f64, where there is such, and a short polynomial leaves one rounding at the end.

/// sin(r) for |r| <= pi/4: 2^-27.9 for f32, 2^-58.0 for f64.
static Num sinPolynomial(Num r, bool isF64) {
  Num z = r * r;
  Num p = isF64 ? polynomial(z, {-1.66666666666666324e-1, 8.33333333332245824e-3, -1.98412698298173134e-4,
                                 2.75573136891301767e-6, -2.50507569783357219e-8, 1.58966979497374334e-10})
                : polynomial(z, {-1.666665375e-1, 8.33211001e-3, -1.950856531e-4});
  return fma(r * z, p, r);
}

/// cos(r) for |r| <= pi/4: 2^-32.7 for f32, 2^-63.9 for f64.
static Num cosPolynomial(Num r, bool isF64) {
  Num z = r * r;
  Num p = isF64 ? polynomial(z, {4.1666666666666595e-2, -1.38888888888733181e-3, 2.48015872889753062e-5,
                                 -2.75573142064958627e-7, 2.08757036416661257e-9, -1.13586440598377132e-11})
                : polynomial(z, {4.166664556e-2, -1.388729899e-3, 2.443028643e-5});
  return fma(z * z, p, fma(z, -0.5, 1.0));
}

static Num isOdd(Num quadrant) { return (quadrant & quadrant.emitter->bits(quadrant, 1)) != 0.0; }

/// `value` with its sign turned where bit 1 of `quadrant` is set.
static Num turnSign(Num value, Num quadrant) {
  Num sign = (quadrant & quadrant.emitter->bits(quadrant, 2)) << (quadrant.width() - 2);
  return fromBits(toBits(value) ^ sign);
}

static Num toFormatOf(Num value, Num x) { return toFormat(value, getElementTypeOrSelf(x.type())); }

/// `value` with its sign turned where `x` is negative.
static Num turnSignWith(Num value, Num x) {
  Num sign = toBits(x) & x.emitter->bits(toBits(x), uint64_t(1) << (x.width() - 1));
  return fromBits(toBits(value) ^ sign);
}

Num sin(Num x) {
  bool isF64 = x.width() == 64;
  auto [quadrant, r] = reduce(abs(x));
  Num size = select(isOdd(quadrant), cosPolynomial(r, isF64), sinPolynomial(r, isF64));
  return turnSignWith(toFormatOf(turnSign(size, quadrant), x), x);
}

Num cos(Num x) {
  bool isF64 = x.width() == 64;
  auto [quadrant, r] = reduce(abs(x));
  Num size = select(isOdd(quadrant), sinPolynomial(r, isF64), cosPolynomial(r, isF64));
  // Quadrants 1 and 2 are negative.
  return toFormatOf(turnSign(size, quadrant + quadrant.emitter->bits(quadrant, 1)), x);
}

Num tan(Num x) {
  bool isF64 = x.width() == 64;
  auto [quadrant, r] = reduce(abs(x));
  Num odd = isOdd(quadrant);
  Num s = sinPolynomial(r, isF64), c = cosPolynomial(r, isF64);
  return turnSignWith(toFormatOf(select(odd, negate(c), s) / select(odd, s, c), x), x);
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

/// One step of a long division: what is left of `rest` when multiples of `scaled` are taken away. A
/// quotient below 2^52 is at most one off, so that the remainder is exact.
static Num stepOfDivision(Num rest, Num scaled) {
  Num quotient = truncate(rest / scaled);
  if (rest.emitter->has.exactFma) {
    rest = fma(negate(quotient), scaled, rest);
  } else {
    // The exact product in pairs has parts that are 2^27 times larger.
    Num large = scaled > 0x1p900;
    Num down = select(large, 0x1p-200, rest.emitter->constant(rest, 1));
    Num up = select(large, 0x1p200, rest.emitter->constant(rest, 1));
    rest = select(quotient == 0.0, rest, fma(negate(quotient), scaled * down, rest * down) * up);
  }
  return select(rest < 0.0, rest + scaled, rest);
}

/// The quotient of two f32 is below 2^277: six steps of 50 digits, with multiples that f64 holds.
static Num remainderF32(Num x, Num y) {
  // An infinite divisor leaves x, as does one above every f32.
  y = clampAbove(y, 0x1p200);
  Num rest = x;
  for (int step = 5; step >= 0; --step)
    rest = stepOfDivision(rest, y * std::ldexp(1.0, 50 * step));
  return rest;
}

/// The quotient of two f64 is below 2^2098: 42 steps, each with the multiple y 2^k that leaves 51 digits
/// of the quotient, and one with y itself.
static Num remainderF64(Num x, Num y) {
  // The exponent of a denormal is that of its value.
  Num isDenormal = y < 0x1p-1022;
  Num bits = toBits(select(isDenormal, y * 0x1p54, y));
  auto integer = [&](int64_t value) { return bits.emitter->bits(bits, value); };
  Num exponent = (bits >> 52) - select(isDenormal, integer(54), integer(0)) + integer(51);
  auto powerOfTwo = [&](Num k) { return fromBits((k + integer(1023)) << 52); };
  Num rest = x;
  for (int step = 0; step != 42; ++step) {
    Num k = (toBits(rest) >> 52) - exponent;
    k = select(k < 0.0, 0.0, k);
    // 2^k may be beyond f64, where y 2^k is not.
    Num half = k >> 1;
    rest = stepOfDivision(rest, y * powerOfTwo(half) * powerOfTwo(k - half));
  }
  rest = stepOfDivision(rest, y);
  return select((y == infinity) & (x < infinity), x, rest);
}

/// The remainder of two f32 by integers alone: of their digits, which are shifted by up to 8 at a time.
static Num remainderByBits(Num x, Num y) {
  Num xBits = toBits(x), yBits = toBits(y);
  auto integer = [&](uint64_t value) { return xBits.emitter->bits(xBits, value); };
  auto split = [&](Num bits) {
    Num exponent = bits >> 23, digits = bits & integer(0x7fffff);
    Num isDenormal = exponent == 0.0;
    return std::pair(select(isDenormal, integer(1), exponent), select(isDenormal, digits, digits | integer(0x800000)));
  };
  auto [xExponent, xDigits] = split(xBits);
  auto [yExponent, yDigits] = split(yBits);
  // Of 0, whose remainder is none, no integer is divided.
  Num divisor = select(yDigits == 0.0, integer(1), yDigits);
  auto remainder = [&](Num of) { return of.emitter->emit<arith::RemUIOp>(of.value, divisor.value); };
  Num left = xExponent - yExponent, isSmaller = left < 0.0, rest = remainder(xDigits);
  // At most 253 digits.
  for (int step = 0; step != 32; ++step) {
    Num some = select(left < 0.0, integer(0), select(left < integer(8), left, integer(8)));
    rest = remainder(rest.emitter->emit<arith::ShLIOp>(rest.value, some.value));
    left = left - some;
  }
  // 2^(exponent - 127) and 2^-23 are normal, also where the remainder is not.
  Num found = toFloat(rest) * 0x1p-23 * fromBits(yExponent << 23);
  return select((x < infinity) & (y > 0.0), select(isSmaller, x, found), std::numeric_limits<double>::quiet_NaN());
}

Num fmod(Num dividend, Num divisor) {
  if (dividend.width() == 32 && !dividend.emitter->has.doubles)
    return copySign(remainderByBits(abs(dividend), abs(divisor)), dividend);
  Type f64 = Float64Type::get(dividend.type().getContext());
  Num x = abs(toFormat(dividend, f64)), y = abs(toFormat(divisor, f64));
  Num rest = dividend.width() == 64 ? remainderF64(x, y) : remainderF32(x, y);
  return copySign(toFormat(rest, getElementTypeOrSelf(dividend.type())), dividend);
}

} // namespace zyx::kernel::expand
