"""Models of folders: what they compute beside transformers, generation, bad folders, GGUF, the program, the page of docs.

Values of transformers are kept in models_expected.json. Where it is installed, folders that it wrote are read, too.
"""
import gc
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import weakref

import models_expected
import numpy as np
import pytest

import zyx
import zyx.models

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPECTED = json.loads(models_expected.PATH.read_text())
TOLERANCE = 1e-4


def write(folder, name="llama", shards=3, change=None, dtype=None, **config):
    """A folder as published, with an index of several files."""
    case = EXPECTED[name]
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**case["config"], **config}))
    tensors = {key: zyx.asarray(models_expected.weight(own, tuple(shape))) for key, (own, shape) in case["tensors"].items()}
    if dtype:
        tensors = {key: zyx.astype(tensor, dtype) for key, tensor in tensors.items()}
    if change:
        change(tensors)
    names = sorted(tensors)
    weights = {}
    for at in range(shards):
        file = f"model-{at + 1:05}-of-{shards:05}.safetensors"
        part = names[at::shards]
        zyx.save(str(folder / file), {key: tensors[key] for key in part})
        weights.update({key: file for key in part})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))
    return folder


def run(name, model):
    arguments = {key: zyx.asarray(value) for key, value in models_expected.inputs(name, EXPECTED[name]["config"]).items()}
    if name.startswith("bert"):
        found = model(arguments["input_ids"], mask=arguments["attention_mask"], kinds=arguments["token_type_ids"])
    else:
        found = model(*arguments.values())
    return np.asarray(zyx.astype(found[0] if isinstance(found, tuple) else found, zyx.float32))


@pytest.mark.parametrize("name", models_expected.CASES)
def test_values(name, tmp_path):
    """What transformers computed of the same weights."""
    model = zyx.models.load(write(tmp_path / "model", name))
    assert not model.is_training
    np.testing.assert_allclose(models_expected.seen(run(name, model)), EXPECTED[name]["values"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("name", models_expected.CASES)
def test_beside_transformers(name, tmp_path):
    """All values, of folders that transformers wrote."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    theirs = models_expected.made(name)
    theirs.save_pretrained(tmp_path, max_shard_size="10KB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    model = zyx.models.load(tmp_path)
    np.testing.assert_allclose(run(name, model), models_expected.reference(name, theirs), atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("name", ["llama", "mistral-window", "qwen2", "qwen3", "gpt2", "bert-tokens", "vit-classes", "whisper"])
def test_bfloat16_is_kept(name, tmp_path):
    """Logits of bf16 weights are off by at most 2^-5 of the largest one from those of the same weights in f32."""
    folder = write(tmp_path / "model", name, dtype=zyx.bfloat16)
    model, wide = zyx.models.load(folder), zyx.models.load(folder, dtype=zyx.float32)
    assert {parameter.dtype for _, parameter in model.named_parameters()} == {zyx.bfloat16}
    found, exact = run(name, model), run(name, wide)
    assert 0 < np.abs(found - exact).max() <= 2**-5 * np.abs(exact).max()
    # And are not worse than twice what transformers loses.
    if models_expected.CASES[name][0] in vars(sys.modules.get("transformers", sys)):
        import torch
        import transformers
        theirs = getattr(transformers, models_expected.CASES[name][0]).from_pretrained(folder, dtype=torch.bfloat16)
        lost = np.abs(models_expected.reference(name, theirs) - exact).max()
        assert np.abs(found - exact).max() <= 2 * lost


def test_names_are_those_published(tmp_path):
    model = zyx.models.load(write(tmp_path / "model"))
    assert set(dict(model.named_parameters())) == set(EXPECTED["llama"]["tensors"])
    assert "model.layers.1.self_attn.q_proj.weight" in dict(model.named_parameters())


# Generation


PROMPTS = [[5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9], [50]]


def greedy(model, prompt, count):
    """The likeliest tokens, each by a pass over all of them."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(np.argmax(np.asarray(model(zyx.asarray([tokens])))[0, -1])))
    return tokens[len(prompt):]


@pytest.mark.parametrize("name", ["llama", "llama-one-kv-head", "mistral-window", "qwen3", "gpt2"])
def test_a_cache_gives_what_all_rows_give(name, tmp_path):
    model = zyx.models.load(write(tmp_path / "model", name))
    found = model.generate(PROMPTS, max_new_tokens=6, stop=())
    assert found == [greedy(model, prompt, 6) for prompt in PROMPTS]


def test_a_token_is_a_call_of_one_program(tmp_path):
    """Places, temperatures, and prompts of other lengths are data."""
    model = zyx.models.load(write(tmp_path / "model"))
    model.generate(PROMPTS, max_new_tokens=3, stop=())
    before = zyx.counters()["compiles"]
    model.generate([[9, 9], [1], [4, 5, 6, 7]], max_new_tokens=3, stop=())
    model.generate(PROMPTS, max_new_tokens=12, stop=())
    programs = model._generation_programs[(False, 0, False)]
    assert [program.captures for program in programs] == [1, 1] and zyx.counters()["compiles"] == before
    for temperature, top_p in ((0.5, 0.9), (1.5, 0.4)):
        model.generate(PROMPTS, max_new_tokens=4, stop=(), temperature=temperature, top_p=top_p)
    assert [program.captures for program in model._generation_programs[(True, 0, True)]] == [1, 1]


def test_a_cache_is_updated_in_place(tmp_path):
    """The step takes the caches, and needs no memory for others: one more copy would be as large."""
    model = zyx.models.load(write(tmp_path / "model"))
    place, key = zyx.asarray(0), zyx.random.key(0)
    caches = [zyx.nn.KVCache(*(zyx.asarray(np.zeros((1, 2, 65536, 8), "f")) for _ in range(2))) for _ in range(2)]
    step = zyx.jit(lambda tokens, caches, start: model.forward_cached(tokens, caches, start), donate_argnums=(1,))
    tokens = zyx.asarray([[1]])
    for at in range(3):
        logits, caches = step(tokens, caches, zyx.asarray(at))
        zyx.eval(logits, caches)
    before = [memoryview(np.asarray(cache.keys)).obj.__array_interface__["data"][0] for cache in caches]
    logits, caches = step(tokens, caches, zyx.asarray(3))
    zyx.eval(logits, caches)
    after = [memoryview(np.asarray(cache.keys)).obj.__array_interface__["data"][0] for cache in caches]
    assert before == after
    rows = np.asarray(caches[0].keys)[0, 0]
    assert np.abs(rows[:4]).min(axis=1).max() > 0 and not rows[4:].any()


def test_sampling(tmp_path):
    model = zyx.models.load(write(tmp_path / "model"))
    likeliest = model.generate(PROMPTS, max_new_tokens=5, stop=())
    options = {"max_new_tokens": 5, "stop": ()}
    # Of the one likeliest token, or those that have little probability together, there is no choice.
    assert model.generate(PROMPTS, temperature=2.0, top_k=1, **options) == likeliest
    assert model.generate(PROMPTS, temperature=2.0, top_p=1e-6, **options) == likeliest
    assert model.generate(PROMPTS, temperature=1e-4, **options) == likeliest
    first = model.generate(PROMPTS, temperature=1.0, seed=1, **options)
    assert first == model.generate(PROMPTS, temperature=1.0, seed=1, **options)
    assert first != model.generate(PROMPTS, temperature=1.0, seed=2, **options)


def test_sampling_has_the_probabilities():
    """Frequencies of 4000 draws beside softmax(logits / temperature), cut by top_k and by top_p."""
    from zyx.models._generate import Sampling
    logits = np.log(np.asarray([0.5, 0.05, 0.25, 0.15, 0.05]))
    rows = zyx.asarray(np.tile(logits, (4000, 1)).astype("f"))
    cases = [((1.0, 0, 1.0), [0.5, 0.05, 0.25, 0.15, 0.05]), ((1.0, 2, 1.0), [2 / 3, 0, 1 / 3, 0, 0]),
             ((1.0, 0, 0.8), [5 / 9, 0, 2.5 / 9, 1.5 / 9, 0]), ((0.5, 3, 1.0), np.asarray([25, 0, 6.25, 2.25, 0]) / 33.5),
             ((1.0, 3, 0.6), [2 / 3, 0, 1 / 3, 0, 0])]
    for options, expected in cases:
        sampling = Sampling(*options)
        drawn = np.asarray(sampling.choose(rows, zyx.random.key(3), *sampling.data)).reshape(-1)
        counts = np.bincount(drawn, minlength=5) / 4000
        np.testing.assert_allclose(counts, expected, atol=0.03)
        assert not counts[np.asarray(expected) == 0].any()


def test_a_model_that_is_let_go_is_gone(tmp_path):
    model = zyx.models.load(write(tmp_path / "model"))
    model.generate(PROMPTS, max_new_tokens=2)
    seen = weakref.ref(model)
    del model
    gc.collect()
    assert seen() is None


def test_sequences_end_by_themselves(tmp_path):
    model = zyx.models.load(write(tmp_path / "model"))
    whole = model.generate(PROMPTS, max_new_tokens=8, stop=())
    stop = whole[0][3]
    cut = [row[:row.index(stop)] if stop in row else row for row in whole]
    seen = [[], [], []]
    assert model.generate(PROMPTS, max_new_tokens=8, stop=stop, stream=lambda row, token: seen[row].append(token)) == cut
    assert seen == cut
    other = zyx.models.load(write(tmp_path / "other", eos_token_id=[stop, 96]))
    assert other.generate(PROMPTS[:1], max_new_tokens=8) == [whole[0][:whole[0].index(stop)]]
    assert model.generate(PROMPTS, max_new_tokens=0) == [[], [], []]


def test_bad_requests(tmp_path):
    model = zyx.models.load(write(tmp_path / "model", "gpt2"))
    for prompts, options, text in [([], {}, "no prompt"), ([[]], {}, "has no token"), ([[97]], {}, "no token of 97"),
                                   ([[-1]], {}, "no token of 97"), ([[1.5]], {}, "no token of 97"),
                                   ([[1]], {"temperature": -1}, "temperature"), ([[1]], {"top_p": 0}, "top_p"),
                                   ([[1]], {"top_k": -1}, "top_k"), ([[1]], {"max_new_tokens": 48}, "48 positions"),
                                   ([[1]], {"max_new_tokens": -1}, "max_new_tokens")]:
        with pytest.raises(ValueError, match=text):
            model.generate(prompts, **options)
    with pytest.raises(ValueError, match="48 positions"):
        model(zyx.zeros((1, 49), dtype=zyx.int64))
    with pytest.raises(ValueError, match="tokens are integers"):
        model(zyx.zeros((1, 4)))


def test_generation_beside_transformers(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    for name in ("llama", "mistral-window", "gpt2"):
        theirs = models_expected.made(name)
        theirs.save_pretrained(tmp_path / name)
        width = max(map(len, PROMPTS))
        tokens = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in PROMPTS])
        mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in PROMPTS])
        expected = theirs.generate(tokens, attention_mask=mask, max_new_tokens=20, do_sample=False, eos_token_id=None,
                                   pad_token_id=0)[:, width:].tolist()
        assert zyx.models.load(tmp_path / name).generate(PROMPTS, max_new_tokens=20, stop=()) == expected


def test_whisper_generates(tmp_path):
    model = zyx.models.load(write(tmp_path / "model", "whisper"))
    features = zyx.asarray(np.random.default_rng(1).normal(size=(2, 8, 40)).astype("f"))
    found, tokens = model.generate(features, max_new_tokens=5, stop=()), np.full((2, 1), 3)
    for _ in range(5):
        last = np.argmax(np.asarray(model(features, zyx.asarray(tokens)))[:, -1], axis=1)
        tokens = np.concatenate([tokens, last[:, None]], axis=1)
    assert found == tokens[:, 1:].tolist()


# Folders that are not what they should be


def rejected(folder, text, kind=ValueError):
    with pytest.raises(kind, match=text) as caught:
        zyx.models.load(folder)
    assert isinstance(caught.value, zyx.Error)


def config_of(folder, **changes):
    path = folder / "config.json"
    values = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in values.items() if value is not ...}))
    return folder


@pytest.mark.parametrize("changes, text", [
    ({"hidden_size": ...}, "'hidden_size' is missing"),
    ({"hidden_size": "32"}, "'hidden_size' is '32', and no integer"),
    ({"hidden_size": -32}, "no integer"),
    ({"hidden_size": True}, "no integer"),
    ({"hidden_size": 10**30}, "no integer"),
    ({"hidden_size": 2**30}, "embed_tokens.weight' has the shape"),
    ({"vocab_size": 2**30}, "embed_tokens.weight' has the shape"),
    ({"num_hidden_layers": 10**9}, "'num_hidden_layers' is 1000000000, and the files have 2 layers"),
    ({"num_hidden_layers": 1}, "the files have 2 layers"),
    ({"num_attention_heads": 8}, "q_proj.weight"),
    ({"num_key_value_heads": 3}, "4 heads do not fall into 3"),
    ({"num_key_value_heads": 4}, "k_proj.weight' is .*, not "),
    ({"intermediate_size": 49}, "gate_proj.weight' is .*, not "),
    ({"attention_bias": False}, "superfluous"),
    ({"rms_norm_eps": "small"}, "no finite number"),
    ({"tie_word_embeddings": 1}, "neither true nor false"),
    ({"rope_parameters": [1]}, "no object"),
    ({"rope_parameters": {"rope_type": "linear"}}, "'factor' is missing"),
    ({"rope_parameters": {"rope_type": "linear", "factor": 0}}, "not above 0"),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e-300}}, "'rope_theta' is 1e-300"),
    ({"rope_parameters": {"rope_type": "linear", "factor": 1e-300, "rope_theta": 1e-29}}, "no finite numbers"),
    ({"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 1e300}}, "'beta_fast' is 1e.300"),
    ({"architectures": "LlamaForCausalLM"}, "no list of str"),
    ({"architectures": ...}, "'architectures' is missing"),
])
def test_a_configuration_that_is_wrong(changes, text, tmp_path):
    rejected(config_of(write(tmp_path / "model"), **changes), text)


@pytest.mark.parametrize("changes, text", [
    ({"architectures": ["NoSuchModel"]}, "'architectures' is .'NoSuchModel'.; zyx has BertForMaskedLM"),
    ({"hidden_act": "no"}, "'hidden_act' is 'no'; zyx has gelu"),
    ({"rope_parameters": {"rope_type": "longrope", "rope_theta": 100.0}}, "'rope_type' is 'longrope'; zyx has default"),
    ({"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}}, "whole heads alone"),
    ({"quantization_config": {"quant_method": "gptq"}}, "GGUF files alone"),
])
def test_a_configuration_of_another_model(changes, text, tmp_path):
    rejected(config_of(write(tmp_path / "model"), **changes), text, NotImplementedError)


def test_configurations_that_are_no_json(tmp_path):
    folder = write(tmp_path / "model")
    for text in ("", "[1]", "{\"a\":", "[" * 100000, "\xff"):
        (folder / "config.json").write_bytes(text.encode("latin-1"))
        rejected(folder, "config.json: is no")
    (folder / "config.json").unlink()
    rejected(folder, "has no config.json")
    rejected(tmp_path / "none", "is no folder of a model")


def test_tensors_that_are_wrong(tmp_path):
    name = "model.layers.1.mlp.up_proj.weight"

    def drop(tensors):
        del tensors[name]

    rejected(write(tmp_path / "a", change=drop), f"'{name}' is missing")
    rejected(write(tmp_path / "b", change=lambda t: t.update({name: zyx.zeros((48, 31))})), f"'{name}' is .*31.*, not")
    rejected(write(tmp_path / "c", change=lambda t: t.update({name: zyx.zeros((48, 32), dtype=zyx.int32)})), f"'{name}' is")
    rejected(write(tmp_path / "d", change=lambda t: t.update({"model.more": zyx.zeros(1)})), "'model.more' is superfluous")


def test_files_that_are_cut_or_elsewhere(tmp_path):
    folder = write(tmp_path / "model")
    first = sorted(folder.glob("*.safetensors"))[0]
    index = folder / "model.safetensors.index.json"
    whole, names = first.read_bytes(), json.loads(index.read_text())
    for size in (0, 7, 100, len(whole) - 1):
        first.write_bytes(whole[:size])
        rejected(folder, "model-00001", zyx.Error)
    first.unlink()
    rejected(folder, "'model-00001-of-00003.safetensors' is missing")
    first.write_bytes(whole)
    shutil.copy(first, tmp_path / "outside.safetensors")
    tensor = sorted(names["weight_map"])[0]
    for path in ("../outside.safetensors", str(tmp_path / "outside.safetensors"), "..", "", "a/../model.safetensors", 3):
        index.write_text(json.dumps({"weight_map": {**names["weight_map"], tensor: path}}))
        rejected(folder, "which is no file of the folder")
    index.write_text(json.dumps({"weight_map": {**names["weight_map"], tensor: "pytorch_model.bin"}}))
    rejected(folder, "no safetensors file", NotImplementedError)
    index.write_text(json.dumps({"weight_map": {}}))
    rejected(folder, "names no tensor")
    index.write_text(json.dumps({"weight_map": [1]}))
    rejected(folder, "no object")


def test_nothing_is_unpickled_or_imported(tmp_path):
    folder = write(tmp_path / "model")
    for path in folder.glob("*.safetensors*"):
        path.unlink()
    marker = tmp_path / "ran"
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch " + str(marker).encode() + b"'\ntR.")
    (folder / "modeling_own.py").write_text(f"open({str(marker)!r}, 'w')")
    config_of(folder, auto_map={"AutoModelForCausalLM": "modeling_own.Own"})
    rejected(folder, "'pytorch_model.bin' alone", NotImplementedError)
    (folder / "pytorch_model.bin").unlink()
    rejected(folder, "neither model.safetensors nor")
    assert not marker.exists()


def test_what_older_programs_saved(tmp_path):
    """Buffers that follow from the configuration, names of norms, heads that a model has not, and names without a prefix."""
    def old(tensors):
        for key in list(tensors):
            if "LayerNorm" in key:
                tensors[key.replace("weight", "gamma").replace("bias", "beta")] = tensors.pop(key)
        tensors["bert.embeddings.position_ids"] = zyx.zeros((1, 16), dtype=zyx.int64)
        tensors["cls.seq_relationship.weight"] = zyx.zeros((2, 32))
        tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]

    model = zyx.models.load(write(tmp_path / "bert", "bert-tokens", change=old))
    np.testing.assert_allclose(models_expected.seen(run("bert-tokens", model)), EXPECTED["bert-tokens"]["values"], atol=1e-4)

    def both(tensors):
        for key in list(tensors):
            if "LayerNorm.weight" in key:
                tensors[key.replace("weight", "gamma")] = tensors[key]

    rejected(write(tmp_path / "both", "bert-tokens", change=both), "is there by its old name, too")

    def short(tensors):
        for key in list(tensors):
            tensors[key.removeprefix("transformer.")] = tensors.pop(key)
        tensors["h.0.attn.bias"] = zyx.ones((1, 1, 48, 48))

    model = zyx.models.load(write(tmp_path / "gpt2", "gpt2", change=short))
    np.testing.assert_allclose(models_expected.seen(run("gpt2", model)), EXPECTED["gpt2"]["values"], atol=1e-4)


# Files of GGUF


def halves(values):
    return np.asarray(values).astype("<f2")


def q8_0(x):
    """Blocks of 32 numbers, and the numbers that these are."""
    rows = x.reshape(-1, 32)
    scales = halves(np.abs(rows).max(axis=1, keepdims=True) / 127)
    whole = np.round(rows / scales.astype("f")).clip(-127, 127).astype("i1")
    return 8, np.concatenate([scales.view("u1"), whole.view("u1")], axis=1).tobytes(), (scales.astype("f") * whole).reshape(x.shape)


def q4_0(x):
    rows = x.reshape(-1, 32)
    scales = halves(np.abs(rows).max(axis=1, keepdims=True) / 7)
    whole = (np.round(rows / scales.astype("f")).clip(-8, 7) + 8).astype("u1")
    packed = whole[:, :16] | whole[:, 16:] << 4
    return 2, np.concatenate([scales.view("u1"), packed], axis=1).tobytes(), (
        scales.astype("f") * (whole.astype("f") - 8)).reshape(x.shape)


def f32(x):
    return 0, x.astype("<f4").tobytes(), x


def f16(x):
    return 1, halves(x).tobytes(), halves(x).astype("f")


# Blocks as GGUF has them, u8[n, bytes], to numbers. These follow the layouts of the format, not lib/Graph/Dequantise.cpp.


def f16_at(b, at):
    return np.ascontiguousarray(b[:, at:at + 2]).view("<f2").astype("f")


def bit_of(b, at, k):
    return b[:, at:at + 1] >> k & 1


def small(b, at, has_fifth, has_minimum):
    """32 elements: the low nibbles, then the high ones; fifth bits in four bytes before them."""
    nibbles = np.concatenate([b[:, at:at + 16] & 15, b[:, at:at + 16] >> 4], axis=1).astype("i4")
    if has_fifth:
        nibbles |= np.concatenate([bit_of(b, at - 4 + k // 8, k % 8) for k in range(32)], axis=1).astype("i4") << 4
    if has_minimum:
        return f16_at(b, 0) * nibbles.astype("f") + f16_at(b, 2)
    return f16_at(b, 0) * (nibbles - (16 if has_fifth else 8)).astype("f")


def scale_and_minimum(b, k):
    """The k-th of eight pairs of 6 bits in the 12 bytes from 4 on."""
    byte = lambda i: b[:, 4 + i:5 + i].astype("i4")
    if k < 4:
        return byte(k) & 63, byte(k + 4) & 63
    return byte(k + 4) & 15 | byte(k - 4) >> 6 << 4, byte(k + 4) >> 4 | byte(k) >> 6 << 4


def q4_k(b, at=16):
    parts = []
    for k in range(8):
        scale, minimum = scale_and_minimum(b, k)
        quants = (b[:, at + k // 2 * 32:at + k // 2 * 32 + 32] >> 4 * (k % 2) & 15).astype("i4")
        if at == 48:
            quants |= (b[:, 16:48] >> k & 1).astype("i4") << 4
        parts.append(f16_at(b, 0) * scale.astype("f") * quants.astype("f") - f16_at(b, 2) * minimum.astype("f"))
    return np.concatenate(parts, axis=1)


def q2_k(b):
    parts = []
    for k in range(16):
        both, at = b[:, k:k + 1], 16 + k // 8 * 32 + k % 2 * 16
        quants = b[:, at:at + 16] >> k % 8 // 2 * 2 & 3
        parts.append(f16_at(b, 80) * (both & 15).astype("f") * quants.astype("f") - f16_at(b, 82) * (both >> 4).astype("f"))
    return np.concatenate(parts, axis=1)


def q3_k(b):
    parts = []
    for k in range(16):
        low = b[:, 96 + k % 8:97 + k % 8] >> (0 if k < 8 else 4) & 15
        high = b[:, 104 + k % 4:105 + k % 4] >> k // 4 * 2 & 3
        at = k % 2 * 16
        quants = b[:, 32 + k // 8 * 32 + at:48 + k // 8 * 32 + at] >> k % 8 // 2 * 2 & 3
        third = b[:, at:at + 16] >> k // 2 & 1
        parts.append(f16_at(b, 108) * ((low | high << 4).astype("f") - 32) * (quants.astype("f") + 4 * third.astype("f") - 4))
    return np.concatenate(parts, axis=1)


def q6_k(b):
    parts = []
    for k in range(16):
        half, quarter, at = k // 8, k % 8 // 2, k % 2 * 16
        low = half * 64 + quarter % 2 * 32 + at
        low, high = b[:, low:low + 16] >> quarter // 2 * 4 & 15, b[:, 128 + half * 32 + at:144 + half * 32 + at] >> quarter * 2 & 3
        parts.append(f16_at(b, 208) * b[:, 192 + k:193 + k].view("i1").astype("f") * ((low | high << 4).astype("f") - 32))
    return np.concatenate(parts, axis=1)


# By name: the number of the format, the elements and bytes of a block, its floats and their sizes, the numbers of blocks.
FORMATS = {"Q4_1": (3, 32, 20, {0: 0.02, 2: -0.15}, lambda b: small(b, 4, False, True)),
           "Q5_0": (6, 32, 22, {0: 0.01}, lambda b: small(b, 6, True, False)),
           "Q5_1": (7, 32, 24, {0: 0.01, 2: -0.15}, lambda b: small(b, 8, True, True)),
           "Q2_K": (10, 256, 84, {80: 0.01, 82: 0.015}, q2_k), "Q3_K": (11, 256, 110, {108: 0.002}, q3_k),
           "Q4_K": (12, 256, 144, {0: 0.0006, 2: 0.0045}, q4_k), "Q5_K": (13, 256, 176, {0: 0.0003, 2: 0.0045}, lambda b: q4_k(b, 48)),
           "Q6_K": (14, 256, 210, {208: 0.00006}, q6_k)}


def blocks_of(name):
    """A form whose blocks are random, all bits of them: what they are is found from them, not they from numbers."""
    code, elements, size, floats, numbers = FORMATS[name]

    def form(x):
        random = np.random.default_rng(x.size + int(abs(x[0, 0]) * 1e6))
        blocks = random.integers(0, 256, (x.size // elements, size)).astype("u1")
        for at, scale in floats.items():
            blocks[:, at:at + 2] = halves(scale * random.uniform(0.5, 1.5, (len(blocks), 1))).view("u1")
        return code, blocks.tobytes(), numbers(blocks).reshape(x.shape)

    return form


def mixed(x, name):
    """As published files mix them: values, the way down and the tables of tokens are finer than the rest."""
    fine = "v_proj" in name or "down_proj" in name or "embed" in name or "lm_head" in name
    return blocks_of("Q6_K" if fine else "Q4_K")(x)


def write_gguf(path, metadata, tensors):
    """Tensors are a type, bytes and a shape by name; metadata are texts, integers, floats and lists of texts."""
    def text(value):
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw

    def value(it):
        if isinstance(it, str):
            return struct.pack("<I", 8) + text(it)
        if isinstance(it, int):
            return struct.pack("<II", 4, it)
        if isinstance(it, float):
            return struct.pack("<If", 6, it)
        return struct.pack("<IIQ", 9, 8, len(it)) + b"".join(map(text, it))

    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(text(key) + value(it) for key, it in metadata.items())
    data = b""
    for name, (kind, raw, shape) in tensors.items():
        data += bytes(-len(data) % 32)
        head += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        head += struct.pack("<IQ", kind, len(data))
        data += raw
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return path


OURS = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm"}


def both(tmp_path, kind, form, is_tied=False, change=None, width=64, inner=96):
    """A GGUF file, and a folder of the numbers that its blocks are."""
    head = width // 4
    config = {"hidden_size": width, "intermediate_size": inner, "num_hidden_layers": 2, "num_attention_heads": 4,
              "num_key_value_heads": 2, "vocab_size": 97, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
              "rope_theta": 100.0, "head_dim": head, "tie_word_embeddings": is_tied,
              "architectures": [{"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}[kind]]}
    shapes = {"model.embed_tokens.weight": (97, width), "model.norm.weight": (width,)}
    if not is_tied:
        shapes["lm_head.weight"] = (97, width)
    for i in range(2):
        layer = {"self_attn.q_proj": (width, width), "self_attn.k_proj": (2 * head, width), "self_attn.v_proj": (2 * head, width),
                 "self_attn.o_proj": (width, width), "mlp.gate_proj": (inner, width), "mlp.up_proj": (inner, width),
                 "mlp.down_proj": (width, inner), "input_layernorm": (width,), "post_attention_layernorm": (width,)}
        if kind == "qwen3":
            layer.update({"self_attn.q_norm": (head,), "self_attn.k_norm": (head,)})
        shapes.update({f"model.layers.{i}.{part}.weight": shape for part, shape in layer.items()})
        if kind == "qwen2":
            shapes.update({f"model.layers.{i}.self_attn.{part}.bias": (n,) for part, n in (
                ("q_proj", width), ("k_proj", 2 * head), ("v_proj", 2 * head))})
    folder, stored = {}, {}
    for name, shape in shapes.items():
        x = models_expected.weight(name, shape)
        code, raw, numbers = f32(x) if len(shape) == 1 else mixed(x, name) if form is mixed else form(x)
        folder[name] = zyx.asarray(numbers.astype("f"))
        if kind == "llama" and ("q_proj" in name or "k_proj" in name):
            # As converters do it: rows i and i + head / 2 of a head become neighbours.
            rows = np.frombuffer(raw, "u1").reshape(-1, 2, head // 2, len(raw) // shape[0])
            raw = rows.swapaxes(1, 2).tobytes()
        match = re.fullmatch(r"model\.layers\.(\d)\.(.*)\.(weight|bias)", name)
        theirs = f"blk.{match[1]}.{OURS[match[2]]}.{match[3]}" if match else {
            "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
            "lm_head.weight": "output.weight"}[name]
        stored[theirs] = (code, raw, shape)
    metadata = {"general.architecture": kind, f"{kind}.block_count": 2, f"{kind}.embedding_length": width,
                f"{kind}.feed_forward_length": inner, f"{kind}.attention.head_count": 4, f"{kind}.attention.head_count_kv": 2,
                f"{kind}.attention.key_length": head, f"{kind}.attention.layer_norm_rms_epsilon": 1e-5, f"{kind}.context_length": 64,
                f"{kind}.rope.freq_base": 100.0, f"{kind}.rope.dimension_count": head, "tokenizer.ggml.eos_token_id": 96,
                "tokenizer.ggml.tokens": ["a", "b"]}
    if change:
        change(metadata, stored)
    (tmp_path / "folder").mkdir(exist_ok=True)
    (tmp_path / "folder" / "config.json").write_text(json.dumps(config))
    zyx.save(str(tmp_path / "folder" / "model.safetensors"), folder)
    return write_gguf(tmp_path / "model.gguf", metadata, stored), tmp_path / "folder"


@pytest.mark.parametrize("kind, form, is_tied", [("llama", f32, False), ("llama", f16, True), ("llama", q8_0, False),
                                                 ("llama", q4_0, True), ("qwen2", q8_0, True), ("qwen3", q4_0, False)])
def test_gguf(kind, form, is_tied, tmp_path):
    """The numbers of the blocks as a folder give the same logits, and blocks stay blocks."""
    file, folder = both(tmp_path, kind, form, is_tied)
    model, other = zyx.models.load(file), zyx.models.load(folder)
    tokens = zyx.asarray(np.random.default_rng(7).integers(0, 97, (2, 11)))
    np.testing.assert_allclose(np.asarray(model(tokens)), np.asarray(other(tokens)), atol=TOLERANCE, rtol=0)
    assert model.generate(PROMPTS, max_new_tokens=6) == other.generate(PROMPTS, max_new_tokens=6, stop=96)
    if form in (q8_0, q4_0):
        weights = dict(model.named_parameters())
        assert weights["model.embed_tokens.weight"].dtype is zyx.uint8
        matrices = [weight.value for name, weight in weights.items() if "proj" in name and len(weight.shape) == 2]
        assert len(matrices) == 14 and not any(matrix.is_computed for matrix in matrices)


@pytest.mark.parametrize("kind, name, is_tied", [
    ("llama", "mixed", False), ("qwen3", "mixed", True), ("llama", "Q2_K", True), ("qwen2", "Q3_K", False), ("llama", "Q4_K", True),
    ("qwen2", "Q5_K", True), ("llama", "Q6_K", False), ("qwen3", "Q4_1", True), ("llama", "Q5_0", False), ("qwen2", "Q5_1", False)])
def test_gguf_of_each_format(kind, name, is_tied, tmp_path):
    """Logits and generated tokens of random blocks are those of the numbers that NumPy makes of the blocks."""
    file, folder = both(tmp_path, kind, mixed if name == "mixed" else blocks_of(name), is_tied, width=256, inner=512)
    model, other = zyx.models.load(file), zyx.models.load(folder)
    weights = dict(model.named_parameters())
    assert weights["model.embed_tokens.weight"].dtype is zyx.uint8
    tokens = zyx.asarray(np.random.default_rng(7).integers(0, 97, (2, 11)))
    found, right = np.asarray(model(tokens)), np.asarray(other(tokens))
    assert np.isfinite(right).all() and right.std() > 0.01
    np.testing.assert_allclose(found, right, atol=TOLERANCE * np.abs(right).max(), rtol=0)
    # One row at a time reads the blocks in the product.
    alone = np.asarray(model(tokens[:1, :1]))
    np.testing.assert_allclose(alone[0, 0], right[0, 0], atol=TOLERANCE * np.abs(right).max(), rtol=0)
    assert model.generate(PROMPTS, max_new_tokens=6) == other.generate(PROMPTS, max_new_tokens=6, stop=96)
    matrices = [weight.value for name, weight in weights.items() if "proj" in name and len(weight.shape) == 2]
    assert len(matrices) == 14 and not any(matrix.is_computed for matrix in matrices)


@pytest.mark.parametrize("kind, text", [(12, "blk.0.attn_q.weight"), (15, "attn_q.weight' has the unsupported type 15"),
                                        (30000, "unsupported type 30000")])
def test_gguf_of_formats_that_do_not_fit(kind, text, tmp_path):
    """Rows that are no whole number of blocks, and formats that zyx has not: the tensor or the format is named."""
    rejected(both(tmp_path, "llama", q8_0, change=lambda m, t: t.update(
        {"blk.0.attn_q.weight": (kind, bytes(64 * 64), (64, 64))}))[0], text, zyx.Error)


def test_gguf_with_factors_of_frequencies(tmp_path):
    factors = np.asarray([1, 1, 2, 2, 4, 4, 8, 8], "f")
    file, folder = both(tmp_path, "llama", f32, change=lambda metadata, tensors: tensors.update(
        {"rope_freqs.weight": (0, factors.tobytes(), (8,))}))
    model, other = zyx.models.load(file), zyx.models.load(folder)
    tokens = zyx.asarray([[5, 6, 7, 8]])
    assert np.abs(np.asarray(model(tokens)) - np.asarray(other(tokens))).max() > 1e-3
    from zyx.models import _llama
    shape = _llama.Shape(other.config, "llama", dict(other.state()))
    np.testing.assert_allclose(np.asarray(model.model.layers[0].self_attn._shape.frequencies),
                               np.asarray(shape.frequencies) / factors, rtol=1e-6)


@pytest.mark.parametrize("theirs, ours", [
    ({"scaling.type": "linear", "scaling.factor": 2.0}, {"rope_type": "linear", "factor": 2.0}),
    # As in llama.cpp, a factor alone is linear, and so is the older key.
    ({"scaling.factor": 2.0}, {"rope_type": "linear", "factor": 2.0}),
    ({"scale_linear": 4.0}, {"rope_type": "linear", "factor": 4.0}),
    ({"scaling.type": "none", "scaling.factor": 2.0}, None),
    ({"scaling.type": "yarn", "scaling.factor": 4.0, "scaling.original_context_length": 16, "scaling.finetuned": 1},
     {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}),
    ({"scaling.type": "yarn", "scaling.factor": 4.0, "scaling.original_context_length": 16, "scaling.yarn_beta_fast": 8.0,
      "scaling.yarn_beta_slow": 2.0, "scaling.attn_factor": 0.5, "scaling.yarn_ext_factor": 1.0},
     {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 8.0, "beta_slow": 2.0,
      "attention_factor": 0.5 * (1 + 0.1 * np.log(4.0))}),
])
def test_gguf_with_scaled_positions(theirs, ours, tmp_path):
    """As a folder with the same in its configuration."""
    file, folder = both(tmp_path, "qwen2", f32, change=lambda m, t: m.update({f"qwen2.rope.{k}": v for k, v in theirs.items()}))
    tokens = zyx.asarray(np.random.default_rng(7).integers(0, 97, (2, 40)))
    plain = np.asarray(zyx.models.load(folder)(tokens))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "rope_scaling": ours}))
    found, right = np.asarray(zyx.models.load(file)(tokens)), np.asarray(zyx.models.load(folder)(tokens))
    np.testing.assert_allclose(found, right, atol=TOLERANCE, rtol=0)
    assert (np.abs(found - plain).max() > 1e-3) == (ours is not None)


@pytest.mark.parametrize("change, text, kind", [
    (lambda m, t: m.update({"llama.rope.scaling.type": "yarn"}), "'llama.rope.scaling.factor' is missing", ValueError),
    (lambda m, t: m.update({"llama.rope.scaling.yarn_ext_factor": 0.5}), "scaling.yarn_ext_factor' is 0.5", NotImplementedError),
    (lambda m, t: m.update({"llama.rope.scaling.yarn_log_multiplier": 0.25}), "yarn_log_multiplier' is 0.25", NotImplementedError),
    (lambda m, t: m.update({"llama.rope.scaling.attn_factor": 2.0}), "attn_factor' is 2.0, which zyx has for 'yarn' alone", NotImplementedError),
    (lambda m, t: m.update({"llama.rope.dimension_sections": 3}), "rope.dimension_sections' is 3", NotImplementedError),
    (lambda m, t: m.update({"llama.attention.value_length": 8}), "'llama.attention.value_length' is not", NotImplementedError),
    (lambda m, t: m.update({"llama.final_logit_softcapping": 30.0}), "softcapping' is 30.0", NotImplementedError),
    (lambda m, t: m.update({"general.architecture": "mamba"}), "'general.architecture' is 'mamba'; zyx has llama", NotImplementedError),
    (lambda m, t: m.pop("general.architecture"), "'general.architecture' is missing", ValueError),
    (lambda m, t: m.pop("llama.block_count"), "'num_hidden_layers' is missing", ValueError),
    (lambda m, t: m.update({"llama.block_count": 10**9}), "the files have 2 layers", ValueError),
    (lambda m, t: m.update({"llama.embedding_length": 32}), "embed_tokens.weight' has the shape", ValueError),
    (lambda m, t: m.update({"llama.attention.sliding_window": 4}), "sliding window", NotImplementedError),
    (lambda m, t: m.update({"llama.expert_count": 8}), "experts", NotImplementedError),
    (lambda m, t: m.update({"llama.rope.dimension_count": 8}), "whole heads alone", NotImplementedError),
    (lambda m, t: m.update({"llama.rope.scaling.type": "odd"}), "'odd'", NotImplementedError),
    (lambda m, t: t.pop("token_embd.weight"), "no matrix 'token_embd.weight'", ValueError),
    (lambda m, t: t.pop("blk.1.ffn_up.weight"), "mlp.up_proj.weight' is missing", ValueError),
    (lambda m, t: t.update({"more.weight": (0, bytes(4), (1,))}), "'more.weight' is superfluous", ValueError),
    (lambda m, t: t.update({"rope_freqs.weight": (0, bytes(4), (1,))}), "rope_freqs.weight' has the shape", ValueError),
])
def test_gguf_that_is_wrong(change, text, kind, tmp_path):
    rejected(both(tmp_path, "llama", q8_0, change=change)[0], text, kind)


def test_gguf_that_is_cut(tmp_path):
    file, _ = both(tmp_path, "llama", q8_0)
    with pytest.raises(NotImplementedError, match="dtype is of folders"):
        zyx.models.load(file, dtype=zyx.bfloat16)
    whole = file.read_bytes()
    for size in (0, 3, 20, 400, len(whole) - 1):
        file.write_bytes(whole[:size])
        rejected(file, "model.gguf", zyx.Error)


# The program


def program(*arguments):
    return subprocess.run([sys.executable, "-B", "-m", "zyx.generate", *map(str, arguments)], capture_output=True, text=True)


def test_the_program_by_tokens(tmp_path):
    folder = write(tmp_path / "model")
    done = program(folder, "--tokens=5,6,7", "--tokens=50", "--max-new-tokens=5", "--device=cpu")
    expected = zyx.models.load(folder).generate([[5, 6, 7], [50]], max_new_tokens=5)
    assert done.returncode == 0 and done.stdout == "".join(",".join(map(str, row)) + "\n" for row in expected), done.stderr
    for arguments, text in [((folder,), "a --prompt or --tokens is needed"), ((tmp_path / "none", "--tokens=1"), "is no folder"),
                            ((folder, "--tokens=1,a"), "no list of numbers"), ((folder, "--tokens=97"), "no token of 97"),
                            ((folder, "--prompt=a"), "tokenizer.json: there is no such file"),
                            ((folder, "--tokens=1", "--temperature=-1"), "temperature")]:
        done = program(*arguments)
        assert done.returncode in (1, 2) and text in done.stderr and "Traceback" not in done.stderr, done.stderr
    bert = write(tmp_path / "bert", "bert")
    assert "no model that goes on" in program(bert, "--tokens=1").stderr


def test_the_program_by_texts(tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    folder = write(tmp_path / "model")
    words = {f"w{i}": i for i in range(97)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    expected = zyx.models.load(folder).generate([[5, 6, 7], [50]], max_new_tokens=5)
    done = program(folder, "--prompt=w5 w6 w7", "--max-new-tokens=5")
    assert done.stdout == " ".join(f"w{token}" for token in expected[0]) + "\n", done.stderr
    done = program(folder, "--prompt=w5 w6 w7", "--prompt=w50", "--max-new-tokens=5")
    assert done.stdout == "".join(" ".join(f"w{token}" for token in row) + "\n" for row in expected), done.stderr
    (folder / "tokenizer.json").write_text("{")
    done = program(folder, "--prompt=w5")
    assert done.returncode == 1 and "tokenizer.json" in done.stderr and "Traceback" not in done.stderr


def test_docs(tmp_path):
    """The blocks of docs/models.md are one program."""
    names = {"__name__": "docs", "folder": write(tmp_path / "model")}
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "models.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 2
    for block in found:
        exec(compile(block, "docs/models.md", "exec"), names)


def test_a_rotary_of_layers_in_cpp():
    """zyx.nn.rotary() is that of MultiheadAttention."""
    random = np.random.default_rng(2)
    x = random.normal(size=(2, 5, 8)).astype("f")
    layer = zyx.nn.MultiheadAttention(8, 2, zyx.nn.InitRng(1), causal=True, rotary=True, bias=False)
    weights = dict(layer.named_parameters())

    def heads(name):
        rows = zyx.asarray(x) @ weights[f"{name}.weight"].value.T
        return zyx.permute_dims(zyx.reshape(rows, (2, 5, 2, 4)), (0, 2, 1, 3))

    places = zyx.asarray(list(range(5)))
    cache = zyx.nn.KVCache(zyx.zeros((2, 2, 7, 4)), zyx.zeros((2, 2, 7, 4)))
    cache = zyx.nn.append(cache, zyx.nn.KVCache(zyx.nn.rotary(heads("key"), places), heads("value")), zyx.asarray(0))
    found = zyx.nn.cached_attention(zyx.nn.rotary(heads("query"), places), cache, zyx.asarray(0))
    found = zyx.reshape(zyx.permute_dims(found, (0, 2, 1, 3)), (2, 5, 8)) @ weights["output.weight"].value.T
    np.testing.assert_allclose(np.asarray(found), np.asarray(layer(zyx.asarray(x))), atol=1e-5)
