# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules: named parameters and layers. docs/python.md has an example."""
import collections
import copyreg

from . import _zyx
from ._creation import asarray
from ._zyx import Array, InitRng, Parameter

__all__ = ["BatchNorm", "Convolution", "Dropout", "Embedding", "GroupNorm", "Gru", "InitRng", "KVCache", "LayerNorm", "Linear",
           "Lstm", "Mlp", "Module", "ModuleList", "MultiheadAttention", "Parameter", "RmsNorm", "Rnn", "Sequential",
           "TransformerBlock", "append", "attention", "avg_pool", "bce_with_logits", "cached_attention", "cross_entropy", "elu",
           "gelu", "gelu_tanh", "hard_sigmoid", "huber_loss", "kl_divergence", "l1_loss", "leaky_relu", "log_softmax",
           "max_pool", "mish", "mse_loss", "one_hot", "relu", "rotary", "rotary_frequencies", "selu", "sigmoid", "silu",
           "soft_cross_entropy", "softmax", "softplus"]


# Of what a pickle of a module holds.
PICKLED = 1


def _remade(version, kind, layer, arguments):
    """A module as the constructor of its class of C++ leaves it; __setstate__() does the rest."""
    if version != PICKLED:
        raise ValueError(f"a pickle of a module is of format {version!r}; this version of zyx reads {PICKLED}")
    made = kind.__new__(kind)
    # First values are drawn when they are read, and others come before.
    layer.__init__(made, **{name: InitRng(0) if name == "rng" else value for name, value in arguments.items()})
    return made


def _layer_of(self):
    """The class of C++ that it is one of."""
    return next(each for each in type(self).__mro__ if each in _LAYERS or each.__module__ == _zyx.__name__)


def _reduce(self, protocol):
    return _remade, (PICKLED, type(self), _layer_of(self), self.__dict__.get("_arguments", {})), self.__getstate__()


def _get_state(self):
    state = {"attributes": {name: value for name, value in self.__dict__.items() if name != "_arguments"},
             "declared": self._names(), "buffers": [name for name, _ in self.named_buffers() if "." not in name],
             "training": self.is_training}
    if _layer_of(self) is not _zyx._Module:
        # Their parameters and children are members in C++.
        state.update(values=self.state(), generators=self._generators())
    return state


def _set_state(self, state):
    self.train(state["training"])
    if "values" in state:
        self._restore(state["values"], state["generators"])
    for name, value in state["attributes"].items():
        if name in state["declared"]:
            if isinstance(value, Parameter):
                self._put_place(name, value, name in state["buffers"])
            else:
                self._put_module(name, value)
        object.__setattr__(self, name, value)


def _no_copy(self):
    raise TypeError(f"a copy of {type(self).__name__} that shares its parameters is the module itself; copy.deepcopy() makes "
                    "another one")


# copy.deepcopy() and pickle, for the layers of C++, too.
_zyx._Module.__reduce_ex__ = _reduce
_zyx._Module.__getstate__ = _get_state
_zyx._Module.__setstate__ = _set_state
_zyx._Module.__copy__ = _no_copy
copyreg.pickle(Parameter, lambda parameter: (Parameter, (parameter.value,)))
# Functions such as relu are those of their names.
copyreg.pickle(type(_zyx._relu), lambda function: function.__name__)


class Module(_zyx._Module):
    """What has parameters. Attributes that are modules, lists of modules or parameters are declared under their names.

    Another value of such an attribute takes its place, and `del` removes it. An optimizer, and a function of jit, keep the
    parameters that were there when they were made.

        >>> class Classifier(zyx.nn.Module):
        ...     def __init__(self, rng):
        ...         super().__init__()
        ...         self.hidden = zyx.nn.Linear(64, 32, rng)
        ...         self.out = zyx.nn.Linear(32, 10, rng)
        ...
        ...     def __call__(self, x):
        ...         return self.out(zyx.nn.relu(self.hidden(x)))
        >>> Classifier(zyx.nn.InitRng(1))(zyx.ones((5, 64))).shape
        (5, 10)
    """

    def __setattr__(self, name, value):
        if isinstance(value, (list, tuple)) and value and all(isinstance(each, _zyx._Module) for each in value):
            value = ModuleList(value)
        declared = self.__dict__.get(name)
        if isinstance(value, Parameter):
            if not (isinstance(declared, Parameter) and declared._is_same(value)):
                # The module's own place, with this value.
                value = self._put_parameter(name, value.value)
        elif isinstance(value, _zyx._Module):
            self._put_module(name, value)
        elif isinstance(declared, Parameter) and isinstance(value, Array):
            declared.value = value
            return
        elif isinstance(declared, (Parameter, _zyx._Module)):
            # A list of no modules stands for none.
            if value is not None and not (isinstance(value, list) and not value):
                raise TypeError(f"'{name}' is a {'parameter' if isinstance(declared, Parameter) else 'module'} of this one: an array, a "
                                f"parameter, a module or None may be in its place, and no {type(value).__name__}")
            self._remove(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        declared = self.__dict__.get(name)
        object.__delattr__(self, name)
        if isinstance(declared, (Parameter, _zyx._Module)):
            self._remove(name)

    def add_buffer(self, name, value):
        """Declares a value that no optimizer moves, and that is saved with the module."""
        object.__setattr__(self, name, self._add_buffer(name, value))

    def parameters(self):
        """The parameters, in the order of named_parameters()."""
        return [parameter for _, parameter in self.named_parameters()]


class ModuleList(Module):
    """Modules in order, declared as "0", "1", ...

        >>> rng = zyx.nn.InitRng(1)
        >>> layers = zyx.nn.ModuleList([zyx.nn.Linear(2, 2, rng), zyx.nn.Linear(2, 1, rng)])
        >>> len(layers), [name for name, _ in layers.named_parameters()]
        (2, ['0.weight', '0.bias', '1.weight', '1.bias'])
    """

    def __init__(self, modules=()):
        super().__init__()
        object.__setattr__(self, "_modules", [])
        for module in modules:
            self.append(module)

    def __setstate__(self, state):
        super().__setstate__(state)
        for at, module in enumerate(self._modules):
            self._put_module(str(at), module)

    def append(self, module):
        """Puts a module behind the others."""
        self._adopt(str(len(self._modules)), module)
        self._modules.append(module)

    def __getitem__(self, at):
        return self._modules[at]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)


class Sequential(Module):
    """Modules and functions, one after the other. Modules are declared as "0", "1", ..., by their places.

        >>> rng = zyx.nn.InitRng(1)
        >>> model = zyx.nn.Sequential(zyx.nn.Linear(4, 8, rng), zyx.nn.relu, zyx.nn.Linear(8, 2, rng))
        >>> model(zyx.ones((3, 4))).shape
        (3, 2)
    """

    def __init__(self, *layers):
        super().__init__()
        object.__setattr__(self, "_layers", layers)
        for at, layer in enumerate(layers):
            if isinstance(layer, _zyx._Module):
                self._adopt(str(at), layer)

    def __setstate__(self, state):
        super().__setstate__(state)
        for at, layer in enumerate(self._layers):
            if isinstance(layer, _zyx._Module):
                self._put_module(str(at), layer)

    def __call__(self, x):
        for layer in self._layers:
            x = layer(x)
        return x


Linear, Embedding, Dropout, Mlp = _zyx._Linear, _zyx._Embedding, _zyx._Dropout, _zyx._Mlp
LayerNorm, RmsNorm, GroupNorm, BatchNorm = _zyx._LayerNorm, _zyx._RmsNorm, _zyx._GroupNorm, _zyx._BatchNorm
Rnn, Gru, Lstm = _zyx._Rnn, _zyx._Gru, _zyx._Lstm
MultiheadAttention, TransformerBlock = _zyx._MultiheadAttention, _zyx._TransformerBlock
_LAYERS = (Linear, Embedding, Dropout, Mlp, LayerNorm, RmsNorm, GroupNorm, BatchNorm, Rnn, Gru, Lstm, MultiheadAttention, TransformerBlock)
for _layer in _LAYERS:
    # The class is this one of zyx.nn, whatever the library that has its code calls it.
    _layer.__name__ = _layer.__qualname__ = _layer.__name__.lstrip("_")
    _layer.__module__ = __name__
del _layer

# Parameters that a module's text names; it counts the others.
MOST_NAMED = 8


def _module_repr(self):
    """The class, and the parameters with their shapes."""
    try:
        named = self.named_parameters()
    except TypeError:
        # Of a class whose __init__ has not called Module's.
        return object.__repr__(self)
    parts = [f"{name} {list(parameter.shape)}" for name, parameter in named[:MOST_NAMED]]
    parts += [f"and {len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
    return f"<{type(self).__module__}.{type(self).__qualname__}: {', '.join(parts) or 'no parameters'}>"


_zyx._Module.__repr__ = _module_repr


def _numbers(value):
    return [value] if isinstance(value, int) else list(value)


def Convolution(inputs, outputs, window, rng, *, stride=(), padding=(), dilation=(), groups=1, bias=True):
    """A convolution along as many dimensions as `window` has extents: [batch, channels, ...].

        >>> layer = zyx.nn.Convolution(3, 8, (3, 3), zyx.nn.InitRng(1), padding=1)
        >>> layer(zyx.zeros((2, 3, 5, 5))).shape
        (2, 8, 5, 5)
    """
    return _zyx._Convolution(inputs, outputs, _numbers(window), rng, _numbers(stride), _numbers(padding),
                             _numbers(dilation), groups, bias)


relu, sigmoid, silu, gelu = _zyx._relu, _zyx._sigmoid, _zyx._silu, _zyx._gelu
gelu_tanh, mish, selu, hard_sigmoid = _zyx._gelu_tanh, _zyx._mish, _zyx._selu, _zyx._hard_sigmoid


def softmax(x, axis=-1):
    """exp(x) over its sum along an axis.

        >>> zyx.nn.softmax(zyx.asarray([[0.0, 0.0]])).tolist()
        [[0.5, 0.5]]
    """
    return _zyx._softmax(x, axis)


def log_softmax(x, axis=-1):
    """The logarithm of softmax(), without overflow.

        >>> zyx.nn.log_softmax(zyx.asarray([[0.0, -1000.0]])).tolist()
        [[0.0, -1000.0]]
    """
    return _zyx._log_softmax(x, axis)


def leaky_relu(x, slope=0.01):
    """x, and slope x below 0.

        >>> zyx.nn.leaky_relu(zyx.asarray([-2.0, 2.0]), 0.5).tolist()
        [-1.0, 2.0]
    """
    return _zyx._leaky_relu(x, slope)


def elu(x, alpha=1.0):
    """x, and alpha (exp(x) - 1) below 0.

        >>> zyx.nn.elu(zyx.asarray([-1000.0, 2.0])).tolist()
        [-1.0, 2.0]
    """
    return _zyx._elu(x, alpha)


def softplus(x, beta=1.0):
    """log(1 + exp(beta x)) / beta, without overflow.

        >>> zyx.nn.softplus(zyx.asarray([1000.0])).tolist()
        [1000.0]
    """
    return _zyx._softplus(x, beta)


def cross_entropy(logits, targets, *, reduction="mean", ignore_index=-100):
    """log(sum(exp(logits))) - logits[target]: logits [rows, classes], integers [rows].

        >>> zyx.nn.cross_entropy(zyx.asarray([[1000.0, 0.0]]), zyx.asarray([0])).item()
        0.0
    """
    return _zyx._cross_entropy(logits, targets, reduction, ignore_index)


def soft_cross_entropy(logits, probabilities, *, reduction="mean"):
    """The sum of -probability log_softmax(logits): both [rows, classes].

        >>> zyx.nn.soft_cross_entropy(zyx.asarray([[1000.0, 0.0]]), zyx.asarray([[1.0, 0.0]])).item()
        0.0
    """
    return _zyx._soft_cross_entropy(logits, probabilities, reduction)


def mse_loss(x, target, *, reduction="mean"):
    """Squared differences, of one shape; their "mean", "sum" or, with "none", each of them.

        >>> zyx.nn.mse_loss(zyx.asarray([1.0, 3.0]), zyx.asarray([1.0, 1.0])).item()
        2.0
    """
    return _zyx._mse_loss(x, target, reduction)


def l1_loss(x, target, *, reduction="mean"):
    """Sizes of differences.

        >>> zyx.nn.l1_loss(zyx.asarray([1.0, 3.0]), zyx.asarray([1.0, 1.0]), reduction="none").tolist()
        [0.0, 2.0]
    """
    return _zyx._l1_loss(x, target, reduction)


def huber_loss(x, target, *, delta=1.0, reduction="mean"):
    """Half the squared difference up to delta, and a line of the same slope beyond.

        >>> zyx.nn.huber_loss(zyx.asarray([1.0, 3.0]), zyx.asarray([1.0, 1.0]), reduction="sum").item()
        1.5
    """
    return _zyx._huber_loss(x, target, delta, reduction)


def bce_with_logits(logits, target, *, reduction="mean"):
    """The binary cross-entropy of sigmoid(logits), without overflow.

        >>> zyx.nn.bce_with_logits(zyx.asarray([1000.0, -1000.0]), zyx.asarray([1.0, 0.0])).item()
        0.0
    """
    return _zyx._bce_with_logits(logits, target, reduction)


def kl_divergence(x, target, *, reduction="mean"):
    """target (log(target) - x), where x are logarithms of probabilities and targets are probabilities.

        >>> zyx.nn.kl_divergence(zyx.asarray([0.0]), zyx.asarray([1.0])).item()
        0.0
    """
    return _zyx._kl_divergence(x, target, reduction)


def one_hot(positions, classes, *, dtype=_zyx.float32):
    """1 at the position, of `classes`, in a new last axis.

        >>> zyx.nn.one_hot(zyx.asarray([2, 0]), 3).tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return _zyx._one_hot(positions, classes, dtype)


def max_pool(x, window, *, stride=(), padding=()):
    """The largest elements of windows along the last axes, as many as `window` has extents.

        >>> zyx.nn.max_pool(zyx.asarray([[1.0, 3.0, 2.0, 4.0]]), 2).tolist()
        [[3.0, 4.0]]
    """
    return _zyx._max_pool(x, _numbers(window), _numbers(stride), _numbers(padding))


def avg_pool(x, window, *, stride=(), padding=()):
    """Averages of windows along the last axes, as many as `window` has extents.

        >>> zyx.nn.avg_pool(zyx.asarray([[1.0, 3.0, 2.0, 4.0]]), 2).tolist()
        [[2.0, 3.0]]
    """
    return _zyx._avg_pool(x, _numbers(window), _numbers(stride), _numbers(padding))


def attention(queries, keys, values, *, mask=None, causal=False, scale=None):
    """softmax(queries keys^T scale + mask) values. With `causal` the last query sees all keys.

        >>> x = zyx.ones((1, 4, 8))
        >>> zyx.nn.attention(x, x, x, causal=True).shape
        (1, 4, 8)
    """
    return _zyx._attention(queries, keys, values, mask, causal, scale)


class KVCache(collections.namedtuple("KVCache", ["keys", "values"])):
    """Projected keys and values, [..., heads, rows, width] each. The first rows hold those so far, the others are room.

        >>> cache = zyx.nn.KVCache(zyx.zeros((2, 6, 4)), zyx.zeros((2, 6, 4)))
        >>> cache.keys.shape
        (2, 6, 4)
    """

    __slots__ = ()


def append(cache, more, start):
    """The cache with more rows from row `start` on, an array of an integer. Rows beyond the room are dropped.

    A jit to which the cache is donated writes the rows alone: all others stay where they are.

        >>> cache = zyx.nn.KVCache(zyx.zeros((1, 3, 1)), zyx.zeros((1, 3, 1)))
        >>> more = zyx.nn.KVCache(zyx.ones((1, 1, 1)), zyx.ones((1, 1, 1)))
        >>> zyx.nn.append(cache, more, zyx.asarray(1)).keys.tolist()
        [[[0.0], [1.0], [0.0]]]
    """
    def put(rows, new):
        positions = _positions(new.shape[-2], start)
        if new.shape[-2] != 1:
            return _zyx._scatter(rows, positions, new, rows.ndim - 2, "set")
        # A single row is chosen, not scattered: that is vector code.
        places = _zyx._reshape(_zyx._arange(0, rows.shape[-2], 1, _zyx.int64), (rows.shape[-2], 1))
        return _zyx._where(_zyx.equal(places, positions), new, rows)

    return KVCache(put(cache.keys, more.keys), put(cache.values, more.values))


def _positions(rows, start):
    positions = _zyx._arange(0, rows, 1, _zyx.int64)
    return positions if start is None else _zyx.add(positions, _zyx._cast(start, _zyx.int64))


def cached_attention(queries, cache, start, *, causal=True, mask=None, scale=None):
    """Attention to the filled rows of a cache. The rows of the queries are the last filled ones, and begin at `start`.

    A query sees the rows up to its own with `causal`, else all filled ones; a mask of bools hides more. The heads of
    queries may be a multiple of those of the cache: each is then read by as many neighbours.

        >>> cache = zyx.nn.KVCache(zyx.ones((1, 2, 6, 4)), zyx.ones((1, 2, 6, 4)))
        >>> zyx.nn.cached_attention(zyx.ones((1, 2, 1, 4)), cache, zyx.asarray(3)).shape
        (1, 2, 1, 4)
    """
    *batch, heads, rows, width = queries.shape
    kept, room = cache.keys.shape[-3:-1]
    if heads % kept != 0:
        raise _zyx.InvalidArgumentError(f"cached_attention: {heads} heads of queries do not share {kept} of keys")
    places = _zyx._arange(0, room, 1, _zyx.int64)
    last = _zyx._reshape(_positions(rows, start), (rows, 1))
    seen = _zyx.less_equal(places, last if causal else last[-1:])
    return _grouped(queries, cache.keys, cache.values, seen if mask is None else _zyx.bitwise_and(seen, mask), scale)


def _grouped(queries, keys, values, mask, scale):
    """Queries of several heads are rows of the one head of keys that they share, so that it is read once."""
    *batch, heads, rows, width = queries.shape
    kept = keys.shape[-3]
    share = heads // kept
    if share == 1:
        return attention(queries, keys, values, mask=mask, scale=scale)
    if mask is not None:
        if mask.ndim > 2 and mask.shape[-3] != 1:
            raise _zyx.InvalidArgumentError("attention: a mask for heads that share keys is one for all heads")
        extents = mask.shape[:-2] if mask.ndim > 2 else (1,)
        mask = _zyx._expand(_zyx._reshape(mask, (*extents, 1, *mask.shape[-2:])), (*extents, share, rows, mask.shape[-1]))
        mask = _zyx._reshape(mask, (*extents, share * rows, mask.shape[-1]))
    found = attention(_zyx._reshape(queries, (*batch, kept, share * rows, width)), keys, values, mask=mask, scale=scale)
    return _zyx._reshape(found, (*batch, heads, rows, values.shape[-1]))


def rotary(x, positions, *, base=10000.0, frequencies=None, factor=1.0, interleaved=False):
    """Rows [..., rows, width] turned by their positions, integers [rows], or [batch, rows] where x is [batch, heads, ...].

    Elements i and i + width / 2 are a pair, or 2 i and 2 i + 1 where they are interleaved. The angle is the position times
    frequency i, base^(-2 i / width) where no array of them is given. What is turned is multiplied by `factor`.

        >>> zyx.nn.rotary(zyx.asarray([[1.0, 2.0]]), zyx.asarray([0])).tolist()
        [[1.0, 2.0]]
    """
    width = x.shape[-1]
    if width % 2 != 0 or positions.shape[-1] != x.shape[-2]:
        raise _zyx.InvalidArgumentError(f"rotary: rows of the shape {x.shape} at positions of the shape {positions.shape} are "
                                        "not [..., rows, even width] and [..., rows]")
    half = width // 2
    if frequencies is None:
        frequencies = rotary_frequencies(width, base)
    wide = _zyx.float64 if x.dtype is _zyx.float64 else _zyx.float32
    at = _zyx._reshape(_zyx._cast(positions, wide), (*positions.shape[:-1], *(1,) * (positions.ndim - 1), x.shape[-2], 1))
    angles = _zyx.multiply(at, _zyx._cast(frequencies, wide))
    cosines, sines = _zyx._cos(angles), _zyx._sin(angles)
    if factor != 1:
        cosines, sines = _zyx.multiply(cosines, factor), _zyx.multiply(sines, factor)
    given, x = x.dtype, _zyx._cast(x, wide)
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    turned = [_zyx.subtract(_zyx.multiply(a, cosines), _zyx.multiply(b, sines)),
              _zyx.add(_zyx.multiply(b, cosines), _zyx.multiply(a, sines))]
    turned = _zyx._reshape(_zyx._stack(turned, -1), x.shape) if interleaved else _zyx._concat(turned, -1)
    return _zyx._cast(turned, given)


def rotary_frequencies(width, base=10000.0):
    """base^(-2 i / width) for each pair i, as float32.

        >>> zyx.nn.rotary_frequencies(4, 100.0).tolist() == zyx.asarray([1.0, 0.1]).tolist()
        True
    """
    return asarray([base**(-2 * i / width) for i in range(width // 2)], dtype=_zyx.float32)
