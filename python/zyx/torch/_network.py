# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, convolutions, pooling, normalization, and what reads arrays between their elements."""
import math

import torch

from .. import _functions as F
from .. import _small, _zyx
from .._creation import asarray
from ._lower import (BITS, aten, cast, cut, expand, full, gradients, int64, iota, meta_of, op, pad, reshape, result_dtype, where,
                     wide)
from ._movement import shape_of
from ._reduction import norm_of, position_of

# Products


def product(a, b, dtype):
    """Rounded once to a dtype; integers wrap."""
    if not dtype.is_float:
        return cast(_zyx.matmul(a, b), dtype)
    return _zyx.matmul(a, b)


@op(aten.mm.default, aten.bmm.default)
def mm(node, a, b, *_):
    return product(a, b, result_dtype(node))


@op(aten._int_mm.default)
def int_mm(node, a, b):
    return _zyx.matmul(cast(a, _zyx.int32), cast(b, _zyx.int32))


def _scaled_limit(node):
    (a, b), named = (meta_of(each) for each in node.args[:2]), node.kwargs
    scales = [meta_of(each) for each in node.args[2:4]]
    if node.meta["val"].dtype in BITS or len(node.args) > 5 and node.args[5] is not None or named.get("scale_result") is not None:
        return "has a result of 8 bits"
    if any(each.dtype != torch.float32 or each.numel() != 1 and tuple(each.shape) != shape
           for each, shape in zip(scales, ((a.shape[0], 1), (1, b.shape[1])))):
        return "has scales that are none for the whole, rows or columns"
    return None


@op(aten._scaled_mm.default, limit=_scaled_limit)
def scaled_mm(node, a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """Of floats of 8 bits: the product in float32, by a number for each matrix, or for each row and column."""
    first, second = (_small.of_bits(each, BITS[meta_of(of).dtype]) for each, of in zip((a, b), node.args))
    y = _zyx.matmul(first, second)
    for scale in (scale_a, scale_b):
        y = y * expand(scale if scale.size > 1 else reshape(scale, (1, 1)), y.shape)
    return y if bias is None else y + expand(reshape(wide(bias), (1, bias.size)), y.shape)


@op(aten.mv.default)
def mv(node, a, b):
    return reshape(product(a, reshape(b, (b.size, 1)), result_dtype(node)), (a.shape[0],))


@op(aten.dot.default, aten.vdot.default)
def dot(node, a, b):
    return reshape(product(reshape(a, (1, a.size)), reshape(b, (b.size, 1)), result_dtype(node)), ())


@op(aten._weight_norm_interface_backward.default)
def weight_norm_backward(node, gradient, v, g, norms, dim):
    dtype, axis = v.dtype, dim % v.ndim
    gradient, v, g, norms = (wide(each) for each in (gradient, v, g, norms))
    others = [each for each in range(v.ndim) if each != axis]
    along = _zyx._sum(gradient * v, others, True)
    shape = along.shape
    g, norms = reshape(g, shape), reshape(norms, shape)
    slope = expand(g / norms, v.shape) * (gradient - v * expand(along / (norms * norms), v.shape))
    return cast(slope, dtype), cast(reshape(along / norms, meta_of(node.args[2]).shape), dtype)


def _added(core):
    def made(node, bias, a, b, *, beta=1, alpha=1):
        dtype = result_dtype(node)
        y = wide(core(node, a, b))
        if alpha != 1:
            y = y * full((), alpha, y.dtype)
        if beta == 0:
            return cast(y, dtype)
        bias = cast(bias, y.dtype)
        if beta != 1:
            bias = bias * full((), beta, y.dtype)
        return cast(y + bias, dtype)

    return made


def _sum_of_products(node, a, b):
    return _zyx._sum(wide(product(a, b, a.dtype)), [0], False)


op(aten.addmm.default, aten.baddbmm.default)(_added(mm))
op(aten.addmv.default)(_added(mv))
op(aten.addbmm.default)(_added(_sum_of_products))


@op(aten._trilinear.default)
def trilinear(node, a, b, c, expand1, expand2, expand3, sumdim, unroll_dim=1):
    for dims, at in ((expand1, 0), (expand2, 1), (expand3, 2)):
        for dim in sorted(dims):
            if at == 0:
                a = _zyx._unsqueeze(a, dim)
            elif at == 1:
                b = _zyx._unsqueeze(b, dim)
            else:
                c = _zyx._unsqueeze(c, dim)
    y = wide(a) * wide(b) * wide(c)
    axes = [dim % y.ndim for dim in sumdim]
    return _zyx._sum(y, axes, False) if axes else y


# Convolutions


def _convolved(x, filters, stride, padding, dilation, is_transposed, more, groups):
    rank = x.ndim - 2
    stride, padding, dilation = ([each[0]] * rank if len(each) == 1 else list(each) for each in (stride, padding, dilation))
    more = [more[0]] * rank if len(more) == 1 else list(more)
    if not is_transposed:
        return _zyx._convolution(x, filters, None, stride, padding, dilation, groups)
    y = _zyx._transposed_convolution(x, filters, stride, dilation, groups)
    low = [0, 0] + [-each for each in padding]
    return pad(y, low, [0, 0] + [each - own for each, own in zip(more, padding)])


@op(aten.convolution.default)
def convolution(node, x, filters, bias, stride, padding, dilation, is_transposed, more, groups):
    dtype = result_dtype(node)
    is_single = len(shape_of(node)) == filters.ndim - 1
    y = _zyx._unsqueeze(x, 0) if is_single else x
    if 0 in shape_of(node):
        return full(shape_of(node), 0, dtype)
    y = _convolved(wide(y), wide(filters), stride, padding, dilation, is_transposed, more, groups)
    if bias is not None:
        y = y + reshape(cast(bias, y.dtype), (-1,) + (1,) * (y.ndim - 2))
    y = cast(y, dtype)
    return reshape(y, y.shape[1:]) if is_single else y


@op(aten.convolution_backward.default)
def convolution_backward(node, gradient, x, filters, bias_sizes, stride, padding, dilation, is_transposed, more, groups,
                         wanted):
    g, x, filters = wide(gradient), wide(x), wide(filters)
    if 0 in (g.size, x.size, filters.size):
        made = [full(x.shape, 0, x.dtype), full(filters.shape, 0, x.dtype)]
    else:
        made = gradients(
            lambda a, b: _convolved(a, b, stride, padding, dilation, is_transposed, more, groups), [x, filters], g)
    bias = _zyx._sum(g, [0] + list(range(2, g.ndim)), False) if wanted[2] else None
    return made[0] if wanted[0] else None, made[1] if wanted[1] else None, bias


# Windows


def _listed(value, rank, default=None):
    value = default if value is None or value == [] else value
    value = value if isinstance(value, (list, tuple)) else [value]
    return list(value) * rank if len(value) == 1 else list(value)


def _pool_extents(extents, kernel, stride, padding, dilation, ceil):
    """Results of an axis, and what stands behind the padding where they are rounded up."""
    counts, more = [], []
    for extent, k, s, p, d in zip(extents, kernel, stride, padding, dilation):
        reach = d * (k - 1) + 1
        span = extent + 2 * p - reach
        count = (-(-span // s) if ceil else span // s) + 1
        if ceil and (count - 1) * s >= extent + p:
            count -= 1
        counts.append(count)
        more.append(max((count - 1) * s + reach - extent - 2 * p, 0))
    return counts, more


def _batched(x, rank):
    return (reshape(x, (1,) * (rank + 2 - x.ndim) + x.shape), x.ndim < rank + 2)


def _windows(x, rank, kernel, stride, padding, dilation, ceil, fill):
    _, more = _pool_extents(x.shape[-rank:], kernel, stride, padding, dilation, ceil)
    lead = [0] * (x.ndim - rank)
    x = pad(x, lead + padding, lead + [a + b for a, b in zip(padding, more)], fill)
    return _zyx._sliding_windows(x, kernel, stride, dilation)


def _max_pool(rank):
    def made(node, x, kernel, stride=None, padding=0, dilation=1, ceil=False):
        kernel = _listed(kernel, rank)
        stride, padding, dilation = _listed(stride, rank, kernel), _listed(padding, rank), _listed(dilation, rank)
        x, is_single = _batched(x, rank)
        least = -math.inf if x.dtype.is_float else _least(x.dtype)
        extents = x.shape[-rank:]
        # Positions within an image, and -1 of what stands around it.
        own = reshape(_zyx._arange(0, math.prod(extents), 1, int64), extents)
        places = _windows(own, rank, kernel, stride, padding, dilation, ceil, -1)
        found = _windows(x, rank, kernel, stride, padding, dilation, ceil, least)
        count = math.prod(kernel)
        found = reshape(found, found.shape[:-rank] + (count,))
        places = reshape(places, places.shape[:-rank] + (count,))
        values = _zyx._max(found, [found.ndim - 1], False)
        outside = expand(places < 0, found.shape)
        best = found == _zyx._unsqueeze(values, -1)
        if x.dtype.is_float:
            # The last NaN of a window wins, as in PyTorch, and else the first of equal ones.
            best = best | F.isnan(found)
        best = best & F.logical_not(outside)
        order = expand(iota((count,), 0), found.shape)
        first = _zyx._min(where(best, order, full((), count, int64)), [found.ndim - 1], False)
        if x.dtype.is_float:
            bad = F.isnan(found)
            last = _zyx._max(where(bad, order, full((), -1, int64)), [found.ndim - 1], False)
            first = where(last >= 0, last, first)
        # A window of nothing but padding has none.
        first = _zyx.minimum(first, count - 1)
        at = _zyx._take_along_axis(expand(places, found.shape), _zyx._unsqueeze(first, -1), found.ndim - 1)
        at = reshape(at, values.shape)
        return (reshape(values, values.shape[1:]), reshape(at, at.shape[1:])) if is_single else (values, at)

    return made


def _least(dtype):
    from .._dtypes import iinfo
    return iinfo(dtype).min


op(aten.max_pool2d_with_indices.default)(_max_pool(2))
op(aten.max_pool3d_with_indices.default)(_max_pool(3))


def scattered(gradient, positions, shape, rank):
    """Sums of gradients at positions within images."""
    count = math.prod(shape[-rank:])
    lead = math.prod(shape[:-rank])
    g = reshape(wide(gradient), (lead, gradient.size // max(lead, 1)))
    flat = _zyx._put_along_axis(full((lead, count), 0, g.dtype), reshape(positions, g.shape), g, 1, "add")
    return reshape(flat, shape)


def _max_pool_backward(rank):
    def made(node, gradient, x, *rest):
        if gradient.size == 0:
            return full(x.shape, 0, x.dtype)
        return scattered(gradient, rest[-1], x.shape, rank)

    return made


def _fractional_max_pool(rank, order):
    """Of windows that begin where random numbers say. `order` is that of the numbers' axes."""

    def made(node, x, kernel, sizes, samples):
        kernel, sizes = _listed(kernel, rank), _listed(sizes, rank)
        extents, lead = x.shape[-rank:], math.prod(x.shape[:-rank])
        samples = reshape(wide(samples), (lead, rank))
        flat = None
        for at in range(rank):
            first = _interval(cut(samples, 1, order[at], order[at] + 1), extents[at], kernel[at], sizes[at])
            shape = [lead] + [1] * (2 * rank)
            shape[1 + at] = sizes[at]
            steps = [1] * (1 + 2 * rank)
            steps[1 + rank + at] = kernel[at]
            place = reshape(first, shape) + reshape(_zyx._arange(0, kernel[at], 1, int64), steps)
            flat = place if flat is None else flat * extents[at] + place
        window = math.prod(kernel)
        flat = reshape(expand(flat, (lead, *sizes, *kernel)), (lead, math.prod(sizes) * window))
        rows = reshape(x, (lead, math.prod(extents)))
        taken = reshape(_zyx._take_along_axis(rows, flat, 1), (lead, math.prod(sizes), window))
        best = _zyx._unsqueeze(position_of(_zyx._argmax, taken, 2, False), -1)
        shape = (*x.shape[:-rank], *sizes)
        places = reshape(flat, taken.shape)
        return [reshape(_zyx._take_along_axis(each, best, 2), shape) for each in (taken, places)]

    return made


def _interval(sample, extent, window, count):
    """Where windows along an axis begin."""
    step = (extent - window) / (count - 1) if count > 1 else 0.0
    at = reshape(cast(_zyx._arange(0, count, 1, int64), sample.dtype), (1, count))
    starts = cast(F.trunc((at + sample) * step), int64) - cast(F.trunc(sample * step), int64)
    return where(at == count - 1, full((), extent - window, int64), starts)


op(aten.fractional_max_pool2d.default)(_fractional_max_pool(2, (1, 0)))
op(aten.fractional_max_pool3d.default)(_fractional_max_pool(3, (0, 1, 2)))
op(aten.max_pool2d_with_indices_backward.default)(_max_pool_backward(2))
op(aten.max_pool3d_with_indices_backward.default)(_max_pool_backward(3))
op(aten.adaptive_max_pool2d_backward.default)(_max_pool_backward(2))
op(aten.adaptive_max_pool3d_backward.default)(_max_pool_backward(3))
op(aten.fractional_max_pool2d_backward.default)(_max_pool_backward(2))
op(aten.fractional_max_pool3d_backward.default)(_max_pool_backward(3))


def _averaged(x, rank, kernel, stride=None, padding=0, ceil=False, counts_all=True, divisor=None):
    """Means of windows of floats or integers, in their own dtype."""
    kernel = _listed(kernel, rank)
    stride, padding = _listed(stride, rank, kernel), _listed(padding, rank)
    ones = [1] * rank
    y, is_single = _batched(x, rank)
    axes = lambda found: list(range(found.ndim - rank, found.ndim))  # noqa: E731
    found = _windows(y, rank, kernel, stride, padding, ones, ceil, 0)
    total = _zyx._sum(found, axes(found), False)
    if divisor is not None:
        y = _divided(total, full((), divisor, total.dtype))
    else:
        extents = y.shape[-rank:]
        if counts_all:
            # Elements behind the padding, which only a rounded-up extent has, never count.
            plain = full([extent + 2 * p for extent, p in zip(extents, padding)], 1, total.dtype)
            counts = _windows_of_whole(plain, rank, kernel, stride, extents, padding, ceil)
        else:
            counts = _windows(full(extents, 1, total.dtype), rank, kernel, stride, padding, ones, ceil, 0)
        y = _divided(total, _zyx._sum(counts, axes(counts), False))
    return reshape(y, y.shape[1:]) if is_single else y


def _divided(a, b):
    return a / b if a.dtype.is_float else _zyx._quotient(a, b)


def _windows_of_whole(plain, rank, kernel, stride, extents, padding, ceil):
    _, more = _pool_extents(extents, kernel, stride, padding, [1] * rank, ceil)
    return _zyx._sliding_windows(pad(plain, [0] * rank, more), kernel, stride, [1] * rank)


def _avg_pool(rank):
    return lambda node, x, *rest: cast(_averaged(wide(x), rank, *rest), x.dtype)


def _avg_pool_backward(rank):
    def made(node, gradient, x, *rest):
        return gradients(lambda a: _averaged(a, rank, *rest), [wide(x)], wide(gradient))[0]

    return made


for _rank, _packet, _back in ((2, aten.avg_pool2d, aten.avg_pool2d_backward), (3, aten.avg_pool3d, aten.avg_pool3d_backward)):
    op(_packet.default)(_avg_pool(_rank))
    op(_back.default)(_avg_pool_backward(_rank))
op(aten.avg_pool1d.default)(_avg_pool(1))


def _parts(extent, count):
    return [(at * extent // count, -(-(at + 1) * extent // count)) for at in range(count)]


def _adaptive_mean(x, axis, count):
    """Means of parts of an axis, which overlap where the extent is no multiple of their number."""
    extent = x.shape[axis]
    if extent % max(count, 1) == 0 and count:
        shape = x.shape[:axis] + (count, extent // count) + x.shape[axis + 1:]
        return _zyx._mean(reshape(x, shape), [axis + 1], False)
    weights = [[(1 / (high - low) if low <= at < high else 0.0) for at in range(extent)] for low, high in _parts(extent, count)]
    y = F.tensordot(F.moveaxis(x, axis, -1), asarray(weights, dtype=x.dtype), axes=((x.ndim - 1,), (1,)))
    return F.moveaxis(y, -1, axis)


def _adaptive_average(x, size):
    for i, count in enumerate(size):
        x = _adaptive_mean(x, x.ndim - len(size) + i, count)
    return x


def _limit_adaptive(node):
    extents = meta_of(node.args[0]).shape[-len(node.args[1]):]
    return "has a result without elements" if 0 in node.args[1] or 0 in extents else None


@op(aten._adaptive_avg_pool2d.default, aten._adaptive_avg_pool3d.default, aten.adaptive_avg_pool1d.default,
    limit=_limit_adaptive)
def adaptive_average(node, x, size):
    return cast(_adaptive_average(wide(x), size), x.dtype)


@op(aten._adaptive_avg_pool2d_backward.default, aten._adaptive_avg_pool3d_backward.default)
def adaptive_average_backward(node, gradient, x):
    if gradient.size == 0:
        return full(x.shape, 0, x.dtype)
    rank = 2 if node.target is aten._adaptive_avg_pool2d_backward.default else 3
    size = gradient.shape[-rank:]
    return gradients(lambda a: _adaptive_average(a, size), [wide(x)], wide(gradient))[0]


@op(aten.adaptive_max_pool2d.default, aten.adaptive_max_pool3d.default, limit=_limit_adaptive)
def adaptive_max(node, x, size):
    rank = len(size)
    extents = x.shape[-rank:]
    lead = x.shape[:-rank]
    # Each part with as many places as the largest has; those that are none are -1.
    flat, shape = None, []
    for axis, (extent, count) in enumerate(zip(extents, size)):
        parts = _parts(extent, count)
        most = max(high - low for low, high in parts)
        rows = asarray([[low + i if low + i < high else -1 for i in range(most)] for low, high in parts], dtype=int64)
        own = [1] * (2 * rank)
        own[axis], own[rank + axis] = count, most
        here = reshape(rows, own)
        if flat is None:
            flat, fits = here, here >= 0
        else:
            flat, fits = flat * extent + here, fits & (here >= 0)
        shape.append(most)
    places = where(fits, flat, full((), -1, int64))
    places = reshape(places, tuple(size) + (math.prod(shape),))
    images = reshape(x, (math.prod(lead), math.prod(extents)))
    found = _zyx._take(images, _zyx.maximum(places, 0), 1)
    low = full((), -math.inf if x.dtype.is_float else _least(x.dtype), x.dtype)
    inside = expand(places >= 0, found.shape)
    values = _zyx._max(where(inside, found, low), [found.ndim - 1], True)
    best = (found == values) | F.isnan(found) if x.dtype.is_float else found == values
    order = expand(iota(found.shape, found.ndim - 1), found.shape)
    best = where(best & inside, order, full((), found.shape[-1] - 1, int64))
    if x.dtype.is_float:
        last = _zyx._max(where(F.isnan(found) & inside, order, full((), -1, int64)), [found.ndim - 1], True)
        first = where(last >= 0, last, _zyx._min(best, [found.ndim - 1], True))
    else:
        first = _zyx._min(best, [found.ndim - 1], True)
    at = _zyx._take_along_axis(expand(places, found.shape), first, found.ndim - 1)
    return reshape(values, lead + tuple(size)), reshape(at, lead + tuple(size))


# Normalization


def _standard(x, axes, epsilon):
    mean = _zyx._mean(x, axes, True)
    centred = x - mean
    scale = F.rsqrt(_zyx._mean(centred * centred, axes, True) + epsilon)
    return centred * scale, mean, scale


@op(aten.native_layer_norm.default)
def layer_norm(node, x, shape, weight, bias, epsilon):
    y = wide(x)
    axes = list(range(x.ndim - len(shape), x.ndim))
    y, mean, scale = _standard(y, axes, float(epsilon))
    if weight is not None:
        y = y * cast(weight, y.dtype)
    if bias is not None:
        y = y + cast(bias, y.dtype)
    return y, mean, scale


@op(aten.native_group_norm.default)
def group_norm(node, x, weight, bias, batch, channels, size, groups, epsilon):
    y = reshape(wide(x), (batch, groups, x.size // max(batch * groups, 1)))
    y, mean, scale = _standard(y, [2], float(epsilon))
    y = reshape(y, x.shape)
    own = (1, channels) + (1,) * (x.ndim - 2)
    if weight is not None:
        y = y * reshape(cast(weight, y.dtype), own)
    if bias is not None:
        y = y + reshape(cast(bias, y.dtype), own)
    return y, reshape(mean, (batch, groups)), reshape(scale, (batch, groups))


# Positions between elements


def _axis_weights(x, axis, taps):
    """The sum of elements along an axis, each by its weight: for each element of the result [(position, weight)]."""
    count = max(len(row) for row in taps)
    own = [1] * x.ndim
    own[axis] = len(taps)
    result = None
    for i in range(count):
        places = asarray([row[i][0] if i < len(row) else 0 for row in taps], dtype=int64)
        weights = [row[i][1] if i < len(row) else 0.0 for row in taps]
        part = _zyx._take(x, places, axis)
        if any(weight != 1 for weight in weights):
            part = part * reshape(asarray(weights, dtype=x.dtype), own)
        result = part if result is None else result + part
    return result


def _linear_taps(extent, target, corners, scale):
    taps = []
    for at in range(target):
        if corners:
            place = at * (extent - 1) / (target - 1) if target > 1 else 0.0
        else:
            step = 1 / scale if scale else extent / target
            place = max((at + 0.5) * step - 0.5, 0.0)
        low = min(int(place), extent - 1)
        high = min(low + 1, extent - 1)
        weight = min(max(place - low, 0.0), 1.0)
        taps.append([(low, 1.0 - weight), (high, weight)])
    return taps


def _interpolated(x, size, corners, scales):
    rank = len(size)
    for i, target in enumerate(size):
        axis = x.ndim - rank + i
        scale = scales[i] if i < len(scales) else None
        x = _axis_weights(x, axis, _linear_taps(x.shape[axis], target, corners, scale))
    return x


def _upsample(node, x, size, corners, *scales):
    return cast(_interpolated(wide(x), size, corners, scales), x.dtype)


op(aten.upsample_linear1d.default, aten.upsample_bilinear2d.default, aten.upsample_trilinear3d.default)(_upsample)


@op(aten.upsample_linear1d_backward.default, aten.upsample_bilinear2d_backward.default,
    aten.upsample_trilinear3d_backward.default)
def upsample_backward(node, gradient, size, shape, corners, *scales):
    x = full(shape, 0, wide(gradient).dtype)
    return gradients(lambda a: _interpolated(a, size, corners, scales), [x], wide(gradient))[0]


# Distances


@op(aten._cdist_forward.default)
def cdist(node, a, b, p, mode):
    if a.shape[-1] == 0:
        return full(shape_of(node), 0, a.dtype)
    return _distances(wide(a), wide(b), p)


@op(aten._pdist_forward.default)
def pdist(node, x, p=2):
    rows = [(i, j) for i in range(x.shape[0]) for j in range(i + 1, x.shape[0])]
    if not rows:
        return full((0,), 0, x.dtype)
    left, right = (asarray([row[i] for row in rows], dtype=int64) for i in (0, 1))
    return norm_of(_zyx._take(x, left, 0) - _zyx._take(x, right, 0), p, [-1], False)


def _distances(a, b, p):
    return norm_of(_zyx._unsqueeze(a, -2) - _zyx._unsqueeze(b, -3), p, [-1], False)


def norm_slope(difference, norm, gradient, p):
    """The gradient of a p-norm along the last axis, 0 where the norm is."""
    norm, gradient = _zyx._unsqueeze(norm, -1), _zyx._unsqueeze(gradient, -1)
    size = F.abs(difference)
    sign = cast(cast(difference > 0, _zyx.int8) - cast(difference < 0, _zyx.int8), difference.dtype)
    if p == 0:
        return difference * 0.0
    if p == 1:
        return sign * gradient
    if p == math.inf:
        return where(size == norm, sign * gradient, 0.0)
    safe = where(norm == 0, 1.0, norm)
    if p == 2:
        slope = difference / safe
    else:
        slope = where(size == 0, 0.0, sign * _zyx.pow(where(size == 0, 1.0, size) / safe, float(p - 1)))
    return where(norm == 0, 0.0, slope * gradient)


@op(aten._cdist_backward.default)
def cdist_backward(node, gradient, a, b, p, distances):
    if a.size == 0 or gradient.size == 0:
        return full(a.shape, 0, a.dtype)
    slope = norm_slope(_zyx._unsqueeze(a, -2) - _zyx._unsqueeze(b, -3), distances, gradient, p)
    return _zyx._sum(slope, [slope.ndim - 2], False)


@op(aten._pdist_backward.default)
def pdist_backward(node, gradient, x, p, distances):
    rows = [(i, j) for i in range(x.shape[0]) for j in range(i + 1, x.shape[0])]
    if not rows or not x.size:
        return full(x.shape, 0, x.dtype)
    left, right = (asarray([row[i] for row in rows], dtype=int64) for i in (0, 1))
    slope = norm_slope(_zyx._take(x, left, 0) - _zyx._take(x, right, 0), distances, gradient, p)
    found = _zyx._scatter(full(x.shape, 0, x.dtype), left, slope, 0, "add")
    return _zyx._scatter(found, right, -slope, 0, "add")


# Grids


def _sampled(x, grid, mode, padding, corners):
    from ..onnx._sampling import grid_sampled
    return grid_sampled(x, grid, ("linear", "nearest", "cubic")[mode], ("zeros", "border", "reflection")[padding], corners)


def _limit_empty(node):
    return "samples an array without elements" if any(0 in meta_of(each).shape for each in node.args[:2]) else None


# Of two axes PyTorch's decomposition is taken, which has cubic modes as eager mode has them.
@op(aten.grid_sampler_3d.default, limit=_limit_empty)
def grid_sampler(node, x, grid, mode, padding, corners):
    return cast(_sampled(wide(x), wide(grid), mode, padding, corners), x.dtype)


def _clipped(place, extent):
    """Where a coordinate is at an end, or beyond it, it has no slope."""
    last = extent - 1.0
    return where(place <= 0.0, 0.0, where(place >= last, last, place))


def _mirrored(place, low, high):
    if low == high:
        return place * 0.0
    span = high - low
    far = F.abs(place - low)
    turns = F.floor(far / span)
    rest = far - turns * span
    is_back = turns - F.floor(turns * 0.5) * 2.0 > 0.5
    return where(is_back, span - rest, rest) + low


def _sampled_as_eager(x, grid, mode, padding, corners):
    """Eager mode's steps, whose slopes are those of its gradients: cubic samples move elements beyond an end, and others the
    coordinates."""
    from ..onnx._sampling import sampled
    extents, shape = x.shape[2:], grid.shape[1:-1]
    points = reshape(grid, (grid.shape[0], math.prod(shape), len(extents)))
    places, ends = [], []
    for axis, extent in enumerate(extents):
        line = points[:, :, len(extents) - 1 - axis] + 1.0
        place = line * ((extent - 1) / 2) if corners else (line * float(extent) - 1.0) * 0.5
        low, high = (0.0, extent - 1.0) if corners else (-0.5, extent - 0.5)
        if mode != 2 and padding == 2:
            place = _mirrored(place, low, high)
        places.append(_clipped(place, extent) if mode != 2 and padding else place)
        ends.append((low, high))
    kind = ("zeros", "border", "reflection")[padding] if mode == 2 else "zeros"
    return reshape(sampled(x, places, ("linear", "nearest", "cubic")[mode], kind, ends), x.shape[:2] + shape)


def _limit_grids(node):
    return None if meta_of(node.args[1]).numel() else "samples an array without elements"


@op(aten.grid_sampler_2d_backward.default, aten.grid_sampler_3d_backward.default, limit=_limit_grids)
def grid_sampler_backward(node, gradient, x, grid, mode, padding, corners, wanted):
    made = gradients(lambda x, grid: _sampled_as_eager(x, grid, mode, padding, corners), [wide(x), wide(grid)], wide(gradient))
    return made[0] if wanted[0] else None, made[1] if wanted[1] else None


# Padding by elements


def _edged(x, amounts):
    for i in range(len(amounts) // 2):
        axis = x.ndim - 1 - i
        extent = x.shape[axis]
        places = [min(max(at, 0), extent - 1) for at in range(-amounts[2 * i], extent + amounts[2 * i + 1])]
        x = _zyx._take(x, asarray(places, dtype=int64), axis)
    return x


@op(aten.replication_pad1d_backward.default, aten.replication_pad2d_backward.default, aten.replication_pad3d_backward.default)
def replication_backward(node, gradient, x, amounts):
    if 0 in x.shape:
        return full(x.shape, 0, x.dtype)
    return gradients(lambda x: _edged(x, amounts), [wide(x)], wide(gradient))[0]


# Means of the elements that a smaller picture's element covers


@op(aten._upsample_bilinear2d_aa.default)
def upsample_antialiased(node, x, size, corners, *scales):
    return cast(_antialiased(wide(x), size, corners, scales), x.dtype)


@op(aten._upsample_bilinear2d_aa_backward.default)
def upsample_antialiased_backward(node, gradient, size, input_size, corners, *scales):
    g = wide(gradient)
    return gradients(lambda x: _antialiased(x, size, corners, scales), [full(input_size, 0, g.dtype)], g)[0]


def _antialiased(y, size, corners, scales):
    for i, target in enumerate(size):
        axis = y.ndim - len(size) + i
        extent = y.shape[axis]
        given = scales[i] if i < len(scales) else None
        if corners:
            step = (extent - 1) / (target - 1) if target > 1 else 0.0
        else:
            step = 1 / given if given else extent / target
        reach = max(step, 1.0)
        taps = []
        for at in range(target):
            centre = step * (at + 0.5)
            low, high = max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), extent)
            row = [(place, max(1 - abs((place - centre + 0.5) / reach), 0.0)) for place in range(low, high)]
            total = sum(weight for _, weight in row)
            taps.append([(place, weight / total) for place, weight in row])
        y = _axis_weights(y, axis, taps)
    return y
