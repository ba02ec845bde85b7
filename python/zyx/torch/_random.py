# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers. Their seeds are drawn from PyTorch's generator at each call, so that torch.manual_seed() says which
numbers come; they are others than those of eager mode."""
import contextlib
import math

from .. import _functions as F
from .. import _zyx
from ._lower import aten, cast, cut, float32, float64, full, int64, op, prims, result_dtype, where, wide

# The seeds of the graph that is walked through; each draw takes one.
_seeds = None


class Seeds:
    """An array of a seed for each draw. How many there are follows from the graph."""

    def __init__(self, array):
        self.array, self.used = array, 0

    def draw(self):
        self.used += 1
        return self.array[self.used - 1]


@contextlib.contextmanager
def seeded(seeds):
    global _seeds
    before, _seeds = _seeds, seeds
    try:
        yield
    finally:
        _seeds = before


def count(graph):
    """How many draws a graph has."""
    return sum(node.target in DRAWS for node in graph.nodes)


DRAWS = set()


def draw(*targets):
    def register(function):
        DRAWS.update(targets)
        return op(*targets)(lambda node, *args, **kwargs: function(node, _seeds.draw(), *args, **kwargs))

    return register


def _shape(node):
    return tuple(node.meta["val"].shape)


def _uniform(seed, shape, low=0.0, high=1.0):
    return _zyx._uniform(seed, shape, float(low), float(high), float32)


@draw(aten.rand.default, aten.rand_like.default)
def rand(node, seed, *_, **__):
    dtype = result_dtype(node)
    if dtype is _zyx.float64:
        return _zyx._uniform(seed, _shape(node), 0.0, 1.0, dtype)
    y = _uniform(seed, _shape(node))
    if dtype.itemsize < 4:
        # Rounding must not make a 1.
        y = y * (1 - 2.0**-(8 if dtype is _zyx.bfloat16 else 11))
    return y


@draw(aten.randn.default, aten.randn_like.default)
def randn(node, seed, *_, **__):
    dtype = result_dtype(node)
    return cast(_zyx._normal(seed, _shape(node), 0.0, 1.0, dtype if dtype.itemsize == 8 else float32), dtype)


@draw(aten.randint.default)
def randint(node, seed, high, *_, **__):
    return _integers(node, seed, 0, high)


@draw(aten.randint.low)
def randint_low(node, seed, low, high, *_, **__):
    return _integers(node, seed, low, high)


@draw(aten.randint_like.default)
def randint_like(node, seed, x, high, **_):
    return _integers(node, seed, 0, high)


@draw(aten.randint_like.low_dtype)
def randint_like_low(node, seed, x, low, high, **_):
    return _integers(node, seed, low, high)


def _integers(node, seed, low, high):
    return cast(_zyx._randint(seed, _shape(node), low, high, _zyx.int64), result_dtype(node))


@draw(aten.randperm.default)
def randperm(node, seed, size, **_):
    return cast(_zyx._permutation(seed, size), result_dtype(node))


@draw(aten.bernoulli.p)
def bernoulli_p(node, seed, x, p=0.5, **_):
    return _uniform(seed, _shape(node)) < float(p)


@draw(aten.bernoulli.default)
def bernoulli(node, seed, x, **_):
    return _uniform(seed, _shape(node)) < cast(x, float32)


@draw(aten.native_dropout.default)
def native_dropout(node, seed, x, p, train=True):
    if not train or p == 0:
        return x, full(x.shape, 1, _zyx.bool)
    if p == 1:
        return full(x.shape, 0, x.dtype), full(x.shape, 0, _zyx.bool)
    keeps = _uniform(seed, x.shape) >= float(p)
    y = wide(x)
    return where(keeps, y * (1.0 / (1.0 - p)), full((), 0, y.dtype)), keeps


@draw(aten.normal_functional.default, aten.normal.float_float)
def normal(node, seed, *arguments, **named):
    return _normal(node, seed, *([each for each in arguments if isinstance(each, (int, float))][:2] or (0.0, 1.0)))


def _normal(node, seed, mean, deviation):
    dtype = result_dtype(node)
    found = _zyx._normal(seed, _shape(node), 0.0, 1.0, dtype if dtype.itemsize == 8 else float32)
    return cast(found * float(deviation) + float(mean), dtype)


@draw(prims.normal.default)
def normal_of_shape(node, seed, shape, *, mean, std, **_):
    return _normal(node, seed, mean, std)


@draw(aten.multinomial.default)
def multinomial(node, seed, weights, count, replacement=False, **_):
    """With replacement where a number falls among sums of weights; without it the first of a random order: of exponential
    numbers divided by weights the smallest."""
    y = cast(weights, float64)
    axis, extent = y.ndim - 1, y.shape[-1]
    if replacement:
        sums = _zyx._cumsum(y, axis)
        at = _zyx._uniform(seed, (*y.shape[:-1], count, 1), 0.0, 1.0, float64) * _zyx._unsqueeze(cut(sums, axis, extent - 1, extent), -1)
        return _zyx._sum(cast(_zyx._unsqueeze(sums, -2) <= at, int64), [at.ndim - 1], False)
    waits = -F.log1p(-_zyx._uniform(seed, y.shape, 0.0, 1.0, float64)) / y
    waits = where(y > 0, waits, full((), math.inf, float64))
    return cut(_zyx._argsort(waits, axis, False), axis, 0, count)


@draw(aten.rrelu_with_noise_functional.default)
def rrelu(node, seed, x, noise, low=1 / 8, high=1 / 3, training=False, **_):
    y = wide(x)
    if not training:
        return where(y < 0, y * ((low + high) / 2), y), noise
    slope = where(y <= 0, cast(_uniform(seed, x.shape, low, high), y.dtype), full((), 1, y.dtype))
    return y * slope, slope


@draw(aten.uniform.default)
def uniform(node, seed, x, low=0.0, high=1.0, **_):
    dtype = result_dtype(node)
    y = _zyx._uniform(seed, _shape(node), 0.0, 1.0, dtype if dtype.itemsize == 8 else float32)
    return cast(y * float(high - low) + float(low), dtype)


@draw(aten.exponential.default)
def exponential(node, seed, x, rate=1.0, **_):
    return -F.log1p(-_uniform(seed, _shape(node))) / float(rate)
