# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that read arrays between their elements, and boxes."""
import math

from .. import _functions as F
from .. import _zyx
from .._creation import asarray
from . import _types
from ._bounded import chosen, result
from ._elementwise import cast, full, spread, where, wide, widely
from ._model import ModelError, op
from ._movement import iota
from ._network import windows

float32, int64 = _zyx.float32, _zyx.int64


# Resize: each axis by itself, with weights that are known when the graph is read.


def _coordinate(mode, at, scale, extent, target, begin, end, version):
    """Where an element of the result lies among those of the array."""
    whole = scale * extent
    if mode == "align_corners":
        # What PyTorch writes in these versions means its own corners, which lie on each other. The suite of later ones has an
        # extent between whole numbers, where a scale gives one.
        whole = target if version < 19 else whole
        return 0.0 if whole == 1 else at * (extent - 1) / (whole - 1)
    if mode == "asymmetric":
        return at / scale
    if mode == "tf_crop_and_resize":
        if whole == 1:
            return (end - begin) * (extent - 1) / 2 + begin * (extent - 1)
        return at * (end - begin) * (extent - 1) / (whole - 1) + begin * (extent - 1)
    if mode == "pytorch_half_pixel":
        return -0.5 if whole == 1 else (at + 0.5) / scale - 0.5
    if mode == "half_pixel":
        return (at + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        return extent / 2 * (1 - target / whole) + (at + 0.5) / scale - 0.5
    if mode == "tf_half_pixel_for_nn":
        return (at + 0.5) / scale
    raise _zyx.UnsupportedError(f"the coordinates '{mode}'")


def _cubic(x, a):
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def _taps(kind, place, scale, a, nearest):
    """Elements around a coordinate, and their weights."""
    floor = math.floor(place)
    if kind == "nearest":
        ratio = place - floor
        if ratio == 0:
            return [(floor, 1.0)]
        up = {"round_prefer_floor": ratio > 0.5, "round_prefer_ceil": ratio >= 0.5, "floor": False, "ceil": True}[nearest]
        return [(floor + up, 1.0)]
    if kind == "linear":
        reach, weigh = 1, lambda distance: max(1 - abs(distance), 0.0)
    else:
        reach, weigh = 2, lambda distance: _cubic(distance, a)
    low, high = math.ceil(place - reach / scale), math.floor(place + reach / scale)
    taps = [(at, weigh(scale * (at - place))) for at in range(low, high + 1)]
    total = sum(weight for _, weight in taps)
    return [(at, weight / total) for at, weight in taps if weight] if scale < 1 else [tap for tap in taps if tap[1]]


# Positions of a resized axis, for each of which the graph has weights.
MOST_POSITIONS = 1 << 22


def _resized(n, x, axis, target, scale, region, kind, mode):
    if target > MOST_POSITIONS:
        n.refuse(f"axis {axis} of {target} elements; at most {MOST_POSITIONS} are computed")
    extent, excludes = x.shape[axis], n.attr("exclude_outside", 0)
    narrow = min(scale, 1.0) if n.attr("antialias", 0) else 1.0
    rows, outside = [], []
    for at in range(target):
        place = _coordinate(mode, at, scale, extent, target, *region, n.version)
        outside.append(mode == "tf_crop_and_resize" and not 0 <= place <= extent - 1)
        taps = _taps(kind, place, narrow, n.attr("cubic_coeff_a", -0.75), n.attr("nearest_mode", "round_prefer_floor"))
        if excludes:
            kept = [(tap, weight) for tap, weight in taps if 0 <= tap < extent]
            total = sum(weight for _, weight in kept) or 1.0
            taps = [(tap, weight / total) for tap, weight in kept]
        rows.append([(min(max(tap, 0), extent - 1), weight) for tap, weight in taps] or [(0, 0.0)])
    count = max(len(row) for row in rows)
    own = [1] * x.ndim
    own[axis] = target
    result = None
    for i in range(count):
        taps = [row[i] if i < len(row) else (row[0][0], 0.0) for row in rows]
        part = _zyx._take(x, asarray([tap for tap, _ in taps], dtype=int64), axis)
        if any(weight != 1 for _, weight in taps):
            part = part * _zyx._reshape(asarray([weight for _, weight in taps], dtype=part.dtype), own)
        result = part if result is None else result + part
    if any(outside):
        mask = _zyx._reshape(asarray(outside, dtype=_zyx.bool), own)
        result = where(F.broadcast_to(mask, result.shape), n.attr("extrapolation_value", 0.0), result)
    return result


@op("Resize", "Upsample")
def resize(n, x, *rest):
    rank, kind = x.ndim, n.attr("mode", "nearest")
    region = None
    if n.op == "Upsample" or n.version < 11:
        scales = n.attr("scales") if n.op == "Upsample" and n.version < 9 else None
        if n.op == "Upsample" and n.version < 7:
            scales = [1.0, 1.0, n.need("height_scale"), n.need("width_scale")]
        scales = [float(each) for each in (n.list(1) if scales is None else scales)]
        sizes, mode, axes = None, "asymmetric", list(range(rank))
        nearest = "floor"
    else:
        scales = n.list(2) if n.has(2) and n.values[2].shape != (0,) else None
        sizes = n.ints(3) if n.has(3) and n.values[3].shape != (0,) else None
        mode, axes = n.attr("coordinate_transformation_mode", "half_pixel"), n.attr("axes", list(range(rank)))
        axes = [axis % rank for axis in axes]
        if mode == "tf_crop_and_resize":
            region = n.list(1)
        nearest = None
    kind = {"bilinear": "linear", "trilinear": "linear"}.get(kind, kind)
    if kind not in ("nearest", "linear", "cubic"):
        n.refuse(f"the mode '{kind}'")
    if nearest is not None:
        n = _Floor(n)
    policy = n.attr("keep_aspect_ratio_policy", "stretch")
    if sizes is not None:
        scales = [size / x.shape[axis] for size, axis in zip(sizes, axes)]
        if policy != "stretch":
            one = min(scales) if policy == "not_larger" else max(scales)
            scales = [one] * len(axes)
            sizes = [int(one * x.shape[axis] + 0.5) for axis in axes]
    elif scales is not None:
        sizes = [int(scale * x.shape[axis]) for scale, axis in zip(scales, axes)]
    else:
        raise ModelError("neither scales nor sizes")
    exact = kind == "nearest"
    y = x if exact else cast(x, _zyx.float64 if x.dtype is _zyx.float64 else float32)
    for i, axis in enumerate(axes):
        part = (0.0, 1.0) if region is None else (region[i], region[len(axes) + i])
        if scales[i] != 1 or sizes[i] != x.shape[axis] or part != (0.0, 1.0):
            y = _resized(n, y, axis, sizes[i], scales[i], part, kind, mode)
    if exact or x.dtype.is_float:
        return cast(y, x.dtype)
    return cast(F.round(y), x.dtype)


class _Floor:
    """A node of an opset that knows no other way to be nearest than the element before."""

    def __init__(self, node):
        self.node = node

    def __getattr__(self, name):
        return getattr(self.node, name)

    def attr(self, name, default=None):
        return "floor" if name == "nearest_mode" else self.node.attr(name, default)


# Grids


@op("AffineGrid")
@widely
def affine_grid(n, theta, size):
    size = n.ints(1)
    extents = size[2:]
    rank = len(extents)
    parts = []
    for axis in range(rank)[::-1]:
        extent = extents[axis]
        if n.attr("align_corners", 0):
            step = 2.0 / (extent - 1) if extent > 1 else 0.0
            line = cast(_zyx._arange(0, extent, 1, int64), theta.dtype) * step - (1.0 if extent > 1 else 0.0)
        else:
            line = (cast(_zyx._arange(0, extent, 1, int64), theta.dtype) * 2.0 + 1.0) * (1.0 / extent) - 1.0
        own = [1] * rank
        own[axis] = extent
        parts.append(F.broadcast_to(_zyx._reshape(line, own), extents))
    parts.append(full(extents, 1, theta.dtype))
    points = _zyx._reshape(_zyx._stack(parts, rank), (math.prod(extents), rank + 1))
    y = _zyx.matmul(points, theta.mT)
    return _zyx._reshape(y, (theta.shape[0], *extents, rank))


def _reflected(x, low, high):
    """Mirrored at two borders until it lies between them."""
    span = high - low
    if span <= 0:
        return x * 0.0 + low
    away = F.abs(x - low)
    turns = F.floor(away / span)
    rest = away - turns * span
    is_odd = turns - F.floor(turns * 0.5) * 2.0 > 0.5
    return where(is_odd, rest * -1.0 + high, rest + low)


def sampled(x, places, mode, padding, borders, a=-0.75):
    """Elements of [batch, channels, extents...] at [batch, points] coordinates of each axis: [batch, channels, points]."""
    extents = x.shape[2:]
    batch, channels = x.shape[:2]
    count = places[0].shape[1]
    flat = _zyx._reshape(x, (batch, channels, math.prod(extents)))

    def pixel(at):
        """Elements at whole coordinates."""
        index, fits = None, None
        for axis, place in enumerate(at):
            extent = extents[axis]
            inside = (place >= 0.0) & (place <= float(extent - 1))
            if padding == "reflection":
                # A mirror at -0.5 takes what lies between two elements to the one before.
                place = F.clip(F.trunc(_reflected(place, *borders[axis])), 0.0, float(extent - 1))
            else:
                place = F.clip(place, 0.0, float(extent - 1))
            fits = inside if fits is None else fits & inside
            place = cast(place, int64)
            index = place if index is None else index * extent + place
        index = F.broadcast_to(_zyx._unsqueeze(index, 1), (batch, channels, count))
        found = _zyx._take_along_axis(flat, index, 2)
        return where(F.broadcast_to(_zyx._unsqueeze(fits, 1), found.shape), found, 0.0) if padding == "zeros" else found

    if mode == "nearest":
        return pixel([F.round(place) for place in places])
    lows = [F.floor(place) for place in places]
    steps, weights = [], []
    for place, low in zip(places, lows):
        ratio = place - low
        if mode == "linear":
            steps, each = (0, 1), (ratio * -1.0 + 1.0, ratio)
        else:
            steps = (-1, 0, 1, 2)
            far, near = ratio + 1.0, ratio * -1.0 + 1.0
            each = (((far * a - 5 * a) * far + 8 * a) * far - 4 * a,
                    (ratio * (a + 2) - (a + 3)) * ratio * ratio + 1.0,
                    (near * (a + 2) - (a + 3)) * near * near + 1.0,
                    (((near + 1.0) * a - 5 * a) * (near + 1.0) + 8 * a) * (near + 1.0) - 4 * a)
        weights.append(each)

    def summed(axis, at, weight):
        if axis == len(places):
            return pixel(at) * _zyx._unsqueeze(weight, 1)
        total = None
        for step, own in zip(steps, weights[axis]):
            part = summed(axis + 1, at + [lows[axis] + float(step)], own if weight is None else weight * own)
            total = part if total is None else total + part
        return total

    return summed(0, [], None)


@op("GridSample")
@widely
def grid_sample(n, x, grid):
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(n.attr("mode", "linear"), n.attr("mode", "linear"))
    return grid_sampled(x, grid, mode, n.attr("padding_mode", "zeros"), n.attr("align_corners", 0))


def grid_sampled(x, grid, mode, padding, corners):
    """Elements of [batch, channels, extents...] at [batch, extents..., axes] coordinates from -1 to 1, the last axis first."""
    extents = x.shape[2:]
    rank, shape = len(extents), grid.shape[1:-1]
    points = _zyx._reshape(cast(grid, x.dtype), (grid.shape[0], math.prod(shape), rank))
    places, borders = [], []
    for axis, extent in enumerate(extents):
        # The last axis comes first in a grid.
        line = points[:, :, rank - 1 - axis] + 1.0
        place = line * ((extent - 1) / 2) if corners else (line * extent - 1.0) * 0.5
        low, high = (0.0, extent - 1.0) if corners else (-0.5, extent - 0.5)
        if mode == "nearest":
            place = F.round(place)
        if padding == "border" and mode != "cubic":
            # Of cubic samples the elements beyond a border are those on it, and the coordinate stays, as in PyTorch and ONNX Runtime.
            place = where((place < low) | (place > high), F.clip(place, 0.0, extent - 1.0), place)
        elif padding == "reflection":
            place = where((place < low) | (place > high), _reflected(place, low, high), place)
        places.append(place)
        borders.append((low, high))
    y = sampled(x, places, mode, padding, borders)
    return _zyx._reshape(y, x.shape[:2] + shape)


@op("DeformConv")
@widely
def deformable_convolution(n, x, weight, offset, bias=None, mask=None):
    kernel = list(weight.shape[2:])
    rank = len(kernel)
    if rank != 2:
        n.refuse(f"{rank} dimensions of positions")
    strides, dilations, low, _, _ = windows(n, x.shape[2:], kernel)
    groups, offset_groups = n.attr("group", 1), n.attr("offset_group", 1)
    batch, channels = x.shape[:2]
    out = offset.shape[2:]
    taps = math.prod(kernel)
    own = channels // offset_groups
    offset = _zyx._reshape(offset, (batch * offset_groups, *kernel, rank, *out))
    shape = tuple(kernel) + tuple(out)
    count = math.prod(shape)
    places = []
    for axis in range(rank):
        base = iota(shape, axis) * dilations[axis] + iota(shape, rank + axis) * strides[axis] - low[axis]
        moved = offset[:, :, :, axis] + cast(F.broadcast_to(base, shape), x.dtype)
        places.append(_zyx._reshape(moved, (batch * offset_groups, count)))
    parts = _zyx._reshape(x, (batch * offset_groups, own, *x.shape[2:]))
    values = sampled(parts, places, "linear", "zeros", None)
    values = _zyx._reshape(values, (batch, offset_groups, own, taps, math.prod(out)))
    if mask is not None:
        values = values * _zyx._reshape(mask, (batch, offset_groups, 1, taps, math.prod(out)))
    values = _zyx._reshape(values, (batch, groups, channels // groups * taps, math.prod(out)))
    filters = _zyx._reshape(weight, (1, groups, weight.shape[0] // groups, channels // groups * taps))
    y = _zyx._reshape(_zyx.matmul(filters, values), (batch, weight.shape[0], *out))
    return y if bias is None else y + spread(bias, y.ndim)


@op("RoiAlign")
@widely
def roi_align(n, x, rois, owners):
    height, width = n.attr("output_height", 1), n.attr("output_width", 1)
    ratio, scale = n.attr("sampling_ratio", 0), n.attr("spatial_scale", 1.0)
    half = n.attr("coordinate_transformation_mode", "half_pixel") == "half_pixel" and n.version >= 16
    count, channels = rois.shape[0], x.shape[1]
    rois = rois * scale - (0.5 if half else 0.0)
    size_w, size_h = rois[:, 2] - rois[:, 0], rois[:, 3] - rois[:, 1]
    if not half:
        size_w, size_h = _zyx.maximum(size_w, 1.0), _zyx.maximum(size_h, 1.0)
    if ratio <= 0:
        # As many samples as a part of a box has elements: data.
        boxes = n.data(1)
        parts = [_roi_part(n, x, rois[i:i + 1], size_h[i:i + 1], size_w[i:i + 1], owners[i:i + 1], height, width,
                           *_samples(boxes[i], scale, half, height, width)) for i in range(count)]
        return F.concat(parts, axis=0) if parts else full((0, channels, height, width), 0, x.dtype)
    return _roi_part(n, x, rois, size_h, size_w, owners, height, width, ratio, ratio)


def _samples(box, scale, half, height, width):
    sizes = ((box[3] - box[1]) * scale, (box[2] - box[0]) * scale)
    sizes = sizes if half else tuple(max(size, 1.0) for size in sizes)
    return max(math.ceil(sizes[0] / height), 0), max(math.ceil(sizes[1] / width), 0)


def _roi_part(n, x, rois, size_h, size_w, owners, height, width, samples_h, samples_w):
    count, channels = rois.shape[0], x.shape[1]
    if samples_h * samples_w == 0:
        return full((count, channels, height, width), 0, x.dtype)

    def line(begin, size, bins, samples, extent):
        """Coordinates of one axis [boxes, bins * samples]: two elements, their weights, and whether they count."""
        step = _zyx._reshape(size, (count, 1, 1)) / float(bins)
        bin_at = cast(_zyx._reshape(_zyx._arange(0, bins, 1, int64), (1, bins, 1)), x.dtype)
        part = (cast(_zyx._reshape(_zyx._arange(0, samples, 1, int64), (1, 1, samples)), x.dtype) + 0.5) / float(samples)
        place = _zyx._reshape(_zyx._reshape(begin, (count, 1, 1)) + (bin_at + part) * step, (count, bins * samples))
        counts = (place >= -1.0) & (place <= float(extent))
        place = F.clip(place, 0.0, float(extent - 1))
        low = F.floor(place)
        high = _zyx.minimum(low + 1.0, float(extent - 1))
        return cast(low, int64), cast(high, int64), place - low, counts

    y0, y1, wy, in_y = line(rois[:, 1], size_h, height, samples_h, x.shape[2])
    x0, x1, wx, in_x = line(rois[:, 0], size_w, width, samples_w, x.shape[3])
    rows, columns = height * samples_h, width * samples_w
    images = _zyx._reshape(x, x.shape[:2] + (x.shape[2] * x.shape[3],))
    images = _zyx._take(images, cast(owners, int64), 0)
    fits = _zyx._unsqueeze(in_y, 2) & _zyx._unsqueeze(in_x, 1)

    def corner(row, column, weight_row, weight_column):
        flat = _zyx._unsqueeze(row, 2) * x.shape[3] + _zyx._unsqueeze(column, 1)
        flat = F.broadcast_to(_zyx._reshape(flat, (count, 1, rows * columns)), (count, channels, rows * columns))
        weight = where(fits, _zyx._unsqueeze(weight_row, 2) * _zyx._unsqueeze(weight_column, 1), 0.0)
        return _zyx._take_along_axis(images, flat, 2) * _zyx._reshape(weight, (count, 1, rows * columns))

    parts = [corner(row, column, weight_row, weight_column)
             for row, weight_row in ((y0, wy * -1.0 + 1.0), (y1, wy))
             for column, weight_column in ((x0, wx * -1.0 + 1.0), (x1, wx))]
    shape = (count, channels, height, samples_h, width, samples_w)
    if n.attr("mode", "avg") == "max":
        best = _zyx.maximum(_zyx.maximum(parts[0], parts[1]), _zyx.maximum(parts[2], parts[3]))
        return _zyx._max(_zyx._reshape(best, shape), (3, 5), False)
    return _zyx._mean(_zyx._reshape(parts[0] + parts[1] + parts[2] + parts[3], shape), (3, 5), False)


# Boxes


@op("NonMaxSuppression")
def non_max_suppression(n, boxes, scores, most=None, overlap=None, threshold=None):
    """The best box of each class and image is chosen, and those that share too much with it are not any more; and so on."""
    most, overlap, threshold = n.number(2, 0), n.number(3, 0.0), n.number(4)
    images, classes, count = scores.shape
    trips = min(max(int(most), 0), count)
    if trips == 0 or images * classes == 0:
        return full((0, 3), 0, int64)
    a, b, c, d = (boxes[:, :, at] for at in range(4))
    if n.attr("center_point_box", 0):
        half = full((), 0.5, boxes.dtype)
        top, left, bottom, right = b - d * half, a - c * half, b + d * half, a + c * half
    else:
        top, left, bottom, right = _zyx.minimum(a, c), _zyx.minimum(b, d), _zyx.maximum(a, c), _zyx.maximum(b, d)
    edges = [top, left, bottom, right]
    areas = (bottom - top) * (right - left)
    # For each image and class; what is no number is never chosen.
    alive = scores == scores
    if threshold is not None:
        alive = alive & (scores > full((), threshold, scores.dtype))
    own, zero = iota((1, 1, count), 2), full((), 0, boxes.dtype)

    def of_each(x):
        return _zyx._reshape(x, (images, 1, count))

    def step(leaves):
        trip, alive, chosen_places = leaves
        ranked = where(alive, scores, full((), float("-inf"), scores.dtype))
        # One of those that are alive also where their scores are infinite.
        best = _zyx._argmax(cast(alive & (ranked == _zyx._max(ranked, (2,), True)), _zyx.uint8), 2, True)
        is_found = _zyx._any(alive, (2,), True)
        flat = _zyx._reshape(best, (images, classes))
        its = [_zyx._reshape(_zyx._take_along_axis(edge, flat, 1), (images, classes, 1)) for edge in edges]
        area = (its[2] - its[0]) * (its[3] - its[1])
        high = _zyx.maximum(_zyx.minimum(its[2], of_each(bottom)) - _zyx.maximum(its[0], of_each(top)), zero)
        wide_ = _zyx.maximum(_zyx.minimum(its[3], of_each(right)) - _zyx.maximum(its[1], of_each(left)), zero)
        shared = high * wide_
        both = area + of_each(areas) - shared
        covers = where(both > zero, shared / where(both > zero, both, full((), 1, boxes.dtype)), zero) > full((), overlap, boxes.dtype)
        alive = alive & ~covers & (own != best)
        here = iota((1, 1, trips), 2) == cast(trip, int64)
        return [alive, where(here & is_found, best, chosen_places)]

    # No more trips than a class has boxes.
    needed = _zyx._max(_zyx._sum(cast(alive, int64), (2,), False), (0, 1), False)
    _, places = _zyx._loop(_zyx.minimum(needed, full((), trips, int64)), [alive, full((images, classes, trips), -1, int64)], step)
    size = images * classes * trips
    flat = _zyx._reshape(places, (size,))
    found, total = chosen(flat >= 0)
    rows = [_zyx.floor_divide(found, classes * trips), _zyx.remainder(_zyx.floor_divide(found, trips), classes),
            _zyx._take(flat, found, 0)]
    return result(n, _zyx._stack(rows, 1), total)
