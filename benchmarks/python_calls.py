#!/usr/bin/env python3
"""What calls of the Python package take: of a jitted function with ten arguments, and of an op of lazy arrays.

  PYTHONPATH=build/release/python benchmarks/python_calls.py

Time of the calling thread, the least of many rounds: other work on the machine takes other threads' time.
"""
import time

import zyx


def microseconds(function, count, rounds=40):
    best = float("inf")
    for _ in range(rounds):
        began = time.thread_time()
        for _ in range(count):
            function()
        best = min(best, (time.thread_time() - began) / count)
    return 1e6 * best


def main():
    arrays = [zyx.asarray([1.0, 2.0, 3.0, 4.0]) for _ in range(10)]
    step = zyx.jit(lambda *a: a[0] + a[1] * a[2] + a[3] * a[4] + a[5] * a[6] + a[7] * a[8] + a[9])
    assert step(*arrays).tolist() == [6.0, 20.0, 42.0, 72.0]

    def chain():
        y = arrays[0]
        for _ in range(50):
            y = y + arrays[1]

    print(f"a call of a jitted function with 10 arguments: {microseconds(lambda: step(*arrays), 2000):.2f} us")
    print(f"an op of a lazy array: {microseconds(chain, 40) / 50:.2f} us")


if __name__ == "__main__":
    main()
