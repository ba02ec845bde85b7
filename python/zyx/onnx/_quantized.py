# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantised arrays and products."""
import math

from .. import _functions as F
from .. import _zyx
from . import _types
from ._elementwise import cast, convert, full, spread, where
from ._model import ModelError, op
from ._movement import padded
from ._network import convolved

float32, int32 = _zyx.float32, _zyx.int32

RANGES = {
    _types.UINT8: (0, 255), _types.INT8: (-128, 127), _types.UINT16: (0, 65535), _types.INT16: (-32768, 32767),
    _types.UINT4: (0, 15), _types.INT4: (-8, 7), _types.UINT2: (0, 3), _types.INT2: (-2, 1),
}


def _placed(each, x, axis, block):
    """Scales and zero points in the shape of what they belong to."""
    if each.ndim == 0 or each.size == 1 and each.ndim <= 1:
        return _zyx._reshape(each, ())
    axis %= max(x.ndim, 1)
    if block:
        wide = _zyx._repeat_interleave(each, block, axis)
        if wide.shape[axis] != x.shape[axis]:
            key = [slice(None)] * x.ndim
            key[axis] = slice(0, x.shape[axis])
            wide = wide[tuple(key)]
        return wide
    own = [1] * x.ndim
    own[axis] = each.size
    return _zyx._reshape(each, own)


def rounded(x, code, zero):
    """Floats as integers of a type: the nearest one, of two the even one, plus the zero point, as near as the type goes."""
    low, high = RANGES[code]
    x = F.round(x)
    x = x if zero is None else x + cast(zero, x.dtype)
    return cast(F.clip(x, float(low), float(high)), _types.dtype_of(code))


@op("QuantizeLinear")
def quantize(n, x, scale, zero=None):
    axis, block = n.attr("axis", 1), n.attr("block_size", 0)
    code = n.code(2) if zero is not None else n.attr("output_dtype", 0) or _types.UINT8
    scale = _placed(scale, x, axis, block)
    precision = n.attr("precision", 0)
    common = _types.dtype_of(precision) if precision else float32
    y = cast(x, common) / cast(scale, common)
    y = cast(y, float32)
    n.set_code(code)
    zero = None if zero is None else _placed(zero, x, axis, block)
    if code in RANGES:
        return rounded(y, code, zero)
    y = y if zero is None else y + cast(zero, float32)
    return convert(y, _types.FLOAT, code, bool(n.attr("saturate", 1)))


@op("DequantizeLinear")
def dequantize(n, x, scale, zero=None):
    axis, block = n.attr("axis", 1), n.attr("block_size", 0)
    code = n.attr("output_dtype", 0)
    dtype = _types.dtype_of(code) if code else scale.dtype
    is_float = x.dtype.is_float
    y = cast(x, float32 if is_float else int32)
    if zero is not None:
        y = y - cast(_placed(zero, x, axis, block), y.dtype)
    return cast(cast(y, float32) * cast(_placed(scale, x, axis, block), float32), dtype)


@op("DynamicQuantizeLinear")
def dynamic_quantize(n, x):
    axes = tuple(range(x.ndim))
    low = _zyx.minimum(_zyx._min(x, axes, False), 0.0)
    high = _zyx.maximum(_zyx._max(x, axes, False), 0.0)
    scale = (high - low) / 255.0
    safe = where(scale == 0, 1.0, scale)
    zero = F.clip(F.round(low * -1.0 / safe), 0.0, 255.0)
    y = F.clip(F.round(x / safe) + zero, 0.0, 255.0)
    return cast(y, _zyx.uint8), scale, cast(zero, _zyx.uint8)


def _per_row(zero):
    return zero if zero.ndim != 1 or zero.size == 1 else _zyx._unsqueeze(zero, 1)


def _integer_product(a, b, a_zero, b_zero):
    a, b = cast(a, int32), cast(b, int32)
    a = a if a_zero is None else a - cast(_per_row(a_zero), int32)
    b = b if b_zero is None else b - cast(b_zero, int32)
    return _zyx.matmul(a, b)


@op("MatMulInteger")
def matmul_integer(n, a, b, a_zero=None, b_zero=None):
    return _integer_product(a, b, a_zero, b_zero)


@op("QLinearMatMul")
def quantized_matmul(n, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    product = cast(_integer_product(a, b, a_zero, b_zero), float32)
    scale = cast(_per_row(a_scale), float32) * cast(b_scale, float32) / cast(y_scale, float32)
    n.set_code(n.code(7))
    if n.code(7) not in RANGES:
        n.refuse(f"results of {_types.name_of(n.code(7))}")
    return rounded(product * scale, n.code(7), y_zero)


@op("ConvInteger")
def convolution_integer(n, x, filters, x_zero=None, w_zero=None):
    x, filters = cast(x, int32), cast(filters, int32)
    x = x if x_zero is None else x - cast(x_zero, int32)
    if w_zero is not None:
        w_zero = cast(w_zero, int32)
        filters = filters - (_zyx._reshape(w_zero, (-1,) + (1,) * (filters.ndim - 1)) if w_zero.size > 1 else w_zero)
    return convolved(n, x, filters, None, list(filters.shape[2:]))


@op("QLinearConv")
def quantized_convolution(n, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None):
    def rows(each, ndim):
        return _zyx._reshape(each, (-1,) + (1,) * (ndim - 1)) if each.size > 1 else each

    filters = cast(w, int32) - rows(cast(w_zero, int32), w.ndim)
    sums = convolved(n, cast(x, int32) - cast(x_zero, int32), filters, None, list(w.shape[2:]))
    if bias is not None:
        sums = sums + spread(bias, sums.ndim)
    scale = cast(x_scale, float32) * cast(w_scale, float32) / cast(y_scale, float32)
    scale = spread(scale, sums.ndim) if scale.size > 1 else scale
    return rounded(cast(sums, float32) * scale, n.code(7), y_zero)
