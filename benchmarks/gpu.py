#!/usr/bin/env python3
"""Measures zyx on an NVIDIA GPU beside PyTorch, in one process.

  benchmarks/gpu.py prepare BUILD FOLDER [--target=sm_90a] [--only=TEXT,...]
      Here: compiles every workload with BUILD's zyx-compile, and puts what the other machine needs into FOLDER.
      Of workloads that tensors make, BUILD's zyx-bench-programs writes the text, a target of its own.
  gpu.py run FOLDER [--seconds=0.3] [--only=TEXT,...] [--peers=NAME,...] [--no-compile] [--results=FILE]
      There: checks each result, times zyx and the peers in turn, prints the table, writes FILE (JSON).
      gpu_suite/peers.py has the names of peers; --no-compile leaves those of torch.compile out.
  benchmarks/gpu.py update FILE...
      Here: writes the table of benchmarks/results/gpu.md, and keeps the record in benchmarks/results. Of several files
      the rows of a later one take the place of those of the same names.

Times are of the device, and all contenders' are taken in the same way: events around one run, each on its own stream,
which is held until the host has handed over the whole run: zyx's by a word that it waits for
(zyx_executor_measure), PyTorch's by a kernel that sleeps. So nobody's time has the host's in it, unless a run is
longer to hand over than the stream is held. Contenders take turns, one run each a round, right behind another one of their
own, so that what the caches have is theirs; times are medians over the rounds, with quartiles, and so are the ratios of
the same round. An error is |y - ref| / |ref| over the whole result, where
ref is computed in f32 or f64 by PyTorch; what is wrong is not timed, nor is a peer whose error is twice what zyx's may be.
Compile times are of zyx-compile from its start to its end, without a cache.
Whole models are timed by the host's clock, from the call to the end of the run, the stream being idle before: it is
what their user waits for. Of chains of tiny kernels, the time of one in twenty runs handed over together is printed,
and the host's time for handing one run over. The backward half of an attention is the time of a program with both halves
less that of the forward one; PyTorch's is that of torch.autograd.grad alone.
"""
import json, os, shutil, subprocess, sys, time

from gpu_suite import peers
from gpu_suite.workloads import workloads

HERE = os.path.dirname(os.path.abspath(__file__))


def text_of(work, bin):
    if "tensors" not in work:
        return work["build"]()
    return subprocess.run([os.path.join(bin, "zyx-bench-programs"), *work["tensors"]], check=True, capture_output=True,
                          text=True).stdout


def compiled(bin, path, text, target):
    """Seconds, and why it was refused, if it was."""
    with open(path + ".mlir", "w") as file:
        file.write(text)
    begin = time.monotonic()
    done = subprocess.run([os.path.join(bin, "zyx-compile"), path + ".mlir", f"--target={target}", "-o", path + ".zyxa"],
                          capture_output=True, text=True)
    took = {"compile_s": time.monotonic() - begin}
    return {**took, "refused": done.stderr.strip()} if done.returncode else took


def prepare(build, folder, target, chosen):
    os.makedirs(folder, exist_ok=True)
    bin = os.path.join(build, "bin")
    manifest = {"target": target, "workloads": {}}
    for name, work in chosen.items():
        path, wanted = os.path.join(folder, name), work.get("target") or target
        made = compiled(bin, path, text_of(work, bin), wanted)
        if "less" in work and "refused" not in made:
            made = {**made, **{key: value for key, value in compiled(bin, path + ".less", text_of(work["less"], bin),
                                                                    wanted).items() if key == "refused"}}
        if "refused" in made:
            print(f"{name}: {made['refused']}", file=sys.stderr)
        manifest["workloads"][name] = made
    manifest["commit"] = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True,
                                        cwd=HERE).stdout.strip()
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1)
    runtime = os.path.join(folder, "libZyxRuntime.so")
    subprocess.run(["strip", "-o", runtime, os.path.realpath(os.path.join(build, "lib", "libZyxRuntime.so"))], check=True)
    for name in (os.path.basename(__file__), "card_clock.py"):
        shutil.copy(os.path.join(HERE, name), folder)
    shutil.copytree(os.path.join(HERE, "gpu_suite"), os.path.join(folder, "gpu_suite"), dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))


def wanted_peers(options):
    names = [name for name in options.get("peers", ",".join(peers.DEFAULT)).split(",") if name]
    unknown = [name for name in names if name not in peers.ALL]
    if unknown:
        sys.exit(f"there is no peer {unknown[0]!r}; there are " + ", ".join(peers.ALL))
    if "no-compile" in options:
        names = [name for name in names if peers.base_of(name) not in peers.MODES]
    return names


def main(arguments):
    options = dict(a[2:].partition("=")[::2] for a in arguments if a.startswith("--"))
    words = [a for a in arguments if not a.startswith("--")]
    only = [part for part in options.get("only", "").split(",") if part]
    chosen = {name: work for name, work in workloads().items() if not only or any(part in name for part in only)}
    if words[:1] == ["prepare"] and len(words) == 3:
        prepare(words[1], words[2], options.get("target", "sm_90a"), chosen)
    elif words[:1] == ["run"] and len(words) == 2:
        from gpu_suite import measure
        measure.run(os.path.abspath(__file__), words[1], chosen, wanted_peers(options), float(options.get("seconds", 0.3)),
                    options.get("results"))
    elif words[:1] == ["tune"] and len(words) == 2:
        # A process of `run`.
        answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        peers.tune_names(words[1], workloads(), wanted_peers(options), sys.stdin, answers)
    elif words[:1] == ["update"] and len(words) > 1:
        from gpu_suite import report
        report.update(words[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
