"""Scopes, arrays and optimizers that several threads and coroutines use."""
import asyncio
import gc
import threading

import pytest

import zyx


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
    assert zyx.zeros(1).device == "c"
    second.close()
    assert zyx.zeros(1).device == before


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
