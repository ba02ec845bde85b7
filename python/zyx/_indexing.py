# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""x[...] by arrays, and x[...] = v."""
import math

from . import _zyx
from ._creation import asarray
from ._zyx import Array

int64 = _zyx.int64


def _from_front(positions, extent):
    """Negative positions count from the end."""
    if positions.dtype.is_float or positions.dtype is _zyx.bool:
        raise IndexError(f"index: positions are integers, not {positions.dtype!r}")
    positions = _zyx._cast(positions, int64)
    return _zyx._where(_zyx.less(positions, 0), _zyx.add(positions, extent), positions)


def _expanded(x, key):
    """The parts of a key with slices for an ellipsis, one for each dimension or newaxis."""
    parts = list(key) if isinstance(key, tuple) else [key]
    for part in parts:
        if isinstance(part, Array) and part.dtype is _zyx.bool:
            raise IndexError("index: a mask of bools stands alone, and x[mask] = v takes a number; zyx.where() chooses by "
                             "data, zyx.nonzero() finds positions")
        if isinstance(part, Array) and part.dtype.is_float:
            raise IndexError(f"index: positions are integers, not {part.dtype!r}")
    count = sum(part is not None and part is not Ellipsis for part in parts)
    if not any(part is Ellipsis for part in parts):
        parts.append(Ellipsis)
    if count > x.ndim:
        raise IndexError(f"index: an array of {x.ndim} dimensions has {count} indices")
    at = next(i for i, part in enumerate(parts) if part is Ellipsis)
    return parts[:at] + [slice(None)] * (x.ndim - count) + parts[at + 1:]


def _masked(x, mask):
    """The elements, or slices, where a mask of the first dimensions holds. Computes the mask now, as it says how many."""
    if mask.shape != x.shape[:mask.ndim]:
        raise IndexError(f"index: a mask of the shape {mask.shape} for an array of the shape {x.shape}")
    if _zyx._is_capturing():
        raise IndexError("index: data says how many elements a mask of bools chooses, which no program can be made for; "
                         "zyx.where() chooses by data")
    count, rest = math.prod(mask.shape), x.shape[mask.ndim:]
    if count == 0:
        return _zyx._full((0,) + rest, 0, x.dtype)
    places = _zyx._nonzero(_zyx._reshape(mask, (count,)))
    return _zyx._take(_zyx._reshape(x, (count,) + rest), _zyx._reshape(places, (places.size,)), 0)


def get(x, key):
    if isinstance(key, Array) and key.dtype is _zyx.bool:
        return _masked(x, key)
    parts = _expanded(x, key)
    arrays = [i for i, part in enumerate(parts) if isinstance(part, Array)]
    others = [part for part in parts if not isinstance(part, Array)]
    if all(hasattr(part, "__index__") for part in others) and len(parts) == x.ndim and len(arrays) + len(others) > 1:
        # Integers for all dimensions: one position of all elements.
        flat = None
        for extent, part in zip(x.shape, parts):
            if not isinstance(part, Array):
                part = asarray(part.__index__(), dtype=int64)
            here = _from_front(part, extent)
            flat = here if flat is None else _zyx.add(_zyx.multiply(flat, extent), here)
        return _zyx._take(_zyx._reshape(x, (x.size,)), flat, 0)
    if len(arrays) > 1 or any(hasattr(part, "__index__") for part in others):
        raise IndexError("index: arrays beside integers, or several of them, choose where all dimensions have one; "
                         "zyx.take() and zyx.take_along_axis() choose along one dimension")
    at = arrays[0]
    rest = list(parts)
    rest[at] = slice(None)
    sliced = x[tuple(rest)]
    positions = parts[at]
    return _zyx._take(sliced, _from_front(positions, sliced.shape[at]), at)


def set(x, key, value):
    """What x becomes by x[key] = value."""
    if isinstance(value, _zyx.Parameter):
        value = value.value
    if not isinstance(value, Array):
        value = asarray(value, dtype=x.dtype if isinstance(value, (bool, int, float)) and _is_kind(value, x) else None)
    if value.dtype is not x.dtype:
        from ._dtypes import promote
        if promote(value.dtype, x.dtype) is not x.dtype:
            raise TypeError(f"x[...] = v: {value.dtype!r} would lose digits in an array of {x.dtype!r}; zyx.astype() "
                            "says what is meant")
        value = _zyx._cast(value, x.dtype)
    if isinstance(key, Array) and key.dtype is _zyx.bool:
        if key.shape != x.shape:
            raise IndexError(f"x[mask] = v: the mask has the shape {key.shape}, the array {x.shape}")
        if value.ndim != 0:
            raise IndexError("x[mask] = v: v is one number; zyx.where() chooses among arrays")
        return _zyx._where(key, value, x)
    places = _zyx._reshape(_zyx._arange(0, x.size, 1, int64), x.shape)[key]
    extra = value.ndim - places.ndim
    if extra > 0 and value.shape[:extra] == (1,) * extra:
        value = _zyx._reshape(value, value.shape[extra:])
    if value.shape != places.shape:
        try:
            value = _zyx._expand(value, places.shape)
        except _zyx.Error:
            raise ValueError(f"x[...] = v: the shape {value.shape} does not broadcast to {places.shape}") from None
    if places.size == 0:
        return x
    count = math.prod(places.shape)
    flat = _zyx._scatter(_zyx._reshape(x, (x.size,)), _zyx._reshape(places, (count,)),
                         _zyx._reshape(value, (count,)), 0, "set")
    return _zyx._reshape(flat, x.shape)


def _is_kind(value, x):
    if isinstance(value, bool):
        return x.dtype is _zyx.bool
    if isinstance(value, int):
        return x.dtype is not _zyx.bool
    return x.dtype.is_float
