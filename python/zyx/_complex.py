# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers as pairs of arrays, for the doors to frameworks that have them."""
import math
import operator

from . import _functions as F
from . import _zyx
from ._lowering import cast, full, reshape, where
from ._zyx import Array


class Complex:
    """Two arrays of one shape and dtype."""
    __slots__ = ("real", "imag")

    def __init__(self, real, imag):
        self.real, self.imag = real, imag

    shape, ndim, size = (property(operator.attrgetter(f"real.{name}")) for name in ("shape", "ndim", "size"))
    dtype = property(operator.attrgetter("real.dtype"))

    def map(self, function):
        return Complex(function(self.real), function(self.imag))

    def __add__(self, other):
        return Complex(self.real + other.real, self.imag + other.imag)

    def __sub__(self, other):
        return Complex(self.real - other.real, self.imag - other.imag)

    def __neg__(self):
        return Complex(-self.real, -self.imag)

    def __mul__(self, other):
        if not isinstance(other, Complex):
            return Complex(self.real * other, self.imag * other)
        return Complex(self.real * other.real - self.imag * other.imag, self.real * other.imag + self.imag * other.real)

    def __truediv__(self, other):
        # Of parts of the divisor that are at most 1, so that squares do not overflow.
        size = _zyx.maximum(F.abs(other.real), F.abs(other.imag))
        scale = 1.0 / where((size == 0) | (size == math.inf), full((), 1, size.dtype), size)
        c, d = other.real * scale, other.imag * scale
        square = c * c + d * d
        return Complex((self.real * c + self.imag * d) / square * scale, (self.imag * c - self.real * d) / square * scale)

    def conj(self):
        return Complex(self.real, -self.imag)


def from_last(x):
    """Of an array whose last axis has the parts."""
    shape = x.shape[:-1]
    return Complex(reshape(x[..., 0:1], shape), reshape(x[..., 1:2], shape))


def to_last(z):
    return _zyx._stack([z.real, z.imag], z.ndim)


def joined(condition, a, b):
    return Complex(where(condition, a.real, b.real), where(condition, a.imag, b.imag))


def of(x, dtype):
    """An argument, an array, a pair or a number, as a pair of parts of a dtype."""
    if isinstance(x, Complex):
        return x.map(lambda part: cast(part, dtype))
    if isinstance(x, Array):
        x = cast(x, dtype)
        return Complex(x, full(x.shape, 0, dtype))
    return Complex(full((), complex(x).real, dtype), full((), complex(x).imag, dtype))


def exp(x):
    size = F.exp(x.real)
    return Complex(size * F.cos(x.imag), where(x.imag == 0, x.imag, size * F.sin(x.imag)))


def log(x):
    return Complex(F.log(_zyx.hypot(x.real, x.imag)), _zyx.atan2(x.imag, x.real))


def sqrt(x):
    """The root whose real part is not negative; the larger part comes first, so that nothing cancels."""
    size = _zyx.hypot(x.real, x.imag)
    large = F.sqrt((size + F.abs(x.real)) * 0.5)
    small = F.abs(x.imag) / (where(large == 0, full((), 1, large.dtype), large) * 2.0)
    is_right = x.real >= 0
    return Complex(where(is_right, large, small), _zyx.copysign(where(is_right, small, large), x.imag))


def sin(x):
    return Complex(F.sin(x.real) * F.cosh(x.imag), F.cos(x.real) * F.sinh(x.imag))


def cos(x):
    return Complex(F.cos(x.real) * F.cosh(x.imag), -(F.sin(x.real) * F.sinh(x.imag)))


def tanh(x):
    # Of doubled numbers, with exponents that do not grow.
    e = F.exp(F.abs(x.real) * -2.0)
    below = 1.0 + e * e + 2.0 * e * F.cos(x.imag * 2.0)
    return Complex(_zyx.copysign((1.0 - e) * (1.0 + e) / below, x.real), 2.0 * e * F.sin(x.imag * 2.0) / below)


def turned(function):
    """f(iz) / i."""
    def made(x):
        y = function(Complex(-x.imag, x.real))
        return Complex(y.imag, -y.real)

    return made


def expm1(x):
    # e^a cos(b) - 1 = (e^a - 1) cos(b) - 2 sin(b / 2)^2, where neither cancels for small numbers.
    half = F.sin(x.imag * 0.5)
    return Complex(F.expm1(x.real) * F.cos(x.imag) - 2.0 * half * half, exp(x).imag)


def log1p(x):
    one = of(1, x.dtype)
    y, small = log(x + one), _zyx.maximum(F.abs(x.real), F.abs(x.imag)) < 0.5
    a, b = where(small, x.real, full((), 0, x.dtype)), where(small, x.imag, full((), 0, x.dtype))
    return Complex(where(small, F.log1p(a * (a + 2.0) + b * b) * 0.5, y.real), y.imag)


def atanh(x):
    return (log1p(x) - log1p(-x)) * 0.5


def asinh(x):
    """log(x + w) of w = sqrt(x^2 + 1), or -log(w - x) where x and w would cancel: (w + x) (w - x) is 1. Less 1, w is
    x^2 / (w + 1)."""
    one = of(1, x.dtype)
    w = sqrt(x * x + one)
    is_opposite = x.real * w.real + x.imag * w.imag < 0
    x = joined(is_opposite, -x, x)
    y = log1p(x + x * x / (w + one))
    return joined(is_opposite, -y, y)


def acosh(x):
    one = of(1, x.dtype)
    return log(x + sqrt(x + one) * sqrt(x - one))


def acos(x):
    y = turned(asinh)(x)
    return Complex(math.pi / 2 - y.real, -y.imag)


def sgn(x):
    size = _zyx.hypot(x.real, x.imag)
    inverse = 1.0 / where(size == 0, full((), 1, size.dtype), size)
    return x * inverse


def sigmoid(x):
    one = of(1, x.dtype)
    return one / (one + exp(-x))


def matmul(a, b):
    return Complex(_zyx.matmul(a.real, b.real) - _zyx.matmul(a.imag, b.imag),
                   _zyx.matmul(a.real, b.imag) + _zyx.matmul(a.imag, b.real))
