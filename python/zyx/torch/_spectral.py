# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QR, singular values and eigenvalues, computed in float64: reflections of Householder as LAPACK has them, and rotations of Jacobi,
half as many at once as a matrix has columns."""
import math

import torch

from .. import _functions as F
from .. import _zyx
from .._creation import asarray
from .._transforms import loop
from ._linalg import _diagonal, _eye, _stacked
from ._lower import (aten, cast, expand, float64, full, int64, iota, meta_of, op, reshape, result_dtype, where)

# Jacobi's rotations take as many steps as the cube of an extent; a larger one would not end.
LARGEST = 256


def _limit_size(node):
    shape = meta_of(node.args[0]).shape
    return f"has a matrix of more than {LARGEST} columns and rows" if min(shape[-2:]) > LARGEST else None


def _wide(x):
    return cast(_stacked(x), float64)


def _back(x, lead, *arrays):
    """Stacks of matrices or vectors as PyTorch has them."""
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


@op(aten.geqrf.default)
def geqrf(node, x):
    return _back(x, x.shape[:-2], *reflected(_wide(x)))


@op(aten.linalg_householder_product.default)
def householder_product(node, x, taus):
    if not x.size:
        return x
    a = _wide(x)
    taus = cast(reshape(taus, (a.shape[0], taus.shape[-1])), float64)
    return _back(x, x.shape[:-2], orthogonal(a, taus, x.shape[-1]))[0]


@op(aten.ormqr.default)
def ormqr(node, x, taus, other, left=True, transpose=False):
    if not other.size or not taus.size:
        return other
    y = _wide(other if left else other.mT)
    taus = cast(reshape(taus, (y.shape[0], taus.shape[-1])), float64)
    # From the right: the transposed product from the left.
    y = reflections(_wide(x), taus, y, bool(transpose) == bool(left))
    return _back(other, other.shape[:-2], y if left else y.mT)[0]


@op(aten.linalg_qr.default)
def qr(node, x, mode="reduced"):
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    a, taus = reflected(_wide(x))
    r = _zyx._triu(a, 0)
    if mode == "r":
        return full((0,), 0, x.dtype), *_back(x, x.shape[:-2], r[:, :count])
    q = orthogonal(a, taus, rows if mode == "complete" else count)
    return _back(x, x.shape[:-2], q, r if mode == "complete" else r[:, :count])


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
    v = expand(_eye(whole, float64), (batch, whole, whole))
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
    sign = _zyx.copysign(full((), 1, float64), _diagonal(factors))
    u = orthogonal(factors, taus, rows if is_full else columns)
    sign = _zyx._concat([sign, full((batch, u.shape[2] - columns), 1, float64)], 1) if u.shape[2] > columns else sign
    return u * _zyx._unsqueeze(sign, 1), s * reshape(scale, (batch, 1)), v


@op(aten._linalg_svd.default, limit=_limit_size)
def svd(node, x, full_matrices=False, compute_uv=True, *, driver=None):
    shapes = [tuple(each.shape) for each in node.meta["val"]]
    rows, columns = x.shape[-2:]
    if not x.size:
        eyes = [expand(_eye(shape[-1], x.dtype), shape) if math.prod(shape) else full(shape, 0, x.dtype) for shape in shapes[::2]]
        return eyes[0], full(shapes[1], 0, x.dtype), eyes[1]
    u, s, v = decomposed(_wide(x), full_matrices)
    if not compute_uv:
        none = full((0,), 0, x.dtype)
        return none, *_back(x, x.shape[:-2], s), none
    return _back(x, x.shape[:-2], u, s, v.mT)


def eigen(a):
    """Of a stack of symmetric matrices: eigenvalues, from the smallest on, and eigenvectors."""
    batch, count, _ = a.shape
    largest = _zyx._max(F.abs(a), [1, 2], True)
    scale = where((largest == 0) | F.logical_not(F.isfinite(largest)), 1.0, largest)
    a = _even(a / scale, [1, 2])
    whole = a.shape[2]
    v = expand(_eye(whole, float64), a.shape)
    order, half = _round(whole), whole // 2

    def step(trip, carried):
        a, v = carried
        a, v = _zyx._take(_zyx._take(a, order, 1), order, 2), _zyx._take(v, order, 2)
        left, right, between = (_diagonal(each) for each in (a[:, :half, :half], a[:, half:, half:], a[:, :half, half:]))
        c, s = _rotation(right - left, between)
        a = _turned(a, _zyx._unsqueeze(c, 1), _zyx._unsqueeze(s, 1), 2)
        a = _turned(a, _zyx._unsqueeze(c, 2), _zyx._unsqueeze(s, 2), 1)
        return a, _turned(v, _zyx._unsqueeze(c, 1), _zyx._unsqueeze(s, 1), 2)

    a, v = loop(_steps(whole), (a, v), step)
    values = _diagonal(a)
    keys = values
    if whole != count:
        keys = where(reshape(v[:, count:, :], (batch, whole)) != 0, math.inf, values)
    found = _zyx._argsort(keys, 1, False)[:, :count]
    return _zyx._take_along_axis(values, found, 1) * reshape(scale, (batch, 1)), _chosen(v, found, 2)[:, :count]


def _symmetric(x, upper=False):
    """Of one triangle; PyTorch reads no other."""
    a = _wide(x)
    a = a.mT if upper else a
    return _zyx._tril(a, 0) + _zyx._tril(a, -1).mT


@op(aten._linalg_eigh.default, limit=_limit_size)
def eigh(node, x, UPLO="L", compute_v=True):
    lead = x.shape[:-2]
    if not x.size:
        return full(x.shape[:-1], 0, x.dtype), full(tuple(node.meta["val"][1].shape), 0, x.dtype)
    values, vectors = eigen(_symmetric(x, UPLO.upper() == "U"))
    values, vectors = _back(x, lead, values, vectors)
    return values, vectors if compute_v else full((0,), 0, x.dtype)


@op(aten.linalg_pinv.atol_rtol_tensor, limit=_limit_size)
def pinv(node, x, *, atol=None, rtol=None, hermitian=False):
    if not x.size:
        return full(tuple(node.meta["val"].shape), 0, x.dtype)
    lead, dtype = x.shape[:-2], result_dtype(node)
    if hermitian:
        values, right = eigen(_symmetric(x))
        left, size = right, F.abs(values)
    else:
        left, values, right = decomposed(_wide(x), False)
        size = values
    largest = _zyx._max(size, [1], True)
    epsilon = torch.finfo(torch.float32 if dtype is not float64 else torch.float64).eps * max(x.shape[-2:])

    def each(tolerance):
        tolerance = cast(tolerance, float64)
        return reshape(expand(tolerance, lead), (largest.shape[0], 1))

    bound = None if atol is None else each(atol)
    if rtol is not None:
        relative = each(rtol)
    else:
        relative = full((), epsilon, float64) if bound is None else where(bound > 0, full((), 0, float64), full((), epsilon, float64))
    bound = relative * largest if bound is None else _zyx.maximum(bound, relative * largest)
    keeps = size > bound
    inverse = where(keeps, 1.0 / where(keeps, values, 1.0), 0.0)
    found = _zyx.matmul(right * _zyx._unsqueeze(inverse, 1), left.mT)
    return _back(x, lead, found)[0]


@op(aten.linalg_polar.default, limit=_limit_size)
def polar(node, x):
    if not x.size:
        return tuple(full(tuple(each.shape), 0, x.dtype) for each in node.meta["val"])
    u, s, v = decomposed(_wide(x), False)
    return _back(x, x.shape[:-2], _zyx.matmul(u, v.mT), _zyx.matmul(v * _zyx._unsqueeze(s, 1), v.mT))


@op(aten.linalg_matrix_sqrth.default, limit=_limit_size)
def root(node, x):
    if not x.size:
        return x
    values, vectors = eigen(_symmetric(x))
    return _back(x, x.shape[:-2], _zyx.matmul(vectors * _zyx._unsqueeze(F.sqrt(values), 1), vectors.mT))[0]


@op(aten.linalg_matrix_exp.default)
def matrix_exp(node, x):
    """A series of a matrix whose norm is below 1 / 2, squared as often as it was halved."""
    if not x.size:
        return x
    a = _wide(x)
    norm = _zyx._max(_zyx._sum(F.abs(a), [1], True), [2], True)
    halves = F.ceil(_zyx._log2(_zyx.maximum(norm, 1e-300))) + 1.0
    halves = _zyx.minimum(_zyx.maximum(halves, 0.0), 64.0)
    a = a * _zyx._exp2(-halves)
    one = expand(_eye(a.shape[-1], float64), a.shape)
    total = one
    for k in range(16, 0, -1):
        total = one + _zyx.matmul(a, total) * (1 / k)
    made = loop(65, total, lambda trip, y: where(expand(cast(trip, float64) < halves, y.shape), _zyx.matmul(y, y), y))
    return _back(x, x.shape[:-2], made)[0]
