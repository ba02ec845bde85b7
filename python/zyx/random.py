# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers as functions of a key. The same key gives the same numbers, on every device.

    >>> a, b = zyx.random.split(zyx.random.key(1))
    >>> zyx.random.uniform(a, (2, 3)).shape
    (2, 3)
"""
from . import _zyx
from ._creation import to_index, to_shape
from ._dtypes import float32, int64, to_dtype

__all__ = ["bernoulli", "bits", "dropout", "fold_in", "key", "normal", "permutation", "randint", "split", "uniform"]


def key(seed):
    """A key: an array of uint64 without dimensions, of an integer from -2**63 to 2**64 - 1.

        >>> zyx.random.key(7).dtype
        zyx.uint64
    """
    return _zyx._seed(_word(seed, "key: the seed"))


def _word(number, what):
    """64 bits of an integer, of which none are left out: others would be the same."""
    found = to_index(number, what)
    if not -2**63 <= found < 2**64:
        raise OverflowError(f"{what} has 64 bits at most, and {found} more")
    return found % 2**64


def split(key, number=2):
    """Keys that are told from each other and from this one, which is not used any more.

        >>> key = zyx.random.key(1)
        >>> a, b, c = zyx.random.split(key, 3)
        >>> a.item() != b.item()
        True
    """
    bits = _zyx._cast(_zyx._random_bits(key, (number, 2)), _zyx.uint64)
    return [_zyx.add(_zyx.bitwise_left_shift(bits[i, 0], 32), bits[i, 1]) for i in range(number)]


def fold_in(key, number):
    """Another key for each number, which may be an array of integers without dimensions: the step of a training, say.

        >>> key = zyx.random.key(1)
        >>> zyx.random.fold_in(key, 1).item() != zyx.random.fold_in(key, 2).item()
        True
    """
    if not isinstance(number, _zyx.Array):
        number = _zyx._full_u64((), _word(number, "fold_in: the number"), _zyx.uint64)
    # Keys that differ in few bits, as 1, 2, 3 do, give numbers of no relation.
    mixed = _zyx.bitwise_xor(key, _zyx.multiply(_zyx._cast(number, _zyx.uint64), 0x9E3779B97F4A7C15))
    return split(mixed, 1)[0]


def bits(key, shape):
    """uint32 of which all are equally likely.

        >>> key = zyx.random.key(1)
        >>> zyx.random.bits(key, (2, 3)).dtype
        zyx.uint32
    """
    return _zyx._random_bits(key, to_shape(shape))


def uniform(key, shape=(), *, low=0.0, high=1.0, dtype=float32):
    """Floats from low up to but without high.

        >>> key = zyx.random.key(1)
        >>> x = zyx.random.uniform(key, (100,), low=-1.0)
        >>> zyx.all((x >= -1.0) & (x < 1.0)).item()
        True
    """
    return _zyx._uniform(key, to_shape(shape), low, high, to_dtype(dtype))


def normal(key, shape=(), *, mean=0.0, deviation=1.0, dtype=float32):
    """Normal floats.

        >>> key = zyx.random.key(1)
        >>> zyx.random.normal(key, (2, 3), mean=5.0).shape
        (2, 3)
    """
    return _zyx._normal(key, to_shape(shape), mean, deviation, to_dtype(dtype))


def randint(key, shape, low, high, *, dtype=int64):
    """Integers from low up to but without high.

        >>> key = zyx.random.key(1)
        >>> x = zyx.random.randint(key, (100,), 3, 5)
        >>> zyx.min(x).item(), zyx.max(x).item()
        (3, 4)
    """
    return _zyx._randint(key, to_shape(shape), low, high, to_dtype(dtype))


def bernoulli(key, probability, shape=()):
    """Bools, of which this share is true.

        >>> key = zyx.random.key(1)
        >>> zyx.random.bernoulli(key, 1.0, (2,)).tolist()
        [True, True]
    """
    return _zyx._bernoulli(key, to_shape(shape), probability)


def permutation(key, count):
    """0 to count - 1 in random order.

        >>> key = zyx.random.key(1)
        >>> sorted(zyx.random.permutation(key, 4).tolist())
        [0, 1, 2, 3]
    """
    return _zyx._permutation(key, count)


def dropout(key, x, probability):
    """x / (1 - probability), and 0 for this share of the elements.

        >>> key = zyx.random.key(1)
        >>> zyx.random.dropout(key, zyx.ones(2), 0.0).tolist()
        [1.0, 1.0]
    """
    return _zyx._dropout(key, x, probability)
