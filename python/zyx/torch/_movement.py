# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that move, choose and make elements."""
import math

import torch

from .. import _functions as F
from .. import _zyx
from .._creation import asarray
from ._lower import (Refused, aten, axes_of, cast, cut, expand, float64, from_front, full, int64, iota, meta_of, op,
                     packets, pad, permute, reshape, result_dtype, where)


def shape_of(node, index=None):
    found = node.meta["val"] if index is None else node.meta["val"][index]
    return tuple(found.shape)


# Creation


@op(aten.full.default)
def full_of(node, size, value, **_):
    return full(size, value, result_dtype(node))


@op(aten.scalar_tensor.default)
def scalar_tensor(node, value, **_):
    return full((), value, result_dtype(node))


@op(aten.full_like.default)
def full_like(node, x, value, **_):
    return full(x.shape, value, result_dtype(node))


@op(aten.zeros.default, aten.zeros_like.default, aten.new_zeros.default)
def zeros(node, *arguments, **_):
    return full(_size(arguments), 0, result_dtype(node))


@op(aten.ones.default, aten.ones_like.default, aten.new_ones.default)
def ones(node, *arguments, **_):
    return full(_size(arguments), 1, result_dtype(node))


def _size(arguments):
    """Of a shape, or of an array and perhaps a shape."""
    if len(arguments) > 1 and isinstance(arguments[1], (list, tuple)):
        return arguments[1]
    return arguments[0] if isinstance(arguments[0], (list, tuple)) else arguments[0].shape


@op(aten.empty.memory_format, aten.empty_permuted.default, aten.empty_strided.default, aten.empty_like.default)
def empty(node, size, *_, **__):
    # Nobody knows what is in it; here it is zeros.
    return full(_size([size]), 0, result_dtype(node))


@op(aten.new_empty.default, aten.new_empty_strided.default)
def new_empty(node, x, size, *_, **__):
    return full(size, 0, result_dtype(node))


@op(aten.arange.start_step, aten.arange.default, aten.arange.start)
def arange(node, start, end=None, step=1, **_):
    if end is None:
        start, end = 0, start
    dtype = result_dtype(node)
    if all(isinstance(number, int) for number in (start, end, step)):
        return _zyx._arange(start, end, step, dtype) if not dtype.is_float or abs(end) < 2**24 else cast(
            _zyx._arange(start, end, step, int64), dtype)
    # Integers are made of numbers whose digits behind the point are cut off; the graph says how many of them.
    count = node.meta["val"].shape[0]
    count = count if isinstance(count, int) else max(0, math.ceil((end - start) / step))
    if not dtype.is_float:
        return cast(_zyx._arange(0, count, 1, int64) * int(step) + int(start), dtype)
    positions = cast(_zyx._arange(0, count, 1, int64), float64)
    return cast(positions * float(step) + float(start), dtype)


@op(aten.eye.default, aten.eye.m)
def eye(node, rows, columns=None, **_):
    return _zyx._eye(rows, rows if columns is None else columns, 0, result_dtype(node))


def _triangle(upper):
    def made(node, rows, columns, offset=0, **_):
        found = [(i, j) for i in range(rows) for j in range(columns) if (j - i >= offset if upper else j - i <= offset)]
        if not found:
            return full((2, 0), 0, result_dtype(node))
        return asarray([[i for i, _ in found], [j for _, j in found]], dtype=result_dtype(node))

    return made


op(aten.triu_indices.default)(_triangle(True))
op(aten.tril_indices.default)(_triangle(False))


# Shapes


@op(aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.view_copy.default,
    aten._reshape_alias.default)
def view(node, x, size, *_):
    size = list(size)
    if -1 in size:
        known = math.prod(extent for extent in size if extent != -1)
        size[size.index(-1)] = x.size // known if known else 0
    return reshape(x, size)


@op(aten.expand.default, aten.expand_copy.default)
def expand_of(node, x, size, **_):
    lead = len(size) - x.ndim
    return expand(reshape(x, (1,) * lead + x.shape),
                  [x.shape[axis - lead] if extent == -1 else extent for axis, extent in enumerate(size)])


@op(aten.permute.default, aten.permute_copy.default)
def permute_of(node, x, order):
    return permute(x, axes_of(order, x.ndim) if order else [])


@op(aten.transpose.int)
def transpose(node, x, a, b):
    if x.ndim == 0:
        return x
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return permute(x, order)


@op(aten.t.default)
def t(node, x):
    return permute(x, list(range(x.ndim))[::-1])


@op(aten.unsqueeze.default, aten.unsqueeze_copy.default)
def unsqueeze(node, x, dim):
    dim += x.ndim + 1 if dim < 0 else 0
    return reshape(x, x.shape[:dim] + (1,) + x.shape[dim:])


@op(*packets(aten.squeeze), *packets(aten.squeeze_copy))
def squeeze(node, x, dims=None):
    axes = range(x.ndim) if dims is None else axes_of(dims, x.ndim) if dims != [] else []
    return reshape(x, [extent for axis, extent in enumerate(x.shape) if axis not in axes or extent != 1])


@op(aten.flip.default)
def flip(node, x, dims):
    axes = axes_of(dims, x.ndim) if dims else []
    return _zyx._flip(x, axes) if axes and x.ndim else x


@op(aten.roll.default)
def roll(node, x, shifts, dims=()):
    return F.roll(x, tuple(shifts) if dims else shifts[0], axis=tuple(dims) if dims else None)


@op(aten.repeat.default)
def repeat(node, x, counts):
    return F.tile(x, tuple(counts)) if counts else x


@op(aten.cat.default)
def cat(node, arrays, dim=0):
    dtype = result_dtype(node)
    # An array of one dimension without elements has been let pass since long ago.
    rank = len(node.meta["val"].shape)
    arrays = [cast(x, dtype) for x in arrays if x.shape != (0,) or rank == 1]
    return _zyx._concat(arrays, dim % rank) if len(arrays) > 1 else arrays[0]


@op(aten.stack.default)
def stack(node, arrays, dim=0):
    dtype = result_dtype(node)
    return _zyx._stack([cast(x, dtype) for x in arrays], dim)


def _bounds(start, end, extent):
    start, end = 0 if start is None else start, extent if end is None else end
    start, end = (each + extent if each < 0 else each for each in (start, end))
    start = min(max(start, 0), extent)
    return start, min(max(end, start), extent)


@op(aten.slice.Tensor, aten.slice_copy.Tensor)
def slice_of(node, x, dim=0, start=None, end=None, step=1):
    axis = dim % x.ndim
    start, end = _bounds(start, end, x.shape[axis])
    key = [slice(None)] * x.ndim
    key[axis] = slice(start, end, step)
    return x[tuple(key)]


@op(aten.select.int, aten.select_copy.int)
def select(node, x, dim, index):
    key = [slice(None)] * x.ndim
    key[dim % x.ndim] = index
    return x[tuple(key)]


@op(aten.narrow.default, aten.narrow_copy.default)
def narrow(node, x, dim, start, length):
    axis = dim % x.ndim
    start += x.shape[axis] if start < 0 else 0
    return cut(x, axis, start, start + length)


def pieces(x, sizes, axis):
    start, parts = 0, []
    for size in sizes:
        parts.append(cut(x, axis, start, start + size))
        start += size
    return parts


@op(aten.split_with_sizes.default, aten.split_with_sizes_copy.default)
def split_with_sizes(node, x, sizes, dim=0):
    return pieces(x, sizes, dim % x.ndim)


@op(aten.split.Tensor, aten.split_copy.Tensor)
def split(node, x, size, dim=0):
    axis = dim % x.ndim
    extent = x.shape[axis]
    return pieces(x, [min(size, extent - at) for at in range(0, extent, size)] if size and extent else [extent], axis)


@op(aten.unbind.int, aten.unbind_copy.int)
def unbind(node, x, dim=0):
    return list(F.unstack(x, axis=dim))


@op(aten.constant_pad_nd.default)
def constant_pad(node, x, amounts, value=0):
    low, high = [0] * x.ndim, [0] * x.ndim
    for i in range(len(amounts) // 2):
        low[x.ndim - 1 - i], high[x.ndim - 1 - i] = amounts[2 * i], amounts[2 * i + 1]
    if not any(low) and not any(high):
        return x
    if isinstance(value, float) and not x.dtype.is_float:
        value = int(value)
    if x.dtype in (int64, _zyx.uint64) and abs(value) > 2**53:
        raise Refused(f"padding of {value}, which no double is")
    return pad(x, low, high, value)


@op(aten.diagonal.default, aten.diagonal_copy.default)
def diagonal(node, x, offset=0, dim1=0, dim2=1):
    a, b = dim1 % x.ndim, dim2 % x.ndim
    count = shape_of(node)[-1]
    rest = [axis for axis in range(x.ndim) if axis not in (a, b)]
    moved = permute(x, rest + [a, b])
    rows, columns = moved.shape[-2:]
    flat = reshape(moved, moved.shape[:-2] + (rows * columns,))
    if count == 0:
        return cut(flat, flat.ndim - 1, 0, 0)
    first = (-offset * columns) if offset < 0 else offset
    places = _zyx._arange(0, count, 1, int64) * (columns + 1) + first
    return _zyx._take(flat, places, flat.ndim - 1)


@op(aten.diagonal_scatter.default)
def diagonal_scatter(node, x, source, offset=0, dim1=0, dim2=1):
    a, b = dim1 % x.ndim, dim2 % x.ndim
    rest = [axis for axis in range(x.ndim) if axis not in (a, b)]
    moved = permute(x, rest + [a, b])
    rows, columns = moved.shape[-2:]
    count = source.shape[-1]
    flat = reshape(moved, moved.shape[:-2] + (rows * columns,))
    if count:
        first = (-offset * columns) if offset < 0 else offset
        places = _zyx._arange(0, count, 1, int64) * (columns + 1) + first
        flat = _zyx._scatter(flat, places, cast(source, x.dtype), flat.ndim - 1, "set")
    back = [0] * x.ndim
    for at, axis in enumerate(rest + [a, b]):
        back[axis] = at
    return permute(reshape(flat, moved.shape), back)


@op(aten.unfold.default, aten.unfold_copy.default)
def unfold(node, x, dim, size, step):
    if x.ndim == 0:
        return reshape(x, (1,)) if size else full((0,), 0, x.dtype)
    axis = dim % x.ndim
    moved = F.moveaxis(x, axis, -1)
    if size == 0:
        return full(shape_of(node), 0, x.dtype)
    windows = _zyx._sliding_windows(moved, [size], [step], [1])
    return F.moveaxis(windows, -2, axis)


def _strided_places(size, stride, offset):
    places = full((), offset, int64)
    for axis, (extent, step) in enumerate(zip(size, stride)):
        places = places + iota(size, axis) * step
    return expand(places, size)


def _order_of(x):
    """The axes of a tensor as they lie in its memory, or None where that has gaps or an element twice."""
    axes, step = sorted(range(x.ndim), key=lambda axis: (x.stride(axis), x.shape[axis])), 1
    for axis in axes:
        if x.shape[axis] != 1:
            if x.stride(axis) != step:
                return None
            step *= x.shape[axis]
    return axes[::-1]


def _limit_strided(node):
    x = meta_of(node.args[0])
    if isinstance(x, torch.Tensor) and 0 in x.shape:
        return None
    if not isinstance(x, torch.Tensor) or _order_of(x) is None:
        return "reads memory by strides of an array that is not dense"
    last = 0 if x.numel() == 0 else _first_of(node) + sum((extent - 1) * step for extent, step in zip(*_shape_of_strides(node)))
    if not 0 <= _first_of(node) or last >= x.numel():
        return "reads memory in front of an array, or behind it"
    return None


def _shape_of_strides(node):
    """The extents and strides of the view, which stand behind the arrays."""
    at = 2 if node.target is aten.as_strided_scatter.default else 1
    return node.args[at], node.args[at + 1]


def _first_of(node):
    """Where the view begins in its array, whose memory may begin behind that of another one."""
    at = 4 if node.target is aten.as_strided_scatter.default else 3
    offset = node.args[at] if len(node.args) > at else node.kwargs.get("storage_offset")
    return 0 if offset is None else offset - meta_of(node.args[0]).storage_offset()


@op(aten.as_strided.default, aten.as_strided_copy.default, limit=_limit_strided)
def as_strided(node, x, size, stride, offset=None):
    size = tuple(size)
    if math.prod(size) == 0:
        return full(size, 0, x.dtype)
    flat = reshape(permute(x, _order_of(meta_of(node.args[0]))), (x.size,))
    return _zyx._take(flat, _strided_places(size, stride, _first_of(node)), 0)


@op(aten.as_strided_scatter.default, limit=_limit_strided)
def as_strided_scatter(node, x, source, size, stride, offset=None):
    count = math.prod(size)
    if count == 0:
        return x
    order = _order_of(meta_of(node.args[0]))
    places = reshape(_strided_places(tuple(size), stride, _first_of(node)), (count,))
    lying = permute(x, order)
    flat = _zyx._scatter(reshape(lying, (x.size,)), places, reshape(cast(source, x.dtype), (count,)), 0, "set")
    return permute(reshape(flat, lying.shape), [order.index(axis) for axis in range(x.ndim)])


# Choices


def _limit_repeats(node):
    return "has as many results as data says" if node.kwargs.get("output_size") is None else None


@op(aten.repeat_interleave.Tensor, limit=_limit_repeats)
def repeat_interleave(node, repeats, *, output_size):
    """The number of each repetition's element: how many elements end before it."""
    count = node.meta["val"].shape[0]
    if repeats.size == 0 or count == 0:
        return full((count,), 0, repeats.dtype)
    ends = _zyx._cumsum(cast(repeats, int64), 0)
    is_behind = reshape(iota((count,), 0), (count, 1)) >= reshape(ends, (1, repeats.size))
    return cast(_zyx._sum(cast(is_behind, int64), [1], False), repeats.dtype)


@op(aten.index_select.default)
def index_select(node, x, dim, indices):
    if x.ndim == 0:
        return x
    return _zyx._take(x, cast(reshape(indices, (indices.size,)), int64), dim % x.ndim)


@op(aten.embedding.default)
def embedding(node, weight, indices, *_):
    return _zyx._take(weight, cast(indices, int64), 0)


@op(aten.gather.default)
def gather(node, x, dim, indices, **_):
    if x.ndim == 0 or indices.ndim == 0:
        return reshape(_zyx._take(reshape(x, (x.size,)), reshape(cast(indices, int64), (indices.size,)), 0), indices.shape)
    axis = dim % x.ndim
    key = [slice(0, extent) for extent in indices.shape]
    key[axis] = slice(None)
    if indices.size == 0:
        return full(indices.shape, 0, x.dtype)
    return _zyx._take_along_axis(x[tuple(key)], cast(indices, int64), axis)


def _flat_index(x, indices):
    """The axes of x in front that indices choose from, one position for each choice, and where its axes stand.

    As in NumPy: adjacent indices stand where they stood, others in front.
    """
    indices = list(indices) + [None] * (x.ndim - len(indices))
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    arrays = [indices[axis] for axis in axes]
    shape = F._broadcast_shape([array.shape for array in arrays], "index")
    flat = None
    for axis, array in zip(axes, arrays):
        extent = x.shape[axis]
        place = from_front(array, extent)
        # What is none has to stay so where extents are joined.
        flat = place if flat is None else flat * extent + place
    adjacent = axes == list(range(axes[0], axes[0] + len(axes)))
    return axes, expand(flat, shape), axes[0] if adjacent else 0


def _limit_masks(node):
    if any(index is not None and meta_of(index).dtype in (torch.bool, torch.uint8) for index in node.args[1]):
        return "has a mask among its indices: data says how large the result is"
    return None


@op(aten.index.Tensor, aten._unsafe_index.Tensor, limit=_limit_masks)
def index(node, x, indices):
    if all(each is None for each in indices):
        return x
    axes, flat, at = _flat_index(x, indices)
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    moved = permute(x, axes + rest)
    count = math.prod(x.shape[axis] for axis in axes)
    rows = reshape(moved, (count, *[x.shape[axis] for axis in rest]))
    found = _zyx._take(rows, flat, 0)
    # The axes of the choice come first.
    lead = flat.ndim
    order = list(range(lead, lead + at)) + list(range(lead)) + list(range(lead + at, found.ndim))
    return permute(found, order)


def _limit_puts(node):
    """A mask alone is a choice between two arrays."""
    indices = node.args[1]
    masks = [index for index in indices if index is not None and meta_of(index).dtype in (torch.bool, torch.uint8)]
    if not masks:
        return None
    values = meta_of(node.args[2])
    lone = len([index for index in indices if index is not None]) == 1 and indices[0] is not None
    if lone and all(extent == 1 for extent in values.shape) and meta_of(masks[0]).dtype is torch.bool:
        return None
    return "has a mask among its indices: data says how many elements are written"


@op(aten.index_put.default, aten._unsafe_index_put.default, limit=_limit_puts)
def index_put(node, x, indices, values, accumulate=False):
    values = cast(values, x.dtype)
    if indices and indices[0] is not None and indices[0].dtype is _zyx.bool:
        mask = reshape(indices[0], indices[0].shape + (1,) * (x.ndim - indices[0].ndim))
        value = reshape(values, ())
        if x.dtype is _zyx.bool:
            return (mask & value) | (F.logical_not(mask) & x)
        return where(expand(mask, x.shape), x + value if accumulate else value, x)
    axes, flat, at = _flat_index(x, indices)
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    inner = [x.shape[axis] for axis in rest]
    # Values as the choice has them, then its axes in front.
    shape = inner[:at] + list(flat.shape) + inner[at:]
    values = expand(reshape(values, (1,) * (len(shape) - values.ndim) + values.shape), shape)
    order = list(range(at, at + flat.ndim)) + list(range(at)) + list(range(at + flat.ndim, len(shape)))
    values = reshape(permute(values, order), (flat.size, *inner))
    if flat.size == 0 or x.size == 0:
        return x
    moved = permute(x, axes + rest)
    count = math.prod(x.shape[axis] for axis in axes)
    rows = reshape(moved, (count, *inner))
    if x.dtype is _zyx.bool:
        made = scattered_bools(rows, reshape(flat, (flat.size,)), values, 0, accumulate)
    else:
        made = _zyx._scatter(rows, reshape(flat, (flat.size,)), values, 0, "add" if accumulate else "set")
    back = [0] * x.ndim
    for place, axis in enumerate(axes + rest):
        back[axis] = place
    return permute(reshape(made, moved.shape), back)


def scattered_bools(x, places, values, axis, accumulate):
    made = _zyx._scatter(cast(x, _zyx.uint8), places, cast(values, _zyx.uint8), axis, "max" if accumulate else "set")
    return cast(made, _zyx.bool)


def put_along(x, axis, indices, updates, mode):
    """torch's scatter: positions of indices in the first elements of the other axes."""
    if indices.ndim == 0:
        indices = reshape(indices, (1,))
        updates = reshape(updates, (1,)) if updates.ndim == 0 else updates
    is_flat = x.ndim == 0
    x = reshape(x, (1,)) if is_flat else x
    if indices.size == 0:
        return reshape(x, ()) if is_flat else x
    updates = updates[tuple(slice(0, extent) for extent in indices.shape)] if updates.shape != indices.shape else updates
    dtype = x.dtype
    if dtype is _zyx.bool:
        mode = {"add": "max", "mul": "min"}.get(mode, mode)
        x, updates = cast(x, _zyx.uint8), cast(updates, _zyx.uint8)
    positions = cast(indices, int64)
    if all(at == axis or extent == x.shape[at] for at, extent in enumerate(indices.shape)):
        made = _zyx._put_along_axis(x, positions, updates, axis, mode)
    else:
        flat = None
        for at, extent in enumerate(x.shape):
            here = positions if at == axis else expand(iota(indices.shape, at), indices.shape)
            flat = here if flat is None else flat * extent + here
        made = _zyx._scatter(reshape(x, (x.size,)), reshape(flat, (indices.size,)), reshape(updates, (indices.size,)), 0,
                             mode)
        made = reshape(made, x.shape)
    made = cast(made, dtype)
    return reshape(made, ()) if is_flat else made


MODES = {"add": "add", "multiply": "mul", "sum": "add", "prod": "mul", "amax": "max", "amin": "min"}


@op(*packets(aten.scatter))
def scatter(node, x, dim, indices, source, *, reduce=None):
    axis = dim % x.ndim if x.ndim else 0
    if not hasattr(source, "dtype"):
        source = full(indices.shape, source, x.dtype)
    return put_along(x, axis, indices, cast(source, x.dtype), MODES[reduce] if reduce else "set")


@op(aten.scatter_add.default)
def scatter_add(node, x, dim, indices, source):
    return put_along(x, dim % x.ndim if x.ndim else 0, indices, source, "add")


@op(aten.scatter_reduce.two)
def scatter_reduce(node, x, dim, indices, source, reduce, *, include_self=True):
    axis = dim % x.ndim if x.ndim else 0
    dtype = x.dtype
    if indices.size == 0:
        return x
    wide_dtype = _zyx.float32 if dtype.is_float and dtype.itemsize < 4 else dtype
    y, source = cast(x, wide_dtype), cast(source, wide_dtype)
    ones = full(indices.shape, 1, int64)
    counts = put_along(full(x.shape, 0, int64), axis, indices, ones, "add")
    hit = counts > 0
    if not include_self:
        from .._dtypes import iinfo
        first = {"sum": 0, "mean": 0, "prod": 1}.get(reduce)
        if first is None:
            if dtype.is_float:
                first = -math.inf if reduce == "amax" else math.inf
            elif dtype is _zyx.bool:
                first = reduce == "amin"
            else:
                info = iinfo(dtype)
                first = info.min if reduce == "amax" else info.max
        y = select_where(hit, full(x.shape, first, wide_dtype), y)
    made = put_along(y, axis, indices, source, "add" if reduce == "mean" else MODES[reduce])
    if reduce == "mean":
        counts = counts + 1 if include_self else _zyx.maximum(counts, 1)
        if wide_dtype.is_float:
            mean = made / cast(counts, wide_dtype)
        else:
            mean = _zyx.floor_divide(made, cast(counts, wide_dtype))
        made = where(hit, mean, made)
    return cast(made, dtype)


def select_where(condition, a, b):
    """where() of bools, too."""
    if a.dtype is _zyx.bool:
        return (condition & a) | (F.logical_not(condition) & b)
    return where(condition, a, b)


@op(aten.index_reduce.default)
def index_reduce(node, x, dim, indices, source, reduce, *, include_self=True):
    axis = dim % x.ndim if x.ndim else 0
    shape = [1] * max(source.ndim, 1)
    shape[axis] = indices.size
    spread = expand(reshape(indices, shape), source.shape if source.ndim else (1,))
    return scatter_reduce(node, x, axis, spread, reshape(source, spread.shape), reduce, include_self=include_self)


@op(aten.put.default)
def put(node, x, indices, source, accumulate=False):
    count = indices.size
    if count == 0:
        return x
    places = reshape(from_front(indices, x.size), (count,))
    values = reshape(cast(source, x.dtype), (count,))
    if x.dtype is _zyx.bool:
        made = scattered_bools(reshape(x, (x.size,)), places, values, 0, accumulate)
    else:
        made = _zyx._scatter(reshape(x, (x.size,)), places, values, 0, "add" if accumulate else "set")
    return reshape(made, x.shape)


@op(aten.slice_scatter.default)
def slice_scatter(node, x, source, dim=0, start=None, end=None, step=1):
    axis = dim % x.ndim
    start, end = _bounds(start, end, x.shape[axis])
    count = len(range(start, end, step))
    if count == 0:
        return x
    places = _zyx._arange(start, start + count * step, step, int64)
    source = expand(cast(source, x.dtype), x.shape[:axis] + (count,) + x.shape[axis + 1:])
    if count == x.shape[axis]:
        return source
    if x.dtype is _zyx.bool:
        return scattered_bools(x, places, source, axis, False)
    return _zyx._scatter(x, places, source, axis, "set")


@op(aten.select_scatter.default)
def select_scatter(node, x, source, dim, index):
    axis = dim % x.ndim
    index += x.shape[axis] if index < 0 else 0
    places = full((1,), index, int64)
    source = reshape(cast(source, x.dtype), x.shape[:axis] + (1,) + x.shape[axis + 1:])
    if x.dtype is _zyx.bool:
        return scattered_bools(x, places, source, axis, False)
    return _zyx._scatter(x, places, source, axis, "set")


@op(aten.masked_scatter.default)
def masked_scatter(node, x, mask, source):
    shape = shape_of(node)
    x, mask = expand(x, shape), expand(mask, shape)
    if x.size == 0:
        return x
    flat = reshape(cast(mask, int64), (x.size,))
    places = _zyx._cumsum(flat, 0) - flat
    values = _zyx._take(reshape(source, (source.size,)), places, 0)
    return select_where(mask, reshape(cast(values, x.dtype), shape), x)


@op(aten.tril.default)
def tril(node, x, k=0):
    return _triangular(x, k, False)


@op(aten.triu.default)
def triu(node, x, k=0):
    return _triangular(x, k, True)


def _triangular(x, k, upper):
    rows, columns = iota(x.shape, x.ndim - 2), iota(x.shape, x.ndim - 1)
    keeps = expand(columns - rows >= k if upper else columns - rows <= k, x.shape)
    return select_where(keeps, x, full(x.shape, 0, x.dtype))


@op(aten.masked_scatter_backward.default)
def masked_scatter_backward(node, gradient, mask, sizes):
    count = math.prod(sizes)
    flat = reshape(cast(expand(mask, gradient.shape), int64), (gradient.size,))
    places = where(flat != 0, _zyx._cumsum(flat, 0) - flat, full((), -1, int64))
    made = _zyx._scatter(full((count,), 0, gradient.dtype), places, reshape(gradient, (gradient.size,)), 0, "set")
    return reshape(made, sizes)


@op(aten.nonzero_static.default)
def nonzero_static(node, x, *, size, fill_value=-1):
    if x.size == 0 or x.ndim == 0 or size == 0:
        return full((size, x.ndim), fill_value, int64) if x.ndim else full((size, 0), 0, int64)
    mask = reshape(cast(x != 0 if x.dtype is not _zyx.bool else x, int64), (x.size,))
    rank = where(mask != 0, _zyx._cumsum(mask, 0) - mask, full((), -1, int64))
    own = _zyx._arange(0, x.size, 1, int64)
    flat = _zyx._scatter(full((size,), -1, int64), rank, own, 0, "set")
    columns, rest = [], flat
    for extent in reversed(x.shape):
        columns.append(_zyx.remainder(rest, extent))
        rest = _zyx.floor_divide(rest, extent)
    found = _zyx._stack(columns[::-1], 1)
    return where(expand(reshape(flat, (size, 1)) >= 0, found.shape), found, full((), fill_value, int64))


@op(aten._efficientzerotensor.default)
def zero_tensor(node, size, **_):
    return full(size, 0, result_dtype(node))


def _limit_resize(node):
    x = meta_of(node.args[0])
    if not x.is_contiguous() or x.storage_offset() or not node.meta["val"].is_contiguous():
        return "has elements in another order than their shape's: this version resizes dense, row-major ones"
    return None


@op(aten.resize.default, limit=_limit_resize)
def resize(node, x, size, **_):
    """The first elements in memory; memory behind them, which nobody wrote, is zeros."""
    shape, flat = shape_of(node), reshape(x, (x.size,))
    count = math.prod(shape)
    return reshape(cut(flat, 0, 0, count) if count <= x.size else pad(flat, (0,), (count - x.size,)), shape)
