"""benchmarks/steps.sh runs this in its virtual environment."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import sys
import time

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cpu"))
sys.path.insert(0, str(HERE))
import driver  # noqa: E402
import report  # noqa: E402
import tables  # noqa: E402

# Allowed distance from the losses and logits that PyTorch computes in double.
TOLERANCE = 1e-3
STEPS = 8
CHARS = {"vocabulary": 65, "context": 128, "width": 128, "layers": 6, "heads": 4}
WORKLOADS = {
    "digits, training, batch 50": {"model": "digits", "training": True, "batch": 50, "sizes": {}},
    "characters, training, batch 16": {"model": "chars", "training": True, "batch": 16, "sizes": CHARS},
    "digits, inference, batch 1": {"model": "digits", "training": False, "batch": 1, "sizes": {}},
    "characters, inference, batch 1": {"model": "chars", "training": False, "batch": 1, "sizes": CHARS},
}


def draw(workload):
    """First values of the parameters, as PyTorch draws them, and eight batches."""
    rng = numpy.random.default_rng(1)
    tensors = {}

    def layer(name, out, fan_in, shape=None, bias=True):
        bound = fan_in ** -0.5
        tensors[name + ".weight"] = rng.uniform(-bound, bound, shape or (out, fan_in))
        if bias:
            tensors[name + ".bias"] = rng.uniform(-bound, bound, out)

    def norm(name, width):
        tensors[name + ".weight"], tensors[name + ".bias"] = numpy.ones(width), numpy.zeros(width)

    batch = workload["batch"]
    if workload["model"] == "digits":
        layer("first", 16, 9, (16, 1, 3, 3))
        layer("second", 32, 144, (32, 16, 3, 3))
        layer("out", 10, 512)
        tensors["inputs"] = rng.uniform(0, 1, (STEPS, batch, 1, 8, 8))
        tensors["targets"] = rng.integers(0, 10, (STEPS, batch))
    else:
        sizes = workload["sizes"]
        width, rows = sizes["width"], sizes["vocabulary"]
        tensors["tokens.weight"] = rng.normal(0, 1, (rows, width))
        tensors["positions.weight"] = rng.normal(0, 1, (sizes["context"], width))
        for i in range(sizes["layers"]):
            norm(f"block{i}.attention_norm", width)
            for part in ("query", "key", "value", "output"):
                layer(f"block{i}.attention.{part}", width, width)
            norm(f"block{i}.mlp_norm", width)
            layer(f"block{i}.mlp.in", 4 * width, width)
            layer(f"block{i}.mlp.out", width, 4 * width)
        norm("norm", width)
        layer("out", rows, width, bias=False)
        tensors["inputs"] = rng.integers(0, rows, (STEPS, batch, sizes["context"]))
        tensors["targets"] = rng.integers(0, rows, (STEPS, batch, sizes["context"]))
    return tensors


def write(path, tensors):
    """As a safetensors file, in f32 and i64."""
    header, blobs, offset = {}, [], 0
    for name, array in tensors.items():
        whole = numpy.issubdtype(array.dtype, numpy.integer)
        blob = array.astype(numpy.int64 if whole else numpy.float32).tobytes()
        header[name] = {"dtype": "I64" if whole else "F32", "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


class Bench:
    def __init__(self, options, log):
        self.options, self.log, self.versions = options, log, {}
        peer = [sys.executable, str(HERE / "peer_torch.py"), str(options.threads)]
        self.commands = {"zyx": [str(options.bench), str(options.threads)],
                         "eager": [*peer, "eager"], "compile": [*peer, "compile"],
                         "reference": [*peer, "reference"]}
        self.cache = options.work / "steps-cache"
        self.cores = sorted(os.sched_getaffinity(0))[-options.threads:]

    def contenders(self):
        return ["zyx", *self.options.peers]

    def start(self, name, *more):
        return driver.Worker(f"steps-{name}", [*self.commands[name], *more], self.options.threads,
                             self.cores, self.options.work)

    def request(self, workload, steps):
        return {"do": "prepare", "data": str(self.options.work / "steps.safetensors"), "steps": steps,
                **{key: workload[key] for key in ("model", "training", "sizes")}}

    def steps(self, name, workload):
        """Compares the results of the first steps, then times the contenders in turns."""
        # Nothing that an earlier run compiled.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(self.cache / "inductor")
        expected = None
        if self.options.peers:
            reference = self.start("reference")
            expected = numpy.array(reference.ask(**self.request(workload, STEPS))["results"])
            reference.close()
        workers, result = {}, {"name": name, "timings": {}}
        try:
            for contender in self.contenders():
                worker = self.start(contender)
                self.versions[contender] = worker.ask(do="version")["version"]
                answer = worker.ask(**self.request(workload, STEPS), timeout=900)
                got = numpy.array(answer.pop("results"))
                error = 0.0 if expected is None else float(
                    (abs(got - expected) / numpy.maximum(1, abs(expected))).max())
                if not error <= TOLERANCE:
                    worker.close()
                    self.log(f"{name}: {contender} is wrong by {error:.3g}, allowed {TOLERANCE:g}")
                    continue
                workers[contender] = worker
                result["timings"][contender] = {"error": error, "rounds": [], **answer}
            with driver.held(self.options.hold):
                began, rounds, order = time.monotonic(), 0, list(workers)
                while rounds < 5 or (time.monotonic() - began < self.options.seconds and rounds < 60):
                    for i in range(len(order)):
                        contender = order[(i + rounds) % len(order)]
                        answer = workers[contender].ask(do="round", seconds=self.options.sample)
                        result["timings"][contender]["rounds"].append(answer["seconds"])
                        result["timings"][contender]["peak"] = answer["peak"]
                    rounds += 1
        finally:
            for worker in workers.values():
                worker.close()
        return result if "zyx" in result["timings"] else None

    def first(self, workload, contender, is_cached):
        """Seconds from the start of a process to the end of its first step."""
        folder = self.cache / "first"
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")

        def once(*more):
            began = time.perf_counter()
            worker = self.start(contender, *more)
            try:
                worker.ask(**self.request(workload, 1), timeout=900)
                return time.perf_counter() - began
            finally:
                worker.close()

        more = [str(folder / "zyx")] if contender == "zyx" and is_cached else []
        slow = contender == "compile"
        times = 1 if self.options.quick else 2 if slow and not is_cached else 3 if slow else 7
        if is_cached:
            once(*more)
        seconds = []
        with driver.held(None if slow else self.options.hold):
            for _ in range(times):
                if not is_cached:
                    shutil.rmtree(folder, ignore_errors=True)
                seconds.append(once(*more))
        return seconds

    def build(self):
        worker = self.start("zyx")
        try:
            with driver.held(self.options.hold):
                rounds = [worker.ask(do="build") for _ in range(3 if self.options.quick else 7)]
        finally:
            worker.close()
        return {kind: [statistics.median(r[kind][i] for r in rounds) for i in range(len(rounds[0][kind]))]
                for kind in rounds[0]}


def main():
    parser = argparse.ArgumentParser(prog="benchmarks/steps.sh")
    parser.add_argument("--bench", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=pathlib.Path, help="folder of the json and the tables")
    parser.add_argument("--update", type=pathlib.Path, metavar="PAGE", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", metavar="TEXT[,TEXT]",
                        help="workloads whose name contains one of the texts; first is the time to the first "
                        "step, build that of graphs")
    parser.add_argument("--peers", type=lambda text: text.split(",") if text else [],
                        default=["eager", "compile"], help="of eager and compile; empty for zyx alone")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=20, help="for each workload")
    parser.add_argument("--sample", type=float, default=0.1, help="seconds of one sample")
    parser.add_argument("--hold", metavar="COMMAND",
                        help="for a machine that others use: this is run while something is timed; it prints "
                        "a line when that may begin, and ends with its standard input")
    parser.add_argument("--quick", action="store_true", help="a fifth of the time")
    parser.add_argument("--list", action="store_true", help="print the workloads and stop")
    options = parser.parse_args()
    wanted = [text for text in options.only.split(",") if text]
    if options.list:
        print("\n".join([*WORKLOADS, "first", "build"]))
        return 0
    if options.quick:
        options.seconds /= 5

    def chosen(name):
        return not wanted or any(text in name for text in wanted)

    options.work.mkdir(parents=True, exist_ok=True)
    environment, notes = report.environment(), []

    def log(text):
        print(text, file=sys.stderr, flush=True)
        notes.append(text)

    bench = Bench(options, log)
    shutil.rmtree(bench.cache, ignore_errors=True)
    samples = {"threads": options.threads, "steps": [], "first": {}, "build": None, "notes": notes}
    failed = False
    names = [name for name in WORKLOADS if chosen(name)] or ([*WORKLOADS] if chosen("first") else [])
    for name in names:
        workload = WORKLOADS[name]
        write(options.work / "steps.safetensors", draw(workload))
        if chosen(name):
            print(name, file=sys.stderr, flush=True)
            if result := bench.steps(name, workload):
                samples["steps"].append(result)
                print(tables.line(result), file=sys.stderr, flush=True)
            failed |= result is None
        if chosen("first") and workload["training"]:
            samples["first"][name] = {
                f"{contender}, {'cached' if is_cached else 'cold'}": bench.first(workload, contender, is_cached)
                for contender in bench.contenders()
                for is_cached in ((False,) if contender == "eager" else (False, True))}
            print(samples["first"][name], file=sys.stderr, flush=True)
    if chosen("build"):
        samples["build"] = bench.build()
    samples["versions"] = bench.versions
    print(tables.write(samples, environment, options.results, options.update))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
