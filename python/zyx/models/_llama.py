# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama, Mistral, Qwen2 and Qwen3: what differs is which projections have biases, norms of heads, and windows."""
import math

from .. import _zyx, nn
from .._creation import asarray
from ._decoder import ACTIVATIONS, RNG, Decoder, join_heads, split_heads
from ._folder import expect_layers, expect_shape


class Rotary:
    """The frequency of each pair of a head, and the factor of what is turned, by the kinds that are published."""

    def __init__(self, config, width):
        # Newer files have all of it in one object.
        inner = config.inner("rope_parameters") if "rope_parameters" in config else config.inner("rope_scaling")
        self._inner, self._width = inner, width
        self._base = self._positive(inner if "rope_theta" in inner else config, "rope_theta", 10000.0)
        partial = (inner if "partial_rotary_factor" in inner else config).number("partial_rotary_factor", 1.0)
        if partial != 1:
            raise config.wrong(f"'partial_rotary_factor' is {partial}; zyx turns whole heads alone", _zyx.UnsupportedError)
        self._positions = config.integer("max_position_embeddings", None)
        if not 1e-30 < self._base < 1e30:
            raise config.wrong(f"'rope_theta' is {self._base}")
        self.frequencies, self.factor = [self._base**(-2 * i / width) for i in range(width // 2)], 1.0
        # Rows that the model has frequencies for, where these depend on the number of rows.
        self.most = None
        kinds = {"default": lambda: None, "linear": self._linear, "dynamic": self._dynamic, "llama3": self._llama3,
                 "yarn": self._yarn}
        try:
            inner.choice("rope_type", kinds, inner.text("type", "default"))()
            if not all(math.isfinite(each) for each in [*self.frequencies, self.factor]):
                raise OverflowError
        except ArithmeticError:
            raise inner.wrong("the rotary positions are no finite numbers") from None

    @staticmethod
    def _positive(config, key, *default):
        value = config.number(key, *default)
        if value is not None and value <= 0:
            raise config.wrong(f"'{key}' is {value}, and not above 0")
        return value

    def _linear(self):
        factor = self._positive(self._inner, "factor")
        self.frequencies = [each / factor for each in self.frequencies]

    def _dynamic(self):
        # Up to the positions of the training these are the plain ones, and more are refused.
        self.most = self._positions
        if self.most is None:
            raise self._inner.wrong("'max_position_embeddings' is missing, which 'dynamic' needs")

    def _llama3(self):
        factor, low, high = (self._positive(self._inner, key) for key in ("factor", "low_freq_factor", "high_freq_factor"))
        context = self._inner.integer("original_max_position_embeddings")
        if high <= low:
            raise self._inner.wrong("'high_freq_factor' is not above 'low_freq_factor'")

        def scaled(each):
            smooth = min(max((context * each / (2 * math.pi) - low) / (high - low), 0.0), 1.0)
            return (1 - smooth) * each / factor + smooth * each

        self.frequencies = [scaled(each) for each in self.frequencies]

    def _yarn(self):
        inner, width, base = self._inner, self._width, self._base
        context = inner.integer("original_max_position_embeddings", self._positions)
        if context is None or base == 1:
            raise inner.wrong("'original_max_position_embeddings' is missing, or 'rope_theta' is 1")
        factor = self._positive(inner, "factor", self._positions / context if self._positions else None)
        if factor is None:
            raise inner.wrong("'factor' is missing")
        scale, all_scale = inner.number("mscale", None), inner.number("mscale_all_dim", None)

        def loudness(by):
            return 1.0 if factor <= 1 else 0.1 * by * math.log(factor) + 1.0

        both = loudness(scale) / loudness(all_scale) if scale and all_scale else loudness(1.0)
        self.factor = inner.number("attention_factor", both)

        def corrected(key, default):
            turns = self._positive(inner, key, None) or default
            if not 1e-30 < turns < 1e30:
                raise inner.wrong(f"'{key}' is {turns}")
            return width * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(base))

        first, last = corrected("beta_fast", 32.0), corrected("beta_slow", 1.0)
        if inner.flag("truncate", True):
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, width - 1)
        if first == last:
            last += 0.001
        ramps = [min(max((i - first) / (last - first), 0.0), 1.0) for i in range(width // 2)]
        self.frequencies = [each / factor * ramp + each * (1 - ramp) for each, ramp in zip(self.frequencies, ramps)]


class Attention(nn.Module):
    def __init__(self, shape, window):
        super().__init__()
        for name, value in (("_shape", shape), ("_window", window)):
            object.__setattr__(self, name, value)
        wide, narrow = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        self.q_proj = nn.Linear(shape.width, wide, RNG, bias=shape.qkv_bias)
        self.k_proj = nn.Linear(shape.width, narrow, RNG, bias=shape.qkv_bias)
        self.v_proj = nn.Linear(shape.width, narrow, RNG, bias=shape.qkv_bias)
        self.o_proj = nn.Linear(wide, shape.width, RNG, bias=shape.out_bias)
        if shape.has_head_norms:
            self.q_norm = nn.RmsNorm(shape.head_width, shape.epsilon)
            self.k_norm = nn.RmsNorm(shape.head_width, shape.epsilon)

    def __call__(self, x, rows, cache):
        shape = self._shape
        queries, keys = split_heads(self.q_proj(x), shape.heads), split_heads(self.k_proj(x), shape.kv_heads)
        if shape.has_head_norms:
            queries, keys = self.q_norm(queries), self.k_norm(keys)
        queries, keys = (nn.rotary(each, rows.positions, frequencies=shape.frequencies, factor=shape.factor,
                                   interleaved=shape.is_interleaved) for each in (queries, keys))
        kv = nn.KVCache(keys, split_heads(self.v_proj(x), shape.kv_heads))
        found, cache = rows.attend(queries, kv, cache, self._window)
        return self.o_proj(join_heads(found)), cache


class GatedMlp(nn.Module):
    def __init__(self, shape):
        super().__init__()
        object.__setattr__(self, "_activation", shape.activation)
        self.gate_proj = nn.Linear(shape.width, shape.hidden, RNG, bias=shape.mlp_bias)
        self.up_proj = nn.Linear(shape.width, shape.hidden, RNG, bias=shape.mlp_bias)
        self.down_proj = nn.Linear(shape.hidden, shape.width, RNG, bias=shape.mlp_bias)

    def __call__(self, x):
        return self.down_proj(self._activation(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape, window):
        super().__init__()
        self.self_attn = Attention(shape, window)
        self.mlp = GatedMlp(shape)
        self.input_layernorm = nn.RmsNorm(shape.width, shape.epsilon)
        self.post_attention_layernorm = nn.RmsNorm(shape.width, shape.epsilon)

    def __call__(self, x, rows, cache):
        attended, cache = self.self_attn(self.input_layernorm(x), rows, cache)
        x = x + attended
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class Body(nn.Module):
    def __init__(self, shape, embedding):
        super().__init__()
        self.embed_tokens = embedding
        self.layers = [Layer(shape, window) for window in shape.windows]
        self.norm = nn.RmsNorm(shape.width, shape.epsilon)


class Shape:
    """What a configuration says of such a model."""

    def __init__(self, config, family, tensors):
        self.config = config
        self.width, self.hidden = config.integer("hidden_size"), config.integer("intermediate_size")
        self.layers, self.vocabulary = config.integer("num_hidden_layers"), config.integer("vocab_size")
        self.heads = config.integer("num_attention_heads")
        self.kv_heads = config.integer("num_key_value_heads", self.heads)
        config.divides(self.heads, self.kv_heads, "heads")
        self.head_width = config.integer("head_dim", None) or (
            128 if family == "qwen3" else config.divides(self.width, self.heads, "elements of 'hidden_size'"))
        config.divides(self.head_width, 2, "elements of a head")
        expect_shape(config, tensors, "model.embed_tokens.weight", (self.vocabulary, self.width),
                     "'vocab_size' and 'hidden_size'")
        expect_shape(config, tensors, "model.layers.0.self_attn.q_proj.weight",
                     (self.heads * self.head_width, self.width), "'num_attention_heads' and the width of a head")
        expect_layers(config, "num_hidden_layers", self.layers, tensors, "model.layers")
        self.epsilon = config.number("rms_norm_eps", 1e-6)
        self.activation = config.choice("hidden_act", ACTIVATIONS, "silu")
        self.is_tied = config.flag("tie_word_embeddings", False)
        own = config.flag("attention_bias", False) if family in ("llama", "qwen3") else False
        self.qkv_bias, self.out_bias = own or family == "qwen2", own
        self.mlp_bias = config.flag("mlp_bias", False) if family == "llama" else False
        self.has_head_norms = family == "qwen3"
        rotary = Rotary(config, self.head_width)
        self.frequencies, self.factor = asarray(rotary.frequencies, dtype=_zyx.float32), rotary.factor
        self.most_positions = rotary.most
        # Files of GGUF have other pairs.
        self.is_interleaved = False
        self.windows = self._windows(config, family)

    def _windows(self, config, family):
        """Of each layer, how many rows a row sees; None for all before it."""
        # A key that says null is none that is missing.
        window = config.integer("sliding_window", None if "sliding_window" in config.values else 4096)
        if family == "mistral":
            return [window] * self.layers
        if family == "llama" or not config.flag("use_sliding_window", False):
            return [None] * self.layers
        kinds = config.list("layer_types", str, self.layers, None)
        if kinds is None:
            first = config.integer("max_window_layers", 28, low=0)
            return [window if i >= first else None for i in range(self.layers)]
        if not set(kinds) <= {"full_attention", "sliding_attention"}:
            raise config.wrong("'layer_types' has others than full_attention and sliding_attention", _zyx.UnsupportedError)
        return [window if kind == "sliding_attention" else None for kind in kinds]


class Llama(Decoder):
    """The model of a shape, without values."""

    def __init__(self, shape, has_head=True, embedding=None):
        super().__init__()
        self._set(config=shape.config, layers=shape.layers, kv_heads=shape.kv_heads, head_width=shape.head_width,
                  vocabulary=shape.vocabulary if has_head else shape.width, most_positions=shape.most_positions,
                  _is_tied=shape.is_tied and has_head, _has_head=has_head)
        self.model = Body(shape, embedding or nn.Embedding(shape.vocabulary, shape.width, RNG))
        if has_head and not shape.is_tied:
            self.lm_head = nn.Linear(shape.width, shape.vocabulary, RNG, bias=False)

    @property
    def surplus(self):
        """Names of files that the model does not read: other names of the same, or another head."""
        return r"lm_head\." if self._is_tied or not self._has_head else None

    def _dtype(self):
        return self.model.norm.weight.dtype

    def _hidden(self, tokens, rows, caches):
        x, after = self.model.embed_tokens(tokens), []
        for layer, cache in zip(self.model.layers, caches):
            x, cache = layer(x, rows, cache)
            after.append(cache)
        return self.model.norm(x), after

    def _logits(self, x):
        if not self._has_head:
            return x
        if not self._is_tied:
            return self.lm_head(x)
        embedding = self.model.embed_tokens
        # Blocks of a GGUF file are no numbers yet.
        return _zyx.matmul(x, (embedding.table() if hasattr(embedding, "table") else embedding.weight.value).T)
