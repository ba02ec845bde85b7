#!/usr/bin/env python3
"""Trains a small network on 1000 handwritten digits, and writes it as a C source that needs neither zyx nor Python.

  digits-c.py examples/digits.safetensors [--out=FOLDER]

FOLDER gets digits.c, with a function that classifies 797 images, and the library that the C compiler of the system makes
of it, which is called here. docs/python.md has more on programs that leave the process.
"""
import argparse
import ctypes
import pathlib
import subprocess

import zyx
from zyx import nn, optim

TRAIN, TEST = 1000, 797


def train(images, labels):
    rng = nn.InitRng(1)
    first, second = nn.Linear(64, 32, rng), nn.Linear(32, 10, rng)
    model = nn.Sequential(first, nn.relu, second)
    optimizer = optim.Optimizer(model, optim.adam())
    step = optim.TrainStep(optimizer, lambda x, y: nn.cross_entropy(model(x), y))
    for _ in range(150):
        optimizer.learning_rate = 0.02
        step(images, labels)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("digits")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    digits = zyx.load(options.digits)
    images = zyx.reshape(zyx.astype(digits["images"], zyx.float32) / 16, (-1, 64))
    labels = digits["labels"]
    model = train(images[:TRAIN], labels[:TRAIN])

    def classify(pixels):
        return zyx.argmax(model(zyx.astype(pixels, zyx.float32) / 16), axis=1)

    pixels = zyx.reshape(digits["images"], (-1, 64))[TRAIN:]
    source, library = options.out / "digits.c", options.out / "digits.so"
    zyx.compile_to(classify, (pixels,), source)
    subprocess.run(["cc", "-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared", "-o", str(library),
                    str(source), "-lm"], check=True)
    given, found = (ctypes.c_uint8 * (TEST * 64))(*memoryview(pixels).cast("B")), (ctypes.c_int64 * TEST)()
    if ctypes.CDLL(str(library.resolve())).classify(given, found) != 0:
        raise MemoryError("classify: there is no memory for temporaries")
    correct = sum(guess == label for guess, label in zip(found, labels[TRAIN:].tolist()))
    print(f"{source.stat().st_size} bytes of C; {correct} of {TEST} correct")


if __name__ == "__main__":
    main()
