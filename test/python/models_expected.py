#!/usr/bin/env python3
"""Writes models_expected.json: configurations, shapes of tensors, and values that transformers computes of them.

  test/python/models_expected.py

test_models.py makes the same folders of it where transformers is missing. Weights are numbers of NumPy by their names.
"""
import json
import pathlib
import tempfile
import zlib

import numpy as np

PATH = pathlib.Path(__file__).with_suffix(".json")
SEEN = 48

DECODER = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
           "num_key_value_heads": 2, "vocab_size": 97, "max_position_embeddings": 64}


def rope(kind, **options):
    return {**DECODER, "rope_parameters": {"rope_type": kind, "rope_theta": 100.0, **options}}


BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 97,
        "max_position_embeddings": 16, "num_labels": 5}
VIT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 24,
       "patch_size": 8, "num_labels": 7}
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 97, "n_positions": 48}
RESNET = {"embedding_size": 8, "hidden_sizes": [16, 24], "depths": [2, 1], "num_labels": 3}
WHISPER = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
           "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "vocab_size": 97, "num_mel_bins": 8, "max_source_positions": 20,
           "max_target_positions": 40, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3,
           "begin_suppress_tokens": None}

# Of each: the class, and what its configuration says.
CASES = {
    "llama": ("LlamaForCausalLM", {**DECODER, "attention_bias": True, "mlp_bias": True}),
    "llama-one-kv-head": ("LlamaForCausalLM", {**DECODER, "num_key_value_heads": 1, "head_dim": 12}),
    "llama-without-head": ("LlamaModel", DECODER),
    "llama-tied-llama3": ("LlamaForCausalLM", {
        **rope("llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
        "tie_word_embeddings": True}),
    "llama-linear": ("LlamaForCausalLM", rope("linear", factor=4.0)),
    "llama-dynamic": ("LlamaForCausalLM", rope("dynamic", factor=4.0)),
    "llama-yarn": ("LlamaForCausalLM", rope("yarn", factor=4.0, original_max_position_embeddings=16)),
    "mistral-window": ("MistralForCausalLM", {**DECODER, "head_dim": 12, "sliding_window": 4}),
    "mistral-no-window": ("MistralForCausalLM", {**DECODER, "sliding_window": None}),
    "qwen2": ("Qwen2ForCausalLM", {**DECODER, "tie_word_embeddings": True}),
    "qwen2-window": ("Qwen2ForCausalLM", {**DECODER, "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}),
    "qwen3": ("Qwen3ForCausalLM", {**DECODER, "head_dim": 10}),
    "gpt2": ("GPT2LMHeadModel", GPT2),
    "gpt2-options": ("GPT2LMHeadModel", {**GPT2, "scale_attn_by_inverse_layer_idx": True, "tie_word_embeddings": False,
                                         "n_inner": 40, "activation_function": "relu"}),
    "bert": ("BertModel", BERT),
    "bert-tokens": ("BertForMaskedLM", BERT),
    "bert-classes": ("BertForSequenceClassification", BERT),
    "vit": ("ViTModel", VIT),
    "vit-classes": ("ViTForImageClassification", {**VIT, "image_size": [24, 16], "patch_size": [8, 4], "qkv_bias": False}),
    "resnet": ("ResNetModel", RESNET),
    "resnet-classes": ("ResNetForImageClassification", {**RESNET, "downsample_in_bottleneck": True}),
    "resnet-basic": ("ResNetForImageClassification", {**RESNET, "layer_type": "basic", "downsample_in_first_stage": True}),
    "whisper": ("WhisperForConditionalGeneration", WHISPER),
}


def weight(name, shape):
    """Numbers of a tensor, of which layers of norms have scales near 1 and variances above 0."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    values = random.normal(size=shape) * 0.1
    if name.endswith("running_var"):
        values = np.abs(values) + 0.5
    elif name.endswith("weight") and len(shape) == 1:
        values += 1
    return values.astype("float32")


def inputs(name, config):
    """Arguments of the model, by transformers' names."""
    random = np.random.default_rng(7)
    tokens = random.integers(0, 97, (2, 11))
    if name.startswith("bert"):
        mask = np.ones((2, 11), "int64")
        mask[1, 7:] = 0
        return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": random.integers(0, 2, (2, 11))}
    if name.startswith("vit"):
        extent = config["image_size"]
        return {"pixel_values": random.normal(size=(2, 3, *([extent] * 2 if isinstance(extent, int) else extent))).astype("f")}
    if name.startswith("resnet"):
        return {"pixel_values": random.normal(size=(2, 3, 41, 50)).astype("f")}
    if name.startswith("whisper"):
        return {"input_features": random.normal(size=(2, 8, 40)).astype("f"), "decoder_input_ids": tokens}
    return {"input_ids": tokens}


def seen(values):
    """Some numbers of a result, spread over it."""
    flat = np.asarray(values, dtype="float64").reshape(-1)
    return flat[np.linspace(0, flat.size - 1, SEEN).astype(int)].tolist()


def reference(name, model):
    """The results of transformers: logits, or hidden rows."""
    import torch
    arguments = {key: torch.tensor(value) for key, value in inputs(name, CASES[name][1]).items()}
    arguments = {key: value.to(model.dtype) if value.is_floating_point() else value for key, value in arguments.items()}
    with torch.no_grad():
        out = model(**arguments)
    return (out.logits if hasattr(out, "logits") else out.last_hidden_state).float().numpy()


def made(name):
    """The model of transformers with these weights."""
    import torch
    import transformers
    kind, config = CASES[name]
    kind = getattr(transformers, kind)
    model = kind(kind.config_class(**config)).eval()
    with torch.no_grad():
        # What is tied comes once.
        for key, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if key in model.state_dict() and tensor.is_floating_point():
                tensor.copy_(torch.tensor(weight(key, tuple(tensor.shape))))
    return model


def main():
    from safetensors import safe_open
    found = {}
    for name in CASES:
        model = made(name)
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            config = json.loads((pathlib.Path(folder) / "config.json").read_text())
            with safe_open(f"{folder}/model.safetensors", "np") as file:
                tensors = {key: file.get_tensor(key) for key in file.keys()}
        # A name of a file may be another one than that of the parameter, whose numbers these are.
        by_sum = {key: float(value.astype("float64").sum()) for key, value in tensors.items()}
        own = {key: value.detach() for key, value in [*model.named_parameters(), *model.named_buffers()]
               if value.is_floating_point()}
        names = {}
        for key, total in by_sum.items():
            same = [k for k, v in own.items() if tuple(v.shape) == tensors[key].shape and abs(
                float(v.double().sum()) - total) < 1e-6]
            names[key] = same[0] if same else None
        assert all(names[key] or not tensors[key].ndim for key in names), names
        found[name] = {"config": {k: v for k, v in config.items() if k != "transformers_version"},
                       "tensors": {k: [names[k], list(tensors[k].shape)] for k in tensors if names[k]},
                       "values": [round(x, 7) for x in seen(reference(name, model))]}
    PATH.write_text(json.dumps(found, indent=None, separators=(",", ":")).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
