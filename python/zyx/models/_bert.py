# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT, and ViT, whose layers have the same parts with the norms elsewhere."""
from .. import _zyx, nn
from .._creation import zeros
from .._zyx import int64
from ._decoder import ACTIVATIONS, RNG, join_heads, split_heads
from ._folder import expect_layers, expect_shape


class Group(nn.Module):
    """Modules by their names, as published names have them."""

    def __init__(self, /, **children):
        super().__init__()
        for name, child in children.items():
            setattr(self, name, child)


class Shape:
    """What both kinds of configurations say."""

    def __init__(self, config):
        self.config = config
        self.width, self.layers = config.integer("hidden_size"), config.integer("num_hidden_layers")
        self.heads, self.hidden = config.integer("num_attention_heads"), config.integer("intermediate_size")
        config.divides(self.width, self.heads, "elements of 'hidden_size'")
        self.epsilon = config.number("layer_norm_eps", 1e-12)
        self.activation = config.choice("hidden_act", ACTIVATIONS, "gelu")

    def linear(self, inputs=None, outputs=None, bias=True):
        return nn.Linear(inputs or self.width, outputs or self.width, RNG, bias=bias)

    def norm(self):
        return nn.LayerNorm(self.width, self.epsilon)

    def labels(self):
        """How many classes a head has."""
        names = self.config.inner("id2label")
        return len(names.values) or self.config.integer("num_labels", 2)


def attend(x, parts, heads, mask=None):
    queries, keys, values = (split_heads(part(x), heads) for part in (parts.query, parts.key, parts.value))
    return join_heads(nn.attention(queries, keys, values, mask=mask))


class BertLayer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        object.__setattr__(self, "_shape", shape)
        own = {"query": shape.linear(), "key": shape.linear(), "value": shape.linear()}
        self.attention = Group(self=Group(**own), output=Group(dense=shape.linear(), LayerNorm=shape.norm()))
        self.intermediate = Group(dense=shape.linear(outputs=shape.hidden))
        self.output = Group(dense=shape.linear(shape.hidden), LayerNorm=shape.norm())

    def __call__(self, x, mask):
        after = self.attention.output
        attended = attend(x, getattr(self.attention, "self"), self._shape.heads, mask)
        x = after.LayerNorm(after.dense(attended) + x)
        return self.output.LayerNorm(self.output.dense(self._shape.activation(self.intermediate.dense(x))) + x)


class Bert(nn.Module):
    """Tokens to hidden rows (BertModel), logits of tokens (BertForMaskedLM) or of classes."""

    def __init__(self, config, tensors, head):
        super().__init__()
        shape = Shape(config)
        vocabulary, positions = config.integer("vocab_size"), config.integer("max_position_embeddings")
        kinds = config.integer("type_vocab_size", 2)
        config.expect("is_decoder", False)
        config.expect("add_cross_attention", False)
        config.expect("position_embedding_type", "absolute")
        expect_shape(config, tensors, "bert.embeddings.word_embeddings.weight", (vocabulary, shape.width),
                     "'vocab_size' and 'hidden_size'")
        expect_layers(config, "num_hidden_layers", shape.layers, tensors, "bert.encoder.layer")
        is_tied = config.flag("tie_word_embeddings", True)
        for name, value in (("config", config), ("_shape", shape), ("_head", head), ("_tied", is_tied),
                            ("most_positions", positions)):
            object.__setattr__(self, name, value)
        embeddings = Group(word_embeddings=nn.Embedding(vocabulary, shape.width, RNG),
                           position_embeddings=nn.Embedding(positions, shape.width, RNG),
                           token_type_embeddings=nn.Embedding(kinds, shape.width, RNG), LayerNorm=shape.norm())
        parts = {"embeddings": embeddings, "encoder": Group(layer=[BertLayer(shape) for _ in range(shape.layers)])}
        if head != "tokens":
            parts["pooler"] = Group(dense=shape.linear())
        self.bert = Group(**parts)
        if head == "tokens":
            predictions = Group(transform=Group(dense=shape.linear(), LayerNorm=shape.norm()))
            predictions.bias = nn.Parameter(zeros(vocabulary))
            if not is_tied:
                predictions.decoder = shape.linear(outputs=vocabulary, bias=False)
            self.cls = Group(predictions=predictions)
        if head == "classes":
            self.classifier = shape.linear(outputs=shape.labels())

    @property
    def surplus(self):
        if self._head == "tokens":
            # Files of the training have both heads; the bias of the decoder is the other one.
            return r"bert\.pooler\.|cls\.seq_relationship\.|cls\.predictions\.decoder\." + ("" if self._tied else "bias$")
        return r"cls\."

    def __call__(self, tokens, *, mask=None, kinds=None):
        """Integers [batch, rows]. `mask`, [batch, rows], is 0 or false for rows that are none; `kinds` are those of
        sentences. Returns hidden rows and the pooled one, or logits.
        """
        if tokens.ndim != 2 or tokens.dtype.is_float or tokens.shape[1] > self.most_positions:
            raise _zyx.InvalidArgumentError(f"tokens are integers [batch, rows] of at most {self.most_positions} rows, and not "
                                            f"{tokens.dtype!r} of the shape {tokens.shape}")
        batch, count = tokens.shape
        parts = self.bert.embeddings
        if kinds is None:
            kinds = _zyx._full_i64((batch, count), 0, int64)
        x = parts.word_embeddings(tokens) + parts.token_type_embeddings(kinds)
        x = parts.LayerNorm(x + parts.position_embeddings(_zyx._arange(0, count, 1, int64)))
        if mask is not None:
            mask = _zyx._reshape(mask if mask.dtype is _zyx.bool else _zyx.not_equal(mask, 0), (batch, 1, 1, count))
        for layer in self.bert.encoder.layer:
            x = layer(x, mask)
        if self._head == "tokens":
            predictions = self.cls.predictions
            x = predictions.transform.LayerNorm(self._shape.activation(predictions.transform.dense(x)))
            weight = parts.word_embeddings.weight if self._tied else predictions.decoder.weight
            return _zyx.matmul(x, weight.value.T) + predictions.bias.value
        pooled = _zyx._tanh(self.bert.pooler.dense(x[:, 0]))
        return self.classifier(pooled) if self._head == "classes" else (x, pooled)


def pair(config, key, *default):
    """A number for both dimensions of an image, or one for each."""
    if isinstance(config.values.get(key), list):
        found = config.list(key, int, 2)
        if min(found) < 1 or max(found) > 1 << 16:
            raise config.wrong(f"'{key}' is {found}")
        return tuple(found)
    return (config.integer(key, *default),) * 2


class VitLayer(nn.Module):
    def __init__(self, shape, qkv_bias):
        super().__init__()
        object.__setattr__(self, "_shape", shape)
        own = {name: shape.linear(bias=qkv_bias) for name in ("query", "key", "value")}
        self.attention = Group(attention=Group(**own), output=Group(dense=shape.linear()))
        self.intermediate = Group(dense=shape.linear(outputs=shape.hidden))
        self.output = Group(dense=shape.linear(shape.hidden))
        self.layernorm_before = shape.norm()
        self.layernorm_after = shape.norm()

    def __call__(self, x):
        attended = attend(self.layernorm_before(x), self.attention.attention, self._shape.heads)
        x = x + self.attention.output.dense(attended)
        return x + self.output.dense(self._shape.activation(self.intermediate.dense(self.layernorm_after(x))))


class Vit(nn.Module):
    """Images [batch, channels, height, width] to hidden rows and the pooled one, or logits of classes."""

    def __init__(self, config, tensors, has_head):
        super().__init__()
        shape = Shape(config)
        channels, image, patch = config.integer("num_channels", 3), pair(config, "image_size", 224), pair(
            config, "patch_size", 16)
        patches = (image[0] // patch[0]) * (image[1] // patch[1])
        pooled = config.integer("pooler_output_size", None) or shape.width
        activations = {"tanh": _zyx._tanh, **ACTIVATIONS}
        expect_shape(config, tensors, "vit.embeddings.position_embeddings", (1, patches + 1, shape.width),
                     "'image_size', 'patch_size' and 'hidden_size'")
        expect_shape(config, tensors, "vit.embeddings.patch_embeddings.projection.weight", (shape.width, channels, *patch),
                     "'hidden_size', 'num_channels' and 'patch_size'")
        expect_layers(config, "num_hidden_layers", shape.layers, tensors, "vit.encoder.layer")
        for name, value in (("config", config), ("_input", (channels, *image)), ("_has_head", has_head),
                            ("_pooler_activation", config.choice("pooler_act", activations, "tanh"))):
            object.__setattr__(self, name, value)
        embeddings = Group(patch_embeddings=Group(projection=nn.Convolution(channels, shape.width, patch, RNG, stride=patch)))
        embeddings.cls_token = nn.Parameter(zeros((1, 1, shape.width)))
        embeddings.position_embeddings = nn.Parameter(zeros((1, patches + 1, shape.width)))
        qkv_bias = config.flag("qkv_bias", True)
        layers = [VitLayer(shape, qkv_bias) for _ in range(shape.layers)]
        parts = {"embeddings": embeddings, "encoder": Group(layer=layers), "layernorm": shape.norm()}
        # A base model may have been saved without its pooler.
        has_pooler = not has_head and "vit.pooler.dense.weight" in tensors
        object.__setattr__(self, "_has_pooler", has_pooler)
        if has_pooler:
            parts["pooler"] = Group(dense=shape.linear(outputs=pooled))
        self.vit = Group(**parts)
        if has_head:
            self.classifier = shape.linear(outputs=shape.labels())

    @property
    def surplus(self):
        return r"vit\.pooler\.|vit\.embeddings\.mask_token$" if self._has_head else r"classifier\.|vit\.embeddings\.mask_token$"

    def __call__(self, images):
        if images.ndim != 4 or images.shape[1:] != self._input:
            raise _zyx.InvalidArgumentError(f"images have the shape [batch, {', '.join(map(str, self._input))}], and not "
                                            f"{images.shape}")
        parts, batch = self.vit.embeddings, images.shape[0]
        x = parts.patch_embeddings.projection(_zyx._cast(images, parts.cls_token.dtype))
        width = x.shape[1]
        x = _zyx._permute(_zyx._reshape(x, (batch, width, x.shape[2] * x.shape[3])), (0, 2, 1))
        x = _zyx._concat([_zyx._expand(parts.cls_token.value, (batch, 1, width)), x], 1) + parts.position_embeddings.value
        for layer in self.vit.encoder.layer:
            x = layer(x)
        x = self.vit.layernorm(x)
        if self._has_head:
            return self.classifier(x[:, 0])
        return x, self._pooler_activation(self.vit.pooler.dense(x[:, 0])) if self._has_pooler else None
