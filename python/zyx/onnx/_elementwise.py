# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of elements, reductions, products and scans."""
import functools
import math

from .. import _functions as F
from .. import _small, _zyx
from . import _types
from ._model import ModelError, op

float32, int64 = _zyx.float32, _zyx.int64
where, cast = _zyx._where, _zyx._cast


def wide(x):
    """Small floats as float32: ops of several steps round once."""
    return cast(x, float32) if x.dtype.is_float and x.dtype.itemsize < 4 else x


def widely(function):
    """The op computed in float32 at least, and rounded to the dtype of its first input."""

    @functools.wraps(function)
    def widened(n, x, *rest):
        return cast(function(n, wide(x), *(each if each is None else wide(each) for each in rest)), x.dtype)

    return widened


def spread(x, size):
    """A vector along axis 1 of arrays with so many dimensions."""
    return _zyx._reshape(x, (-1,) + (1,) * (size - 2)) if size > 1 else x


for _name, _function in {
        "Abs": F.abs, "Acos": F.acos, "Acosh": F.acosh, "Asin": F.asin, "Asinh": F.asinh, "Atan": F.atan, "Atanh": F.atanh,
        "BitwiseNot": F.bitwise_invert, "Ceil": F.ceil, "Cos": F.cos, "Cosh": F.cosh, "Erf": F.erf, "Exp": F.exp,
        "Floor": F.floor, "IsNaN": F.isnan, "Log": F.log, "Mish": _zyx._mish, "Neg": F.negative, "Not": F.logical_not,
        "Reciprocal": F.reciprocal, "Round": F.round, "Sigmoid": _zyx._sigmoid, "Sign": F.sign, "Sin": F.sin,
        "Sinh": F.sinh, "Sqrt": F.sqrt, "Tan": F.tan, "Tanh": F.tanh}.items():
    op(_name)(lambda n, x, *, function=_function: function(x))


def _aligned(n, a, b):
    """Before opset 7 an attribute says at which axis the second operand begins."""
    if n.version < 7:
        if not n.attr("broadcast", 0):
            if a.shape != b.shape:
                raise ModelError(f"shapes {a.shape} and {b.shape} without the attribute 'broadcast'")
        elif n.attr("axis") is not None:
            axis = n.attr("axis") % max(a.ndim, 1)
            b = _zyx._reshape(b, b.shape + (1,) * (a.ndim - axis - b.ndim))
    return a, b


def _binary(name, function):
    def made(n, a, b):
        a, b = _aligned(n, a, b)
        if a.dtype is not b.dtype:
            raise ModelError(f"operands of {a.dtype.name} and {b.dtype.name}")
        return function(a, b)

    op(name)(made)


for _name, _function in {
        "Add": _zyx.add, "Sub": _zyx.subtract, "Mul": _zyx.multiply, "And": F.logical_and, "Or": F.logical_or,
        "Xor": F.logical_xor, "BitwiseAnd": _zyx.bitwise_and, "BitwiseOr": _zyx.bitwise_or,
        "BitwiseXor": _zyx.bitwise_xor, "Equal": _zyx.equal, "Greater": _zyx.greater,
        "GreaterOrEqual": _zyx.greater_equal, "Less": _zyx.less, "LessOrEqual": _zyx.less_equal,
        # Of integers towards zero.
        "Div": _zyx._quotient}.items():
    _binary(_name, _function)


@op("Pow")
def power(n, x, y):
    x, y = _aligned(n, x, y)
    if x.dtype is y.dtype:
        return _zyx.pow(x, y)
    common = x.dtype if x.dtype.is_float else y.dtype if y.dtype.is_float else int64
    common = float32 if common.is_float and common.itemsize < 4 else common
    return cast(_zyx.pow(cast(x, common), cast(y, common)), x.dtype)


@op("Mod")
def modulo(n, a, b):
    if n.attr("fmod", 0):
        return cast(_zyx._fmod(wide(a), wide(b)), a.dtype)
    if a.dtype.is_float and n.version < 28:
        raise ModelError("Mod of floats needs fmod=1")
    return _zyx.remainder(a, b)


@op("BitShift")
def bit_shift(n, x, y):
    function = _zyx.bitwise_left_shift if n.need("direction") == "LEFT" else _zyx.bitwise_right_shift
    return function(x, y)


def _folded(function):
    def made(n, first, *inputs):
        result = first
        for each in inputs:
            result = function(result, each)
        return result

    return made


op("Max")(_folded(_zyx.maximum))
op("Min")(_folded(_zyx.minimum))
op("Sum")(_folded(_zyx.add))


@op("Mean")
def mean_of(n, first, *inputs):
    return _folded(_zyx.add)(n, first, *inputs) / float(1 + len(inputs))


@op("Where")
def select(n, condition, x, y):
    return where(condition, x, y)


@op("IsInf")
def is_infinite(n, x):
    result = F.isinf(x)
    if not n.attr("detect_negative", 1):
        result = result & (x > 0)
    if not n.attr("detect_positive", 1):
        result = result & (x < 0)
    return result


@op("Clip")
def clip(n, x, low=None, high=None):
    if n.version < 11:
        low, high = n.attr("min"), n.attr("max")
    if low is not None:
        x = _zyx.maximum(x, low)
    return x if high is None else _zyx.minimum(x, high)


# Activations


@op("Relu")
def relu(n, x):
    return _zyx.maximum(x, 0)


@op("PRelu")
def prelu(n, x, slope):
    if n.version < 7 and slope.ndim == 1 and x.ndim > 1:
        slope = spread(slope, x.ndim)
    return where(x < 0, slope * x, x)


@op("LeakyRelu")
@widely
def leaky_relu(n, x):
    return where(x < 0, x * n.attr("alpha", 0.01), x)


@op("ThresholdedRelu")
@widely
def thresholded_relu(n, x):
    return where(x > n.attr("alpha", 1.0), x, 0)


@op("Elu")
@widely
def elu(n, x):
    return where(x < 0, F.expm1(x) * n.attr("alpha", 1.0), x)


@op("Celu")
@widely
def celu(n, x):
    alpha = n.attr("alpha", 1.0)
    return where(x < 0, F.expm1(x / alpha) * alpha, x)


@op("Selu")
@widely
def selu(n, x):
    alpha, gamma = n.attr("alpha", 1.67326319217681884765625), n.attr("gamma", 1.05070102214813232421875)
    return where(x > 0, x, F.expm1(x) * alpha) * gamma


@op("Gelu")
@widely
def gelu(n, x):
    return _zyx._gelu_tanh(x) if n.attr("approximate", "none") == "tanh" else _zyx._gelu(x)


@op("HardSigmoid")
@widely
def hard_sigmoid(n, x):
    return F.clip(x * n.attr("alpha", 0.2) + n.attr("beta", 0.5), 0.0, 1.0)


@op("HardSwish")
@widely
def hard_swish(n, x):
    return x * F.clip(x * (1 / 6) + 0.5, 0.0, 1.0)


@op("Swish")
@widely
def swish(n, x):
    return x * _zyx._sigmoid(x * n.attr("alpha", 1.0))


@op("SwiGLU")
@widely
def swiglu(n, a, b):
    if a.shape != b.shape:
        raise ModelError(f"operands of the shapes {a.shape} and {b.shape}, which have to be the same")
    return a * _zyx._sigmoid(a * n.attr("alpha", 1.0)) * b


@op("Softplus")
@widely
def softplus(n, x):
    return _zyx._softplus(x, 1.0)


@op("Softsign")
@widely
def softsign(n, x):
    return x / (F.abs(x) + 1.0)


@op("Shrink")
def shrink(n, x):
    limit, bias, y = n.attr("lambd", 0.5), n.attr("bias", 0.0), cast(x, x.dtype if x.dtype.is_float else float32)
    return cast(where(y < -limit, y + bias, where(y > limit, y - bias, 0.0)), x.dtype)


def _rows(n, x):
    """The array for an op of rows, and the axis: before opset 13 all axes from `axis` on are one."""
    if n.version >= 13:
        return x, n.attr("axis", -1)
    axis = n.attr("axis", 1) % max(x.ndim, 1)
    return _zyx._reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))), 1


def _of_rows(name, function):
    def made(n, x):
        rows, axis = _rows(n, wide(x))
        return cast(_zyx._reshape(function(rows, axis), x.shape), x.dtype)

    op(name)(made)


def _hardmax(x, axis):
    axis %= x.ndim
    best = _zyx._argmax(x, axis, True)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return cast(_zyx.equal(_zyx._reshape(_zyx._arange(0, x.shape[axis], 1, int64), shape), best), x.dtype)


_of_rows("Softmax", _zyx._softmax)
_of_rows("LogSoftmax", _zyx._log_softmax)
_of_rows("Hardmax", _hardmax)


# Reductions


def axes_of(n, x, index=1):
    """Axes from an input or, in older opsets, an attribute; None for none of them."""
    axes = n.ints(index) if n.has(index) else n.attr("axes")
    if axes is None:
        return None
    return [each % x.ndim if -x.ndim <= each < x.ndim else _no_axis(x, each) for each in axes]


def _no_axis(x, axis):
    raise ModelError(f"an array of {x.ndim} dimensions has no axis {axis}")


def _least(dtype):
    from .._dtypes import iinfo
    return -math.inf if dtype.is_float else iinfo(dtype).min


def _largest(dtype):
    from .._dtypes import iinfo
    return math.inf if dtype.is_float else iinfo(dtype).max


def full(shape, number, dtype):
    from .._creation import full as make
    return make(shape, number, dtype=dtype)


def _extreme(core, of_nothing):
    def reduce(x, axes, keep):
        if x.dtype is _zyx.bool:
            return cast(reduce(cast(x, _zyx.uint8), axes, keep), _zyx.bool)
        if math.prod(x.shape[axis] for axis in axes) == 0:
            return full([1 if i in axes else extent for i, extent in enumerate(x.shape) if keep or i not in axes],
                        of_nothing(x.dtype), x.dtype)
        return core(x, axes, keep)

    return reduce


def _sum(x, axes, keep):
    return cast(_zyx._sum(x, axes, keep), x.dtype)


def _mean(x, axes, keep):
    if x.dtype.is_float:
        return _zyx._mean(x, axes, keep)
    return cast(_zyx._mean(cast(x, _zyx.float64), axes, keep), x.dtype)


def _log(x):
    return _zyx._log(x) if x.dtype.is_float else cast(_zyx._log(cast(x, _zyx.float64)), x.dtype)


def _root(x):
    return _zyx._sqrt(x) if x.dtype.is_float else cast(_zyx._sqrt(cast(x, _zyx.float64)), x.dtype)


def _log_sum_exp(x, axes, keep):
    if not x.dtype.is_float:
        return cast(_log_sum_exp(cast(x, _zyx.float64), axes, keep), x.dtype)
    if math.prod(x.shape[axis] for axis in axes) == 0:
        return _log(_sum(x, axes, keep))
    return _zyx._logsumexp(x, axes, keep)


REDUCTIONS = {
    "ReduceSum": _sum,
    "ReduceMean": _mean,
    "ReduceProd": lambda x, axes, keep: cast(_zyx._prod(x, axes, keep), x.dtype),
    "ReduceMax": _extreme(_zyx._max, _least),
    "ReduceMin": _extreme(_zyx._min, _largest),
    "ReduceL1": lambda x, axes, keep: _sum(F.abs(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: _root(_sum(x * x, axes, keep)),
    "ReduceSumSquare": lambda x, axes, keep: _sum(x * x, axes, keep),
    "ReduceLogSum": lambda x, axes, keep: _log(_sum(x, axes, keep)),
    "ReduceLogSumExp": _log_sum_exp,
}


def _reduction(name, function):
    def made(n, x, axes=None):
        axes = axes_of(n, x)
        if not axes:
            if n.attr("noop_with_empty_axes", 0):
                # Nothing is reduced, and what the op does with each element is done.
                return made_of(n, _zyx._unsqueeze(x, 0), [0], 0) if name not in ("ReduceSum", "ReduceMean", "ReduceProd",
                                                                                 "ReduceMax", "ReduceMin") else x
            axes = list(range(x.ndim))
        return made_of(n, x, axes, n.attr("keepdims", 1))

    def made_of(n, x, axes, keep):
        if not axes:
            # Without dimensions: of one element.
            return cast(function(_zyx._unsqueeze(wide(x), 0), [0], False), x.dtype)
        return cast(function(wide(x), axes, bool(keep)), x.dtype)

    op(name)(made)


for _name, _function in REDUCTIONS.items():
    _reduction(_name, _function)


def _position(name, core):
    def made(n, x):
        axis, keep = n.attr("axis", 0) % max(x.ndim, 1), bool(n.attr("keepdims", 1))
        if not n.attr("select_last_index", 0):
            return core(x, axis, keep)
        return core(_zyx._flip(x, (axis,)), axis, keep) * -1 + (x.shape[axis] - 1)

    op(name)(made)


_position("ArgMax", _zyx._argmax)
_position("ArgMin", _zyx._argmin)


def _scan(name, core):
    def made(n, x, axis):
        axis = n.ints(1)[0] % max(x.ndim, 1)
        return cast(core(wide(x), axis, bool(n.attr("exclusive", 0)), bool(n.attr("reverse", 0))), x.dtype)

    op(name)(made)


_scan("CumSum", _zyx._cumsum)
_scan("CumProd", _zyx._cumprod)


# Products


def product(a, b):
    return cast(_zyx.matmul(a, b), a.dtype)


@op("MatMul")
def matmul(n, a, b):
    return product(a, b)


@op("Gemm")
def gemm(n, a, b, c=None):
    a = a.mT if n.attr("transA", 0) else a
    b = b.mT if n.attr("transB", 0) else b
    alpha, beta = n.attr("alpha", 1.0), n.attr("beta", 1.0)
    if not a.dtype.is_float:
        if int(alpha) != alpha or int(beta) != beta:
            n.refuse("a product of integers by a fraction")
        alpha, beta = int(alpha), int(beta)
    result = product(a, b)
    result = result if alpha == 1 else result * alpha
    if c is None or beta == 0:
        return result
    return result + (c if beta == 1 else c * beta)


@op("Einsum")
def einsum(n, *inputs):
    return cast(_zyx._einsum(n.need("equation").replace(" ", ""), list(inputs)), inputs[0].dtype)


@op("Det")
def determinant(n, x):
    """By elimination, with the largest element of each column as its pivot."""
    size, result, sign = x.shape[-1], None, None
    if x.ndim < 2 or x.shape[-2] != size:
        raise ModelError(f"a matrix of the shape {list(x.shape)}")
    dtype, m = x.dtype, _zyx._reshape(wide(x), (-1, size, size))
    result = full((m.shape[0],), 1, m.dtype)
    for k in range(size):
        left = size - k
        best = _zyx._argmax(F.abs(m[:, :, 0]), 1, True)
        rows = _zyx._reshape(_zyx._arange(0, left, 1, int64), (1, left))
        # The pivot's row comes first, and the first one takes its place.
        order = where(rows == 0, best, where(rows == best, 0, rows))
        m = _zyx._take_along_axis(m, _zyx._expand(_zyx._unsqueeze(order, 2), (m.shape[0], left, left)), 1)
        pivot = m[:, 0, 0]
        result = result * pivot * where(_zyx._reshape(best, (-1,)) == 0, full((m.shape[0],), 1, m.dtype), -1)
        if left > 1:
            divisor = where(pivot == 0, 1, pivot)
            factors = m[:, 1:, :1] / _zyx._reshape(divisor, (-1, 1, 1))
            m = m[:, 1:, 1:] - factors * m[:, :1, 1:]
    return cast(_zyx._reshape(result, x.shape[:-2]), dtype)


# Types


def _to_scale(x, saturate, mode):
    """To float8e8m0: powers of two, rounded up, down or to the nearest."""
    bits = _zyx._bitcast(cast(x, float32), _zyx.int32) & 0x7FFFFFFF
    exponent, fraction = _zyx.bitwise_right_shift(bits, 23), bits & 0x7FFFFF
    if mode == "up":
        more = fraction > 0
    elif mode == "nearest":
        more = fraction >= 0x400000
    else:
        more = fraction < 0
    exponent = exponent + cast(more, _zyx.int32)
    is_over, is_bad = exponent > 254, x != x
    exponent = _zyx.minimum(exponent, 254)
    # 2**-127 is no normal number.
    normal = _zyx._bitcast(_zyx.bitwise_left_shift(_zyx.maximum(exponent, 1), 23), float32)
    result = where(exponent == 0, 2.0**-127, normal)
    if not saturate:
        is_bad = is_bad | is_over
    return where(is_bad, math.nan, result)


def convert(x, source, code, saturate=True, mode="up"):
    """An array of one element type as the array of another."""
    if code == _types.FLOAT8E8M0:
        return _to_scale(x, saturate, mode)
    if code in _types.INTEGERS:
        # The low bits, of floats those of the whole number.
        return _small.low_bits(x, _types.NARROW[code][0])
    if code in _types.FLOATS:
        y = _small.rounded(x, _types.FLOATS[code], saturate)
        return y if code in _types.NARROW else cast(y, _types.DTYPES[code])
    return cast(x, _types.dtype_of(code))


def _cast_to(n, x, code):
    if code == _types.STRING:
        n.refuse("a cast to strings, which zyx has not")
    n.set_code(code)
    if code == n.code():
        return x
    return convert(x, n.code(), code, bool(n.attr("saturate", 1)), n.attr("round_mode", "up"))


@op("Cast")
def cast_node(n, x):
    return _cast_to(n, x, n.need("to"))


@op("CastLike")
def cast_like(n, x, like):
    return _cast_to(n, x, n.code(1))


@op("BitCast")
def bit_cast(n, x):
    code, source = n.need("to"), n.code()
    if _types.bits_of(code) != _types.bits_of(source):
        raise ModelError(f"{_types.name_of(source)} and {_types.name_of(code)} have different sizes")
    n.set_code(code)
    if source in _types.NARROW or code in _types.NARROW:
        if {source, code} <= set(_types.INTEGERS):
            return convert(cast(x, _zyx.int32), source, code)
        n.refuse(f"the bits of {_types.name_of(source)} as {_types.name_of(code)}")
    dtype = _types.DTYPES[code]
    if x.dtype is _zyx.bool:
        x = cast(x, _zyx.uint8)
    return x if x.dtype is dtype else x != 0 if dtype is _zyx.bool else _zyx._bitcast(x, dtype)
