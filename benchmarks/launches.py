#!/usr/bin/env python3
"""Times programs of many small kernels with each way of making CUDA graphs: docs/device-cuda.md, "CUDA graphs".

  benchmarks/launches.py prepare BUILD FOLDER [INDEX ...]
      Draws programs of `zyx-smith --like=models --seed=1759269790` and compiles them for sm_90a: those of the record of
      68dc539e that launches take the most of, or those of the numbers.
  benchmarks/launches.py run FOLDER [--prefix="sh .gpu/run.sh" | --build=BUILD] [--rounds=N] [--seconds=S]
      On a card: runs each with ZYX_CUDA_GRAPHS=chain, early, branches and early,branches, in turns, and prints the median
      time of the device for each, and by how many times it is that of the chain. Ends with 1 where a result differs from
      the chain's by a bit, or a run fails.
"""
import array, hashlib, json, math, os, random, shlex, statistics, subprocess, sys

SEED = 1759269790
INDEXES = [127, 243, 185, 36, 161, 255, 252, 12, 210, 87, 226, 188, 75, 170, 82, 43, 139, 94]
WAYS = ["chain", "early", "branches", "early,branches"]


def prepare(build, folder, indexes):
    os.makedirs(folder, exist_ok=True)
    for index in indexes:
        drawn = json.loads(subprocess.run([f"{build}/bin/zyx-smith", "--like=models", "--print=json", f"--seed={SEED}",
                                           f"--index={index}"], capture_output=True, text=True, check=True).stdout)
        path = f"{folder}/{index}"
        with open(path + ".mlir", "w") as file:
            file.write(drawn["text"])
        with open(path + ".json", "w") as file:
            json.dump({key: drawn[key] for key in ("family", "variant", "gradients", "inputs", "outputs")}, file)
        subprocess.run([f"{build}/bin/zyx-compile", path + ".mlir", "--target=sm_90a", "-o", path + ".zyxa"], check=True)
        print(f"{index}: {drawn['family']} {drawn['variant']}", flush=True)


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

    def __init__(self, command, way):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "ZYX_CUDA_GRAPHS": way, "ZYX_CACHE_DIR": "off"})

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        said = json.loads(answer) if answer else {"error": f"the process ended with {self.process.wait()}"}
        if "error" in said:
            raise RuntimeError(f"{line.split()[0]}: {said['error']}")
        return said


def results(runner, program, folder):
    hashes = []
    for number in range(len(program["outputs"])):
        runner.ask(f"output {number} {folder}/result")
        with open(f"{folder}/result", "rb") as file:
            hashes.append(hashlib.sha256(file.read()).hexdigest())
    return hashes


def measure(folder, command, rounds, seconds):
    failed = False
    runners = {}
    print("index".ljust(7) + "program".ljust(44) + "".join(way.rjust(22) for way in WAYS), flush=True)
    for index in sorted(int(name[:-5]) for name in os.listdir(folder) if name.endswith(".zyxa")):
        with open(f"{folder}/{index}.json") as file:
            program = json.load(file)
        generator, files = random.Random(index), []
        for number, given in enumerate(program["inputs"]):
            files.append(f"{folder}/input-{number}")
            with open(files[-1], "wb") as file:
                file.write(numbers_of(given, generator))
        times, said, texts = {way: [] for way in WAYS}, {}, []
        for way in WAYS:
            try:
                runner = runners.setdefault(way, None) or Runner(command, way)
                runners[way] = runner
                runner.ask(f"load {folder}/{index}.zyxa")
                for number, path in enumerate(files):
                    runner.ask(f"input {number} {path}")
                for _ in range(3):
                    runner.ask("run")
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
        base = statistics.median(times["chain"]) if times["chain"] else 0
        cells = []
        for way in WAYS:
            middle = statistics.median(times[way]) if times[way] else 0
            cells.append((f"{middle / 1e3:.1f} us" + (f" ({middle / base:.2f})" if base and middle else "")).rjust(22))
            if way in said and "chain" in said and said[way] != said["chain"]:
                texts.append(f"{way}: results differ from the chain's")
        name = f"{program['family']} {program['variant']}{' gradients' if program['gradients'] else ''}"
        print(str(index).ljust(7) + name.ljust(44) + "".join(cells) + "".join(f"  [{text}]" for text in texts), flush=True)
        failed |= bool(texts)
        for path in files:
            os.remove(path)
    for runner in runners.values():
        if runner:
            runner.process.stdin.close()
            runner.process.wait()
    return 1 if failed else 0


def main(arguments):
    options = {"prefix": "", "build": "build/release", "rounds": "3", "seconds": "0.1"}
    words = []
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if argument.startswith("--") and name in options and equals:
            options[name] = value
        else:
            words.append(argument)
    if len(words) >= 3 and words[0] == "prepare":
        prepare(words[1], words[2], [int(word) for word in words[3:]] or INDEXES)
        return 0
    if len(words) == 2 and words[0] == "run":
        program = "zyx-bench-kernels" if options["prefix"] else f"{options['build']}/bin/zyx-bench-kernels"
        return measure(words[1], [*shlex.split(options["prefix"]), program, "cuda"], int(options["rounds"]),
                       float(options["seconds"]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
