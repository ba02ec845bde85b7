# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factorizations: ops of StableHLO, and the routines of LAPACK that JAX calls on the host."""
from .. import _functions as F
from .. import _zyx
from .._complex import Complex
from .._factorizations import (LARGEST, decomposed, eigen, factored, orthogonal, reflected, restored, triangle, widened)
from .._lowering import cast, full, reshape, wide
from ._lower import op
from ._reduction import approximate_top_k

int32 = _zyx.int32

# What becomes of a custom call, by the name of its target without the letter of its elements.
ROUTINES = {}


def routine(name):
    def register(function):
        ROUTINES[name] = function
        return function

    return register


def _real(node, *arguments):
    if any(isinstance(x, Complex) for x in arguments):
        node.refuse("of complex elements")


def solve_triangle(node, a, b, left, lower, unit, transposed):
    """The x with op(a) x = b, or x op(a) = b."""
    _real(node, a, b)
    if b.size == 0:
        return b
    dtype = b.dtype
    a, b = wide(a), wide(b)
    # The other triangle is not read, whatever it holds.
    a = _zyx._tril(a, 0) if lower else _zyx._triu(a, 0)
    if transposed:
        a, lower = a.mT, not lower
    if not left:
        return cast(triangle(a.mT, b.mT, lower, unit).mT, dtype)
    return cast(triangle(a, b, not lower, unit), dtype)


@op("stablehlo.triangular_solve")
def triangular_solve(node, a, b):
    return solve_triangle(node, a, b, bool(node.integer("left_side")), bool(node.integer("lower")),
                          bool(node.integer("unit_diagonal")), node.word("transpose_a") in ("TRANSPOSE", "ADJOINT"))


def lower_factor(node, x):
    """Of the lower triangle; NaN where the matrix has none."""
    _real(node, x)
    if x.size == 0:
        return x
    y = wide(x)
    y = _zyx._tril(y, 0) + _zyx._tril(y, -1).mT
    return _zyx._tril(_zyx._cholesky(y), 0)


@op("stablehlo.cholesky")
def cholesky(node, x):
    _real(node, x)
    if bool(node.integer("lower", False)):
        return lower_factor(node, x)
    return lower_factor(node, x.mT).mT


def _settings(node):
    attributes = node.op.attributes
    return attributes["mhlo.backend_config"] if "mhlo.backend_config" in attributes else None


def _letter(node, name):
    """A character among the settings of a routine."""
    settings = _settings(node)
    return chr(settings[name].value) if settings is not None and name in settings else None


def _info(node, at, bad=None):
    """Whether a routine failed: 0, or 1 for each matrix that is bad."""
    type = node.types[at]
    if bad is None:
        return full(type.shape, 0, int32)
    return cast(reshape(bad, type.shape), int32)


@routine("potrf_ffi")
def potrf(node, x):
    upper = _letter(node, "uplo") == "U"
    made = lower_factor(node, x.mT if upper else x)
    bad = _zyx._any(F.logical_not(F.isfinite(made)), [made.ndim - 2, made.ndim - 1], False) if made.size else None
    return [made.mT if upper else made, _info(node, 1, bad)]


@routine("trsm_ffi")
def trsm(node, a, b):
    return solve_triangle(node, a, b, _letter(node, "side") == "L", _letter(node, "uplo") == "L", _letter(node, "diag") == "U",
                          _letter(node, "trans_x") != "N")


@routine("getrf_ffi")
def getrf(node, x):
    _real(node, x)
    made, pivots = factored(wide(x))
    return [made, pivots, _info(node, 2)]


@routine("geqrf_ffi")
def geqrf(node, x):
    _real(node, x)
    return list(restored(x, x.shape[:-2], *reflected(widened(x))))


@routine("orgqr_ffi")
def orgqr(node, x, taus):
    _real(node, x)
    if not x.size:
        return x
    a = widened(x)
    taus = cast(reshape(taus, (a.shape[0], taus.shape[-1])), _zyx.float64)
    return restored(x, x.shape[:-2], orthogonal(a, taus, x.shape[-1]))[0]


def _fits(node, x):
    _real(node, x)
    if min(x.shape[-2:]) > LARGEST:
        node.refuse(f"of a matrix of more than {LARGEST} rows and columns")


@routine("gesdd_ffi")
def gesdd(node, x):
    """Singular values with both sets of vectors, or alone."""
    _fits(node, x)
    mode = _letter(node, "mode")
    shapes = [type.shape for type in node.types]
    if not x.size:
        node.refuse("of a matrix without elements")
    u, s, v = decomposed(widened(x), mode == "A")
    u, s, vt = restored(x, x.shape[:-2], u, s, v.mT)
    return [x, s, _shown(u, shapes[2]), _shown(vt, shapes[3]), _info(node, 4)]


def _shown(x, shape):
    # Of singular values alone LAPACK leaves arrays that nobody reads.
    return x if x.shape == tuple(shape) else full(shape, 0, x.dtype)


@routine("syevd_ffi")
def syevd(node, x):
    _fits(node, x)
    if not x.size:
        node.refuse("of a matrix without elements")
    a = widened(x)
    a = a.mT if _letter(node, "uplo") == "U" else a
    values, vectors = eigen(_zyx._tril(a, 0) + _zyx._tril(a, -1).mT)
    values, vectors = restored(x, x.shape[:-2], values, vectors)
    return [vectors, values, _info(node, 2)]


@op("stablehlo.custom_call")
def custom_call(node, *arguments):
    target = node.op.attributes["call_target_name"].value
    if target in ("Sharding", "annotate_device_placement", "SPMDFullToShardShape", "SPMDShardToFullShape"):
        return list(arguments)
    if target.startswith("lapack_") and target[7:8] in "sd" and target[8:] in ROUTINES:
        return ROUTINES[target[8:]](node, *arguments)
    if target == "ApproxTopK":
        return approximate_top_k(node, *arguments)
    node.refuse(f"of '{target}', which is code of another library")
