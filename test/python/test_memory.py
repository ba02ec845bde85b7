"""Elements that come from other libraries, and that they read."""
import array
import gc
import threading

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
