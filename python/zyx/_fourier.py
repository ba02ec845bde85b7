# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms: products with small matrices, which larger extents are made of as Cooley and Tukey did, and extents with
large primes as convolutions, as Bluestein did."""
import math

import numpy as np

from . import _functions as F
from . import _zyx
from ._complex import Complex
from ._lowering import full, pad, reshape

# Extents up to the first one are one product; primes up to the second one, too.
DENSE, LARGE_PRIME = 64, 1024


def table(values, dtype):
    """An array of numbers of NumPy's."""
    values = np.ascontiguousarray(values, dtype.name)
    return _zyx._from_bytes(values.tobytes(), dtype, values.shape)


def roots(products, count, sign):
    """The powers of a root of unity, by their exponents; of whole numbers, so that large ones lose no digits."""
    angles = np.remainder(products, count).astype(np.float64) * (sign * 2 * math.pi / count)
    return np.cos(angles), np.sin(angles)


def _outer(a, b):
    return np.outer(np.arange(a), np.arange(b))


def _factor(count):
    """The largest factor that is one product and leaves another one, or None."""
    return next((each for each in range(min(DENSE, count // 2), 1, -1) if count % each == 0), None)


def transformed(z, sign):
    """The sums along the last axis, without a factor. `z` is a pair, or an array of real numbers."""
    is_real = not isinstance(z, Complex)
    count, dtype = z.shape[-1], z.dtype
    if count == 1:
        return Complex(z, full(z.shape, 0, dtype)) if is_real else z
    factor = _factor(count) if count > DENSE else None
    if factor is None and count <= max(DENSE, LARGE_PRIME):
        c, s = roots(_outer(count, count), count, sign)
        if is_real:
            y, weights = z, np.concatenate([c, s], 1)
        else:
            y = _zyx._concat([z.real, z.imag], z.ndim - 1)
            weights = np.block([[c, s], [-s, c]])
        # A stack of one matrix.
        rows = reshape(y, (y.size // y.shape[-1], y.shape[-1]))
        found = _zyx.matmul(rows, table(weights, dtype))
        found = reshape(found, z.shape[:-1] + (2 * count,))
        return Complex(found[..., :count], found[..., count:])
    if is_real:
        z = Complex(z, full(z.shape, 0, dtype))
    if factor is None:
        return _convolved(z, sign)
    a, b = factor, count // factor
    lead = z.shape[:-1]
    # Positions b * i + j of the argument, and i + a * j of the result.
    y = z.map(lambda part: reshape(part, lead + (a, b)).mT)
    y = transformed(y, sign).map(lambda part: part.mT)
    c, s = roots(_outer(a, b), count, sign)
    y = transformed(y * Complex(table(c, dtype), table(s, dtype)), sign)
    return y.map(lambda part: reshape(part.mT, lead + (count,)))


def _convolved(z, sign):
    """Of a prime extent: jk = (j^2 + k^2 - (k - j)^2) / 2."""
    count, dtype = z.shape[-1], z.dtype
    whole = 1 << (2 * count - 2).bit_length()
    squares = np.arange(count)**2
    c, s = roots(squares, 2 * count, sign)
    filters = np.zeros(whole, np.complex128)
    filters[:count] = c - 1j * s
    filters[whole - count + 1:] = (c - 1j * s)[1:][::-1]
    filters = np.fft.fft(filters) / whole
    chirp = Complex(table(c, dtype), table(s, dtype))
    y = (z * chirp).map(lambda part: pad(part, [0] * part.ndim, [0] * (part.ndim - 1) + [whole - count]))
    y = transformed(y, -1) * Complex(table(filters.real, dtype), table(filters.imag, dtype))
    y = transformed(y, 1).map(lambda part: part[..., :count])
    return y * chirp


def along(z, axis, function):
    def moved(x, source, target):
        return x.map(lambda part: F.moveaxis(part, source, target)) if isinstance(x, Complex) else F.moveaxis(x, source, target)

    return moved(function(moved(z, axis, -1)), -1, axis)


def half_to_real(z, count):
    """The real numbers of so many of which this is the transform."""
    # The other half is that of a transform of real numbers.
    z = z.map(lambda part: part[..., :count // 2 + 1])
    rest = (count - 1) // 2
    if rest:
        other = z.conj().map(lambda part: _zyx._flip(part[..., 1:rest + 1], [part.ndim - 1]))
        z = Complex(*[_zyx._concat(list(each), z.ndim - 1) for each in ((z.real, other.real), (z.imag, other.imag))])
    return transformed(z, 1).real
