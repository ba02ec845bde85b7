# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Incomplete gamma functions and Hurwitz's zeta function, computed in float64."""
import math

from .. import _functions as F
from .. import _zyx
from .._transforms import loop
from ._lower import KIND, aten, cast, computed_in, expand, float64, full, op, operand, packets, prims, require, where
from ._special import BERNOULLI, lgamma

# Terms of series and fractions, which have all digits below this order; above it integrals do.
TERMS, ORDER = 160, 100.0
# How far below 0 zeta's second argument may be.
BELOW = 64


def binary(*targets):
    def register(function):
        def made(node, a, x):
            dtype = computed_in(node, node.args[:2], KIND.INT_TO_FLOAT)
            a, x = (cast(operand(each, dtype), float64) for each in (a, x))
            shape = F._broadcast_shape([a.shape, x.shape], str(node.target))
            return cast(function(expand(a, shape), expand(x, shape)), dtype)

        op(*targets)(made)
        return function

    return register


def _legendre_nodes(count):
    """Places between 0 and 1 and weights of Gauss's quadrature, by Newton's steps."""
    found = []
    for i in range(count):
        z = math.cos(math.pi * (i + 0.75) / (count + 0.5))
        for _ in range(8):
            before, own = 1.0, z
            for k in range(1, count):
                before, own = own, ((2 * k + 1) * z * own - k * before) / (k + 1)
            slope = count * (z * own - before) / (z * z - 1)
            z -= own / slope
        found.append((0.5 * (z + 1), 1 / ((1 - z * z) * slope * slope)))
    return found


def _tails(a, x):
    """The regularized lower and upper incomplete gamma functions, of numbers that are positive and finite."""
    # x^a exp(-x) / gamma(a)
    front = F.exp(a * F.log(x) - x - lgamma(a))
    low = x < a + 1.0
    small, large = where(low, x, 1.0), where(low, a + 2.0, x)

    def term(trip, carried):
        total, own = carried
        own = own * small / (a + (cast(trip, float64) + 1.0))
        return total + own, own

    one = 1.0 / a
    series = loop(TERMS, (one, one), term)[0] * front

    def fraction(trip, below):
        # From the last one to the first.
        n = float(TERMS) - cast(trip, float64)
        return large + (2.0 * n - 1.0) - a + n * (a - n) / below

    # The part behind the last one is about as large as what stands before it.
    behind = loop(TERMS, large + (2.0 * TERMS + 1.0) - a, fraction)
    rest = front / behind
    p, q = where(low, series, 1.0 - rest), where(low, 1.0 - series, rest)

    # Of large orders the integral between x and where nothing is left, on the side that is small.
    order = _zyx.maximum(a, ORDER)
    mean, width = order - 1.0, F.sqrt(order - 1.0)
    above = x > mean
    end = where(above, _zyx.maximum(mean + 11.5 * width, x + 6.0 * width),
                _zyx.maximum(0.0, _zyx.minimum(mean - 7.5 * width, x - 5.0 * width)))
    logarithm, total = F.log(mean), full(x.shape, 0, float64)
    for place, weight in _legendre_nodes(48):
        t = x + (end - x) * place
        total = total + F.exp(mean * (F.log(t) - logarithm) - (t - mean)) * weight
    total = F.abs(end - x) * total * F.exp(mean * (logarithm - 1.0) - lgamma(order))
    return (where(a < ORDER, p, where(above, 1.0 - total, total)), where(a < ORDER, q, where(above, total, 1.0 - total)))


def _incomplete(upper):
    def made(a, x):
        plain = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
        found = _tails(where(plain, a, 1.0), where(plain, x, 1.0))[upper]
        zero, one = (1.0, 0.0) if upper else (0.0, 1.0)
        found = where(plain, found, math.nan)
        found = where(F.logical_not(a <= 0) & (x == 0), zero, found)
        found = where((a == 0) & (x > 0), one, found)
        found = where((a == math.inf) & F.logical_not((x == math.inf) | (x < 0)), zero, found)
        return where((x == math.inf) & F.logical_not((a < 0) | (a == math.inf)), one, found)

    return made


binary(prims.igamma.default, aten.igamma.default, aten.special_gammainc.default)(_incomplete(0))
binary(prims.igammac.default, aten.igammac.default, aten.special_gammaincc.default)(_incomplete(1))


@binary(prims.zeta.default, *packets(aten.special_zeta))
def zeta(x, q):
    """The sum of (q + k)^-x: terms up to a number above 9, and behind it by Euler and Maclaurin."""
    whole = F.floor(q) == q
    plain = (x > 1) & (q == q) & F.logical_not((q <= 0) & (whole | (F.floor(x) != x)))
    s, start = where(plain & (x < 1000), x, 2.0), where(plain, q, 1.0)
    require(start > -float(BELOW), f"zeta of a number below {-BELOW}")
    count = 10.0 + _zyx.maximum(0.0, F.ceil(-start))

    def term(trip, total):
        k = cast(trip, float64)
        return total + where(k < count, _zyx.pow(where(k < count, start + k, 1.0), -s), 0.0)

    total = loop(BELOW + 10, full(x.shape, 0, float64), term)
    z = start + count
    power = _zyx.pow(z, -s)
    found = total + power * z / (s - 1.0) + 0.5 * power
    rising = s
    for k, b in enumerate(BERNOULLI, 1):
        power = power / z if k == 1 else power / (z * z)
        found = found + (b / math.factorial(2 * k)) * rising * power
        rising = rising * (s + (2.0 * k - 1.0)) * (s + 2.0 * k)
    # So large a power leaves the first term alone.
    found = where(x < 1000, found, _zyx.pow(start, -x))
    found = where(plain, found, math.nan)
    found = where((x > 1) & (q <= 0) & whole, math.inf, found)
    return where(x == 1, math.inf, found)
