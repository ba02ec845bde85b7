#!/usr/bin/env python3
"""Trains a small convolutional network on 1000 handwritten digits, and tests it on the 797 others.

  digits.py examples/digits.safetensors [--seed=N] [--epochs=N] [--device=DEVICE] [--out=FOLDER]

FOLDER gets digits-model.safetensors. docs/python.md says how to install zyx.
"""
import argparse
import contextlib
import pathlib
import random
import time

import zyx
from zyx import nn, optim

TRAIN, BATCH = 1000, 50


class Network(nn.Module):
    def __init__(self, rng):
        super().__init__()
        self.first = nn.Convolution(1, 16, (3, 3), rng, padding=1)
        self.second = nn.Convolution(16, 32, (3, 3), rng, padding=1)
        self.out = nn.Linear(32 * 4 * 4, 10, rng)

    def __call__(self, images):
        x = nn.relu(self.second(nn.relu(self.first(images))))
        x = nn.max_pool(x, (2, 2))
        return self.out(zyx.reshape(x, (x.shape[0], -1)))


def train(data, seed, epochs, out):
    began = time.perf_counter()
    digits = zyx.load(data)
    images = zyx.expand_dims(zyx.astype(digits["images"], zyx.float32) / 16, axis=1)
    labels = digits["labels"]
    model = Network(nn.InitRng(seed))
    optimizer = optim.Optimizer(model, optim.adam())
    step = optim.TrainStep(optimizer, lambda x, y: nn.cross_entropy(model(x), y))
    shuffled = random.Random(seed)
    order = list(range(TRAIN))
    total = epochs * (TRAIN // BATCH)
    for epoch in range(1, epochs + 1):
        shuffled.shuffle(order)
        for start in range(0, TRAIN, BATCH):
            rows = zyx.asarray(order[start:start + BATCH])
            optimizer.learning_rate = optim.cosine_decay(3e-3, optimizer.steps, total)
            # Moved by up to one pixel; positions are data, so that every step is the same program.
            moved = images[rows]
            for axis in (2, 3):
                by = shuffled.randint(-1, 1)
                moved = zyx.take(zyx.pad(moved, [(0, 0)] * axis + [(1, 1)] + [(0, 0)] * (3 - axis)),
                                 zyx.asarray([1 + by + i for i in range(8)]), axis=axis)
            loss = step(moved, labels[rows])
        if epoch % 10 == 0 or epoch == epochs:
            print(f"epoch {epoch} of {epochs}: loss {loss.item():.4f}")
    path = str(pathlib.Path(out) / "digits-model.safetensors")
    model.save(path)
    restored = Network(nn.InitRng(seed + 1))
    restored.load(path)
    restored.eval()
    guesses = zyx.argmax(restored(images[TRAIN:]), axis=1)
    right = int(zyx.sum(guesses == labels[TRAIN:]))
    print(f"{right} of {labels.shape[0] - TRAIN} correct; {time.perf_counter() - began:.1f} s")
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--device")
    parser.add_argument("--out", default=".")
    options = parser.parse_args()
    with zyx.device_scope(options.device) if options.device else contextlib.nullcontext():
        train(options.data, options.seed, options.epochs, options.out)


if __name__ == "__main__":
    main()
