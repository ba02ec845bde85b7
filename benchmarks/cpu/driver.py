"""Gives the contenders of benchmarks/cpu.sh their turns, each in a process of its own.

All but the one whose turn it is are stopped (SIGSTOP): a thread that spins after its work would take
the core of the next one.
"""
import json
import os
import pathlib
import selectors
import signal
import statistics
import subprocess
import sys
import time

import numpy

import workloads as catalogue

HERE = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    pass


class Worker:
    """A process that answers each line of JSON with one."""

    def __init__(self, name, command, threads, cores, folder):
        self.name, self.log = name, open(folder / f"{name}-{threads}.log", "w")
        one = str(threads)
        environment = os.environ | {
            "OMP_NUM_THREADS": one, "OPENBLAS_NUM_THREADS": one, "BLIS_NUM_THREADS": one,
            "MKL_NUM_THREADS": one, "DNNL_VERBOSE": "0", "ZYX_CACHE_DIR": "off"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=environment, preexec_fn=lambda: os.sched_setaffinity(0, cores),
            start_new_session=True)
        self.running = True

    def stop(self):
        if self.running:
            os.killpg(self.process.pid, signal.SIGSTOP)
            self.running = False

    def go_on(self):
        if not self.running:
            os.killpg(self.process.pid, signal.SIGCONT)
            self.running = True

    def ask(self, timeout=120, **request):
        self.go_on()
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            with selectors.DefaultSelector() as ready:
                ready.register(self.process.stdout, selectors.EVENT_READ)
                if not ready.select(timeout):
                    self.close()
                    raise Failure(f"no answer in {timeout} s")
            line = self.process.stdout.readline()
        except (BrokenPipeError, ValueError):
            line = ""
        if not line:
            raise Failure(f"the process ended; see {self.log.name}")
        self.stop()
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def quartiles(values):
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


class Contenders:
    """The processes for one number of threads. `commands`: name -> command. `variants`: name and kind
    of workload -> the ways in which that contender does it, its default first."""

    def __init__(self, commands, variants, threads, folder, log):
        allowed = sorted(os.sched_getaffinity(0))
        cores = allowed[-threads:] if threads < len(allowed) else allowed
        self.variants, self.folder, self.log, self.versions = variants, folder, log, {}
        self.workers = {}
        for name, command in commands.items():
            worker = Worker(name, [part.replace("{threads}", str(threads)) for part in command],
                            threads, cores, folder)
            try:
                self.versions[name] = worker.ask(do="version")["version"]
                self.workers[name] = worker
            except Failure as failure:
                log(f"{name} is left out: {failure}")
                worker.close()

    def close(self):
        for worker in self.workers.values():
            worker.close()

    def run(self, workload, seconds, sample):
        """Checks, then times all; about that many seconds in all. None where zyx fails."""
        rng = numpy.random.default_rng(1)
        values, inputs = [], []
        for i, ((dtype, shape), (low, high)) in enumerate(zip(workload.inputs, workload.ranges)):
            drawn = (rng.integers(low, high, shape) if dtype.startswith("i") else
                     rng.uniform(low, high, shape).astype(numpy.float32))
            bits = catalogue.to_bits(drawn, dtype)
            path = self.folder / f"input-{i}.bin"
            bits.tofile(path)
            values.append(catalogue.from_bits(bits, dtype))
            inputs.append({"path": str(path), "dtype": dtype, "shape": list(shape),
                           "bytes": bits.nbytes})
        expected = numpy.asarray(workload.reference(*values))
        del values
        program = self.folder / f"{workload.name.replace('^', '-')}.mlir"
        program.write_text(workload.program())
        dtype, shape = workload.output
        result = self.folder / "output.bin"
        output = {"path": str(result), "dtype": dtype, "shape": list(shape),
                  "bytes": expected.size * numpy.dtype(catalogue.DTYPES[dtype]).itemsize}
        request = {"do": "prepare", "kind": workload.kind, "arguments": workload.arguments,
                   "inputs": inputs, "output": output, "program": str(program)}

        entries = []
        for name, worker in list(self.workers.items()):
            ways = self.variants(name, workload.kind)
            best = None
            for way in ways:
                entry = self.prepare(worker, name, way, request, workload, expected)
                # Of several ways a short look chooses; the last one that was prepared is measured.
                if entry and len(ways) > 1:
                    entry["look"] = min(self.round(worker, sample) for _ in range(3))
                if entry and (best is None or entry["look"] < best["look"]):
                    best = entry
            if best and len(ways) > 1 and best["variant"] != ways[-1]:
                best = self.prepare(worker, name, best["variant"], request, workload, expected)
            if best:
                entries.append(best | {"worker": worker, "seconds": []})
        if not entries or entries[0]["name"] != "zyx":
            return None

        began, rounds = time.monotonic(), 0
        while rounds < 3 or (time.monotonic() - began < seconds and rounds < 60):
            for i in range(len(entries)):
                entry = entries[(i + rounds) % len(entries)]
                entry["seconds"].append(self.round(entry["worker"], sample))
            rounds += 1
        for entry in entries:
            entry.pop("worker").ask(do="release")
            entry.pop("look", None)
        return {"name": workload.name, "figure": workload.figure, "amount": workload.amount,
                "unit": workload.unit, "timings": entries}

    def round(self, worker, sample):
        return worker.ask(do="round", seconds=sample)["seconds"]

    def prepare(self, worker, name, way, request, workload, expected):
        try:
            answer = worker.ask(**request, variant=way, timeout=300)
        except Failure as failure:
            self.log(f"{workload.name}: {name} {way}: {failure}")
            if worker.process.poll() is not None:
                self.workers.pop(name)
            return None
        if "unsupported" in answer:
            return None
        error = 0.0
        if workload.kind != "memory" or name == "zyx":
            error = self.error(request["output"], workload, expected)
        if name != "triad" and not error <= workload.tolerance:
            self.log(f"{workload.name}: {name} {way} is wrong: error {error:.3g}, allowed "
                     f"{workload.tolerance:g}")
            return None
        return {"name": name, "variant": way, "error": error,
                "details": {k: v for k, v in answer.items()}}

    @staticmethod
    def error(output, workload, expected):
        bits = numpy.fromfile(output["path"], dtype=catalogue.DTYPES[output["dtype"]])
        if bits.size != expected.size:
            return float("inf")
        got = catalogue.from_bits(bits, output["dtype"]).reshape(expected.shape)
        scale = numpy.maximum(workload.floor, abs(expected))
        # A NaN must not pass for a small error.
        error = abs(got - expected) / scale
        return float("inf") if numpy.isnan(error).any() else float(error.max(initial=0))
