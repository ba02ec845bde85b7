#!/usr/bin/env python3
"""What CLBlast takes for the product of two f32 matrices of N x N on a device of OpenCL, beside which ours is measured.

  benchmarks/clblast.py [--size=2048] [--device=NVIDIA] [--runs=10]

Needs libclblast.so.1 (Debian's libclblast1) and libOpenCL.so.1. The device is the first one whose name or platform has the
text. Prints the median of runs in milliseconds, each waited for, and how far 16 elements are off from products in f64.
"""
import argparse
import array
import ctypes
import random
import statistics
import sys
import time

ALL_DEVICES, DEVICE_NAME, PLATFORM_NAME, READ_WRITE, COPY, BLOCKING = 0xFFFFFFFF, 0x102B, 0x0902, 1, 1 << 5, 1
ROW_MAJOR, NO_TRANSPOSE = 101, 111


def check(code, what):
    if code:
        raise SystemExit(f"clblast: {what}: {code}")


def handles(call, *front):
    """What a function of OpenCL lists."""
    count = ctypes.c_uint()
    if call(*front, 0, None, ctypes.byref(count)) or not count.value:
        return []
    found = (ctypes.c_void_p * count.value)()
    check(call(*front, count, found, None), "list")
    return [ctypes.c_void_p(each) for each in found]


def name_of(call, handle, key):
    text = ctypes.create_string_buffer(256)
    check(call(handle, ctypes.c_uint(key), ctypes.c_size_t(256), text, None), "ask for a name")
    return text.value.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--device", default="NVIDIA")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    cl = ctypes.CDLL("libOpenCL.so.1", mode=ctypes.RTLD_GLOBAL)
    blast = ctypes.CDLL("libclblast.so.1")
    for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
        getattr(cl, name).restype = ctypes.c_void_p
    found = [(f"{name_of(cl.clGetPlatformInfo, platform, PLATFORM_NAME)}: {name_of(cl.clGetDeviceInfo, device, DEVICE_NAME)}",
              device)
             for platform in handles(cl.clGetPlatformIDs)
             for device in handles(lambda *rest, of=platform: cl.clGetDeviceIDs(of, ctypes.c_ulong(ALL_DEVICES), *rest))]
    chosen = [(name, device) for name, device in found if options.device in name]
    if not chosen:
        raise SystemExit(f"clblast: no device has '{options.device}' in its name; there are {[name for name, _ in found]}")
    name, device = chosen[0]
    error, size = ctypes.c_int(), options.size
    context = ctypes.c_void_p(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(error)))
    check(error.value, "make a context")
    queue = ctypes.c_void_p(cl.clCreateCommandQueue(context, device, ctypes.c_ulong(0), ctypes.byref(error)))
    check(error.value, "make a queue")
    draw = random.Random(1)
    # Repeated after a prime number of elements, so that rows and columns differ.
    numbers = [draw.uniform(-1, 1) for _ in range(10007)]
    host = [array.array("f", (numbers[shift:] + numbers[:shift]) * (size * size // len(numbers) + 1))[:size * size]
            for shift in (0, 1)]
    host.append(array.array("f", bytes(4 * size * size)))
    buffers = []
    for each in host:
        buffers.append(ctypes.c_void_p(cl.clCreateBuffer(context, ctypes.c_ulong(READ_WRITE | COPY), ctypes.c_size_t(4 * len(each)),
                                                         ctypes.c_void_p(each.buffer_info()[0]), ctypes.byref(error))))
        check(error.value, "make a buffer")
    extent, none = ctypes.c_size_t(size), ctypes.c_size_t(0)

    def multiply():
        check(blast.CLBlastSgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, extent, extent, extent, ctypes.c_float(1),
                                 buffers[0], none, extent, buffers[1], none, extent, ctypes.c_float(0), buffers[2], none,
                                 extent, ctypes.byref(queue), None), "multiply")
        check(cl.clFinish(queue), "wait")

    for _ in range(2):
        multiply()
    times = []
    for _ in range(options.runs):
        begun = time.perf_counter()
        multiply()
        times.append(1000 * (time.perf_counter() - begun))
    check(cl.clEnqueueReadBuffer(queue, buffers[2], BLOCKING, none, ctypes.c_size_t(4 * size * size),
                                 ctypes.c_void_p(host[2].buffer_info()[0]), 0, None, None), "read")
    off = 0
    for _ in range(16):
        i, j = draw.randrange(size), draw.randrange(size)
        wanted = sum(host[0][i * size + k] * host[1][k * size + j] for k in range(size))
        off = max(off, abs(wanted - host[2][i * size + j]))
    print(f"CLBlast {size} on {name}: {statistics.median(times):.3f} ms, off by at most {off:.1e}")
    return 0 if off < 1e-2 else 1


if __name__ == "__main__":
    sys.exit(main())
