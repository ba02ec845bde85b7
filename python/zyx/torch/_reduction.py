# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, scans and orders."""
import math

from .. import _functions as F
from .. import _zyx
from ._lower import (aten, axes_of, cast, expand, float32, float64, full, int64, iota, op, packets, reshape, result_dtype,
                     where, wide)

uint8 = _zyx.uint8


def reduced(core, x, axes, keepdim):
    """Without dimensions there is nothing to reduce."""
    if x.ndim == 0:
        return x
    return core(x, axes, keepdim)


def wide_sum(dtype):
    """The dtype in which sums of a result are computed."""
    return float32 if dtype.is_float and dtype.itemsize < 4 else dtype


@op(aten.sum.default, aten.sum.dim_IntList)
def sum_of(node, x, dims=None, keepdim=False, *, dtype=None):
    result = result_dtype(node)
    return reduced(_zyx._sum, cast(x, wide_sum(result)), axes_of(dims, x.ndim), keepdim)


@op(aten.prod.default, aten.prod.dim_int)
def prod_of(node, x, dim=None, keepdim=False, *, dtype=None):
    result = result_dtype(node)
    return reduced(_zyx._prod, cast(x, wide_sum(result)), axes_of(dim, x.ndim), keepdim)


@op(aten.mean.default, aten.mean.dim)
def mean_of(node, x, dims=None, keepdim=False, *, dtype=None):
    return reduced(_zyx._mean, cast(x, wide_sum(result_dtype(node))), axes_of(dims, x.ndim), keepdim)


def _extreme(core):
    def made(node, x, dims=None, keepdim=False):
        if x.dtype is _zyx.bool:
            return reduced(core, cast(x, uint8), axes_of(dims, x.ndim), keepdim)
        return reduced(core, x, axes_of(dims, x.ndim), keepdim)

    return made


op(aten.amax.default)(_extreme(_zyx._max))
op(aten.amin.default)(_extreme(_zyx._min))
op(aten.max.default)(_extreme(_zyx._max))
op(aten.min.default)(_extreme(_zyx._min))


def position_of(core, x, axis, keepdim):
    """The first position of the best element; of NaN the first one."""
    if x.dtype is _zyx.bool:
        x = cast(x, uint8)
    if x.ndim == 0:
        return full((), 0, int64)
    found = core(x, axis, keepdim)
    if not x.dtype.is_float:
        return found
    bad = F.isnan(x)
    first = _zyx._argmax(cast(bad, uint8), axis, keepdim)
    return where(_zyx._any(bad, [axis], keepdim), first, found)


def _best(core, position):
    def made(node, x, dim, keepdim=False):
        if x.ndim == 0:
            return x, full((), 0, int64)
        axis = dim % x.ndim
        at = position_of(position, x, axis, keepdim)
        values = core(cast(x, uint8) if x.dtype is _zyx.bool else x, [axis], keepdim)
        return values, at

    return made


op(aten.max.dim)(_best(_zyx._max, _zyx._argmax))
op(aten.min.dim)(_best(_zyx._min, _zyx._argmin))


def _argument(core):
    def made(node, x, dim=None, keepdim=False):
        if dim is None:
            found = position_of(core, reshape(x, (x.size,)), 0, False)
            return reshape(found, (1,) * x.ndim) if keepdim else found
        return position_of(core, x, dim % x.ndim if x.ndim else 0, keepdim)

    return made


op(aten.argmax.default)(_argument(_zyx._argmax))
op(aten.argmin.default)(_argument(_zyx._argmin))


def _truth(core):
    def made(node, x, dims=None, keepdim=False):
        x = x if x.dtype is _zyx.bool else x != 0
        return reduced(core, x, axes_of(dims, x.ndim), keepdim)

    return made


op(*packets(aten.any))(_truth(_zyx._any))
op(*packets(aten.all))(_truth(_zyx._all))


def _variance(node, x, dims, correction, keepdim):
    y = wide(x)
    axes = axes_of(dims, x.ndim)
    count = math.prod(x.shape[axis] for axis in axes) if x.ndim else 1
    mean = reduced(_zyx._mean, y, axes, True)
    centred = y - mean
    total = reduced(_zyx._sum, centred * centred, axes, keepdim)
    left = count - (1 if correction is None else correction)
    variance = total / full((), float(max(left, 0)), y.dtype)
    if not keepdim and x.ndim:
        mean = reshape(mean, [extent for axis, extent in enumerate(x.shape) if axis not in axes])
    return variance, mean


@op(aten.var.correction)
def var(node, x, dims=None, *, correction=None, keepdim=False):
    return _variance(node, x, dims, correction, keepdim)[0]


@op(aten.var_mean.correction)
def var_mean(node, x, dims=None, *, correction=None, keepdim=False):
    return _variance(node, x, dims, correction, keepdim)


def _softmax(core):
    def made(node, x, dim, *_):
        result = result_dtype(node)
        if x.size == 0:
            return full(x.shape, 0, result)
        if x.ndim == 0:
            y = cast(x, wide_sum(result))
            return y * 0.0 + (1.0 if core is _zyx._softmax else 0.0)
        return core(cast(x, wide_sum(result)), dim % x.ndim)

    return made


op(aten._softmax.default)(_softmax(_zyx._softmax))
op(aten._log_softmax.default)(_softmax(_zyx._log_softmax))


@op(aten.logsumexp.default)
def logsumexp(node, x, dims, keepdim=False):
    return reduced(_zyx._logsumexp, cast(x, wide_sum(result_dtype(node))), axes_of(dims, x.ndim), keepdim)


# Scans


def _scan(core):
    def made(node, x, dim, *, dtype=None):
        result = result_dtype(node)
        y = cast(x, wide_sum(result))
        return core(y, dim % x.ndim) if x.ndim else y

    return made


op(aten.cumsum.default)(_scan(_zyx._cumsum))
op(aten.cumprod.default)(_scan(_zyx._cumprod))


def _doubled(x, axis, pairs, joined):
    """A scan in log2(n) steps: each element joins the one so many places before it."""
    shift, extent, values = 1, x.shape[axis], pairs
    while shift < extent:
        shape = list(x.shape)
        shape[axis] = shift
        heads = [each[tuple(slice(None) if i != axis else slice(0, shift) for i in range(x.ndim))] for each in values]
        key = tuple(slice(None) if i != axis else slice(shift, None) for i in range(x.ndim))
        before = tuple(slice(None) if i != axis else slice(0, extent - shift) for i in range(x.ndim))
        made = joined([each[before] for each in values], [each[key] for each in values])
        values = [_zyx._concat([head, each], axis) for head, each in zip(heads, made)]
        shift *= 2
    return values


def _running(better):
    def made(node, x, dim):
        if x.ndim == 0:
            return x, full((), 0, int64)
        axis = dim % x.ndim
        y = cast(x, uint8) if x.dtype is _zyx.bool else x
        places = expand(iota(x.shape, axis), x.shape)
        if x.size == 0:
            return y, places

        def joined(before, own):
            # Of equal ones the last, and NaN stays.
            keeps = better(before[0], own[0])
            if y.dtype.is_float:
                keeps = (keeps | F.isnan(before[0])) & F.logical_not(F.isnan(own[0]))
            return [where(keeps, before[0], own[0]), where(keeps, before[1], own[1])]

        return _doubled(x, axis, [y, places], joined)

    return made


op(aten.cummax.default)(_running(_zyx.greater))
op(aten.cummin.default)(_running(_zyx.less))


@op(aten.logcumsumexp.default)
def logcumsumexp(node, x, dim):
    if x.ndim == 0 or x.size == 0:
        return x
    axis = dim % x.ndim
    # In the dtype in which eager mode adds: its gradient cancels, so that each rounding of a step would show.
    y = cast(x, float64 if x.dtype is float32 else wide(x).dtype)

    def joined(before, own):
        a, b = before[0], own[0]
        high, low = _zyx.maximum(a, b), _zyx.minimum(a, b)
        # Of equal ones, infinities among them, the difference is 0.
        apart = where(high == low, full((), 0, high.dtype), low - high)
        return [high + F.log1p(F.exp(apart))]

    return _doubled(x, axis, [y], joined)[0]


# Orders


def _keys(x, descending):
    """What sorts as PyTorch does, NaN as the largest: floats as integers whose order is theirs."""
    if x.dtype is _zyx.bool:
        x = cast(x, uint8)
    if not x.dtype.is_float:
        return x
    y = where(x == 0, full((), 0, wide(x).dtype), wide(x))
    y = where(y == y, y, full((), math.nan, y.dtype))
    dtype = _zyx.int32 if y.dtype is float32 else int64
    bits = _zyx._bitcast(y, dtype)
    mask = full((), 2**31 - 1 if dtype is _zyx.int32 else 2**63 - 1, dtype)
    bits = where(bits < 0, bits ^ mask, bits)
    return where(y == y, bits, mask)


def ordered(x, axis, descending):
    """Positions in order, stable, NaN as the largest."""
    return _zyx._argsort(_keys(x, descending), axis, descending)


@op(aten.sort.default, aten.sort.stable)
def sort(node, x, *rest, **named):
    if node.target is aten.sort.stable:
        dim = rest[1] if len(rest) > 1 else named.get("dim", -1)
        descending = rest[2] if len(rest) > 2 else named.get("descending", False)
    else:
        dim = rest[0] if rest else named.get("dim", -1)
        descending = rest[1] if len(rest) > 1 else named.get("descending", False)
    if x.ndim == 0:
        return x, full((), 0, int64)
    if x.size == 0:
        return x, full(x.shape, 0, int64)
    axis = dim % x.ndim
    at = ordered(x, axis, bool(descending))
    return _zyx._take_along_axis(x, at, axis), at


@op(aten.topk.default)
def topk(node, x, k, dim=-1, largest=True, sorted=True):
    if x.ndim == 0:
        return (x, full((), 0, int64)) if k == 1 else (full((0,), 0, x.dtype), full((0,), 0, int64))
    axis = dim % x.ndim
    if x.dtype.is_float or x.dtype is _zyx.bool:
        at = cut_to(ordered(x, axis, bool(largest)), axis, k)
        return _zyx._take_along_axis(x, at, axis), at
    values, at = _zyx._topk(x, k, axis, bool(largest))
    return values, at


def cut_to(x, axis, count):
    key = [slice(None)] * x.ndim
    key[axis] = slice(0, count)
    return x[tuple(key)]


@op(aten.kthvalue.default)
def kthvalue(node, x, k, dim=-1, keepdim=False):
    if x.ndim == 0:
        return x, full((), 0, int64)
    axis = dim % x.ndim
    key = [slice(None)] * x.ndim
    key[axis] = slice(k - 1, k)
    at = ordered(x, axis, False)[tuple(key)]
    values = _zyx._take_along_axis(x, at, axis)
    if not keepdim:
        shape = [extent for i, extent in enumerate(x.shape) if i != axis]
        values, at = reshape(values, shape), reshape(at, shape)
    return values, at


def _median_along(x, axis, skips):
    """Values and positions of the lower median along an axis; with keepdim."""
    order = ordered(x, axis, False)
    count = x.shape[axis]
    if x.dtype.is_float and skips:
        good = _zyx._sum(cast(F.logical_not(F.isnan(x)), int64), [axis], True)
        place = _zyx.maximum(_zyx._quotient(good - 1, full((), 2, int64)), 0)
    else:
        shape = list(x.shape)
        shape[axis] = 1
        place = full(shape, (count - 1) // 2, int64)
        if x.dtype.is_float:
            # NaN where there is one, the first.
            bad = F.isnan(x)
            first = _zyx._argmax(cast(bad, uint8), axis, True)
            at = where(_zyx._any(bad, [axis], True), first, _zyx._take_along_axis(order, place, axis))
            return _zyx._take_along_axis(x, at, axis), at
    at = _zyx._take_along_axis(order, place, axis)
    return _zyx._take_along_axis(x, at, axis), at


def _median(skips):
    def made(node, x, dim=None, keepdim=False):
        if dim is None:
            if x.size == 0:
                return full((), math.nan, x.dtype)
            values, _ = _median_along(reshape(x, (x.size,)), 0, skips)
            return reshape(values, ())
        if x.ndim == 0:
            return x, full((), 0, int64)
        axis = dim % x.ndim
        values, at = _median_along(x, axis, skips)
        if not keepdim:
            shape = [extent for i, extent in enumerate(x.shape) if i != axis]
            values, at = reshape(values, shape), reshape(at, shape)
        return values, at

    return made


op(aten.median.default, aten.median.dim)(_median(False))
op(aten.nanmedian.default, aten.nanmedian.dim)(_median(True))


@op(aten.mode.default)
def mode(node, x, dim=-1, keepdim=False):
    if x.ndim == 0:
        return x, full((), 0, int64)
    axis = dim % x.ndim
    moved = F.moveaxis(x, axis, -1)
    order = ordered(moved, moved.ndim - 1, False)
    ranked = _zyx._take_along_axis(moved, order, moved.ndim - 1)
    same = _zyx.equal(_zyx._unsqueeze(ranked, -1), _zyx._unsqueeze(ranked, -2))
    counts = _zyx._sum(cast(same, int64), [ranked.ndim], False)
    best = _zyx._max(counts, [counts.ndim - 1], True)
    # The smallest of the most frequent; of its positions the last.
    first = _zyx._argmax(cast(counts == best, uint8), counts.ndim - 1, True)
    value = _zyx._take_along_axis(ranked, first, ranked.ndim - 1)
    hits = moved == value
    places = expand(iota(moved.shape, moved.ndim - 1), moved.shape)
    at = _zyx._max(where(hits, places, full((), -1, int64)), [moved.ndim - 1], True)
    value, at = F.moveaxis(value, -1, axis), F.moveaxis(at, -1, axis)
    if not keepdim:
        shape = [extent for i, extent in enumerate(x.shape) if i != axis]
        value, at = reshape(value, shape), reshape(at, shape)
    return value, at


@op(*packets(aten.searchsorted))
def searchsorted(node, edges, x, *, out_int32=False, right=False, side=None, sorter=None):
    if side is not None:
        right = side == "right"
    if sorter is not None:
        edges = _zyx._take_along_axis(edges, sorter, edges.ndim - 1)
    if not hasattr(x, "dtype"):
        x = full((), x, edges.dtype)
    return _searched(edges, x, right)


def _searched(edges, x, right):
    common = edges.dtype if edges.dtype is x.dtype else _common(edges.dtype, x.dtype)
    edges, x = _keys(cast(edges, common), False), _keys(cast(x, common), False)
    if edges.ndim > 1:
        edges = _zyx._unsqueeze(edges, -2)
    before = (_zyx.less_equal if right else _zyx.less)(edges, _zyx._unsqueeze(x, -1))
    return _zyx._sum(cast(before, int64), [before.ndim - 1], False)


def _common(a, b):
    if a.is_float or b.is_float:
        return float64 if float64 in (a, b) else float32
    return int64


@op(*packets(aten.bucketize))
def bucketize(node, x, edges, *, out_int32=False, right=False):
    if not hasattr(x, "dtype"):
        x = full((), x, edges.dtype)
    return _searched(edges, x, right)


@op(aten.histc.default)
def histc(node, x, bins=100, min=0, max=0):
    x = reshape(x, (x.size,))
    if x.size == 0:
        return full((bins,), 0, x.dtype)
    y = wide(x) if x.dtype.is_float else cast(x, float64)
    if min == max:
        low, high = _zyx._min(y, [0], False), _zyx._max(y, [0], False)
        equal = low == high
        low, high = where(equal, low - 1.0, low), where(equal, high + 1.0, high)
    else:
        low, high = full((), min, y.dtype), full((), max, y.dtype)
    place = cast(F.floor((y - low) / (high - low) * float(bins)), int64)
    place = where(place == bins, full((), bins - 1, int64), place)
    place = where((y >= low) & (y <= high), place, full((), -1, int64))
    ones = full((x.size,), 1, y.dtype)
    return _zyx._scatter(full((bins,), 0, y.dtype), place, ones, 0, "add")


@op(aten.dist.default)
def dist(node, a, b, p=2):
    return norm_of(wide(a) - wide(b), p, None, False)


def norm_of(x, p, axes, keepdim):
    """A p-norm of floats."""
    axes = axes_of(axes, x.ndim)
    size = F.abs(x)
    if p == math.inf:
        return reduced(_zyx._max, size, axes, keepdim)
    if p == -math.inf:
        return reduced(_zyx._min, size, axes, keepdim)
    if p == 0:
        return reduced(_zyx._sum, cast(size != 0, x.dtype), axes, keepdim)
    if p == 1:
        return reduced(_zyx._sum, size, axes, keepdim)
    if p == 2:
        return F.sqrt(reduced(_zyx._sum, x * x, axes, keepdim))
    return _zyx.pow(reduced(_zyx._sum, _zyx.pow(size, float(p)), axes, keepdim), 1.0 / p)


@op(aten.linalg_vector_norm.default)
def vector_norm(node, x, p=2, dims=None, keepdim=False, *, dtype=None):
    return norm_of(cast(x, wide_sum(result_dtype(node))), p, dims, keepdim)
