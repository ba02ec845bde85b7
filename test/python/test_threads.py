"""Scopes, arrays and optimizers that several threads and coroutines use."""
import asyncio
import gc
import threading
import time

import numpy as np
import pytest

import zyx
from zyx import _zyx, nn, optim


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def scoped(device):
    with zyx.device_scope(device):
        yield zyx.default_device()


def test_scopes_of_generators_end_in_any_order():
    before = zyx.default_device()
    first = scoped("reference")
    assert next(first) == "reference" and zyx.default_device() == "reference"
    with zyx.device_scope("c"):
        first.close()
        assert zyx.default_device() == "c"
    assert zyx.default_device() == before
    first, second = scoped("reference"), scoped("c")
    next(first), next(second)
    first.close()
    assert zyx.asarray([0.0]).device == "c"
    second.close()
    assert zyx.asarray([0.0]).device == before


def test_the_default_device_is_none_of_a_value():
    # Zeros that are there already.
    x = zyx.zeros(())
    assert x.item() == 0.0
    with zyx.device_scope("reference"):
        assert zyx.default_device() == "reference"


def test_scopes_of_tasks_end_in_any_order():
    async def task(device, steps):
        with zyx.device_scope(device):
            for _ in range(steps):
                await asyncio.sleep(0)

    async def both():
        # What was entered first ends first.
        await asyncio.gather(task("reference", 1), task("c", 3))

    before = zyx.default_device()
    asyncio.run(both())
    assert zyx.default_device() == before and (zyx.ones(2) + 1).tolist() == [2.0, 2.0]


def test_a_scope_is_left_where_it_was_entered():
    scope, before, errors = zyx.device_scope("reference"), zyx.default_device(), []
    scope.__enter__()

    def leave():
        try:
            scope.__exit__(None, None, None)
        except zyx.Error as error:
            errors.append(str(error))

    in_thread(leave)
    assert "the scope of 'reference' was entered in another thread, which has to leave it" in errors[0]
    assert zyx.default_device() == "reference"
    # One object for two threads: each leaves its own.
    seen = []

    def enter():
        with scope:
            seen.append(zyx.default_device())
        seen.append(zyx.default_device())

    in_thread(enter)
    assert seen == ["reference", before] and zyx.default_device() == "reference"
    scope.__exit__(None, None, None)
    assert zyx.default_device() == before
    with pytest.raises(zyx.Error, match="the scope of 'reference' was not entered"):
        scope.__exit__(None, None, None)


def test_a_scope_that_nobody_leaves_ends_with_its_object():
    before = zyx.default_device()
    places = []
    places.append(zyx.device_scope("reference"))
    places[0].__enter__()
    # Another thread is the last owner.
    in_thread(lambda: (places.clear(), gc.collect()))
    assert zyx.default_device() == before
    # Of a thread that is over.
    in_thread(lambda: (places.append(zyx.device_scope("reference")), places[0].__enter__()))
    places.clear()
    gc.collect()
    assert (zyx.ones(2) + 1).device == before


READERS = {
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: np.asarray(x).tolist(),
    "dlpack": lambda x: np.from_dlpack(x).tolist(),
    "bytes": lambda x: np.frombuffer(_zyx._bytes(x), "float32").tolist(),
    "text": lambda x: [float(each) for each in str(x).strip("[]").split(",")],
    "item": lambda x: [x.item()],
    "nonzero": lambda x: [6.0] * _zyx._nonzero(x).shape[0],
    "masked": lambda x: _zyx._masked_select(x, x > 0).tolist(),
    "unique": lambda x: _zyx._unique(x)[0].tolist(),
    "close": lambda x: [6.0 if _zyx._all_close(x, zyx.asarray([6.0]), 1e-4, 0.0, False) else 0.0],
    "parameter": lambda x: zyx.nn.Parameter(x).value.tolist(),
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_read_is_what_was_there(name):
    """Whoever puts another value into the place meanwhile, as a thread does, or the watcher of a compilation here."""
    x, changes = zyx.asarray([6.0]), []
    # Each is another program.
    for _ in range(list(READERS).index(name) + 1):
        x = zyx.exp(zyx.log(x))

    def change(stage, done, total):
        if not changes:
            changes.append(stage)
            x[0] = 0.0

    _zyx._set_progress(change)
    try:
        found = READERS[name](x)
    finally:
        _zyx._set_progress(None)
    assert changes and found == pytest.approx([6.0], rel=1e-4)
    assert x.tolist() == [0.0]


def test_branches_may_change_what_chose_them():
    condition = zyx.asarray(True)

    def then(a):
        condition[()] = False
        return a + 1

    assert zyx.cond(condition, then, lambda a: a - 1, zyx.asarray(1.0)).item() == 2.0
    assert not condition.item()


def model_of_threads():
    model = nn.Linear(4, 4, nn.InitRng(1))
    return model, optim.Optimizer(model, optim.sgd(0.01, momentum=0.5))


def in_threads(function, count):
    errors = []

    def run(number):
        try:
            function(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_share_a_train_step():
    x, y = zyx.ones((3, 4)), zyx.zeros((3, 4))
    model, optimizer = model_of_threads()
    # Two programs of one optimizer.
    steps = [optim.TrainStep(optimizer, lambda x, y: nn.mse_loss(model(x), y)) for _ in range(2)]
    assert not in_threads(lambda number: [steps[number % 2](x, y).item() for _ in range(25)], 4)
    other, alone = model_of_threads()
    step = optim.TrainStep(alone, lambda x, y: nn.mse_loss(other(x), y))
    for _ in range(100):
        step(x, y)
    assert optimizer.steps == alone.steps == 100
    assert model.weight.value.tolist() == other.weight.value.tolist()


def test_threads_share_an_optimizer():
    x, y = zyx.ones((3, 4)), zyx.zeros((3, 4))
    model, optimizer = model_of_threads()
    taken, refused = [0] * 4, [0] * 4

    def run(number):
        for _ in range(20):
            loss = nn.mse_loss(model(x), y)
            optimizer.learning_rate = 0.01
            try:
                optimizer.minimize(loss)
                taken[number] += 1
            except zyx.Error as error:
                # Of values that another one has replaced, or that were computed with them.
                assert "the loss depends on none of the parameters" in str(error) or "has forgotten what it was made of" in str(error)
                refused[number] += 1

    assert not in_threads(run, 4)
    # Each was taken, or said that it was not.
    assert sum(taken) + sum(refused) == 80 and optimizer.steps == sum(taken) > 0
    assert optimizer.learning_rate == 0.01


@pytest.mark.parametrize("name", ["dense", "columns", "bytes", "export"])
def test_other_threads_run_while_elements_are_copied(name):
    dense = np.ones((4000, 8000), "float32")
    x = zyx.asarray(dense)
    copy = {"dense": lambda: zyx.asarray(dense), "columns": lambda: zyx.asarray(dense.T), "bytes": lambda: _zyx._bytes(x),
            "export": lambda: np.from_dlpack(x, copy=True) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else _zyx._export(x, True)}[name]
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.0005):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        most = 0
        # The machine may be busy.
        for _ in range(40):
            if most >= 4:
                break
            began = time.perf_counter()
            copy()
            ended = time.perf_counter()
            most = max(most, sum(began < each < ended for each in list(ticks)))
    finally:
        over.set()
        thread.join()
    assert most >= 4


def test_copies_follow_strides():
    random = np.random.default_rng(1)
    for dtype in ("int8", "int16", "float32", "float64"):
        n = random.integers(0, 100, (3, 4, 5, 6)).astype(dtype)
        for view in (n.transpose(3, 1, 0, 2), n[::-1, ::2, 1::3], n[..., 0], n[:, None, ::-1], n[2:2].T, n[:, :, :, ::2]):
            np.testing.assert_array_equal(np.asarray(zyx.asarray(view)), view)
