# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signals, n-grams, trees, and steps of training."""
import math

from .. import _functions as F
from .. import _zyx
from .._creation import asarray
from . import _types
from ._elementwise import cast, full, where, wide
from ._model import ModelError, Strings, Value, op

float32, int64 = _zyx.float32, _zyx.int64


# Signals: complex numbers are pairs in the last dimension.


def _waves(rows, columns, sign, dtype):
    """cos and sin of 2 pi i j / rows, which are exact where the angle is a multiple of a right one."""
    reals, imaginaries = [], []
    for i in range(columns[0]):
        for j in range(columns[1]):
            turn = (i * j) % rows / rows
            quarter = {0.0: (1.0, 0.0), 0.25: (0.0, 1.0), 0.5: (-1.0, 0.0), 0.75: (0.0, -1.0)}.get(turn)
            c, s = quarter or (math.cos(2 * math.pi * turn), math.sin(2 * math.pi * turn))
            reals.append(c)
            imaginaries.append(sign * s)

    def matrix(numbers):
        return _zyx._reshape(asarray(numbers, dtype=dtype), columns)

    return matrix(reals), matrix(imaginaries)


def transformed(x, axis, length, inverse, onesided):
    """The discrete Fourier transform along an axis of [..., 1 or 2], by a product."""
    dtype = x.dtype
    x = cast(x, float32) if dtype.itemsize < 4 else x
    x = F.moveaxis(x, axis, -2)
    real, imaginary = x[..., 0], x[..., 1] if x.shape[-1] == 2 else None
    if inverse and onesided:
        # The other half is its mirror.
        half = length // 2 + 1
        real, imaginary = _fitted(real, half), None if imaginary is None else _fitted(imaginary, half)
        mirror = slice(half - 2 if length % 2 == 0 else half - 1, 0, -1)
        real = F.concat([real, real[..., mirror]], axis=-1)
        if imaginary is not None:
            # Those of the first and, of even lengths, the middle frequency have no part in real signals.
            imaginary = F.concat([imaginary, -imaginary[..., mirror]], axis=-1)
            edges = asarray([0.0 if at == 0 or 2 * at == length else 1.0 for at in range(length)], dtype=real.dtype)
            imaginary = imaginary * edges
    real, imaginary = _fitted(real, length), None if imaginary is None else _fitted(imaginary, length)
    count = length // 2 + 1 if onesided and not inverse else length
    c, s = _waves(length, (length, count), 1.0 if inverse else -1.0, real.dtype)
    out_real, out_imaginary = _zyx.matmul(real, c), _zyx.matmul(real, s)
    if imaginary is not None:
        out_real = out_real - _zyx.matmul(imaginary, s)
        out_imaginary = out_imaginary + _zyx.matmul(imaginary, c)
    if inverse:
        out_real, out_imaginary = out_real / float(length), out_imaginary / float(length)
    y = _zyx._unsqueeze(out_real, out_real.ndim) if inverse and onesided else _zyx._stack([out_real, out_imaginary],
                                                                                         out_real.ndim)
    return cast(F.moveaxis(y, -2, axis), dtype)


def _fitted(x, length):
    """Cut, or with zeros behind."""
    if x.shape[-1] >= length:
        return x[..., :length]
    return _zyx._pad(x, [0] * x.ndim, [0] * (x.ndim - 1) + [length - x.shape[-1]], 0.0)


@op("DFT")
def discrete_fourier(n, x, length=None, axis=None):
    if n.version >= 20:
        axis = n.number(2, -2)
    else:
        axis = n.attr("axis", 1)
    axis %= x.ndim
    inverse, onesided = bool(n.attr("inverse", 0)), bool(n.attr("onesided", 0))
    default = 2 * (x.shape[axis] - 1) if inverse and onesided else x.shape[axis]
    return transformed(x, axis, int(n.number(1, default)), inverse, onesided)


@op("STFT")
def short_fourier(n, x, step, window=None, length=None):
    step, size = int(n.number(1)), int(n.number(3, 0)) or (window.shape[0] if window is not None else x.shape[1])
    count = 1 + (x.shape[1] - size) // step
    frames = _zyx._sliding_windows(F.moveaxis(x, -1, 1), [size], [step], [1])
    frames = F.moveaxis(frames, 1, -1)
    if window is not None:
        frames = frames * _zyx._reshape(window, (1, 1, size, 1))
    if frames.shape[1] != count:
        raise ModelError(f"{count} frames of a signal of {x.shape[1]}")
    return transformed(frames, 2, size, False, bool(n.attr("onesided", 1)))


def _window(name, numbers):
    def made(n, size):
        size = int(n.number(0))
        code = n.attr("output_datatype", _types.FLOAT)
        whole = size if n.attr("periodic", 1) else max(size - 1, 1)
        values = [sum(part * math.cos(2 * math.pi * i * at / whole) for i, part in enumerate(numbers)) for at in range(size)]
        n.set_code(code)
        return cast(asarray(values, dtype=_zyx.float64), _types.dtype_of(code))

    op(name)(made)


_window("HannWindow", (0.5, -0.5))
_window("HammingWindow", (25 / 46, -21 / 46))
_window("BlackmanWindow", (0.42, -0.5, 0.08))


@op("MelWeightMatrix")
def mel_weights(n, *_):
    bins, length, rate, low, high = (n.number(i) for i in range(5))
    code = n.attr("output_datatype", _types.FLOAT)
    count = length // 2 + 1
    low, high = (2595 * math.log10(1 + each / 700) for each in (low, high))
    step = (high - low) / (bins + 2)
    places = [int((length + 1) * 700 * (10**((low + step * i) / 2595) - 1) // rate) for i in range(bins + 2)]
    rows = [[0.0] * bins for _ in range(count)]
    for i in range(bins):
        first, middle, last = places[i:i + 3]
        if first == middle:
            rows[middle][i] = 1.0
        else:
            for j in range(first, middle + 1):
                rows[j][i] = (j - first) / (middle - first)
        for j in range(middle, last):
            rows[j][i] = (last - j) / (last - middle)
    n.set_code(code)
    return cast(asarray(rows, dtype=_zyx.float64), _types.dtype_of(code))


@op("TfIdfVectorizer")
def tf_idf(n, x):
    pool = n.attr("pool_int64s")
    if pool is None:
        n.refuse("n-grams of strings, which zyx has not")
    begins, columns, weights = n.need("ngram_counts"), n.need("ngram_indexes"), n.attr("weights")
    low, high, skips = n.need("min_gram_length"), n.need("max_gram_length"), n.need("max_skip_count")
    mode, size = n.need("mode"), max(columns) + 1
    rows = x if x.ndim == 2 else _zyx._reshape(x, (1, x.size))
    rows, length = cast(rows, int64), rows.shape[1]
    totals, number = [None] * size, 0
    for at, begin in enumerate(begins):
        gram, end = at + 1, begins[at + 1] if at + 1 < len(begins) else len(pool)
        for place in range(begin, end, gram):
            words, column = pool[place:place + gram], columns[number]
            number += 1
            if not low <= gram <= high:
                continue
            hits = None
            # Words of one n-gram stand so far from each other; single words do not.
            for distance in range(1, (1 if gram == 1 else skips + 1) + 1):
                spots = length - distance * (gram - 1)
                if spots <= 0:
                    continue
                found = None
                for i, word in enumerate(words):
                    here = rows[:, distance * i:distance * i + spots] == word
                    found = here if found is None else found & here
                count = F.sum(cast(found, float32), axis=1)
                hits = count if hits is None else hits + count
            if hits is not None:
                totals[column] = hits if totals[column] is None else totals[column] + hits
    zero = full((rows.shape[0],), 0, float32)
    y = _zyx._stack([zero if total is None else total for total in totals], 1)
    if mode in ("IDF", "TFIDF"):
        own = [1.0] * size
        if weights is not None:
            for column, weight in zip(columns, weights):
                own[column] = weight
        y = (cast(y > 0, float32) if mode == "IDF" else y) * asarray(own, dtype=float32)
    return y if x.ndim == 2 else _zyx._reshape(y, (size,))


# ai.onnx.ml


@op("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(n, x, places):
    y = _zyx._take(x, _zyx._reshape(cast(places, int64), (places.size,)), x.ndim - 1)
    return _zyx._reshape(y, (1, places.size)) if x.ndim == 1 else y


@op("Binarizer", domain="ai.onnx.ml")
def binarizer(n, x):
    return cast(x > n.attr("threshold", 0.0), x.dtype)


@op("LabelEncoder", domain="ai.onnx.ml", takes_values=True)
def label_encoder(n, x):
    def table(what):
        for name, dtype in ((f"{what}_int64s", int64), (f"{what}_floats", float32), (f"{what}_strings", None)):
            found = n.attr(name)
            if found is not None:
                return found, dtype
        value = n.trace.model.tensor(n.need(f"{what}_tensor"))
        return (value.texts, None) if isinstance(value, Strings) else (value.known.tolist(), value.known.dtype)

    keys, key_dtype = table("keys")
    values, dtype = table("values")
    tensor = n.attr("default_tensor")
    if tensor is not None:
        default = n.trace.model.tensor(tensor)
        default = default.texts[0] if isinstance(default, Strings) else _zyx._reshape(default.known, ()).item()
    elif dtype is None:
        default = n.attr("default_string", "_Unused")
    else:
        default = n.attr("default_int64", -1) if dtype is int64 else n.attr("default_float", 0.0)
    if isinstance(x, Strings):
        found = dict(reversed(list(zip(keys, values))))
        results, shape = [found.get(text, default) for text in x.texts], x.shape
        if dtype is None:
            return Strings(results, shape)
        return Value(_zyx._reshape(asarray(results, dtype=dtype), shape), _types.TYPES[dtype])
    if key_dtype is None:
        raise ModelError("keys are strings, and the input is an array")
    if dtype is None:
        n.refuse("numbers that become strings")
    array = x.array
    y = full(array.shape, default, dtype)
    for key, value in reversed(list(zip(keys, values))):
        y = where(array != array if key != key else array == key, full((), value, dtype), y)
    return Value(y, _types.TYPES[dtype], x.inputs)


@op("TreeEnsemble", domain="ai.onnx.ml")
def tree_ensemble(n, x):
    def numbers(name):
        value = n.trace.model.tensor(n.need(name))
        return value.known.tolist()

    if n.attr("post_transform", 0) != 0:
        n.refuse(f"post_transform {n.attr('post_transform')}")
    roots, features, modes, splits = n.need("tree_roots"), n.need("nodes_featureids"), numbers("nodes_modes"), numbers(
        "nodes_splits")
    sides = {True: (n.need("nodes_truenodeids"), n.need("nodes_trueleafs")),
             False: (n.need("nodes_falsenodeids"), n.need("nodes_falseleafs"))}
    targets, weights, count = n.need("leaf_targetids"), numbers("leaf_weights"), n.need("n_targets")
    missing = n.attr("nodes_missing_value_tracks_true") or [0] * len(modes)
    members, sets = (numbers("membership_values") if n.attr("membership_values") is not None else []), {}
    rest = iter(members)
    for node, mode in enumerate(modes):
        if mode == 6:
            sets[node] = []
            for member in rest:
                if member != member:
                    break
                sets[node].append(member)
    batch = x.shape[0]
    parts = {target: [] for target in range(count)}

    def test(node):
        column, split, mode = x[:, features[node]], splits[node], modes[node]
        if mode == 6:
            result = full((batch,), 0, _zyx.bool)
            for member in sets[node]:
                result = result | (column == member)
        else:
            result = {0: lambda: column <= split, 1: lambda: column < split, 2: lambda: column >= split,
                      3: lambda: column > split, 4: lambda: column == split, 5: lambda: column != split}[mode]()
        return result | (column != column) if missing[node] else result

    def visit(node, path, depth):
        if depth > len(modes):
            raise ModelError("a tree that is none: a node lies below itself")
        holds = test(node)
        for side, (nodes, leaves) in sides.items():
            here = holds if side else F.logical_not(holds)
            here = here if path is None else path & here
            if leaves[node]:
                leaf = nodes[node]
                parts[targets[leaf]].append(where(here, full((), weights[leaf], x.dtype), full((), 0, x.dtype))
                                            if aggregate in (0, 1) else (here, weights[leaf]))
            else:
                visit(nodes[node], here, depth + 1)

    aggregate = n.attr("aggregate_function", 1)
    if aggregate not in (0, 1):
        n.refuse(f"aggregate_function {aggregate}")
    for root in roots:
        visit(root, None, 0)
    columns = []
    for target in range(count):
        total = full((batch,), 0, x.dtype)
        for part in parts[target]:
            total = total + part
        columns.append(total / float(len(roots)) if aggregate == 0 else total)
    return _zyx._stack(columns, 1)


# Steps of training


def _training_step(name, states):
    """Registers a rule of one tensor, as an op of several."""

    def register(rule):
        def made(n, rate, step, *values):
            count = len(values) // (2 + states)
            groups = [values[i * count:(i + 1) * count] for i in range(2 + states)]
            results = [rule(n, rate, step, *each) for each in zip(*groups)]
            return [each for column in zip(*results) for each in column]

        op(name, domain="ai.onnx.preview.training")(made)

    return register


@_training_step("Adagrad", 1)
def adagrad(n, rate, step, x, gradient, squares):
    rate = rate / (cast(step, rate.dtype) * n.attr("decay_factor", 0.0) + 1.0)
    gradient = gradient + x * n.attr("norm_coefficient", 0.0)
    squares = squares + gradient * gradient
    return x - rate * gradient / (F.sqrt(squares) + n.attr("epsilon", 0.0)), squares


@_training_step("Momentum", 1)
def momentum(n, rate, step, x, gradient, velocity):
    gradient = gradient + x * n.attr("norm_coefficient", 0.0)
    alpha, beta = n.need("alpha"), n.need("beta")
    beta = where(step > 0, full((), beta, x.dtype), full((), 1.0, x.dtype))
    velocity = velocity * alpha + gradient * beta
    change = gradient + velocity * alpha if n.need("mode") == "nesterov" else velocity
    return x - rate * change, velocity


@_training_step("Adam", 2)
def adam(n, rate, step, x, gradient, first, second):
    alpha, beta = n.attr("alpha", 0.9), n.attr("beta", 0.999)
    gradient = gradient + x * n.attr("norm_coefficient", 0.0)
    first = first * alpha + gradient * (1 - alpha)
    second = second * beta + gradient * gradient * (1 - beta)
    count = cast(step, x.dtype)

    def decayed(base):
        return _zyx.pow(full((), base, x.dtype), count) * -1.0 + 1.0

    own = where(step > 0, rate * F.sqrt(decayed(beta)) / where(step > 0, decayed(alpha), 1.0), rate)
    y = x - own * first / (F.sqrt(second) + n.attr("epsilon", 0.0))
    return y * (1 - n.attr("norm_coefficient_post", 0.0)), first, second
