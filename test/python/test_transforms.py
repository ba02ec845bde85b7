"""Gradients, jit and trees."""
import collections
import copy
import functools
import gc
import math
import pickle
import threading
import time
import weakref

import numpy as np
import pytest

import zyx


def same(x, expected, digits=1e-6):
    np.testing.assert_allclose(np.asarray(x), np.asarray(expected), rtol=digits, atol=digits)


def test_gradients():
    x = zyx.asarray([1.0, 2.0, 3.0])
    same(zyx.grad(lambda x: zyx.sum(x**3))(x), [3, 12, 27])
    value, slope = zyx.value_and_grad(lambda x, y: zyx.sum(x * y), argnums=(0, 1))(x, x)
    # Two arguments that are one array are two arguments.
    assert value.item() == 14
    same(slope[0], [1, 2, 3])
    same(slope[1], [1, 2, 3])
    same(zyx.grad(lambda y: zyx.sum(x * y))(x), [1, 2, 3])
    # Of constants, of what was computed before, and of what is computed on the way.
    same(zyx.grad(lambda x: zyx.sum(x * x))(zyx.ones(3)), [2, 2, 2])
    y = x * 2
    y.tolist()
    same(zyx.grad(lambda y: zyx.sum(y * y))(y), [4, 8, 12])

    def reads(x):
        loss = zyx.sum(x * x)
        assert loss.item() == 14
        return loss

    same(zyx.grad(reads)(x), [2, 4, 6])


def test_gradients_of_functions_that_write_their_arguments():
    """x[i] = v rebinds the function's handle, and neither the source nor the caller's array."""

    def writes(x):
        x[0] = x[1] * 3
        return zyx.sum(x)

    x = zyx.asarray([1.0, 2.0])
    for function in (zyx.grad(writes), zyx.jit(zyx.grad(writes)), zyx.grad(zyx.checkpoint(writes))):
        same(function(x), [0, 4])
    assert zyx.checkpoint(writes)(x).item() == zyx.jit(writes)(x).item() == 8 and x.tolist() == [1, 2]

    def writes_tree(tree):
        tree["w"][0] = 0.0
        tree["w"] *= 2
        return zyx.sum(tree["w"] * tree["w"])

    tree = {"w": x}
    value, slopes = zyx.value_and_grad(writes_tree)(tree)
    same(slopes["w"], [0, 16])
    assert value.item() == 16 and tree["w"].tolist() == [1, 2]
    # Of one array twice, of gradients, and of bodies.
    same(zyx.grad(lambda x, y: zyx.sum(writes(x) * y), argnums=(0, 1))(x, x)[0], [0, 12])
    assert zyx.grad(lambda x: zyx.sum(zyx.grad(writes)(x * x) * x))(x).tolist() == [0, 4]

    def step(trip, x):
        x[0] = x[1]
        return x

    same(zyx.grad(lambda x: zyx.sum(zyx.loop(2, x, step)))(x), [0, 2])
    same(zyx.grad(lambda x: zyx.sum(zyx.cond(x[1] > 0, lambda x: step(0, x), lambda x: x, x)))(x), [0, 2])
    assert zyx.while_loop(x, lambda x: x[0] < 2, step).tolist() == [2, 2] and x.tolist() == [1, 2]


def test_higher_gradients():
    x = zyx.asarray(2.0)
    assert zyx.grad(zyx.grad(lambda x: x**4))(x).item() == pytest.approx(48, rel=1e-5)
    assert zyx.grad(zyx.grad(zyx.grad(lambda x: x * x * x)))(x).item() == 6
    assert zyx.grad(lambda x: x * zyx.grad(lambda y: x * y * y)(x))(x).item() == pytest.approx(24)  # x * 2 x x


@pytest.mark.parametrize("name, low, high", [
    ("acos", -0.9, 0.9), ("asin", -0.9, 0.9), ("atan", -3, 3), ("acosh", 1.1, 4), ("asinh", -3, 3), ("atanh", -0.9, 0.9),
    ("tanh", -2, 2), ("log1p", -0.5, 3), ("expm1", -2, 2)])
def test_gradients_of_functions(name, low, high):
    function = getattr(zyx, name)
    x = np.concatenate([np.linspace(low, high, 23), [0.0] if low < 0 else [2.0]])
    slope = np.asarray(zyx.grad(lambda x: zyx.sum(function(x)))(zyx.asarray(x)))
    h = 1e-6
    numeric = (np.asarray(function(zyx.asarray(x + h))) - np.asarray(function(zyx.asarray(x - h)))) / (2 * h)
    np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["atan2", "hypot", "logaddexp"])
def test_gradients_of_pairs(name):
    function = getattr(zyx, name)
    x, y = np.meshgrid(np.array([-2.0, -0.5, 0.5, 2.0]), np.array([-2.0, 0.5, 3.0]))
    slopes = zyx.grad(lambda x, y: zyx.sum(function(x, y)), argnums=(0, 1))(zyx.asarray(x), zyx.asarray(y))
    h = 1e-6
    for slope, (dx, dy) in zip(slopes, [(h, 0), (0, h)]):
        numeric = (np.asarray(function(zyx.asarray(x + dx), zyx.asarray(y + dy))) -
                   np.asarray(function(zyx.asarray(x - dx), zyx.asarray(y - dy)))) / (2 * h)
        np.testing.assert_allclose(np.asarray(slope), numeric, rtol=1e-6, atol=1e-8)


def test_trees():
    Point = collections.namedtuple("Point", "x y")
    tree = {"a": [zyx.asarray(1.0), (zyx.asarray(2.0), None)], "b": Point(zyx.asarray(3.0), 4)}
    leaves, structure = zyx.tree_flatten(tree)
    assert [leaf.item() for leaf in leaves] == [1, 2, 3]
    back = zyx.tree_unflatten(structure, leaves)
    assert back["b"].y == 4 and isinstance(back["b"], Point) and back["a"][1][1] is None
    doubled = zyx.tree_map(lambda x: x * 2, tree)
    assert doubled["a"][1][0].item() == 4
    cycle = []
    cycle.append(cycle)
    with pytest.raises(ValueError, match="itself"):
        zyx.tree_flatten(cycle)
    slopes = zyx.grad(lambda p: p["w"] * 3 + p["b"][0])({"w": zyx.asarray(1.0), "b": [zyx.asarray(2.0)]})
    assert slopes["w"].item() == 3 and slopes["b"][0].item() == 1


def test_refusals():
    with pytest.raises(TypeError, match="has no gradient"):
        zyx.grad(lambda x: zyx.sum(x))(zyx.asarray([1, 2]))
    with pytest.raises(TypeError, match="one float"):
        zyx.grad(lambda x: x * x)(zyx.asarray([1.0, 2.0]))
    with pytest.raises(TypeError, match="no argument 1"):
        zyx.grad(lambda x: x, argnums=1)(zyx.asarray(1.0))
    x = zyx.asarray([1.0])
    y = x * 2
    y.tolist()
    with pytest.raises(zyx.Error, match="forgotten"):
        zyx.gradient(zyx.sum(y), [x])


def test_jit():
    calls = []

    @zyx.jit
    def function(pair, factor, *, shift=0):
        calls.append(1)
        return {"sum": pair[0] + pair[1] * factor, "shape": pair[0].shape, "shift": pair[0] - shift}

    a, b = zyx.asarray([1.0, 2.0]), zyx.asarray([3.0, 4.0])
    for _ in range(3):
        result = function((a, b), 2)
    assert len(calls) == 1 and function.captures == 1
    same(result["sum"], [7, 10])
    assert result["shape"] == (2,)
    same(function((a, b), 3)["sum"], [10, 14])
    same(function([a, b], 2)["sum"], [7, 10])
    same(function((a, b), 2, shift=1)["shift"], [0, 1])
    same(function((a, b), 2.0)["sum"], [7, 10])
    assert len(calls) == 5
    same(function((zyx.ones((2, 2)), b), 2)["sum"], [[7, 9], [7, 9]])
    # NumPy's arrays are arrays, too.
    same(function((np.ones(2, "float32"), b), 2)["sum"], [7, 9])


def test_jit_refuses_values():
    @zyx.jit
    def branches(x):
        if zyx.sum(x) > 0:
            return x
        return -x

    with pytest.raises(zyx.Error):
        branches(zyx.asarray([1.0]))
    for read in (float, lambda x: x.tolist(), np.asarray, lambda x: zyx.nonzero(x)):
        with pytest.raises((zyx.Error, BufferError)):
            zyx.jit(lambda x: x + zyx.asarray(read(x * 2)[0] if read is not float else read(zyx.sum(x))))(
                zyx.asarray([1.0]))
    with pytest.raises(TypeError, match="hashable"):
        zyx.jit(lambda x, y: x)(zyx.asarray(1.0), {1, 2})
    seen = []
    zyx.jit(lambda x: seen.append(repr(x)) or x)(zyx.asarray(1.0))
    assert "no value yet" in seen[0]


def test_exceptions_pass():
    class Mine(Exception):
        pass

    def fails(x):
        raise Mine("no")

    with pytest.raises(Mine):
        zyx.jit(fails)(zyx.asarray(1.0))
    with pytest.raises(Mine):
        zyx.jit(fails)(zyx.asarray(1.0))
    with pytest.raises(TypeError):
        zyx.jit(lambda x: fails)(zyx.asarray(1.0))[0]


def test_jit_with_gradients_and_statics():
    def loss(w, x, power):
        return zyx.sum((x @ w)**power)

    step = zyx.jit(zyx.value_and_grad(loss), static_argnums=2)
    w, x = zyx.asarray([[1.0], [2.0]]), zyx.asarray([[1.0, 1.0], [0.0, 2.0]])
    value, slope = step(w, x, 2)
    assert value.item() == 25
    same(slope, [[6], [22]])
    nested = zyx.jit(lambda x: zyx.jit(lambda y: y * 2)(x) + 1)
    same(nested(zyx.asarray([1.0])), [3])

    class Model:
        def __init__(self):
            self.scale = 3

        @zyx.jit
        def __call__(self, x):
            return x * self.scale

    same(Model()(zyx.asarray([1.0, 2.0])), [3, 6])


def test_jit_of_methods():
    """An object's programs are its own: copies have none of them, and nothing is written into it."""

    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        @zyx.jit
        def times(self, x):
            return x * self.scale

        @functools.partial(zyx.jit, static_argnums=(0, -1))
        def to_power(self, x, power=2):
            return x**power * self.scale

    first, x = Scaled(3), zyx.asarray([1.0, 2.0])
    same(first.times(x), [3, 6])
    for other in (copy.copy(first), copy.deepcopy(first)):
        other.scale = 5
        same(other.times(x), [5, 10])
    same(first.times(x), [3, 6])
    assert first.times.captures == 1 and list(vars(first)) == ["scale"] and first.times.__self__ is first
    assert first.times == first.times != Scaled(3).times and len({first.times, first.times}) == 1
    same(first.to_power(x, 3), [3, 24])
    same(Scaled.times(Scaled(4), x), [4, 8])
    # A method keeps its object, and the programs do not.
    times, here = Scaled(7).times, weakref.ref(first)
    same(times(x), [7, 14])
    del first
    gc.disable()
    try:
        assert here() is None
    finally:
        gc.enable()

    class Slots:
        __slots__ = ("scale", "__weakref__")

        @zyx.jit
        def times(self, x):
            return x * self.scale

    slots = Slots()
    slots.scale = 2
    same(slots.times(x), [2, 4])

    class Bare:
        __slots__ = ()

        @zyx.jit
        def times(self, x):
            return x

    with pytest.raises(TypeError, match="Bare.times: an object whose method is compiled needs weak references"):
        Bare().times(x)


def test_jit_tells_numbers_by_their_bits():
    inverse = zyx.jit(lambda x, by: x / by)
    x = zyx.asarray([1.0])
    assert inverse(x, 0.0).tolist() == [math.inf] and inverse(x, -0.0).tolist() == [-math.inf]
    # A NaN is one program, wherever it comes from.
    before = inverse.captures
    for _ in range(3):
        assert math.isnan(inverse(x, float("nan")).item())
    assert inverse.captures == before + 1
    kinds = zyx.jit(lambda x, value: {"x": x, "value": value}, static_argnums=1)
    for value in (1, 1.0, True, 1 + 0j, (1, 0.0), (True, 0.0), (1.0, 0.0), (1, -0.0), (1, (math.nan,)), complex(0, -0.0), complex(0, 0.0)):
        assert repr(kinds(x, value)["value"]) == repr(value)
    assert kinds.captures == 11
    assert kinds(x, (1, (float("nan"),)))["value"] and kinds.captures == 11
    # And a value that a loop carries.
    assert zyx.loop(2, (x, float("nan")), lambda trip, c: (c[0] * 2, float("nan")))[0].tolist() == [4]


def test_jit_keeps_64_programs():
    function = zyx.jit(lambda x, by: x * by)
    for by in range(100):
        function(zyx.ones(2), by)
        function(zyx.ones(2), 0)
    assert function.captures == 100 and len(function._programs) == 64
    plain = zyx.jit(lambda x: x * 2)
    for extent in range(1, 101):
        plain(zyx.ones(extent))
        plain(zyx.ones(1))
    assert plain.captures == 100 and len(plain._programs) == 64 and len(plain._plain) <= 64


def test_positions_of_arguments():
    """Negative ones count from the last parameter, and what is out of range is refused."""
    power = zyx.jit(lambda x, n: x**n["n"] if isinstance(n, Hashed) else x, static_argnums=-1)
    assert power(zyx.asarray(3.0), Hashed(n=2)).item() == 9
    assert zyx.jit(lambda x, y: x, donate_argnums=(-1, 0))._donated == (1, 0)
    assert zyx.jit(lambda x, y: x, static_argnums=range(2))._static_positions == (0, 1)
    for wrong in (2, -3, (0, 7)):
        with pytest.raises(ValueError, match="jit: static_argnums: there is no argument"):
            zyx.jit(lambda x, y: x, static_argnums=wrong)
        with pytest.raises(ValueError, match="jit: donate_argnums: there is no argument"):
            zyx.jit(lambda x, y: x, donate_argnums=wrong)
    with pytest.raises(ValueError, match="counts from the end"):
        zyx.jit(lambda *x: x, static_argnums=-1)
    assert zyx.jit(lambda *x: x[1] * 2, static_argnums=0)((1, 2), zyx.asarray(1.0)).item() == 2
    with pytest.raises(TypeError):
        zyx.jit(lambda x: x, static_argnums=0.0)

    class Model:
        @functools.partial(zyx.jit, donate_argnums=0)
        def gives(self, x):
            return x

    with pytest.raises(ValueError, match="donate_argnums has 0, the object"):
        Model().gives(zyx.asarray(1.0))


class Hashed(dict):
    def __hash__(self):
        return hash(tuple(self.items()))


def test_donation():
    step = zyx.jit(lambda x: x + 1, donate_argnums=0)
    x = zyx.asarray(np.zeros(1000, "float32")) * 1
    x.tolist()
    seen = zyx.asarray(np.zeros(1000, "float32")) * 2
    view = np.asarray(seen)
    assert step(x)[0].item() == 1
    # An array that somebody sees keeps its memory.
    assert step(seen)[0].item() == 1 and view[0] == 0 and seen[0].item() == 0


def test_loop_and_checkpoint():
    x, count = zyx.loop(5, (zyx.asarray([1.0, 2.0]), zyx.asarray(0)), lambda trip, c: (c[0] * 2, c[1] + trip))
    same(x, [32, 64])
    assert count.item() == 10
    f = zyx.checkpoint(lambda x: zyx.tanh(x) * x)
    y = zyx.asarray([0.5, 1.0])
    same(zyx.grad(lambda x: zyx.sum(f(x)))(y), zyx.grad(lambda x: zyx.sum(zyx.tanh(x) * x))(y))


def test_loops_that_a_condition_ends():
    """One program for all numbers of trips, in others, and with trees."""
    step = zyx.jit(lambda limit, tree: zyx.while_loop(
        tree, lambda tree: zyx.sum(tree["x"]) < limit, lambda trip, tree: {"x": tree["x"] * 2, "n": trip + 1}))
    for limit in (100, 7, 0):
        x, trips = np.float32([1, 2]), 0
        while x.sum() < limit:
            x, trips = x * 2, trips + 1
        found = step(zyx.asarray(float(limit)), {"x": zyx.asarray([1.0, 2.0]), "n": zyx.asarray(0)})
        assert found["x"].tolist() == x.tolist() and found["n"].item() == trips
    assert step.captures == 1
    # In a loop of known trips, and one in itself.
    nested = zyx.loop(3, zyx.asarray(1), lambda trip, x: zyx.while_loop(
        x, lambda y: y < 10 * (trip + 1), lambda at, y: zyx.while_loop(y + 1, lambda z: z % 4 != 0, lambda again, z: z + 1)))
    assert nested.item() == 32
    with pytest.raises(zyx.Error, match="known behind its last trip alone"):
        zyx.grad(lambda x: zyx.while_loop(x, lambda x: x < 9, lambda trip, x: x * 2))(zyx.asarray(1.0))
    with pytest.raises(zyx.Error, match="the condition is of type f32"):
        zyx.while_loop(zyx.asarray(1.0), lambda x: x, lambda trip, x: x)
    with pytest.raises(ValueError, match="another structure"):
        zyx.while_loop(zyx.asarray(1.0), lambda x: x < 0, lambda trip, x: (x, x))


def test_branches():
    """What data chooses, with gradients; the other branch is not computed."""
    w, x = zyx.asarray(np.float32([[1, 2], [3, 4]])), zyx.asarray([0.5, -1.0])

    def f(x, w, c):
        return zyx.sum(zyx.sin(zyx.cond(c, lambda x, w: w @ x, lambda x, w: x * x + w[0, 1], x, w)))

    def g(x, w, c):
        return zyx.sum(zyx.sin(w @ x if c else x * x + w[0, 1]))

    value = zyx.jit(zyx.value_and_grad(f, argnums=(0, 1)))
    for c in (True, False):
        found, expected = value(x, w, zyx.asarray(c)), zyx.value_and_grad(g, argnums=(0, 1))(x, w, c)
        same(found[0], expected[0])
        same(found[1][0], expected[1][0])
        same(found[1][1], expected[1][1])
    assert value.captures == 1
    pick = zyx.jit(lambda i, x: zyx.switch(i, [lambda x: {"y": x}, lambda x: {"y": x + 1}, lambda x: {"y": -x}], x)["y"])
    assert [pick(zyx.asarray(i), zyx.asarray(3.0)).item() for i in (0, 1, 2, -1, 9)] == [3, 4, -3, -3, -3]
    # A branch that has no end is not run.
    endless = zyx.jit(lambda c, x: zyx.cond(c, lambda x: zyx.while_loop(x, lambda y: y == y, lambda trip, y: y + 1), lambda x: x, x))
    assert endless(zyx.asarray(False), zyx.asarray(2.0)).item() == 2
    # Numbers of Python and NumPy choose, too; others are refused in words about the call.
    for yes in (True, np.bool_(True)):
        assert zyx.cond(yes, lambda x: x, lambda x: -x, x).tolist() == x.tolist()
    assert zyx.switch(1, [lambda x: x, lambda x: -x], x).tolist() == (-x).tolist()
    assert zyx.while_loop(x, lambda x: False, lambda trip, x: -x).tolist() == x.tolist()
    for call, text in ((lambda: zyx.cond(1, lambda x: x, lambda x: -x, x), "cond: the condition is an array of one bool, and no int"),
                       (lambda: zyx.switch(True, [lambda x: x], x), "switch: the index is an array of one int64, and no bool"),
                       (lambda: zyx.while_loop(x, lambda x: None, lambda trip, x: x), "while_loop: the condition is an array of one bool, and no NoneType"),
                       (lambda: zyx.loop(2.0, x, lambda trip, x: x), "loop: the number of trips is an integer, and no float"),
                       (lambda: zyx.detach(3), "detach: x is an array, and no int"),
                       (lambda: zyx.gradient(3, [x]), "gradient: the target is an array of floats, and no int")):
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(ValueError, match="other structures"):
        zyx.cond(zyx.asarray(True), lambda x: x, lambda x: (x, x), x)
    with pytest.raises(zyx.Error, match="one branch makes"):
        zyx.cond(zyx.asarray(True), lambda x: x, lambda x: zyx.sum(x), x)
    with pytest.raises(zyx.Error, match="no branches"):
        zyx.switch(zyx.asarray(0), [], x)


def test_gradients_of_loops_of_so_many_trips_or_fewer():
    def f(x, n):
        return zyx.loop(zyx.minimum(n, 4), x, lambda trip, x: zyx.sin(x) * 2)

    slope = zyx.jit(zyx.grad(lambda x, n: zyx.sum(f(x, n))))
    for n in (0, 1, 3, 4, 9, -2):
        expected = zyx.grad(lambda x: zyx.sum(zyx.loop(max(min(n, 4), 0), x, lambda trip, x: zyx.sin(x) * 2)))(zyx.asarray([0.3, 1.0]))
        same(slope(zyx.asarray([0.3, 1.0]), zyx.asarray(n)), expected)
    assert slope.captures == 1


def test_random_keys():
    key = zyx.random.key(1)
    a, b = zyx.random.split(key)
    x = zyx.random.normal(a, (1000,))
    assert x.tolist() == zyx.random.normal(a, (1000,)).tolist() and x.tolist() != zyx.random.normal(b, (1000,)).tolist()
    assert abs(zyx.mean(x).item()) < 0.2 and abs(zyx.std(x).item() - 1) < 0.2
    u = zyx.random.uniform(a, (1000,), low=2, high=3)
    assert 2 <= zyx.min(u).item() and zyx.max(u).item() <= 3
    assert sorted(zyx.random.permutation(b, 10).tolist()) == list(range(10))
    # In a jit a key is an argument.
    drawn = zyx.jit(lambda key: zyx.random.uniform(key, (3,)))
    assert drawn(a).tolist() == zyx.random.uniform(a, (3,)).tolist() != drawn(b).tolist()
    keys = {zyx.random.fold_in(key, i).item() for i in range(50)}
    assert len(keys) == 50


def test_other_threads_run_while_one_compiles():
    """A thread that counts goes on in a compilation of some tenths of a second."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    x = zyx.asarray(np.random.default_rng(0).normal(size=(37, 41)).astype("float32"))
    for i in range(6):
        x = zyx.tanh(zyx.sin(x @ zyx.matrix_transpose(x)) @ x) + zyx.cumulative_sum(x, axis=0)
    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.02)
    before, began = counted[0], time.perf_counter()
    zyx.eval(x)
    seconds, ticks = time.perf_counter() - began, counted[0] - before
    stop.set()
    thread.join()
    assert seconds < 0.05 or ticks > 5


def test_loop_as_often_as_data_says():
    """One program for every number of trips; below 0 there is none."""
    step = zyx.jit(lambda trips, x: zyx.loop(trips, x, lambda trip, carried: carried * 2 + zyx.astype(trip, zyx.float32)))
    for trips in (0, 3, -2, 1):
        expected = np.float32([1, -1])
        for trip in range(trips):
            expected = expected * 2 + trip
        assert step(zyx.asarray(trips), zyx.asarray([1.0, -1.0])).tolist() == expected.tolist()
    assert step.captures == 1
    with pytest.raises(zyx.Error):
        zyx.loop(zyx.asarray([1]), zyx.asarray(1.0), lambda trip, x: x)
    with pytest.raises(zyx.Error):
        zyx.loop(zyx.asarray(1.0), zyx.asarray(1.0), lambda trip, x: x)


class Counted:
    def __init__(self, k):
        self.k = k
        self.inner = zyx.jit(twice, static_argnums=1)

    @zyx.jit
    def scaled(self, x):
        return x * self.k


def twice(x, times):
    return x * 2 * times


def test_a_jit_is_copied_without_its_programs():
    """As a part of another object, too."""
    first = Counted(3.0)
    x = zyx.asarray([1.0, 2.0])
    assert first.inner(x, 2).tolist() == [4.0, 8.0]
    for other in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert other.inner.captures == 0 and other.inner(x, 2).tolist() == [4.0, 8.0]
    for method in (copy.copy(first.scaled), copy.deepcopy(first.scaled), pickle.loads(pickle.dumps(first.scaled))):
        assert method(x).tolist() == [3.0, 6.0]
