"""Elements that come from other libraries, and that they read."""
import array
import ctypes
import gc
import threading

import cards
import numpy as np
import pytest

import zyx

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("name", NAMES)
def test_numpy_there_and_back(name):
    n = (np.arange(12).reshape(3, 4) % 5).astype(name)
    x = zyx.asarray(n)
    assert x.dtype is getattr(zyx, name) and x.shape == (3, 4)
    back = np.asarray(x)
    assert back.dtype == n.dtype and not back.flags.writeable
    np.testing.assert_array_equal(back, n)
    assert x.tolist() == n.tolist()
    np.testing.assert_array_equal(np.from_dlpack(x), n)
    np.testing.assert_array_equal(np.asarray(zyx.from_dlpack(n)), n)


def test_a_copy_does_not_follow():
    n = np.ones(4, "float32")
    x = zyx.asarray(n)
    n[0] = 5
    assert x.tolist() == [1, 1, 1, 1]


def test_strides_and_orders():
    n = np.arange(24, dtype="int32").reshape(4, 6)
    for view in (n[::2, 1::2], n.T, n[::-1], np.asfortranarray(n), n[:0], np.broadcast_to(n[0], (3, 6))):
        x = zyx.asarray(view)
        np.testing.assert_array_equal(np.asarray(x), view)
    with pytest.raises(TypeError, match="big-endian"):
        zyx.asarray(n.astype(">i4"))
    for bad in (np.array([1j]), np.array(["a"]), np.array([object()]), np.array([(1, 2.0)], "i4,f4"),
                np.array(["2020-01-01"], "M8[D]")):
        with pytest.raises((TypeError, ValueError)):
            zyx.asarray(bad)
    assert zyx.asarray(array.array("h", [1, 2])).dtype is zyx.int16
    assert zyx.asarray(b"ab").tolist() == [97, 98]
    assert zyx.asarray(memoryview(n)[1:2]).shape == (1, 6)


def test_memory_is_shared():
    n = np.arange(1000, dtype="float32")
    x = zyx.from_dlpack(n)
    assert np.asarray(x).__array_interface__["data"][0] == n.__array_interface__["data"][0]
    y = zyx.asarray(n, copy=False)
    assert np.asarray(y).__array_interface__["data"][0] == n.__array_interface__["data"][0]
    z = x + 1
    a, b = np.asarray(z), np.from_dlpack(z)
    assert a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    assert not b.flags.writeable
    # What is seen stays, though the arrays go.
    del n, x, y, z
    gc.collect()
    np.testing.assert_array_equal(a, np.arange(1000) + 1)
    with pytest.raises(ValueError, match="copy=False"):
        zyx.asarray(np.arange(10, dtype="float32")[::2], copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        zyx.asarray([1, 2], copy=False)


def test_old_dlpack_gets_a_copy():
    class Old:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **_):
            return self.x.__dlpack__()

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    x = zyx.asarray([1.0, 2.0]) + 1
    n = np.from_dlpack(Old(x))
    if n.flags.writeable:
        n[0] = 100
    assert x.tolist() == [2, 3]
    with pytest.raises(BufferError):
        x.__dlpack__(copy=False)
    assert x.__dlpack_device__() == (1, 0)


def test_the_owner_is_let_go():
    class Owner(np.ndarray):
        pass

    ended = []
    n = np.arange(64, dtype="float32")
    import weakref
    owner = n.view(Owner)
    weakref.finalize(owner, ended.append, 1)
    x = zyx.asarray(owner, copy=False)
    y = x + 1
    assert y[0].item() == 1
    del owner
    gc.collect()
    assert not ended
    del x, y
    gc.collect()
    # The context frees nodes, and the object is let go at the next call.
    for _ in range(3):
        zyx.asarray(np.ones(1), copy=False)
    assert ended


def test_what_was_given_is_kept():
    """An object may give a copy, whose memory is that of the capsule alone."""
    class Copies:
        def __init__(self, n):
            self.n = n

        def __dlpack__(self, **named):
            return self.n.copy().__dlpack__(**named)

        def __dlpack_device__(self):
            return (1, 0)

    n = np.arange(1 << 16, dtype="float32")
    xs = [zyx.from_dlpack(Copies(n + i)) for i in range(8)]
    gc.collect()
    others = [np.full(1 << 16, -1, "float32") for _ in range(16)]
    for i, x in enumerate(xs):
        np.testing.assert_array_equal(np.asarray(x), n + i)
    assert len(others) == 16


def test_small_floats_by_ml_dtypes():
    import ml_dtypes
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        n = np.array([[0.5, 1.0, -2.0]], getattr(ml_dtypes, name))
        x = zyx.asarray(n)
        assert x.dtype is getattr(zyx, name)
        back = np.asarray(x)
        assert back.dtype == n.dtype and back.tolist() == n.tolist()
        assert x.tolist() == [[0.5, 1.0, -2.0]]
        with pytest.raises(BufferError):
            memoryview(x)


def test_buffers_of_no_elements():
    for shape in ((0,), (2, 0, 3), ()):
        x = zyx.ones(shape)
        assert np.asarray(x).shape == shape and memoryview(x).shape == shape
        assert np.from_dlpack(x).shape == shape


def test_threads():
    """The GIL is free while programs are compiled and run, and owners of memory go away in other threads."""
    wrong = []

    def work(seed):
        for i in range(20):
            n = np.random.default_rng([seed, i]).normal(size=(8, 8 + i % 3)).astype("float32")
            x = zyx.asarray(n, copy=False)
            if not np.allclose(np.asarray(zyx.sum(x * seed + 1, axis=0)), (n * seed + 1).sum(0), atol=1e-4):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads) and not wrong


def test_the_host_has_no_stream():
    with zyx.device_scope("cpu"), pytest.raises(zyx.Error, match="the current device has no stream that other libraries know"):
        zyx._zyx._order(1, True)


# What another library sees of an array of a card, and what it gives.
CARD = """
import ctypes
import gc
import os
import zyx
from zyx import _zyx

driver = ctypes.CDLL(os.environ["ZYX_CUDA_DRIVER"])

def synchronize(stream):
    "As the program does whose stream it is."
    context = ctypes.c_void_p()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and driver.cuCtxPushCurrent_v2(context) == 0
    assert driver.cuStreamSynchronize(ctypes.c_void_p(stream)) == 0
    assert driver.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0 and driver.cuDevicePrimaryCtxRelease_v2(0) == 0

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

class Header(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("number", ctypes.c_int32)]

def header(capsule):
    return Header.from_address(pointer_of(capsule, b"dltensor_versioned"))

def elements(capsule, count, stream=None):
    "What work on that stream reads, which is the legacy default stream where none is named. The simulator's memory is the host's."
    if stream != -1:
        synchronize(stream or 1)
    return list((ctypes.c_float * count).from_address(header(capsule).data))

class Other:
    "A library that has the memory of an array."
    def __init__(self, x, **named):
        self.x, self.named, self.streams = x, named, []
    def __dlpack_device__(self):
        return self.x.__dlpack_device__()
    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        return self.x.__dlpack__(stream=stream, max_version=max_version, **self.named)

class Old(Other):
    "From before versions."
    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.x.__dlpack__(stream=stream)

def refused(call, text):
    try:
        call()
    except BufferError as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)

with zyx.device_scope("cuda"):
    x = zyx.asarray([1.0, 2.0, 3.0, 4.0])
    stream = _zyx._current_stream()
assert stream[:2] == (2, 0) and stream[2] > 2
"""


@cards.needs_card
def test_a_card_gives_its_memory():
    cards.run(CARD + """
y = x * 2
assert y.__dlpack_device__() == (2, 0) and not y.is_computed
for number in (None, -1, 1, 2, stream[2]):
    capsule = y.__dlpack__(stream=number, max_version=(1, 0))
    assert elements(capsule, 4, number) == [2.0, 4.0, 6.0, 8.0]
    assert (header(capsule).kind, header(capsule).number, header(capsule).flags & 1) == (2, 0, 1)
shared = header(capsule).data
assert header(y.__dlpack__(max_version=(1, 0))).data == shared
copied = y.__dlpack__(max_version=(1, 0), copy=True)
assert header(copied).data != shared and header(copied).flags & 1 == 0 and elements(copied, 4) == [2.0, 4.0, 6.0, 8.0]

# Memory that is seen is given to no result.
z = zyx.jit(lambda a: a + 100, donate_argnums=0)(y)
assert z.tolist() == [102.0, 104.0, 106.0, 108.0] and elements(capsule, 4) == [2.0, 4.0, 6.0, 8.0]

# A number lies with the host until somebody sees it.
with zyx.device_scope("cuda"):
    number = zyx.asarray(2.5)
assert elements(number.__dlpack__(max_version=(1, 0)), 1) == [2.5]

on_host = x.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
assert header(on_host).kind == 1 and elements(on_host, 4) == [1.0, 2.0, 3.0, 4.0]
refused(lambda: x.__dlpack__(stream=0), "stream 0")
refused(lambda: x.__dlpack__(stream=-2), "no stream")
refused(lambda: x.__dlpack__(stream="main"), "no stream")
refused(lambda: x.__dlpack__(copy=False), "copy=False needs max_version")
refused(lambda: x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False), "needs a copy")
refused(lambda: x.__dlpack__(max_version=(1, 0), dl_device=(2, 1)), "not on (2, 1)")
""")


@cards.needs_card
def test_a_card_takes_memory():
    cards.run(CARD + """
for other in (Other(x * 3), Other(x * 3, copy=True), Old(x * 3)):
    y = zyx.from_dlpack(other)
    # What makes it is in front of the stream that reads it.
    assert other.streams == [stream[2]] and y.device == "cuda" and y.dtype is zyx.float32
    assert (y + 1).tolist() == [4.0, 7.0, 10.0, 13.0]

x3 = x * 3
zyx.eval(x3)
other = Other(x3)
y = zyx.from_dlpack(other)
where = header(x3.__dlpack__(max_version=(1, 0))).data
assert header(y.__dlpack__(max_version=(1, 0))).data == where
assert header(zyx.asarray(other).__dlpack__(max_version=(1, 0))).data != where
assert zyx.asarray(other).device == "cuda" and zyx.asarray(other).tolist() == [3.0, 6.0, 9.0, 12.0]
assert header(zyx.from_dlpack(other, copy=True).__dlpack__(max_version=(1, 0))).data != where
assert zyx.from_dlpack(other, device="cpu").device == "cpu"

# Bools, and elements that are not aligned.
assert zyx.from_dlpack(Other(x > 2)).tolist() == [False, False, True, True]

# The memory stays while an array is over it.
del x3, other
gc.collect()
for i in range(8):
    zyx.eval(x + i)
assert y.tolist() == [3.0, 6.0, 9.0, 12.0]
z = y * 2
del y
gc.collect()
assert z.tolist() == [6.0, 12.0, 18.0, 24.0]

class Elsewhere:
    def __dlpack__(self, **_):
        raise AssertionError("nobody asks for it")
    def __dlpack_device__(self):
        return (8, 0)
refused(lambda: zyx.from_dlpack(Elsewhere()), "kind 8")

class Liar(Other):
    "Says another card than it has."
    def __dlpack__(self, **_):
        return zyx.asarray([1.0]).__dlpack__()
liar = zyx.from_dlpack(Liar(x))
assert liar.tolist() == [1.0]
""")


class Buffer(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
                ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p)]


def test_a_buffer_is_what_was_asked_for():
    simple, has_format, has_extents, has_strides = 0, 4, 8, 0x10 | 8
    rows, columns, either = (bit | has_strides for bit in (0x20, 0x40, 0x80))

    def ask(x, flags):
        view = Buffer()
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(view), flags)
        found = (view.ndim, view.shape[:view.ndim] if view.shape else None, view.strides[:view.ndim] if view.strides else None,
                 view.format)
        bits = ctypes.string_at(view.buf, view.len)
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
        assert bits == bytes(memoryview(x))
        return found

    x = zyx.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert ask(x, simple) == (1, None, None, None)
    assert ask(x, has_extents) == (2, [2, 3], None, None)
    for flags in (has_strides, rows, either):
        assert ask(x, flags | has_format) == (2, [2, 3], [12, 4], b"f")
    with pytest.raises(BufferError, match="row-major"):
        ask(x, columns)
    with pytest.raises(BufferError, match="does not change"):
        ask(x, 1)
    # Whose columns are in that order, too.
    for y in (zyx.ones(3), zyx.ones((1, 3)), zyx.ones((3, 1, 1)), zyx.asarray(2.0), zyx.zeros((2, 0, 3))):
        assert ask(y, columns)[:2] == (y.ndim, list(y.shape) if y.ndim else None)
