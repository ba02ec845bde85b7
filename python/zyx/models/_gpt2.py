# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2."""
import math

from .. import _zyx, nn
from .._creation import zeros
from ._decoder import ACTIVATIONS, RNG, Decoder, join_heads, split_heads
from ._folder import expect_layers, expect_shape


class Conv1D(nn.Module):
    """x weight + bias: the weight is [inputs, outputs], as published."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(zeros((inputs, outputs)))
        self.bias = nn.Parameter(zeros(outputs))

    def __call__(self, x):
        return _zyx.matmul(x, self.weight.value) + self.bias.value


class Attention(nn.Module):
    def __init__(self, width, heads, scale):
        super().__init__()
        for name, value in (("_heads", heads), ("_scale", scale)):
            object.__setattr__(self, name, value)
        self.c_attn = Conv1D(width, 3 * width)
        self.c_proj = Conv1D(width, width)

    def __call__(self, x, rows, cache):
        width = x.shape[-1]
        all_three = self.c_attn(x)
        queries, keys, values = (split_heads(all_three[..., i * width:(i + 1) * width], self._heads) for i in range(3))
        found, cache = rows.attend(queries, nn.KVCache(keys, values), cache, scale=self._scale)
        return self.c_proj(join_heads(found)), cache


class Mlp(nn.Module):
    def __init__(self, width, hidden, activation):
        super().__init__()
        object.__setattr__(self, "_activation", activation)
        self.c_fc = Conv1D(width, hidden)
        self.c_proj = Conv1D(hidden, width)

    def __call__(self, x):
        return self.c_proj(self._activation(self.c_fc(x)))


class Layer(nn.Module):
    def __init__(self, width, hidden, heads, scale, epsilon, activation):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, epsilon)
        self.attn = Attention(width, heads, scale)
        self.ln_2 = nn.LayerNorm(width, epsilon)
        self.mlp = Mlp(width, hidden, activation)

    def __call__(self, x, rows, cache):
        attended, cache = self.attn(self.ln_1(x), rows, cache)
        x = x + attended
        return x + self.mlp(self.ln_2(x)), cache


class Body(nn.Module):
    pass


class Gpt2(Decoder):
    """The model of a configuration, without values."""

    def __init__(self, config, tensors, has_head=True):
        super().__init__()
        width, layers, heads = config.integer("n_embd"), config.integer("n_layer"), config.integer("n_head")
        vocabulary, positions = config.integer("vocab_size"), config.integer("n_positions")
        head_width = config.divides(width, heads, "elements of 'n_embd'")
        config.expect("add_cross_attention", False)
        hidden = config.integer("n_inner", None) or 4 * width
        activation = config.choice("activation_function", ACTIVATIONS, "gelu_new")
        epsilon = config.number("layer_norm_epsilon", 1e-5)
        is_tied = config.flag("tie_word_embeddings", True)
        scale = 1 / math.sqrt(head_width) if config.flag("scale_attn_weights", True) else 1.0
        by_layer = config.flag("scale_attn_by_inverse_layer_idx", False)
        expect_shape(config, tensors, "transformer.wte.weight", (vocabulary, width), "'vocab_size' and 'n_embd'")
        expect_shape(config, tensors, "transformer.wpe.weight", (positions, width), "'n_positions' and 'n_embd'")
        expect_shape(config, tensors, "transformer.h.0.mlp.c_fc.weight", (width, hidden), "'n_embd' and 'n_inner'")
        expect_layers(config, "n_layer", layers, tensors, "transformer.h")
        self._set(config=config, layers=layers, kv_heads=heads, head_width=head_width,
                  vocabulary=vocabulary if has_head else width, most_positions=positions, _is_tied=is_tied and has_head,
                  _has_head=has_head)
        body = Body()
        body.wte = nn.Embedding(vocabulary, width, RNG)
        body.wpe = nn.Embedding(positions, width, RNG)
        body.h = [Layer(width, hidden, heads, scale / (i + 1) if by_layer else scale, epsilon, activation)
                  for i in range(layers)]
        body.ln_f = nn.LayerNorm(width, epsilon)
        self.transformer = body
        if has_head and not is_tied:
            self.lm_head = nn.Linear(width, vocabulary, RNG, bias=False)

    @property
    def surplus(self):
        return r"lm_head\." if self._is_tied or not self._has_head else None

    def _dtype(self):
        return self.transformer.wte.weight.dtype

    def _hidden(self, tokens, rows, caches):
        body, after = self.transformer, []
        x = body.wte(tokens) + body.wpe(rows.positions)
        for layer, cache in zip(body.h, caches):
            x, cache = layer(x, rows, cache)
            after.append(cache)
        return body.ln_f(x), after

    def _logits(self, x):
        if not self._has_head:
            return x
        return _zyx.matmul(x, self.transformer.wte.weight.value.T) if self._is_tied else self.lm_head(x)
