# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dtypes: what they hold, and what they become together."""
from . import _zyx
from ._zyx import Array, DType

float32, float64, int64, uint64 = _zyx.float32, _zyx.float64, _zyx.int64, _zyx.uint64

BY_KIND = {
    "bool": (_zyx.bool,),
    "signed integer": (_zyx.int8, _zyx.int16, _zyx.int32, _zyx.int64),
    "unsigned integer": (_zyx.uint8, _zyx.uint16, _zyx.uint32, _zyx.uint64),
    # Those of the standard, and those that it has not.
    "real floating": (_zyx.float16, _zyx.bfloat16, _zyx.float32, _zyx.float64, _zyx.float8_e4m3fn, _zyx.float8_e5m2),
    "complex floating": (),
}
BY_KIND["integral"] = BY_KIND["signed integer"] + BY_KIND["unsigned integer"]
BY_KIND["numeric"] = BY_KIND["integral"] + BY_KIND["real floating"]
ALL = BY_KIND["bool"] + BY_KIND["numeric"]
STANDARD = tuple(dtype for dtype in ALL if dtype.name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"))

# Of floats: digits behind the point of the significand, the smallest and the largest exponent of normal numbers, and
# the largest number.
FLOATS = {
    "float16": (10, -14, 65504.0),
    "bfloat16": (7, -126, float.fromhex("0x1.fep127")),
    "float32": (23, -126, float.fromhex("0x1.fffffep127")),
    "float64": (52, -1022, float.fromhex("0x1.fffffffffffffp1023")),
    "float8_e4m3fn": (3, -6, 448.0),
    "float8_e5m2": (2, -14, 57344.0),
}


def to_dtype(dtype):
    """The dtype of an object of zyx, a name, a dtype of NumPy, or bool, int or float."""
    if isinstance(dtype, DType):
        return dtype
    if dtype is bool:
        return _zyx.bool
    if dtype is int:
        return int64
    if dtype is float:
        return float32
    name = getattr(dtype, "name", None)
    if not isinstance(name, str):
        # numpy.float32 is a class.
        name = getattr(dtype, "__name__", dtype)
    name = {"bool_": "bool"}.get(name, name)
    return _zyx._dtype(name)


def number_dtype(value):
    """What a number of Python becomes alone."""
    if isinstance(value, bool):
        return _zyx.bool
    if isinstance(value, int):
        return int64
    if isinstance(value, float):
        return float32
    if isinstance(value, complex):
        raise TypeError("zyx has no complex numbers")
    raise TypeError(f"{value!r} is no number")


class finfo:
    """What a dtype of floats holds: bits, eps, max, min, smallest_normal, dtype.

        >>> zyx.finfo(zyx.float32).bits, zyx.finfo(zyx.float32).eps == 2.0**-23
        (32, True)
    """

    __slots__ = ("bits", "eps", "max", "min", "smallest_normal", "dtype")

    def __init__(self, type, /):
        dtype = type.dtype if isinstance(type, Array) else to_dtype(type)
        if not dtype.is_float:
            raise TypeError(f"finfo: {dtype!r} is no dtype of floats")
        digits, exponent, largest = FLOATS[dtype.name]
        self.bits = 8 * dtype.itemsize
        self.eps = 2.0**-digits
        self.max = largest
        self.min = -largest
        self.smallest_normal = 2.0**exponent
        self.dtype = dtype

    def __repr__(self):
        return f"finfo({self.dtype!r}, eps={self.eps}, max={self.max}, smallest_normal={self.smallest_normal})"


class iinfo:
    """What a dtype of integers holds: bits, max, min, dtype.

        >>> zyx.iinfo(zyx.int8).min, zyx.iinfo(zyx.int8).max
        (-128, 127)
    """

    __slots__ = ("bits", "max", "min", "dtype")

    def __init__(self, type, /):
        dtype = type.dtype if isinstance(type, Array) else to_dtype(type)
        if not (dtype.is_signed or dtype.is_unsigned):
            raise TypeError(f"iinfo: {dtype!r} is no dtype of integers")
        self.bits = 8 * dtype.itemsize
        self.max = 2**(self.bits - dtype.is_signed) - 1
        self.min = -self.max - 1 if dtype.is_signed else 0
        self.dtype = dtype

    def __repr__(self):
        return f"iinfo({self.dtype!r}, min={self.min}, max={self.max})"


_promoted = {}


def promote(a, b):
    """The dtype of an expression of both, as C++ has it. Raises TypeError where there is none."""
    if a is b:
        return a
    if (a, b) not in _promoted:
        try:
            either = _zyx._where(_zyx._full((), 0, _zyx.bool), _zyx._full((), 0, a), _zyx._full((), 0, b))
            _promoted[a, b] = either.dtype
        except _zyx.Error:
            _promoted[a, b] = None
    if _promoted[a, b] is None:
        raise TypeError(f"{a!r} and {b!r} have no dtype together; zyx.astype() says what is meant")
    return _promoted[a, b]


def result_type(*arrays_and_dtypes):
    """The dtype of an expression of arrays, dtypes and numbers of Python.

        >>> zyx.result_type(zyx.int8, zyx.uint8)
        zyx.int16
    """
    numbers = [each for each in arrays_and_dtypes if isinstance(each, (bool, int, float, complex))]
    dtypes = [each.dtype if isinstance(each, Array) else to_dtype(each) for each in arrays_and_dtypes
              if not isinstance(each, (bool, int, float, complex))]
    if not dtypes:
        if not arrays_and_dtypes:
            raise ValueError("result_type: needs an array or a dtype")
        dtypes, numbers = [number_dtype(numbers[0])], numbers[1:]
    result = dtypes[0]
    for dtype in dtypes[1:]:
        result = promote(result, dtype)
    for number in numbers:
        kind = number_dtype(number)
        if not (kind is result or (kind.is_float and result.is_float) or (kind is int64 and result is not _zyx.bool)):
            raise TypeError(f"result_type: {number!r} is of another kind than {result!r}")
    return result


def can_cast(from_, to, /):
    """Whether every element of one dtype is one of another, by the rules of promotion.

        >>> zyx.can_cast(zyx.int8, zyx.int32)
        True
    """
    source = from_.dtype if isinstance(from_, Array) else to_dtype(from_)
    target = to_dtype(to)
    try:
        return promote(source, target) is target
    except TypeError:
        return False


def isdtype(dtype, kind):
    """Whether a dtype is of a kind, such as "integral", another dtype, or one of several of these.

        >>> zyx.isdtype(zyx.float32, "real floating")
        True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in BY_KIND:
            raise ValueError(f"isdtype: there is no kind '{kind}'; there are {', '.join(BY_KIND)}")
        return to_dtype(dtype) in BY_KIND[kind]
    return to_dtype(dtype) is to_dtype(kind)


def astype(x, dtype, /, *, copy=True, device=None):
    """The elements in another dtype. Floats become integers towards 0, and the nearest one that there is.

        >>> zyx.astype(zyx.asarray([1.7, -1.7]), zyx.int32).tolist()
        [1, -1]
    """
    result = _zyx._cast(x, to_dtype(dtype))
    return result if device is None else _zyx._to_device(result, device)


class _Info:
    """What the namespace has: capabilities, devices, dtypes."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        return _zyx.default_device()

    def devices(self):
        return [_zyx.default_device()]

    def default_dtypes(self, *, device=None):
        return {"real floating": float32, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        return {dtype.name: dtype for dtype in STANDARD if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__():
    """What the namespace has, as the standard asks for it."""
    return _Info()
