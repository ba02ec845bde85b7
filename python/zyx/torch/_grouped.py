# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows, each with a matrix of its own, as mixtures of experts have them. Data says where a group ends."""
import torch

from .. import _zyx
from ._lower import OPS, aten, cast, expand, full, int64, iota, meta_of, op, reshape, result_dtype, where, wide
from ._segments import owners


def _groups(offsets, rows):
    """Of each row its group, or -1 behind the last one."""
    ends = cast(offsets, int64)
    count = ends.size
    starts = _zyx._concat([full((1,), 0, int64), ends[:-1]], 0) if count > 1 else full((1,), 0, int64)
    return owners(ends, starts, rows)


def _is_of(own, count):
    """[count, rows]: whether a row is of a group."""
    return expand(reshape(own, (1, own.size)), (count, own.size)) == iota((count, 1), 0)


def _rows_by_groups(x, weights, own):
    """[rows, n]: each row's product with the matrix of its group, zeros without one. A matrix of another group is not
    looked at, whatever its elements are."""
    rows, count, columns = x.shape[0], weights.shape[0], weights.shape[2]
    if rows <= count:
        each = _zyx._take(weights, _zyx.maximum(own, 0), 0)
        y = reshape(_zyx.matmul(reshape(x, (rows, 1, x.shape[1])), each), (rows, columns))
        return where(expand(reshape(own >= 0, (rows, 1)), y.shape), y, full((), 0, y.dtype))
    every = _zyx.matmul(expand(reshape(x, (1, *x.shape)), (count, *x.shape)), weights)
    is_own = expand(reshape(_is_of(own, count), (count, rows, 1)), every.shape)
    # All but one of the terms are zeros.
    return cast(_zyx._sum(wide(where(is_own, every, full((), 0, every.dtype))), [0], False), every.dtype)


def _groups_of_rows(x, y, own, count):
    """[count, m, n]: for each group the product of its columns of x, [m, rows], with its rows of y."""
    is_own = _is_of(own, count)
    rows = own.size
    left = where(expand(reshape(is_own, (count, 1, rows)), (count, *x.shape)), expand(reshape(x, (1, *x.shape)), (count, *x.shape)),
                 full((), 0, x.dtype))
    right = where(expand(reshape(is_own, (count, rows, 1)), (count, *y.shape)), expand(reshape(y, (1, *y.shape)), (count, *y.shape)),
                  full((), 0, y.dtype))
    return _zyx.matmul(left, right)


def _limit(node):
    a, b = (meta_of(each) for each in node.args[:2])
    offsets = node.args[2] if len(node.args) > 2 else node.kwargs.get("offs")
    bias = node.args[3] if len(node.args) > 3 else node.kwargs.get("bias")
    if bias is not None:
        return "has a bias"
    if a.ndim + b.ndim < 6 and offsets is None:
        return "has no offsets"
    return "has no groups" if a.numel() == 0 or b.numel() == 0 else None


if hasattr(aten, "_grouped_mm"):

    @op(aten._grouped_mm.default, limit=_limit)
    def grouped_mm(node, a, b, offs=None, bias=None, out_dtype=None):
        if a.ndim == 3 and b.ndim == 3:
            y = _zyx.matmul(a, b)
        elif b.ndim == 3:
            y = _rows_by_groups(a, b, _groups(offs, a.shape[0]))
        elif a.ndim == 3:
            # Groups of columns of the second one.
            y = _rows_by_groups(b.mT, a.mT, _groups(offs, b.shape[1])).mT
        else:
            y = _groups_of_rows(a, b, _groups(offs, a.shape[1]), offs.size)
        return cast(y, result_dtype(node))


def _fallback(node, x, weights, offsets):
    if x.size == 0 or weights.size == 0:
        return full(node.meta["val"].shape, 0, x.dtype)
    return _rows_by_groups(x, weights, _groups(offsets, x.shape[0]))


def _fallback_backward(node, x, weights, offsets, gradient):
    if x.size == 0 or weights.size == 0 or gradient.size == 0:
        return full(x.shape, 0, x.dtype), full(weights.shape, 0, weights.dtype)
    own = _groups(offsets, x.shape[0])
    return _rows_by_groups(gradient, weights.mT, own), _groups_of_rows(x.mT, gradient, own, weights.shape[0])


def register():
    """The same as ops of the package transformers, which are there once it is imported."""
    library = getattr(torch.ops, "transformers")
    for name, function in (("grouped_mm_fallback", _fallback), ("grouped_mm_fallback_backward", _fallback_backward)):
        if hasattr(library, name):
            OPS.setdefault(getattr(library, name).default, function)
