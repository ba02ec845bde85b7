# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text behind a prompt: python -m zyx.generate FOLDER --prompt TEXT. docs/models.md says what the options mean."""
import argparse
import os
import sys

from . import _zyx, device_scope, models


def tokenizer_of(path):
    """Of tokenizer.json, by the package tokenizers, which reads data and runs nothing."""
    if not os.path.isfile(path):
        raise ValueError(f"{path}: there is no such file; --tokens takes numbers")
    try:
        import tokenizers
    except ImportError:
        raise ValueError("texts need the package tokenizers (pip install tokenizers); --tokens takes numbers") from None
    try:
        return tokenizers.Tokenizer.from_file(path)
    except Exception as error:
        raise ValueError(f"{path}: {error}") from None


def numbers(text):
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers with commas between them") from None


class Printer:
    """Text of one sequence as it comes: what may change with the next token is held back."""

    def __init__(self, tokenizer):
        self.tokenizer, self.tokens, self.shown = tokenizer, [], ""

    def __call__(self, row, token):
        self.tokens.append(token)
        text = self.tokenizer.decode(self.tokens)
        # A character of several tokens is not there before the last of them.
        if not text.endswith("\ufffd") and text.startswith(self.shown):
            print(text[len(self.shown):], end="", flush=True)
            self.shown = text


def run(options):
    model = models.load(options.model)
    if not hasattr(model, "forward_cached") or model.config.values.get("num_mel_bins"):
        raise ValueError(f"{options.model}: is no model that goes on behind tokens alone")
    tokenizer, prompts = None, list(options.tokens)
    if options.prompt or options.tokenizer:
        tokenizer = tokenizer_of(options.tokenizer or os.path.join(options.model, "tokenizer.json"))
    prompts += [tokenizer.encode(text).ids for text in options.prompt]
    printer = Printer(tokenizer) if tokenizer and len(prompts) == 1 else None
    found = model.generate(prompts, max_new_tokens=options.max_new_tokens, temperature=options.temperature,
                           top_k=options.top_k, top_p=options.top_p, seed=options.seed, stop=options.stop, stream=printer)
    if printer:
        text = tokenizer.decode(found[0])
        print(text[len(printer.shown):] if text.startswith(printer.shown) else "\n" + text)
        return
    for tokens in found:
        print(tokenizer.decode(tokens) if tokenizer else ",".join(map(str, tokens)))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m zyx.generate", description="Text behind prompts, by a model of a folder.")
    parser.add_argument("model", help="a folder with config.json and safetensors, or a GGUF file")
    parser.add_argument("--prompt", action="append", default=[], help="a text; several are a batch")
    parser.add_argument("--tokens", action="append", default=[], type=numbers, help="a prompt as numbers: 1,2,3")
    parser.add_argument("--tokenizer", help="tokenizer.json; by default that of the folder")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.0, help="0, the default, takes the likeliest tokens")
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop", type=numbers, help="tokens that end a text; by default those of the configuration")
    parser.add_argument("--device", help="cpu, cuda, ...")
    options = parser.parse_args(arguments)
    if not options.prompt and not options.tokens:
        parser.error("a --prompt or --tokens is needed")
    try:
        if options.device:
            with device_scope(options.device):
                run(options)
        else:
            run(options)
    except (_zyx.Error, ValueError) as error:
        print(f"zyx.generate: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
