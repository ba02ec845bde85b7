"""The functions of the array API standard 2024.12 as a table: for each one, which arrays it is called with.

A cell is a function and a dtype. Its samples are shapes that hurt: no dimensions, no elements, extents of 1, broadcasts,
negative axes. utils/scores.py compares all cells with array-api-strict, and test_standard.py does in the suite.
"""
import numpy as np

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
NUMBERS = INTEGERS + FLOATS
ALL = ("bool",) + NUMBERS
BITS = ("bool",) + INTEGERS

SHAPES = [(), (1,), (0,), (5,), (2, 3), (1, 1, 4), (2, 0, 3)]
PAIRS = [((), ()), ((3,), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0,), (1,)), ((2, 0), (1, 0)), ((2, 3, 4), (3, 1))]
# With an axis, and elements along it.
AXES = [((5,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((2, 3, 4), -2), ((1, 1, 4), 1)]


def data(shape, dtype, seed=0, low=None, high=None):
    """Numbers of a seed; small integers, and floats of both signs."""
    random = np.random.default_rng([seed, *shape, len(shape)])
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        least = 0 if dtype.startswith("u") else -6
        return random.integers(least if low is None else low, 7 if high is None else high, shape).astype(dtype)
    return random.uniform(-4 if low is None else low, 4 if high is None else high, shape).astype(dtype)


class Case:
    """A function, the dtypes that it takes, and samples: pairs of arrays of NumPy and a function of the namespace."""

    def __init__(self, name, dtypes, samples, digits=None):
        self.name, self.dtypes, self.samples, self.digits = name, dtypes, samples, digits


CASES = []


def case(name, dtypes, samples, **options):
    CASES.append(Case(name, dtypes, samples, **options))


def unary(name, dtypes, low=None, high=None, special=True):
    def samples(dtype):
        for shape in SHAPES:
            yield [data(shape, dtype, low=low, high=high)], lambda xp, x: getattr(xp, name)(x)
        if special and dtype in FLOATS:
            corners = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1e-8, 30.0, -30.0, 1e30], dtype)
            yield [corners], lambda xp, x: getattr(xp, name)(x)

    case(name, dtypes, samples)


def binary(name, dtypes, low=None, high=None, low2=None, high2=None, divisor=False):
    def samples(dtype):
        for a, b in PAIRS:
            x, y = data(a, dtype, 1, low, high), data(b, dtype, 2, low2 if low2 is not None else low,
                                                    high2 if high2 is not None else high)
            if divisor:
                y = np.where(y == 0, np.ones((), dtype), y).astype(dtype)
            yield [x, y], lambda xp, x, y: getattr(xp, name)(x, y)
            # Where the second one has a range of its own, the order is fixed.
            if a == b or low2 is not None:
                continue
            yield [y, np.where(x == 0, np.ones((), dtype), x).astype(dtype) if divisor else x], \
                lambda xp, x, y: getattr(xp, name)(x, y)
        if dtype in FLOATS and low is None and low2 is None:
            corners = np.array([0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan], dtype)
            x, y = np.meshgrid(corners, corners)
            yield [x, y], lambda xp, x, y: getattr(xp, name)(x, y)

    case(name, dtypes, samples)


for each in ("abs", "negative", "positive", "sign", "square"):
    unary(each, NUMBERS)
for each in ("ceil", "floor", "round", "trunc", "isfinite", "isinf", "isnan", "real", "conj"):
    unary(each, NUMBERS)
for each in ("acos", "asin", "atanh"):
    unary(each, FLOATS, -1, 1)
for each in ("acosh",):
    unary(each, FLOATS, 1, 5)
for each in ("asinh", "atan", "cos", "cosh", "exp", "expm1", "reciprocal", "sin", "sinh", "tan", "tanh", "signbit"):
    unary(each, FLOATS)
for each in ("log", "log10", "log2", "sqrt"):
    unary(each, FLOATS, 0.1, 5)
unary("log1p", FLOATS, -0.9, 5)
unary("bitwise_invert", BITS)
unary("logical_not", ("bool",))
for each in ("add", "subtract", "multiply", "maximum", "minimum"):
    binary(each, NUMBERS)
for each in ("less", "less_equal", "greater", "greater_equal"):
    binary(each, NUMBERS)
for each in ("equal", "not_equal"):
    binary(each, ALL)
for each in ("divide", "atan2", "hypot", "copysign", "nextafter", "logaddexp"):
    binary(each, FLOATS)
for each in ("floor_divide", "remainder"):
    binary(each, INTEGERS, divisor=True)
    binary(each, FLOATS, -4, 4, 0.5, 3)
binary("pow", INTEGERS, low2=0, high2=4)
binary("pow", FLOATS, 0.1, 4)
for each in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    binary(each, BITS)
for each in ("bitwise_left_shift", "bitwise_right_shift"):
    binary(each, INTEGERS, low2=0, high2=7)
for each in ("logical_and", "logical_or", "logical_xor"):
    binary(each, ("bool",))


def clip_samples(dtype):
    for shape in SHAPES:
        x = data(shape, dtype)
        yield [x], lambda xp, x: xp.clip(x, 1, 3)
        yield [x], lambda xp, x: xp.clip(x, min=2)
        yield [x], lambda xp, x: xp.clip(x, max=2)
    yield [data((2, 3), dtype), data((3,), dtype, 1, 0, 2), data((2, 1), dtype, 2, 2, 5)], \
        lambda xp, x, low, high: xp.clip(x, low, high)


case("clip", NUMBERS, clip_samples)


# Creation

def creation(name, dtypes, calls):
    case(name, dtypes, lambda dtype: (([], lambda xp, call=call: call(xp, getattr(xp, dtype))) for call in calls))


creation("zeros", ALL, [lambda xp, t, s=s: xp.zeros(s, dtype=t) for s in SHAPES + [3]])
creation("ones", ALL, [lambda xp, t, s=s: xp.ones(s, dtype=t) for s in SHAPES + [3]])
creation("full", NUMBERS, [lambda xp, t, s=s: xp.full(s, 3, dtype=t) for s in SHAPES + [3]])
creation("empty", ALL, [lambda xp, t: xp.empty((0, 2), dtype=t)])
creation("arange", NUMBERS, [lambda xp, t, a=a: xp.arange(*a, dtype=t) for a in
                             [(5,), (0,), (2, 7), (7, 2), (1, 8, 3)]])
creation("arange", ("int64",), [lambda xp, t, a=a: xp.arange(*a, dtype=t) for a in [(7, 1, -2), (-3, 3, 2)]])
creation("linspace", FLOATS, [lambda xp, t, a=a: xp.linspace(0, 3, a, dtype=t) for a in (0, 1, 2, 7)] + [
    lambda xp, t: xp.linspace(-1, 2, 6, dtype=t, endpoint=False), lambda xp, t: xp.linspace(2, -2, 5, dtype=t)])
creation("eye", NUMBERS, [lambda xp, t, a=a, k=k: xp.eye(*a, k=k, dtype=t) for a in [(3,), (2, 4), (0,)] for k in (-1, 0, 2)])
for each in ("zeros_like", "ones_like"):
    case(each, ALL, lambda dtype, each=each: (([data(s, dtype)], lambda xp, x: getattr(xp, each)(x)) for s in SHAPES))
case("full_like", NUMBERS, lambda dtype: (([data(s, dtype)], lambda xp, x: xp.full_like(x, 2)) for s in SHAPES))
case("empty_like", ALL, lambda dtype: iter([([data((0, 3), dtype)], lambda xp, x: xp.empty_like(x))]))
for each in ("tril", "triu"):
    case(each, ALL, lambda dtype, each=each: (([data(s, dtype)], lambda xp, x, k=k: getattr(xp, each)(x, k=k))
                                              for s in [(3, 3), (2, 4), (2, 3, 2), (0, 3)] for k in (-1, 0, 1)))
case("meshgrid", NUMBERS, lambda dtype: (
    ([data((3,), dtype), data((2,), dtype, 1)], lambda xp, x, y, i=i: xp.meshgrid(x, y, indexing=i)) for i in ("xy", "ij")))
case("asarray", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x: xp.asarray(x, copy=True)) for s in SHAPES))
case("from_dlpack", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x: xp.from_dlpack(x)) for s in SHAPES))

# Dtypes

case("astype", ALL, lambda dtype: (
    ([data((2, 3), dtype, low=0, high=5)], lambda xp, x, to=to: xp.astype(x, getattr(xp, to))) for to in ALL))
case("can_cast", ALL, lambda dtype: iter([([data((2,), dtype)], lambda xp, x: [
    xp.can_cast(x, getattr(xp, to)) for to in ALL if not ("uint64" in (to, dtype) and to != dtype)])]))
case("isdtype", ALL, lambda dtype: iter([([], lambda xp: [xp.isdtype(getattr(xp, dtype), kind) for kind in (
    "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")])]))
case("finfo", FLOATS, lambda dtype: iter([([], lambda xp: [float(getattr(xp.finfo(getattr(xp, dtype)), name)) for name in (
    "bits", "eps", "max", "min", "smallest_normal")])]))
case("iinfo", INTEGERS, lambda dtype: iter([([], lambda xp: [int(getattr(xp.iinfo(getattr(xp, dtype)), name)) for name in (
    "bits", "max", "min")])]))


def promotions(dtype):
    group = FLOATS if dtype in FLOATS else INTEGERS if dtype in INTEGERS else ("bool",)
    for other in group:
        mixed = {dtype, other}
        if "uint64" in mixed and any(each.startswith("int") for each in mixed):
            continue
        yield [data((2,), dtype, low=0), data((2,), other, 1, low=0)], \
            lambda xp, x, y: (xp.where(x == y, x, y), str(xp.result_type(x, y)).split(".")[-1])


case("result_type", ALL, promotions)

# Manipulation

case("broadcast_to", ALL, lambda dtype: (([data(a, dtype)], lambda xp, x, b=b: xp.broadcast_to(x, b)) for a, b in [
    ((), (2,)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1,), (0,)), ((1, 3), (4, 2, 3))]))
case("broadcast_arrays", ALL, lambda dtype: (
    ([data(a, dtype), data(b, dtype, 1)], lambda xp, x, y: xp.broadcast_arrays(x, y)) for a, b in PAIRS))
case("concat", ALL, lambda dtype: (
    ([data(a, dtype), data(b, dtype, 1)], lambda xp, x, y, axis=axis: xp.concat([x, y], axis=axis))
    for a, b, axis in [((3,), (2,), 0), ((2, 3), (2, 1), -1), ((2, 3), (0, 3), 0), ((2, 3), (4,), None)]))
case("expand_dims", ALL, lambda dtype: (
    ([data(s, dtype)], lambda xp, x, axis=axis: xp.expand_dims(x, axis=axis))
    for s, axis in [((), 0), ((3,), -1), ((2, 3), 1), ((2, 0), -3)]))
case("flip", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x, axis=axis: xp.flip(x, axis=axis)) for s, axis in [
    ((), None), ((5,), None), ((2, 3), None), ((2, 3), -1), ((2, 3, 4), (0, 2)), ((0, 3), 0)]))
case("moveaxis", ALL, lambda dtype: (([data((2, 3, 4), dtype)], lambda xp, x, a=a, b=b: xp.moveaxis(x, a, b)) for a, b in [
    (0, 2), (-1, 0), ((0, 1), (1, 2)), ((2, 0), (0, 1))]))
case("permute_dims", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x, axes=axes: xp.permute_dims(x, axes)) for s, axes in [
    ((), ()), ((3,), (0,)), ((2, 3), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((2, 0), (1, 0))]))
case("repeat", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x, n=n, axis=axis: xp.repeat(x, n, axis=axis))
                                   for s, n, axis in [((3,), 2, None), ((2, 3), 2, 0), ((2, 3), 3, -1), ((2, 3), 0, 1)]))
case("repeat", ALL, lambda dtype: iter([
    ([data((3,), dtype), np.array([2, 0, 1])], lambda xp, x, n: xp.repeat(x, n))]))
case("reshape", ALL, lambda dtype: (([data(a, dtype)], lambda xp, x, b=b: xp.reshape(x, b)) for a, b in [
    ((), (1, 1)), ((6,), (2, 3)), ((2, 3), (-1,)), ((2, 3), (3, -1)), ((0, 2), (2, 0)), ((1,), ())]))
case("roll", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x, n=n, axis=axis: xp.roll(x, n, axis=axis)) for s, n, axis in [
    ((5,), 2, None), ((5,), -7, 0), ((2, 3), 1, None), ((2, 3), (1, -1), (0, 1)), ((0, 3), 1, 0), ((), 1, None)]))
case("squeeze", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x, axis=axis: xp.squeeze(x, axis=axis)) for s, axis in [
    ((1,), 0), ((2, 1), -1), ((1, 3, 1), (0, 2)), ((1, 0), 0)]))
case("stack", ALL, lambda dtype: (
    ([data(s, dtype), data(s, dtype, 1)], lambda xp, x, y, axis=axis: xp.stack([x, y], axis=axis))
    for s, axis in [((), 0), ((3,), 0), ((3,), -1), ((2, 3), 1), ((0,), 0)]))
case("tile", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x, n=n: xp.tile(x, n)) for s, n in [
    ((3,), (2,)), ((2, 3), (2,)), ((3,), (2, 2)), ((2, 3), (2, 0)), ((), (3,)), ((0,), (2,))]))
case("unstack", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x, axis=axis: xp.unstack(x, axis=axis)) for s, axis in [
    ((3,), 0), ((2, 3), 1), ((2, 3), -2)]))

# Searching, sorting, sets

for each in ("argmax", "argmin"):
    case(each, NUMBERS, lambda dtype, each=each: (
        ([data(s, dtype)], lambda xp, x, axis=axis, keep=keep: getattr(xp, each)(x, axis=axis, keepdims=keep))
        for s, axis in AXES + [((2, 3), None), ((), None)] for keep in (False, True)))
case("count_nonzero", ALL, lambda dtype: (
    ([data(s, dtype)], lambda xp, x, axis=axis, keep=keep: xp.count_nonzero(x, axis=axis, keepdims=keep))
    for s, axis in AXES + [((2, 3), None), ((2, 3), (0, 1)), ((0, 2), 0)] for keep in (False, True)))
case("nonzero", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x: xp.nonzero(x)) for s in [(5,), (2, 3), (2, 3, 2), (0,)]))
def with_nan(x):
    """The same with a NaN for the last element of floats."""
    return np.append(x[:-1], x.dtype.type("nan")) if x.dtype.kind == "f" else x


case("searchsorted", NUMBERS, lambda dtype: (
    ([np.sort(change(data((5,), dtype))), change(data(s, dtype, 1).reshape(-1)).reshape(s)],
     lambda xp, x, y, side=side: xp.searchsorted(x, y, side=side))
    for s in [(3,), (2, 2), (0,)] for side in ("left", "right") for change in (lambda x: x, with_nan) if s != (0,) or change is not with_nan))
case("where", ALL, lambda dtype: (
    ([data(a, "bool", 3), data(a, dtype), data(b, dtype, 1)], lambda xp, c, x, y: xp.where(c, x, y)) for a, b in PAIRS))
case("take", ALL, lambda dtype: (
    ([data(s, dtype), np.array(i, "int64")], lambda xp, x, i, axis=axis: xp.take(x, i, axis=axis))
    for s, i, axis in [((5,), [0, 4, 4], 0), ((2, 3), [1], 0), ((2, 3), [2, 0], -1), ((2, 3), [], 1)]))
case("take_along_axis", ALL, lambda dtype: (
    ([data(s, dtype), np.zeros(s, "int64")], lambda xp, x, i, axis=axis: xp.take_along_axis(x, i, axis=axis))
    for s, axis in [((5,), 0), ((2, 3), -1), ((2, 3), 0)]))
case("sort", NUMBERS, lambda dtype: (
    ([data(s, dtype)], lambda xp, x, axis=axis, down=down: xp.sort(x, axis=axis, descending=down))
    for s, axis in AXES + [((0, 3), 0)] for down in (False, True)))
case("argsort", NUMBERS, lambda dtype: (
    ([data(s, dtype)], lambda xp, x, axis=axis, down=down: xp.argsort(x, axis=axis, descending=down, stable=True))
    for s, axis in AXES + [((0, 3), 0)] for down in (False, True)))
for each in ("unique_all", "unique_counts", "unique_inverse"):
    case(each, ALL, lambda dtype, each=each: (([data(s, dtype)], lambda xp, x: list(getattr(xp, each)(x))) for s in [
        (8,), (2, 3), (0,), ()]))
case("unique_values", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x: xp.unique_values(x)) for s in [(8,), (2, 3), (0,)]))

# Statistics

REDUCED = AXES + [((), None), ((5,), None), ((2, 3), None), ((2, 3, 4), (0, -1)), ((2, 3), ())]
for each in ("max", "min"):
    case(each, NUMBERS, lambda dtype, each=each: (
        ([data(s, dtype)], lambda xp, x, axis=axis, keep=keep: getattr(xp, each)(x, axis=axis, keepdims=keep))
        for s, axis in REDUCED for keep in (False, True)))
for each in ("sum", "prod"):
    case(each, NUMBERS, lambda dtype, each=each: (
        ([data(s, dtype)], lambda xp, x, axis=axis, keep=keep: getattr(xp, each)(x, axis=axis, keepdims=keep))
        for s, axis in REDUCED + [((0, 3), 0), ((0,), None)] for keep in (False, True)))
for each in ("mean", "std", "var"):
    case(each, FLOATS, lambda dtype, each=each: (
        ([data(s, dtype)], lambda xp, x, axis=axis, keep=keep: getattr(xp, each)(x, axis=axis, keepdims=keep))
        for s, axis in REDUCED for keep in (False, True)))
for each in ("std", "var"):
    case(each, FLOATS, lambda dtype, each=each: iter([
        ([data((4, 5), dtype)], lambda xp, x: getattr(xp, each)(x, axis=1, correction=1))]))
for each in ("cumulative_sum", "cumulative_prod"):
    case(each, NUMBERS, lambda dtype, each=each: (
        ([data(s, dtype)], lambda xp, x, axis=axis, first=first: getattr(xp, each)(x, axis=axis, include_initial=first))
        for s, axis in AXES + [((5,), None), ((0, 3), 0)] for first in (False, True)))
for each in ("all", "any"):
    case(each, ALL, lambda dtype, each=each: (
        ([data(s, dtype)], lambda xp, x, axis=axis, keep=keep: getattr(xp, each)(x, axis=axis, keepdims=keep))
        for s, axis in REDUCED + [((0, 3), 0), ((0,), None)] for keep in (False, True)))
case("diff", NUMBERS, lambda dtype: (([data(s, dtype)], lambda xp, x, axis=axis, n=n: xp.diff(x, axis=axis, n=n))
                                     for s, axis in [((5,), -1), ((2, 3), 0), ((2, 3), 1)] for n in (1, 2)))

# Linear algebra

case("matmul", NUMBERS, lambda dtype: (
    ([data(a, dtype), data(b, dtype, 1)], lambda xp, x, y: xp.matmul(x, y)) for a, b in [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 2)), ((2, 0), (0, 3)),
        ((2, 1, 2, 3), (4, 3, 2))]))
case("matrix_transpose", ALL, lambda dtype: (([data(s, dtype)], lambda xp, x: xp.matrix_transpose(x)) for s in [
    (2, 3), (2, 3, 4), (0, 2)]))
case("tensordot", NUMBERS, lambda dtype: (
    ([data(a, dtype), data(b, dtype, 1)], lambda xp, x, y, axes=axes: xp.tensordot(x, y, axes=axes)) for a, b, axes in [
        ((2, 3), (3, 4), 1), ((2, 3, 4), (3, 4, 2), 2), ((2,), (3,), 0), ((2, 3), (4, 2), ((0,), (1,))), ((2, 0), (0, 2), 1)]))
case("vecdot", NUMBERS, lambda dtype: (
    ([data(a, dtype), data(b, dtype, 1)], lambda xp, x, y, axis=axis: xp.vecdot(x, y, axis=axis)) for a, b, axis in [
        ((3,), (3,), -1), ((2, 3), (2, 3), -1), ((2, 3), (3,), -1), ((3, 2), (3, 2), -2)]))

# Indexing and operators

KEYS = [(0, Ellipsis), (-1, Ellipsis), (slice(None), slice(None)), (slice(1, None), Ellipsis),
        (slice(None, None, -1), slice(None)), (slice(4, 0, -2), slice(None)), (slice(None), 1), (0, slice(1)), (2, -1),
        Ellipsis, (Ellipsis, 0), (None, slice(None), Ellipsis), (slice(None), None, -1), (slice(0, 0), Ellipsis)]
case("getitem", ALL, lambda dtype: (([data((5, 3), dtype)], lambda xp, x, key=key: x[key]) for key in KEYS))


def setitem_samples(dtype):
    for key in KEYS:
        if isinstance(key, tuple) and None in key:
            continue

        def call(xp, x, y, key=key):
            x = xp.asarray(x, copy=True)
            x[key] = y
            return x

        yield [data((5, 3), dtype), data((), dtype, 1)], call


case("setitem", ALL, setitem_samples)
case("item", ALL, lambda dtype: iter([([data((), dtype)], lambda xp, x: [
    bool(x)] if dtype == "bool" else [int(x), float(x), bool(x)])]))


def functions():
    return sorted({each.name for each in CASES})
