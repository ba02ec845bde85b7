# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the doors for graphs of other frameworks make expressions of: steps that the namespace of arrays does not name."""
import struct

from . import _zyx

where = _zyx._where
int64, float32, float64 = _zyx.int64, _zyx.float32, _zyx.float64


def cast(x, dtype):
    return x if x.dtype is dtype else _zyx._cast(x, dtype)


def wide(x):
    """Small floats as float32: ops of several steps round once."""
    return cast(x, float32) if x.dtype.is_float and x.dtype.itemsize < 4 else x


def full(shape, number, dtype):
    """An array of one number."""
    if dtype.is_float:
        return _zyx._full(tuple(shape), float(number), dtype) if dtype.itemsize == 8 else cast(
            _zyx._full(tuple(shape), rounded(number), float32), dtype)
    if dtype is _zyx.bool:
        return _zyx._full(tuple(shape), float(bool(number)), dtype)
    number = wrapped(int(number), dtype)
    if abs(number) <= 2**53:
        return _zyx._full(tuple(shape), float(number), dtype)
    return (_zyx._full_i64 if number < 2**63 else _zyx._full_u64)(tuple(shape), number, dtype)


def rounded(number):
    """The float of 32 bits."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def wrapped(number, dtype):
    """The integer of so many bits, as a cast of C++ has it."""
    bits = 8 * dtype.itemsize
    number &= (1 << bits) - 1
    return number - (1 << bits) if dtype.is_signed and number >> (bits - 1) else number


def reshape(x, shape):
    shape = tuple(shape)
    return x if x.shape == shape else _zyx._reshape(x, shape)


def expand(x, shape):
    shape = tuple(shape)
    return x if x.shape == shape else _zyx._expand(x, shape)


def permute(x, order):
    return x if list(order) == list(range(x.ndim)) else _zyx._permute(x, list(order))


def iota(shape, axis, dtype=int64):
    """Positions along an axis, which broadcast to a shape."""
    own = [1] * len(shape)
    own[axis] = shape[axis]
    return reshape(_zyx._arange(0, shape[axis], 1, dtype), own)


def from_front(positions, extent):
    """Negative positions count from the end."""
    positions = cast(positions, int64)
    return where(_zyx.less(positions, 0), _zyx.add(positions, extent), positions)


def pad(x, low, high, value=0.0):
    if not any(low) and not any(high):
        return x
    if x.dtype is _zyx.bool:
        return cast(_zyx._pad(cast(x, _zyx.uint8), list(low), list(high), float(value)), _zyx.bool)
    return _zyx._pad(x, list(low), list(high), float(value))


def cut(x, axis, start, stop):
    key = [slice(None)] * x.ndim
    key[axis] = slice(start, stop)
    return x[tuple(key)]


def axes_of(dims, rank):
    """Dimensions from the front; all where none is named."""
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(rank))
    dims = dims if isinstance(dims, (list, tuple)) else [dims]
    return [dim % rank if rank else 0 for dim in dims]


def gradients(function, arrays, seed):
    """The gradients of the sum of function(*arrays) * seed with respect to these arrays."""
    sources, seen = [], set()
    for array in arrays:
        source = _zyx._as_source(array)
        if _zyx._id(source) in seen:
            # Two arguments may be one array: a factor that is data makes another node of it.
            source = array * cast(_zyx._from_bytes(struct.pack("<f", 1.0), float32, ()), array.dtype)
        seen.add(_zyx._id(source))
        sources.append(source)
    result = function(*sources)
    return _zyx._gradient(result, sources, cast(seed, result.dtype), True)
