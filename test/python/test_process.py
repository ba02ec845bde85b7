"""What happens around a program: signals, forks, threads, the end of the interpreter, pickles, terminals and notebooks."""
import copyreg
import os
import pathlib
import pickle
import pty
import select
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import zyx

HEAD = """
import os, signal, sys, threading, time
import zyx

def long(seed):
    # Many kernels, none of which is like another; rounding does not grow.
    x = zyx.ones((seed %% 5 + 3, 3), dtype=zyx.float32)
    for i in range(%d):
        x = zyx.cumulative_sum(zyx.sort(zyx.sin(zyx.concat([x, x[:1]], axis=0) + seed + i), axis=0), axis=0) / (x.shape[0] + 3)
    return zyx.sum(x)
"""
# A compilation of some seconds, and one that is soon done.
LONG, SHORT = HEAD % 60, HEAD % 3


def start(program, *, prelude=LONG, **options):
    return subprocess.Popen([sys.executable, "-u", "-c", prelude + program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def run(program, *, prelude=SHORT, timeout=120):
    done = subprocess.run([sys.executable, "-u", "-c", prelude + program], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_control_c_ends_a_compilation():
    """It does so soon, as KeyboardInterrupt at the line that reads, and everything goes on behind it."""
    child = start("""
began = time.perf_counter()
x = long(1)
kept = zyx.asarray([1.0, 2.0]) * 2
try:
    print("begin")
    x.item()
    print("not ended")
except KeyboardInterrupt:
    print("ended")
assert not x.is_computed and kept.tolist() == [2.0, 4.0]
step = zyx.jit(lambda x: x * 3 + long(2))
signal.setitimer(signal.ITIMER_REAL, 0.2)
def fails(number, frame):
    raise TimeoutError("no time")
signal.signal(signal.SIGALRM, fails)
try:
    step(kept)
    print("not ended")
except TimeoutError as error:
    print("ended", error)
# Both are there when they are asked for again.
began = time.perf_counter()
first = x.item()
print(f"{time.perf_counter() - began:.3f}")
with zyx.device_scope("reference"):
    right = long(1).item(), long(2).item()
assert abs(first - right[0]) < 1e-3 * abs(right[0]) + 1e-3, (first, right)
made = step(kept).tolist()
assert all(abs(a - b * 3 - right[1]) < 1e-3 * abs(a) + 1e-3 for a, b in zip(made, kept.tolist())), (made, right)
print("done")
""")
    assert child.stdout.readline() == "begin\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    began = time.perf_counter()
    assert child.stdout.readline() == "ended\n"
    waited = time.perf_counter() - began
    assert child.stdout.readline() == "ended no time\n"
    whole = float(child.stdout.readline())
    out, err = child.communicate(timeout=200)
    assert out == "done\n" and child.returncode == 0, out + err
    # Not at its end: a phase, or a kernel, is a small part of the whole.
    assert whole > 1 and waited < max(0.5 * whole, 0.5), (waited, whole)


def test_control_c_ends_a_loop_without_an_end():
    """Wherever its value is waited for, and everything goes on behind it."""
    child = start("""
import numpy as np
endless = zyx.jit(lambda x: zyx.while_loop((zyx.asarray(0), x), lambda c: c[0] >= 0, lambda trip, c: (c[0], zyx.sin(c[1]))))
x = zyx.ones((4,))
def both():
    endless(x)
    zyx.sync()
for name, call in {"item": lambda: endless(x)[0].item(), "list": lambda: endless(x)[1].tolist(), "numpy": lambda: np.asarray(endless(x)[1]),
                   "sync": both}.items():
    print("begin", name)
    try:
        call()
        print("not ended")
    except KeyboardInterrupt:
        print("ended")
    # It is told once.
    assert (x * 2).tolist() == [2, 2, 2, 2]
endless = None
# What is no loop is computed first.
y = zyx.full((1500, 1500), 1e-3)
timer = threading.Timer(0.01, lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    timer.start()
    for i in range(200):
        y = y @ y
        zyx.eval(y)
        zyx.sync()
    print("not ended")
except KeyboardInterrupt:
    print("ended")
print("done", (x + 1).tolist())
""")
    for name in ("item", "list", "numpy", "sync"):
        assert child.stdout.readline() == f"begin {name}\n"
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "ended\n", name
    out, err = child.communicate(timeout=200)
    assert out == "ended\ndone [2.0, 2.0, 2.0, 2.0]\n" and child.returncode == 0, out + err


def test_control_c_of_each_way_to_read():
    """What the handler raises comes at the line that reads, and nothing of it later. NumPy tries another way behind a failure."""
    out = run("""
import numpy as np
def fails(number, frame):
    raise TimeoutError("no time")
signal.signal(signal.SIGALRM, fails)
readers = [lambda x: x.tolist(), np.asarray, np.array, memoryview, bytes, repr, lambda x: x.__array__(), lambda x: np.from_dlpack(x)]
for seed, reader in enumerate(readers):
    x = long(seed) + zyx.zeros(2)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        reader(x)
        print("not ended")
    except TimeoutError as error:
        assert str(error) == "no time"
    assert not x.is_computed
    assert (zyx.asarray([float(seed)]) + 1).tolist() == [seed + 1.0]
y = zyx.asarray([1.0, 2.0]) + 1
assert y.__array__().tolist() == np.asarray(y).tolist() == [2.0, 3.0]
print("done")
""", prelude=LONG)
    assert out == "done\n"


def test_failures_of_each_way_to_read():
    """All are zyx.Error, as where there is no compiler."""
    out = run("""
import numpy as np
for reader in (lambda x: x.tolist(), np.asarray, memoryview, lambda x: x[0].item(), lambda x: zyx.astype(x, zyx.float16).tolist()):
    try:
        reader(zyx.asarray([1.0, 2.0]) + 1)
        print("read")
    except zyx.Error as error:
        assert "/nonexistent/compiler.so" in str(error), error
print("done")
""", prelude="import os\nos.environ['ZYX_COMPILER'] = '/nonexistent/compiler.so'\nimport zyx\n")
    assert out == "done\n"


def test_who_waits_for_a_program_that_another_thread_gave_up():
    """The main thread compiles and is interrupted; a thread that waits for the same program compiles it then."""
    child = start("""
x, y = long(1), long(1) + 0
made = []
def other():
    time.sleep(0.2)
    made.append(zyx.jit(lambda: long(7))().item())
step = zyx.jit(lambda: long(7))
thread = threading.Thread(target=other)
thread.start()
try:
    print("begin")
    step()
    print("not ended")
except KeyboardInterrupt:
    print("ended")
thread.join()
with zyx.device_scope("reference"):
    right = long(7).item()
assert len(made) == 1 and abs(made[0] - right) < 1e-3 * abs(right) + 1e-3
print("done")
""")
    assert child.stdout.readline() == "begin\n"
    time.sleep(0.6)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=200)
    assert out == "ended\ndone\n" and child.returncode == 0, out + err


def test_the_interpreter_ends_during_a_compilation():
    """A thread that nobody waits for compiles; the process ends in order all the same."""
    for stop in ("", "sys.exit(0)", "os._exit(0)"):
        child = start(f"""
thread = threading.Thread(target=lambda: long(3).item(), daemon=True)
thread.start()
time.sleep(0.3)
assert thread.is_alive()
print("leaves")
{stop}
""")
        out, err = child.communicate(timeout=120)
        assert child.returncode == 0 and out == "leaves\n" and err == "", (stop, child.returncode, err)


def test_control_c_that_nobody_catches():
    child = start("print('begin'); long(3).item()")
    assert child.stdout.readline() == "begin\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == -signal.SIGINT and err.rstrip().endswith("KeyboardInterrupt"), err


def test_fork():
    """A child without zyx goes on; one with it is told so, and the parent is as it was."""
    run("""
x = long(1)
x.item()
y = x + 1
for uses in (False, True):
    child = os.fork()
    if child == 0:
        try:
            if uses:
                y.item()
            os._exit(1 if uses else 0)
        except zyx.Error as error:
            os._exit(0 if "fork" in str(error) else 2)
        except BaseException:
            os._exit(3)
    assert os.waitpid(child, 0)[1] == 0, uses
assert y.item() == x.item() + 1
""")


def test_a_data_loader():
    """Processes that are forked read data with NumPy; the parent computes."""
    run("""
import multiprocessing
import numpy as np
zyx.ones(3).tolist()
with multiprocessing.get_context("fork").Pool(2) as pool:
    parts = pool.map(np.sum, [np.arange(n) for n in range(6)])
assert zyx.sum(zyx.asarray([int(part) for part in parts])).item() == 20
# Of a process that begins anew, arrays come and go.
""")
    script = SHORT + """
import multiprocessing
def double(x):
    return x * 2
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (y,) = pool.map(double, [zyx.asarray([1.5, 2.0])])
    assert y.tolist() == [3.0, 4.0] and y.dtype is zyx.float32
"""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "spawns.py")
        path.write_text(script)
        subprocess.run([sys.executable, str(path)], check=True, timeout=120)


def test_pickles():
    for dtype in (zyx.bool, zyx.int64, zyx.float16, zyx.bfloat16, zyx.float8_e5m2):
        x = zyx.astype(zyx.asarray([[0, 1, 1], [1, 0, 1]]), dtype)
        y = pickle.loads(pickle.dumps(x))
        assert y.dtype is dtype and y.shape == (2, 3)
        assert zyx.astype(y, zyx.float32).tolist() == [[0, 1, 1], [1, 0, 1]]
    function, (version, data, dtype, shape) = copyreg.dispatch_table[zyx.Array](zyx.asarray([1.0, 2.0]))
    assert function(version, data, dtype, shape).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="format 99"):
        function(99, data, dtype, shape)
    for bad in ((data[:-1], dtype, shape), (data, dtype, (3,)), (data, dtype, (-2,)), (data, zyx.float64, shape),
                (data, "float33", shape), (data, dtype, (2**62, 2**62))):
        with pytest.raises((ValueError, TypeError, OverflowError, zyx.Error)):
            function(version, *bad)
    # An array without a value has none to give.
    with pytest.raises(zyx.Error):
        zyx.jit(lambda x: pickle.dumps(x) and x)(zyx.asarray([1.0]))


def test_threads_of_one_program():
    """Many threads capture, compile and run the same and different functions."""
    step = zyx.jit(lambda x, y: zyx.sum(x @ y, axis=0))
    wrong, barrier = [], threading.Barrier(6)

    def work(seed):
        rng = np.random.default_rng(seed)
        barrier.wait()
        for size in (3, 4, 5):
            x, y = rng.normal(size=(size, 7)).astype("float32"), rng.normal(size=(7, 2)).astype("float32")
            for _ in range(5):
                if not np.allclose(np.asarray(step(x, y)), (x @ y).sum(axis=0), atol=1e-4):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads) and not wrong


def test_progress_in_a_terminal():
    main, terminal = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", LONG + "long(4).item()"], stderr=terminal)
    os.close(terminal)
    text = b""
    while select.select([main], [], [], 120)[0]:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    assert child.wait() == 0
    assert b"compiling: " in text and b" kernels [" in text


NOTEBOOK = """
import types
shown = []
class Handle:
    def update(self, what):
        shown.append(what)
def display(what, display_id):
    shown.append(what)
    return Handle()
sys.modules["ipykernel"] = types.ModuleType("ipykernel")
sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython.display"] = types.ModuleType("IPython.display")
sys.modules["IPython.display"].display, sys.modules["IPython.display"].HTML = display, lambda text: text
"""


def test_control_c_in_a_notebook():
    """The signal may come while progress is shown."""
    out = run("""
import time
kept = shown.append
def slowly(what):
    kept(what)
    time.sleep(0.2)
shown = type("Shown", (), {"append": staticmethod(slowly)})
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 1)
try:
    long(5).item()
    print("not ended")
except KeyboardInterrupt:
    print("ended")
assert zyx.ones(3).tolist() == [1.0, 1.0, 1.0]
""", prelude="import sys\n" + NOTEBOOK + LONG)
    assert out == "ended\n"


def test_progress_in_a_notebook():
    out = run("""
long(4).item()
assert shown[0].startswith("<progress") or shown[0].startswith("compiling"), shown
assert any(' kernels' in text and '<progress value="' in text for text in shown) and shown[-1] == ""
count = len(shown)
zyx.ones(3).tolist()
assert len(shown) == count
print("done")
""", prelude="import sys\n" + NOTEBOOK + LONG)
    assert out == "done\n"
