"""Arrays: operators, handles, indexing, reading, and what is refused."""
import math
import pickle
import traceback
import warnings

import ml_dtypes
import numpy as np
import pytest

import zyx

FLOATS = ["float16", "float32", "float64"]


def same(x, expected):
    expected = np.asarray(expected)
    assert x.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(x).astype(expected.dtype), expected)


def test_nothing_is_computed_before_it_is_read():
    x = zyx.asarray([1.0, 2.0, 3.0])
    y = (x * x + 1) * 2
    assert not y.is_computed
    assert float(zyx.sum(y)) == 34
    assert y.tolist() == [4.0, 10.0, 20.0]
    assert y.is_computed


def test_handles():
    x = zyx.asarray([1.0, 2.0, 3.0])
    before, shape = x, zyx.reshape(x, (3, 1))
    x += 1
    same(x, [2, 3, 4])
    same(before, [1, 2, 3])
    x = before
    x[0] = 5
    same(x, [5, 2, 3])
    # One handle has two names; what was made before does not change.
    same(before, [5, 2, 3])
    same(shape, [[1], [2], [3]])
    with pytest.raises(TypeError, match="has shape"):
        x += zyx.ones((2, 3))
    i = zyx.asarray([1, 2])
    with pytest.raises(zyx.Error, match="promote|dtype"):
        i += zyx.asarray([0.5, 0.5])
    j = zyx.asarray([1], dtype=zyx.int8)
    with pytest.raises(TypeError, match="dtype"):
        j += zyx.asarray([1])


@pytest.mark.parametrize("key", [0, -1, slice(1, None), slice(None, None, -2), (slice(None), 1), (1, slice(None, 2)), Ellipsis,
                                 (Ellipsis, -1), (None, 1), (slice(None), None), (1, 2)], ids=str)
def test_setitem_as_numpy(key):
    expected = np.arange(12.0, dtype="float32").reshape(4, 3)
    x = zyx.asarray(expected)
    y = expected.copy()
    y[key] = 7
    x[key] = 7
    same(x, y)
    values = -np.arange(y[key].size, dtype="float32").reshape(y[key].shape)
    y[key] = values
    x[key] = zyx.asarray(values)
    same(x, y)


def test_indexing_by_arrays():
    n = np.arange(12).reshape(4, 3)
    x = zyx.asarray(n)
    rows, columns = np.array([0, -1, 2]), np.array([2, 0, -3])
    same(x[zyx.asarray(rows)], n[rows])
    same(x[:, zyx.asarray(columns)], n[:, columns])
    same(x[zyx.asarray(rows), zyx.asarray(columns)], n[rows, columns])
    same(x[1, zyx.asarray(columns)], n[1, columns])
    same(x[zyx.asarray(2)], n[2])
    x[zyx.asarray([0, 2])] = zyx.asarray([[1, 1, 1], [2, 2, 2]])
    n[[0, 2]] = [[1, 1, 1], [2, 2, 2]]
    same(x, n)
    x[x > 5] = 0
    n[n > 5] = 0
    same(x, n)


def test_masks():
    n = np.arange(24, dtype="float32").reshape(2, 3, 4)
    x = zyx.asarray(n)
    for mask in (n % 5 == 0, n > 100, n >= 0, n[:, :, 0] > 4, np.asarray([False, True]), np.asarray(True), np.asarray(False)):
        same(x[zyx.asarray(mask)], n[mask])
    for shape in ((0,), (0, 3), (3, 0)):
        same(zyx.zeros(shape)[zyx.zeros(shape, dtype=zyx.bool)], np.zeros(shape, "float32")[np.zeros(shape, bool)])
    i = np.asarray([True, False, True])
    same(zyx.asarray(i)[zyx.asarray(i)], i[i])
    # A gradient goes to the elements that were chosen.
    slope = zyx.grad(lambda x: zyx.sum(x[x > 21] ** 2))(x)
    same(slope, np.where(n > 21, 2 * n, 0).astype("float32"))
    with pytest.raises(IndexError, match="no program can be made"):
        zyx.jit(lambda x: x[x > 0])(x)


def test_refused_indices():
    x = zyx.zeros((4, 3))
    for key, reason in [(4, "outside of dimension 0"), ((0, 0, 0), "3 indices"), (slice(None, None, 0), "step"),
                        ((Ellipsis, Ellipsis), "two ellipses"), ("a", "no integer"), (1.5, "no integer"),
                        ((x > 0, 0), "mask of bools stands alone"), (zyx.ones(3) > 0, "a mask of the shape"),
                        (x, "positions are integers")]:
        with pytest.raises(IndexError, match=reason):
            x[key]
    with pytest.raises(IndexError, match="positions are integers"):
        zyx.take(x, zyx.zeros(1), axis=0)
    with pytest.raises(ValueError, match="does not broadcast"):
        x[0] = zyx.zeros(2)
    with pytest.raises(TypeError, match="lose digits"):
        x[0] = zyx.zeros(3, dtype=zyx.float64)


def test_numbers_of_python():
    x, i, b = zyx.asarray([1.5, 2.5]), zyx.asarray([7, -7]), zyx.asarray([True, False])
    same(2 - x, [0.5, -0.5])
    same(2**x, 2.0**np.array([1.5, 2.5], "float32"))
    same(i // 2, [3, -4])
    same(i % 4, [3, 1])
    same(-7 // i, [-1, 1])
    same(b & True, [True, False])
    assert (i * 2).dtype is zyx.int64
    for function in (lambda: i * 0.5, lambda: b + 1, lambda: i / 2, lambda: x + True, lambda: b < 1.5, lambda: x & 1,
                     lambda: i << 1.0):
        with pytest.raises(TypeError):
            function()
    with pytest.raises(TypeError):
        x + "a"
    assert (x == None) is False  # noqa: E711
    with pytest.raises(zyx.InvalidArgumentError):
        zyx.asarray([1], dtype=zyx.int8) + 1000
    with pytest.raises(OverflowError):
        i + 2**64
    with pytest.raises(TypeError):
        x + np.ones(2, "float32")
    with pytest.raises(TypeError):
        np.ones(2, "float32") + x


def test_scalars():
    assert zyx.asarray(3.5).item() == 3.5
    assert int(zyx.asarray(3)) == 3 and [10, 20, 30][zyx.asarray(1)] == 20
    assert bool(zyx.asarray(True)) and not zyx.asarray(0)
    assert complex(zyx.asarray(2.0)) == 2
    assert zyx.asarray(2**63, dtype=zyx.uint64).item() == 2**63
    assert math.isnan(zyx.asarray(math.nan).item())
    with pytest.raises(TypeError, match="any"):
        bool(zyx.asarray([True, False]))
    with pytest.raises(ValueError, match="not one element"):
        zyx.zeros(2).item()
    with pytest.raises(TypeError):
        [1, 2][zyx.asarray(1.0)]
    with pytest.raises(TypeError):
        len(zyx.asarray(1))
    with pytest.raises(TypeError):
        hash(zyx.asarray(1))
    assert [each.item() for each in zyx.asarray([1, 2])] == [1, 2]


def test_text():
    assert repr(zyx.asarray([1.0, 2.5])) == "zyx.Array([1.  2.5], dtype=zyx.float32)"
    assert str(zyx.asarray([[1, 2], [3, 4]])) == "[[1 2]\n [3 4]]"
    assert repr(zyx.float32) == "zyx.float32"


def test_the_error_names_the_line():
    def inner():
        return zyx.concat([zyx.zeros((2, 3)), zyx.zeros((4, 5))])  # the line

    with pytest.raises(zyx.Error) as caught:
        inner()
    line = next(i for i, text in enumerate(open(__file__), 1) if text.endswith("# the line\n"))
    assert f"test_array.py:{line}: " in str(caught.value)
    with pytest.raises(ValueError, match="do not broadcast"):
        zyx.zeros((2, 3)) + zyx.zeros(4)
    assert issubclass(zyx.OutOfMemoryError, MemoryError)
    assert "_functions.py" in "".join(traceback.format_tb(caught.tb))


def test_creation_of_lists():
    assert zyx.asarray([]).shape == (0,) and zyx.asarray([[], []]).shape == (2, 0)
    assert zyx.asarray([1, 2.5]).dtype is zyx.float32
    assert zyx.asarray([True, False]).dtype is zyx.bool
    assert zyx.asarray([1, 2], dtype=zyx.int8).dtype is zyx.int8
    assert zyx.asarray([2**63]).dtype is zyx.uint64
    same(zyx.asarray([zyx.ones(2), zyx.zeros(2)]), [[1, 1], [0, 0]])
    for bad, error in [([1, [2]], ValueError), ([1, "a"], TypeError), ([1j], TypeError), ("abc", TypeError),
                       ([300], OverflowError)]:
        with pytest.raises(error):
            zyx.asarray(bad, dtype=zyx.uint8 if bad == [300] else None)
    with pytest.raises(OverflowError):
        zyx.full((2,), 2**70, dtype=zyx.int64)
    same(zyx.full((2,), 2**62 + 1, dtype=zyx.int64), np.full(2, 2**62 + 1))
    with pytest.raises(ValueError):
        zyx.full((2,), 300, dtype=zyx.int8)


def test_dtypes():
    assert zyx.result_type(zyx.int8, zyx.uint8) is zyx.int16
    assert zyx.result_type(zyx.zeros(1), 3, zyx.float64) is zyx.float64
    for pair in [(zyx.int64, zyx.uint64), (zyx.int32, zyx.float32), (zyx.bool, zyx.int8)]:
        with pytest.raises(TypeError):
            zyx.result_type(*pair)
    assert zyx.zeros(2, dtype="bfloat16").dtype is zyx.bfloat16
    assert zyx.zeros(2, dtype=np.int16).dtype is zyx.int16 and zyx.zeros(2, dtype=np.dtype("uint8")).dtype is zyx.uint8
    assert zyx.zeros(2, dtype=bool).dtype is zyx.bool
    assert zyx.finfo(zyx.bfloat16).eps == 2.0**-7 and zyx.finfo(zyx.float16).max == 65504
    assert pickle.loads(pickle.dumps(zyx.float16)) is zyx.float16
    with pytest.raises(TypeError):
        zyx.zeros(2, dtype="complex64")


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_corners(dtype):
    corners = np.array([0, -0.0, 1, -1, 0.5, 2, 1e-4, 700, np.inf, -np.inf, np.nan], dtype)
    x, y = np.meshgrid(corners, corners)
    digits = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
    with np.errstate(all="ignore"):
        for name in ("atan2", "hypot", "logaddexp", "copysign", "nextafter"):
            expected = getattr(np, {"atan2": "arctan2"}.get(name, name))(x, y)
            found = np.asarray(getattr(zyx, name)(zyx.asarray(x), zyx.asarray(y)))
            np.testing.assert_allclose(found, expected, rtol=digits, err_msg=name)
        for name in ("acos", "asin", "atan", "acosh", "asinh", "atanh", "expm1", "log1p", "sinh", "cosh", "tanh"):
            expected = getattr(np, name.replace("a", "arc", 1) if name[0] == "a" else name)(corners)
            found = np.asarray(getattr(zyx, name)(zyx.asarray(corners)))
            np.testing.assert_allclose(found, expected, rtol=4 * digits, err_msg=name)
        np.testing.assert_allclose(np.asarray(zyx.exp2(zyx.asarray(corners))), np.exp2(corners), rtol=4 * digits)
        same(zyx.signbit(zyx.asarray(corners)), np.signbit(corners))


def test_devices_never_mix():
    x = zyx.ones(3, device="reference") + zyx.asarray([1.0, 2.0, 3.0], device="reference")
    assert x.device == "reference"
    same(x, [2, 3, 4])
    with pytest.raises(zyx.Error, match="reference"):
        x + zyx.asarray([1.0, 2.0, 3.0])
    same(x.to_device("cpu") + zyx.asarray([1.0, 2.0, 3.0]), [3, 5, 7])
    with zyx.device_scope("reference"):
        assert zyx.asarray([1.0]).device == "reference"
    assert zyx.asarray([1.0]).device == "cpu"
    with pytest.raises(zyx.Error):
        zyx.zeros(3, device="abacus")


def test_pickle_and_namespace():
    x = zyx.asarray([[1.5, 2.5]], dtype=zyx.bfloat16)
    y = pickle.loads(pickle.dumps(x))
    assert y.dtype is zyx.bfloat16 and y.tolist() == [[1.5, 2.5]]
    assert x.__array_namespace__() is zyx
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.12")
    info = zyx.__array_namespace_info__()
    assert info.dtypes(kind="unsigned integer").keys() == {"uint8", "uint16", "uint32", "uint64"}
    assert info.capabilities()["boolean indexing"] is True


def test_objects_without_a_value_are_refused():
    """Those of __new__ without __init__."""
    bare = zyx.Array.__new__(zyx.Array)
    place = zyx.nn.Parameter.__new__(zyx.nn.Parameter)
    x = zyx.ones(2)
    with warnings.catch_warnings():
        # nanobind warns of the calls that it refuses itself.
        warnings.simplefilter("ignore")
        for call in (lambda: zyx.jit(lambda a: a)(bare), lambda: zyx.jit(lambda a: a)(x, bare), lambda: bare + 1, lambda: x + bare,
                     lambda: x + place, lambda: zyx.add(x, bare), lambda: bare.shape, lambda: bare.tolist(),
                     lambda: zyx.zeros(2, dtype=zyx.DType.__new__(zyx.DType)), lambda: zyx.grad(zyx.sum)(bare)):
            with pytest.raises(TypeError):
                call()
        with pytest.raises(BufferError):
            memoryview(bare)


def test_lists_of_numpy_scalars():
    """They are numbers with a dtype: one array, and no program that stacks as many."""
    ints = np.arange(3000)
    compilations = zyx.counters()["compiles"]
    for dtype in ("int8", "uint64", "int64", "float16", "float32", "bool", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        source = ints.astype(dtype)
        made = zyx.asarray(list(source))
        assert made.dtype.name == source.dtype.name and made.shape == (3000,) and np.array_equal(np.asarray(made), source)
    made = zyx.asarray([list(np.float32([1, 2])), [np.float32(3), np.float32(4)]])
    assert made.tolist() == [[1, 2], [3, 4]] and made.dtype is zyx.float32
    assert zyx.counters()["compiles"] == compilations
    # Between others and numbers of Python, as their arrays do.
    for numbers, dtype in (([np.int8(1), 2], zyx.int64), ([np.int8(1), np.uint8(200)], zyx.int16), ([np.float32(1), 2.5], zyx.float32),
                           ([np.uint64(2**64 - 1), 2**63], zyx.uint64), ([np.float16(1), np.float32(2)], zyx.float32)):
        made = zyx.asarray(numbers)
        assert made.dtype is dtype and made.tolist() == [number if isinstance(number, (int, float)) else number.item() for number in numbers]
    assert zyx.asarray([np.int64(3), 4], dtype=zyx.float32).tolist() == [3.0, 4.0]
    assert zyx.asarray([(np.bool_(True),), [False]]).tolist() == [[True], [False]]
    with pytest.raises(TypeError, match="no dtype together"):
        zyx.asarray([np.bool_(True), np.int64(1)])
    with pytest.raises(OverflowError, match="no zyx.int8 is 300"):
        zyx.asarray([np.int8(1), 300], dtype=zyx.int8)
    with pytest.raises(ValueError, match="different shapes"):
        zyx.asarray([[np.int64(1)], np.int64(2)])
    with pytest.raises(TypeError):
        zyx.asarray([np.complex64(1), np.int64(2)])
    # Arrays beside them are stacked, as before.
    assert zyx.asarray([zyx.asarray(1), np.int64(2)]).tolist() == [1, 2]


class Given:
    """An object that gives what it is told to by DLPack."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **wishes):
        return self.capsule


def test_refusals_are_in_words_about_the_call():
    """Not in those of the binding, which lists overloads of private functions."""
    capsule = np.ones(3, np.float32).__dlpack__()
    assert zyx.from_dlpack(Given(capsule)).tolist() == [1, 1, 1]
    for call, error, text in (
            (lambda: zyx.from_dlpack(Given(capsule)), BufferError, "from_dlpack: Given.__dlpack__ gives PyCapsule"),
            (lambda: zyx.from_dlpack(Given(5)), BufferError, "from_dlpack: Given.__dlpack__ gives int"),
            (lambda: zyx.from_dlpack(5), TypeError, "from_dlpack: int has no __dlpack__"),
            (lambda: zyx.arange(0, 1e30), OverflowError, "arange: the number of elements: 1[0-9]{30} is no int64"),
            (lambda: zyx.arange(0, float("nan")), ValueError, "arange: from 0 to nan by 1 there is no number"),
            (lambda: zyx.arange(0, 2**70), OverflowError, "arange: a number: [0-9]+ is no int64"),
            (lambda: zyx.arange("x"), TypeError, "arange: a number is an integer, and no str"),
            (lambda: zyx.linspace(0, 1, 2.5), TypeError, "linspace: num is an integer, and no float"),
            (lambda: zyx.linspace(0, 1, -5), ValueError, "linspace: -5 numbers"),
            (lambda: zyx.eye(2**70), OverflowError, "eye: the number of rows"),
            (lambda: zyx.zeros((2**70,)), OverflowError, "an extent: [0-9]+ is no int64"),
            (lambda: zyx.zeros((1.5,)), TypeError, "an extent is an integer, and no float"),
            (lambda: zyx.asarray([2**2000, 1.0]), OverflowError, "asarray: no zyx.float64 is an integer of 2001 bits"),
            (lambda: zyx.asarray([2**70], dtype=zyx.float32), OverflowError, "asarray: no zyx.uint64 is"),
            (lambda: zyx.full(2, 2**2000, dtype=zyx.float32), OverflowError, "full: no zyx.float32 is an integer of 2001 bits"),
            (lambda: zyx.random.key(1.5), TypeError, "key: the seed is an integer, and no float"),
            (lambda: zyx.random.key(2**64), OverflowError, "key: the seed has 64 bits at most"),
            (lambda: zyx.random.fold_in(zyx.random.key(1), 2**64), OverflowError, "fold_in: the number has 64 bits at most")):
        with pytest.raises(error, match=text):
            call()
    assert zyx.random.key(-1).item() == zyx.random.key(np.uint64(2**64 - 1)).item() == 2**64 - 1
    assert zyx.arange(zyx.asarray(3)).tolist() == zyx.arange(np.int64(3)).tolist() == [0, 1, 2]


def test_an_array_without_room_is_named_where_it_is_read():
    """And not by the constant that it shares with others, which somebody else made."""
    small = zyx.zeros(2)
    for make in (lambda: zyx.zeros((2**40,)), lambda: zyx.zeros((2**40,)) + zyx.ones((2**40,))):
        with pytest.raises(zyx.OutOfMemoryError, match=r"the tensor f32\[1099511627776\] has 4398046511104 bytes, more than the largest size") as raised:
            zyx.eval(make())
        line = raised.traceback[0].lineno + 1
        assert f"test_array.py:{line}: " in str(raised.value) and "graph.constant" not in str(raised.value)
        with pytest.raises(zyx.OutOfMemoryError, match="more than the largest size"):
            zyx.jit(lambda x: x + make())(small[0])
    assert small.tolist() == [0, 0]
