# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of elements."""
import math

import torch

from .. import _functions as F
from .. import _small, _zyx
from ._lower import (BITS, KIND, SATURATES, aten, cast, computed_in, expand, float32, float64, full, int64, meta_of, op, operand,
                     packets, prims, result_dtype, where, wide)

uint8 = _zyx.uint8


def unary(function, *targets, kind=KIND.DEFAULT):
    """Of one array, computed in the dtype that PyTorch promotes to."""

    def made(node, x, **_):
        return function(cast(x, computed_in(node, node.args[:1], kind)))

    op(*targets)(made)


def floats(function, *targets):
    unary(function, *targets, kind=KIND.INT_TO_FLOAT)


for _targets, _function in {
        (aten.acos.default,): F.acos, (aten.acosh.default,): F.acosh, (aten.asin.default,): F.asin,
        (aten.asinh.default,): F.asinh, (aten.atan.default,): F.atan, (aten.atanh.default,): F.atanh,
        (aten.cos.default,): F.cos, (aten.cosh.default,): F.cosh, (aten.erf.default,): F.erf,
        (aten.exp.default,): F.exp, (aten.exp2.default,): _zyx._exp2, (aten.expm1.default,): F.expm1,
        (aten.log.default,): F.log, (aten.log10.default,): F.log10, (aten.log1p.default,): F.log1p,
        (aten.log2.default,): F.log2, (aten.reciprocal.default,): F.reciprocal, (aten.rsqrt.default,): F.rsqrt,
        (aten.sigmoid.default,): _zyx._sigmoid, (aten.sin.default,): F.sin, (aten.sinh.default,): F.sinh,
        (aten.sqrt.default,): F.sqrt, (aten.tan.default,): F.tan, (aten.tanh.default,): F.tanh,
        (aten.erfinv.default,): _zyx._erfinv, (aten.silu.default,): _zyx._silu, (aten.mish.default,): _zyx._mish,
}.items():
    floats(_function, *_targets)


def _of_numbers(function):
    """Of bools as of 0 and 1."""
    return lambda x: cast(function(cast(x, uint8)), _zyx.bool) if x.dtype is _zyx.bool else function(x)


for _target, _function in {
        aten.abs.default: _of_numbers(F.abs), aten.neg.default: F.negative, aten.ceil.default: F.ceil,
        aten.floor.default: F.floor, aten.round.default: F.round, aten.trunc.default: F.trunc,
        # NaN stays.
        aten.relu.default: lambda x: where(x <= 0, full((), 0, x.dtype), x)}.items():
    unary(_function, _target)


@op(aten.sign.default, aten.sgn.default)
def sign(node, x):
    if x.dtype is _zyx.bool:
        return x
    if not x.dtype.is_float:
        return _zyx._sign(x)
    # PyTorch has 0 of NaN.
    return cast(cast(x > 0, _zyx.int8) - cast(x < 0, _zyx.int8), x.dtype)


@op(aten.signbit.default)
def signbit(node, x):
    if x.dtype.is_float:
        return F.signbit(x)
    return full(x.shape, 0, _zyx.bool) if x.dtype is _zyx.bool or x.dtype.is_unsigned else x < 0


@op(aten.isnan.default)
def isnan(node, x):
    return F.isnan(x) if x.dtype.is_float else full(x.shape, 0, _zyx.bool)


@op(aten.isinf.default)
def isinf(node, x):
    return F.isinf(x) if x.dtype.is_float else full(x.shape, 0, _zyx.bool)


@op(aten.isfinite.default)
def isfinite(node, x):
    return F.isfinite(x) if x.dtype.is_float else full(x.shape, 1, _zyx.bool)


@op(aten.logical_not.default)
def logical_not(node, x):
    return x == 0 if x.dtype is not _zyx.bool else F.logical_not(x)


@op(aten.bitwise_not.default)
def bitwise_not(node, x):
    return F.bitwise_invert(x)


@op(aten.round.decimals)
def round_decimals(node, x, *, decimals):
    if not x.dtype.is_float or decimals == 0:
        return F.round(x) if x.dtype.is_float else x
    y = wide(x)
    scale = full((), 10.0**abs(decimals), y.dtype)
    return cast(F.round(y * scale) / scale if decimals > 0 else F.round(y / scale) * scale, x.dtype)


# Two operands


def numbers_of(function, kind=KIND.DEFAULT, truth=False):
    """Both operands in the dtype that PyTorch promotes to. Of bools as of 0 and 1, or as they are."""

    def made(node, a, b, **_):
        dtype = computed_in(node, node.args[:2], kind)
        a, b = operand(a, dtype), operand(b, dtype)
        if dtype is _zyx.bool and not truth:
            return function(cast(a, uint8), cast(b, uint8))
        return function(a, b)

    return made


def binary(function, *targets, kind=KIND.DEFAULT, truth=False):
    op(*targets)(numbers_of(function, kind, truth))


for _packet, _function in {
        aten.eq: _zyx.equal, aten.ne: _zyx.not_equal, aten.lt: _zyx.less, aten.le: _zyx.less_equal,
        aten.gt: _zyx.greater, aten.ge: _zyx.greater_equal}.items():
    def _comparison(node, a, b, function=_function):
        dtype = computed_in(node, node.args[:2], KIND.ALWAYS_BOOL)
        a, b = operand(a, dtype), operand(b, dtype)
        return function(cast(a, uint8), cast(b, uint8)) if dtype is _zyx.bool else function(a, b)

    op(_packet.Tensor, _packet.Scalar)(_comparison)

binary(_zyx.maximum, aten.maximum.default)
binary(_zyx.minimum, aten.minimum.default)
binary(_zyx.atan2, aten.atan2.default, kind=KIND.INT_TO_FLOAT)
binary(_zyx.hypot, aten.hypot.default)
binary(_zyx.copysign, aten.copysign.Tensor, aten.copysign.Scalar, kind=KIND.INT_TO_FLOAT)
binary(_zyx.bitwise_and, aten.bitwise_and.Tensor, aten.bitwise_and.Scalar, truth=True)
binary(_zyx.bitwise_or, aten.bitwise_or.Tensor, aten.bitwise_or.Scalar, truth=True)
binary(_zyx.bitwise_xor, aten.bitwise_xor.Tensor, aten.bitwise_xor.Scalar, truth=True)


@op(prims.gcd.default)
def gcd(node, a, b):
    """Euclid's steps. Of so many bits none takes more than of two neighbours of Fibonacci's."""
    dtype = result_dtype(node)
    a, b = F.abs(cast(a, dtype)), F.abs(cast(b, dtype))
    shape = F._broadcast_shape([a.shape, b.shape], "gcd")
    zero, one = full((), 0, dtype), full((), 1, dtype)

    def step(leaves):
        _, small, large = leaves
        divisor = where(small == 0, one, small)
        rest = large - _zyx._quotient(large, divisor) * divisor
        return [where(small == 0, small, rest), where(small == 0, large, small)]

    return _zyx._loop(math.ceil(1.4405 * 8 * dtype.itemsize) + 1, [expand(a, shape), expand(b, shape)], step)[1]


@op(prims.div.default)
def prims_div(node, a, b):
    """Of integers the quotient towards 0."""
    dtype = result_dtype(node)
    a, b = cast(a, dtype), cast(b, dtype)
    return a / b if dtype.is_float else _zyx._quotient(a, b)


def _shift(function, right):
    def made(a, b):
        width = 8 * a.dtype.itemsize
        # A count that is none shifts everything out.
        bad = (b < 0) | (b >= width)
        over = where(a < 0, full((), -1, a.dtype), full((), 0, a.dtype)) if right and a.dtype.is_signed else full((), 0, a.dtype)
        return where(bad, over, function(a, where(bad, full((), 0, b.dtype), b)))

    return made


binary(_shift(_zyx.bitwise_left_shift, False), aten.bitwise_left_shift.Tensor, aten.bitwise_left_shift.Tensor_Scalar)
binary(_shift(_zyx.bitwise_right_shift, True), aten.bitwise_right_shift.Tensor, aten.bitwise_right_shift.Tensor_Scalar)


@op(aten.nextafter.default)
def nextafter(node, a, b):
    return _zyx.nextafter(a, b)


def _scaled(function, truth):
    def made(node, a, b, alpha=1, **_):
        dtype = computed_in(node, node.args[:2])
        a, b = operand(a, dtype), operand(b, dtype)
        if dtype is _zyx.bool:
            return truth(a, b) if alpha else a
        if alpha != 1:
            b = b * full((), alpha, dtype)
        return function(a, b)

    return made


op(aten.add.Tensor, aten.add.Scalar)(_scaled(_zyx.add, _zyx.bitwise_or))
op(aten.sub.Tensor, aten.sub.Scalar)(_scaled(_zyx.subtract, _zyx.bitwise_xor))
op(aten.rsub.Tensor, aten.rsub.Scalar)(
    lambda node, a, b, alpha=1: _scaled(_zyx.subtract, _zyx.bitwise_xor)(_Swapped(node), b, a, alpha))


class _Swapped:
    """A node with its first two arguments the other way round."""

    def __init__(self, node):
        self.args, self.meta = (node.args[1], node.args[0], *node.args[2:]), node.meta


@op(aten.mul.Tensor, aten.mul.Scalar)
def mul(node, a, b):
    dtype = computed_in(node, node.args[:2])
    a, b = operand(a, dtype), operand(b, dtype)
    return _zyx.bitwise_and(a, b) if dtype is _zyx.bool else _zyx.multiply(a, b)


@op(*packets(aten.div))
def div(node, a, b, *, rounding_mode=None):
    if rounding_mode is None:
        dtype = computed_in(node, node.args[:2], KIND.INT_TO_FLOAT)
        return _zyx.divide(operand(a, dtype), operand(b, dtype))
    dtype = computed_in(node, node.args[:2])
    a, b = operand(a, dtype), operand(b, dtype)
    if dtype is _zyx.bool:
        a, b = cast(a, uint8), cast(b, uint8)
    if rounding_mode == "trunc":
        return F.trunc(_zyx.divide(a, b)) if dtype.is_float else _zyx._quotient(a, b)
    return _floor_quotient(a, b)


def _floor_quotient(a, b):
    """As torch.floor_divide: of floats from the remainder, so that it is exact."""
    if not a.dtype.is_float:
        return _zyx.floor_divide(a, b)
    rest = _zyx._fmod(a, b)
    quotient = (a - rest) / b
    quotient = where((rest != 0) & ((b < 0) != (rest < 0)), quotient - 1.0, quotient)
    low = F.floor(quotient)
    result = where(quotient - low > 0.5, low + 1.0, low)
    result = where(quotient == 0, _zyx.copysign(full((), 0, a.dtype), a / b), result)
    return where(b == 0, a / b, result)


@op(*packets(aten.remainder))
def remainder(node, a, b):
    dtype = computed_in(node, node.args[:2])
    a, b = operand(a, dtype), operand(b, dtype)
    if not dtype.is_float:
        return _zyx.remainder(cast(a, uint8), cast(b, uint8)) if dtype is _zyx.bool else _zyx.remainder(a, b)
    rest = _zyx._fmod(a, b)
    return where((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest)


binary(_zyx._fmod, *packets(aten.fmod))


@op(*packets(aten.pow))
def power(node, a, b):
    dtype = computed_in(node, node.args[:2], KIND.BOOL_TO_LONG)
    if isinstance(b, (int, float)):
        a = operand(a, dtype)
        if b == 2:
            return a * a
        if b == 1:
            return a
        if b == 3:
            return a * a * a
        if dtype.is_float and b == 0.5:
            # sqrt(-0) is -0, and of -inf NaN.
            return where(a == 0, full((), 0, dtype), where(a == -math.inf, full((), math.inf, dtype), F.sqrt(a)))
        if dtype.is_float and b == -1:
            return F.reciprocal(a)
        if dtype.is_float and b == -2:
            return F.reciprocal(a * a)
    return _zyx.pow(operand(a, dtype), operand(b, dtype))


def _logical(function):
    def made(node, a, b):
        return function(*[x if x.dtype is _zyx.bool else x != 0 for x in (a, b)])

    return made


op(aten.logical_and.default)(_logical(_zyx.bitwise_and))
op(aten.logical_or.default)(_logical(_zyx.bitwise_or))
op(aten.logical_xor.default)(_logical(_zyx.bitwise_xor))


def _without_nan(function):
    def made(node, a, b):
        dtype = computed_in(node, node.args[:2])
        a, b = operand(a, dtype), operand(b, dtype)
        if dtype is _zyx.bool:
            return function(cast(a, uint8), cast(b, uint8))
        if not dtype.is_float:
            return function(a, b)
        return where(a != a, b, where(b != b, a, function(a, b)))

    return made


op(aten.fmax.default)(_without_nan(_zyx.maximum))
op(aten.fmin.default)(_without_nan(_zyx.minimum))


def _bounded(node, x, low=None, high=None):
    named = [node.args[0]] + [each for each in (_named(node, 1, "min"), _named(node, 2, "max")) if each is not None]
    dtype = computed_in(node, named)
    y = operand(x, dtype)
    if dtype is _zyx.bool:
        y = cast(y, uint8)
    # The upper bound wins where they cross, and NaN stays.
    if low is not None:
        y = _zyx.maximum(y, operand(low, y.dtype))
    if high is not None:
        y = _zyx.minimum(y, operand(high, y.dtype))
    return y


def _named(node, position, name):
    return node.args[position] if len(node.args) > position else node.kwargs.get(name)


op(aten.clamp.default, aten.clamp.Tensor)(lambda node, x, min=None, max=None: _bounded(node, x, min, max))


@op(*packets(aten.clamp_min))
def clamp_min(node, x, min):
    dtype = computed_in(node, node.args[:2])
    x, min = operand(x, dtype), operand(min, dtype)
    return x | min if dtype is _zyx.bool else _zyx.maximum(x, min)


@op(*packets(aten.clamp_max))
def clamp_max(node, x, max):
    dtype = computed_in(node, node.args[:2])
    x, max = operand(x, dtype), operand(max, dtype)
    return x & max if dtype is _zyx.bool else _zyx.minimum(x, max)


@op(aten.where.self)
def where_of(node, condition, a, b):
    if condition.dtype is not _zyx.bool:
        condition = condition != 0
    dtype = result_dtype(node)
    a, b = cast(a, dtype), cast(b, dtype)
    if dtype is _zyx.bool:
        return (condition & a) | (F.logical_not(condition) & b)
    return where(condition, a, b)


# Activations


@op(aten.gelu.default)
def gelu(node, x, approximate="none"):
    return cast((_zyx._gelu if approximate == "none" else _zyx._gelu_tanh)(wide(x)), x.dtype)


@op(aten.elu.default)
def elu(node, x, alpha=1, scale=1, input_scale=1):
    y = wide(x)
    low = F.expm1(y * float(input_scale)) * (float(alpha) * float(scale))
    return where(y > 0, y * float(scale), low)


@op(aten.elu_backward.default)
def elu_backward(node, gradient, alpha, scale, input_scale, is_result, x):
    g, y = wide(gradient), wide(x)
    slope = float(input_scale) * float(alpha) * float(scale)
    low = (y + float(alpha) * float(scale)) * float(input_scale) if is_result else F.exp(y * float(input_scale)) * slope
    return where(y <= 0, g * low, g * float(scale))


@op(aten.leaky_relu.default)
def leaky_relu(node, x, slope=0.01):
    y = wide(x)
    return where(y > 0, y, y * float(slope))


@op(aten.hardtanh.default)
def hardtanh(node, x, low=-1, high=1):
    return _zyx.minimum(_zyx.maximum(x, operand(low, x.dtype)), operand(high, x.dtype))


# Casts and copies


@op(aten._to_copy.default, prims.convert_element_type.default)
def to_copy(node, x, *_, **__):
    dtype, source, target = result_dtype(node), meta_of(node.args[0]).dtype, node.meta["val"].dtype
    if source in BITS:
        if source == target:
            return x
        x = _small.of_bits(x, BITS[source])
    if target in BITS:
        # PyTorch has the float of 32 bits between the two.
        return _small.bits_of(cast(x, float32), BITS[target], SATURATES[target])
    if x.dtype.is_float and dtype is _zyx.bool:
        return x != 0
    if x.dtype.is_float and not dtype.is_float and dtype.itemsize < 4:
        # Of numbers that do not fit the low bits are kept.
        return cast(cast(x, int64), dtype)
    return cast(x, dtype)


@op(aten.clone.default, aten.alias.default, aten.lift_fresh_copy.default, aten.detach.default, aten.lift_fresh.default,
    aten.contiguous.default, prims.clone.default)
def same(node, x, **_):
    return x


@op(aten.copy.default)
def copy(node, x, source, *_):
    return expand(to_copy(node, source), x.shape)


@op(aten.nan_to_num.default)
def nan_to_num(node, x, nan=None, posinf=None, neginf=None):
    if not x.dtype.is_float:
        return x
    from .._dtypes import finfo
    info = finfo(x.dtype)
    y = where(F.isnan(x), full((), 0.0 if nan is None else nan, x.dtype), x)
    y = where(y == math.inf, full((), info.max if posinf is None else posinf, x.dtype), y)
    return where(y == -math.inf, full((), info.min if neginf is None else neginf, x.dtype), y)


@op(aten.frexp.Tensor)
def frexp(node, x):
    y = cast(x, float64)
    # The exponent of a normal number of 64 bits, which all smaller floats are.
    bits = _zyx._bitcast(y, int64)
    exponent = (_zyx.bitwise_right_shift(bits, 52) & 0x7FF) - 1022
    plain = (y == 0) | F.logical_not(F.isfinite(y))
    mantissa = _zyx._bitcast((bits & ~(0x7FF << 52)) | (1022 << 52), float64)
    return cast(where(plain, y, mantissa), x.dtype), cast(where(plain, full((), 0, int64), exponent), _zyx.int32)


@op(aten.ldexp.Tensor)
def ldexp(node, x, exponent):
    dtype = computed_in(node, node.args[:2], KIND.INT_TO_FLOAT)
    return operand(x, dtype) * _zyx._exp2(operand(exponent, dtype))


@op(aten.angle.default)
def angle(node, x):
    y = cast(x, computed_in(node, node.args[:1], KIND.INT_TO_FLOAT))
    return where(y < 0, full((), math.pi, y.dtype), where(y == y, full((), 0, y.dtype), y))


def _limit_bits(node):
    before, behind = meta_of(node.args[0]).dtype, node.meta["val"].dtype
    if before.itemsize != behind.itemsize:
        return "takes bits as elements of another size"
    return "takes bits as bools, or those of bools" if torch.bool in (before, behind) and before != behind else None


@op(aten.view.dtype, limit=_limit_bits)
def view_dtype(node, x, dtype):
    return x if x.dtype is result_dtype(node) else _zyx._bitcast(x, result_dtype(node))
