# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of folders of Hugging Face and of GGUF files. docs/models.md has an example."""
import importlib
import os
import re

from .. import _zyx
from ._folder import dtype_of, read_config, read_tensors, with_prefix
from ._generate import generate

__all__ = ["generate", "load"]


def _family(module, name, prefix, *arguments):
    """What makes a model of a configuration and its tensors, and the prefix of their names. The module is read when a folder
    names the family."""
    def make(config, tensors):
        return getattr(importlib.import_module("." + module, __name__), name)(config, tensors, *arguments)
    return make, prefix


def _llama(family, has_head=True):
    def make(config, tensors):
        from ._llama import Llama, Shape
        return Llama(Shape(config, family, tensors), has_head)
    return make, "model."


def _gpt2(has_head):
    return _family("_gpt2", "Gpt2", "transformer.", has_head)


def _bert(head):
    return _family("_bert", "Bert", "bert.", head)


def _vit(has_head):
    return _family("_bert", "Vit", "vit.", has_head)


def _resnet(has_head):
    return _family("_resnet", "ResNet", "resnet.", has_head)


def _whisper():
    return _family("_whisper", "Whisper", "model.")


# By a configuration's 'architectures'.
ARCHITECTURES = {
    "BertForMaskedLM": _bert("tokens"),
    "BertForSequenceClassification": _bert("classes"),
    "BertModel": _bert(None),
    "GPT2LMHeadModel": _gpt2(True),
    "GPT2Model": _gpt2(False),
    "LlamaForCausalLM": _llama("llama"),
    "LlamaModel": _llama("llama", False),
    "MistralForCausalLM": _llama("mistral"),
    "MistralModel": _llama("mistral", False),
    "Qwen2ForCausalLM": _llama("qwen2"),
    "Qwen2Model": _llama("qwen2", False),
    "Qwen3ForCausalLM": _llama("qwen3"),
    "Qwen3Model": _llama("qwen3", False),
    "ResNetForImageClassification": _resnet(True),
    "ResNetModel": _resnet(False),
    "ViTForImageClassification": _vit(True),
    "ViTModel": _vit(False),
    "WhisperForConditionalGeneration": _whisper(),
}


def load(path, *, dtype=None):
    """A model of a folder of Hugging Face, with config.json and safetensors, or of a GGUF file.

    Its parameters have their published names and the dtype of the files; `dtype` is another one for all floats. The
    model is not in training. No file of a folder is run: there is no pickle, and no code of a folder is imported.
    What is missing, has another shape, or is of an unknown architecture is an Error that says so.

        >>> import json, pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> config = {"architectures": ["GPT2LMHeadModel"], "n_layer": 1, "n_head": 1, "n_embd": 4, "vocab_size": 6, "n_positions": 8}
        >>> pathlib.Path(folder.name, "config.json").write_text(json.dumps(config)) > 0
        True
        >>> weights = {"wte.weight": zyx.eye(6, 4), "wpe.weight": zyx.zeros((8, 4))}
        >>> for name, shape in (("attn.c_attn", (4, 12)), ("attn.c_proj", (4, 4)), ("mlp.c_fc", (4, 16)), ("mlp.c_proj", (16, 4))):
        ...     weights[f"h.0.{name}.weight"], weights[f"h.0.{name}.bias"] = zyx.zeros(shape), zyx.zeros(shape[1])
        >>> for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        ...     weights[f"{name}.weight"], weights[f"{name}.bias"] = zyx.ones(4), zyx.zeros(4)
        >>> zyx.save(folder.name + "/model.safetensors", weights)
        >>> model = zyx.models.load(folder.name)
        >>> model(zyx.asarray([[2, 3]])).shape
        (1, 2, 6)
        >>> folder.cleanup()
    """
    path = os.fspath(path)
    if os.path.isfile(path) and path.endswith(".gguf"):
        from ._gguf import load_gguf
        if dtype is not None:
            raise _zyx.UnsupportedError(f"{path}: dtype is of folders; what a GGUF file quantises stays so, and is read as float32")
        return load_gguf(path)
    config = read_config(path)
    names = config.list("architectures", str)
    if len(names) != 1 or names[0] not in ARCHITECTURES:
        raise config.wrong(f"'architectures' is {names}; zyx has {', '.join(sorted(ARCHITECTURES))}", _zyx.UnsupportedError)
    if "quantization_config" in config:
        raise config.wrong("'quantization_config': quantised weights are read from GGUF files alone", _zyx.UnsupportedError)
    make, prefix = ARCHITECTURES[names[0]]
    tensors = with_prefix(read_tensors(path), prefix)
    model = make(config, tensors)
    fill(model, tensors, dtype, path)
    return model


def fill(model, tensors, dtype, path):
    """The values of files become the parameters, without a copy where they have their dtype."""
    surplus = model.surplus
    wanted = {name: tensor for name, tensor in tensors.items() if surplus is None or not re.match(surplus, name)}
    try:
        model.load_state(wanted, dtype=dtype or dtype_of(wanted), assign=True)
    except _zyx.Error as error:
        raise type(error)(f"{path}: {error}") from None
    model.eval()
