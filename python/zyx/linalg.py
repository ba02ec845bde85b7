# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is of the linear algebra extension of the array API standard."""
from . import _zyx
from ._functions import _expect, matrix_transpose, tensordot, vecdot
from ._zyx import matmul

__all__ = ["cholesky", "matmul", "matrix_transpose", "tensordot", "vecdot"]


def cholesky(x, /, *, upper=False):
    """The lower triangular matrix L with L L^T = x, of symmetric positive definite ones; with `upper` its transpose.

        >>> zyx.linalg.cholesky(zyx.asarray([[4.0, 2.0], [2.0, 5.0]])).tolist()
        [[2.0, 0.0], [1.0, 2.0]]
    """
    lower = _zyx._cholesky(_expect(x, "floats", "cholesky"))
    return lower.mT if upper else lower
