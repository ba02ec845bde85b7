# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orthogonal polynomials, computed in float64. Their degrees are data: those of Chebyshev have closed forms, others are as many steps
of a recurrence as the largest degree that is taken."""
import math

from .. import _functions as F
from .. import _zyx
from .._transforms import loop
from ._lower import KIND, aten, cast, computed_in, expand, float64, full, op, operand, packets, require, where

# From here on Hermite polynomials are NaN, as in PyTorch.
HERMITE = {4: 128, 8: 512}
# Legendre and Laguerre polynomials of larger degrees are refused.
DEGREES = 512


def polynomial(*targets):
    def register(function):
        def made(node, x, n):
            dtype = computed_in(node, node.args[:2], KIND.INT_TO_FLOAT)
            x, n = operand(x, dtype), operand(n, dtype)
            shape = F._broadcast_shape([x.shape, n.shape], str(node.target))
            # A degree is cut to an integer; a negative one has 0.
            n = F.trunc(cast(n, float64))
            n = expand(where(n == n, n, -1.0), shape)
            y = function(expand(cast(x, float64), shape), n, dtype)
            return cast(where(n < 0, 0.0, where(n == 0, 1.0, y)), dtype)

        op(*targets)(made)
        return function

    return register


def _sign(n):
    """(-1)^n."""
    return 1.0 - 2.0 * F.abs(n - 2.0 * F.floor(n * 0.5))


def _trigonometric(x, near, far, edge):
    """A polynomial of |x| by a function of t where that is cos(t), by another one where it is cosh(t), and what it is at 1."""
    size = F.abs(x)
    inside = near(where(size < 1, F.acos(_zyx.minimum(size, 1.0)), 1.0))
    outside = far(where(size > 1, F.acosh(_zyx.maximum(size, 1.0)), 1.0))
    return where(size < 1, inside, where(size == 1, edge, outside))


def _chebyshev(kind):
    def made(x, n, dtype):
        m = n + 0.5
        forms = {
            "t": (lambda t: F.cos(n * t), lambda t: F.cosh(n * t), 1.0),
            "u": (lambda t: F.sin((n + 1.0) * t) / F.sin(t), lambda t: F.sinh((n + 1.0) * t) / F.sinh(t), n + 1.0),
            "v": (lambda t: F.cos(m * t) / F.cos(t * 0.5), lambda t: F.cosh(m * t) / F.cosh(t * 0.5), 1.0),
            "w": (lambda t: F.sin(m * t) / F.sin(t * 0.5), lambda t: F.sinh(m * t) / F.sinh(t * 0.5), 2.0 * n + 1.0),
        }
        own, other = forms[kind], forms[{"v": "w", "w": "v"}.get(kind, kind)]
        # Of -x a polynomial is that of x with the sign of (-1)^n; the third kind and the fourth one change places.
        return where(x != x, x, where(x < 0, _trigonometric(x, *other) * _sign(n), _trigonometric(x, *own)))

    return made


for _kind in "tuvw":
    polynomial(*packets(getattr(aten, f"special_chebyshev_polynomial_{_kind}")))(_chebyshev(_kind))
    polynomial(*packets(getattr(aten, f"special_shifted_chebyshev_polynomial_{_kind}")))(
        lambda x, n, dtype, _function=_chebyshev(_kind): _function(2.0 * x - 1.0, n, dtype))


def _recurrence(x, n, first, step, most):
    """The polynomial of degree n, of those of degrees 0 and 1 and what makes the next one of two."""

    def body(trip, carried):
        before, own, found = carried
        k = cast(trip, float64) + 1.0
        after = step(k, before, own)
        return own, after, where(n == k + 1.0, after, found)

    return loop(most, (full(x.shape, 1, float64), first, first), body)[2]


@polynomial(*packets(aten.special_hermite_polynomial_h))
def hermite(x, n, dtype):
    most = HERMITE[max(dtype.itemsize, 4)]
    found = _recurrence(x, n, 2.0 * x, lambda k, before, own: 2.0 * x * own - 2.0 * k * before, most)
    return where(n > most, math.nan, found)


@polynomial(*packets(aten.special_hermite_polynomial_he))
def hermite_of_probability(x, n, dtype):
    most = HERMITE[max(dtype.itemsize, 4)]
    found = _recurrence(x, n, x, lambda k, before, own: x * own - k * before, most)
    return where(n > most, math.nan, found)


def _within(n):
    require(n <= float(DEGREES), f"a polynomial of a degree above {DEGREES}")


@polynomial(*packets(aten.special_laguerre_polynomial_l))
def laguerre(x, n, dtype):
    _within(n)
    return _recurrence(x, n, 1.0 - x, lambda k, before, own: ((2.0 * k + 1.0 - x) * own - k * before) / (k + 1.0), DEGREES - 1)


@polynomial(*packets(aten.special_legendre_polynomial_p))
def legendre(x, n, dtype):
    _within(n)
    return _recurrence(x, n, x, lambda k, before, own: ((2.0 * k + 1.0) * x * own - k * before) / (k + 1.0), DEGREES - 1)
