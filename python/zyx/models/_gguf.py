# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of GGUF files. Quantised weights stay so: a program reads their blocks."""
import math
import re

from .. import _zyx, nn
from ._config import Config
from ._llama import Llama, Shape

# Keys of the metadata, without the architecture in front, and those of config.json.
KEYS = {"block_count": "num_hidden_layers", "embedding_length": "hidden_size", "feed_forward_length": "intermediate_size",
        "attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads",
        "attention.key_length": "head_dim", "attention.layer_norm_rms_epsilon": "rms_norm_eps",
        "context_length": "max_position_embeddings", "rope.freq_base": "rope_theta"}
PARTS = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm", "ffn_gate": "mlp.gate_proj",
         "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
NAMES = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
         "output.weight": "lm_head.weight"}
EMBEDDING = "model.embed_tokens.weight"


class BlockEmbedding(nn.Module):
    """An embedding whose rows are blocks: those of the tokens alone become numbers."""

    def __init__(self, blocks, form, width):
        super().__init__()
        for name, value in (("_form", form), ("_width", width)):
            object.__setattr__(self, name, value)
        self.weight = nn.Parameter(blocks)

    def __call__(self, tokens):
        return _zyx._dequantise(_zyx._take(self.weight.value, tokens, 0), self._form, (*tokens.shape, self._width))

    def table(self):
        """The numbers of all rows."""
        blocks = self.weight.value
        return _zyx._dequantise(blocks, self._form, (blocks.shape[0], self._width))


def published(name):
    """The name that a tensor has in a folder."""
    if name in NAMES:
        return NAMES[name]
    match = re.fullmatch(r"blk\.(\d{1,6})\.(\w+)\.(weight|bias)", name)
    return f"model.layers.{match[1]}.{PARTS[match[2]]}.{match[3]}" if match and match[2] in PARTS else name


# What would change the numbers, of architectures that are no others by name.
UNKNOWN = ("attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias", "attn_logit_softcapping",
           "final_logit_softcapping", "logit_scale", "embedding_scale", "residual_scale")
# Keys behind "rope." that say nothing new, or are read elsewhere.
ROPE = {"freq_base", "dimension_count", "scaling.type", "scaling.factor", "scaling.original_context_length", "scaling.finetuned",
        "scaling.attn_factor", "scaling.yarn_beta_fast", "scaling.yarn_beta_slow", "scale_linear"}
# Those that change nothing where they have this value.
NEUTRAL = {"scaling.yarn_ext_factor": 1.0, "scaling.yarn_attn_factor": 1.0, "scaling.yarn_log_multiplier": 0.0,
           "scaling.alpha": 0.0}


def rope_scaling(said, prefix):
    """The object `rope_scaling` of config.json, or None. As in llama.cpp, a factor without a type is linear."""
    for key in said.values:
        short = key.removeprefix(prefix)
        if key.startswith(prefix) and short not in ROPE and (short not in NEUTRAL or said.number(key) != NEUTRAL[short]):
            raise said.wrong(f"'{key}' is {said.values[key]!r}, which zyx does not have", _zyx.UnsupportedError)
    factor = said.number(prefix + "scaling.factor", None) or said.number(prefix + "scale_linear", None)
    kind = said.choice(prefix + "scaling.type", {"none": None, "linear": "linear", "yarn": "yarn"},
                       "linear" if factor else "none")
    loudness = said.number(prefix + "scaling.attn_factor", 1.0)
    if kind != "yarn" and loudness != 1:
        raise said.wrong(f"'{prefix}scaling.attn_factor' is {loudness}, which zyx has for 'yarn' alone", _zyx.UnsupportedError)
    if kind is None:
        return None
    if not factor:
        raise said.wrong(f"'{prefix}scaling.factor' is missing")
    found = {"rope_type": kind, "factor": factor}
    if kind == "yarn":
        for theirs, ours in (("original_context_length", "original_max_position_embeddings"), ("yarn_beta_fast", "beta_fast"),
                             ("yarn_beta_slow", "beta_slow")):
            if f"{prefix}scaling.{theirs}" in said:
                found[ours] = said.values[f"{prefix}scaling.{theirs}"]
        # Theirs is a factor of what transformers takes without one.
        found["attention_factor"] = loudness * (1.0 if factor <= 1 else 0.1 * math.log(factor) + 1.0)
    return found


def load_gguf(path):
    metadata, tensors, blocks = _zyx._load_gguf(path)
    said = Config(metadata, path)
    kind = said.choice("general.architecture", {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3"})
    values = {ours: metadata[f"{kind}.{key}"] for key, ours in KEYS.items() if f"{kind}.{key}" in metadata}
    frequencies = tensors.pop("rope_freqs.weight", None)
    scaling = rope_scaling(said, f"{kind}.rope.")
    if scaling:
        values["rope_scaling"] = scaling
    width = metadata.get(f"{kind}.attention.value_length")
    if width is not None and width != metadata.get(f"{kind}.attention.key_length", width):
        raise said.wrong(f"'{kind}.attention.value_length' is not '{kind}.attention.key_length'", _zyx.UnsupportedError)
    for key in UNKNOWN:
        if metadata.get(f"{kind}.{key}"):
            raise said.wrong(f"'{kind}.{key}' is {metadata[f'{kind}.{key}']!r}, which zyx does not have", _zyx.UnsupportedError)
    if metadata.get(f"{kind}.attention.sliding_window"):
        raise said.wrong("has a sliding window, which zyx has of folders alone", _zyx.UnsupportedError)
    if f"{kind}.expert_count" in metadata and metadata[f"{kind}.expert_count"]:
        raise said.wrong("has experts, which zyx has no model with", _zyx.UnsupportedError)
    tensors = {published(name): tensor for name, tensor in tensors.items()}
    if EMBEDDING not in tensors or tensors[EMBEDDING].ndim != 2:
        raise said.wrong("has no matrix 'token_embd.weight'")
    if f"{kind}.rope.dimension_count" in metadata and "head_dim" not in values:
        values["head_dim"] = metadata[f"{kind}.rope.dimension_count"]
    values.update(vocab_size=tensors[EMBEDDING].shape[0], hidden_act="silu",
                  tie_word_embeddings="lm_head.weight" not in tensors,
                  attention_bias="model.layers.0.self_attn.o_proj.bias" in tensors,
                  mlp_bias="model.layers.0.mlp.down_proj.bias" in tensors,
                  eos_token_id=metadata.get("tokenizer.ggml.eos_token_id"))
    config = Config(values, path)
    if f"{kind}.rope.dimension_count" in metadata and metadata[f"{kind}.rope.dimension_count"] != values["head_dim"]:
        raise said.wrong("'rope.dimension_count' is not the width of a head; zyx turns whole heads alone",
                         _zyx.UnsupportedError)
    shape = Shape(config, kind, tensors)
    # The converter of Llama reorders the rows of queries and keys for pairs of neighbours; that of Qwen does not.
    shape.is_interleaved = kind == "llama"
    if frequencies is not None:
        if frequencies.shape != (shape.head_width // 2,):
            raise said.wrong(f"'rope_freqs.weight' has the shape {frequencies.shape}, not {(shape.head_width // 2,)}")
        shape.frequencies = _zyx.divide(shape.frequencies, _zyx._cast(frequencies, _zyx.float32))
    embedding = None
    if "token_embd.weight" in blocks:
        tensors[EMBEDDING], form = blocks["token_embd.weight"]
        embedding = BlockEmbedding(tensors[EMBEDDING], form, shape.width)
    model = Llama(shape, embedding=embedding)
    from . import fill
    fill(model, tensors, _zyx.float32, path)
    return model
