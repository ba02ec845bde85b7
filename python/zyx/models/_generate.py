# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokens behind prompts: one program for a prompt, and one for each token behind it, whose place is data."""
import math
import weakref

from .. import _functions, _zyx, random
from .._creation import asarray
from .._transforms import jit
from .._zyx import Array, float32, int64

InvalidArgumentError = _zyx.InvalidArgumentError


def rounded(count):
    """A few sizes for all counts, so that prompts of many lengths share programs; a quarter is wasted at most."""
    step = max(16, 1 << max(count.bit_length() - 3, 0))
    return (count + step - 1) // step * step


class Sampling:
    """How a token is chosen. Temperature and top_p are data; what else differs is another program."""

    def __init__(self, temperature, top_k, top_p):
        if type(temperature) not in (int, float) or not math.isfinite(temperature) or temperature < 0:
            raise InvalidArgumentError(f"generate: temperature is {temperature!r}, and not a number from 0 on")
        if type(top_k) is not int or top_k < 0:
            raise InvalidArgumentError(f"generate: top_k is {top_k!r}, and not an integer from 0 on")
        if type(top_p) not in (int, float) or not 0 < top_p <= 1:
            raise InvalidArgumentError(f"generate: top_p is {top_p!r}, and not above 0 and at most 1")
        self.data = (asarray(float(temperature) or 1.0, dtype=float32), asarray(float(top_p), dtype=float32))
        self.key = (True, top_k, top_p < 1) if temperature > 0 else (False, 0, False)

    def choose(self, logits, key, temperature, top_p):
        """Logits [batch, vocabulary] to tokens [batch, 1]."""
        is_random, top_k, has_top_p = self.key
        if not is_random:
            return _zyx._argmax(logits, 1, True)
        x, places = _zyx.divide(_zyx._cast(logits, float32), temperature), None
        if top_k or has_top_p:
            x, places = _zyx._topk(x, min(top_k or x.shape[1], x.shape[1]), 1, True)
        if has_top_p:
            # The likeliest stays always: nothing is before it.
            before = _zyx._cumsum(_zyx._softmax(x, 1), 1, True)
            x = _zyx._where(_zyx.less(before, top_p), x, -math.inf)
        # The largest of logits with such noise is each token with its probability.
        noise = _zyx._log(-_zyx._log(random.uniform(key, x.shape)))
        chosen = _zyx._argmax(_zyx.subtract(x, noise), 1, True)
        return chosen if places is None else _zyx._take_along_axis(places, chosen, 1)


def _rows(prompts, vocabulary):
    """Lists of tokens, each of at least one."""
    if isinstance(prompts, Array) or hasattr(prompts, "tolist"):
        prompts = prompts.tolist()
    rows = [each.tolist() if hasattr(each, "tolist") else list(each) for each in prompts]
    if not rows:
        raise InvalidArgumentError("generate: there is no prompt")
    for at, row in enumerate(rows):
        if not row:
            raise InvalidArgumentError(f"generate: prompt {at} has no token")
        for token in row:
            if type(token) is not int or not 0 <= token < vocabulary:
                raise InvalidArgumentError(f"generate: prompt {at} has {token!r}, which is no token of {vocabulary}")
    return rows


def stop_tokens(config):
    """'eos_token_id' of a configuration: a token, a list of them, or none."""
    found = config.values.get("eos_token_id")
    found = found if isinstance(found, list) else [] if found is None else [found]
    if not all(type(token) is int for token in found):
        raise config.wrong(f"'eos_token_id' is {found!r}, and neither a token nor a list of them")
    return frozenset(found)


def programs_of(model, sampling):
    """Of a prompt and of a token behind it, kept with the model."""
    kept = model.__dict__.setdefault("_generation_programs", {})
    if sampling.key not in kept:
        # A program of C++ that held the model, which holds the program, would keep both for ever.
        of = weakref.ref(model)

        def prompt(tokens, pads, memory, key, temperature, top_p, room):
            model = of()
            logits, caches = model.forward_cached(tokens, model.caches(tokens.shape[0], room), asarray(0, dtype=int64),
                                                  pads=pads, **memory)
            return sampling.choose(logits, key, temperature, top_p), caches

        def step(tokens, caches, start, pads, memory, key, temperature, top_p):
            logits, caches = of().forward_cached(tokens, caches, start, pads=pads, **memory)
            return sampling.choose(logits, random.fold_in(key, start), temperature, top_p), caches

        kept[sampling.key] = jit(prompt, static_argnames=("room",)), jit(step, donate_argnums=(1,))
    return kept[sampling.key]


def generate(model, prompts, *, max_new_tokens=32, temperature=0.0, top_k=0, top_p=1.0, stop=None, seed=0, stream=None,
             memory=None):
    """Tokens behind each prompt of a batch, as a list of lists.

    `prompts` are lists of tokens, of any lengths. With a temperature of 0 each token is the likeliest one; else it is drawn
    from softmax(logits / temperature), of the `top_k` likeliest tokens if that is above 0, and of the fewest likeliest
    that have a probability of `top_p` together. The same seed gives the same tokens. A sequence ends before a token of
    `stop`: those of the model's configuration if that is None. `stream(row, token)` is called for each token when it is
    there.

    Caches of keys and values have room for all tokens, and each step writes its row into them.

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
        >>> zyx.models.generate(zyx.models.load(folder.name), [[2], [1, 3]], max_new_tokens=2)
        [[2, 2], [3, 3]]
        >>> folder.cleanup()
    """
    rows = _rows(prompts, model.vocabulary)
    if type(max_new_tokens) is not int or max_new_tokens < 0:
        raise InvalidArgumentError(f"generate: max_new_tokens is {max_new_tokens!r}, and not an integer from 0 on")
    longest = max(len(row) for row in rows)
    if model.most_positions is not None and longest + max_new_tokens > model.most_positions:
        raise InvalidArgumentError(f"generate: the model has {model.most_positions} positions, and not {longest} and "
                                   f"{max_new_tokens} more")
    sampling = Sampling(temperature, top_k, top_p)
    stop = stop_tokens(model.config) if stop is None else frozenset([stop] if isinstance(stop, int) else stop)
    found = [[] for _ in rows]
    if max_new_tokens == 0:
        return found
    prompt, step = programs_of(model, sampling)
    width = rounded(longest)
    pads = asarray([width - len(row) for row in rows], dtype=int64)
    tokens = asarray([[0] * (width - len(row)) + row for row in rows], dtype=int64)
    key, memory = random.key(seed), memory or {}
    tokens, caches = prompt(tokens, pads, memory, key, *sampling.data, room=rounded(width + max_new_tokens))
    open_rows = set(range(len(rows)))
    for made in range(max_new_tokens):
        for row, token in enumerate(_functions.reshape(tokens, (-1,)).tolist()):
            if row not in open_rows:
                continue
            if token in stop:
                open_rows.discard(row)
                continue
            found[row].append(token)
            if stream is not None:
                stream(row, token)
        if not open_rows or made + 1 == max_new_tokens:
            break
        tokens, caches = step(tokens, caches, asarray(width + made, dtype=int64), pads, memory, key, *sampling.data)
    return found
