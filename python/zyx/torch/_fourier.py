# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms: products with small matrices, which larger extents are made of as Cooley and Tukey did, and extents with
large primes as convolutions, as Bluestein did."""
import math

import torch

from .. import _functions as F
from .. import _zyx
from ._complex import Complex, complexes
from ._lower import DTYPES, aten, full, pad, reshape, result_dtype

# Extents up to the first one are one product; primes up to the second one, too.
DENSE, LARGE_PRIME = 64, 1024


def table(values, dtype):
    """An array of numbers of PyTorch's."""
    names = {zyx: torch_dtype for torch_dtype, zyx in DTYPES.items()}
    return _zyx._from_bytes(values.to(names[dtype]).contiguous().numpy().tobytes(), dtype, tuple(values.shape))


def roots(products, count, sign):
    """The powers of a root of unity, by their exponents; of whole numbers, so that large ones lose no digits."""
    angles = torch.remainder(products, count).double() * (sign * 2 * math.pi / count)
    return torch.cos(angles), torch.sin(angles)


def _outer(a, b):
    return torch.outer(torch.arange(a), torch.arange(b))


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
            y, weights = z, torch.cat([c, s], 1)
        else:
            y = _zyx._concat([z.real, z.imag], z.ndim - 1)
            weights = torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])
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
    squares = torch.arange(count)**2
    c, s = roots(squares, 2 * count, sign)
    filters = torch.zeros(whole, dtype=torch.complex128)
    filters[:count] = torch.complex(c, -s)
    filters[whole - count + 1:] = torch.complex(c, -s)[1:].flip(0)
    filters = torch.fft.fft(filters) / whole
    chirp = Complex(table(c, dtype), table(s, dtype))
    y = (z * chirp).map(lambda part: pad(part, [0] * part.ndim, [0] * (part.ndim - 1) + [whole - count]))
    y = transformed(y, -1) * Complex(table(filters.real, dtype), table(filters.imag, dtype))
    y = transformed(y, 1).map(lambda part: part[..., :count])
    return y * chirp


def along(z, axis, function):
    def moved(x, source, target):
        return x.map(lambda part: F.moveaxis(part, source, target)) if isinstance(x, Complex) else F.moveaxis(x, source, target)

    return moved(function(moved(z, axis, -1)), -1, axis)


def _normal(z, mode, shape, dims):
    """0 is no factor, 1 that of a unitary transform, 2 that of an inverse."""
    count = math.prod(shape[dim] for dim in dims)
    factor = {0: 1.0, 1: 1 / math.sqrt(max(count, 1)), 2: 1 / max(count, 1)}[mode]
    return z if factor == 1.0 else z * factor


@complexes(aten._fft_r2c.default)
def real_to_complex(node, x, dims, mode, onesided):
    dims = [dim % x.ndim for dim in dims]
    if x.size == 0:
        shape = node.meta["val"].shape
        return Complex(full(shape, 0, x.dtype), full(shape, 0, x.dtype))
    kept = x.shape[dims[-1]] // 2 + 1 if onesided else x.shape[dims[-1]]
    z = along(x, dims[-1], lambda each: transformed(each, -1).map(lambda part: part[..., :kept]))
    for dim in dims[:-1]:
        z = along(z, dim, lambda each: transformed(each, -1))
    return _normal(z, mode, x.shape, dims)


@complexes(aten._fft_c2c.default)
def complex_to_complex(node, z, dims, mode, forward):
    dims = [dim % z.ndim for dim in dims]
    for dim in dims if z.size else []:
        z = along(z, dim, lambda each: transformed(each, -1 if forward else 1))
    return _normal(z, mode, z.shape, dims)


@complexes(aten._fft_c2r.default)
def complex_to_real(node, z, dims, mode, count):
    dims, shape = [dim % z.ndim for dim in dims], tuple(node.meta["val"].shape)
    if z.size == 0 or 0 in shape:
        return full(shape, 0, result_dtype(node))
    for dim in dims[:-1]:
        z = along(z, dim, lambda each: transformed(each, 1))

    def last(z):
        # The other half is that of a transform of real numbers.
        z = z.map(lambda part: part[..., :count // 2 + 1])
        rest = (count - 1) // 2
        if rest:
            other = z.conj().map(lambda part: _zyx._flip(part[..., 1:rest + 1], [part.ndim - 1]))
            z = Complex(*[_zyx._concat(list(each), z.ndim - 1) for each in ((z.real, other.real), (z.imag, other.imag))])
        return transformed(z, 1).real

    return _normal(along(z, dims[-1], last), mode, shape, dims)
