# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factorizations of stacks of small matrices: by pivots, by reflections of Householder as LAPACK has them, and by rotations of
Jacobi, half as many at once as a matrix has columns."""
import math

from . import _functions as F
from . import _zyx
from ._creation import asarray
from ._lowering import cast, expand, float64, full, int64, iota, reshape, where
from ._transforms import loop

int32 = _zyx.int32

# Jacobi's rotations take as many steps as the cube of an extent; a larger one would not end.
LARGEST = 256


def stacked(x):
    """Matrices of a stack of one dimension."""
    return reshape(x, (math.prod(x.shape[:-2]), *x.shape[-2:]))


def eye(size, dtype):
    return _zyx._eye(size, size, 0, dtype)


def factored(x, pivots=True):
    """L and U in one matrix, and pivots counted from 1, as LAPACK has them."""
    batch, rows, columns = stacked(x).shape
    count = min(rows, columns)
    row, column = iota((1, rows, 1), 1), iota((1, 1, columns), 2)

    def step(at, carried):
        a, found = carried
        one = reshape(at, (1,))
        own = _zyx._take(a, one, 2)
        if pivots:
            size = where(expand(row >= at, own.shape), F.abs(own), full((), -1, a.dtype))
            best = _zyx._argmax(size, 1, True)
            order = where(row == at, best, where(row == best, at, expand(row, own.shape)))
            a = _zyx._take_along_axis(a, expand(order, a.shape), 1)
            own = _zyx._take(a, one, 2)
            found = _zyx._scatter(found, one, cast(reshape(best, (batch, 1)), int32) + 1, 1, "set")
        pivot = _zyx._take(own, one, 1)
        below = expand(row > at, own.shape)
        # LAPACK goes on with the next column where a pivot is 0.
        factor = where(below & (pivot != 0), own / where(pivot == 0, 1.0, pivot), 0.0)
        line = _zyx._take(a, one, 1)
        a = a - factor * where(expand(column > at, line.shape), line, 0.0)
        return where(expand(below & (column == at), a.shape), expand(factor, a.shape), a), found

    start = expand(_zyx._arange(1, count + 1, 1, int32), (batch, count)) if count else full((batch, 0), 0, int32)
    made, found = loop(count, (stacked(x), start), step) if batch and count else (stacked(x), start)
    return reshape(made, x.shape), reshape(found, x.shape[:-2] + (count,))


def row_order(pivots, rows):
    """Which row of the matrix each row of the factors is."""
    batch, count = math.prod(pivots.shape[:-1]), pivots.shape[-1]
    flat = cast(reshape(pivots, (batch, count)), int64) - 1
    own = expand(iota((1, rows), 1), (batch, rows))
    if not count or not batch:
        return reshape(own, pivots.shape[:-1] + (rows,))

    def step(at, order):
        place = iota((1, rows), 1)
        other = _zyx._take(flat, reshape(at, (1,)), 1)
        index = where(place == at, other, where(place == other, at, expand(place, order.shape)))
        return _zyx._take_along_axis(order, index, 1)

    return reshape(loop(count, own, step), pivots.shape[:-1] + (rows,))


def diagonal(x):
    rows, columns = x.shape[-2:]
    flat = reshape(x, x.shape[:-2] + (rows * columns,))
    return _zyx._take(flat, _zyx._arange(0, min(rows, columns), 1, int64) * (columns + 1), flat.ndim - 1)


def triangle(a, b, upper, unit=False):
    """a^-1 b."""
    lead = F._broadcast_shape([a.shape[:-2], b.shape[:-2]], "solve")
    a, b = expand(a, lead + a.shape[-2:]), expand(b, lead + b.shape[-2:])
    if a.size == 0 or b.size == 0:
        return full(b.shape, 0, b.dtype)
    return _zyx._triangular_solve(a, b, upper, unit)


def solved(made, pivots, b):
    """The x with a x = b, of a's factors."""
    rows = made.shape[-1]
    lead = F._broadcast_shape([made.shape[:-2], b.shape[:-2]], "solve")
    b = expand(b, lead + b.shape[-2:])
    order = expand(_zyx._unsqueeze(row_order(pivots, rows), -1), lead + (rows, 1))
    b = _zyx._take_along_axis(b, expand(order, b.shape), b.ndim - 2) if b.size else b
    return triangle(made, triangle(made, b, False, True), True)


def widened(x):
    return cast(stacked(x), float64)


def restored(x, lead, *arrays):
    """Stacks of matrices or vectors as the other library has them."""
    return tuple(reshape(cast(each, x.dtype), lead + each.shape[1:]) for each in arrays)


# Reflections


def reflected(a):
    """The factors of a stack of matrices, as geqrf has them: R, below it what reflects, and the factors of those."""
    batch, rows, columns = a.shape
    count = min(rows, columns)
    if not batch or not count:
        return a, full((batch, count), 0, float64)
    row, column = iota((1, rows, 1), 1), iota((1, 1, columns), 2)

    def step(at, carried):
        a, taus = carried
        one = reshape(at, (1,))
        own = _zyx._take(a, one, 2)
        alpha = _zyx._take(own, one, 1)
        below = where(expand(row > at, own.shape), own, 0.0)
        # Of numbers below 1, whose squares do not overflow.
        largest = _zyx._max(F.abs(below), [1], True)
        is_plain = largest == 0
        scale = where(is_plain, 1.0, largest)
        part = below / scale
        norm = _zyx.hypot(alpha, F.sqrt(_zyx._sum(part * part, [1], True)) * scale)
        beta = where(is_plain, alpha, -_zyx.copysign(norm, alpha))
        tau = where(is_plain, 0.0, (beta - alpha) / where(is_plain, 1.0, beta))
        below = below / where(is_plain, 1.0, alpha - beta)
        v = where(expand(row == at, own.shape), 1.0, below)
        a = a - tau * v * _zyx._sum(v * where(expand(column > at, a.shape), a, 0.0), [1], True)
        made = where(expand(row == at, own.shape), expand(beta, own.shape), where(expand(row > at, own.shape), below, own))
        a = where(expand(column == at, a.shape), expand(made, a.shape), a)
        return a, _zyx._scatter(taus, one, reshape(tau, (batch, 1)), 1, "set")

    return loop(count, (a, full((batch, count), 0, float64)), step)


def reflections(a, taus, x, is_transposed):
    """The product of the reflections below the diagonal of `a` with a stack of matrices."""
    batch, rows, _ = a.shape
    count = taus.shape[-1]
    if not x.size or not count:
        return x
    row = iota((1, rows, 1), 1)

    def step(trip, x):
        at = trip if is_transposed else (count - 1) - trip
        one = reshape(at, (1,))
        own = _zyx._take(a, one, 2)
        v = where(expand(row == at, own.shape), 1.0, where(expand(row > at, own.shape), own, 0.0))
        return x - reshape(_zyx._take(taus, one, 1), (batch, 1, 1)) * v * _zyx._sum(v * x, [1], True)

    return loop(count, x, step)


def orthogonal(a, taus, columns):
    """The first columns of the product of reflections."""
    batch, rows, _ = a.shape
    return reflections(a, taus, expand(_zyx._eye(rows, columns, 0, float64), (batch, rows, columns)), False)


# Rotations


def _round(count):
    """Where columns come from after a step, so that in count - 1 steps each of them has stood beside each other one."""
    half = count // 2
    if half == 1:
        return asarray([0, 1], dtype=int64)
    return asarray([0, half, *range(1, half - 1), *range(half + 1, count), half - 1], dtype=int64)


def _steps(count):
    return (count - 1) * (9 + count.bit_length())


def _rotation(difference, product):
    """cos and sin of the smaller angle that makes a product 0, of the difference of what belongs to the two columns."""
    is_none = product == 0
    zeta = difference / (2.0 * where(is_none, 1.0, product))
    t = _zyx.copysign(1.0 / (F.abs(zeta) + _zyx.hypot(full((), 1, float64), zeta)), zeta)
    t = where(is_none, 0.0, t)
    c = 1.0 / F.sqrt(1.0 + t * t)
    return c, c * t


def _turned(x, c, s, axis):
    half = x.shape[axis] // 2
    key = [slice(None)] * x.ndim
    key[axis] = slice(0, half)
    left = x[tuple(key)]
    key[axis] = slice(half, None)
    right = x[tuple(key)]
    return _zyx._concat([c * left - s * right, s * left + c * right], axis)


def _even(x, axes):
    """With an extent more where it is odd."""
    more = [x.shape[axis] % 2 if axis in axes else 0 for axis in range(x.ndim)]
    return _zyx._pad(x, [0] * x.ndim, more, 0.0) if any(more) else x


def _chosen(x, order, axis):
    shape = [1] * x.ndim
    shape[0], shape[axis] = order.shape
    target = list(x.shape)
    target[axis] = order.shape[1]
    return _zyx._take_along_axis(x, expand(reshape(order, shape), target), axis)


def singular(a):
    """Of a stack of matrices that are not wider than high: columns that are orthogonal, from the longest on, their lengths, and
    the rotation that made them."""
    batch, rows, columns = a.shape
    a = _even(a, [2])
    whole = a.shape[2]
    v = expand(eye(whole, float64), (batch, whole, whole))
    order, half = _round(whole), whole // 2

    def step(trip, carried):
        a, v = (_zyx._take(each, order, 2) for each in carried)
        left, right = a[:, :, :half], a[:, :, half:]
        c, s = _rotation(_zyx._sum(right * right, [1], True) - _zyx._sum(left * left, [1], True),
                         _zyx._sum(left * right, [1], True))
        return _turned(a, c, s, 2), _turned(v, c, s, 2)

    a, v = loop(_steps(whole), (a, v), step)
    size = F.sqrt(_zyx._sum(a * a, [1], False))
    if whole != columns:
        # The column that was added stays alone; it goes to the end.
        size = where(reshape(v[:, columns:, :], (batch, whole)) != 0, -1.0, size)
    found = _zyx._argsort(size, 1, True)[:, :columns]
    return _chosen(a, found, 2), _zyx._take_along_axis(size, found, 1), _chosen(v, found, 2)[:, :columns]


def decomposed(a, is_full):
    """U, S and V of a stack of matrices; S is scaled, so that squares do not overflow."""
    batch, rows, columns = a.shape
    if rows < columns:
        v, s, u = decomposed(a.mT, is_full)
        return u, s, v
    largest = _zyx._max(F.abs(a), [1, 2], True)
    scale = where((largest == 0) | F.logical_not(F.isfinite(largest)), 1.0, largest)
    made, s, v = singular(a / scale)
    # Columns that are orthogonal have a diagonal R, and Q has a full set of them, whatever their lengths are.
    factors, taus = reflected(made)
    sign = _zyx.copysign(full((), 1, float64), diagonal(factors))
    u = orthogonal(factors, taus, rows if is_full else columns)
    sign = _zyx._concat([sign, full((batch, u.shape[2] - columns), 1, float64)], 1) if u.shape[2] > columns else sign
    return u * _zyx._unsqueeze(sign, 1), s * reshape(scale, (batch, 1)), v


def eigen(a):
    """Of a stack of symmetric matrices: eigenvalues, from the smallest on, and eigenvectors."""
    batch, count, _ = a.shape
    largest = _zyx._max(F.abs(a), [1, 2], True)
    scale = where((largest == 0) | F.logical_not(F.isfinite(largest)), 1.0, largest)
    a = _even(a / scale, [1, 2])
    whole = a.shape[2]
    v = expand(eye(whole, float64), a.shape)
    order, half = _round(whole), whole // 2

    def step(trip, carried):
        a, v = carried
        a, v = _zyx._take(_zyx._take(a, order, 1), order, 2), _zyx._take(v, order, 2)
        left, right, between = (diagonal(each) for each in (a[:, :half, :half], a[:, half:, half:], a[:, :half, half:]))
        c, s = _rotation(right - left, between)
        a = _turned(a, _zyx._unsqueeze(c, 1), _zyx._unsqueeze(s, 1), 2)
        a = _turned(a, _zyx._unsqueeze(c, 2), _zyx._unsqueeze(s, 2), 1)
        return a, _turned(v, _zyx._unsqueeze(c, 1), _zyx._unsqueeze(s, 1), 2)

    a, v = loop(_steps(whole), (a, v), step)
    values = diagonal(a)
    keys = values
    if whole != count:
        keys = where(reshape(v[:, count:, :], (batch, whole)) != 0, math.inf, values)
    found = _zyx._argsort(keys, 1, False)[:, :count]
    return _zyx._take_along_axis(values, found, 1) * reshape(scale, (batch, 1)), _chosen(v, found, 2)[:, :count]
