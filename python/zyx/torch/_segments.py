# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is joined by segments of rows: reductions of segments, bags of embeddings, histograms."""
import math

from .. import _functions as F
from .. import _zyx
from ._lower import aten, axes_of, cast, cut, expand, float32, float64, full, int64, iota, op, permute, reshape, where, wide

MODES = {"sum": "add", "mean": "add", "prod": "mul", "max": "max", "min": "min"}
FIRST = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def owners(ends, starts, count):
    """Of each of `count` rows the segment that it lies in, or -1: along the last axis of the segments' bounds."""
    places = reshape(iota((count,), 0), (1,) * (ends.ndim - 1) + (count, 1))
    inside = (_zyx._unsqueeze(starts, -2) <= places) & (places < _zyx._unsqueeze(ends, -2))
    segments = ends.shape[-1]
    # Where one holds it alone does: the sum of its number plus 1 is it.
    return _zyx._sum(where(inside, iota((1,) * (inside.ndim - 1) + (segments,), inside.ndim - 1) + 1, full((), 0, int64)),
                     [inside.ndim - 1], False) - 1


class Segments:
    """Rows of data by segments: axes before them are joined with the segments', those behind them with one another."""

    def __init__(self, data, lengths, offsets, axis):
        if lengths is not None:
            ends = _zyx._cumsum(cast(lengths, int64), axis)
            starts = ends - cast(lengths, int64)
        else:
            offsets = cast(offsets, int64)
            ends, starts = cut(offsets, axis, 1, offsets.shape[axis]), cut(offsets, axis, 0, offsets.shape[axis] - 1)
        self.count, extent, lead = ends.shape[axis], data.shape[axis], math.prod(data.shape[:axis])
        self.sizes = reshape(ends - starts, (lead * self.count,))
        self.inner = data.shape[axis + 1:]
        own = owners(reshape(ends, (lead, self.count)), reshape(starts, (lead, self.count)), extent)
        own = where(own < 0, full((), -1, int64), own + iota((lead, extent), 0) * self.count)
        self.own = reshape(own, (lead * extent,))
        self.rows = (lead * extent, math.prod(self.inner))
        self.shape = (*data.shape[:axis], self.count, *self.inner)

    def spread(self, x):
        """Of a number for each segment that of each row's; 0 where a row has none."""
        return _zyx._take(reshape(x, (self.sizes.size, self.rows[1])), self.own, 0)

    def sized(self):
        return reshape(self.sizes, (self.sizes.size, 1))


def _limit_segments(node):
    return "has indices" if node.kwargs.get("indices") is not None else None


@op(aten.segment_reduce.default, limit=_limit_segments)
def segment_reduce(node, data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    y = wide(data)
    if y.size == 0:
        return full(node.meta["val"].shape, FIRST[reduce] if initial is None else initial, y.dtype)
    parts = Segments(data, lengths, offsets, axis)
    shape = parts.sizes.size, parts.rows[1]
    first = full(shape, FIRST[reduce] if initial is None else initial, y.dtype)
    made = _zyx._scatter(first, parts.own, reshape(y, parts.rows), 0, MODES[reduce])
    if reduce in ("max", "min"):
        bad = _zyx._scatter(full(shape, 0, float32), parts.own, cast(reshape(F.isnan(y), parts.rows), float32), 0, "max")
        made = where(bad > 0, full((), math.nan, y.dtype), made)
    if reduce == "mean":
        # An empty one is what it begins with, or no number.
        size = cast(parts.sized(), y.dtype)
        made = where(size > 0, made / size, full((), math.nan, y.dtype) if initial is None else made)
    return reshape(made, parts.shape)


@op(aten._segment_reduce_backward.default)
def segment_reduce_backward(node, gradient, output, data, reduce, *, lengths=None, offsets=None, axis=0, initial=None):
    if data.size == 0:
        return data
    y = wide(data)
    parts = Segments(data, lengths, offsets, axis)
    g, x, out = parts.spread(wide(gradient)), reshape(y, parts.rows), parts.spread(wide(output))
    if reduce == "mean":
        g = g / cast(_zyx.maximum(_zyx._take(parts.sized(), parts.own, 0), 1), g.dtype)
    if reduce in ("max", "min"):
        hit = (x == out) | F.isnan(x)
        counts = _zyx._scatter(full((parts.sizes.size, parts.rows[1]), 0, g.dtype), parts.own, cast(hit, g.dtype), 0, "add")
        g = where(hit, g / _zyx.maximum(parts.spread(counts), 1.0), full((), 0, g.dtype))
    if reduce == "prod":
        g = g * _others(parts, x, 1.0 if initial is None else initial)
    inside = reshape(parts.own, (parts.rows[0], 1)) >= 0
    return reshape(where(inside, g, full((), 0, g.dtype)), data.shape)


def _others(parts, x, initial):
    """Of each element the product of the others of its segment, where some are 0 too."""
    zero = x == 0
    shape = parts.sizes.size, parts.rows[1]
    product = _zyx._scatter(full(shape, initial, x.dtype), parts.own, where(zero, full((), 1, x.dtype), x), 0, "mul")
    zeros = parts.spread(_zyx._scatter(full(shape, 0, x.dtype), parts.own, cast(zero, x.dtype), 0, "add"))
    product = parts.spread(product)
    lone = where(zeros == 0, product / where(zero, full((), 1, x.dtype), x), full((), 0, x.dtype))
    return where(zero & (zeros == 1), product, lone)


# Bags of embeddings


def _bags(indices, offsets, include_last):
    """Of each index its bag, and how many bags there are."""
    offsets = cast(offsets, int64)
    count = offsets.shape[0] - (1 if include_last else 0)
    starts = cut(offsets, 0, 0, count)
    end = full((1,), indices.shape[0], int64)
    ends = _zyx._concat([cut(offsets, 0, 1, count), end], 0) if not include_last else cut(offsets, 0, 1, count + 1)
    return owners(ends, starts, indices.shape[0]), count


@op(aten._embedding_bag.default, aten._embedding_bag_forward_only.default)
def embedding_bag(node, weight, indices, offsets, scale=False, mode=0, sparse=False, weights=None, include_last=False, padding=-1):
    indices = cast(indices, int64)
    shapes = [tuple(each.shape) for each in node.meta["val"]]
    if indices.size == 0 or 0 in shapes[0]:
        return [full(shape, 0, weight.dtype if not at else int64) for at, shape in enumerate(shapes)]
    own, count = _bags(indices, offsets, include_last)
    # The padding's index is as if it were not there.
    padding = padding + weight.shape[0] if padding < -1 else padding
    taken = where(indices == padding, full((), -1, int64), own) if padding >= 0 else own
    rows = wide(_zyx._take(weight, indices, 0))
    if weights is not None:
        rows = rows * reshape(wide(weights), (indices.shape[0], 1))
    sizes = _zyx._scatter(full((count,), 0, int64), taken, full(taken.shape, 1, int64), 0, "add")
    size = cast(reshape(sizes, (count, 1)), rows.dtype)
    best = full(shapes[3], 0, int64)
    if mode == 2:
        made, best = _largest(rows, indices, taken, count, size)
    else:
        made = _zyx._scatter(full((count, rows.shape[1]), 0, rows.dtype), taken, rows, 0, "add")
        made = made / _zyx.maximum(size, 1.0) if mode == 1 else made
    found = made, own, sizes, best
    # PyTorch leaves empty, or without meaning, what its own backward pass does not read.
    return [each if each.shape == shape else full(shape, 0, each.dtype) for each, shape in zip(found, shapes)]


def _largest(rows, indices, own, count, size):
    """The largest of each bag and column, and the index that it comes from, the first of equal ones."""
    made = _zyx._scatter(full((count, rows.shape[1]), -math.inf, rows.dtype), own, rows, 0, "max")
    hit = rows == _zyx._take(made, own, 0)
    last = rows.shape[0]
    places = where(hit, expand(iota(rows.shape, 0), rows.shape), full((), last, int64))
    place = _zyx._scatter(full(made.shape, last, int64), own, places, 0, "min")
    found = _zyx._take(indices, _zyx.minimum(place, last - 1), 0)
    return where(size > 0, made, full((), 0, made.dtype)), where(size > 0, found, full((), -1, int64))


@op(aten._embedding_bag_dense_backward.default)
def embedding_bag_backward(node, gradient, indices, own, sizes, best, rows, scale, mode, weights, padding=-1):
    g = wide(gradient)
    made = full((rows, g.shape[1]), 0, g.dtype)
    if indices.size == 0:
        return made
    indices = cast(indices, int64)
    if mode == 2:
        return _zyx._put_along_axis(made, best, g, 0, "add")
    if mode == 1:
        g = g / _zyx.maximum(cast(reshape(sizes, (sizes.size, 1)), g.dtype), 1.0)
    g = _zyx._take(g, cast(own, int64), 0)
    if weights is not None:
        g = g * reshape(wide(weights), (indices.shape[0], 1))
    if scale:
        counts = _zyx._scatter(full((rows,), 0, g.dtype), indices, full(indices.shape, 1, g.dtype), 0, "add")
        g = g / reshape(_zyx._take(counts, indices, 0), (indices.shape[0], 1))
    padding = padding + rows if padding < -1 else padding
    places = where(indices == padding, full((), -1, int64), indices) if padding >= 0 else indices
    return _zyx._scatter(made, places, g, 0, "add")


def _limit_sparse(node):
    return "has a sparse gradient" if node.args[9] else None


@op(aten._embedding_bag_backward.default, limit=_limit_sparse)
def embedding_bag_backward_of(node, gradient, indices, offsets, own, sizes, best, rows, scale, mode, sparse, weights, padding=-1):
    if indices.size:
        own = _bags(indices, offsets, offsets.shape[0] > gradient.shape[0])[0]
    return embedding_bag_backward(node, gradient, indices, own, sizes, best, rows, scale, mode, weights, padding)


@op(aten._embedding_bag_per_sample_weights_backward.default)
def embedding_bag_weights_backward(node, gradient, weight, indices, offsets, own, mode, padding=-1):
    indices = cast(indices, int64)
    own = cast(own, int64) if own.shape == indices.shape else _bags(indices, offsets, offsets.shape[0] > gradient.shape[0])[0]
    products = wide(_zyx._take(gradient, own, 0)) * wide(_zyx._take(weight, indices, 0))
    found = _zyx._sum(products, [1], False)
    padding = padding + weight.shape[0] if padding < -1 else padding
    return where(indices == padding, full((), 0, found.dtype), found) if padding >= 0 else found


# Histograms


def _edges(low, high, bins):
    """bins + 1 numbers in equal steps, from both ends to the middle."""
    at = cast(_zyx._arange(0, bins + 1, 1, int64), low.dtype)
    step = (high - low) / float(bins)
    return where(at < (bins + 1) // 2, low + step * at, high - step * (float(bins) - at))


def _range(x, bounds, at):
    """The least and the largest number: of the data where none are given, and half a step aside where they are equal."""
    if bounds is not None:
        low, high = full((), bounds[2 * at], x.dtype), full((), bounds[2 * at + 1], x.dtype)
    elif x.size == 0:
        low, high = full((), 0, x.dtype), full((), 1, x.dtype)
    else:
        low, high = _zyx._min(x, [0], False), _zyx._max(x, [0], False)
    equal = low == high
    return where(equal, low - 0.5, low), where(equal, high + 0.5, high)


def _counted(x, edges, weight, density):
    """Of rows of numbers how many lie between the edges of each axis; the last edge belongs to its bin."""
    bins = [each.shape[0] - 1 for each in edges]
    flat, inside = full((x.shape[0],), 0, int64), None
    for axis, each in enumerate(edges):
        y = reshape(cut(x, 1, axis, axis + 1), (x.shape[0],))
        place = _zyx._sum(cast(_zyx._unsqueeze(each, 0) <= _zyx._unsqueeze(y, -1), int64), [1], False) - 1
        low, high = each[0], each[bins[axis]]
        place = _zyx.minimum(place, bins[axis] - 1)
        good = (y >= low) & (y <= high)
        inside = good if inside is None else inside & good
        flat = flat * bins[axis] + place
    flat = where(inside, flat, full((), -1, int64))
    ones = full((x.shape[0],), 1, x.dtype) if weight is None else cast(reshape(weight, (x.shape[0],)), x.dtype)
    made = reshape(_zyx._scatter(full((math.prod(bins),), 0, x.dtype), flat, ones, 0, "add"), bins)
    if density:
        made = made / _zyx._sum(made, list(range(len(bins))), False)
        for axis, each in enumerate(edges):
            width = cut(each, 0, 1, bins[axis] + 1) - cut(each, 0, 0, bins[axis])
            made = made / reshape(width, [-1 if at == axis else 1 for at in range(len(bins))])
    return made


@op(aten.histogram.bin_ct)
def histogram(node, x, bins=100, *, range=None, weight=None, density=False):
    x = reshape(x, (x.size, 1))
    edges = _edges(*_range(reshape(x, (x.size,)), range, 0), bins)
    return _counted(x, [edges], weight, density), edges


@op(aten.histogram.bins_tensor)
def histogram_of_edges(node, x, edges, *, weight=None, density=False):
    return _counted(reshape(x, (x.size, 1)), [edges], weight, density), edges


def _columns(x, bins, bounds):
    x = reshape(x, (x.size // max(x.shape[-1], 1), x.shape[-1]))
    return x, [_edges(*_range(reshape(cut(x, 1, axis, axis + 1), (x.shape[0],)), bounds, axis), count)
               for axis, count in enumerate(bins)]


@op(aten._histogramdd_bin_edges.default)
def histogram_edges(node, x, bins, *, range=None, weight=None, density=False):
    return _columns(x, bins, range)[1]


@op(aten._histogramdd_from_bin_cts.default)
def histogram_of_rows(node, x, bins, *, range=None, weight=None, density=False):
    return _counted(*_columns(x, bins, range), weight, density)


@op(aten._histogramdd_from_bin_tensors.default)
def histogram_of_rows_of_edges(node, x, edges, *, weight=None, density=False):
    x = reshape(x, (x.size // max(x.shape[-1], 1), x.shape[-1]))
    return _counted(x, list(edges), weight, density)


# Bits


@op(aten.hash_tensor.default)
def hash_tensor(node, x, dims=(), *, keepdim=False, mode=0):
    """The exclusive or of all elements' bits: floats as f64, integers as i64."""
    y = _zyx._bitcast(cast(x, float64), _zyx.uint64) if x.dtype.is_float else cast(cast(x, int64), _zyx.uint64)
    axes = axes_of(list(dims), x.ndim) if x.ndim else []
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in kept]
    y = reshape(permute(y, kept + axes), (*shape, math.prod(x.shape[axis] for axis in axes)))
    if y.size == 0:
        y = full((*shape, 1), 0, _zyx.uint64)
    while y.shape[-1] > 1:
        half = (y.shape[-1] + 1) // 2
        rest = cut(y, y.ndim - 1, half, y.shape[-1])
        low = cut(y, y.ndim - 1, 0, rest.shape[-1])
        joined = _zyx.bitwise_xor(low, rest)
        y = joined if rest.shape[-1] == half else _zyx._concat([joined, cut(y, y.ndim - 1, half - 1, half)], y.ndim - 1)
    return reshape(y, node.meta["val"].shape)
