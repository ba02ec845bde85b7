# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs programs of a build on hostile input, and judges how they end.

texts.py, files.py and scenes.py give the cases. A program may do what it is asked (exit code 0) or refuse
with a reason on stderr. It may not die by a signal, hang, end without a word, or say that it broke."""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

GIB = 1 << 30

# What a program says that has lost itself, whatever its exit code is.
BROKEN = re.compile(
    r"terminate called|std::bad_alloc|Assertion .* failed|ASSERT|PLEASE submit a bug report|Stack dump:|LLVM ERROR: out of memory|"
    r"UNREACHABLE executed|data corruption|stack smashing|double free|free\(\): invalid|malloc\(\): |"
    r"AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error: |child process died")


# How AddressSanitizer ends a program that asks for more memory than there is: the allocation cannot fail there.
OUT_OF_MEMORY = re.compile(r"AddressSanitizer: (allocation-size-too-big|out-of-memory|requested allocation size|hard rss limit exhausted)")


def is_sanitized(build):
    """Whether the programs of a build reserve terabytes of addresses, so that no limit of them can be set."""
    cache = pathlib.Path(build) / "CMakeCache.txt"
    return cache.exists() and bool(re.search(r"^ZYX_SANITIZE:\w+=.", cache.read_text(), re.MULTILINE))


@dataclasses.dataclass
class Outcome:
    """How a command ended."""
    command: list
    code: int  # as of subprocess: -N for signal N
    stdout: bytes
    stderr: str
    seconds: float
    hung: bool = False

    def __str__(self):
        command = " ".join(str(word) for word in self.command)
        end = "hangs" if self.hung else f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"
        return f"{end} after {self.seconds:.1f} s: {command[:400]}\n{self.stderr[-1200:]}"


class Bench:
    """The programs of a build, and a folder of its own for each case."""

    def __init__(self, build, folder, seconds=10, memory=8 * GIB):
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.build = pathlib.Path(build).resolve()
        self.source = pathlib.Path(__file__).resolve().parents[2]
        self.folder = pathlib.Path(folder)
        self.is_sanitized = is_sanitized(build)
        # Sanitizers make programs some five times slower.
        self.seconds, self.memory = (5 * seconds, 0) if self.is_sanitized else (seconds, memory)

    def tool(self, name):
        """The path of a program of the build."""
        return str(self.bin / name)

    def environment(self, **more):
        """No cache, no configuration of the user; `more` is added, None takes a variable away."""
        env = dict(os.environ, ZYX_CACHE_DIR="off", XDG_CONFIG_HOME="/nonexistent", TMPDIR=str(self.folder),
                   LLVM_DISABLE_CRASH_REPORT="1")
        if self.is_sanitized:
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "allow_user_poisoning=0:use_sigaltstack=0") + ":max_allocation_size_mb=4096:hard_rss_limit_mb=8192"
        env.update({key: value for key, value in more.items() if value is not None})
        return {key: value for key, value in env.items() if more.get(key, value) is not None}

    def run(self, *command, env=None, stdin=None, cwd=None, seconds=None, memory=None, before=None, stdout=None):
        """Runs a command whose first word may be the name of a program of the build.

        `env` is what `environment` takes, a dict. `stdin`: bytes, or a file. `stdout`: a file instead of a
        pipe. `memory`: bytes of address space, 0 for no limit (where a driver is used). `before` is called in
        the child. A command beyond its seconds is killed with its children, and its outcome is `hung`."""
        words = [str(word) for word in command]
        if "/" not in words[0] and (self.bin / words[0]).exists():
            words[0] = self.tool(words[0])
        limit = self.memory if memory is None or self.is_sanitized else memory

        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            if before:
                before()

        given = stdin if isinstance(stdin, bytes) else None
        began = time.monotonic()
        child = subprocess.Popen(
            words, env=self.environment(**(env or {})), cwd=cwd or self.folder, preexec_fn=prepare,
            stdin=subprocess.PIPE if given is not None else stdin or subprocess.DEVNULL,
            stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        hung = False
        try:
            out, err = child.communicate(given, timeout=max(seconds or 0, self.seconds))
        except subprocess.TimeoutExpired:
            hung = True
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
        return Outcome(words, child.returncode, out or b"", (err or b"").decode("utf-8", "replace"),
                       time.monotonic() - began, hung)


def fault(outcome, expect="either"):
    """What is wrong with how a command ended, or None. `expect`: "run", "refuse" or "either"."""
    if outcome.hung:
        return "hangs"
    if OUT_OF_MEMORY.search(outcome.stderr):
        return None
    if outcome.code < 0 or outcome.code in (134, 135, 136, 139):
        return "dies by a signal"
    if found := BROKEN.search(outcome.stderr):
        return f"says '{found.group()}'"
    if outcome.code != 0 and not outcome.stderr.strip():
        return "refuses without a reason"
    if expect == "run" and outcome.code != 0:
        return "refuses what is right"
    if expect == "refuse" and outcome.code == 0:
        return "accepts what is wrong"
    return None


def is_said(outcome, text):
    """Whether stderr has the text, where one is asked for and the program could say it."""
    return text is None or text in outcome.stderr or bool(OUT_OF_MEMORY.search(outcome.stderr))


def require(condition, what):
    """Fails the case where the condition does not hold."""
    if not condition:
        raise AssertionError(what)


class Case:
    """A name, and a function of a Bench that raises where the programs do wrong.

    The function runs what it likes by `bench.run`, judges by `fault` and `require`, and may return the number
    of inputs that it stands for (1 where it returns nothing), as a batch of one process does. `slow` ones run
    with --all only."""

    def __init__(self, name, function, slow=False):
        self.name, self.function, self.slow = name, function, slow


def ends_well(*command, expect="either", says=None, **how):
    """The function of a case of one command: it ends as expected, and stderr has the text `says`."""

    def check(bench):
        outcome = bench.run(*command, **how)
        wrong = fault(outcome, expect)
        require(wrong is None, f"{wrong}: {outcome}")
        require(is_said(outcome, says), f"does not say '{says}': {outcome}")

    return check


def run_case(case, options):
    """The number of inputs of a case and what is wrong, which is None where nothing is."""
    folder = tempfile.mkdtemp(prefix="hostile-", dir=options.scratch)
    try:
        count = case.function(Bench(options.build, folder, options.seconds))
        return (1 if count is None else count), None
    except AssertionError as error:
        return 1, str(error)
    except Exception:  # a mistake of the script is a failure of its case
        return 1, traceback.format_exc()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(what, cases, least):
    """The body of a script: runs the cases, prints what fails, and "N <what>, M failed".

    `cases` is a list, or a function of the parsed options that gives one. Fails too where there are fewer
    than `least` inputs, so that a script that lost its cases is seen; not where --filter chooses."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("build", type=pathlib.Path, help="folder of the build, as build/release")
    parser.add_argument("--all", action="store_true", help="the slow cases too")
    parser.add_argument("--filter", default="", help="a regular expression of names of cases")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10, help="what a command may take")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--scratch", default=None, help="folder of scratch files")
    parser.add_argument("--times", action="store_true", help="print the slowest cases")
    options = parser.parse_args()
    chosen = [case for case in (cases(options) if callable(cases) else cases)
              if (options.all or not case.slow) and re.search(options.filter, case.name)]
    names = [case.name for case in chosen]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    require(not twice, f"two cases have one name: {sorted(twice)}")
    count = failed = 0
    times = []

    def timed(case):
        began = time.monotonic()
        return case, run_case(case, options), time.monotonic() - began

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, (inputs, wrong), seconds in pool.map(timed, chosen):
            count += inputs
            times.append((seconds, case.name))
            if wrong is not None:
                failed += 1
                print(f"FAILED {case.name}: {wrong}", flush=True)
    if options.times:
        for seconds, name in sorted(times, reverse=True)[:30]:
            print(f"{seconds:7.2f} s  {name}")
    if not options.filter and count < least:
        failed += 1
        print(f"FAILED: {count} {what}, fewer than {least}")
    print(f"{count} {what}, {failed} failed")
    sys.exit(failed != 0)
