# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results as large as data says, in one program: an array of as many elements as there may be, and their count.

Elements behind the count are of no meaning. Ops of the table CARRIES make the same of such an input, because they compute
each element along that axis of its own ones; all others need the result as large as it is, between two programs.
"""
from .. import _zyx
from .._creation import asarray
from ._elementwise import cast, full, where
from ._model import CARRIES, Bounded

int64 = _zyx.int64


def trimmed(array, count, axis):
    """The first elements along an axis. On the host no program is made, of which there would be one for each count."""
    key = (slice(None),) * axis + (slice(int(count.item())),)
    if array.device not in ("cpu", "reference"):
        return array[key]
    import numpy
    with _zyx.device_scope(array.device):
        return asarray(numpy.ascontiguousarray(numpy.asarray(array)[key]))


def result(node, array, count, axis=0):
    """What a node gives: all of it where values may be read here, and else what is bounded."""
    if node.trace.is_stepwise or not any(value is not None and value.inputs for value in node.values):
        return trimmed(array, count, axis)
    return Bounded(array, count, axis)


def chosen(mask):
    """Of a mask of one axis the places of what it has, in order, with 0 behind them, and how many there are."""
    ones = cast(mask, int64)
    ranks = where(ones != 0, _zyx._cumsum(ones, 0) - ones, full((), -1, int64))
    own = _zyx._arange(0, mask.shape[0], 1, int64)
    return _zyx._scatter(full(mask.shape, 0, int64), ranks, own, 0, "set"), _zyx._sum(ones, (0,), False)


def distinct(columns, is_sorted):
    """Of rows, whose elements are given by columns, the first places of those that differ, how many there are of each, which of them
    each row is, and the count of those that differ. They are in order, the first column first, and NaN is one number, the
    largest; or in the order of their first places."""
    count = columns[0].shape[0]
    own = _zyx._arange(0, count, 1, int64)
    columns = [cast(column, _zyx.uint8) if column.dtype is _zyx.bool else column for column in columns]
    order = _zyx._argsort(columns[-1], 0, False)
    for column in columns[-2::-1]:
        order = _zyx._take(order, _zyx._argsort(_zyx._take(column, order, 0), 0, False), 0)
    differs = own == 0
    for column in columns:
        ordered = _zyx._take(column, order, 0)
        before = _zyx._take(ordered, own - 1, 0)
        changes = ordered != before
        if column.dtype.is_float:
            changes = changes & ((ordered == ordered) | (before == before))
        differs = differs | changes
    starts = cast(differs, int64)
    group = _zyx._cumsum(starts, 0) - 1
    nobody = full((count,), count, int64)
    first = _zyx._scatter(nobody, group, order, 0, "min")
    counts = _zyx._scatter(full((count,), 0, int64), group, full((count,), 1, int64), 0, "add")
    inverse = _zyx._scatter(full((count,), 0, int64), order, group, 0, "set")
    if not is_sorted:
        places = _zyx._argsort(first, 0, False)
        first, counts = _zyx._take(first, places, 0), _zyx._take(counts, places, 0)
        inverse = _zyx._take(_zyx._scatter(full((count,), 0, int64), places, own, 0, "set"), inverse, 0)
    # Behind the count nothing is read.
    return where(first == count, full((), 0, int64), first), counts, inverse, _zyx._sum(starts, (0,), False)


# Where the axis is in the result of a node, of which one input is bounded; None where the node needs to know the count.


def carries(*names):
    def register(rule):
        for name in names:
            CARRIES[name] = rule
        return rule

    return register


@carries("Cast", "Abs", "Neg", "Sqrt", "Exp", "Log", "Floor", "Ceil", "Round", "Not", "Relu", "Sigmoid", "Tanh", "Sign", "Reciprocal", "Erf")
def _same(node, at, array, axis):
    return axis


@carries("CastLike")
def _cast_like(node, at, array, axis):
    return axis if at == 0 else None


@carries("Add", "Sub", "Mul", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Min", "Max")
def _broadcast(node, at, array, axis):
    """With others that have no extent there, or 1."""
    if node.version < 7:
        return None
    behind, rank = array.ndim - axis, array.ndim
    for index, other in enumerate(node.values):
        if index != at:
            if len(other.shape) >= behind and other.shape[len(other.shape) - behind] != 1:
                return None
            rank = max(rank, len(other.shape))
    return rank - behind


@carries("Transpose")
def _transposed(node, at, array, axis):
    return node.attr("perm", list(range(array.ndim))[::-1]).index(axis) if array.ndim > 1 else axis


@carries("Unsqueeze")
def _unsqueezed(node, at, array, axis):
    if at != 0:
        return None
    axes = node.ints(1) if node.has(1) else node.need("axes")
    rank = array.ndim + len(axes)
    axes = {each % rank for each in axes}
    return [each for each in range(rank) if each not in axes][axis]


@carries("Squeeze")
def _squeezed(node, at, array, axis):
    axes = node.ints(1) if node.has(1) else node.attr("axes")
    if at != 0 or axes is None:
        return None
    axes = {each % array.ndim for each in axes}
    return None if axis in axes else axis - sum(each < axis for each in axes)


@carries("Slice")
def _sliced(node, at, array, axis):
    """Along other axes, or all of this one."""
    if at != 0:
        return None
    if node.version < 10:
        starts, ends, axes, steps = node.need("starts"), node.need("ends"), node.attr("axes"), None
    else:
        starts, ends, axes, steps = node.ints(1), node.ints(2), node.ints(3), node.ints(4)
    for index, each in enumerate(range(len(starts)) if axes is None else axes):
        is_all = starts[index] == 0 and ends[index] >= 2**31 - 1 and (steps is None or steps[index] == 1)
        if each % array.ndim == axis and not is_all:
            return None
    return axis


@carries("Gather")
def _gathered(node, at, array, axis):
    data, indices = node.values
    if at == 1:
        return node.attr("axis", 0) % len(data.shape) + axis
    along = node.attr("axis", 0) % array.ndim
    return None if along == axis else axis if axis < along else axis - 1 + len(indices.shape)


@carries("GatherND")
def _gathered_rows(node, at, array, axis):
    return axis if at == 1 and axis < array.ndim - 1 and not node.attr("batch_dims", 0) else None
