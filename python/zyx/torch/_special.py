# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gamma and Bessel functions, computed in float64: by their asymptotic series where those hold, which recurrences, reflections
and integrals lead to."""
import math

from .. import _functions as F
from .. import _zyx
from ._lower import KIND, aten, cast, computed_in, float64, full, op, prims, where

# Bernoulli numbers B2, B4, ...
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
# From here on the series of gamma functions have all digits.
SHIFT = 10


def special(*targets):
    def register(function):
        def made(node, x):
            dtype = computed_in(node, node.args[:1], KIND.INT_TO_FLOAT)
            return cast(function(cast(x, float64)), dtype)

        op(*targets)(made)
        return function

    return register


def polynomial(coefficients, x):
    """The lowest first."""
    result = full((), coefficients[-1], float64)
    for each in reversed(coefficients[:-1]):
        result = result * x + each
    return result


def turned(x):
    """sin and cos of pi * x."""
    near = x - F.round(x)
    sign = 1.0 - 2.0 * F.abs(F.round(x) - 2.0 * F.round(F.round(x) * 0.5))
    return F.sin(near * math.pi) * sign, F.cos(near * math.pi) * sign


@special(prims.lgamma.default, aten.lgamma.default)
def lgamma(x):
    y = where(x < 0.5, 1.0 - x, x)
    product = y
    for i in range(1, SHIFT):
        product = product * (y + float(i))
    small = y < SHIFT
    z = where(small, y + float(SHIFT), y)
    inverse = 1.0 / z
    series = polynomial([b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1)], inverse * inverse) * inverse
    found = (z - 0.5) * F.log(z) - z + 0.5 * math.log(2 * math.pi) + series
    found = found - where(small, F.log(product), 0.0)
    found = where(y == math.inf, y, found)
    sine, _ = turned(x)
    mirrored = F.log(math.pi / F.abs(sine)) - found
    mirrored = where((x <= 0) & (F.floor(x) == x), full((), math.inf, float64), mirrored)
    return where(x < 0.5, mirrored, found)


@special(prims.digamma.default, aten.digamma.default)
def digamma(x):
    y = where(x < 0.5, 1.0 - x, x)
    total = full((), 0, float64)
    for i in range(SHIFT):
        total = total + 1.0 / (y + float(i))
    small = y < SHIFT
    z = where(small, y + float(SHIFT), y)
    inverse = 1.0 / z
    series = polynomial([b / (2 * k) for k, b in enumerate(BERNOULLI, 1)], inverse * inverse) * inverse * inverse
    found = F.log(z) - 0.5 * inverse - series - where(small, total, 0.0)
    sine, cosine = turned(x)
    mirrored = where((x < 0) & (F.floor(x) == x), full((), math.nan, float64), found - cosine / sine * math.pi)
    found = where(x < 0.5, mirrored, found)
    return where(x == 0, _zyx.copysign(full((), math.inf, float64), -x), found)


def power(x, n):
    result = None
    while n:
        if n & 1:
            result = x if result is None else result * x
        n >>= 1
        x = x * x if n else x
    return result


def polygamma_of(n, x):
    if n == 0:
        return digamma(x)
    sign, s = (-1.0)**(n + 1), n + 1
    y = where(x < 0.5, 1.0 - x, x)
    total = full((), 0, float64)
    for i in range(SHIFT):
        total = total + 1.0 / power(y + float(i), s)
    # The sum from the shift on, by Euler and Maclaurin.
    z = y + float(SHIFT)
    tail = 1.0 / power(z, s - 1) * (1 / (s - 1)) + 0.5 / power(z, s)
    rising = float(s)
    for k, b in enumerate(BERNOULLI, 1):
        tail = tail + (b / math.factorial(2 * k) * rising) / power(z, s + 2 * k - 1)
        rising *= (s + 2 * k - 1) * (s + 2 * k)
    found = (total + tail) * (sign * math.factorial(n))
    # Derivatives of the cotangent are polynomials of it.
    coefficients = [0.0, 1.0]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(coefficients)][1:]
        coefficients = [-(a + b) for a, b in zip(slope + [0.0, 0.0], [0.0, 0.0] + slope)]
    sine, cosine = turned(x)
    mirrored = found * (-1.0)**n - polynomial(coefficients, cosine / sine) * math.pi**(n + 1)
    mirrored = where((x <= 0) & (F.floor(x) == x), full((), math.inf * sign, float64), mirrored)
    return where(x < 0.5, mirrored, found)


def _limit_polygamma(node):
    return "has an order above 20" if node.args[0] > 20 else None


@op(aten.polygamma.default, limit=_limit_polygamma)
def polygamma(node, n, x):
    dtype = computed_in(node, node.args[1:2], KIND.INT_TO_FLOAT)
    return cast(polygamma_of(n, cast(x, float64)), dtype)


# Bessel functions: means over angles, which have all digits up to LARGE, and behind it series in 1 / x

NODES, LARGE = 48, 55.0


def _angles(function):
    """The mean of a function of angles between 0 and pi."""
    def mean(x):
        angles = _zyx._arange(0, NODES, 1, _zyx.int64)
        angles = (cast(angles, float64) + 0.5) * (math.pi / NODES)
        return _zyx._mean(function(_zyx._unsqueeze(x, -1), angles), [x.ndim], False)

    return mean


def _series(order, x, signs, count=14):
    """Sums of the even and the odd terms of a series in 1 / 8x."""
    sums, term = [full((), 1, float64), full((), 0, float64)], full((), 1, float64)
    for k in range(1, count):
        term = term * ((4 * order * order - (2 * k - 1)**2) / (8 * k)) / x
        sums[k % 2] = sums[k % 2] + term * float(signs(k))
    return sums


def _scaled_i(order, x):
    """exp(-|x|) I(x)."""
    size = F.abs(x)
    near = _zyx.minimum(size, LARGE)
    mean = _angles(lambda x, t: F.exp(x * (F.cos(t) - 1.0)) * (F.cos(t) if order else 1.0))(near)
    far = _zyx.maximum(size, LARGE)
    even, odd = _series(order, far, lambda k: (-1)**k)
    found = where(size > LARGE, (even + odd) / F.sqrt(far * (2 * math.pi)), mean)
    return where(x < 0, -found, found) if order else found


def _j(order, x):
    size = F.abs(x)
    near = _zyx.minimum(size, LARGE)
    if order:
        mean = _angles(lambda x, t: F.sin(x * F.sin(t)) * F.sin(t))(near)
    else:
        mean = _angles(lambda x, t: F.cos(x * F.sin(t)))(near)
    far = _zyx.maximum(size, LARGE)
    even, odd = _series(order, far, lambda k: (-1)**(k // 2))
    phase = far - (order / 2 + 0.25) * math.pi
    found = where(size > LARGE, (F.cos(phase) * even - F.sin(phase) * odd) * F.sqrt(2 / math.pi / far), mean)
    found = where(size == math.inf, full((), 0, float64), found)
    return where(x < 0, -found, found) if order else found


special(prims.bessel_i0e.default, aten.special_i0e.default)(lambda x: _scaled_i(0, x))
special(prims.bessel_i1e.default, aten.special_i1e.default)(lambda x: _scaled_i(1, x))
special(prims.bessel_i0.default, aten.i0.default, aten.special_modified_bessel_i0.default)(
    lambda x: _scaled_i(0, x) * F.exp(F.abs(x)))
special(prims.bessel_i1.default, aten.special_i1.default, aten.special_modified_bessel_i1.default)(
    lambda x: _scaled_i(1, x) * F.exp(F.abs(x)))
special(prims.bessel_j0.default, aten.special_bessel_j0.default)(lambda x: _j(0, x))
special(prims.bessel_j1.default, aten.special_bessel_j1.default)(lambda x: _j(1, x))


@special(prims.spherical_bessel_j0.default, aten.special_spherical_bessel_j0.default)
def spherical(x):
    y = where(x == 0, 1.0, x)
    found = where(F.abs(x) == math.inf, 0.0, F.sin(y) / y)
    return where(x == 0, 1.0, found)


# Bessel functions of the second kind: power series with harmonic numbers up to NEAR, where terms do not cancel yet

NEAR, NEAR_K = 12.0, 2.0
EULER = 0.57721566490153286


def _power_series(order, x, sign, weights):
    """Sums of (sign * (x / 2)^2)^k / (k! (k + order)!) by each of the lists of weights."""
    square, term = x * x * (0.25 * sign), full(x.shape, 1, float64)
    sums = [full(x.shape, 0, float64) for _ in weights]
    for k in range(max(map(len, weights))):
        if k:
            term = term * square * (1 / (k * (k + order)))
        sums = [total + term * each[k] for total, each in zip(sums, weights)]
    return sums if order == 0 else [total * x * 0.5 for total in sums]


def _harmonic(order, count):
    """psi(k + 1) + psi(k + 1 + order), halved."""
    harmonic = [sum(1 / i for i in range(1, k + 1)) for k in range(count + 1)]
    return [(harmonic[k] + harmonic[k + order]) / 2 - EULER for k in range(count)]


def _second(order, x, sign, count):
    """log(x / 2) times the function of the first kind, less a sum with harmonic numbers."""
    plain, weighted = _power_series(order, x, sign, [[1.0] * count, _harmonic(order, count)])
    return F.log(x * 0.5) * plain - weighted


def _y(order, x):
    near = where((x > 0) & (x < NEAR), x, 1.0)
    close = _second(order, near, -1.0, 40) * (2 / math.pi)
    close = close - 2 / math.pi / near if order else close
    far = _zyx.maximum(x, NEAR)
    even, odd = _series(order, far, lambda k: (-1)**(k // 2), 20)
    phase = far - (order / 2 + 0.25) * math.pi
    found = where(x < NEAR, close, (F.sin(phase) * even + F.cos(phase) * odd) * F.sqrt(2 / math.pi / far))
    return where(x == 0, -math.inf, where(x < 0, math.nan, where(x == x, found, x)))


def _scaled_k(order, x):
    """exp(x) K(x)."""
    near = where((x > 0) & (x < NEAR_K), x, 1.0)
    close = _second(order, near, 1.0, 24)
    close = (1.0 / near + close if order else -close) * F.exp(near)
    # The integral of exp(-x (cosh(t) - 1)) cosh(order t), whose trapezoids have all digits.
    middle, step = _zyx.minimum(_zyx.maximum(x, NEAR_K), LARGE), 0.08
    t = cast(_zyx._arange(0, 50, 1, _zyx.int64), float64) * step
    part = F.exp(_zyx._unsqueeze(middle, -1) * (1.0 - F.cosh(t))) * (F.cosh(t) if order else 1.0)
    mean = (_zyx._sum(part, [x.ndim], False) - 0.5) * step
    far = _zyx.maximum(x, LARGE)
    even, odd = _series(order, far, lambda k: 1)
    found = where(x < NEAR_K, close, where(x < LARGE, mean, (even + odd) * F.sqrt(math.pi / 2 / far)))
    return where(x == 0, math.inf, where(x < 0, math.nan, where(x == x, found, x)))


special(aten.special_bessel_y0.default)(lambda x: _y(0, x))
special(aten.special_bessel_y1.default)(lambda x: _y(1, x))
special(aten.special_scaled_modified_bessel_k0.default)(lambda x: _scaled_k(0, x))
special(aten.special_scaled_modified_bessel_k1.default)(lambda x: _scaled_k(1, x))
special(aten.special_modified_bessel_k0.default)(lambda x: _scaled_k(0, x) * F.exp(-x))
special(aten.special_modified_bessel_k1.default)(lambda x: _scaled_k(1, x) * F.exp(-x))


@special(aten.special_airy_ai.default)
def airy(x):
    """By its power series between two bounds, and by its asymptotic ones outside."""
    low, high = -8.0, 5.5
    near = _zyx.minimum(_zyx.maximum(x, low), high)
    cube, f, g = near * near * near, full(x.shape, 1, float64), near
    even, odd = f, g
    for k in range(1, 60):
        f, g = f * cube * (1 / ((3 * k - 1) * (3 * k))), g * cube * (1 / ((3 * k) * (3 * k + 1)))
        even, odd = even + f, odd + g
    close = even * (1 / (3**(2 / 3) * math.gamma(2 / 3))) - odd * (1 / (3**(1 / 3) * math.gamma(1 / 3)))
    size = _zyx.maximum(where(x > 0, x, -x), high)
    zeta = _zyx.pow(size, 1.5) * (2 / 3)
    scale = 1.0 / (math.sqrt(math.pi) * _zyx.pow(size, 0.25))
    coefficients = [1.0]
    for k in range(1, 16):
        coefficients.append(coefficients[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1)))
    inverse = 1.0 / zeta
    right = 0.5 * scale * F.exp(-zeta) * polynomial([(-1)**k * c for k, c in enumerate(coefficients)], inverse)
    square = inverse * inverse
    p = polynomial([(-1)**k * c for k, c in enumerate(coefficients[0::2])], square)
    q = polynomial([(-1)**k * c for k, c in enumerate(coefficients[1::2])], square) * inverse
    phase = zeta - math.pi / 4
    left = scale * (F.cos(phase) * p + F.sin(phase) * q)
    return where(x != x, x, where(x > high, right, where(x < low, left, close)))


# What is made of the error function


def scaled_erfc(x):
    """exp(x^2) erfc(x): trapezoids of an integral, with what its pole adds to them."""
    size, step = F.abs(x), 0.5
    far = _zyx.maximum(size, 0.5)
    square = far * far
    total = 0.5 / square
    for k in range(1, 14):
        total = total + math.exp(-(k * step)**2) / (square + (k * step)**2)
    below = _zyx.minimum(far, math.pi / step)
    pole = where(far < math.pi / step, 2.0 * F.exp(below * below) / F.expm1(below * (2 * math.pi / step)), 0.0)
    found = far * (2 * step / math.pi) * total - pole
    near = _zyx.minimum(size, 0.5)
    found = where(size < 0.5, F.exp(near * near) * (1.0 - F.erf(near)), found)
    found = where(size > 1e100, 1 / math.sqrt(math.pi) / far, found)
    return where(x < 0, 2.0 * F.exp(x * x) - found, found)


special(prims.erfcx.default, aten.special_erfcx.default)(scaled_erfc)


@special(aten.erfc.default)
def erfc(x):
    # From 1 - erf() small ones would have no digits.
    size = F.abs(x)
    far = scaled_erfc(_zyx.maximum(size, 0.5)) * F.exp(-(size * size))
    far = where(size == math.inf, 0.0, far)
    return where(size < 0.5, 1.0 - F.erf(x), where(x < 0, 2.0 - far, far))


@special(prims.ndtri.default, aten.special_ndtri.default)
def ndtri(p):
    """Newton's steps for the logarithm of the smaller tail, from a bound on."""
    tail = _zyx.minimum(p, 1.0 - p)
    inside = tail > 0
    safe = where(inside, tail, 0.25)
    logarithm = F.log(safe)
    y = F.sqrt(_zyx.maximum(-2.0 * (logarithm + math.log(2)), 0.0))
    for _ in range(8):
        scaled = scaled_erfc(y * math.sqrt(0.5))
        y = y + (F.log(scaled * 0.5) - y * y * 0.5 - logarithm) * scaled * math.sqrt(math.pi / 2)
    found = where(p < 0.5, -y, y)
    found = where(p == 0, -math.inf, where(p == 1, math.inf, found))
    return where((p < 0) | (p > 1) | (p != p), math.nan, found)
