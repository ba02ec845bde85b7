# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms, complex and of real numbers."""
import math

from .._complex import Complex
from .._fourier import along, half_to_real, transformed
from ._complex import complexes
from ._lower import aten, full, result_dtype


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

    z = along(z, dims[-1], lambda each: half_to_real(each, count))
    return _normal(z, mode, shape, dims)
