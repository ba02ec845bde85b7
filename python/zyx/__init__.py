# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lazy arrays, gradients and modules over the compiler zyx.

The namespace is that of the Python array API standard, 2024.12. docs/python.md says where it differs.
"""
import math as _math
import os as _os
import sys as _sys

from . import _zyx

# Lines of the package are none of the user's: errors and programs name the line that called it.
_zyx._set_package_folder(_os.path.dirname(__file__) + _os.sep)

from ._zyx import (Array, DType, Error, InvalidArgumentError, OutOfMemoryError, Tape, UnsupportedError, __version__,
                   counters, default_device, device_scope, load, save, sync)
from ._zyx import (bool, bfloat16, float16, float32, float64, float8_e4m3fn, float8_e5m2, int8, int16, int32, int64,
                   uint8, uint16, uint32, uint64)
from ._zyx import (add, atan2, bitwise_and, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, copysign,
                   divide, equal, floor_divide, greater, greater_equal, hypot, less, less_equal, logaddexp, matmul,
                   maximum, minimum, multiply, nextafter, not_equal, pow, remainder, subtract)
from ._dtypes import __array_namespace_info__, astype, can_cast, finfo, iinfo, isdtype, result_type
from . import _array as _methods
from ._creation import (arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones,
                        ones_like, tril, triu, zeros, zeros_like)
# Written by utils/gen-graph-inc.py from UnaryKinds.td, and not by hand:
from ._functions import (cbrt, ceil, cos, erf, exp, exp2, expm1, floor, log, log2, reciprocal, round, rsqrt, sin, sqrt,
                         tan, tanh, trunc)
# Written until here.
from ._functions import (abs, acos, acosh, all, any, argmax, argmin, argsort, asin, asinh, atan, atanh, bitwise_invert,
                         broadcast_arrays, broadcast_to, clip, concat, conj, cosh, count_nonzero, cumulative_prod,
                         cumulative_sum, diff, einsum, expand_dims, flip, imag, isfinite, isinf, isnan, log10, log1p,
                         logical_and, logical_not, logical_or, logical_xor, logsumexp, matrix_transpose, max, mean, min,
                         moveaxis, negative, nonzero, pad, permute_dims, positive, prod, real, repeat, reshape, roll,
                         searchsorted, sign, signbit, sinh, softmax, sort, square, squeeze, stack, std, sum, take,
                         take_along_axis, tensordot, tile, topk, unique_all, unique_counts, unique_inverse,
                         unique_values, unstack, var, vecdot, where)
from ._export import compile_to, load_program
from ._picture import plot
from ._transforms import (checkpoint, cond, detach, eval, grad, gradient, jit, loop, switch, tree_flatten, tree_map,
                          tree_unflatten, value_and_grad, while_loop)

if "ipykernel" in _sys.modules:
    from ._notebook import Progress as _Progress
    _zyx._set_progress(_Progress())

__array_api_version__ = "2024.12"
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
pi = _math.pi


# What not every program needs is read when it is named.
_MODULES = ("jax", "linalg", "models", "nn", "onnx", "optim", "random", "torch")


def __getattr__(name):
    if name in _MODULES:
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'zyx' has no attribute '{name}'")


def __dir__():
    # Those of packages that are not there would be names that cannot be read.
    from importlib.util import find_spec
    modules = [name for name in _MODULES if name not in ("jax", "torch") or find_spec(name)]
    return sorted({name for name in globals() if not name.startswith("_")} | {*modules})
