"""Checks what zyx and its peers compute, and times them in turn."""
import json, os, subprocess, time

from card_clock import CardClock

from . import inputs, peers, report
from .runtime import Runtime


def quartiles(values):
    values = sorted(values)
    return [values[len(values) * i // 4] for i in (1, 2, 3)]


def errors(torch, values, references):
    """Of each result, |y - ref| / |ref|; what has fewer results has the last of them."""
    values = values if isinstance(values, (list, tuple)) else [values]
    found = []
    for value, reference in zip(values, references[len(references) - len(values):]):
        value = value.to("cuda").double().reshape(reference.shape)
        found.append(((value - reference.double()).norm() / reference.double().norm()).item())
    return found


class Program:
    """One of zyx's, with its inputs on the card."""

    def __init__(self, torch, runtime, path, named):
        self.torch, self.runtime, self.executor = torch, runtime, runtime.load(path)
        for key, each in named.items():
            runtime.set(self.executor, key if isinstance(key, int) else runtime.find(self.executor, key), each.cpu())
        # From the second run on commands are graphs.
        for _ in range(3):
            self.run()

    def run(self):
        self.runtime.run(self.executor)

    def microseconds(self):
        return self.runtime.measure(self.executor)[0]

    def read(self, results):
        found = [self.torch.empty(shape, dtype=inputs.dtype_of(self.torch, dtype)) for shape, dtype in results]
        for i, each in enumerate(found):
            self.runtime.read(self.executor, i, each)
        return found

    def release(self):
        self.runtime.release(self.executor)


class Row:
    """The measurement of one workload."""

    def __init__(self, torch, runtime, folder, name, work, row):
        self.torch, self.runtime, self.clock, self.work, self.row = torch, runtime, CardClock(torch), work, row
        self.path = os.path.join(folder, name)
        self.programs = []

    def load(self, suffix, named):
        self.programs.append(Program(self.torch, self.runtime, self.path + suffix, named))
        return self.programs[-1]

    def measure(self, seed, wanted, seconds):
        with open(self.path + ".mlir") as file:
            text = file.read()
        named = inputs.draw(self.torch, self.work, text, seed)
        program, x = self.load(".zyxa", named), list(named.values())
        references = self.work["reference"](self.torch, x)
        references = references if isinstance(references, list) else [references]
        found = errors(self.torch, program.read(inputs.shapes_of(text)[1]), references)
        self.row["error"], self.row["wrong"] = max(found), not max(found) <= self.work["bound"]
        if len(found) > 1:
            self.row["errors"] = found
        if self.row["wrong"]:
            return
        contenders = self.contenders(program, named)
        self.add_peers(contenders, x, references, wanted)
        del references
        if "kernels" in self.work:
            self.measure_launches(program)
        self.keep(self.take_turns(contenders, seconds))
        self.row["rate"] = self.work["flops" if "flops" in self.work else "bytes"] / self.row["zyx"] / 1e6

    def contenders(self, program, named):
        if self.work.get("wall"):
            return {"zyx": lambda: 1e6 * self.clock.waited(program.run)}
        if "less" not in self.work:
            return {"zyx": program.microseconds}
        count = len(inputs.shapes_of(self.work["less"]["build"]())[0])
        less = self.load(".less.zyxa", dict(list(named.items())[:count]))
        return {"zyx-whole": program.microseconds, "zyx-less": less.microseconds}

    def add_peers(self, contenders, x, references, wanted):
        """What is wrong, or fails, is said and not timed."""
        functions = peers.Functions(self.torch, self.work, x)
        time_of = self.clock.waited if self.work.get("wall") else self.clock.timed
        for name in peers.of_workload(self.work, wanted):
            try:
                function = functions.get(name)
                error = max(errors(self.torch, function(), references))
            except Exception as failure:
                self.row[name + "_failed"] = str(failure)[:300]
                continue
            self.row[name + "_error"] = error
            # Peers may sum up in 16 bits, where zyx does not.
            self.row[name + "_wrong"] = not error <= 2 * self.work["bound"]
            if not self.row[name + "_wrong"]:
                contenders[name] = lambda function=function: 1e6 * time_of(function)

    def measure_launches(self, program):
        kernels = self.row["kernels"] = self.work["kernels"]
        took = [self.runtime.measure(program.executor, 20) for _ in range(9)]
        self.row["kernel_us"] = quartiles([device / 20 / kernels for device, _ in took])[1]
        self.row["host_us"] = quartiles([host / 20 for _, host in took])[1]

    def take_turns(self, contenders, seconds):
        times = {key: [] for key in contenders}
        for _ in range(3):
            for key in contenders:
                contenders[key]()
        end, rounds = time.monotonic() + seconds, 0
        while time.monotonic() < end or rounds < 7:
            rounds += 1
            for key in contenders:
                times[key].append(contenders[key]())
        return times

    def keep(self, times):
        if "less" in self.work:
            times["zyx"] = [whole - less for whole, less in zip(times["zyx-whole"], times["zyx-less"])]
        for key, values in times.items():
            self.row[key] = quartiles(values)[1]
            self.row[key + "_quartiles"] = quartiles(values)
            if not key.startswith("zyx"):
                self.row[key + "_ratios"] = quartiles([peer / own for peer, own in zip(values, times["zyx"])])

    def release(self):
        for program in self.programs:
            program.release()


def copy_rate(torch):
    """Bytes a microsecond, read and written, of a copy of 1 GiB."""
    source = torch.empty(1 << 28, dtype=torch.float32, device="cuda").normal_()
    target, clock = torch.empty_like(source), CardClock(torch)
    return 2 * source.numel() * 4e-6 / sorted(clock.timed(lambda: target.copy_(source)) for _ in range(12))[6]


def head_of(torch, manifest, wanted):
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version,clocks.sm,power.draw", "--format=csv,noheader"],
                            capture_output=True, text=True).stdout.strip()
    return {"device": torch.cuda.get_device_properties(0).name, "driver": driver, "torch": torch.__version__,
            "cuda": torch.version.cuda, "date": time.strftime("%Y-%m-%d", time.gmtime()), "commit": manifest["commit"],
            "peers": list(wanted), "copy_bytes_per_us": copy_rate(torch), "rows": []}


def write(record, path):
    if path:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w") as file:
            json.dump(record, file, indent=1)


def run(script, folder, chosen, wanted, seconds, path):
    with open(os.path.join(folder, "manifest.json")) as file:
        manifest = json.load(file)
    chosen = {name: work for name, work in chosen.items() if name in manifest["workloads"]}
    peers.set_environment(os.path.join(folder, "inductor"))
    begin = time.monotonic()
    tuned = peers.tune(script, folder, chosen, wanted)
    if tuned:
        print(f"torch.compile had {time.monotonic() - begin:.0f} s for {len(tuned)} workloads", flush=True)
    import torch
    runtime = Runtime(folder)
    # Of the algorithms for a convolution, the fastest.
    torch.backends.cudnn.benchmark = True
    record = head_of(torch, manifest, wanted)
    print(f"{record['device']}, driver {record['driver']}; torch {record['torch']}; "
          f"copy {record['copy_bytes_per_us'] / 1e6:.3f} TB/s")
    for name, work in chosen.items():
        row = {"name": name, "compile_s": manifest["workloads"][name]["compile_s"]}
        record["rows"].append(row)
        if name in tuned:
            row["tuned"] = tuned[name]
        measured = Row(torch, runtime, folder, name, work, row)
        try:
            row["refused"] = manifest["workloads"][name].get("refused")
            if not row["refused"]:
                measured.measure(len(record["rows"]), wanted, seconds)
        except Exception as failure:
            row["failed"] = str(failure)[:300]
        measured.release()
        print(report.spoken(row, record), flush=True)
        # After each row, so that a run that is cut off loses none.
        write(record, path)
