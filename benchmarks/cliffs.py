#!/usr/bin/env python3
"""Finds kernels and programs that take many times what they need: docs/finder.md.

  benchmarks/cliffs.py run --build=FOLDER [options]
      Draws programs (zyx-smith --like=models), compiles them, compares their results with PyTorch's, and times each
      kernel beside its roofline and each program beside PyTorch and ONNX Runtime. Needs the build's zyx-smith,
      zyx-compile and zyx-bench-kernels, and torch in this Python. Exits with 1 where a result is wrong.
        --prefix=COMMAND    instead of --build: what runs a packed program, as "sh .gpu/run.sh"
        --device=NAME       cpu (default) or cuda
        --target=NAME       what is compiled for: cpu, or sm_90a on a card
        --threads=N         of zyx and its peers on a cpu (default: 1)
        --like=WHAT         models (default), or networks or workloads: a few fixed ones
        --scale=NAME        full, host or small (default: full on a card, else host)
        --commit=HEX        the measured commit, where there is no repository; its first eight digits are the seed
        --seed=N            another one
        --first=N --count=N programs N to N + count - 1 (default: 20 from 0, or all fixed ones)
        --only=N,...        those programs instead, as the ones that a table names
        --shard=I/N         of them every Nth, from the Ith on (default: 1/1)
        --minutes=M         begins no program after that (default: 9); the same command goes on with what is left
        --peers=NAME,...    eager, compile; on a cpu onnxruntime, on a card eager-graphs and compile-graphs (default: all)
        --peer-count=N      of the first N programs alone (default: all)
        --seconds=S         for the turns of a program (default: 0.5)
        --compile-limit=S --peer-limit=S   seconds for compilations (default: 120), and for making a peer (60)
        --compile-options=TEXT  for zyx-compile, besides
        --jobs=N            compilations ahead, on a card (default: half the processors)
        --results=FILE      JSON, written after each program
  benchmarks/cliffs.py warm [the same options]
      Fills torch.compile's cache with those programs, by as many processes as --jobs says.
  benchmarks/cliffs.py merge --results=FILE SHARD...   [--any-commit]
  benchmarks/cliffs.py table FILE... [--worst=N] [--any-commit]
"""
import os, shlex, sys
from types import SimpleNamespace

from cliffs_suite import records

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULTS = {"build": "", "prefix": "", "device": "cpu", "target": "", "threads": "1", "like": "models", "scale": "", "commit": "", "seed": "",
            "first": "0", "count": "0", "only": "", "shard": "1/1", "minutes": "9", "peers": None, "peer-count": "", "seconds": "0.5",
            "compile-limit": "120", "peer-limit": "60", "compile-options": "", "jobs": "", "results": "", "worst": "20",
            "any-commit": ""}


class Usage(Exception):
    pass


def parse(arguments):
    """The options with their defaults, and the words that are none."""
    given, words = dict(DEFAULTS), []
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--"):
            words.append(argument)
        elif name not in DEFAULTS:
            raise Usage(f"there is no option --{name}")
        else:
            given[name] = value if equals else "yes"
    return given, words


def shard_of(text):
    number, _, count = text.partition("/")
    if not (number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        raise Usage(f"--shard={text}: is no I/N")
    return int(number), int(count)


def numbers_of(text):
    words = [word for word in text.split(",") if word]
    if not all(word.isdigit() for word in words):
        raise Usage(f"--only={text}: is no list of numbers")
    return [int(word) for word in words]


def seed_of(commit):
    return int(commit[:8], 16)


def run_options(given):
    from cliffs_suite import measure, peers
    if bool(given["build"]) == bool(given["prefix"]):
        raise Usage("either --build or --prefix")
    card = given["device"].startswith("cuda")
    commit = given["commit"] or measure.commit_of(HERE)
    if not commit and not given["seed"]:
        raise Usage("there is no repository here: --commit or --seed")
    allowed = peers.CARD_PEERS if card else peers.HOST_PEERS
    chosen = allowed if given["peers"] is None else [name for name in given["peers"].split(",") if name]
    for name in chosen:
        if name not in allowed:
            raise Usage(f"there is no peer {name!r}; there are " + ", ".join(allowed))
    return SimpleNamespace(
        build=given["build"], prefix=given["prefix"], device=given["device"], threads=int(given["threads"]),
        target=given["target"] or ("sm_90a" if card else "cpu"), scale=given["scale"] or ("full" if card else "host"),
        commit=commit, like=given["like"], seed=int(given["seed"]) if given["seed"] else seed_of(commit), first=int(given["first"]),
        count=int(given["count"]), only=numbers_of(given["only"]), shard=shard_of(given["shard"]), minutes=float(given["minutes"]), peers=chosen,
        peer_count=int(given["peer-count"]) if given["peer-count"] else sys.maxsize, seconds=float(given["seconds"]),
        compile_limit=float(given["compile-limit"]), peer_limit=float(given["peer-limit"]),
        compile_options=shlex.split(given["compile-options"]), results=given["results"],
        jobs=int(given["jobs"]) if given["jobs"] else max(1, (os.cpu_count() or 2) // 2))


def run(given):
    options = run_options(given)
    from cliffs_suite import measure, peers
    if options.device == "cpu":
        os.environ["OMP_NUM_THREADS"] = str(options.threads)
    peers.set_environment(os.path.join(os.environ.get("TMPDIR", "/tmp"), "zyx-cliffs-inductor"))
    import torch
    if options.device == "cpu":
        torch.set_num_threads(options.threads)
    else:
        # f32 means f32, for all of them.
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
    record = measure.Run(torch, options).run()
    print("\n" + records.table(record))
    return 1 if any(each.get("wrong") for each in record["programs"]) else 0


def warm(arguments, given):
    options = run_options(given)
    from cliffs_suite import peers, warm
    if options.jobs > 1 and options.shard == (1, 1):
        return warm.all_shares(os.path.abspath(__file__), arguments, options)
    peers.set_environment(os.path.join(os.environ.get("TMPDIR", "/tmp"), "zyx-cliffs-inductor"))
    import torch
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    warm.share(torch, options)
    return 0


def main(arguments):
    try:
        given, words = parse(arguments)
        if words == ["run"]:
            return run(given)
        if words == ["warm"]:
            return warm(arguments, given)
        if words[:1] in (["merge"], ["table"]) and len(words) > 1:
            record = records.merge([records.read(path) for path in words[1:]], bool(given["any-commit"]))
            if words[0] == "table":
                print(records.table(record, int(given["worst"])))
            elif given["results"]:
                records.write(record, given["results"])
            else:
                raise Usage("merge writes --results=FILE")
            return 0
    except (Usage, records.Mismatch) as failure:
        print(f"cliffs.py: {failure}", file=sys.stderr)
        return 2
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
