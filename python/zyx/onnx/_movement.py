# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that move, choose and make elements."""
import math

from .. import _functions as F
from .. import _zyx
from .._creation import asarray
from . import _types
from ._bounded import chosen, distinct, result
from ._elementwise import axes_of, cast, full, where
from ._model import ModelError, known, op

int64 = _zyx.int64


def iota(shape, axis):
    """Positions along an axis, which broadcast to a shape."""
    own = [1] * len(shape)
    own[axis] = shape[axis]
    return _zyx._reshape(_zyx._arange(0, shape[axis], 1, int64), own)


def from_front(positions, extent):
    positions = cast(positions, int64)
    return where(positions < 0, positions + extent, positions)


@op("Identity", takes_values=True)
def identity(n, x):
    return [x]


@op("Constant", keeps_type=True, takes_values=True)
def constant(n):
    for name, dtype in (("value_float", _zyx.float32), ("value_floats", _zyx.float32), ("value_int", int64),
                        ("value_ints", int64)):
        found = n.attr(name)
        if found is not None:
            return known(found, dtype)
    tensor = n.attr("value")
    if tensor is None:
        n.refuse("a constant of strings or of a sparse tensor")
    cache = n.trace.model._constants
    if id(tensor) not in cache:
        cache[id(tensor)] = n.trace.model.tensor(tensor)
    return cache[id(tensor)]


@op("Shape")
def shape_of(n, x):
    begin, end = n.attr("start", 0), n.attr("end")
    return known(list(x.shape[slice(begin, end)]), int64)


@op("Size")
def size_of(n, x):
    return known(x.size, int64)


@op("ConstantOfShape")
def constant_of_shape(n, shape):
    tensor = n.attr("value")
    shape = n.ints(0)
    if tensor is None:
        return _zyx._full(shape, 0, _zyx.float32)
    value = n.trace.model.tensor(tensor)
    n.set_code(value.code)
    return full(shape, value.known, value.known.dtype)


@op("EyeLike")
def eye_like(n, x):
    dtype = _types.dtype_of(n.attr("dtype", n.code()))
    return _zyx._eye(x.shape[0], x.shape[1], n.attr("k", 0), dtype)


@op("Range")
def arange(n, start, limit, delta):
    first, last, step = n.number(0), n.number(1), n.number(2)
    count = max(0, math.ceil((last - first) / step))
    positions = _zyx._arange(0, count, 1, int64)
    if start.dtype.is_float:
        dtype = _zyx.float64 if start.dtype is _zyx.float64 else _zyx.float32
        return cast(cast(positions, dtype) * step + first, start.dtype)
    return cast(positions * step + first, start.dtype)


# Shapes


@op("Reshape", keeps_type=True)
def reshape(n, x, shape=None):
    shape = n.ints(1) if n.version >= 5 else n.need("shape")
    if not n.attr("allowzero", 0):
        if any(extent == 0 and at >= x.ndim for at, extent in enumerate(shape)):
            raise ModelError(f"the shape {shape} takes extents that {list(x.shape)} has not")
        shape = [x.shape[at] if extent == 0 else extent for at, extent in enumerate(shape)]
    return F.reshape(x, shape)


@op("Flatten", keeps_type=True)
def flatten(n, x):
    axis = n.attr("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return _zyx._reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@op("Squeeze", keeps_type=True)
def squeeze(n, x, axes=None):
    axes = axes_of(n, x)
    if axes is None:
        axes = [at for at, extent in enumerate(x.shape) if extent == 1]
    return F.squeeze(x, tuple(axes))


@op("Unsqueeze", keeps_type=True)
def unsqueeze(n, x, axes=None):
    return F.expand_dims(x, axis=tuple(n.ints(1) if n.has(1) else n.need("axes")))


@op("Transpose", keeps_type=True)
def transpose(n, x):
    return _zyx._permute(x, n.attr("perm", list(range(x.ndim))[::-1])) if x.ndim > 1 else x


@op("Expand", keeps_type=True)
def expand(n, x, shape):
    shape = F._broadcast_shape([x.shape, tuple(n.ints(1))], "Expand")
    return F.broadcast_to(x, shape)


@op("Tile", keeps_type=True)
def tile(n, x, repeats, axis=None):
    if n.version < 6:
        counts = [1] * x.ndim
        counts[n.ints(2)[0]] = n.ints(1)[0]
        return F.tile(x, counts)
    return F.tile(x, n.ints(1))


@op("Concat", keeps_type=True)
def concat(n, *inputs):
    return F.concat(inputs, axis=n.attr("axis", 1))


@op("Split", keeps_type=True)
def split(n, x, sizes=None):
    axis = n.attr("axis", 0) % x.ndim
    sizes = n.ints(1) if n.has(1) else n.attr("split")
    if sizes is None:
        count = n.attr("num_outputs", len(n.proto.output))
        each = -(-x.shape[axis] // count)
        sizes = [min(each, x.shape[axis] - each * i) for i in range(count)]
    return pieces(x, sizes, axis)


def pieces(x, sizes, axis):
    if sum(sizes) != x.shape[axis] or any(size < 0 for size in sizes):
        raise ModelError(f"pieces of {sizes} of an extent of {x.shape[axis]}")
    key, start, parts = [slice(None)] * x.ndim, 0, []
    for size in sizes:
        key[axis] = slice(start, start + size)
        parts.append(x[tuple(key)])
        start += size
    return parts


@op("Slice", keeps_type=True)
def slice_of(n, x, *_):
    if n.version < 10:
        starts, ends, axes, steps = n.need("starts"), n.need("ends"), n.attr("axes"), None
    else:
        starts, ends, axes, steps = n.ints(1), n.ints(2), n.ints(3), n.ints(4)
    axes = list(range(len(starts))) if axes is None else axes
    key = [slice(None)] * x.ndim
    for at, axis in enumerate(axes):
        step = 1 if steps is None else steps[at]
        extent, start, end = x.shape[axis], starts[at], ends[at]
        start, end = (each + extent if each < 0 else each for each in (start, end))
        if step > 0:
            start, end = min(max(start, 0), extent), min(max(end, 0), extent)
        else:
            start, end = min(max(start, 0), extent - 1), min(max(end, -1), extent - 1)
            end = None if end < 0 else end
        key[axis] = slice(start, end, step)
    return x[tuple(key)] if x.ndim else x


def padded(x, low, high, value):
    """A constant around an array, or elements less where numbers are negative."""
    if not any(low) and not any(high):
        return x
    if x.dtype is _zyx.bool:
        return cast(_zyx._pad(cast(x, _zyx.uint8), low, high, float(value)), _zyx.bool)
    return _zyx._pad(x, low, high, float(value))


@op("Pad", keeps_type=True)
def pad(n, x, pads=None, value=None, axes=None):
    if n.version < 11:
        pads, value = n.attr("pads", n.attr("paddings")), n.attr("value", 0.0)
        axes = None
    else:
        pads, value, axes = n.ints(1), n.number(2, 0), n.ints(3)
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    low, high = [0] * x.ndim, [0] * x.ndim
    for at, axis in enumerate(axes):
        low[axis], high[axis] = pads[at], pads[at + len(axes)]
    mode = n.attr("mode", "constant")
    if mode == "constant":
        if not x.dtype.is_float and abs(value) > 2**53:
            n.refuse(f"padding of {value}, which no double is")
        return padded(x, low, high, value)
    for axis in range(x.ndim):
        extent = x.shape[axis]
        if low[axis] or high[axis]:
            if extent == 0:
                raise ModelError(f"axis {axis} has no elements to repeat")
            places = range(-low[axis], extent + high[axis])
            if mode == "edge":
                places = [min(max(place, 0), extent - 1) for place in places]
            elif mode == "wrap":
                places = [place % extent for place in places]
            elif mode == "reflect":
                period = max(2 * extent - 2, 1)
                places = [min(place % period, period - place % period) for place in places]
            else:
                n.refuse(f"the mode '{mode}'")
            x = _zyx._take(x, asarray(places, dtype=int64), axis)
    return x


@op("CenterCropPad")
def center_crop_pad(n, x, shape):
    axes = n.attr("axes", list(range(x.ndim)))
    low, high = [0] * x.ndim, [0] * x.ndim
    for axis, target in zip(axes, n.ints(1)):
        more = target - x.shape[axis]
        low[axis] = more // 2 if more >= 0 else -(-more // 2)
        high[axis] = more - low[axis]
    return padded(x, low, high, 0)


@op("DepthToSpace")
def depth_to_space(n, x):
    batch, channels, *extents = x.shape
    block = n.need("blocksize")
    if n.attr("mode", "DCR") == "DCR":
        x = _zyx._reshape(x, (batch, block, block, channels // block**2, *extents))
        x = _zyx._permute(x, (0, 3, 4, 1, 5, 2))
    else:
        x = _zyx._reshape(x, (batch, channels // block**2, block, block, *extents))
        x = _zyx._permute(x, (0, 1, 4, 2, 5, 3))
    return _zyx._reshape(x, (batch, channels // block**2, extents[0] * block, extents[1] * block))


@op("SpaceToDepth")
def space_to_depth(n, x):
    batch, channels, height, width = x.shape
    block = n.need("blocksize")
    x = _zyx._reshape(x, (batch, channels, height // block, block, width // block, block))
    order = (0, 3, 5, 1, 2, 4) if n.attr("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    return _zyx._reshape(_zyx._permute(x, order), (batch, channels * block**2, height // block, width // block))


@op("Trilu")
def trilu(n, x, k=None):
    k = n.number(1, 0)
    rows, columns = iota(x.shape, x.ndim - 2), iota(x.shape, x.ndim - 1)
    keeps = columns - rows >= k if n.attr("upper", 1) else columns - rows <= k
    if x.size == 0:
        return x
    return where(F.broadcast_to(keeps, x.shape), x, full((), 0, x.dtype))


@op("ReverseSequence")
def reverse_sequence(n, x, lengths):
    batch, time = n.attr("batch_axis", 1), n.attr("time_axis", 0)
    own = [1] * x.ndim
    own[batch] = x.shape[batch]
    lengths = _zyx._reshape(cast(lengths, int64), own)
    places = iota(x.shape, time)
    places = where(places < lengths, lengths - 1 - places, places)
    return _zyx._take_along_axis(x, F.broadcast_to(places, x.shape), time)


# Choices


@op("Gather", keeps_type=True)
def gather(n, x, indices):
    return F.take(x, indices, axis=n.attr("axis", 0))


@op("GatherElements", keeps_type=True)
def gather_elements(n, x, indices):
    axis = n.attr("axis", 0) % x.ndim
    key = [slice(0, extent) for extent in indices.shape]
    key[axis] = slice(None)
    return F.take_along_axis(x[tuple(key)], indices, axis=axis)


def _flat(indices, shape, depth):
    """One position for each tuple of positions along the first axes of a shape, and -1 where one is none."""
    flat, fits = None, None
    for at in range(depth):
        here = from_front(indices[..., at], shape[at])
        is_one = (here >= 0) & (here < shape[at])
        fits = is_one if fits is None else fits & is_one
        flat = here if flat is None else flat * shape[at] + here
    return where(fits, flat, -1)


@op("GatherND", keeps_type=True)
def gather_nd(n, x, indices):
    batch, depth = n.attr("batch_dims", 0), indices.shape[-1]
    outer = x.shape[:batch]
    count, inner = math.prod(outer), x.shape[batch:batch + depth]
    flat = _flat(indices, inner, depth)
    if batch:
        own = _zyx._reshape(_zyx._arange(0, count, 1, int64), outer + (1,) * (flat.ndim - batch))
        flat = where(flat < 0, flat, flat + own * math.prod(inner))
    rest = x.shape[batch + depth:]
    rows = _zyx._reshape(x, (count * math.prod(inner), *rest))
    return _zyx._take(rows, flat, 0)


MODES = {"none": "set", "add": "add", "mul": "mul", "max": "max", "min": "min"}


@op("Scatter", "ScatterElements", keeps_type=True)
def scatter_elements(n, x, indices, updates):
    axis, mode = n.attr("axis", 0) % x.ndim, MODES[n.attr("reduction", "none")]
    positions = from_front(indices, x.shape[axis])
    if all(i == axis or extent == x.shape[i] for i, extent in enumerate(indices.shape)):
        return _zyx._put_along_axis(x, positions, updates, axis, mode)
    fits, flat = (positions >= 0) & (positions < x.shape[axis]), None
    for at, extent in enumerate(x.shape):
        here = positions if at == axis else F.broadcast_to(iota(indices.shape, at), indices.shape)
        flat = here if flat is None else flat * extent + here
    flat = _zyx._reshape(where(fits, flat, -1), (indices.size,))
    result = _zyx._scatter(_zyx._reshape(x, (x.size,)), flat, _zyx._reshape(updates, (indices.size,)), 0, mode)
    return _zyx._reshape(result, x.shape)


@op("ScatterND", keeps_type=True)
def scatter_nd(n, x, indices, updates):
    depth = indices.shape[-1]
    flat = _flat(indices, x.shape, depth)
    rest = x.shape[depth:]
    rows = _zyx._reshape(x, (math.prod(x.shape[:depth]), *rest))
    result = _zyx._scatter(rows, _zyx._reshape(flat, (flat.size,)), _zyx._reshape(updates, (flat.size, *rest)), 0,
                           MODES[n.attr("reduction", "none")])
    return _zyx._reshape(result, x.shape)


@op("TensorScatter", keeps_type=True)
def tensor_scatter(n, cache, update, begins=None):
    axis = n.attr("axis", -2) % cache.ndim
    places = iota(update.shape, axis)
    if begins is not None:
        places = places + _zyx._reshape(cast(begins, int64), (-1,) + (1,) * (cache.ndim - 1))
    if n.attr("mode", "linear") == "circular":
        places = _zyx.remainder(places, cache.shape[axis])
    return _zyx._put_along_axis(cache, F.broadcast_to(places, update.shape), update, axis, "set")


@op("OneHot")
def one_hot(n, indices, depth, values):
    depth, axis = int(n.number(1)), n.attr("axis", -1)
    axis += indices.ndim + 1 if axis < 0 else 0
    own = [1] * (indices.ndim + 1)
    own[axis] = depth
    places = from_front(_zyx._unsqueeze(indices, axis), depth)
    hits = places == _zyx._reshape(_zyx._arange(0, depth, 1, int64), own)
    return where(hits, values[1], values[0])


@op("TopK")
def top_k(n, x, k=None):
    count = n.ints(1)[0] if n.version >= 10 else n.need("k")
    return _zyx._topk(x, count, n.attr("axis", -1), bool(n.attr("largest", 1)))


# Results as large as data says


@op("NonZero")
def nonzero(n, x):
    x = x if x.ndim else _zyx._reshape(x, (1,))
    if x.size == 0:
        return full((x.ndim, 0), 0, int64)
    places, count = chosen(_zyx._reshape(x if x.dtype is _zyx.bool else x != 0, (x.size,)))
    columns = []
    for extent in reversed(x.shape):
        columns.append(_zyx.remainder(places, extent))
        places = _zyx.floor_divide(places, extent)
    return result(n, _zyx._stack(columns[::-1], 0), count, 1)


@op("Compress", keeps_type=True)
def compress(n, x, condition):
    axis = n.attr("axis")
    x, axis = (_zyx._reshape(x, (x.size,)), 0) if axis is None else (x, axis % x.ndim)
    if condition.ndim != 1 or condition.shape[0] > x.shape[axis]:
        raise ModelError(f"the condition has the shape {list(condition.shape)}, and the axis {x.shape[axis]} elements")
    if condition.shape[0] == 0:
        return x[(slice(None),) * axis + (slice(0),)]
    places, count = chosen(condition)
    return result(n, _zyx._take(x, places, axis), count, axis)


# Of rows that are sorted, as many columns; a sort of each is a part of the program.
MOST_COLUMNS = 32


@op("Unique")
def unique(n, x):
    axis = n.attr("axis")
    x, axis = (_zyx._reshape(x, (x.size,)), 0) if axis is None else (x, axis % x.ndim)
    extent = x.shape[axis]
    width = x.size // max(extent, 1)
    if x.size and width <= MOST_COLUMNS:
        rows = _zyx._reshape(F.moveaxis(x, axis, 0), (extent, width))
        first, counts, inverse, count = distinct([rows[:, at] for at in range(width)], n.attr("sorted", 1))
        return result(n, _zyx._take(x, first, axis), count, axis), result(n, first, count), inverse, result(n, counts, count)
    n.data(0)
    moved = F.moveaxis(x, axis, 0)
    keys = [tuple(row) for row in _zyx._reshape(moved, (x.shape[axis], x.size // max(x.shape[axis], 1))).tolist()]
    first, inverse, counts = {}, [], {}
    for at, key in enumerate(keys):
        first.setdefault(key, at)
        counts[key] = counts.get(key, 0) + 1
    order = sorted(first) if n.attr("sorted", 1) else list(first)
    place = {key: at for at, key in enumerate(order)}
    inverse = [place[key] for key in keys]
    positions = asarray([first[key] for key in order], dtype=int64)
    values = _zyx._take(x, positions, axis)
    return (values, positions, asarray(inverse, dtype=int64), asarray([counts[key] for key in order], dtype=int64))
