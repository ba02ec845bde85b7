# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of arrays, as the array API standard has them, and some that it has not."""
import collections
import math

from . import _dtypes, _indexing, _zyx
from ._creation import asarray, to_shape
from ._dtypes import promote, to_dtype
from ._zyx import Array, Parameter

int64, uint64, float32, float64 = _zyx.int64, _zyx.uint64, _zyx.float32, _zyx.float64
boolean = _zyx.bool

# The builtins of these names are those of this module below.
_all, _any, _abs, _max, _min, _round, _sum = all, any, abs, max, min, round, sum

unique_all_result = collections.namedtuple("unique_all_result", ["values", "indices", "inverse_indices", "counts"])
unique_counts_result = collections.namedtuple("unique_counts_result", ["values", "counts"])
unique_inverse_result = collections.namedtuple("unique_inverse_result", ["values", "inverse_indices"])
topk_result = collections.namedtuple("topk_result", ["values", "indices"])


def _array(x, function):
    if isinstance(x, Array):
        return x
    if isinstance(x, Parameter):
        return x.value
    raise TypeError(f"{function}: needs an array, not {type(x).__name__}; zyx.asarray() makes one")


def _expect(x, kind, function):
    """The array, where its dtype is of the kind."""
    x = _array(x, function)
    dtype = x.dtype
    if kind == "floats":
        fits = dtype.is_float
    elif kind == "numbers":
        fits = dtype is not boolean
    elif kind == "integers":
        fits = not dtype.is_float
    else:
        fits = dtype is boolean
    if not fits:
        what = {"integers": "integers or bools", "numbers": "numbers, not bools"}.get(kind, kind)
        raise TypeError(f"{function}: needs an array of {what}; this one is of {dtype!r}; zyx.astype() says what is meant")
    return x


# Of functions that are made below, a number and what they make of it: the examples of their docstrings.
_EXAMPLES = {
    "acos": (1.0, 0.0), "acosh": (1.0, 0.0), "asin": (0.0, 0.0), "asinh": (0.0, 0.0), "atan": (0.0, 0.0), "atanh": (0.0, 0.0),
    "cbrt": (-8.0, -2.0), "ceil": (1.25, 2.0), "cos": (0.0, 1.0), "cosh": (0.0, 1.0), "erf": (0.0, 0.0), "exp": (0.0, 1.0),
    "exp2": (3.0, 8.0), "expm1": (0.0, 0.0), "floor": (-1.25, -2.0), "log": (1.0, 0.0), "log10": (1.0, 0.0), "log1p": (0.0, 0.0),
    "log2": (8.0, 3.0), "reciprocal": (4.0, 0.25), "round": (2.5, 2.0), "rsqrt": (4.0, 0.5), "signbit": (-0.0, True),
    "sin": (0.0, 0.0), "sinh": (0.0, 0.0), "sqrt": (9.0, 3.0), "tan": (0.0, 0.0), "tanh": (0.0, 0.0), "trunc": (-1.75, -1.0)}


def _documented(function, name, text, call, result):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{text}\n\n        >>> zyx.{name}({call}).tolist()\n        {result}\n    "
    return function


def _elementwise(function, name, text):
    given, result = _EXAMPLES[name]
    return _documented(function, name, text, f"zyx.asarray([{given}])", [result])


def _of_floats(name, text):
    core = getattr(_zyx, "_" + name)

    def function(x, /):
        return core(_expect(x, "floats", name))

    return _elementwise(function, name, text)


def _rounding(name, text):
    core = getattr(_zyx, "_" + name)

    def function(x, /):
        x = _expect(x, "numbers", name)
        return core(x) if x.dtype.is_float else x

    return _elementwise(function, name, text)


# Written by utils/gen-graph-inc.py from UnaryKinds.td, and not by hand:
cbrt = _of_floats("cbrt", "Cube root; of -x that of x, negated.")
ceil = _rounding("ceil", "The next whole number at or above x.")
cos = _of_floats("cos", "Cosine, of radians.")
erf = _of_floats("erf", "Error function.")
exp = _of_floats("exp", "e to the x.")
exp2 = _of_floats("exp2", "2 to the x.")
expm1 = _of_floats("expm1", "e to the x, less 1, with all digits near 0; -0 stays -0.")
floor = _rounding("floor", "The next whole number at or below x.")
log = _of_floats("log", "Natural logarithm; NaN below 0, -inf at 0.")
log2 = _of_floats("log2", "Logarithm to base 2.")
reciprocal = _of_floats("reciprocal", "1 / x, rounded once.")
round = _rounding("round", "The nearest whole number, ties to the even one.")
rsqrt = _of_floats("rsqrt", "1 / sqrt(x).")
sin = _of_floats("sin", "Sine, of radians.")
sqrt = _of_floats("sqrt", "Square root, rounded once; NaN below 0.")
tan = _of_floats("tan", "Tangent, of radians.")
tanh = _of_floats("tanh", "Hyperbolic tangent.")
trunc = _rounding("trunc", "x without its fraction.")
# Written until here.
acos = _of_floats("acos", "The angle from 0 to pi with this cosine; NaN where |x| > 1.")
acosh = _of_floats("acosh", "The y >= 0 with cosh(y) = x; NaN below 1.")
asin = _of_floats("asin", "The angle from -pi/2 to pi/2 with this sine; NaN where |x| > 1.")
asinh = _of_floats("asinh", "The y with sinh(y) = x.")
atan = _of_floats("atan", "The angle from -pi/2 to pi/2 with this tangent.")
atanh = _of_floats("atanh", "The y with tanh(y) = x; infinite at -1 and 1, NaN beyond.")
cosh = _of_floats("cosh", "The hyperbolic cosine.")
log10 = _of_floats("log10", "The logarithm to base 10.")
log1p = _of_floats("log1p", "log(1 + x), with all digits near 0.")
signbit = _of_floats("signbit", "Whether floats are negative, -0 among them.")
sinh = _of_floats("sinh", "The hyperbolic sine.")


def abs(x, /):
    """The size without the sign.

        >>> zyx.abs(zyx.asarray([-2, 3])).tolist()
        [2, 3]
    """
    return _array(x, "abs").__abs__()


def negative(x, /):
    """-x, of numbers.

        >>> zyx.negative(zyx.asarray([1, -2])).tolist()
        [-1, 2]
    """
    return -_array(x, "negative")


def positive(x, /):
    """x, of numbers.

        >>> zyx.positive(zyx.asarray([1, -2])).tolist()
        [1, -2]
    """
    return +_array(x, "positive")


def bitwise_invert(x, /):
    """Every bit the other way round.

        >>> zyx.bitwise_invert(zyx.asarray([0, 5])).tolist()
        [-1, -6]
    """
    return ~_array(x, "bitwise_invert")


def conj(x, /):
    """x: zyx has no complex numbers.

        >>> zyx.conj(zyx.asarray([1.0])).tolist()
        [1.0]
    """
    return _expect(x, "numbers", "conj")


def real(x, /):
    """x: zyx has no complex numbers.

        >>> zyx.real(zyx.asarray([1.0])).tolist()
        [1.0]
    """
    return _expect(x, "numbers", "real")


def imag(x, /):
    """Raises TypeError: zyx has no complex numbers.

        >>> try:
        ...     zyx.imag(zyx.asarray([1.0]))
        ... except TypeError as error:
        ...     print(error)
        imag: zyx has no complex numbers
    """
    raise TypeError("imag: zyx has no complex numbers")


def isfinite(x, /):
    """Bools: whether numbers are neither infinite nor NaN.

        >>> zyx.isfinite(zyx.asarray([1.0, zyx.inf, zyx.nan])).tolist()
        [True, False, False]
    """
    return _zyx._isfinite(_expect(x, "numbers", "isfinite"))


def isinf(x, /):
    """Bools: whether numbers are infinite.

        >>> zyx.isinf(zyx.asarray([1.0, -zyx.inf, zyx.nan])).tolist()
        [False, True, False]
    """
    return _zyx._isinf(_expect(x, "numbers", "isinf"))


def isnan(x, /):
    """Bools: whether numbers are NaN.

        >>> zyx.isnan(zyx.asarray([1.0, zyx.inf, zyx.nan])).tolist()
        [False, False, True]
    """
    return _zyx._isnan(_expect(x, "numbers", "isnan"))


def sign(x, /):
    """-1, 0 or 1; NaN of NaN.

        >>> zyx.sign(zyx.asarray([-2.0, 0.0, 3.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    x = _expect(x, "numbers", "sign")
    result = _zyx._sign(x)
    return _zyx._where(_zyx.not_equal(x, x), x, result) if x.dtype.is_float else result


def square(x, /):
    """x * x, of numbers.

        >>> zyx.square(zyx.asarray([3, -4])).tolist()
        [9, 16]
    """
    return _zyx._square(_expect(x, "numbers", "square"))


def clip(x, /, min=None, max=None):
    """min(max(x, min), max), of the dtype of x.

        >>> zyx.clip(zyx.asarray([-2, 0, 9]), 0, 5).tolist()
        [0, 0, 5]
    """
    x = _expect(x, "numbers", "clip")
    result = x
    for bound, function in ((min, _zyx.maximum), (max, _zyx.minimum)):
        if bound is not None:
            if isinstance(bound, Array) and bound.dtype is not x.dtype:
                bound = _zyx._cast(bound, x.dtype)
            result = function(result, bound)
    return result


def _logical(name, operator, text, result):
    def function(x1, x2, /):
        for x in (x1, x2):
            if isinstance(x, (Array, Parameter)):
                _expect(x, "bools", name)
        return operator(x1, x2)

    return _documented(function, name, text, "zyx.asarray([True, False]), True", result)


logical_and = _logical("logical_and", _zyx.bitwise_and, "Whether both of two bools are true; they broadcast.", [True, False])
logical_or = _logical("logical_or", _zyx.bitwise_or, "Whether one of two bools is true; they broadcast.", [True, True])
logical_xor = _logical("logical_xor", _zyx.bitwise_xor, "Whether two bools differ; they broadcast.", [False, True])


def logical_not(x, /):
    """Bools, each the other way round.

        >>> zyx.logical_not(zyx.asarray([True, False])).tolist()
        [False, True]
    """
    return _zyx._logical_not(_expect(x, "bools", "logical_not"))


# Reductions


def _axes(x, axis, function):
    """Axes from the front, or all; raises for those that are none or are named twice."""
    if axis is None:
        return tuple(range(x.ndim))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    found = []
    for each in axes:
        at = each + x.ndim if each < 0 else each
        if not 0 <= at < x.ndim:
            raise IndexError(f"{function}: an array of {x.ndim} dimensions has no axis {each}")
        if at in found:
            raise ValueError(f"{function}: axis {each} is named twice")
        found.append(at)
    return tuple(found)


def _axis(x, axis, function):
    return _axes(x, (axis,), function)[0]


def _reduced(core, x, axis, keepdims, function):
    axes = _axes(x, axis, function)
    # No dimensions are all of them in C++.
    return core(x, axes, keepdims) if axes or x.ndim == 0 else core(_zyx._unsqueeze(x, 0), (0,), False)


def _sum_dtype(x, dtype):
    """Sums of integers have 64 bits."""
    if dtype is not None:
        return to_dtype(dtype)
    if x.dtype.is_float:
        return x.dtype
    return uint64 if x.dtype.is_unsigned else int64


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum along an axis, several of them, or all. Of integers and bools it has 64 bits, unless `dtype` says other.

        >>> zyx.sum(zyx.asarray([[1, 2], [3, 4]]), axis=0).tolist()
        [4, 6]
    """
    x = _array(x, "sum")
    return _zyx._cast(_reduced(_zyx._sum, _zyx._cast(x, _sum_dtype(x, dtype)), axis, keepdims, "sum"),
                      _sum_dtype(x, dtype))


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product along an axis, several of them, or all.

        >>> zyx.prod(zyx.asarray([2, 3, 4])).item()
        24
    """
    x = _array(x, "prod")
    return _zyx._cast(_reduced(_zyx._prod, _zyx._cast(x, _sum_dtype(x, dtype)), axis, keepdims, "prod"),
                      _sum_dtype(x, dtype))


def _extreme(name, core, text, result):
    def function(x, /, *, axis=None, keepdims=False):
        x = _expect(x, "numbers", name)
        if math.prod(x.shape[i] for i in _axes(x, axis, name)) == 0:
            raise ValueError(f"{name}: of no elements there is none; the shape is {x.shape}")
        return _reduced(core, x, axis, keepdims, name)

    return _documented(function, name, text, "zyx.asarray([[1, 4], [3, 2]]), axis=1", result)


max = _extreme("max", _zyx._max, "The largest element along an axis, several of them, or all; NaN where there is one.",
               [4, 3])
min = _extreme("min", _zyx._min, "The smallest element along an axis, several of them, or all; NaN where there is one.",
               [1, 2])


def mean(x, /, *, axis=None, keepdims=False):
    """The mean of floats along an axis, several of them, or all.

        >>> zyx.mean(zyx.asarray([[1.0, 3.0], [5.0, 7.0]]), axis=1, keepdims=True).tolist()
        [[2.0], [6.0]]
    """
    return _reduced(_zyx._mean, _expect(x, "floats", "mean"), axis, keepdims, "mean")


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance: squared distances to the mean, divided by their number less `correction`.

        >>> zyx.var(zyx.asarray([1.0, 3.0])).item()
        1.0
    """
    x = _expect(x, "floats", "var")
    return _reduced(lambda x, axes, keepdims: _zyx._var(x, axes, keepdims, float(correction)), x, axis, keepdims, "var")


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The root of var().

        >>> zyx.std(zyx.asarray([1.0, 5.0])).item()
        2.0
    """
    x = _expect(x, "floats", "std")
    wide = _zyx._cast(x, float32) if x.dtype.itemsize < 4 else x
    return _zyx._cast(_zyx._sqrt(var(wide, axis=axis, correction=correction, keepdims=keepdims)), x.dtype)


def all(x, /, *, axis=None, keepdims=False):
    """Whether all elements are not 0.

        >>> zyx.all(zyx.asarray([[1, 0], [2, 3]]), axis=1).tolist()
        [False, True]
    """
    return _reduced(_zyx._all, _array(x, "all"), axis, keepdims, "all")


def any(x, /, *, axis=None, keepdims=False):
    """Whether an element is not 0.

        >>> zyx.any(zyx.asarray([[1, 0], [0, 0]]), axis=1).tolist()
        [True, False]
    """
    return _reduced(_zyx._any, _array(x, "any"), axis, keepdims, "any")


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not 0, as int64.

        >>> zyx.count_nonzero(zyx.asarray([0, 5, 7])).item()
        2
    """
    x = _array(x, "count_nonzero")
    return sum(_zyx._cast(_zyx._cast(x, boolean), int64), axis=axis, keepdims=keepdims)


def logsumexp(x, /, *, axis=None, keepdims=False):
    """log(sum(exp(x))) without overflow.

        >>> zyx.logsumexp(zyx.asarray([1000.0])).item()
        1000.0
    """
    return _reduced(_zyx._logsumexp, _expect(x, "floats", "logsumexp"), axis, keepdims, "logsumexp")


def softmax(x, /, *, axis=-1):
    """exp(x) over its sum along an axis.

        >>> zyx.softmax(zyx.asarray([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """
    return _zyx._softmax(_expect(x, "floats", "softmax"), axis)


def _position(name, core, text, result):
    def function(x, /, *, axis=None, keepdims=False):
        x = _expect(x, "numbers", name)
        ndim = x.ndim
        if axis is None:
            if x.size == 0:
                raise ValueError(f"{name}: of no elements there is none; the shape is {x.shape}")
            found = core(_zyx._reshape(x, (x.size,)), 0, False)
            return _zyx._reshape(found, (1,) * ndim) if keepdims else found
        return core(x, _axis(x, axis, name), keepdims)

    return _documented(function, name, text, "zyx.asarray([[1, 4], [3, 2]]), axis=1", result)


argmax = _position("argmax", _zyx._argmax, "The first position of the largest element along an axis, or of all, as int64.",
                   [1, 0])
argmin = _position("argmin", _zyx._argmin, "The first position of the smallest element along an axis, or of all, as int64.",
                   [0, 1])


# Scans


def _scan(name, core, text, result):
    def function(x, /, *, axis=None, dtype=None, include_initial=False):
        x = _expect(x, "numbers", name)
        if axis is None:
            if x.ndim != 1:
                raise ValueError(f"{name}: an array of {x.ndim} dimensions needs an axis")
            axis = 0
        axis = _axis(x, axis, name)
        target = _sum_dtype(x, dtype)
        result = _zyx._cast(core(_zyx._cast(x, target), axis), target)
        if include_initial:
            shape = x.shape[:axis] + (1,) + x.shape[axis + 1:]
            first = _zyx._full(shape, 0 if name == "cumulative_sum" else 1, target)
            result = _zyx._concat([first, result], axis)
        return result

    return _documented(function, name, text, "zyx.asarray([2, 3, 4])", result)


cumulative_sum = _scan("cumulative_sum", _zyx._cumsum, "Sums of the elements up to each one along an axis.", [2, 5, 9])
cumulative_prod = _scan("cumulative_prod", _zyx._cumprod, "Products of the elements up to each one along an axis.", [2, 6, 24])


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along an axis, `n` times.

        >>> zyx.diff(zyx.asarray([1, 4, 9])).tolist()
        [3, 5]
    """
    x = _expect(x, "numbers", "diff")
    axis = _axis(x, axis, "diff")
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = concat(parts, axis=axis)
    for _ in range(n):
        before, behind = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        before[axis], behind[axis] = slice(0, -1), slice(1, None)
        x = x[tuple(behind)] - x[tuple(before)]
    return x


# Movement


def reshape(x, /, shape, *, copy=None):
    """The elements in row-major order in another shape, of which one extent may be -1.

        >>> zyx.reshape(zyx.arange(6), (2, -1)).tolist()
        [[0, 1, 2], [3, 4, 5]]
    """
    x = _array(x, "reshape")
    shape = to_shape(shape)
    if x.size == 0 and -1 in shape:
        others = math.prod(extent for extent in shape if extent != -1)
        if others == 0:
            raise ValueError(f"reshape: no extent of {shape} follows from no elements")
        shape = tuple(0 if extent == -1 else extent for extent in shape)
    return _zyx._reshape(x, shape)


def permute_dims(x, /, axes):
    """Axis i of the result is axis axes[i].

        >>> zyx.permute_dims(zyx.zeros((2, 3, 4)), (2, 0, 1)).shape
        (4, 2, 3)
    """
    x = _array(x, "permute_dims")
    order = _axes(x, tuple(axes), "permute_dims")
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: {len(order)} axes for {x.ndim} dimensions")
    return _zyx._permute(x, order)


def moveaxis(x, source, destination, /):
    """The axes of `source` at the places of `destination`; the others keep their order.

        >>> zyx.moveaxis(zyx.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    x = _array(x, "moveaxis")
    sources, targets = _axes(x, source, "moveaxis"), _axes(x, destination, "moveaxis")
    if len(sources) != len(targets):
        raise ValueError("moveaxis: source and destination have different numbers of axes")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for target, source in sorted(zip(targets, sources)):
        order.insert(target, source)
    return _zyx._permute(x, order)


def matrix_transpose(x, /):
    """Matrices in the last two dimensions, transposed.

        >>> zyx.matrix_transpose(zyx.asarray([[1, 2], [3, 4]])).tolist()
        [[1, 3], [2, 4]]
    """
    return _array(x, "matrix_transpose").mT


def expand_dims(x, /, axis=0):
    """A new axis of extent 1, or several.

        >>> zyx.expand_dims(zyx.zeros(3), axis=(0, 2)).shape
        (1, 3, 1)
    """
    x = _array(x, "expand_dims")
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    places = []
    for each in axes:
        at = each + ndim if each < 0 else each
        if not 0 <= at < ndim:
            raise IndexError(f"expand_dims: the result of {ndim} dimensions has no axis {each}")
        if at in places:
            raise ValueError(f"expand_dims: axis {each} is named twice")
        places.append(at)
    extents = iter(x.shape)
    return _zyx._reshape(x, [1 if at in places else next(extents) for at in range(ndim)])


def squeeze(x, /, axis):
    """Without those axes, which have an extent of 1.

        >>> zyx.squeeze(zyx.zeros((1, 3)), axis=0).shape
        (3,)
    """
    x = _array(x, "squeeze")
    axes = _axes(x, axis, "squeeze")
    for each in axes:
        if x.shape[each] != 1:
            raise ValueError(f"squeeze: axis {each} of {x.shape} has an extent of {x.shape[each]}")
    return _zyx._reshape(x, [extent for at, extent in enumerate(x.shape) if at not in axes])


def flip(x, /, *, axis=None):
    """The elements in the opposite order along an axis, several of them, or all.

        >>> zyx.flip(zyx.asarray([1, 2, 3])).tolist()
        [3, 2, 1]
    """
    x = _array(x, "flip")
    axes = _axes(x, axis, "flip")
    return _zyx._flip(x, axes) if axes else x


def roll(x, /, shift, *, axis=None):
    """Elements move on by `shift`; what leaves at one end enters at the other.

        >>> zyx.roll(zyx.asarray([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    x = _array(x, "roll")
    if axis is None:
        if x.size == 0:
            return x
        return _zyx._reshape(_zyx._roll(_zyx._reshape(x, (x.size,)), (int(shift),), (0,)), x.shape)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for each, amount in zip(axes, shifts):
        at = _axis(x, each, "roll")
        if x.shape[at] != 0:
            x = _zyx._roll(x, (int(amount) % x.shape[at],), (at,))
    return x


def broadcast_to(x, /, shape):
    """A shape in which extents of 1 grew and new axes came in front.

        >>> zyx.broadcast_to(zyx.asarray([1, 2]), (2, 2)).tolist()
        [[1, 2], [1, 2]]
    """
    x = _array(x, "broadcast_to")
    shape = to_shape(shape)
    return x if x.shape == shape else _zyx._expand(x, shape)


def _broadcast_shape(shapes, function):
    ndim = _max((len(shape) for shape in shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for i, extent in enumerate(reversed(shape)):
            at = ndim - 1 - i
            if result[at] != extent and extent != 1:
                if result[at] != 1:
                    raise ValueError(f"{function}: shapes {', '.join(map(str, shapes))} do not broadcast")
                result[at] = extent
    return tuple(result)


def broadcast_arrays(*arrays):
    """All in the shape that they have together.

        >>> [x.shape for x in zyx.broadcast_arrays(zyx.zeros((2, 1)), zyx.zeros(3))]
        [(2, 3), (2, 3)]
    """
    arrays = [_array(x, "broadcast_arrays") for x in arrays]
    shape = _broadcast_shape([x.shape for x in arrays], "broadcast_arrays")
    return [broadcast_to(x, shape) for x in arrays]


def _together(arrays, function):
    arrays = [_array(x, function) for x in arrays]
    if not arrays:
        raise ValueError(f"{function}: needs an array at least")
    dtype = _dtypes.result_type(*arrays)
    return [_zyx._cast(x, dtype) for x in arrays]


def concat(arrays, /, *, axis=0):
    """One behind the other along an axis; with axis=None all elements of all of them.

        >>> zyx.concat([zyx.asarray([1, 2]), zyx.asarray([3])]).tolist()
        [1, 2, 3]
    """
    arrays = _together(arrays, "concat")
    if axis is None:
        return _zyx._concat([_zyx._reshape(x, (x.size,)) for x in arrays], 0)
    return _zyx._concat(arrays, _axis(arrays[0], axis, "concat"))


def stack(arrays, /, *, axis=0):
    """Arrays of one shape along a new axis.

        >>> zyx.stack([zyx.asarray([1, 2]), zyx.asarray([3, 4])]).tolist()
        [[1, 2], [3, 4]]
    """
    return _zyx._stack(_together(arrays, "stack"), axis)


def unstack(x, /, *, axis=0):
    """The arrays that stack() would put together, as a tuple.

        >>> [x.tolist() for x in zyx.unstack(zyx.asarray([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    x = _array(x, "unstack")
    axis = _axis(x, axis, "unstack")
    key = [slice(None)] * x.ndim
    result = []
    for i in range(x.shape[axis]):
        key[axis] = i
        result.append(x[tuple(key)])
    return tuple(result)


def tile(x, repetitions, /):
    """Copies along each axis, one behind the other; with more numbers than axes, new ones in front.

        >>> zyx.tile(zyx.asarray([1, 2]), (2,)).tolist()
        [1, 2, 1, 2]
    """
    x = _array(x, "tile")
    counts = tuple(repetitions)
    shape = (1,) * (len(counts) - x.ndim) + x.shape
    counts = (1,) * (len(shape) - len(counts)) + counts
    if 0 in counts or 0 in shape:
        return _zyx._full([extent * count for extent, count in zip(shape, counts)], 0, x.dtype)
    return _zyx._repeat(_zyx._reshape(x, shape), counts) if shape else x


def repeat(x, repeats, /, *, axis=None):
    """Each element so many times, copies beside each other. Numbers in an array are read now.

        >>> zyx.repeat(zyx.asarray([1, 2]), 2).tolist()
        [1, 1, 2, 2]
    """
    x = _array(x, "repeat")
    if axis is None:
        x, axis = _zyx._reshape(x, (x.size,)), 0
    axis = _axis(x, axis, "repeat")
    if isinstance(repeats, Array) and repeats.size == 1:
        repeats = repeats.item()
    if isinstance(repeats, int):
        if repeats == 0 or x.size == 0:
            return _zyx._full(x.shape[:axis] + (x.shape[axis] * repeats,) + x.shape[axis + 1:], 0, x.dtype)
        return _zyx._repeat_interleave(x, repeats, axis)
    counts = repeats.tolist() if isinstance(repeats, Array) else list(repeats)
    if len(counts) != x.shape[axis]:
        raise ValueError(f"repeat: {len(counts)} numbers for {x.shape[axis]} elements")
    positions = [i for i, count in enumerate(counts) for _ in range(count)]
    return _zyx._take(x, asarray(positions, dtype=int64), axis)


def pad(x, /, widths, *, value=0.0):
    """Elements of `value` before and behind each axis: a pair of numbers for each. Negative ones remove.

        >>> zyx.pad(zyx.asarray([1, 2]), [(1, 2)]).tolist()
        [0, 1, 2, 0, 0]
    """
    x = _array(x, "pad")
    return _zyx._pad(x, [low for low, _ in widths], [high for _, high in widths], value)


# Selection


def where(condition, x1, x2, /):
    """Elements of x1 where the condition, of bools, holds, and of x2 elsewhere. All broadcast.

        >>> zyx.where(zyx.asarray([True, False]), zyx.asarray([1, 2]), 0).tolist()
        [1, 0]
    """
    condition = _expect(condition, "bools", "where")
    if not isinstance(x1, (Array, Parameter)) and not isinstance(x2, (Array, Parameter)):
        x1 = asarray(x1)
    return _zyx._where(condition, x1, x2)


def take(x, indices, /, *, axis=None):
    """The elements at positions along an axis. A position that is none gives 0.

        >>> zyx.take(zyx.asarray([5, 6, 7]), zyx.asarray([2, 0, -1])).tolist()
        [7, 5, 7]
    """
    x, indices = _array(x, "take"), _array(indices, "take")
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: an array of {x.ndim} dimensions needs an axis")
        axis = 0
    axis = _axis(x, axis, "take")
    return _zyx._take(x, _indexing._from_front(indices, x.shape[axis]), axis)


def take_along_axis(x, indices, /, *, axis=-1):
    """result[..., i, ...] = x[..., indices[..., i, ...], ...] along an axis.

        >>> zyx.take_along_axis(zyx.asarray([[5, 6], [7, 8]]), zyx.asarray([[1], [0]]), axis=1).tolist()
        [[6], [7]]
    """
    x, indices = _array(x, "take_along_axis"), _array(indices, "take_along_axis")
    axis = _axis(x, axis, "take_along_axis")
    return _zyx._take_along_axis(x, _indexing._from_front(indices, x.shape[axis]), axis)


def nonzero(x, /):
    """Positions of what is not 0: an array of int64 for each axis. Computes x now.

        >>> [x.tolist() for x in zyx.nonzero(zyx.asarray([[0, 5], [7, 0]]))]
        [[0, 1], [1, 0]]
    """
    x = _array(x, "nonzero")
    if x.ndim == 0:
        raise ValueError("nonzero: the array has no dimensions")
    found = _zyx._nonzero(x)
    return tuple(found[:, i] for i in range(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where elements of x2 would stand in x1, which is sorted and has one dimension. Compares all with all.

        >>> zyx.searchsorted(zyx.asarray([1, 3, 5]), zyx.asarray([0, 3, 9])).tolist()
        [0, 1, 3]
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', not '{side}'")
    x1, x2 = _expect(x1, "numbers", "searchsorted"), _expect(x2, "numbers", "searchsorted")
    if x1.ndim != 1:
        raise ValueError("searchsorted: the first array has not one dimension")
    if sorter is not None:
        x1 = take(x1, sorter)
    x2 = expand_dims(x2, axis=-1)
    is_before = (_zyx.less if side == "left" else _zyx.less_equal)(x1, x2)
    if x2.dtype.is_float:
        # NaN stands behind all numbers, as sort() has it, and beside other ones.
        is_before = is_before | ((x2 != x2) & (x1 == x1) if side == "left" else x2 != x2)
    return sum(_zyx._cast(is_before, int64), axis=-1)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The elements in order along an axis; equal ones keep theirs, and NaN stands last.

        >>> zyx.sort(zyx.asarray([3, 1, 2]), descending=True).tolist()
        [3, 2, 1]
    """
    x = _expect(x, "numbers", "sort")
    return _zyx._sort(x, _axis(x, axis, "sort"), descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Where the elements of sort() come from, as int64.

        >>> zyx.argsort(zyx.asarray([3, 1, 2])).tolist()
        [1, 2, 0]
    """
    x = _expect(x, "numbers", "argsort")
    return _zyx._argsort(x, _axis(x, axis, "argsort"), descending)


def topk(x, k, /, *, axis=-1, largest=True):
    """The k largest or smallest elements along an axis, the best first, and their positions.

        >>> [x.tolist() for x in zyx.topk(zyx.asarray([3, 1, 2]), 2)]
        [[3, 2], [0, 2]]
    """
    return topk_result(*_zyx._topk(_expect(x, "numbers", "topk"), k, axis, largest))


def unique_all(x, /):
    """The elements that differ, in order: values, first positions, which of them each element is, and how many are.

        >>> [x.tolist() for x in zyx.unique_all(zyx.asarray([2, 1, 2]))]
        [[1, 2], [1, 0], [1, 0, 1], [1, 2]]
    """
    x = _array(x, "unique_all")
    values, inverse, counts = _unique(x)
    count = x.size
    if count == 0:
        return unique_all_result(values, _zyx._full((0,), 0, int64), inverse, counts)
    flat = _zyx._reshape(inverse, (count,))
    first = _zyx._scatter(_zyx._full(values.shape, count, int64), flat, _zyx._arange(0, count, 1, int64), 0, "min")
    return unique_all_result(values, first, inverse, counts)


def _unique(x):
    if x.size == 0:
        none = _zyx._full((0,), 0, int64)
        return _zyx._full((0,), 0, x.dtype), _zyx._reshape(none, x.shape), none
    if x.dtype is boolean:
        values, inverse, counts = _zyx._unique(_zyx._cast(x, _zyx.uint8))
        return _zyx._cast(values, boolean), inverse, counts
    return _zyx._unique(x)


def unique_counts(x, /):
    """The elements that differ, in order, and how many of each there are.

        >>> [x.tolist() for x in zyx.unique_counts(zyx.asarray([2, 1, 2]))]
        [[1, 2], [1, 2]]
    """
    values, _, counts = _unique(_array(x, "unique_counts"))
    return unique_counts_result(values, counts)


def unique_inverse(x, /):
    """The elements that differ, in order, and which of them each element is.

        >>> [x.tolist() for x in zyx.unique_inverse(zyx.asarray([2, 1, 2]))]
        [[1, 2], [1, 0, 1]]
    """
    values, inverse, _ = _unique(_array(x, "unique_inverse"))
    return unique_inverse_result(values, inverse)


def unique_values(x, /):
    """The elements that differ, in order; each NaN differs from the others.

        >>> zyx.unique_values(zyx.asarray([2, 1, 2])).tolist()
        [1, 2]
    """
    return _unique(_array(x, "unique_values"))[0]


# Products


def tensordot(x1, x2, /, *, axes=2):
    """The sum of products over axes of both: the last ones of x1 and the first ones of x2, or those that are named.

        >>> zyx.tensordot(zyx.asarray([[1, 2]]), zyx.asarray([[3], [4]]), axes=1).tolist()
        [[11]]
    """
    x1, x2 = _together((_expect(x1, "numbers", "tensordot"), _expect(x2, "numbers", "tensordot")), "tensordot")
    if isinstance(axes, int):
        if axes > _min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot: {axes} axes are more than one of the arrays has")
        left, right = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        left, right = _axes(x1, tuple(axes[0]), "tensordot"), _axes(x2, tuple(axes[1]), "tensordot")
    if [x1.shape[i] for i in left] != [x2.shape[i] for i in right]:
        raise ValueError(f"tensordot: the axes {left} of {x1.shape} and {right} of {x2.shape} have different extents")
    rows = [i for i in range(x1.ndim) if i not in left]
    columns = [i for i in range(x2.ndim) if i not in right]
    depth = math.prod(x1.shape[i] for i in left)
    shape = [x1.shape[i] for i in rows] + [x2.shape[i] for i in columns]
    a = _zyx._reshape(_zyx._permute(x1, rows + list(left)), (math.prod(x1.shape[i] for i in rows), depth))
    b = _zyx._reshape(_zyx._permute(x2, list(right) + columns), (depth, math.prod(x2.shape[i] for i in columns)))
    return _zyx._reshape(_zyx.matmul(a, b), shape)


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of products along an axis, which counts from the end.

        >>> zyx.vecdot(zyx.asarray([1, 2]), zyx.asarray([3, 4])).item()
        11
    """
    x1, x2 = _together((_expect(x1, "numbers", "vecdot"), _expect(x2, "numbers", "vecdot")), "vecdot")
    if axis >= 0:
        if x1.ndim != x2.ndim:
            raise ValueError("vecdot: an axis from the front has no meaning for arrays of different numbers of dimensions")
        axis -= x1.ndim
    a, b = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"vecdot: axis {axis} of {x1.shape} and of {x2.shape} have different extents")
    rows, columns = _zyx._unsqueeze(a, -2), _zyx._unsqueeze(b, -1)
    product = _zyx.matmul(rows, columns)
    return _zyx._reshape(product, product.shape[:-2])


def einsum(notation, /, *operands):
    """A sum of products in Einstein's notation, such as "ij,jk->ik".

        >>> zyx.einsum("ij,ij->i", zyx.asarray([[1, 2]]), zyx.asarray([[3, 4]])).tolist()
        [11]
    """
    return _zyx._einsum(notation, _together(operands, "einsum"))
