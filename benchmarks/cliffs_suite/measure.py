"""Runs the programs of a shard: draws, compiles, compares, times, and writes after each program."""
import concurrent.futures, os, statistics, subprocess, tempfile, time

from . import exported, peers, records, rooflines
from .worker import Failure, Tools, Worker

# A sum that is zero but for rounding has either sign in half of the runs: all of eight agree in one case of 128.
OTHER_ROUNDINGS = 24


def commit_of(folder):
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=folder)
    return done.stdout.strip() if done.returncode == 0 else ""


class Run:
    def __init__(self, torch, options):
        self.torch, self.options = torch, options
        self.tools = Tools(options.prefix) if options.prefix else Tools.of_build(options.build)
        self.is_card = options.device.startswith("cuda")
        self.place = "cuda" if self.is_card else "cpu"
        self.clock = peers.Clock(torch, self.place)
        # In memory, where there is a folder of it: inputs go through files.
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None, prefix="zyx-cliffs-")
        self.worker = Worker(self.tools, options.device, options.threads)
        self.lender, self.lent = peers.Lender() if self.is_card else None, []
        self.deadline = time.monotonic() + 60 * options.minutes

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def head(self):
        rates = {"copy": peers.copy_rate(self.torch, self.place), "flops": {"f32": 0.0}}
        if self.is_card:
            name = self.torch.cuda.get_device_properties(0).name
            known = next((flops for card, flops in rooflines.CARDS.items() if name.startswith(card)), None)
            if known is None:
                raise SystemExit(f"what {name} computes at best is not known: rooflines.CARDS")
            rates["flops"] = known
        else:
            name, rates["flops"]["f32"] = f"cpu of {os.uname().nodename}", peers.product_rate(self.torch)
        options = self.options
        return {"commit": options.commit, "like": options.like, "seed": options.seed, "scale": options.scale, "device": name if self.is_card else "cpu",
                "machine": name, "threads": options.threads, "torch": self.torch.__version__,
                "onnxruntime": None if self.is_card else exported.version(), "rates": rates,
                "shard": options.shard, "date": time.strftime("%Y-%m-%d", time.gmtime())}

    def prepare(self, index):
        """Draws and compiles; what fails is told by the record."""
        row = {"index": index}
        try:
            program = self.tools.draw(self.options.like, self.options.seed, index, self.options.scale)
        except Failure as failure:
            return {**row, "family": "?", "variant": "?", "dtype": "?", "gradients": False, "sizes": [],
                    "failed": f"drawing: {failure}"}, None
        row |= {key: program[key] for key in ("family", "variant", "dtype", "gradients", "sizes", "flops")}
        begin = time.monotonic()
        try:
            self.tools.compile(program.pop("text"), self.path(str(index)), self.options.target, self.options.compile_limit,
                               self.options.compile_options)
        except Failure as failure:
            row["refused"] = str(failure)
        row["compile_s"] = round(time.monotonic() - begin, 3)
        return row, program

    def give(self, program, values):
        """Inputs, and on a card memory for the results: both processes have it, so that nothing is copied. Returns the results' tensors, or
        None where they are read from files."""
        if not self.is_card:
            self.write(values)
            return None
        results = [self.torch.empty(0)] * len(program["outputs"])
        for i, each in enumerate(program["outputs"]):
            results[i] = self.torch.empty(each["shape"], dtype=peers.dtypes(self.torch)[each["dtype"]], device=self.place)
            # What is not written is seen: of floats these bits are no number.
            results[i].flatten().view(self.torch.uint8).fill_(255)
        for i, (value, each) in enumerate(zip(values, program["inputs"])):
            value = value.contiguous()
            if each["donated_to"] >= 0:
                value = results[each["donated_to"]] = value.clone()
            self.worker.ask(f"lend input {i} {self.lender.describe(value)}")
            self.lent.append(value)
        donated = {each["donated_to"] for each in program["inputs"]}
        for i, result in enumerate(results):
            if i not in donated:
                self.worker.ask(f"lend output {i} {self.lender.describe(result)}")
        self.lent += results
        self.torch.cuda.synchronize()
        return results

    def take_back(self):
        """Before PyTorch gives the memory back to the driver, the other process lets go of it."""
        if self.lent:
            self.worker.release()
        self.lent = []

    def write(self, values):
        for i, value in enumerate(values):
            path = self.path("input")
            size = value.numel() * value.element_size()
            file = self.torch.from_file(path, shared=True, size=max(size, 1), dtype=self.torch.uint8)
            file[:size].view(value.dtype).copy_(value.detach().flatten())
            os.truncate(path, size)
            self.worker.ask(f"input {i} {path}")
            os.unlink(path)

    def read(self, program):
        import numpy
        results = []
        for i, each in enumerate(program["outputs"]):
            path = self.path("output")
            self.worker.ask(f"output {i} {path}")
            raw = self.torch.from_numpy(numpy.fromfile(path, dtype=numpy.uint8))
            results.append(raw.view(peers.dtypes(self.torch)[each["dtype"]]).reshape(each["shape"]))
        os.unlink(path)
        return results

    def measure(self, row, program):
        values = peers.draw(self.torch, program, self.place)
        functions = peers.Peers(self.torch, program, values)
        donated = [f" {i} {each['donated_to']}" for i, each in enumerate(program["inputs"]) if each["donated_to"] >= 0]
        self.worker.ask(f"load {self.path(str(program['index']))}.zyxa" + "".join(donated))
        results = self.give(program, values)
        self.worker.ask("run")
        if results is None:
            results = self.read(program)
        reference, dtype = functions.reference()
        row["reference"] = str(dtype).removeprefix("torch.")
        row["error"] = peers.error_of(self.torch, results, reference)
        if rooflines.is_wrong(program, row["error"]):
            # Perhaps its dtype has no more digits.
            row["eager_error"] = peers.error_of(self.torch, functions.eager(), reference)
            # Or a rounding decides what it computes.
            for seed in range(OTHER_ROUNDINGS):
                if not rooflines.is_wrong(program, row["error"], row["eager_error"]):
                    break
                row["roundings"] = seed + 1
                error = peers.error_of(self.torch, functions.rounded_otherwise(seed)(), reference)
                row["eager_error"] = rooflines.worse_of(row["eager_error"], error)
            row["wrong"] = rooflines.is_wrong(program, row["error"], row["eager_error"])
        del results, reference
        if self.is_card:
            self.torch.cuda.empty_cache()
        kernels = self.worker.ask("profile 5")["kernels"]
        wanted = [] if program["index"] >= self.options.peer_count else self.options.peers
        times = self.take_turns(program, functions, wanted, row)
        row["seconds"] = statistics.median(times.pop("zyx"))
        row["peers"] |= {name: {"seconds": statistics.median(taken)} for name, taken in times.items()}
        row["judged"] = rooflines.judge(program, kernels, row["seconds"], self.head_of_run["rates"])

    def take_turns(self, program, functions, wanted, row):
        """Times of zyx and of the peers that compute something."""
        row["peers"], calls = {}, {}
        for name in wanted:
            try:
                with peers.limited(self.options.peer_limit):
                    calls[name] = functions.get(name)
                    calls[name]()
            except Exception as failure:
                calls.pop(name, None)
                row["peers"][name] = {"failed": f"{type(failure).__name__}: {str(failure)[:200]}"}
        times = {"zyx": [], **{name: [] for name in calls}}
        end, rounds = time.monotonic() + self.options.seconds, 0
        while rounds < 3 or (time.monotonic() < end and rounds < 30):
            # The first run of a turn finds other things in the caches.
            count = 2 if rounds == 0 else self.runs(times["zyx"])
            times["zyx"] += [ns * 1e-9 for ns in self.worker.ask(f"time {count + 1} {max(1, self.options.seconds)}")["ns"][1:]
                             or [self.worker.ask("time 1 1")["ns"][0]]]
            for name, call in calls.items():
                for repeat in range(1 if self.is_card else self.runs(times[name]) + 1):
                    taken = self.clock(call)
                    if self.is_card or repeat or taken > 0.2:
                        times[name].append(taken)
            rounds += 1
            if time.monotonic() > end + 30:
                break
        return times

    @staticmethod
    def runs(times):
        """In one turn: about 20 ms."""
        return max(1, min(50, int(0.02 / statistics.median(times)))) if times else 1

    def run(self):
        path, options = self.options.results, self.options
        record = {"head": self.head(), "programs": []}
        if path and os.path.exists(path):
            before = records.read(path)
            records.merge([before, record])
            record["programs"] = before["programs"]
        self.head_of_run = record["head"]
        done = {each["index"] for each in record["programs"]}
        remaining = [index for index in self.tools.indexes(options) if index not in done]
        # Hosts are not to compile while they measure.
        ahead = options.jobs if self.is_card else 1
        with concurrent.futures.ThreadPoolExecutor(ahead) as pool:
            waiting = []
            while (remaining or waiting) and time.monotonic() < self.deadline:
                while remaining and len(waiting) < (2 * ahead if self.is_card else 1):
                    waiting.append(pool.submit(self.prepare, remaining.pop(0)))
                row, program = waiting.pop(0).result()
                if "refused" not in row and program is not None:
                    try:
                        self.measure(row, program)
                    except Exception as failure:
                        row["failed"] = f"{type(failure).__name__}: {str(failure)[:300]}"
                    finally:
                        self.take_back()
                        for suffix in (".mlir", ".zyxa"):
                            if os.path.exists(self.path(str(row["index"])) + suffix):
                                os.unlink(self.path(str(row["index"])) + suffix)
                record["programs"].append(row)
                print(self.line(row), flush=True)
                if path:
                    # After each, so that a shard that is cut off loses none.
                    records.write(record, path)
            for each in waiting:
                each.cancel()
        self.worker.close()
        left = len(remaining) + len(waiting)
        if left:
            print(f"{left} programs are left: the same command with the same results goes on with them")
        return record

    @staticmethod
    def line(row):
        failure = records.failure_of(row)
        if failure and not row.get("seconds"):
            return f"{records.title(row)}: {failure}"
        kernel = row["judged"]["large"][0]["ratio"] if row["judged"]["large"] else 0
        ratio = records.peer_ratio(row)
        return (f"{records.title(row)}: {records.seconds(row['seconds'])}, {row['judged']['ratio']:.1f} of its roofline, worst kernel "
                f"{kernel:.1f}" + (f", {ratio:.2f} of {records.best_peer(row)[0]}" if ratio else "") +
                (f"; {failure}, error {row['error']}" if failure else ""))
