# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, pooling, normalization, attention and losses."""
import math

from .. import _functions as F
from .. import _zyx
from . import _types
from ._elementwise import cast, full, product, spread, where, wide, widely
from ._model import ModelError, op
from ._movement import iota, padded

float32, int64 = _zyx.float32, _zyx.int64


# Windows


def windows(n, extents, kernel, has_ceil=False):
    """Strides, dilations, and elements to add before and behind each dimension."""
    rank = len(kernel)
    strides, dilations = n.attr("strides") or [1] * rank, n.attr("dilations") or [1] * rank
    pads, auto = n.attr("pads") or [0] * 2 * rank, n.attr("auto_pad", "NOTSET")
    low, high = list(pads[:rank]), list(pads[rank:])
    reach = [dilation * (size - 1) + 1 for dilation, size in zip(dilations, kernel)]
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for i in range(rank):
            count = -(-extents[i] // strides[i])
            total = max((count - 1) * strides[i] + reach[i] - extents[i], 0)
            low[i] = total // 2 if auto == "SAME_UPPER" else total - total // 2
            high[i] = total - low[i]
    elif auto == "VALID":
        low, high = [0] * rank, [0] * rank
    elif auto != "NOTSET":
        n.refuse(f"auto_pad '{auto}'")
    extra = [0] * rank
    if has_ceil and n.attr("ceil_mode", 0):
        for i in range(rank):
            total = extents[i] + low[i] + high[i]
            count = -(-(total - reach[i]) // strides[i]) + 1
            # The last window begins in the array, or in what stands before it.
            if (count - 1) * strides[i] >= extents[i] + low[i]:
                count -= 1
            extra[i] = max((count - 1) * strides[i] + reach[i] - total, 0)
    return strides, dilations, low, high, extra


def convolved(n, x, filters, bias, kernel):
    rank = len(kernel)
    strides, dilations, low, high, _ = windows(n, x.shape[2:], kernel)
    if low != high:
        x, low = padded(x, [0, 0] + low, [0, 0] + high, 0), [0] * rank
    return _zyx._convolution(x, filters, bias, strides, low, dilations, n.attr("group", 1))


@op("Conv")
def convolution(n, x, filters, bias=None):
    kernel = list(filters.shape[2:])
    if n.attr("kernel_shape") not in (None, kernel):
        raise ModelError(f"kernel_shape is {n.attr('kernel_shape')}, and the filters have {kernel}")
    return convolved(n, x, filters, bias, kernel)


@op("ConvTranspose")
def transposed_convolution(n, x, filters, bias=None):
    rank, kernel, groups = x.ndim - 2, list(filters.shape[2:]), n.attr("group", 1)
    strides, dilations = n.attr("strides") or [1] * rank, n.attr("dilations") or [1] * rank
    more, wanted = n.attr("output_padding") or [0] * rank, n.attr("output_shape")
    pads, auto = n.attr("pads") or [0] * 2 * rank, n.attr("auto_pad", "NOTSET")
    low, high = list(pads[:rank]), list(pads[rank:])
    full_extents = [strides[i] * (x.shape[2 + i] - 1) + dilations[i] * (kernel[i] - 1) + 1 for i in range(rank)]
    if wanted is not None or auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = list(wanted)[-rank:] if wanted is not None else [x.shape[2 + i] * strides[i] for i in range(rank)]
        for i in range(rank):
            total = full_extents[i] + more[i] - wanted[i]
            low[i] = total // 2 if auto == "SAME_UPPER" else total - total // 2
            high[i] = total - low[i]
    elif auto == "VALID":
        low, high = [0] * rank, [0] * rank
    y = _zyx._transposed_convolution(x, filters, strides, dilations, groups)
    y = padded(y, [0, 0] + [-each for each in low], [0, 0] + [each - end for each, end in zip(more, high)], 0)
    y = cast(y, x.dtype)
    return y if bias is None else y + spread(bias, y.ndim)


def _pooled(n, x, kernel, fill, reduce):
    """Windows of an array with `fill` around it, reduced over their elements."""
    rank = len(kernel)
    strides, dilations, low, high, extra = windows(n, x.shape[2:], kernel, True)
    x = padded(x, [0, 0] + low, [0, 0] + [a + b for a, b in zip(high, extra)], fill)
    found = _zyx._sliding_windows(x, kernel, strides, dilations)
    return reduce(found, tuple(range(found.ndim - rank, found.ndim)))


@op("MaxPool")
def max_pool(n, x):
    kernel = n.need("kernel_shape")
    from .._dtypes import iinfo
    dtype = x.dtype
    least = -math.inf if dtype.is_float else iinfo(dtype).min
    values = _pooled(n, x, kernel, least, lambda found, axes: _zyx._max(found, axes, False))
    if not n.wants(1):
        return values
    # Positions among the elements of all channels: the first largest one of each window.
    extents = x.shape[2:]
    size = math.prod(extents)
    if n.attr("storage_order", 0):
        own = _zyx._permute(_zyx._reshape(_zyx._arange(0, size, 1, int64), tuple(extents[::-1])),
                            list(range(len(extents)))[::-1])
    else:
        own = _zyx._reshape(_zyx._arange(0, size, 1, int64), extents)
    outer = _zyx._reshape(_zyx._arange(0, x.shape[0] * x.shape[1], 1, int64), x.shape[:2] + (1,) * len(extents))
    places = F.broadcast_to(outer * size + own, x.shape)

    def first(found, axes):
        count = math.prod(found.shape[axis] for axis in axes)
        flat = _zyx._reshape(found, found.shape[:axes[0]] + (count,))
        return flat

    flat = _pooled(n, x, kernel, least, first)
    flat_places = _pooled(n, places, kernel, -1, first)
    # What stands around is none, even where all elements are the least number.
    best = _zyx._argmax(where(flat_places < 0, full((), least, dtype), flat), flat.ndim - 1, True)
    return values, _zyx._reshape(_zyx._take_along_axis(flat_places, best, flat.ndim - 1), values.shape)


def _average(n, x, kernel, reduce, counts_all):
    """Sums of windows, and how many elements are in each."""
    total = _pooled(n, x, kernel, 0, reduce)
    if counts_all:
        # Elements behind the padding, which only a rounded-up extent has, never count.
        rank = len(kernel)
        strides, dilations, low, high, extra = windows(n, x.shape[2:], kernel, True)
        ones = full((1, 1) + tuple(extent + a + b for extent, a, b in zip(x.shape[2:], low, high)), 1, x.dtype)
        ones = padded(ones, [0] * (rank + 2), [0, 0] + extra, 0)
        found = _zyx._sliding_windows(ones, kernel, strides, dilations)
        count = _zyx._sum(found, tuple(range(found.ndim - rank, found.ndim)), False)
    else:
        count = _pooled(n, full((1, 1) + x.shape[2:], 1, x.dtype), kernel, 0, reduce)
    return total, count


@op("AveragePool")
@widely
def average_pool(n, x):
    total, count = _average(n, x, n.need("kernel_shape"), lambda found, axes: _zyx._sum(found, axes, False),
                            n.attr("count_include_pad", 0))
    return total / count


@op("LpPool")
@widely
def lp_pool(n, x):
    p = n.attr("p", 2)
    total = _pooled(n, _zyx.pow(F.abs(x), float(p)), n.need("kernel_shape"), 0,
                    lambda found, axes: _zyx._sum(found, axes, False))
    return _zyx.pow(total, 1.0 / p)


def _global(name, reduce):
    def made(n, x):
        return cast(reduce(n, wide(x), tuple(range(2, x.ndim))), x.dtype)

    op(name)(made)


_global("GlobalAveragePool", lambda n, x, axes: _zyx._mean(x, axes, True))
_global("GlobalMaxPool", lambda n, x, axes: _zyx._max(x, axes, True))
_global("GlobalLpPool", lambda n, x, axes: _zyx.pow(
    _zyx._sum(_zyx.pow(F.abs(x), float(n.attr("p", 2))), axes, True), 1.0 / n.attr("p", 2)))


@op("MaxUnpool")
def max_unpool(n, x, indices, shape=None):
    kernel = n.need("kernel_shape")
    rank = len(kernel)
    strides, pads = n.attr("strides") or [1] * rank, n.attr("pads") or [0] * 2 * rank
    inner = [(x.shape[2 + i] - 1) * strides[i] - pads[i] - pads[rank + i] + kernel[i] for i in range(rank)]
    inferred = x.shape[:2] + tuple(inner)
    size = math.prod(inferred)
    y = _zyx._scatter(full((size,), 0, x.dtype), _zyx._reshape(indices, (indices.size,)), _zyx._reshape(x, (x.size,)), 0,
                      "set")
    y = _zyx._reshape(y, inferred)
    if shape is None:
        return y
    target = n.ints(2)
    return padded(y, [0] * y.ndim, [a - b for a, b in zip(target, inferred)], 0)


@op("Col2Im")
def col_to_image(n, x, image, block):
    image, block = n.ints(1), n.ints(2)
    rank = len(image)
    strides, dilations = n.attr("strides") or [1] * rank, n.attr("dilations") or [1] * rank
    pads = n.attr("pads") or [0] * 2 * rank
    batch, channels = x.shape[0], x.shape[1] // math.prod(block)
    counts = [(image[i] + pads[i] + pads[rank + i] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
              for i in range(rank)]
    x = _zyx._reshape(x, (batch * channels, *block, *counts))
    # The place of each element in the image, and -1 of those beside it.
    shape, flat, fits = tuple(block) + tuple(counts), None, None
    for i in range(rank):
        here = iota(shape, i) * dilations[i] + iota(shape, rank + i) * strides[i] - pads[i]
        inside = (here >= 0) & (here < image[i])
        flat = here if flat is None else flat * image[i] + here
        fits = inside if fits is None else fits & inside
    size = math.prod(shape)
    places = _zyx._reshape(F.broadcast_to(where(fits, flat, -1), shape), (size,))
    y = _zyx._scatter(full((math.prod(image), batch * channels), 0, x.dtype), places,
                      _zyx._reshape(x, (batch * channels, size)).mT, 0, "add")
    return _zyx._reshape(y.mT, (batch, channels, *image))


@op("CausalConvWithState")
def causal_convolution(n, x, weight, bias=None, past=None):
    size = weight.shape[2] - 1
    past = full(x.shape[:2] + (size,), 0, x.dtype) if past is None else past
    whole = F.concat([past, x], axis=2) if size else x
    y = wide(_zyx._convolution(wide(whole), wide(weight), None if bias is None else wide(bias), [1], [0], [1], x.shape[1]))
    activation = n.attr("activation", "none")
    if activation in ("silu", "swish"):
        y = _zyx._silu(y)
    elif activation != "none":
        n.refuse(f"the activation '{activation}'")
    return cast(y, x.dtype), whole[:, :, whole.shape[2] - size:]


# Normalization


@op("BatchNormalization")
def batch_norm(n, x, scale, bias, mean, variance):
    epsilon, training = n.attr("epsilon", 1e-5), n.attr("training_mode", 0) if n.version >= 14 else 0
    if n.version < 7 and not n.attr("is_test", 0):
        n.refuse("training of an opset before 7")
    if n.version < 9 and n.attr("spatial", 1) == 0:
        n.refuse("moments of each position (spatial=0)")
    y, rank = wide(x), max(x.ndim, 1)
    running = None
    if training:
        axes = tuple(axis for axis in range(x.ndim) if axis != 1)
        own_mean, own_variance = _zyx._mean(y, axes, False), _zyx._var(y, axes, False, 0.0)
        momentum = n.attr("momentum", 0.9)
        running = [cast(wide(mean) * momentum + own_mean * (1 - momentum), mean.dtype),
                   cast(wide(variance) * momentum + own_variance * (1 - momentum), variance.dtype)]
        mean, variance = own_mean, own_variance
    scale, bias, mean, variance = (spread(cast(each, y.dtype), rank) for each in (scale, bias, mean, variance))
    y = cast((y - mean) * (scale / F.sqrt(variance + epsilon)) + bias, x.dtype)
    return (y, *running) if running else y


def _standard(x, axes, epsilon):
    mean = _zyx._mean(x, axes, True)
    centred = x - mean
    variance = _zyx._mean(centred * centred, axes, True)
    return centred / F.sqrt(variance + epsilon), mean, variance


@op("InstanceNormalization")
@widely
def instance_norm(n, x, scale, bias):
    y, _, _ = _standard(x, tuple(range(2, x.ndim)), n.attr("epsilon", 1e-5))
    return y * spread(scale, x.ndim) + spread(bias, x.ndim)


@op("GroupNormalization")
@widely
def group_norm(n, x, scale, bias):
    groups, channels = n.need("num_groups"), x.shape[1]
    y = _zyx._reshape(x, (x.shape[0], groups, x.size // max(x.shape[0] * groups, 1)))
    y, _, _ = _standard(y, (2,), n.attr("epsilon", 1e-5))
    y = _zyx._reshape(y, x.shape)
    if n.version < 21:
        # A number for each group.
        scale, bias = (_zyx._repeat_interleave(each, channels // groups, 0) for each in (scale, bias))
    return y * spread(scale, x.ndim) + spread(bias, x.ndim)


@op("LayerNormalization")
def layer_norm(n, x, scale, bias=None):
    axes = tuple(range(n.attr("axis", -1) % max(x.ndim, 1), x.ndim))
    stash = _types.dtype_of(n.attr("stash_type", _types.FLOAT))
    y, mean, variance = _standard(cast(x, stash), axes, n.attr("epsilon", 1e-5))
    y = cast(y, x.dtype) * scale
    y = y if bias is None else y + bias
    return y, mean, 1.0 / F.sqrt(variance + n.attr("epsilon", 1e-5))


@op("RMSNormalization")
def rms_norm(n, x, scale):
    axes = tuple(range(n.attr("axis", -1) % max(x.ndim, 1), x.ndim))
    y = cast(x, _types.dtype_of(n.attr("stash_type", _types.FLOAT)))
    y = y / F.sqrt(_zyx._mean(y * y, axes, True) + n.attr("epsilon", 1e-5))
    return cast(cast(y, x.dtype) * cast(scale, x.dtype), scale.dtype)


@op("LpNormalization")
@widely
def lp_norm(n, x):
    axis, p = n.attr("axis", -1) % x.ndim, n.attr("p", 2)
    size = _zyx._sum(F.abs(x), (axis,), True) if p == 1 else F.sqrt(_zyx._sum(x * x, (axis,), True))
    # What has no length stays.
    return where(size == 0, 0.0, x / where(size == 0, 1.0, size)) if x.dtype.is_float else x


@op("MeanVarianceNormalization")
@widely
def mean_variance_norm(n, x):
    axes = tuple(n.attr("axes", [0, 2, 3]))
    mean = _zyx._mean(x, axes, True)
    deviation = F.sqrt(_zyx._mean(x * x, axes, True) - mean * mean)
    return (x - mean) / (deviation + 1e-9)


@op("LRN")
@widely
def local_response_norm(n, x):
    size = n.need("size")
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = F.moveaxis(x * x, 1, -1)
    squares = padded(squares, [0] * (x.ndim - 1) + [low], [0] * (x.ndim - 1) + [high], 0)
    total = _zyx._sum(_zyx._sliding_windows(squares, [size], [1], [1]), (x.ndim,), False)
    total = F.moveaxis(total, -1, 1)
    return x / _zyx.pow(total * (n.attr("alpha", 1e-4) / size) + n.attr("bias", 1.0), n.attr("beta", 0.75))


@op("Dropout", takes_values=True)
def dropout(n, x, ratio=None, training=None):
    from ._model import Value
    is_training = False
    if n.version < 7:
        is_training = not n.attr("is_test", 0)
    elif n.version >= 12 and n.has(2):
        is_training = bool(n.number(2)) and (n.number(1, 0.5) != 0)
    if is_training:
        n.refuse("training draws random numbers, which ONNX does not define")
    return x, Value(full(x.shape, 1, _zyx.bool), _types.BOOL, x.inputs)


# Attention


def heads_of(x, heads):
    """[batch, positions, heads * width] as [batch, heads, positions, width]."""
    batch, length, width = x.shape
    return _zyx._permute(_zyx._reshape(x, (batch, length, heads, width // heads)), (0, 2, 1, 3))


@op("Attention")
def attention(n, q, k, v, mask=None, past_key=None, past_value=None, lengths=None):
    is_flat, dtype = q.ndim == 3, q.dtype
    if is_flat:
        q, k, v = (heads_of(each, n.need(name)) for each, name in ((q, "q_num_heads"), (k, "kv_num_heads"),
                                                                  (v, "kv_num_heads")))
    if past_key is not None:
        k, v = F.concat([past_key, k], axis=2), F.concat([past_value, v], axis=2)
    present_key, present_value = k, v
    rows, columns = q.shape[2], k.shape[2]
    repeats = q.shape[1] // max(k.shape[1], 1)
    if repeats > 1:
        k, v = _zyx._repeat_interleave(k, repeats, 1), _zyx._repeat_interleave(v, repeats, 1)
    # Which keys a query sees, and what is added to their scores.
    sees, bias = None, None

    def both(a, b):
        return b if a is None else a & b

    if mask is not None:
        short = columns - mask.shape[-1]
        if mask.dtype is _zyx.bool:
            sees = padded(mask, [0] * mask.ndim, [0] * (mask.ndim - 1) + [short], False)
        else:
            bias = _zyx._pad(mask, [0] * mask.ndim, [0] * (mask.ndim - 1) + [short], -math.inf) if short else mask
    row, column = iota((rows, columns), 0), iota((rows, columns), 1)
    if past_key is not None:
        offset = past_key.shape[2]
    elif lengths is not None:
        offset = _zyx._reshape(cast(lengths, int64), (-1, 1, 1, 1)) - rows
    else:
        offset = 0
    left, right = n.attr("left_window_size", -1), n.attr("right_window_size", -1)
    if n.attr("is_causal", 0):
        sees = both(sees, column <= row + offset)
    if left >= 0:
        sees = both(sees, column >= row + offset - left)
    if right >= 0:
        sees = both(sees, column <= row + offset + right)
    if lengths is not None:
        sees = both(sees, column < _zyx._reshape(cast(lengths, int64), (-1, 1, 1, 1)))
    scale = n.attr("scale")
    scale = math.sqrt(1 / math.sqrt(q.shape[3]) if scale is None else scale)
    # Scores and what follows are computed in float32 at least.
    scores = _zyx.matmul(wide(q) * scale, (wide(k) * scale).mT)
    shown, mode, cap = scores, n.attr("qk_matmul_output_mode", 0), n.attr("softcap", 0.0)
    if cap:
        scores = F.tanh(scores / cap) * cap
        shown = scores if mode == 1 else shown
    scores = scores if bias is None else scores + wide(bias)
    if sees is not None:
        scores = where(F.broadcast_to(sees, scores.shape) if sees.shape != scores.shape else sees, scores, -math.inf)
    if mode == 2:
        shown = scores
    # A query that sees nothing becomes zeros.
    best = _zyx._max(scores, (3,), True)
    nothing = best == -math.inf
    weights = F.exp(scores - where(nothing, 0.0, best))
    total = _zyx._sum(weights, (3,), True)
    weights = where(nothing, 0.0, weights / where(nothing, 1.0, total))
    if mode == 3:
        shown = weights
    y = cast(_zyx.matmul(cast(cast(weights, dtype), scores.dtype), wide(v)), dtype)
    if is_flat:
        batch, heads, length, width = y.shape
        y = _zyx._reshape(_zyx._permute(y, (0, 2, 1, 3)), (batch, length, heads * width))
    return y, present_key, present_value, cast(shown, dtype)


@op("FlexAttention", domain="ai.onnx.preview", takes_values=True)
def flex_attention(n, q, k, v):
    from ._model import Value
    inputs = q.inputs | k.inputs | v.inputs
    code, dtype = q.code, q.dtype
    q, k, v = q.array, k.array, v.array
    precision = n.attr("softmax_precision")
    stage = _types.dtype_of(precision) if precision else _zyx.float64 if dtype is _zyx.float64 else float32
    repeats = q.shape[1] // k.shape[1]
    if repeats > 1:
        k, v = _zyx._repeat_interleave(k, repeats, 1), _zyx._repeat_interleave(v, repeats, 1)
    scale = n.attr("scale") or 1 / math.sqrt(q.shape[3])

    def modified(name, x):
        graph = n.attr(name)
        return x if graph is None else n.run(graph, [Value(x, _types.TYPES[x.dtype], inputs)])[0].array

    scores = modified("score_mod", cast(_zyx.matmul(wide(q), wide(k).mT) * scale, stage))
    weights = modified("prob_mod", cast(_zyx._softmax(wide(scores), 3), stage))
    return Value(cast(_zyx.matmul(wide(cast(weights, dtype)), wide(v)), dtype), code, inputs)


@op("RotaryEmbedding")
@widely
def rotary_embedding(n, x, cosines, sines, positions=None):
    is_flat, shape = x.ndim == 3, x.shape
    if is_flat:
        x = _zyx._reshape(x, (shape[0], shape[1], n.need("num_heads"), shape[2] // n.need("num_heads")))
    else:
        x = _zyx._permute(x, (0, 2, 1, 3))
    width = n.attr("rotary_embedding_dim", 0) or x.shape[3]
    rotated, rest = x[..., :width], x[..., width:]
    if positions is not None:
        cosines, sines = F.take(cosines, positions, axis=0), F.take(sines, positions, axis=0)
    cosines, sines = _zyx._unsqueeze(cosines, 2), _zyx._unsqueeze(sines, 2)
    if n.attr("interleaved", 0):
        a, b = rotated[..., 0::2], rotated[..., 1::2]
    else:
        a, b = rotated[..., :width // 2], rotated[..., width // 2:]
    real, imaginary = cosines * a - sines * b, sines * a + cosines * b
    if n.attr("interleaved", 0):
        rotated = _zyx._reshape(_zyx._stack([real, imaginary], 4), rotated.shape)
    else:
        rotated = F.concat([real, imaginary], axis=3)
    y = F.concat([rotated, rest], axis=3) if rest.shape[3] else rotated
    return _zyx._reshape(y, shape) if is_flat else _zyx._permute(y, (0, 2, 1, 3))


@op("LinearAttention")
def linear_attention(n, q, k, v, past=None, decay=None, beta=None):
    rule, q_heads, kv_heads = n.attr("update_rule", "gated_delta"), n.need("q_num_heads"), n.need("kv_num_heads")
    dtype, steps, batch = q.dtype, q.shape[1], q.shape[0]
    q, k, v = heads_of(wide(q), q_heads), heads_of(wide(k), kv_heads), heads_of(wide(v), kv_heads)
    scale = n.attr("scale", 0.0) or 1 / math.sqrt(q.shape[3])
    key_width, value_width = k.shape[3], v.shape[3]
    state = full((batch, kv_heads, key_width, value_width), 0, q.dtype) if past is None else wide(past)
    if rule in ("gated", "gated_delta"):
        if decay is None:
            raise ModelError(f"the rule '{rule}' needs decay")
        decay = heads_of(F.exp(wide(decay)), kv_heads)
    if rule in ("delta", "gated_delta"):
        if beta is None:
            raise ModelError(f"the rule '{rule}' needs beta")
        beta = wide(beta)
        beta = heads_of(F.broadcast_to(beta, (batch, steps, kv_heads)) if beta.shape[2] == 1 else beta, kv_heads)

    def step(at, carried):
        state = carried

        def now(x):
            return _zyx._take(x, _zyx._reshape(at, (1,)), 2)

        key, value = now(k), now(v)
        if rule in ("gated", "gated_delta"):
            state = state * now(decay).mT
        if rule in ("delta", "gated_delta"):
            value = (value - _zyx.matmul(key, state)) * now(beta)
        state = state + _zyx.matmul(key.mT, value)
        seen = _zyx._repeat_interleave(state, q_heads // kv_heads, 1) if q_heads != kv_heads else state
        return state, _zyx.matmul(now(q) * scale, seen)

    state, outputs = scan(steps, state, step, (batch, q_heads, steps, value_width), 2)
    y = _zyx._reshape(_zyx._permute(outputs, (0, 2, 1, 3)), (batch, steps, q_heads * value_width))
    return cast(y, dtype), cast(state, dtype if past is None else past.dtype)


# Loops of more trips than this are loops of the program; others are written out.
MOST_WRITTEN = 8


def scan(steps, state, body, shape, axis):
    """The state after all steps, and what they return, of extent 1 along an axis, put together. The body has the number
    of its step as an array; the state is an array or a tuple of them."""
    if steps <= MOST_WRITTEN:
        parts = []
        for at in range(steps):
            state, made = body(full((), at, int64), state)
            parts.append(made)
        one = state[0] if isinstance(state, tuple) else state
        return state, F.concat(parts, axis=axis) if parts else full(shape, 0, one.dtype)
    from .._transforms import loop
    one = state[0] if isinstance(state, tuple) else state
    states = state if isinstance(state, tuple) else (state,)

    def trip(at, carried):
        *own, collected = carried
        new, made = body(at, tuple(own) if isinstance(state, tuple) else own[0])
        collected = _zyx._scatter(collected, _zyx._reshape(at, (1,)), made, axis, "set")
        return (*(new if isinstance(new, tuple) else (new,)), collected)

    *last, collected = loop(steps, (*states, full(shape, 0, one.dtype)), trip)
    return tuple(last) if isinstance(state, tuple) else last[0], collected


# Recurrent networks


def _activation(name, alpha, beta):
    functions = {
        "Relu": lambda x: _zyx.maximum(x, 0), "Tanh": F.tanh, "Sigmoid": _zyx._sigmoid,
        "Affine": lambda x: x * alpha + beta, "LeakyRelu": lambda x: where(x < 0, x * alpha, x),
        "ThresholdedRelu": lambda x: where(x >= alpha, x, 0.0), "ScaledTanh": lambda x: F.tanh(x * beta) * alpha,
        "HardSigmoid": lambda x: F.clip(x * alpha + beta, 0.0, 1.0), "Elu": lambda x: where(x < 0, F.expm1(x) * alpha, x),
        "Softsign": lambda x: x / (F.abs(x) + 1.0), "Softplus": lambda x: _zyx._softplus(x, 1.0)}
    lowered = {key.lower(): value for key, value in functions.items()}
    if name.lower() not in lowered:
        raise _zyx.UnsupportedError(f"the activation '{name}'")
    return lowered[name.lower()]


ALPHAS = {"leakyrelu": 0.01, "hardsigmoid": 0.2, "elu": 1.0, "thresholdedrelu": 1.0, "affine": 1.0, "scaledtanh": 1.0}
BETAS = {"hardsigmoid": 0.5, "affine": 0.0, "scaledtanh": 1.0}


def _activations(n, default, direction):
    names = n.attr("activations") or default * (2 if n.attr("direction", "forward") == "bidirectional" else 1)
    alphas, betas = list(n.attr("activation_alpha") or []), list(n.attr("activation_beta") or [])
    made = []
    for name in names:
        alpha = alphas.pop(0) if name.lower() in ALPHAS and alphas else ALPHAS.get(name.lower(), 0.0)
        beta = betas.pop(0) if name.lower() in BETAS and betas else BETAS.get(name.lower(), 0.0)
        made.append(_activation(name, alpha, beta))
    count = len(default)
    return made[direction * count:(direction + 1) * count]


def _recurrent(name, gates, default, cell):
    """RNN, GRU and LSTM: `cell` makes the next state of a step's inputs, the state, weights of the state and biases."""

    def made(n, x, w, r, b=None, lengths=None, first=None, first_cell=None, peepholes=None):
        dtype, flipped = x.dtype, n.attr("layout", 0)
        if flipped:
            x = _zyx._permute(x, (1, 0, 2))
            first, first_cell = (each and None if each is None else _zyx._permute(each, (1, 0, 2))
                                 for each in (first, first_cell))
        if n.attr("input_forget", 0):
            n.refuse("input_forget=1")
        steps, batch, _ = x.shape
        hidden = r.shape[2]
        direction = n.attr("direction", "forward")
        has_cell = name == "LSTM"
        outputs, finals, cells = [], [], []
        clip = n.attr("clip")
        for at in range(w.shape[0]):
            reverse = direction == "reverse" or at == 1
            functions = [_clipped(f, clip) for f in _activations(n, default, at)]
            bias = full((2 * gates * hidden,), 0, dtype) if b is None else b[at]
            state = full((batch, hidden), 0, dtype) if first is None else first[at]
            memory = full((batch, hidden), 0, dtype) if first_cell is None else first_cell[at]
            weights = r[at].mT
            # Products with all inputs are one.
            projected = _zyx.matmul(x, w[at].mT) + bias[:gates * hidden]
            peeps = None if peepholes is None else peepholes[at]

            def step(trip, carried):
                place = trip * -1 + (steps - 1) if reverse else trip
                now = _zyx._reshape(_zyx._take(projected, _zyx._reshape(place, (1,)), 0), (batch, gates * hidden))
                old, old_cell = carried
                new, new_cell = cell(n, now, old, old_cell, weights, bias[gates * hidden:], functions, hidden, peeps)
                result = new
                if lengths is not None:
                    goes_on = _zyx._reshape(cast(lengths, int64), (batch, 1)) > place
                    new, new_cell = where(goes_on, new, old), where(goes_on, new_cell, old_cell)
                    result = where(goes_on, result, 0.0)
                return (new, new_cell), _zyx._unsqueeze(result, 0)

            (state, memory), collected = scan(steps, (state, memory), step, (steps, batch, hidden), 0)
            outputs.append(_zyx._flip(collected, (0,)) if reverse else collected)
            finals.append(state)
            cells.append(memory)
        y, final, last = _zyx._stack(outputs, 1), _zyx._stack(finals, 0), _zyx._stack(cells, 0)
        if flipped:
            y, final, last = _zyx._permute(y, (2, 0, 1, 3)), _zyx._permute(final, (1, 0, 2)), _zyx._permute(last, (1, 0, 2))
        return (y, final, last) if has_cell else (y, final)

    op(name)(made)


def _clipped(function, clip):
    return function if clip is None else lambda x: function(F.clip(x, -clip, clip))


def _rnn_cell(n, now, old, memory, weights, bias, functions, hidden, peeps):
    return functions[0](now + _zyx.matmul(old, weights) + bias), memory


def _gru_cell(n, now, old, memory, weights, bias, functions, hidden, peeps):
    update_and_reset = now[:, :2 * hidden] + _zyx.matmul(old, weights[:, :2 * hidden]) + bias[:2 * hidden]
    update, reset = functions[0](update_and_reset[:, :hidden]), functions[0](update_and_reset[:, hidden:])
    last, its = weights[:, 2 * hidden:], bias[2 * hidden:]
    if n.attr("linear_before_reset", 0):
        proposal = reset * (_zyx.matmul(old, last) + its)
    else:
        proposal = _zyx.matmul(reset * old, last) + its
    proposal = functions[1](now[:, 2 * hidden:] + proposal)
    return (update * -1.0 + 1.0) * proposal + update * old, memory


def _lstm_cell(n, now, old, memory, weights, bias, functions, hidden, peeps):
    sums = now + _zyx.matmul(old, weights) + bias
    i, o, f, c = (sums[:, at * hidden:(at + 1) * hidden] for at in range(4))
    if peeps is not None:
        i, f = i + peeps[:hidden] * memory, f + peeps[2 * hidden:] * memory
    memory = functions[0](f) * memory + functions[0](i) * functions[1](c)
    if peeps is not None:
        o = o + peeps[hidden:2 * hidden] * memory
    return functions[0](o) * functions[2](memory), memory


_recurrent("RNN", 1, ["Tanh"], _rnn_cell)
_recurrent("GRU", 3, ["Sigmoid", "Tanh"], _gru_cell)
_recurrent("LSTM", 4, ["Sigmoid", "Tanh", "Tanh"], _lstm_cell)


# Losses


def _likelihood(n, logs, target, weights):
    """Losses of logarithms of probabilities, [batch, classes, ...], and positions of classes, [batch, ...]."""
    ignored, reduction = n.attr("ignore_index"), n.attr("reduction", "mean")
    target = cast(target, int64)
    keeps = None if ignored is None else target != ignored
    places = target if keeps is None else where(keeps, target, 0)
    loss = -_zyx._reshape(_zyx._take_along_axis(logs, _zyx._unsqueeze(places, 1), 1), target.shape)
    if weights is None and keeps is None:
        share = None
    else:
        share = full(target.shape, 1, logs.dtype) if weights is None else cast(_zyx._take(weights, places, 0), logs.dtype)
        share = share if keeps is None else where(keeps, share, 0.0)
        loss = where(share == 0, 0.0, loss * share)
    if reduction == "none":
        return loss
    if reduction == "sum":
        return F.sum(loss)
    return F.mean(loss) if share is None else F.sum(loss) / F.sum(share)


@op("NegativeLogLikelihoodLoss")
def negative_log_likelihood(n, x, target, weights=None):
    return cast(_likelihood(n, wide(x), target, weights), x.dtype)


@op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(n, x, target, weights=None):
    logs = _zyx._log_softmax(wide(x), 1)
    return cast(_likelihood(n, logs, target, weights), x.dtype), cast(logs, x.dtype)
