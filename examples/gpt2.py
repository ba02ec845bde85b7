#!/usr/bin/env python3
"""Writes GPT-2 as a program in the graph dialect, with random weights if they are wanted.

  examples/gpt2.py gpt2.mlir --weights=gpt2.safetensors
  zyx-run gpt2.mlir --inputs=gpt2.safetensors --time

Defaults are GPT-2 small: a forward pass over --positions tokens, to the logits of each. Tensors have
the names and shapes of the published checkpoints.
"""
import argparse
import array
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "utils"))
from graph_text import Graph  # noqa: E402


def weights(width=768, layers=12, vocabulary=50257, positions=128):
    """Name, shape, mean and spread of each."""
    found = [("wte.weight", [vocabulary, width], 0, 0.05), ("wpe.weight", [positions, width], 0, 0.05)]

    def linear(name, inputs, outputs):
        found.append((name + ".weight", [inputs, outputs], 0, 0.05))
        found.append((name + ".bias", [outputs], 0, 0.05))

    def norm(name):
        found.append((name + ".weight", [width], 1, 0.1))
        found.append((name + ".bias", [width], 0, 0.05))

    for i in range(layers):
        norm(f"h.{i}.ln_1")
        linear(f"h.{i}.attn.c_attn", width, 3 * width)
        linear(f"h.{i}.attn.c_proj", width, width)
        norm(f"h.{i}.ln_2")
        linear(f"h.{i}.mlp.c_fc", width, 4 * width)
        linear(f"h.{i}.mlp.c_proj", 4 * width, width)
    norm("ln_f")
    return found


def program(width=768, layers=12, heads=12, vocabulary=50257, positions=128):
    graph = Graph("gpt2")
    tokens = graph.argument("tokens", "i64", positions)
    known = {name: graph.parameter(name, "f32", *shape)
             for name, shape, _, _ in weights(width, layers, vocabulary, positions)}

    def linear(x, name):
        return graph.binary("add", graph.contract(x, known[name + ".weight"]), known[name + ".bias"])

    def norm(x, name):
        return graph.layer_norm(x, known[name + ".weight"], known[name + ".bias"])

    def split(x, part):
        """One of the three matrices that stand side by side, as [heads, positions, width / heads]."""
        x = graph.pad(x, 0, [0, -part * width], [0, (part - 2) * width])
        return graph.permute(graph.reshape(x, positions, heads, width // heads), 1, 0, 2)

    x = graph.binary("add", graph.gather(known["wte.weight"], tokens, 0), known["wpe.weight"])
    for i in range(layers):
        qkv = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn")
        y = graph.attention(*(split(qkv, part) for part in range(3)), causal=True)
        y = graph.reshape(graph.permute(y, 1, 0, 2), positions, width)
        x = graph.binary("add", x, linear(y, f"h.{i}.attn.c_proj"))
        y = graph.gelu_tanh(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"))
        x = graph.binary("add", x, linear(y, f"h.{i}.mlp.c_proj"))
    return graph.text(graph.contract(norm(x, "ln_f"), graph.permute(known["wte.weight"], 1, 0)))


def write_weights(path, positions, vocabulary, seed, factor, tensors):
    """As safetensors, with the tokens. Each tensor is cut from one table of normal numbers, from a
    random place on: a hundred million drawn one by one would take minutes."""
    generator = random.Random(seed)
    table = [generator.gauss(0, 1) for _ in range(1 << 16)]
    header, at, parts = {}, 0, []

    def add(name, dtype, shape, values):
        nonlocal at
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(values)]}
        at += len(values)
        parts.append(values)

    tokens = [generator.randrange(vocabulary) for _ in range(positions)]
    add("tokens", "I64", [positions], array.array("q", tokens).tobytes())
    for name, shape, mean, spread in tensors:
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        scaled = array.array("f", (mean + factor * spread * value for value in table)).tobytes()
        begin = 4 * generator.randrange(len(table))
        copies = (begin + 4 * count) // len(scaled) + 1
        add(name, "F32", shape, (scaled * copies)[begin:begin + 4 * count])
    # Padded so that elements are aligned where a reader maps the file.
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for part in parts:
            file.write(part)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--weights", type=pathlib.Path, help="a .safetensors file to write")
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=50257)
    parser.add_argument("--positions", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spread", type=float, default=1,
                        help="a factor of what weights are drawn with; narrow models need more to say different things")
    options = parser.parse_args()
    if options.width % options.heads:
        parser.error(f"{options.heads} heads do not divide a width of {options.width}")
    size = {"width": options.width, "layers": options.layers, "vocabulary": options.vocabulary,
            "positions": options.positions}
    options.program.write_text(program(heads=options.heads, **size))
    if options.weights:
        write_weights(options.weights, options.positions, options.vocabulary, options.seed,
                      options.spread, weights(**size))


if __name__ == "__main__":
    main()
