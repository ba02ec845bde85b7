# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What models that go on behind tokens share: positions and masks of rows with caches, and activations by their names."""
from .. import _zyx, nn
from .._zyx import int64

# First values that a load replaces before they are drawn.
RNG = nn.InitRng(0)

ACTIVATIONS = {"gelu": nn.gelu, "gelu_new": nn.gelu_tanh, "gelu_pytorch_tanh": nn.gelu_tanh, "relu": nn.relu, "silu": nn.silu,
               "swish": nn.silu}


def split_heads(x, heads):
    """[batch, rows, heads width] to [batch, heads, rows, width]."""
    batch, rows, width = x.shape
    return _zyx._permute(_zyx._reshape(x, (batch, rows, heads, width // heads)), (0, 2, 1, 3))


def join_heads(x):
    """[batch, heads, rows, width] to [batch, rows, heads width]."""
    batch, heads, rows, width = x.shape
    return _zyx._reshape(_zyx._permute(x, (0, 2, 1, 3)), (batch, rows, heads * width))


class Rows:
    """The rows of a call: tokens at places from `start` on, in a cache or by themselves.

    Sequences of a batch are padded in front: `pads` says by how many rows, as integers [batch]. Positions count from the
    first token of each.
    """

    def __init__(self, shape, caches, start, pads):
        self.batch, self.count = shape
        self.start = start
        self.room = self.count if caches is None else caches[0].keys.shape[-2]
        places = nn._positions(self.count, start)
        self._own = _zyx._reshape(places, (self.count, 1))
        self._all = _zyx._arange(0, self.room, 1, int64)
        self._pads = None if pads is None else _zyx._reshape(_zyx._cast(pads, int64), (self.batch, 1))
        self.positions = places if pads is None else _zyx.maximum(_zyx.subtract(places, self._pads), 0)
        self._masks = {}

    def mask(self, window=None):
        """What each row sees, bools that expand to [batch, 1, rows, room]: those up to its own, `window` of them."""
        if window not in self._masks:
            seen = _zyx.less_equal(self._all, self._own)
            if window is not None and window < self.room:
                seen = _zyx.bitwise_and(seen, _zyx.greater(self._all, _zyx.subtract(self._own, window)))
            if self._pads is not None:
                # A row of padding sees itself: with nothing it would be NaN, which 0 does not hide from others.
                real = _zyx.greater_equal(self._all, _zyx._reshape(self._pads, (self.batch, 1, 1, 1)))
                seen = _zyx.bitwise_and(seen, _zyx.bitwise_or(real, _zyx.equal(self._all, self._own)))
            self._masks[window] = seen
        return self._masks[window]

    def attend(self, queries, kv, cache, window=None, scale=None):
        """Attention of the rows, and the cache with them."""
        if cache is not None:
            kv = nn.append(cache, kv, self.start)
        return nn._grouped(queries, kv.keys, kv.values, self.mask(window), scale), kv


class Decoder(nn.Module):
    """A model that goes on behind tokens: logits of all rows, or of the last one with caches."""

    def _set(self, **values):
        """Attributes that are no parts of the module."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __call__(self, tokens, *, pads=None):
        """Integers [batch, rows] to logits [batch, rows, vocabulary]."""
        self._expect(tokens)
        return self._logits(self._hidden(tokens, Rows(tokens.shape, None, None, pads), [None] * self.layers)[0])

    def caches(self, batch, rows):
        """Empty ones, with room for so many rows."""
        shape, dtype = (batch, self.kv_heads, rows, self.head_width), self._dtype()
        return [nn.KVCache(_zyx._full(shape, 0, dtype), _zyx._full(shape, 0, dtype)) for _ in range(self.layers)]

    def forward_cached(self, tokens, caches, start, *, pads=None, **memory):
        """Logits of what follows the last row, [batch, vocabulary], and the caches with the rows.

        The first row has the place `start`, an array of an integer; the caches have those before.
        """
        self._expect(tokens, caches[0].keys.shape[-2])
        x, caches = self._hidden(tokens, Rows(tokens.shape, caches, start, pads), caches, **memory)
        return _zyx._reshape(self._logits(x[:, -1:]), (tokens.shape[0], self.vocabulary)), caches

    def _expect(self, tokens, room=None):
        if tokens.ndim != 2 or tokens.dtype.is_float or tokens.dtype is _zyx.bool or tokens.size == 0:
            raise _zyx.InvalidArgumentError(f"tokens are integers [batch, rows], and not {tokens.dtype!r} of the shape "
                                            f"{tokens.shape}")
        if room is not None and tokens.shape[1] > room:
            raise _zyx.InvalidArgumentError(f"{tokens.shape[1]} tokens do not fit into a cache of {room} rows")
        if room is None and self.most_positions is not None and tokens.shape[1] > self.most_positions:
            raise _zyx.InvalidArgumentError(f"the model has {self.most_positions} positions, and not {tokens.shape[1]}")

    def generate(self, prompts, **options):
        """See zyx.models.generate()."""
        from ._generate import generate
        return generate(self, prompts, **options)
