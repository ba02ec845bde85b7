# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of elements, of StableHLO and of CHLO."""
import math

import numpy as np

from .. import _complex as C
from .. import _functions as F
from .. import _small, _zyx
from .._complex import Complex
from .._dtypes import iinfo
from .._lowering import cast, full, where, wide
from ._lower import FOLDS, SMALL, Refused, op

bool_, uint8, int32, int64, uint32, uint64 = _zyx.bool, _zyx.uint8, _zyx.int32, _zyx.int64, _zyx.uint32, _zyx.uint64
float32 = _zyx.float32


def fold(name):
    def register(function):
        FOLDS[name] = function
        return function

    return register


def one_of(x, number):
    return full((), number, x.dtype)


# One argument


def _float(function, of_complex=None):
    """Of floats of 16 bits in 32 bits, rounded once by who asked."""

    def made(node, x):
        if isinstance(x, Complex):
            if of_complex is None:
                node.refuse("of complex elements")
            return of_complex(x)
        return function(wide(x))

    return made


def _tan(x):
    return F.tan(x)


def _cbrt(x):
    """By a power, and a step of Newton's that mends its digits."""
    size = F.abs(x)
    usual = (size > 0) & (size < math.inf)
    safe = where(usual, size, one_of(x, 1))
    y = F.exp(F.log(safe) * one_of(x, 1 / 3))
    y = y - (y - safe / (y * y)) * one_of(x, 1 / 3)
    return where(usual, _zyx.copysign(y, x), x)


def _logistic(x):
    return 1.0 / (1.0 + F.exp(-x))


for _name, _real, _complex in (
        ("exponential", F.exp, C.exp), ("exponential_minus_one", F.expm1, C.expm1), ("log", F.log, C.log),
        ("log_plus_one", F.log1p, C.log1p), ("sqrt", F.sqrt, C.sqrt), ("rsqrt", F.rsqrt, lambda x: C.of(1, x.dtype) / C.sqrt(x)),
        ("sine", F.sin, C.sin), ("cosine", F.cos, C.cos), ("tan", _tan, C.turned(C.tanh)), ("tanh", F.tanh, C.tanh),
        ("logistic", _logistic, C.sigmoid), ("cbrt", _cbrt, None), ("floor", F.floor, None), ("ceil", F.ceil, None),
        ("round_nearest_even", F.round, None)):
    op(f"stablehlo.{_name}")(_float(_real, _complex))
for _name, _real, _complex in (
        ("erf", F.erf, None), ("erf_inv", _zyx._erfinv, None), ("tan", _tan, C.turned(C.tanh)), ("asin", F.asin, C.turned(C.asinh)),
        ("acos", F.acos, C.acos), ("atan", F.atan, C.turned(C.atanh)), ("sinh", F.sinh, C.turned(C.sin)),
        ("cosh", F.cosh, lambda x: C.cos(Complex(-x.imag, x.real))), ("asinh", F.asinh, C.asinh), ("acosh", F.acosh, C.acosh),
        ("atanh", F.atanh, C.atanh), ("square", lambda x: x * x, lambda x: x * x)):
    op(f"chlo.{_name}")(_float(_real, _complex))


@op("stablehlo.round_nearest_afz")
def round_away(node, x):
    y = wide(x)
    whole = F.trunc(y)
    return where(F.abs(y - whole) >= 0.5, whole + _zyx.copysign(one_of(y, 1), y), whole)


@op("stablehlo.abs")
def absolute(node, x):
    if isinstance(x, Complex):
        return _zyx.hypot(x.real, x.imag)
    return F.abs(x) if not x.dtype.is_unsigned else x


@op("stablehlo.negate")
def negate(node, x):
    if isinstance(x, Complex):
        return -x
    return -x if not x.dtype.is_unsigned else full((), 0, x.dtype) - x


@op("stablehlo.sign")
def sign(node, x):
    if isinstance(x, Complex):
        return C.sgn(x)
    if not x.dtype.is_float:
        return F.sign(x)
    return where((x == 0) | (x != x), x, _zyx.copysign(one_of(x, 1), x))


@op("stablehlo.is_finite")
def is_finite(node, x):
    return F.isfinite(x)


@op("chlo.is_inf")
def is_inf(node, x):
    return F.isinf(x)


@op("chlo.is_pos_inf")
def is_positive_inf(node, x):
    return x == math.inf


@op("chlo.is_neg_inf")
def is_negative_inf(node, x):
    return x == -math.inf


@op("stablehlo.not")
def invert(node, x):
    return F.logical_not(x) if x.dtype is bool_ else F.bitwise_invert(x)


@op("stablehlo.real")
def real(node, x):
    return x.real if isinstance(x, Complex) else x


@op("stablehlo.imag")
def imag(node, x):
    return x.imag if isinstance(x, Complex) else full(x.shape, 0, x.dtype)


@op("stablehlo.complex")
def complex_of(node, a, b):
    return Complex(a, b)


@op("chlo.conj")
def conj(node, x):
    return x.conj() if isinstance(x, Complex) else x


UNSIGNED = {1: uint8, 2: _zyx.uint16, 4: uint32, 8: uint64}
SIGNED = {1: _zyx.int8, 2: _zyx.int16, 4: int32, 8: int64}


def bits_of(x, table=UNSIGNED):
    return _zyx._bitcast(x, table[x.dtype.itemsize]) if x.dtype is not table[x.dtype.itemsize] else x


def _shifted(x, count):
    return _zyx.bitwise_right_shift(x, one_of(x, count))


def population(x):
    """Ones among the bits, in as many steps as their number has bits."""
    bits, dtype = 8 * x.dtype.itemsize, x.dtype
    u = bits_of(x)
    step = 1
    while step < bits:
        mask = sum(((1 << step) - 1) << at for at in range(0, bits, 2 * step))
        u = (u & one_of(u, mask)) + (_shifted(u, step) & one_of(u, mask))
        step *= 2
    return cast(u, dtype)


@op("stablehlo.popcnt")
def popcnt(node, x):
    return population(x)


@op("stablehlo.count_leading_zeros")
def leading_zeros(node, x):
    u, step = bits_of(x), 1
    while step < 8 * x.dtype.itemsize:
        u = u | _shifted(u, step)
        step *= 2
    return cast(population(F.bitwise_invert(u)), x.dtype)


# Two arguments


def both_complex(a, b):
    return isinstance(a, Complex) or isinstance(b, Complex)


def _arithmetic(function, of_bools=None):
    def made(node, a, b):
        if not both_complex(a, b) and a.dtype is bool_:
            if of_bools is None:
                node.refuse("of bools")
            return of_bools(a, b)
        return function(a, b)

    return made


op("stablehlo.add")(_arithmetic(lambda a, b: a + b, lambda a, b: a | b))
op("stablehlo.subtract")(_arithmetic(lambda a, b: a - b, lambda a, b: a ^ b))
op("stablehlo.multiply")(_arithmetic(lambda a, b: a * b, lambda a, b: a & b))


def _order_complex(better):
    """The lexicographic order of the parts."""

    def made(a, b):
        if not both_complex(a, b):
            return (_zyx.maximum if better is _zyx.greater else _zyx.minimum)(a, b)
        first = better(a.real, b.real) | ((a.real == b.real) & better(a.imag, b.imag))
        return C.joined(first | (a.real != a.real) | (a.imag != a.imag), a, b)

    return made


op("stablehlo.maximum")(_arithmetic(_order_complex(_zyx.greater), lambda a, b: a | b))
op("stablehlo.minimum")(_arithmetic(_order_complex(_zyx.less), lambda a, b: a & b))


def _bitwise(of_bools, of_integers):
    return lambda node, a, b: (of_bools if a.dtype is bool_ else of_integers)(a, b)


op("stablehlo.and")(_bitwise(F.logical_and, _zyx.bitwise_and))
op("stablehlo.or")(_bitwise(F.logical_or, _zyx.bitwise_or))
op("stablehlo.xor")(_bitwise(F.logical_xor, _zyx.bitwise_xor))


@op("stablehlo.divide")
def divide(node, a, b):
    if both_complex(a, b) or a.dtype.is_float:
        return a / b
    # XLA: -1 for a divisor of 0, and the lowest number stays where it is divided by -1.
    bad = b == 0
    if a.dtype.is_signed:
        minus = b == -1
        found = _zyx._quotient(a, where(bad | minus, one_of(b, 1), b))
        found = where(minus, full((), 0, a.dtype) - a, found)
        return where(bad, one_of(a, -1), found)
    return where(bad, one_of(a, iinfo(a.dtype).max), _zyx._quotient(a, where(bad, one_of(b, 1), b)))


@op("stablehlo.remainder")
def remainder(node, a, b):
    if a.dtype.is_float:
        return cast(_zyx._fmod(wide(a), wide(b)), a.dtype)
    bad = b == 0
    simple = bad | (b == -1) if a.dtype.is_signed else bad
    safe = where(simple, one_of(b, 1), b)
    found = a - _zyx._quotient(a, safe) * safe
    return where(bad, a, found)


@op("stablehlo.power")
def power(node, a, b):
    if both_complex(a, b):
        a, b = C.of(a, a.dtype), C.of(b, a.dtype)
        found = C.exp(C.log(a) * b)
        zero = (a.real == 0) & (a.imag == 0)
        at_zero = C.joined((b.real == 0) & (b.imag == 0), C.of(1, a.dtype), C.of(0, a.dtype))
        return C.joined(zero, at_zero, found)
    if a.dtype.is_float:
        return _zyx.pow(wide(a), wide(b))
    # By squares, for every bit of the exponent; a negative one leaves 1, -1 and else 0.
    found, base, left = one_of(a, 1), a, b
    for _ in range(8 * a.dtype.itemsize):
        found = where((left & one_of(b, 1)) != 0, found * base, found)
        base, left = base * base, _shifted(left, 1)
    if a.dtype.is_signed:
        odd = where((b & one_of(b, 1)) != 0, a, one_of(a, 1))
        found = where(b < 0, where((a == 1) | (a == -1), odd, one_of(a, 0)), found)
    return found


@op("stablehlo.atan2")
def atan2(node, a, b):
    if both_complex(a, b):
        node.refuse("of complex elements")
    return _zyx.atan2(wide(a), wide(b))


@op("chlo.next_after")
def next_after(node, a, b):
    if a.dtype.itemsize < 4:
        node.refuse("of floats of 16 bits")
    return _zyx.nextafter(a, b)


def _shift(function, signed):
    def made(node, a, b):
        bits = 8 * a.dtype.itemsize
        count = bits_of(b)
        fits = count < bits
        near = cast(where(fits, count, one_of(count, bits - 1)), b.dtype)
        if function == "left":
            return where(fits, _zyx.bitwise_left_shift(a, near), one_of(a, 0))
        if signed:
            return cast(_zyx.bitwise_right_shift(bits_of(a, SIGNED), bits_of(near, SIGNED)), SIGNED[a.dtype.itemsize]) \
                if a.dtype.is_signed else _as(_zyx.bitwise_right_shift(bits_of(a, SIGNED), bits_of(near, SIGNED)), a.dtype)
        found = _as(_zyx.bitwise_right_shift(bits_of(a), bits_of(near)), a.dtype)
        return where(fits, found, one_of(a, 0))

    return made


def _as(x, dtype):
    return x if x.dtype is dtype else _zyx._bitcast(x, dtype)


op("stablehlo.shift_left")(_shift("left", False))
op("stablehlo.shift_right_arithmetic")(_shift("right", True))
op("stablehlo.shift_right_logical")(_shift("right", False))


def total_order(x):
    """Integers with the order of floats, -NaN first and NaN last, -0 before 0."""
    bits = bits_of(x, SIGNED)
    return where(bits < 0, bits ^ one_of(bits, iinfo(bits.dtype).max), bits)


COMPARED = {"EQ": _zyx.equal, "NE": _zyx.not_equal, "LT": _zyx.less, "LE": _zyx.less_equal, "GT": _zyx.greater,
            "GE": _zyx.greater_equal}


def compared(direction, kind, a, b):
    if both_complex(a, b):
        same = (a.real == b.real) & (a.imag == b.imag)
        if direction not in ("EQ", "NE"):
            raise Refused("an order of complex elements")
        return same if direction == "EQ" else F.logical_not(same)
    if kind == "TOTALORDER":
        a, b = total_order(a), total_order(b)
    if a.dtype is bool_:
        a, b = cast(a, uint8), cast(b, uint8)
    return COMPARED[direction](a, b)


@op("stablehlo.compare")
def compare(node, a, b):
    return compared(node.word("comparison_direction"), node.word("compare_type"), a, b)


@op("stablehlo.select")
def select(node, condition, a, b):
    if both_complex(a, b):
        return C.joined(condition, a, b)
    return chosen(condition, a, b)


def chosen(condition, a, b):
    return where(condition, a, b)


@op("stablehlo.clamp")
def clamp(node, low, x, high):
    return _zyx.minimum(_zyx.maximum(x, low), high)


@op("stablehlo.convert", "stablehlo.bitcast_convert_same")
def convert(node, x):
    return converted(x, node.types[0])


def converted(x, type):
    if type.is_complex:
        return C.of(x, type.dtype)
    if isinstance(x, Complex):
        x = x.real
    if type.narrow:
        return _small.converted(x, type.narrow)
    if type.dtype is bool_:
        return x if x.dtype is bool_ else x != 0
    if x.dtype.is_float and not type.dtype.is_float:
        x = wide(x)
        # NaN becomes 0.
        return cast(where(x == x, x, one_of(x, 0)), type.dtype)
    return cast(x, type.dtype)


@op("stablehlo.bitcast_convert")
def bitcast(node, x):
    type = node.types[0]
    if isinstance(x, Complex) or type.is_complex or bool_ in (x.dtype, type.dtype):
        node.refuse("of bools or complex elements")
    for each in (type, node.operand_type(0)):
        if each.narrow:
            node.refuse(f"of elements of {each.name}, which are kept in wider ones")
    if type.dtype.itemsize == x.dtype.itemsize:
        return x if x.dtype is type.dtype else _zyx._bitcast(x, type.dtype)
    # The parts of an element are an axis behind the others, the lowest part first.
    if type.dtype.itemsize < x.dtype.itemsize:
        count, part = x.dtype.itemsize // type.dtype.itemsize, UNSIGNED[type.dtype.itemsize]
        whole = bits_of(x)
        parts = [cast(_shifted(whole, 8 * type.dtype.itemsize * at) & one_of(whole, (1 << 8 * type.dtype.itemsize) - 1), part)
                 for at in range(count)]
        return _as(_zyx._stack(parts, x.ndim), type.dtype)
    whole = UNSIGNED[type.dtype.itemsize]
    wide_bits = cast(bits_of(x), whole)
    found = None
    for at in range(x.shape[-1]):
        part = _zyx.bitwise_left_shift(wide_bits[..., at], full((), 8 * x.dtype.itemsize * at, whole))
        found = part if found is None else found | part
    return _as(found, type.dtype)


@op("stablehlo.reduce_precision")
def reduce_precision(node, x):
    exponent, mantissa = node.integer("exponent_bits"), node.integer("mantissa_bits")
    digits = {2: {"float16": 10, "bfloat16": 7}.get(x.dtype.name), 4: 23, 8: 52}[x.dtype.itemsize]
    size = 8 * x.dtype.itemsize - 1 - digits
    bits = bits_of(x)
    if mantissa < digits:
        last = digits - mantissa
        odd = _shifted(bits, last) & one_of(bits, 1)
        kept = ~((1 << last) - 1) & ((1 << 8 * x.dtype.itemsize) - 1)
        bits = (bits + odd + one_of(bits, (1 << (last - 1)) - 1)) & one_of(bits, kept)
    if exponent < size:
        bias = (1 << (size - 1)) - 1
        reduced = (1 << (exponent - 1)) - 1
        mask = ((1 << size) - 1) << digits
        sign_bit = bits & one_of(bits, 1 << (8 * x.dtype.itemsize - 1))
        field = bits & one_of(bits, mask)
        above, below = field > one_of(bits, (bias + reduced) << digits), field <= one_of(bits, (bias - reduced) << digits)
        bits = where(above, sign_bit | one_of(bits, mask), where(below, sign_bit, bits))
    return where(x == x, _as(bits, x.dtype), x)


@op("stablehlo.map")
def map_of(node, *arguments):
    return node.elements(node.block(), arguments)


# Numbers that are known


def _np_divide(node, a, b):
    if a.dtype.kind in "fc" or a.dtype.name == "bfloat16":
        return a / b
    if np.any(b == 0):
        return None
    return (np.sign(a) * np.sign(b) * (np.abs(a.astype(object)) // np.abs(b.astype(object)))).astype(a.dtype)


def _np_compare(node, a, b):
    if node.word("compare_type") == "TOTALORDER" or a.dtype.kind == "c":
        return None
    return {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
            "GE": np.greater_equal}[node.word("comparison_direction")](a, b)


def _np_convert(node, x):
    type = node.types[0]
    if type.narrow or x.dtype.name in SMALL:
        return None
    if x.dtype.kind not in "iub" and type.numpy is not np.bool_ and np.dtype(type.numpy).kind in "iu":
        return None
    return x != 0 if type.numpy is np.bool_ else x.astype(type.numpy)


def _np_shape(node, x):
    return x.reshape(node.shape) if not getattr(node, "is_elements", False) else x


def _np_broadcast(node, x):
    type = node.types[0]
    own = [1] * len(type.shape)
    for axis, extent in zip(node.ints("broadcast_dimensions"), x.shape):
        own[axis] = extent
    return np.array(np.broadcast_to(x.reshape(own), type.shape))


def _np_slice(node, x):
    return x[tuple(slice(a, b, c) for a, b, c in zip(node.ints("start_indices"), node.ints("limit_indices"),
                                                      node.ints("strides")))]


FOLDS.update({
    "stablehlo.add": lambda node, a, b: a + b if a.dtype != np.bool_ else a | b,
    "stablehlo.subtract": lambda node, a, b: a - b if a.dtype != np.bool_ else a ^ b,
    "stablehlo.multiply": lambda node, a, b: a * b,
    "stablehlo.divide": _np_divide,
    "stablehlo.negate": lambda node, x: -x if x.dtype.kind != "u" else None,
    "stablehlo.maximum": lambda node, a, b: np.maximum(a, b) if a.dtype.kind in "iu" else None,
    "stablehlo.minimum": lambda node, a, b: np.minimum(a, b) if a.dtype.kind in "iu" else None,
    "stablehlo.and": lambda node, a, b: a & b,
    "stablehlo.or": lambda node, a, b: a | b,
    "stablehlo.xor": lambda node, a, b: a ^ b,
    "stablehlo.not": lambda node, a: ~a,
    "stablehlo.compare": _np_compare,
    "stablehlo.select": lambda node, c, a, b: np.where(c, a, b),
    "stablehlo.clamp": lambda node, low, x, high: np.minimum(np.maximum(x, low), high) if x.dtype.kind in "iu" else None,
    "stablehlo.convert": _np_convert,
    "stablehlo.reshape": _np_shape,
    "stablehlo.broadcast_in_dim": _np_broadcast,
    "stablehlo.slice": _np_slice,
    "stablehlo.concatenate": lambda node, *xs: np.concatenate(xs, node.integer("dimension")),
})
