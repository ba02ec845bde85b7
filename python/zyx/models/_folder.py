# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folders of Hugging Face: config.json, and tensors in safetensors files. Nothing of a folder is run."""
import os
import re

from .. import _zyx
from ._config import Config, InvalidArgumentError, UnsupportedError, read_json

# Values that older programs saved with the parameters, and that follow from the configuration.
DERIVED = re.compile(r"(^|\.)(rotary_emb\.inv_freq|attn\.bias|attn\.masked_bias|position_ids|num_batches_tracked)$")
# What the first programs of BERT called the parameters of norms.
OLD = re.compile(r"(?<=LayerNorm)\.(gamma|beta)$")
UNSAFE = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".msgpack", ".h5")


def read_config(folder):
    if not os.path.isdir(folder):
        raise InvalidArgumentError(f"{folder}: is no folder of a model")
    path = os.path.join(folder, "config.json")
    if not os.path.isfile(path):
        raise InvalidArgumentError(f"{folder}: has no config.json")
    return Config(read_json(path), path)


def _expect_files(folder):
    """Safetensors, each a file of the folder itself. Links are followed, as the cache of a hub has them."""
    if os.path.isfile(os.path.join(folder, "model.safetensors")):
        return os.path.join(folder, "model.safetensors")
    index = os.path.join(folder, "model.safetensors.index.json")
    if os.path.isfile(index):
        names = Config(read_json(index), index).inner("weight_map").values
        for tensor, name in names.items():
            if not isinstance(name, str) or os.path.basename(name) != name or name in ("", ".", "..") or "\\" in name:
                raise InvalidArgumentError(f"{index}: '{tensor}' is in {name!r}, which is no file of the folder")
            if not name.endswith(".safetensors"):
                raise UnsupportedError(f"{index}: '{tensor}' is in '{name}', which is no safetensors file")
        if not names:
            raise InvalidArgumentError(f"{index}: names no tensor")
        for name in sorted(set(names.values())):
            if not os.path.isfile(os.path.join(folder, name)):
                raise InvalidArgumentError(f"{folder}: '{name}' is missing, or no file")
        return folder
    unsafe = [name for name in sorted(os.listdir(folder)) if name.endswith(UNSAFE)]
    if unsafe:
        raise UnsupportedError(f"{folder}: has tensors in '{unsafe[0]}' alone; such a file may run code when it is read, or "
                               "has another format: convert it to safetensors")
    raise InvalidArgumentError(f"{folder}: has neither model.safetensors nor model.safetensors.index.json")


def read_tensors(folder):
    """Arrays by their published names, each in its file until it is needed."""
    tensors = _zyx.load(_expect_files(folder), map=True)
    named = {}
    for name, tensor in tensors.items():
        if DERIVED.search(name):
            continue
        own = OLD.sub(lambda end: ".weight" if end[1] == "gamma" else ".bias", name)
        if own in named:
            raise InvalidArgumentError(f"{folder}: '{own}' is there by its old name, too")
        named[own] = tensor
    return named


def with_prefix(tensors, prefix):
    """Checkpoints of a base model have names without the prefix that it has in a model with a head."""
    if any(name.startswith(prefix) for name in tensors):
        return tensors
    return {prefix + name: tensor for name, tensor in tensors.items()}


def count_of(tensors, pattern):
    """How many layers there are names for, counted from 0, or -1 where numbers are left out."""
    found = {int(match[1]) for name in tensors if (match := re.match(pattern + r"\.(\d{1,6})\.", name))}
    return len(found) if found == set(range(len(found))) else -1


def expect_layers(config, key, count, tensors, prefix):
    """Before a module is made for each: a configuration may say any number."""
    found = count_of(tensors, re.escape(prefix))
    if found != count:
        raise config.wrong(f"'{key}' is {count}, and the files have " +
                           (f"{found} layers" if found >= 0 else "layers that are not numbered from 0") + f" in '{prefix}'")


def expect_shape(config, tensors, name, shape, keys):
    """Before memory is taken by what a configuration says."""
    if name not in tensors:
        raise config.wrong(f"the files have no tensor '{name}'")
    if tensors[name].shape != tuple(shape):
        raise config.wrong(f"{keys} say that '{name}' has the shape {tuple(shape)}; in the files it has "
                           f"{tensors[name].shape}")


def dtype_of(tensors):
    """The dtype of floats that most elements have."""
    sizes = {}
    for tensor in tensors.values():
        if tensor.dtype.is_float:
            sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.size
    return max(sizes, key=sizes.get) if sizes else _zyx.float32
