#!/usr/bin/env python3
"""Times programs of many small kernels with each way of making CUDA graphs: docs/device-cuda.md, "CUDA graphs".

  benchmarks/launches.py prepare BUILD FOLDER [--dependents=begin|before|end] [[SEED:]INDEX ...]
      Draws programs of `zyx-smith --like=models` and compiles them for sm_90a: those of the numbers, of seed 1759269790
      where none is given, or those of the record of 68dc539e that launches take the most of and some small blocks of
      training. `before` has kernels let the next one begin in front of their own wait, which docs/device-cuda.md does
      not call safe, and `end` only when they end; both take ptxas.
  benchmarks/launches.py run FOLDER [--prefix="sh .gpu/run.sh" | --build=BUILD] [--ways="chain chosen early"]
                         [--rounds=N] [--seconds=S] [--limit=S]
      On a card: runs each with these values of ZYX_CUDA_GRAPHS, in turns, and prints the median time of the device for
      each, by how many times it is that of the first way, and how many commands of its graphs begin early; at the end
      the geometric average and the extremes. No program is begun after so many seconds. Ends with 1 where a result
      differs from the first way's by a bit, or a run fails.
"""
import array, hashlib, json, math, os, random, re, shlex, shutil, statistics, subprocess, sys, time

SEED = 1759269790
PROGRAMS = [(SEED, index) for index in
            (127, 243, 185, 36, 161, 255, 252, 12, 210, 87, 226, 188, 75, 170, 82, 43, 139, 94, 473)]
PROGRAMS += [(3550273848, 216), (3550273848, 534), (2123890974, 388)]
# What --dependents does to the first two instructions of a kernel.
WAIT, LET = "\tgriddepcontrol.wait;\n", "\tgriddepcontrol.launch_dependents;\n"
DEPENDENTS = {"begin": WAIT + LET, "before": LET + WAIT, "end": WAIT}


def assembler(folder, dependents):
    """A program in place of ptxas that changes the text, its last argument, and goes on with that."""
    ptxas = os.environ.get("ZYX_PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    path = os.path.abspath(f"{folder}/ptxas")
    with open(path, "w") as file:
        file.write(f"""#!{sys.executable}
import os, sys
with open(sys.argv[-1]) as file:
    text = file.read()
with open(sys.argv[-1], "w") as file:
    file.write(text.replace({WAIT + LET!r}, {DEPENDENTS[dependents]!r}))
os.execv({ptxas!r}, [{ptxas!r}, *sys.argv[1:]])
""")
    os.chmod(path, 0o755)
    return {**os.environ, "ZYX_PTXAS": path}


def prepare(build, folder, programs, dependents):
    os.makedirs(folder, exist_ok=True)
    environment = None if dependents == "begin" else assembler(folder, dependents)
    for seed, index in programs:
        drawn = json.loads(subprocess.run([f"{build}/bin/zyx-smith", "--like=models", "--print=json", f"--seed={seed}",
                                           f"--index={index}"], capture_output=True, text=True, check=True).stdout)
        path = f"{folder}/{seed}-{index}"
        with open(path + ".mlir", "w") as file:
            file.write(drawn["text"])
        with open(path + ".json", "w") as file:
            json.dump({key: drawn[key] for key in ("family", "variant", "gradients", "inputs", "outputs")}, file)
        subprocess.run([f"{build}/bin/zyx-compile", path + ".mlir", "--target=sm_90a", "-o", path + ".zyxa"],
                       env=environment, check=True)
        print(f"{seed}:{index}: {drawn['family']} {drawn['variant']}", flush=True)


def numbers_of(given, generator):
    """Some values of an input as bytes: small ones, a block of them again and again."""
    dtype = given["dtype"]
    if dtype == "bool":
        block = array.array("B", (generator.randrange(2) for _ in range(4096)))
    elif dtype[0] in "iu":
        block = array.array({"8": "b", "16": "h", "32": "i", "64": "q"}[dtype[1:]], (generator.randrange(4) for _ in range(4096)))
    elif dtype == "f64":
        block = array.array("d", (generator.gauss(0, 0.5) for _ in range(4096)))
    else:
        block = array.array("f", (generator.gauss(0, 0.5) for _ in range(4096)))
        if dtype == "bf16":
            block = array.array("H", (word >> 16 for word in array.array("I", block.tobytes())))
        elif dtype == "f16":
            import struct
            block = array.array("H", struct.unpack(f"<{len(block)}H", struct.pack(f"<{len(block)}e", *block)))
        elif dtype.startswith("f8"):
            block = array.array("B", (generator.randrange(0x20, 0x38) for _ in range(4096)))
    piece = block.tobytes()
    # The input's "bytes" are those that the program reads, of chosen matrices not all.
    size = math.prod(given["shape"]) * block.itemsize
    return (piece * (size // len(piece) + 1))[:size]


class Runner:
    """A process of zyx-bench-kernels with one of the ways."""

    def __init__(self, command, way, log):
        with open(log, "w") as file:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True,
                                            env={**os.environ, "ZYX_CUDA_GRAPHS": way, "ZYX_CACHE_DIR": "off",
                                                 "ZYX_DEBUG": "devices"})
        self.log = open(log)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        said = json.loads(answer) if answer else {"error": f"the process ended with {self.process.wait()}"}
        if "error" in said:
            raise RuntimeError(f"{line.split()[0]}: {said['error']}")
        return said

    def early(self):
        """Of graphs made since the last call, how many of how many commands begin early."""
        counts = [(int(early), int(of)) for early, of in re.findall(r"(\d+) of (\d+) commands begin early", self.log.read())]
        return "{}/{}".format(*map(sum, zip(*counts))) if counts else "-"


def results(runner, program, folder):
    hashes = []
    for number in range(len(program["outputs"])):
        runner.ask(f"output {number} {folder}/result")
        with open(f"{folder}/result", "rb") as file:
            hashes.append(hashlib.sha256(file.read()).hexdigest())
    return hashes


def measure(folder, command, ways, rounds, seconds, limit):
    failed, begun, quotients = False, time.monotonic(), {way: [] for way in ways[1:]}
    runners = {}
    names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".zyxa"))
    print("program".ljust(15) + "".ljust(40) + "".join(way.rjust(28) for way in ways), flush=True)
    for done, name in enumerate(names):
        if limit and time.monotonic() - begun > limit:
            print(f"stopped after {limit:g} s: {len(names) - done} programs were not run")
            break
        with open(f"{folder}/{name}.json") as file:
            program = json.load(file)
        generator, files = random.Random(name), []
        for number, given in enumerate(program["inputs"]):
            files.append(f"{folder}/input-{number}")
            with open(files[-1], "wb") as file:
                file.write(numbers_of(given, generator))
        times, said, early, texts = {way: [] for way in ways}, {}, {}, []
        for way in ways:
            try:
                runner = runners.get(way) or Runner(command, way, f"{folder}/log-{way}")
                runners[way] = runner
                runner.ask(f"load {folder}/{name}.zyxa")
                for number, path in enumerate(files):
                    runner.ask(f"input {number} {path}")
                for _ in range(3):
                    runner.ask("run")
                early[way] = runner.early()
                said[way] = results(runner, program, folder)
            except RuntimeError as failure:
                texts.append(f"{way}: {failure}")
                runners[way] = None if runners.get(way) and runners[way].process.poll() is not None else runners.get(way)
        for _ in range(rounds):
            for way in said:
                times[way] += runners[way].ask(f"time 1000 {seconds}")["ns"]
        for way in list(said):
            try:
                runners[way].ask("run")
                if results(runners[way], program, folder) != said[way]:
                    texts.append(f"{way}: the results of two runs differ")
            except RuntimeError as failure:
                texts.append(f"{way}: {failure}")
        base = statistics.median(times[ways[0]]) if times[ways[0]] else 0
        cells = []
        for way in ways:
            middle = statistics.median(times[way]) if times[way] else 0
            cells.append((f"{middle / 1e3:.1f} us" + (f" ({middle / base:.2f})" if base and middle else "") +
                          f" {early.get(way, '-')}").rjust(28))
            if way in quotients and base and middle:
                quotients[way].append(middle / base)
            if way in said and ways[0] in said and said[way] != said[ways[0]]:
                texts.append(f"{way}: results differ from {ways[0]}'s")
        what = f"{program['family']} {program['variant']}{' gradients' if program['gradients'] else ''}"
        print(name.ljust(15) + " " + what.ljust(39) + "".join(cells) + "".join(f"  [{text}]" for text in texts), flush=True)
        failed |= bool(texts)
        for path in files:
            os.remove(path)
    for way, all_of in quotients.items():
        if all_of:
            print(f"{way}: {statistics.geometric_mean(all_of):.3f} of {ways[0]} "
                  f"({min(all_of):.2f} to {max(all_of):.2f}, {len(all_of)} programs)")
    for runner in runners.values():
        if runner:
            runner.process.stdin.close()
            runner.process.wait()
    return 1 if failed else 0


def main(arguments):
    options = {"prefix": "", "build": "build/release", "rounds": "3", "seconds": "0.1", "ways": "chain chosen early",
               "limit": "0", "dependents": "begin"}
    words = []
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if argument.startswith("--") and name in options and equals:
            options[name] = value
        else:
            words.append(argument)
    if len(words) >= 3 and words[0] == "prepare" and options["dependents"] in DEPENDENTS:
        named = [word.rpartition(":") for word in words[3:]]
        prepare(words[1], words[2], [(int(seed or SEED), int(index)) for seed, _, index in named] or PROGRAMS,
                options["dependents"])
        return 0
    if len(words) == 2 and words[0] == "run":
        program = "zyx-bench-kernels" if options["prefix"] else f"{options['build']}/bin/zyx-bench-kernels"
        return measure(words[1], [*shlex.split(options["prefix"]), program, "cuda"], options["ways"].split(),
                       int(options["rounds"]), float(options["seconds"]), float(options["limit"]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
