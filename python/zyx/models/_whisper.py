# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whisper: spectra of sound to tokens."""
import math

from .. import _zyx, nn
from ._decoder import ACTIVATIONS, RNG, Decoder, Rows, join_heads, split_heads
from ._folder import expect_layers, expect_shape


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        object.__setattr__(self, "_heads", heads)
        self.k_proj = nn.Linear(width, width, RNG, bias=False)
        self.v_proj = nn.Linear(width, width, RNG)
        self.q_proj = nn.Linear(width, width, RNG)
        self.out_proj = nn.Linear(width, width, RNG)

    def queries(self, x):
        return split_heads(self.q_proj(x), self._heads)

    def memory(self, x):
        return nn.KVCache(split_heads(self.k_proj(x), self._heads), split_heads(self.v_proj(x), self._heads))

    def attend(self, x, kv):
        """To all rows of a memory."""
        return self.out_proj(join_heads(nn.attention(self.queries(x), kv.keys, kv.values)))


class Layer(nn.Module):
    """Of the encoder, and with attention to its rows one of the decoder."""

    def __init__(self, width, heads, hidden, activation, has_memory):
        super().__init__()
        object.__setattr__(self, "_activation", activation)
        self.self_attn = Attention(width, heads)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        if has_memory:
            self.encoder_attn = Attention(width, heads)
            self.encoder_attn_layer_norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, hidden, RNG)
        self.fc2 = nn.Linear(hidden, width, RNG)
        self.final_layer_norm = nn.LayerNorm(width)

    def encode(self, x):
        rows = self.self_attn_layer_norm(x)
        x = x + self.self_attn.attend(rows, self.self_attn.memory(rows))
        return self._last(x)

    def decode(self, x, rows, cache, memory):
        own = self.self_attn_layer_norm(x)
        found, cache = rows.attend(self.self_attn.queries(own), self.self_attn.memory(own), cache)
        x = x + self.self_attn.out_proj(join_heads(found))
        x = x + self.encoder_attn.attend(self.encoder_attn_layer_norm(x), memory)
        return self._last(x), cache

    def _last(self, x):
        return x + self.fc2(self._activation(self.fc1(self.final_layer_norm(x))))


class Part(nn.Module):
    pass


class Whisper(Decoder):
    """The model of a configuration, without values."""

    def __init__(self, config, tensors):
        super().__init__()
        width, bins, vocabulary = config.integer("d_model"), config.integer("num_mel_bins"), config.integer("vocab_size")
        sources, targets = config.integer("max_source_positions"), config.integer("max_target_positions")
        activation = config.choice("activation_function", ACTIVATIONS, "gelu")
        is_tied = config.flag("tie_word_embeddings", True)
        scale = math.sqrt(width) if config.flag("scale_embedding", False) else 1.0
        expect_shape(config, tensors, "model.decoder.embed_tokens.weight", (vocabulary, width), "'vocab_size' and 'd_model'")
        expect_shape(config, tensors, "model.encoder.embed_positions.weight", (sources, width),
                     "'max_source_positions' and 'd_model'")
        expect_shape(config, tensors, "model.encoder.conv1.weight", (width, bins, 3), "'d_model' and 'num_mel_bins'")
        parts, heads = {}, 0
        for name in ("encoder", "decoder"):
            layers, heads = config.integer(f"{name}_layers"), config.integer(f"{name}_attention_heads")
            hidden = config.integer(f"{name}_ffn_dim")
            config.divides(width, heads, "elements of 'd_model'")
            expect_layers(config, f"{name}_layers", layers, tensors, f"model.{name}.layers")
            part = parts[name] = Part()
            if name == "encoder":
                part.conv1 = nn.Convolution(bins, width, 3, RNG, padding=1)
                part.conv2 = nn.Convolution(width, width, 3, RNG, stride=2, padding=1)
                part.embed_positions = nn.Embedding(sources, width, RNG)
            else:
                part.embed_tokens = nn.Embedding(vocabulary, width, RNG)
                part.embed_positions = nn.Embedding(targets, width, RNG)
            part.layers = [Layer(width, heads, hidden, activation, name == "decoder") for _ in range(layers)]
            part.layer_norm = nn.LayerNorm(width)
        self._set(config=config, layers=layers, kv_heads=heads, head_width=width // heads, vocabulary=vocabulary,
                  most_positions=targets, _is_tied=is_tied, _input=(bins, 2 * sources), _scale=scale)
        self.model = Part()
        self.model.encoder, self.model.decoder = parts["encoder"], parts["decoder"]
        if not is_tied:
            self.proj_out = nn.Linear(width, vocabulary, RNG, bias=False)

    @property
    def surplus(self):
        return r"proj_out\." if self._is_tied else None

    def _dtype(self):
        return self.model.decoder.embed_tokens.weight.dtype

    def encode(self, features):
        """Spectra [batch, bins, frames] to hidden rows."""
        if features.ndim != 3 or features.shape[1:] != self._input:
            raise _zyx.InvalidArgumentError(f"features have the shape [batch, {self._input[0]}, {self._input[1]}], and not "
                                            f"{features.shape}")
        part = self.model.encoder
        x = nn.gelu(part.conv2(nn.gelu(part.conv1(_zyx._cast(features, self._dtype())))))
        x = _zyx._permute(x, (0, 2, 1)) + part.embed_positions.weight.value
        for layer in part.layers:
            x = layer.encode(x)
        return part.layer_norm(x)

    def memory(self, encoded):
        """Keys and values of the encoded rows for each layer of the decoder, which all tokens read."""
        return [layer.encoder_attn.memory(encoded) for layer in self.model.decoder.layers]

    def __call__(self, features, tokens):
        """Spectra, and integers [batch, rows], to logits [batch, rows, vocabulary]."""
        self._expect(tokens)
        memory = self.memory(self.encode(features))
        return self._logits(self._hidden(tokens, Rows(tokens.shape, None, None, None), [None] * self.layers, memory)[0])

    def generate(self, features, prompts=None, **options):
        """Tokens for each of the spectra, behind prompts, or the first token of the configuration: zyx.models.generate()."""
        from ._generate import generate
        if prompts is None:
            prompts = [[self.config.integer("decoder_start_token_id", low=0)]] * features.shape[0]
        if len(prompts) != features.shape[0]:
            raise _zyx.InvalidArgumentError(f"generate: {len(prompts)} prompts for {features.shape[0]} spectra")
        return generate(self, prompts, memory={"memory": self.memory(self.encode(features))}, **options)

    def _hidden(self, tokens, rows, caches, memory):
        part, after = self.model.decoder, []
        x = part.embed_tokens(tokens)
        if self._scale != 1:
            x = x * self._scale
        x = x + part.embed_positions(rows.positions)
        for layer, cache, kv in zip(part.layers, caches, memory):
            x, cache = layer.decode(x, rows, cache, kv)
            after.append(cache)
        return part.layer_norm(x), after

    def _logits(self, x):
        return _zyx.matmul(x, self.model.decoder.embed_tokens.weight.value.T) if self._is_tied else self.proj_out(x)
