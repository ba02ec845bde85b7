#!/usr/bin/env python3
"""Networks of torch.compile on a processor: the backend "zyx" beside Inductor, speed and cold compilation.

  benchmarks/torch_compile.py --python=PYTHON [--model=TEXT] [--threads=2] [--rounds=7] [--seconds=0.2] [--limit=1200]
                              [--build=build/release] [--record=FILE]
  benchmarks/torch_compile.py table FILE

The networks are those of `utils/scores.py models`, without gradients, and ResNet-50 and BERT-base of full size. Each backend is a
process of its own, with random weights of the same seed, without files of earlier compilations. Both compile in turns. Results are
compared with eager mode before anything is timed. Then both run in turns, --rounds times --seconds each; the other process is
stopped meanwhile, so that no pool of threads spins on its processor. Other work on the machine makes Inductor's threads wait for one
another: the table has the load that the machine had, and speeds count where it was small. A time is the median over rounds; a ratio is Inductor's time
divided by zyx's of the same round, so that above 1 zyx is faster, and the quartiles of it show how steady it is.

--record keeps a line of each network, and a run that was ended goes on from there. `table` prints the tables of such a file.
PYTHON has torch, and torchvision, timm and transformers; what it has not is left out and named. Inductor needs a C++ compiler.
"""
import argparse
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BACKENDS = ("zyx", "inductor")
# Of full size: compilation alone is held against a bound.
WHOLE = ("whole: ResNet-50", "whole: BERT-base")


def make(name):
    """A network and its arguments."""
    import torch
    import torch_models
    torch.manual_seed(1)
    if name == "whole: ResNet-50":
        import torchvision
        made, draw = torchvision.models.resnet50, lambda: (torch.randn(1, 3, 224, 224),)
    elif name == "whole: BERT-base":
        import transformers
        made, draw = lambda: transformers.BertModel(transformers.BertConfig()), lambda: (torch.randint(0, 30000, (1, 128)),)
    else:
        made, draw = torch_models.MODELS[name]
    arguments = draw()
    return torch_models.settled(made(), arguments), arguments


def worker(backend, name, threads):
    """Compiles, says how long it took and how far results are apart, and then runs for as many seconds as each line of input says."""
    import logging
    import warnings
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    out, sys.stdout = sys.stdout, sys.stderr
    import resource
    import torch
    import torch_models
    torch.set_num_threads(threads)

    def say(**line):
        print(json.dumps(line), file=out, flush=True)

    def processor():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    try:
        model, arguments = make(name)
    except ImportError as error:
        say(left_out=str(error))
        return
    with torch.no_grad():
        expected = torch_models.tensors(model(*arguments))
        # The first graph of a process imports what compiles; that is the cold compilation of a user, too.
        before, began = processor(), time.perf_counter()
        try:
            function = torch.compile(model, backend=backend)
            found = torch_models.tensors(function(*arguments))
        except Exception as error:
            say(refused=str(error)[:300])
            return
        took = time.perf_counter() - began
        say(compile_s=took, compile_cpu_s=processor() - before,
            apart=max(torch_models.size(a - b) / max(torch_models.size(a), 1e-30) for a, b in zip(expected, found)))
        for line in sys.stdin:
            end, times = time.perf_counter() + float(line), []
            while not times or time.perf_counter() < end:
                began = time.perf_counter()
                function(*arguments)
                times.append(time.perf_counter() - began)
            say(times=times)


class Contender:
    """A process of one backend. Outside of its turns it is stopped."""

    def __init__(self, backend, name, options, scratch):
        environment = dict(os.environ, ZYX_DEVICE="cpu", ZYX_CACHE_DIR="off", TORCHINDUCTOR_CACHE_DIR=f"{scratch}/{backend}",
                           OMP_NUM_THREADS=str(options.threads), PYTHONPATH=os.pathsep.join(
                               [str(ROOT / "test" / "python"), str((options.build / "python").resolve())]))
        self.process = subprocess.Popen(
            [str(options.python), "-B", __file__, "worker", f"--backend={backend}", f"--model={name}", f"--threads={options.threads}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True)
        self.made = self._answer(options.limit)

    def _answer(self, limit):
        def ended(*_):
            raise TimeoutError

        signal.signal(signal.SIGALRM, ended)
        signal.alarm(int(limit))
        try:
            line = self.process.stdout.readline()
        except TimeoutError:
            return {"refused": f"no answer in {limit} s"}
        finally:
            signal.alarm(0)
        return json.loads(line) if line else {"refused": f"the process ended with {self.process.wait()}"}

    def hold(self):
        self.process.send_signal(signal.SIGSTOP)

    def turn(self, seconds):
        """The median time of a call."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        times = self._answer(600).get("times")
        self.hold()
        return statistics.median(times)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def measure(name, options, turn):
    """A line of the record."""
    line, contenders = {"model": name, "load": os.getloadavg()[0]}, {}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for backend in BACKENDS if turn % 2 == 0 else BACKENDS[::-1]:
                contenders[backend] = Contender(backend, name, options, scratch)
                line[backend] = contenders[backend].made
                if "compile_s" not in line[backend]:
                    return line
                contenders[backend].hold()
            if any(line[backend]["apart"] > 1e-3 for backend in BACKENDS):
                return line
            for each in contenders.values():
                each.turn(options.seconds / 4)
            rounds = []
            for at in range(options.rounds):
                order = BACKENDS if at % 2 == 0 else BACKENDS[::-1]
                taken = {backend: contenders[backend].turn(options.seconds) for backend in order}
                rounds.append([taken[backend] for backend in BACKENDS])
            line["rounds"] = rounds
        finally:
            for each in contenders.values():
                each.end()
    return line


def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def table(path):
    """The tables of a record."""
    lines = [json.loads(line) for line in open(path)]
    head, rows = lines[0], lines[1:]
    print(f"{head['machine']}, {head['threads']} threads, torch {head['torch']}, commit {head['commit']}\n")
    print("| network | zyx, ms | Inductor, ms | Inductor / zyx | quartiles | compilation: zyx, s | Inductor, s | zyx / Inductor |\n"
          "|---|---|---|---|---|---|---|---|")
    speeds, compilations = [], []
    for row in rows:
        name, own, its = row["model"], row.get("zyx", {}), row.get("inductor", {})
        if "rounds" not in row:
            why = next((f"{backend}: {text}" for backend, each in (("zyx", own), ("Inductor", its)) for text in each.values()
                        if isinstance(text, str)), f"apart from eager mode: zyx by {own.get('apart')}, Inductor by {its.get('apart')}")
            print(f"| {name} | not measured: {' '.join(why.split())[:120]} | | | | | | |")
            continue
        ratios = [b / a for a, b in row["rounds"]]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        compilation = own["compile_s"] / its["compile_s"]
        if name not in WHOLE:
            speeds.append(middle)
            compilations.append(compilation)
        times = [1e3 * statistics.median(column) for column in zip(*row["rounds"])]
        print(f"| {name} | {times[0]:.2f} | {times[1]:.2f} | {middle:.2f} | {low:.2f} to {high:.2f} | {own['compile_s']:.1f} | "
              f"{its['compile_s']:.1f} | {compilation:.2f} |")
    if speeds:
        loads = [row["load"] for row in rows if "load" in row]
        if loads:
            print(f"\nLoad of the machine before each network: {min(loads):.1f} to {max(loads):.1f}.")
        print(f"\n{len(speeds)} networks of the list: Inductor's time divided by zyx's {mean(speeds):.2f} in the geometric mean, the least "
              f"{min(speeds):.2f}; compilation of zyx divided by Inductor's {mean(compilations):.2f}.")
    return 0 if speeds else 1


def machine():
    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{models[0] if models else 'a processor'}, {os.cpu_count()} CPUs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["worker", "table"], help=argparse.SUPPRESS)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--python", type=pathlib.Path, default=pathlib.Path(sys.executable))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--model", default="")
    parser.add_argument("--backend", choices=BACKENDS, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--limit", type=float, default=1200)
    parser.add_argument("--record", type=pathlib.Path)
    options = parser.parse_args()
    if options.what == "worker":
        return worker(options.backend, options.model, options.threads)
    if options.what == "table":
        return table(options.file)
    # The list of networks is that of the other Python, which has torch.
    listed = subprocess.run(
        [str(options.python), "-B", "-c", "import json, torch, torch_models; print(json.dumps([torch.__version__, *torch_models.MODELS]))"],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT / "test" / "python"), str((options.build / "python").resolve())])),
        stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1]
    version, *names = json.loads(listed)
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True).stdout.strip()
    head = {"machine": machine(), "threads": options.threads, "torch": version, "commit": commit}
    own = tempfile.NamedTemporaryFile("w", suffix=".jsonl") if options.record is None else None
    path = options.record or pathlib.Path(own.name)
    lines = [json.loads(line) for line in open(path)] if path.exists() else []
    if lines and lines[0] != head:
        sys.exit(f"torch_compile.py: {path} is a record of {lines[0]}, and this is {head}")
    with open(path, "a") as record:
        if not lines:
            print(json.dumps(head), file=record, flush=True)
        done = {line["model"] for line in lines[1:]}
        for turn, name in enumerate([*WHOLE, *names]):
            if options.model in name and name not in done:
                line = measure(name, options, turn)
                print(json.dumps(line), file=record, flush=True)
                print(json.dumps({key: value for key, value in line.items() if key != "rounds"}), file=sys.stderr, flush=True)
    return table(path)


if __name__ == "__main__":
    sys.exit(main())
