# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QR, singular values and eigenvalues, computed in float64."""
import math

import torch

from .. import _functions as F
from .. import _zyx
from .._factorizations import LARGEST, decomposed, eigen, eye, orthogonal, reflected, reflections, restored, widened
from .._transforms import loop
from ._lower import aten, cast, expand, float64, full, meta_of, newer, op, reshape, result_dtype, where


def _limit_size(node):
    shape = meta_of(node.args[0]).shape
    return f"has a matrix of more than {LARGEST} columns and rows" if min(shape[-2:]) > LARGEST else None


@op(aten.geqrf.default)
def geqrf(node, x):
    return restored(x, x.shape[:-2], *reflected(widened(x)))


@op(aten.linalg_householder_product.default)
def householder_product(node, x, taus):
    if not x.size:
        return x
    a = widened(x)
    taus = cast(reshape(taus, (a.shape[0], taus.shape[-1])), float64)
    return restored(x, x.shape[:-2], orthogonal(a, taus, x.shape[-1]))[0]


@op(aten.ormqr.default)
def ormqr(node, x, taus, other, left=True, transpose=False):
    if not other.size or not taus.size:
        return other
    y = widened(other if left else other.mT)
    taus = cast(reshape(taus, (y.shape[0], taus.shape[-1])), float64)
    # From the right: the transposed product from the left.
    y = reflections(widened(x), taus, y, bool(transpose) == bool(left))
    return restored(other, other.shape[:-2], y if left else y.mT)[0]


@op(aten.linalg_qr.default)
def qr(node, x, mode="reduced"):
    rows, columns = x.shape[-2:]
    count = min(rows, columns)
    a, taus = reflected(widened(x))
    r = _zyx._triu(a, 0)
    if mode == "r":
        return full((0,), 0, x.dtype), *restored(x, x.shape[:-2], r[:, :count])
    q = orthogonal(a, taus, rows if mode == "complete" else count)
    return restored(x, x.shape[:-2], q, r if mode == "complete" else r[:, :count])


@op(aten._linalg_svd.default, limit=_limit_size)
def svd(node, x, full_matrices=False, compute_uv=True, *, driver=None):
    shapes = [tuple(each.shape) for each in node.meta["val"]]
    rows, columns = x.shape[-2:]
    if not x.size:
        eyes = [expand(eye(shape[-1], x.dtype), shape) if math.prod(shape) else full(shape, 0, x.dtype) for shape in shapes[::2]]
        return eyes[0], full(shapes[1], 0, x.dtype), eyes[1]
    u, s, v = decomposed(widened(x), full_matrices)
    if not compute_uv:
        none = full((0,), 0, x.dtype)
        return none, *restored(x, x.shape[:-2], s), none
    return restored(x, x.shape[:-2], u, s, v.mT)


def _symmetric(x, upper=False):
    """Of one triangle; PyTorch reads no other."""
    a = widened(x)
    a = a.mT if upper else a
    return _zyx._tril(a, 0) + _zyx._tril(a, -1).mT


@op(aten._linalg_eigh.default, limit=_limit_size)
def eigh(node, x, UPLO="L", compute_v=True):
    lead = x.shape[:-2]
    if not x.size:
        return full(x.shape[:-1], 0, x.dtype), full(tuple(node.meta["val"][1].shape), 0, x.dtype)
    values, vectors = eigen(_symmetric(x, UPLO.upper() == "U"))
    values, vectors = restored(x, lead, values, vectors)
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
        left, values, right = decomposed(widened(x), False)
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
    return restored(x, lead, found)[0]


@op(*newer("linalg_polar"), limit=_limit_size)
def polar(node, x):
    if not x.size:
        return tuple(full(tuple(each.shape), 0, x.dtype) for each in node.meta["val"])
    u, s, v = decomposed(widened(x), False)
    return restored(x, x.shape[:-2], _zyx.matmul(u, v.mT), _zyx.matmul(v * _zyx._unsqueeze(s, 1), v.mT))


@op(*newer("linalg_matrix_sqrth"), limit=_limit_size)
def root(node, x):
    if not x.size:
        return x
    values, vectors = eigen(_symmetric(x))
    return restored(x, x.shape[:-2], _zyx.matmul(vectors * _zyx._unsqueeze(F.sqrt(values), 1), vectors.mT))[0]


@op(aten.linalg_matrix_exp.default)
def matrix_exp(node, x):
    """A series of a matrix whose norm is below 1 / 2, squared as often as it was halved."""
    if not x.size:
        return x
    a = widened(x)
    norm = _zyx._max(_zyx._sum(F.abs(a), [1], True), [2], True)
    halves = F.ceil(_zyx._log2(_zyx.maximum(norm, 1e-300))) + 1.0
    halves = _zyx.minimum(_zyx.maximum(halves, 0.0), 64.0)
    a = a * _zyx._exp2(-halves)
    one = expand(eye(a.shape[-1], float64), a.shape)
    total = one
    for k in range(16, 0, -1):
        total = one + _zyx.matmul(a, total) * (1 / k)
    made = loop(65, total, lambda trip, y: where(expand(cast(trip, float64) < halves, y.shape), _zyx.matmul(y, y), y))
    return restored(x, x.shape[:-2], made)[0]
