"""What is paid beside the kernels' own time: compiling, loading, starting, launching, forking."""
import os
import re
import shutil
import statistics
import subprocess
import time

import driver
import workloads

# Name, and what it must reach and aims at in seconds.
FIGURES = {
    "elementwise": ("cold compile of an elementwise kernel", 25e-3, 6e-3),
    "reduce": ("cold compile of a reduce kernel", 25e-3, 6e-3),
    "gemm": ("cold compile of a matrix product", 50e-3, 12e-3),
    "cache": ("a compiled kernel from the disk cache", 2e-3, 0.2e-3),
    "process": ("a cold process to its first result", 150e-3, 60e-3),
    "replay": ("replay, per launch of a tiny kernel", 1e-6, 0.05e-6),
    "fork": ("fork and join of 2 threads", 2e-6, 0.5e-6),
}


def compile_times(bench, folder, name, workload, times):
    """Of each of some processes the first compilation, and the median of the next eight. Inputs are
    left as they are."""
    program = folder / f"{name}.mlir"
    program.write_text(workload.program())
    zeros, inputs = folder / "zeros.bin", []
    sizes = [4 * max(1, int(workloads.numpy.prod(shape))) for _, shape in workload.inputs]
    zeros.write_bytes(bytes(max(sizes)))
    for size in sizes:
        inputs.append({"path": str(zeros), "bytes": size})
    output = {"path": str(folder / "output.bin"),
              "bytes": 4 * int(workloads.numpy.prod(workload.output[1]))}
    first, further = [], []
    for _ in range(times):
        worker = driver.Worker("zyx-compile", [bench, "zyx", "1"], 1, os.sched_getaffinity(0), folder)
        try:
            seconds = worker.ask(do="prepare", name="", kind="compile", arguments={"compilations": 9},
                                 inputs=inputs, output=output, program=str(program))["compile_seconds"]
        finally:
            worker.close()
        first.append(seconds[0])
        further.append(statistics.median(seconds[1:]))
    return first, further


def run(zyx_run, program, *options):
    """Wall seconds of a process, and the stages that it prints, in seconds."""
    began = time.perf_counter()
    done = subprocess.run([zyx_run, str(program), "--random=1", "--time", "--quiet", *options],
                          capture_output=True, text=True, check=True)
    taken = time.perf_counter() - began
    stages = re.search(r"compile: .*? ms \((.*)\)", done.stdout).group(1)
    return taken, {name: float(ms) / 1e3 for name, ms in
                   (stage.rsplit(" ", 1) for stage in stages.split(", "))}


def measure(bench, folder, times=7):
    """Samples in seconds by figure; `further` has what a warm process pays."""
    rows = {"elementwise": workloads.chain(256, 1024), "reduce": workloads.row_op("softmax", 256, 1024),
            "gemm": workloads.gemm("", 512, 512, 512)}
    samples, further = {}, {}
    for name, workload in rows.items():
        samples[name], further[name] = compile_times(bench, folder, f"cold-{name}", workload, times)
    zyx_run, cache = os.path.join(os.path.dirname(bench), "zyx-run"), folder / "cache"
    program = folder / "cold-reduce.mlir"
    shutil.rmtree(cache, ignore_errors=True)
    run(zyx_run, program, f"--cache-dir={cache}")
    samples["cache"], further["process"] = [], []
    for _ in range(times):
        taken, stages = run(zyx_run, program, f"--cache-dir={cache}")
        if "cache" not in stages:
            raise driver.Failure(f"{program} is not found in the cache: {stages}")
        # An embedding program has its graph, and parses no text.
        samples["cache"].append(sum(stages.values()) - stages["parse"])
        further["process"].append(taken)
    samples["process"] = [run(zyx_run, program, "--no-cache")[0] for _ in range(times)]
    worker = driver.Worker("pool", [bench, "pool", "2"], 2, os.sched_getaffinity(0), folder)
    try:
        worker.ask(do="prepare", name="", kind="fork", arguments={}, inputs=[],
                   output={"path": str(folder / "output.bin"), "bytes": 4096})
        samples["fork"] = [worker.ask(do="round", name="", seconds=0.004)["seconds"] for _ in range(3 * times)]
    finally:
        worker.close()
    return {"samples": samples, "further": further}


def table(measured, launches):
    """`launches`: seconds of one more launch, or None."""
    samples = dict(measured["samples"])
    if launches is not None:
        samples["replay"] = [launches]

    def text(seconds):
        return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"

    lines = ["| figure | must | aim | median | then | met |", "|---|---|---|---|---|---|"]
    for name, (what, must, aim) in FIGURES.items():
        if name not in samples:
            continue
        value = statistics.median(samples[name])
        more = measured["further"].get(name)
        lines.append(f"| {what} | {text(must)} | {text(aim)} | {text(value)} "
                     f"| {text(statistics.median(more)) if more else ''} "
                     f"| {'yes' if value <= must else 'no'} |")
    return lines
