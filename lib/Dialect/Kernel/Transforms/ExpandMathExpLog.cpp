//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Exponentials, logarithms and what is made of them. The coefficients are minimax fits, rounded one
// after the other from the lowest power up; each comment gives the fit's largest relative error.
//===----------------------------------------------------------------------===//
#include "ExpandMathEmitter.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace zyx::kernel::expand {

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

// Natural logarithm of 2 and its inverse, each as a rounded number and what it lacks.
static constexpr double ln2High32 = 0.69314718246459960938, ln2Low32 = -1.9046542999577678785e-9;
static constexpr double ln2High64 = 0.69314718055994528623, ln2Low64 = 2.3190468138462996155e-17;
static constexpr double log2eHigh32 = 1.4426950216293334961, log2eLow32 = 1.9259629911266174681e-8;
static constexpr double log2eHigh64 = 1.442695040888963387, log2eLow64 = 2.035527374093103205e-17;

/// Where an exact product takes many ops, and n = x / ln2, which may be a little beside it, none of them.
static bool hasRoundedFma(Num x) { return x.width() == 32 && x.emitter->has.fma && !x.emitter->has.exactFma; }
static Num nearProduct(Num a, Num b, Num c) { return hasRoundedFma(a) ? addProduct(a, b, c) : fma(a, b, c); }

namespace {
/// What an algorithm needs to know of a format.
struct Format {
  explicit Format(Num x) : is64(x.width() == 64) {}
  bool is64;
  /// Whether the machine computes powers of two of it.
  static bool hasPowers(Num x) { return x.width() == 32 && x.emitter->has.powers; }
  unsigned mantissa() const { return is64 ? 52 : 23; }
  double bias() const { return is64 ? 1023 : 127; }
  /// Added to a number below 2^22 (2^51), it rounds it to a whole number that stands in the low bits.
  double magic() const { return is64 ? 0x1.8p52 : 0x1.8p23; }
  double ln2High() const { return is64 ? ln2High64 : ln2High32; }
  double ln2Low() const { return is64 ? ln2Low64 : ln2Low32; }
  double log2e() const { return is64 ? log2eHigh64 : log2eHigh32; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// e^r for |r| <= ln2 / 2: 2^-28.2 (f32), 2^-63.8 (f64).
static Num expPolynomial(Num r) {
  if (r.width() == 64)
    return polynomial(r,
                      {1, 1, 5.0e-1, 1.66666666666666824e-1, 4.1666666666666477e-2, 8.33333333331764264e-3,
                       1.38888888889968586e-3, 1.98412698951368216e-4, 2.48015870962791326e-5, 2.75572359296717331e-6,
                       2.75574680166952637e-7, 2.5111709815870261e-8, 2.08557146351850265e-9});
  return polynomial(r, {1, 1, 4.999999404e-1, 1.666651964e-1, 4.166825861e-2, 8.36883951e-3, 1.382158604e-3});
}

/// 2^r for |r| <= 1/2: 2^-28.3 (f32), 2^-59.7 (f64).
static Num exp2Polynomial(Num r) {
  if (r.width() == 64)
    return polynomial(r, {1, 6.93147180559945286e-1, 2.40226506959100694e-1, 5.55041086648233803e-2,
                          9.61812910762977966e-3, 1.33335581460255754e-3, 1.54035303906455026e-4,
                          1.52527341829115508e-5, 1.32154892145523159e-6, 1.01779224520733244e-7,
                          7.05395333947589507e-9, 4.47519727476304581e-10, 2.70871183095931052e-11});
  return polynomial(r,
                    {1, 6.931471825e-1, 2.402264774e-1, 5.55035919e-2, 9.618501179e-3, 1.339118811e-3, 1.532885799e-4});
}

/// p * 2^n for a whole n whose sum with magic() + 2 bias() is `rounded`. In two factors, because 2^n
/// alone may be beyond the range where the product is not, and so that a denormal is rounded once.
static Num scaleInTwoSteps(Num p, Num rounded) {
  unsigned mantissa = Format(p).mantissa();
  Num sum = toBits(rounded);
  Num half = sum >> 1;
  return p * fromBits(half << mantissa) * fromBits((sum - half) << mantissa);
}

/// p * 2^n where both are normal; n + magic() + bias() is `rounded`.
static Num scaleNormal(Num p, Num rounded) { return p * fromBits(toBits(rounded) << Format(p).mantissa()); }

static Num exponentRest(Num x, Num n) {
  Format format(x);
  return fma(n, -format.ln2Low(), fma(n, -format.ln2High(), x));
}

/// x - n ln2 of f32 where an fma is not exact: the product of n and 15 digits of ln2 is, and so is what is left of x.
static Num shortRest(Num x, Num n) { return x - n * 0.693145751953125 - n * 1.42860676533018704e-6; }

/// e^x / 2^n, where n is next to x / ln2.
static Num expOfRest(Num x, Num n) {
  if (hasRoundedFma(x)) {
    Num rest = shortRest(x, n);
    return Format::hasPowers(x) ? machinePower(rest * log2eHigh32) : expPolynomial(rest);
  }
  if (Format::hasPowers(x))
    return machinePower(fma(x, log2eLow32, fma(x, x.emitter->constant(x, log2eHigh32), negate(n))));
  return expPolynomial(exponentRest(x, n));
}

/// 2^(x - n) for |x - n| <= 1/2.
static Num exp2OfRest(Num x, Num n) {
  Num rest = x - n;
  return Format::hasPowers(x) ? machinePower(rest) : exp2Polynomial(rest);
}

/// Calls `power` of x, and answers zero where x is below `lowest`, from where on that is what is rounded to.
/// The power itself is not taken there: processors need a hundred cycles for a product that is too small. Those that
/// have an instruction for powers do not.
template <typename Power> static Num orZeroBelow(Num x, double lowest, Power power) {
  if (Format::hasPowers(x))
    return power(clampBelow(x, lowest));
  Num isZero = x < lowest;
  return select(isZero, 0.0, power(select(isZero, 0.0, x)));
}

Num exp(Num x) {
  Format format(x);
  // Above, the result is infinite, and n would leave its bits.
  x = clampAbove(x, format.is64 ? 710 : 89);
  return orZeroBelow(x, format.is64 ? -746 : -104, [&](Num x) {
    double magic = format.magic() + 2 * format.bias();
    Num rounded = nearProduct(x, x.emitter->constant(x, format.log2e()), x.emitter->constant(x, magic));
    return scaleInTwoSteps(expOfRest(x, rounded - magic), rounded);
  });
}

Num expNonpositive(Num x) {
  Format format(x);
  return orZeroBelow(x, format.is64 ? -746 : -104, [&](Num x) {
    // 2^n times this is normal, and a denormal is rounded once, when it is taken away.
    double more = format.is64 ? 512 : 64;
    double magic = format.magic() + format.bias() + more;
    Num rounded = nearProduct(x, x.emitter->constant(x, format.log2e()), x.emitter->constant(x, magic));
    return scaleNormal(expOfRest(x, rounded - magic), rounded) * std::exp2(-more);
  });
}

Num exp2(Num x) {
  Format format(x);
  x = clampAbove(x, format.is64 ? 1025 : 129);
  return orZeroBelow(x, format.is64 ? -1076 : -151, [&](Num x) {
    double magic = format.magic() + 2 * format.bias();
    Num rounded = x + magic;
    return scaleInTwoSteps(exp2OfRest(x, rounded - magic), rounded);
  });
}

/// (e^r - 1 - r) / r^2 for |r| <= ln2 / 2; of e^r - 1: 2^-31.1 (f32), 2^-61.6 (f64).
static Num expm1Polynomial(Num r) {
  if (r.width() == 64)
    return polynomial(r, {5.0e-1, 1.66666666666666768e-1, 4.16666666666666852e-2, 8.33333333332177822e-3,
                          1.38888888888924304e-3, 1.98412698853967856e-4, 2.48015872831886821e-5, 2.755724509740087e-6,
                          2.75573249757807349e-7, 2.5108704916202073e-8, 2.08955216679425123e-9});
  return polynomial(r, {5.0e-1, 1.666666567e-1, 4.166649282e-2, 8.333545178e-3, 1.393233077e-3, 1.97625719e-4});
}

/// With e^x = 2^n e^r: 2^n (r + r^2 p(r)) + (2^n - 1), where r = high + low and 2^n high is added first, because it is
/// exact.
Num expm1(Num x) {
  Format format(x);
  // Above, the result is infinite, and n would leave its bits; below, it rounds to -1.
  Num limited = clampBelow(clampAbove(x, format.is64 ? 710 : 89), format.is64 ? -40 : -20);
  // Of half of the result: 2^n is beyond the range where the result is not.
  double magic = format.magic() + format.bias() - 1;
  Num rounded = fma(limited, format.log2e(), magic);
  Num n = rounded - magic;
  Num half = fromBits(toBits(rounded) << format.mantissa());
  Num high = fma(n, -format.ln2High(), limited), low = n * -format.ln2Low();
  Num r = high + low;
  Num rest = addProduct(r * r, expm1Polynomial(r), low);
  Num result = addProduct(rest, half, addProduct(high, half, half - 0.5)) * 2.0;
  // Half of a denormal has lost a digit, and the sum of two zeros their sign.
  return select(abs(x) < (format.is64 ? 0x1p-60 : 0x1p-30), x, result);
}

/// e^x where the result is known to be normal.
static Num expNormal(Num x) {
  Format format(x);
  double magic = format.magic() + format.bias();
  Num rounded = fma(x, format.log2e(), magic);
  return scaleNormal(expOfRest(x, rounded - magic), rounded);
}

Num tanh(Num x) {
  Format format(x);
  Num size = abs(x);
  // 1 - 2 / (e^2x + 1) loses digits near zero, where the odd polynomial is short.
  Num more = expNormal(clampAbove(size, format.is64 ? 20 : 10) * 2.0) + 1.0;
  // Where this counts it is below 0.45: a unit in its last place is half of one of the result.
  Num big = Format::hasPowers(x) ? 1.0 - machineInverse(more) * 2.0 : 1.0 - 2.0 / more;
  Num z = x * x;
  // Up to 0.625: 2^-27.7 (f32), 2^-56.5 (f64).
  Num p = format.is64
              ? polynomial(z, {-3.33333333333328763e-1, 1.33333333332646853e-1, -5.39682539323796534e-2,
                               2.18694875997103577e-2, -8.86322129084388816e-3, 3.59199134961192589e-3,
                               -1.45496938001701825e-3, 5.86349016028327218e-4, -2.28626463205975017e-4,
                               7.72117261534633313e-5, -1.61040199648904522e-5})
              : polynomial(z, {-3.333328068e-1, 1.333141178e-1, -5.373743176e-2, 2.06322968e-2, -5.697994027e-3});
  Num small = fma(size * z, p, size);
  return copySign(select(size < 0.625, small, big), x);
}

Num erf(Num x) {
  Format format(x);
  Num size = abs(x);
  Num z = x * x;
  if (format.is64) {
    // Up to 1: 2^-56.0. From 1 to 6, erfc is e^-x^2 times a smooth function of 1 / (x + 2), 2^-64.8.
    Num p = polynomial(z, {1.28379167095512559e-1, -3.7612638903183454e-1, 1.12837916709424571e-1,
                           -2.68661706429027501e-2, 5.22397760472200108e-3, -8.54832587232629633e-4,
                           1.20552920848521561e-4, -1.49246867116290687e-5, 1.64468455296925491e-6,
                           -1.62043067237058683e-7, 1.37029546707613896e-8, -7.76551642641660468e-10});
    Num limited = clampAbove(size, 6);
    Num t = 1.0 / (limited + 2.0);
    Num rest =
        polynomial(t, {-7.80576747695618082e-6, 5.64607624155170629e-1, 1.11804972686905502, 2.13047845491620924,
                       1.22214182334913546, 1.44360407928327881e+1, -6.37406936686282535e+1, 2.45379062772535747e+2,
                       -7.4493838636166879e+2, 1.47590324215763576e+3, -1.86296949367152411e+3, 1.46038492596715855e+3,
                       -6.47818486776056716e+2, 1.22669031634479907e+2});
    Num big = 1.0 - rest * expNormal(negate(limited * limited));
    return copySign(select(size < 1.0, fma(size, p, size), big), x);
  }
  // Up to 0.921875: 2^-30.1. From there to 4, log(erfc) is a polynomial: 2^-29.3.
  Num p = polynomial(z, {1.283791661e-1, -3.761263192e-1, 1.128367782e-1, -2.68586725e-2, 5.199593958e-3,
                         -8.12907354e-4, 8.320529014e-5});
  Num logRest = polynomial(clampAbove(size, 4), {-2.071818308e-4, -1.127626777, -6.372665763e-1, -1.038559303e-1,
                                                 2.218974568e-2, -3.033745568e-3, 1.949602156e-4});
  Num big = 1.0 - expNormal(logRest);
  return copySign(select(size < 0.921875, fma(size, p, size), big), x);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^exponent * (1 + fraction), with 1 + fraction between sqrt(1/2) and sqrt(2).
struct Split {
  Num exponent, fraction;
};
} // namespace

/// For positive finite x.
static Split splitExponent(Num x) {
  Format format(x);
  Num isDenormal = x < (format.is64 ? 0x1p-1022 : 0x1p-126);
  Num bits = toBits(select(isDenormal, x * (format.is64 ? 0x1p52 : 0x1p23), x));
  Num rootOfHalf = x.emitter->bits(bits, format.is64 ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  Num exponent = shiftSigned(bits - rootOfHalf, format.mantissa());
  Num one = fromBits(bits - (exponent << format.mantissa()));
  // A denormal's exponent was counted too high by the digits of the mantissa.
  Num shift = select(isDenormal, x.emitter->constant(x, -double(format.mantissa())), 0.0);
  return {toFloat(exponent) + shift, one - 1.0};
}

/// `result` where x is positive and finite, and what a logarithm is elsewhere.
static Num withLogarithmEnds(Num x, Num result) {
  Num elsewhere = select(x == 0.0, -infinity, select(x > 0.0, x, notANumber));
  Num inside = (x > 0.0) & (x < infinity);
  return select(inside, result, elsewhere);
}

/// (2 atanh(s) - 2 s) / s^3 as a function of s^2, up to s = 0.1716: 2^-59.5 of the logarithm.
static Num atanhPolynomial(Num z) {
  return polynomial(z, {6.66666666666673513e-1, 3.99999999994106514e-1, 2.8571428743179017e-1, 2.22221984990148641e-1,
                        1.81835679236686337e-1, 1.53139633691629751e-1, 1.4796784968784471e-1});
}

/// f - log(1 + f) for f64: with s = f / (2 + f), log(1 + f) = 2 atanh(s) and 2 s = f - s f.
static Num logDefect(Num f) {
  Num s = f / (f + 2.0);
  Num z = s * s;
  return s * (f - z * atanhPolynomial(z));
}

Num log(Num x) {
  Format format(x);
  auto [exponent, f] = splitExponent(x);
  Num rest;
  if (format.is64) {
    rest = f - fma(exponent, -ln2Low64, logDefect(f));
  } else {
    // log(1 + f) = f - f^2/2 + f^3 p(f): 2^-27.3.
    Num p = polynomial(f, {3.333333135e-1, -2.500082552e-1, 2.000121176e-1, -1.662319154e-1, 1.420236975e-1,
                           -1.316253692e-1, 1.27571553e-1, -7.622034848e-2});
    Num square = f * f;
    rest = f + fma(exponent, ln2Low32, square * fma(f, p, -0.5));
  }
  return withLogarithmEnds(x, fma(exponent, format.ln2High(), rest));
}

Num log2(Num x) {
  Format format(x);
  auto [exponent, f] = splitExponent(x);
  Num rest;
  if (format.is64) {
    Num defect = logDefect(f);
    rest = fma(f, log2eHigh64, fma(f, log2eLow64, defect * -log2eHigh64));
  } else {
    // log2(1 + f) = f log2(e) + f^2 p(f): 2^-27.7.
    Num p = polynomial(f, {-7.21347332e-1, 4.808982313e-1, -3.606978357e-1, 2.88566798e-1, -2.39594087e-1,
                           2.046204954e-1, -1.912604421e-1, 1.860416681e-1, -1.09279193e-1});
    rest = fma(f, log2eHigh32, fma(f * f, p, f * log2eLow32));
  }
  return withLogarithmEnds(x, exponent + rest);
}

Num rsqrt(Num x) { return 1.0 / sqrt(x); }

Num cbrt(Num x) {
  Num size = abs(x), y = exp2(log2(size) * (1.0 / 3));
  // A step of Newton, which is NaN of 0 and of infinity. Nothing in it leaves the range of normal numbers.
  Num better = y - (y - size / (y * y)) * (1.0 / 3);
  return copySign(select(better == better, better, y), x);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

namespace {
/// high + low, where low is at most an ulp of high.
struct Pair {
  Num high, low;
};
} // namespace

/// log2(x) for positive finite x, to 2^-64 of its value: the product with an exponent of up to 2^10
/// must leave 53 digits. Of f32 to some 2^-36, for an exponent of up to 2^7 and 24 digits.
static Pair log2AsPair(Num x) {
  const bool is64 = Format(x).is64;
  auto [exponent, f] = splitExponent(x);
  // s = f / (2 + f); the sum is rounded where f < 0.
  Num d = f + 2.0;
  Num dLow = f - (d - 2.0);
  Num s = f / d;
  Num sLow = (fma(negate(s), d, f) - s * dLow) / d;
  Num z = s * s;
  Num zLow = fma(s, s, negate(z)) + s * sLow * 2.0;
  // log2(1 + f) = s (c0 + z (c1 + z p(z))), with c0 = 2 / ln 2 and c1 = c0 / 3 as pairs: 2^-66, and 2^-37 of f32.
  Num t = z * (is64 ? polynomial(z, {5.77078016355618062e-1, 4.12198583091894832e-1, 3.20598902280578968e-1,
                                     2.62307700578975289e-1, 2.21984020592791342e-1, 1.91254670991610698e-1,
                                     1.90389676575179884e-1})
                    : polynomial(z, {5.770780164e-1, 4.121985831e-1, 3.205988980e-1, 2.623081893e-1, 2.219530832e-1}));
  const double c0 = is64 ? 2.885390081777926774 : 2.88539004325866699,
               c0Low = is64 ? 4.0710547481862064099e-17 : 3.8519259822532350e-8;
  const double c1 = is64 ? 0.96179669392597555433 : 0.961796700954437256,
               c1Low = is64 ? 5.0577616648125906047e-17 : -7.028461650952758e-9;
  Num q = t + c1;
  Num qLow = (t - (q - c1)) + c1Low;
  Num w = z * q;
  Num wLow = fma(z, q, negate(w)) + fma(z, qLow, zLow * q);
  Num u = w + c0;
  Num uLow = (w - (u - c0)) + (wLow + c0Low);
  Num v = s * u;
  Num vLow = fma(s, u, negate(v)) + fma(s, uLow, sLow * u);
  Num high = exponent + v;
  return {high, (v - (high - exponent)) + vLow};
}

/// 2^(high + low) with the full range of the format.
static Num exp2OfPair(Num high, Num low) {
  Format format(high);
  low = select(abs(high) < (format.is64 ? 2000.0 : 300.0), low, 0.0);
  const double most = format.is64 ? 1100 : 160;
  high = clampBelow(clampAbove(high, most), -most);
  double magic = format.magic() + 2 * format.bias();
  Num rounded = high + magic;
  return scaleInTwoSteps(exp2Polynomial((high - (rounded - magic)) + low), rounded);
}

/// log2 and exp2 in f64 with the digits that an f32 result needs.
static Num powerForF32(Num size, Num y) {
  auto [exponent, f] = splitExponent(size);
  Num s = f / (f + 2.0);
  // 2^-45.1.
  Num p = polynomial(s * s, {2.8853900817778495, 9.61796694114056105e-1, 5.7707794217593078e-1, 4.12209270628490276e-1,
                             3.19904972462457027e-1, 2.82910219677751928e-1});
  Num product = y * withLogarithmEnds(size, fma(s, p, exponent));
  // Far beyond the range of f32, but normal in f64: the conversion rounds once.
  product = clampBelow(clampAbove(product, 1000), -1000);
  double magic = Format(product).magic() + Format(product).bias();
  Num rounded = product + magic;
  // 2^-34.3.
  Num power =
      polynomial(product - (rounded - magic),
                 {1, 6.93147180704950405e-1, 2.4022651068345402e-1, 5.55041036415087202e-2, 9.61803791437006173e-3,
                  1.33339372473588501e-3, 1.54668191520713328e-4, 1.51955296040601146e-5});
  return scaleNormal(power, rounded);
}

static Num powerByPairs(Num size, Num y) {
  auto [high, low] = log2AsPair(size);
  Num ends = withLogarithmEnds(size, high);
  Num product = y * ends;
  return exp2OfPair(product, fma(y, ends, negate(product)) + y * low);
}

Num pow(Num base, Num exponent) {
  // In f64, which gives an f32 all its digits, where the machine has it.
  const bool isWidened = base.width() == 32 && base.emitter->has.doubles;
  Type own = getElementTypeOrSelf(base.type()), wide = isWidened ? Float64Type::get(own.getContext()) : own;
  Num x = toFormat(base, wide), y = toFormat(exponent, wide);
  Num size = abs(x);
  Num result = isWidened ? powerForF32(size, y) : powerByPairs(size, y);
  Num isWhole = truncate(y) == y;
  Num half = y * 0.5;
  Num isOdd = isWhole & (truncate(half) != half);
  result = select(isOdd, copySign(result, x), result);
  Num isNegative = (x < 0.0) & (size < infinity);
  result = select(isNegative & (y != truncate(y)) & (y == y), notANumber, result);
  Num isOne = (x == 1.0) | (y == 0.0) | ((x == -1.0) & (abs(y) == infinity));
  return toFormat(select(isOne, 1.0, result), own);
}

} // namespace zyx::kernel::expand
