"""zyx: programs are drawn and compiled by its tools, and run by zyx-bench-kernels in a process of its own, whose end is a
failure of one program alone."""
import json, os, selectors, shlex, signal, subprocess


class Failure(Exception):
    pass


class Tools:
    """Commands of a build, or of what utils/gpu-conformance.sh packed."""

    def __init__(self, prefix):
        self.prefix = shlex.split(prefix) if prefix else []

    @classmethod
    def of_build(cls, folder):
        tools = cls("")
        tools.folder = os.path.join(folder, "bin")
        return tools

    folder = ""

    def command(self, name, *arguments):
        return [*self.prefix, os.path.join(self.folder, name), *arguments]

    def draw(self, like, seed, index, scale):
        done = subprocess.run(self.command("zyx-smith", f"--like={like}", "--print=json", f"--seed={seed}", f"--index={index}",
                                           f"--scale={scale}"), capture_output=True, text=True)
        if done.returncode:
            raise Failure(done.stderr.strip()[-300:] or f"zyx-smith ended with {done.returncode}")
        return json.loads(done.stdout)

    def indexes(self, options):
        """The programs of a shard, in their order."""
        number, count = options.shard
        if options.only:
            return options.only[number - 1::count]
        count_of_all = options.count or (20 if options.like == "models" else len(self.names(options.like)))
        return [index for index in range(options.first, options.first + count_of_all) if index % count == number - 1]

    def names(self, like):
        done = subprocess.run(self.command("zyx-smith", f"--like={like}", "--families"), capture_output=True, text=True, check=True)
        return done.stdout.split()

    def compile(self, text, path, target, limit, options=()):
        """Refuses what the compiler refuses, or takes longer for than `limit` seconds."""
        with open(path + ".mlir", "w") as file:
            file.write(text)
        try:
            done = subprocess.run(self.command("zyx-compile", path + ".mlir", f"--target={target}", "-o", path + ".zyxa",
                                               *options), capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"compiling takes more than {limit} s")
        if done.returncode:
            raise Failure(done.stderr.strip()[-300:] or f"zyx-compile ended with {done.returncode}")


class Worker:
    """zyx-bench-kernels. On hosts it is stopped while others have their turn."""

    def __init__(self, tools, device, threads):
        self.command = tools.command("zyx-bench-kernels", device, str(threads))
        self.is_host, self.process = device != "cuda" and not device.startswith("cuda:"), None
        # Of an answer: time on cards is lent, and what takes longer there is a failure.
        self.seconds = 120 if self.is_host else 30

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                                        env={**os.environ, "ZYX_CACHE_DIR": "off"})

    def ask(self, line):
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.signal(signal.SIGCONT)
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            with selectors.DefaultSelector() as ready:
                ready.register(self.process.stdout, selectors.EVENT_READ)
                answer = self.process.stdout.readline() if ready.select(self.seconds) else None
        except BrokenPipeError:
            answer = ""
        if answer is None:
            self.close()
            raise Failure(f"'{line.split()[0]}' takes more than {self.seconds} s")
        if not answer:
            code = self.process.wait()
            raise Failure(f"the process ended with {code} in '{line.split()[0]}'")
        self.signal(signal.SIGSTOP)
        said = json.loads(answer)
        if "error" in said:
            raise Failure(said["error"][:300])
        return said

    def release(self):
        """What was lent to it may be freed: it lets go of it, or has ended."""
        if self.process and self.process.poll() is None:
            try:
                self.ask("release")
            except Failure:
                self.close()

    def signal(self, which):
        if self.is_host:
            os.killpg(self.process.pid, which)

    def close(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
