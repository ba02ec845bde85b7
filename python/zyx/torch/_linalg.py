# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factorizations and systems of equations, for small matrices."""
from .. import _functions as F
from .. import _zyx
from .._factorizations import diagonal, eye, factored, row_order, solved, triangle
from ._lower import aten, cast, expand, full, int64, iota, meta_of, op, reshape, where

int32 = _zyx.int32


def _singular(made):
    """The number of the first pivot that is 0, or 0."""
    count = min(made.shape[-2:])
    if not count:
        return full(made.shape[:-2], 0, int32)
    return _first(diagonal(made) == 0)


def _first(bad):
    """The number of the first true element along the last axis, counted from 1, or 0."""
    first = _zyx._argmax(cast(bad, _zyx.uint8), bad.ndim - 1, False) + 1
    return cast(where(_zyx._any(bad, [bad.ndim - 1], False), first, full((), 0, int64)), int32)


@op(aten.linalg_lu_factor_ex.default)
def lu_factor(node, x, *, pivot=True, check_errors=False):
    made, found = factored(x, pivot)
    return made, found, _singular(made)


def _parts(made, pivots):
    rows, columns = made.shape[-2:]
    count = min(rows, columns)
    l = made[..., :, :count]
    l = _zyx._tril(l, -1) + _zyx._eye(rows, count, 0, made.dtype)
    u = _zyx._triu(made[..., :count, :], 0)
    # Row i of P has its one where the row comes from.
    order = row_order(pivots, rows)
    p = cast(_zyx._unsqueeze(order, -2) == _zyx._unsqueeze(iota((rows,), 0), -1), made.dtype)
    return p, l, u


@op(aten.lu_unpack.default)
def lu_unpack(node, made, pivots, unpack_data=True, unpack_pivots=True):
    none = full((0,), 0, made.dtype)
    p, l, u = _parts(made, pivots)
    return p if unpack_pivots else none, l if unpack_data else none, u if unpack_data else none


@op(aten.linalg_lu.default)
def lu(node, x, *, pivot=True):
    made, pivots = factored(x, pivot)
    p, l, u = _parts(made, pivots)
    return p if pivot else full((0,), 0, x.dtype), l, u


@op(aten.linalg_lu_solve.default)
def lu_solve(node, made, pivots, b, *, left=True, adjoint=False):
    if not left:
        # x a = b is a^T x^T = b^T.
        return lu_solve(node, made, pivots, b.mT, left=True, adjoint=not adjoint).mT
    if not adjoint:
        return solved(made, pivots, b)
    rows = made.shape[-1]
    y = triangle(made.mT, b, False)
    y = triangle(made.mT, y, True, True)
    if y.size == 0:
        return y
    # Rows back to where they came from.
    order = expand(_zyx._unsqueeze(row_order(pivots, rows), -1), y.shape[:-2] + (rows, 1))
    back = _zyx._argsort(order, order.ndim - 2, False)
    return _zyx._take_along_axis(y, expand(back, y.shape), y.ndim - 2)


def _parity(pivots, dtype):
    moved = cast(pivots, int64) != iota((pivots.shape[-1],), 0) + 1
    count = _zyx._sum(cast(moved, int64), [pivots.ndim - 1], False)
    return cast(1 - (count & 1) * 2, dtype)


def _turned(node, x):
    """What PyTorch takes the factors of, on which derivatives of determinants rely: of a matrix in row-major order the transposed one."""
    return x.mT if meta_of(node.args[0]).is_contiguous() else x


@op(aten._linalg_det.default)
def det(node, x):
    made, pivots = factored(_turned(node, x))
    found = _zyx._prod(diagonal(made), [x.ndim - 2], False) if x.shape[-1] else full(x.shape[:-2], 1, x.dtype)
    return found * _parity(pivots, x.dtype) if x.shape[-1] else found, made, pivots


@op(aten._linalg_slogdet.default)
def slogdet(node, x):
    made, pivots = factored(_turned(node, x))
    if not x.shape[-1]:
        return full(x.shape[:-2], 1, x.dtype), full(x.shape[:-2], 0, x.dtype), made, pivots
    d, axes = diagonal(made), [x.ndim - 2]
    sign = cast(cast(d > 0, _zyx.int8) - cast(d < 0, _zyx.int8), x.dtype)
    return (_zyx._prod(sign, axes, False) * _parity(pivots, x.dtype), _zyx._sum(F.log(F.abs(d)), axes, False), made,
            pivots)


@op(aten._linalg_solve_ex.default)
def solve(node, a, b, *, left=True, check_errors=False):
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    y = _zyx._unsqueeze(b, -1) if is_vector else b
    made, pivots = factored(a)
    x = lu_solve(node, made, pivots, y, left=left or is_vector)
    return reshape(x, x.shape[:-1]) if is_vector else x, made, pivots, _singular(made)


@op(aten.linalg_inv_ex.default)
def inverse(node, x, *, check_errors=False):
    if x.size == 0:
        return x, full(x.shape[:-2], 0, int32)
    made, pivots = factored(x)
    return solved(made, pivots, expand(eye(x.shape[-1], x.dtype), x.shape)), _singular(made)


@op(aten.linalg_solve_triangular.default)
def solve_triangular(node, a, b, *, upper, left=True, unitriangular=False):
    if not left:
        return triangle(a.mT, b.mT, not upper, unitriangular).mT
    return triangle(a, b, upper, unitriangular)


@op(aten.triangular_solve.default)
def old_solve_triangular(node, b, a, upper=True, transpose=False, unitriangular=False):
    lead = F._broadcast_shape([a.shape[:-2], b.shape[:-2]], "solve")
    x = triangle(a.mT if transpose else a, b, upper != transpose, unitriangular)
    return x, expand(a, lead + a.shape[-2:])


@op(aten.linalg_cholesky_ex.default)
def cholesky(node, x, *, upper=False, check_errors=False):
    if x.size == 0:
        return x, full(x.shape[:-2], 0, int32)
    l = _zyx._cholesky(x.mT if upper else x)
    # The order of the first minor that is not positive.
    return l.mT if upper else l, _first(F.logical_not(F.isfinite(diagonal(l))))


@op(aten.cholesky_solve.default)
def cholesky_solve(node, b, l, upper=False):
    l = l.mT if upper else l
    return triangle(l.mT, triangle(l, b, False), True)


@op(aten.cholesky_inverse.default)
def cholesky_inverse(node, l, upper=False):
    if l.size == 0:
        return l
    return cholesky_solve(node, expand(eye(l.shape[-1], l.dtype), l.shape), l, upper)
