"""Other ways to compute a workload, by name, and how long they are allowed to prepare.

  eager            PyTorch op by op: cuBLAS for products, cuDNN for convolutions, the fastest of its algorithms
  cudnn, flash     PyTorch's attention by cuDNN, and by FlashAttention
  compile          torch.compile as it comes
  autotune         torch.compile that measures candidates: mode "max-autotune-no-cudagraphs"
  NAME-graphs      what NAME made, captured in a CUDA graph whose inputs stay where they are

`tune` compiles what autotune needs beforehand, in several processes, which is most of what it takes: they share the
folder where Inductor keeps what it made. While one of them measures a candidate, no other does.
"""
import concurrent.futures, contextlib, fcntl, json, os, queue, subprocess, sys, time

from . import inputs

MODES = {"compile": None, "autotune": "max-autotune-no-cudagraphs"}
LIBRARIES = ("eager", "cudnn", "flash")
ALL = (*LIBRARIES, "eager-graphs", "compile", "compile-graphs", "autotune", "autotune-graphs")
DEFAULT = (*LIBRARIES, "eager-graphs", "autotune", "autotune-graphs")


def base_of(name):
    return name.removesuffix("-graphs")


def of_workload(work, wanted):
    """Those of the wanted ones that the workload has. What eager makes is captured only where launches are measured."""
    has = set(work.get("peers", ["eager"]))
    if "kernels" in work:
        has.add("eager-graphs")
    if work["compiled"]:
        has |= {name for name in ALL if base_of(name) in MODES}
    return [name for name in wanted if name in has]


def library_function(torch, work, x, name):
    if "peers" in work:
        return work["peers"][name](torch, x)
    return lambda: work["peer"](torch, x)


def compiled_function(torch, work, x, name):
    torch._dynamo.reset()
    function = torch.compile(lambda *v: work["peer"](torch, v), dynamic=False, mode=MODES[name])
    # The first runs compile, and choose.
    for _ in range(3):
        function(*x)
    torch.cuda.synchronize()
    return lambda: function(*x)


def captured(torch, function):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()

    def replay():
        graph.replay()
        return result
    return replay


def peer_inputs(torch, work, x):
    """What peers are given: the program's inputs, or what they would have kept of a forward half."""
    return work["saved"](torch, x) if "saved" in work else x


class Functions:
    """A function without arguments for each peer; a peer and its graph share what was compiled."""

    def __init__(self, torch, work, x):
        self.torch, self.work, self.x, self.made = torch, work, peer_inputs(torch, work, x), {}

    def get(self, name):
        if name not in self.made:
            if name != base_of(name):
                base = self.get(base_of(name))
                base()
                self.made[name] = captured(self.torch, base)
            else:
                make = compiled_function if name in MODES else library_function
                self.made[name] = make(self.torch, self.work, self.x, name)
        return self.made[name]


# Compiling beforehand.

@contextlib.contextmanager
def held(path):
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure_alone(path):
    """Has Inductor hold a lock while it measures a candidate."""
    from torch._inductor.runtime import benchmarking
    kind = type(benchmarking.benchmarker)
    measure, depth = kind.benchmark_gpu, [0]

    def locked(self, *arguments, **named):
        with contextlib.ExitStack() as stack:
            if not depth[0]:
                stack.enter_context(held(path))
            depth[0] += 1
            try:
                return measure(self, *arguments, **named)
            finally:
                depth[0] -= 1
    kind.benchmark_gpu = locked


def set_environment(folder, processes=6):
    """Where Inductor keeps what it made, and how many processors each process has for it. Before torch is imported."""
    os.makedirs(folder, exist_ok=True)
    threads = max(1, (os.cpu_count() or 1) // processes)
    os.environ.update({"TORCHINDUCTOR_CACHE_DIR": folder, "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
                       "TORCHINDUCTOR_COMPILE_THREADS": str(threads)})


def tune_names(folder, workloads, wanted, lines, answers):
    """In a process of its own: compiles what each workload's peers need, whose name is a line, and answers with one."""
    import torch
    measure_alone(os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "measuring"))
    for name in map(str.strip, lines):
        begin, answer = time.monotonic(), {"name": name}
        try:
            with open(os.path.join(folder, name + ".mlir")) as file:
                x = peer_inputs(torch, workloads[name], list(inputs.draw(torch, workloads[name], file.read(), 1).values()))
            for each in modes_of(workloads[name], wanted):
                compiled_function(torch, workloads[name], x, each)
        except Exception as failure:
            answer["failed"] = str(failure)[:300]
        x = None
        torch.cuda.empty_cache()
        answer["seconds"] = time.monotonic() - begin
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def modes_of(work, wanted):
    """Of torch.compile, as the workload's peers need them."""
    bases = dict.fromkeys(base_of(name) for name in of_workload(work, wanted))
    return [name for name in bases if name in MODES]


def tune(script, folder, chosen, wanted, processes=6):
    """Compiles what the workloads' peers need; seconds by workload, or what went wrong."""
    # What takes longest is not to be last.
    names = sorted((name for name, work in chosen.items() if modes_of(work, wanted)),
                   key=lambda name: chosen[name].get("flops", 0), reverse=True)
    waiting, answers = queue.SimpleQueue(), []
    for name in names:
        waiting.put(name)

    def serve(_):
        command = [sys.executable, script, "tune", folder, "--peers=" + ",".join(wanted)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as process:
            with contextlib.suppress(queue.Empty):
                while True:
                    name = waiting.get_nowait()
                    process.stdin.write(name + "\n")
                    process.stdin.flush()
                    line = process.stdout.readline()
                    answers.append(json.loads(line) if line else {"name": name, "failed": "the process died", "seconds": 0.0})
                    if not line:
                        return
            process.stdin.close()
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        list(pool.map(serve, range(min(processes, len(names)))))
    return {answer.pop("name"): answer for answer in answers}
