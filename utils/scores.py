#!/usr/bin/env python3
"""Scores of the doors of zyx beside what they are compared with.

  utils/scores.py array-api [--device=DEVICE] [--function=NAME] [--build=build/release]
  utils/scores.py onnx [--device=DEVICE] [--function=TEXT] [--build=build/release] [--log=FILE]
  utils/scores.py onnx --runtime=onnxruntime --python=PYTHON
  utils/scores.py torch --python=PYTHON [--function=NAME] [--samples=2] [--seconds=S] [--part=1/4] [--passes=LIST] [--record=FILE]
  utils/scores.py models --python=PYTHON [--function=NAME] [--part=1/4] [--device=DEVICE]
  utils/scores.py jax --python=PYTHON [--function=TEXT] [--part=1/4] [--log=FILE]
  utils/scores.py --doors --python=PYTHON

array-api: each function of the array API standard 2024.12, with each of its dtypes, on shapes that hurt, compared with
array-api-strict. A cell, of a function and a dtype, is right where all of its samples are. Prints what is wrong, a row for
each function that is not right in all dtypes, and the score; exits with 1 where a cell is wrong.

onnx: the 2,033 cases of the backend suite of the package onnx, by zyx.onnx.load(). Prints a line for each case that is not
right, the score by category, and the reasons of refusals; exits with 1 where an answer is wrong. --function takes cases
with a text in their name. With --runtime=onnxruntime another Python, which has that package, runs ONNX Runtime instead.

torch: samples of PyTorch's ops (op_db) through the backend of torch.compile, forward in f32, bf16 and i64, and gradients in
f32 and bf16, by a Python that has torch and expecttest. --samples is how many of each op's first ones, and half as many of
the others. --part takes every fourth op, --passes those of a list of forward-f32, backward-bf16 and so on. --record keeps a
line of each sample, with its reason and seconds; a run that was ended goes on from there, at the same commit.

models: networks of PyTorch, torchvision, timm and transformers, where PYTHON has them, with random weights beside eager mode; DEVICE is one of
PyTorch's, cpu or cuda.
jax: calls of jax.lax and jax.numpy, by a Python that has jax; it needs no torch. --doors is those of the three that PYTHON
has the packages for; they need large downloads, which check.sh does not make.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def array_api(options):
    sys.path[:0] = [str(ROOT / "test" / "python"), str((options.build / "python").resolve())]
    import compare
    import standard
    began, cells = time.perf_counter(), {}
    for case in standard.CASES:
        if options.function in (None, case.name):
            for dtype in case.dtypes:
                wrong = compare.run(case, dtype)
                for text in wrong:
                    print(text)
                cells[case.name, dtype] = cells.get((case.name, dtype), True) and not wrong
    for name in sorted({name for name, _ in cells}):
        bad = [dtype for (other, dtype), right in cells.items() if other == name and not right]
        if bad:
            print(f"| {name} | {', '.join(bad)} |")
    right = sum(cells.values())
    print(f"array-api on {options.device}: {right} of {len(cells)} cells, {100 * right / max(len(cells), 1):.1f} %; "
          f"{len({name for name, _ in cells})} functions; {time.perf_counter() - began:.0f} s")
    return 0 if cells and right == len(cells) else 1


def onnx(options):
    sys.path[:0] = [str(ROOT / "test" / "python"), str((options.build / "python").resolve())]
    import collections

    import onnx_suite
    runtime = onnx_suite.zyx_runtime if options.runtime == "zyx" else onnx_suite.onnxruntime_runtime
    began, table = time.perf_counter(), collections.defaultdict(collections.Counter)
    specialized, stepwise = 0, 0
    log = open(options.log, "w") if options.log else None
    for case in onnx_suite.cases():
        category, name = case[:2]
        if options.function and options.function not in name:
            continue
        at = time.perf_counter()
        result, why, model = onnx_suite.run(case, runtime)
        table[category][result] += 1
        if model is not None:
            specialized += bool(model.specialized_inputs) and not model.is_stepwise
            stepwise += model.is_stepwise
        text = f"{result} {category} {name}: {why[:300]}"
        if log:
            print(f"{1000 * (time.perf_counter() - at):.0f} ms {text}", file=log, flush=True)
        if result != "right":
            print(text, flush=True)
    kinds = ("right", "rounded", "wrong", "refused")
    print(f"| category | cases | {' | '.join(kinds)} |\n|---|---|---|---|---|---|")
    whole = collections.Counter()
    for category, row in sorted(table.items()):
        whole += row
        print(f"| {category} | {sum(row.values())} | {' | '.join(str(row[kind]) for kind in kinds)} |")
    print(f"onnx by {options.runtime} on {options.device}: {whole['right']} of {sum(whole.values())} cases right, "
          f"{whole['rounded']} beyond its tolerance by rounding, {whole['wrong']} wrong, {whole['refused']} refused; inputs specialised in {specialized}, step by step in "
          f"{stepwise}; {time.perf_counter() - began:.0f} s")
    return 1 if whole["wrong"] else 0


class Record:
    """Results of samples, a line each, which a run that was ended goes on from. They are of one commit."""

    def __init__(self, path, **head):
        self.results, self.begun, self.file = {}, {}, None
        if path is None:
            return
        lines = [json.loads(line) for line in open(path)] if os.path.exists(path) else []
        if lines and lines[0] != head:
            sys.exit(f"scores.py: {path} is a record of {lines[0]}, and this is {head}")
        for line in lines[1:]:
            key = tuple(line["sample"])
            if "result" in line:
                self.results[key] = line["result"], line["why"]
            else:
                self.begun[key] = self.begun.get(key, 0) + 1
        self.file = open(path, "a")
        if not lines:
            self._write(head)

    def run(self, key, function):
        """What the record has of a sample, or what it is now. One that ended the process twice is not tried again."""
        if key not in self.results:
            if self.begun.get(key, 0) > 1:
                self.results[key] = "failed", "the process ended in it, twice"
            else:
                self._write({"sample": key})
                began = time.perf_counter()
                result, why = self.results[key] = function()
                self._write({"sample": key, "result": result, "why": why[:600], "s": round(time.perf_counter() - began, 2)})
        return self.results[key]

    def _write(self, line):
        if self.file:
            print(json.dumps(line), file=self.file, flush=True)


def commit():
    """The commit of the tree, and whether files of it differ."""
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short=8", "HEAD") + (" and changes" if git("status", "--porcelain", "-uno") else "")


def torch(options):
    sys.path[:0] = [str(ROOT / "test" / "python"), str((options.build / "python").resolve())]
    import collections
    import warnings
    warnings.simplefilter("ignore")
    import logging
    logging.disable(logging.WARNING)
    import torch
    import torch_suite
    from torch.testing._internal.common_methods_invocations import op_db
    torch.set_num_threads(1)
    began, table, ends = time.perf_counter(), collections.defaultdict(collections.Counter), False
    part, parts = map(int, options.part.split("/"))
    tree = commit()
    record = Record(options.record, commit=tree, torch=torch.__version__)
    passes = [(words[0] == "backward", words[1]) for words in (each.split("-") for each in options.passes.split(","))]
    for backward, name in passes:
        dtype = torch_suite.DTYPES[name]
        for number, info in enumerate(op_db):
            if options.function not in (None, info.name) or number % parts != part - 1:
                continue
            if dtype not in info.dtypes or backward and not (info.supports_autograd and dtype.is_floating_point):
                continue
            try:
                samples = torch_suite.samples(info, dtype, backward, options.samples)
            except Exception as error:
                print(f"no samples of {info.name}: {error}")
                continue
            for at, sample in enumerate(samples):
                key = "backward" if backward else "forward", name, info.name, info.variant_test_name, at
                result, why = record.run(key, lambda: torch_suite.run(info, sample, dtype, backward))
                table[backward, name][result] += 1
                if result in ("wrong", "failed"):
                    print(f"{result} {' '.join(map(str, key))}: {why[:300]!r}", flush=True)
            ends = options.seconds is not None and time.perf_counter() - began > options.seconds
            if ends:
                print(f"ends after op {number + 1} of {len(op_db)} of {key[0]} {name}, as --seconds says")
                break
        if ends:
            break
    kinds = ("right", "wrong", "failed", "refused", "untraced", "undefined", "skipped")
    print(f"| pass | dtype | {' | '.join(kinds)} | right of all that have an answer |\n|{'---|' * (len(kinds) + 3)}")
    wrong = 0
    for backward in (False, True):
        whole = collections.Counter()
        for name in (*torch_suite.DTYPES, "all"):
            row = table[backward, name] if name != "all" else whole
            whole += row if name != "all" else collections.Counter()
            count = sum(row[kind] for kind in kinds[:5])
            if count:
                print(f"| {'backward' if backward else 'forward'} | {name} | {' | '.join(str(row[kind]) for kind in kinds)} | "
                      f"{100 * row['right'] / count:.1f} % |")
        wrong += whole["wrong"]
    print(f"torch {torch.__version__}, part {options.part}, commit {tree}; {time.perf_counter() - began:.0f} s")
    return 1 if wrong else 0


def models(options):
    sys.path[:0] = [str(ROOT / "test" / "python"), str((options.build / "python").resolve())]
    import torch_models
    return torch_models.main(options.function, options.device, options.part)


def jax(options):
    os.environ["JAX_PLATFORMS"] = "cpu"
    sys.path[:0] = [str(ROOT / "test" / "python"), str((options.build / "python").resolve())]
    import collections

    import jax
    import jax_suite
    began, table, calls = time.perf_counter(), collections.defaultdict(collections.Counter), collections.defaultdict(list)
    part, parts = map(int, options.part.split("/"))
    log = open(options.log, "w") if options.log else None
    for number, case in enumerate(jax_suite.CASES):
        if options.function and options.function not in case[0] or number % parts != part - 1:
            continue
        for dtype in case[2]:
            result, why = jax_suite.run(case, dtype)
            table[dtype][result] += 1
            if result != "skipped":
                calls[case[0]].append(result)
            text = f"{result} {dtype} {case[0]}: {why[:300]!r}"
            if log:
                print(text, file=log, flush=True)
            if result != "right":
                print(text, flush=True)
    kinds = ("right", "wrong", "failed", "refused", "skipped")
    print(f"| dtype | {' | '.join(kinds)} |\n|{'---|' * (len(kinds) + 1)}")
    whole = collections.Counter()
    for dtype, row in table.items():
        whole += row
        print(f"| {dtype} | {' | '.join(str(row[kind]) for kind in kinds)} |")
    print(f"| all | {' | '.join(str(whole[kind]) for kind in kinds)} |")
    right = sum(set(results) == {"right"} for results in calls.values())
    print(f"jax {jax.__version__}, part {options.part}: {right} of {len(calls)} calls right in all their dtypes, "
          f"{100 * right / max(len(calls), 1):.1f} %; {time.perf_counter() - began:.0f} s")
    return 1 if whole["wrong"] or whole["failed"] or not calls else 0


def doors(options):
    import importlib.util
    there = {"torch": (torch, models), "jax": (jax,)}
    suites = [suite for package, own in there.items() if importlib.util.find_spec(package) for suite in own]
    for package in there:
        if not importlib.util.find_spec(package):
            print(f"left out: {sys.executable} has no {package}")
    results = [suite(options) for suite in suites]
    return max(results, default=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", choices=["array-api", "onnx", "torch", "models", "jax"])
    parser.add_argument("--doors", action="store_true")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--passes", default="forward-f32,forward-bf16,forward-i64,backward-f32,backward-bf16")
    parser.add_argument("--record")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--function")
    parser.add_argument("--runtime", choices=["zyx", "onnxruntime"], default="zyx")
    parser.add_argument("--python", type=pathlib.Path)
    parser.add_argument("--log")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    if (options.suite is None) != options.doors:
        parser.error("a suite, or --doors")
    python = options.python or ROOT / "build" / "python" / "bin" / "python"
    # The environment that utils/install.sh makes has array-api-strict and onnx.
    if python.exists() and pathlib.Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execv(python, [str(python), "-B", *sys.argv])
    os.environ["ZYX_DEVICE"] = options.device
    os.environ.setdefault("ZYX_CACHE_DIR", "off")
    if options.doors:
        return doors(options)
    return {"onnx": onnx, "array-api": array_api, "torch": torch, "models": models, "jax": jax}[options.suite](options)


if __name__ == "__main__":
    sys.exit(main())
