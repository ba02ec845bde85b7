# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that zyx has no dtype for, in a wider dtype that holds each of their numbers: of 4 and 2 bits, and other floats of 8."""
import math

from . import _functions as F
from . import _zyx
from ._lowering import cast, where

float32, float64, int32 = _zyx.float32, _zyx.float64, _zyx.int32

# Floats of few bits by their names in ml_dtypes: digits behind the point, the exponent of the least normal number, the largest
# number, and whether there are infinities, a NaN, and a zero with a sign.
FLOATS = {
    "float8_e4m3fn": (3, -6, 448.0, False, True, True),
    "float8_e5m2": (2, -14, 57344.0, True, True, True),
    "float8_e4m3fnuz": (3, -7, 240.0, False, True, False),
    "float8_e5m2fnuz": (2, -15, 57344.0, False, True, False),
    "float8_e4m3b11fnuz": (3, -10, 30.0, False, True, False),
    "float8_e4m3": (3, -6, 240.0, True, True, True),
    "float8_e3m4": (4, -2, 15.5, True, True, True),
    "float4_e2m1fn": (1, 0, 6.0, False, False, True),
}
# Powers of two, from 2**-127 to 2**127, and a NaN: no zero, no sign and no digits. Its bits are the exponent's of float32.
SCALE = "float8_e8m0fnu"
# Integers: bits, and whether they have a sign.
INTEGERS = {"int4": (4, True), "uint4": (4, False), "int2": (2, True), "uint2": (2, False)}


def holder(name):
    """The dtype that holds the numbers."""
    return float32 if name in FLOATS or name == SCALE else _zyx.int8 if INTEGERS[name][1] else _zyx.uint8


def to_float32(x):
    """x as float32, of which a second rounding to fewer digits gives what one rounding gives: what float64 loses is a last odd bit."""
    y = cast(x, float32)
    if x.dtype is not float64:
        return y
    back = cast(y, float64)
    bits = _zyx._bitcast(y, int32)
    # One step nearer to 0 where the rounding went away from it.
    bits = where(F.abs(back) > F.abs(x), bits - 1, bits)
    odd = _zyx._bitcast(bits | 1, float32)
    return where((back != x) & (x == x) & (F.abs(x) <= 3.4028234663852886e38), odd, y)


def rounded(x, form, saturate=False):
    """Floats rounded once to a form of FLOATS, in float32; the neighbour with an even digit is nearer than the other one. Larger
    ones become the largest one, or infinity or NaN where there is one and they do not saturate."""
    digits, least, largest, has_infinity, has_nan, signed_zero = form
    x = to_float32(x)
    size = F.abs(x)
    # The exponent, and so the distance of neighbours, which is a power of two.
    exponent = (_zyx.bitwise_right_shift(_zyx._bitcast(size, int32), 23) & 255) - 127
    exponent = _zyx.maximum(exponent, least)
    unit = _zyx._bitcast(_zyx.bitwise_left_shift(exponent - digits + 127, 23), float32)
    made = _zyx._round(size / unit) * unit
    is_over = made > largest
    if saturate or not (has_infinity or has_nan):
        made = where(is_over, largest, made)
    else:
        made = where(is_over, math.inf if has_infinity else math.nan, made)
    result = _zyx.copysign(made, x)
    if not signed_zero:
        result = where(result == 0, 0.0, result)
    return where(x == x, result, math.nan if has_nan else 0.0)


def _scale_bits(x):
    """The bits, in int32, of the power of two that is nearest to the size of what float32 is. What is half-way goes up, but for that
    between the least two; NaN is 255, and so is what is too large."""
    raw = _zyx._bitcast(x, int32) & 0x7FFFFFFF
    field, fraction = raw >> 23, raw & 0x7FFFFF
    # float32 has the least power, 2**-127, without an exponent of its own: there that half is a whole.
    is_up = where(field == 0, fraction > 0x400000, fraction >= 0x400000)
    return _zyx.minimum(field + cast(is_up, int32), 255)


def _of_scale_bits(bits):
    """The numbers, in float32, of such bits in int32."""
    normal = _zyx._bitcast(_zyx.bitwise_left_shift(_zyx.minimum(_zyx.maximum(bits, 1), 254), 23), float32)
    return where(bits == 255, math.nan, where(bits == 0, 2.0**-127, normal))


def low_bits(x, name):
    """Integers of few bits out of the low ones of integers."""
    bits, signed = INTEGERS[name]
    numbers = cast(x, int32) & ((1 << bits) - 1)
    if signed:
        numbers = where(numbers >= 1 << (bits - 1), numbers - (1 << bits), numbers)
    return cast(numbers, holder(name))


def nearest(x, name):
    """Integers of few bits out of floats: without what is behind the point, the largest or the least one beyond them, and 0 of NaN."""
    bits, signed = INTEGERS[name]
    least, largest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    x = x if x.dtype is float64 else cast(x, float32)
    inside = _zyx.minimum(_zyx.maximum(where(x == x, x, 0.0), float(least)), float(largest))
    return cast(cast(inside, int32), holder(name))


def converted(x, name):
    """An array of any dtype as numbers of a small type, as XLA and PyTorch convert. Where a type has no NaN, that is -0."""
    if name in FLOATS:
        made = rounded(x, FLOATS[name])
        return made if FLOATS[name][4] else where(x == x, made, -0.0) if x.dtype.is_float else made
    if name == SCALE:
        # XLA has no power of two for zeros and negative numbers.
        x = cast(x, float32)
        return where(x > 0, _of_scale_bits(_scale_bits(x)), math.nan)
    if x.dtype is _zyx.bool or not x.dtype.is_float:
        return low_bits(x, name)
    return nearest(x, name)


# Floats that are dtypes, too.
NATIVE = {"float8_e4m3fn": _zyx.float8_e4m3fn, "float8_e5m2": _zyx.float8_e5m2}


def of_bits(bits, name):
    """The numbers, in float32, that bytes of uint8 are of floats of 8 bits."""
    if name in NATIVE:
        return cast(_zyx._bitcast(bits, NATIVE[name]), float32)
    if name == SCALE:
        return _of_scale_bits(cast(bits, int32))
    digits, least, _, has_infinity, _, signed_zero = FLOATS[name]
    assert not has_infinity and not signed_zero
    x = cast(bits, int32)
    sign, field, fraction = x >> 7, (x >> digits) & ((1 << (7 - digits)) - 1), x & ((1 << digits) - 1)
    # A number without an exponent of its own has that of the least normal one.
    whole = cast(where(field == 0, fraction, fraction | (1 << digits)), float32)
    exponent = _zyx.maximum(field, 1) - 1 + least - digits
    size = whole * _zyx._bitcast(_zyx.bitwise_left_shift(exponent + 127, 23), float32)
    return where(x == 0x80, math.nan, where(sign == 1, -size, size))


def bits_of(x, name, saturate=False):
    """The bytes of what float32 is, rounded once, in floats of 8 bits. Powers of two are those of sizes, as PyTorch has it."""
    if name == SCALE:
        return cast(_scale_bits(x), _zyx.uint8)
    if name in NATIVE:
        return _zyx._bitcast(cast(rounded(x, FLOATS[name], saturate), NATIVE[name]), _zyx.uint8)
    digits, least, _, has_infinity, _, signed_zero = FLOATS[name]
    assert not has_infinity and not signed_zero
    y = rounded(x, FLOATS[name], saturate)
    size = F.abs(where(y == y, y, 0.0))
    raw = _zyx._bitcast(size, int32)
    normal = (raw >> (23 - digits)) - ((127 + least - 1) << digits)
    small = cast(size * 2.0**(digits - least), int32)
    bits = where(size < 2.0**least, small, normal) | (cast(y < 0, int32) * 128)
    return cast(where(y == y, bits, 128), _zyx.uint8)
