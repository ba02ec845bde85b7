"""Gives the contenders of benchmarks/cpu.sh their turns, each in a process of its own.

All but the one whose turn it is are stopped (SIGSTOP): a thread that spins after its work would take
the core of the next one.
"""
import contextlib
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import time

import numpy

import workloads as catalogue

HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def held(command):
    """Runs a command that keeps others from the machine meanwhile."""
    if not command:
        yield
        return
    process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    try:
        yield
    finally:
        process.stdin.close()
        process.wait()


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

    def prepare(self, workload, sample):
        """Lets all compute the workload and checks their results. None where zyx fails."""
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
        output = {"path": str(self.folder / "output.bin"), "dtype": dtype, "shape": list(shape),
                  "bytes": expected.size * numpy.dtype(catalogue.DTYPES[dtype]).itemsize}
        request = {"do": "prepare", "kind": workload.kind, "arguments": workload.arguments,
                   "inputs": inputs, "output": output, "program": str(program)}
        entries = []
        for name in list(self.workers):
            tried = [entry for way in self.variants(name, workload.kind)
                     if (entry := self.prepare_one(name, way, request, workload, expected, sample))]
            # Of several ways a short look chooses.
            tried.sort(key=lambda entry: entry["look"])
            entries += tried[:1]
            for entry in tried[1:]:
                self.release(workload, entry)
        if not entries or entries[0]["name"] != "zyx":
            return None
        return {"name": workload.name, "figure": workload.figure, "amount": workload.amount,
                "unit": workload.unit, "timings": entries}

    def prepare_one(self, name, way, request, workload, expected, sample):
        worker = self.workers.get(name)
        if worker is None:
            return None
        key = f"{workload.name} {way}"
        try:
            answer = worker.ask(**request, name=key, variant=way, timeout=300)
            if "unsupported" in answer:
                return None
            # A triad computes something else.
            error = 0.0 if name == "triad" else self.error(request["output"], workload, expected)
            if not error <= workload.tolerance:
                self.log(f"{workload.name}: {name} {way} is wrong: error {error:.3g}, allowed "
                         f"{workload.tolerance:g}")
                worker.ask(do="release", name=key)
                return None
            look = min(worker.ask(do="round", name=key, seconds=sample)["seconds"] for _ in range(3))
        except Failure as failure:
            self.log(f"{workload.name}: {name} {way}: {failure}")
            if worker.process.poll() is not None:
                self.workers.pop(name)
            return None
        return {"name": name, "variant": way, "error": error, "details": answer, "look": look,
                "seconds": []}

    def release(self, workload, entry):
        self.workers[entry["name"]].ask(do="release", name=f"{workload.name} {entry['variant']}")

    def measure(self, result, seconds, sample):
        """Times the contenders of what prepare gave, for about that many seconds."""
        entries = result["timings"]
        began, rounds = time.monotonic(), 0
        while rounds < 3 or (time.monotonic() - began < seconds and rounds < 60):
            for i in range(len(entries)):
                entry = entries[(i + rounds) % len(entries)]
                key = f"{result['name']} {entry['variant']}"
                try:
                    entry["seconds"].append(self.workers[entry["name"]].ask(
                        do="round", name=key, seconds=sample)["seconds"])
                except Failure as failure:
                    self.log(f"{result['name']}: {entry['name']} ended: {failure}")
                    entry["seconds"] = []
            entries = [entry for entry in entries if len(entry["seconds"]) > rounds]
            rounds += 1
            if rounds == 2:
                # A peer that is far from the fastest one need not be measured more.
                fastest = min((min(entry["seconds"]) for entry in entries[1:]), default=0)
                entries = entries[:1] + [entry for entry in entries[1:]
                                         if min(entry["seconds"]) <= 3 * fastest]
        if not entries or entries[0]["name"] != "zyx":
            raise Failure(f"{result['name']}: zyx ended while it was timed")
        result["timings"] = entries

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
