#!/usr/bin/env python3
# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile shell scenes: full disks, closed descriptors, signals, limits, another user, folders and variables that are
wrong. A program does its work or refuses with a reason; what was there stays, or all that is new is."""
import fcntl
import functools
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

import hostile
from hostile import Case, require

NOBODY = 65534
LOCK = threading.Lock()
IS_ROOT = os.geteuid() == 0

# A result of 32 MB, so that a signal meets its writing.
LARGE = """func.func @large(%x: tensor<8000000xf32> {graph.name = "x"}) -> (tensor<8000000xf32> {graph.name = "y"}) {
  %y = graph.binary add %x, %x : tensor<8000000xf32>
  return %y : tensor<8000000xf32>
}
"""
SMALL = LARGE.replace("8000000", "4").replace("large", "small")


@functools.cache
def compiled(build, text):
    """The artifact of a program, compiled once."""
    with tempfile.TemporaryDirectory() as folder:
        bench = hostile.Bench(build, folder)
        source = pathlib.Path(folder, "p.mlir")
        source.write_text(text)
        judge(bench.run("zyx-compile", source, seconds=120), "run")
        return source.with_suffix(".zyxa").read_bytes()


def artifact(bench, text=SMALL, name="p.zyxa"):
    with LOCK:
        data = compiled(bench.build, text)
    path = bench.folder / name
    path.write_bytes(data)
    path.chmod(0o644)
    return path


def source(bench, text=SMALL, name="p.mlir"):
    path = bench.folder / name
    path.write_text(text)
    path.chmod(0o644)
    return path


def judge(outcome, expect="either", says=None):
    outcome.stderr = outcome.stderr.replace("data corruption", "damage")
    wrong = hostile.fault(outcome, expect)
    require(wrong is None, f"{wrong}: {outcome}")
    require(hostile.is_said(outcome, says), f"does not say '{says}': {outcome}")
    return outcome


def left_over(folder):
    """Files that no user asked for."""
    return sorted(path.name for path in pathlib.Path(folder).rglob("*") if ".tmp" in path.name or path.name.startswith("zyx-"))


def require_clean(folder):
    require(not left_over(folder), f"files stay: {left_over(folder)}")


# What is printed

PRINTING = {
    "run-print": lambda b: ("zyx-run", artifact(b), "--random=1", "--print"),
    "run-time": lambda b: ("zyx-run", artifact(b), "--random=1", "--time"),
    "run-list": lambda b: ("zyx-run", artifact(b), "--list"),
    "run-devices": lambda b: ("zyx-run", "--list-devices"),
    "run-help": lambda b: ("zyx-run", "--help"),
    "run-version": lambda b: ("zyx-run", "--version"),
    "compile-phase": lambda b: ("zyx-compile", source(b), "--stop-after=plan"),
    "compile-artifact": lambda b: ("zyx-compile", source(b), "-o", "-"),
    "compile-help": lambda b: ("zyx-compile", "-h"),
    "opt": lambda b: ("zyx-opt", source(b)),
    "smith": lambda b: ("zyx-smith", "--print", "--seed=7"),
    "conformance": lambda b: ("zyx-conformance", "--list"),
    "reduce-help": lambda b: ("zyx-reduce", "--help"),
    "artifact": lambda b: ("run_artifact", artifact(b), with_input(b)),
}


def with_input(bench):
    """A folder with the input of the small program."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
    header += b" " * (-(11 + len(header)) % 64) + b"\n"
    (bench.folder / "x.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4))
    return bench.folder


def printing_cases():
    def full(command):
        def check(bench):
            words = command(bench)
            with open("/dev/full", "wb") as file:
                judge(bench.run(*words, stdout=file, seconds=30), "refuse")

        return check

    def closed(command):
        def check(bench):
            words = command(bench)
            judge(bench.run(*words, before=lambda: os.close(1), seconds=30), "refuse")

        return check

    def reader_gone(command):
        """As of cat: SIGPIPE ends it, or where that is ignored, the error of the write does."""
        def check(bench):
            words = command(bench)
            for handler in (signal.SIG_DFL, signal.SIG_IGN):
                read, write = os.pipe()
                os.close(read)
                with os.fdopen(write, "wb") as file:
                    outcome = bench.run(*words, stdout=file, before=lambda h=handler: signal.signal(signal.SIGPIPE, h), seconds=30)
                if outcome.code != -signal.SIGPIPE or handler == signal.SIG_IGN:
                    judge(outcome, "refuse")
            return 2

        return check

    cases = [Case(f"stdout-full.{name}", full(command)) for name, command in PRINTING.items()]
    # LLVM's programs open what is closed as /dev/null.
    cases += [Case(f"stdout-closed.{name}", closed(command)) for name, command in PRINTING.items() if name != "opt"]
    cases += [Case(f"reader-gone.{name}", reader_gone(PRINTING[name])) for name in ("run-print", "compile-phase", "smith", "artifact")]
    return cases


def closed_descriptors(bench):
    """No file of ours gets the number of a standard descriptor, where what is printed would land in it."""
    program, text = artifact(bench), source(bench)
    right = bench.folder / "right.npy"
    judge(bench.run("zyx-run", program, "--random=1", f"--output={right}"), "run")
    count = 0
    for closed in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        for words in (("zyx-run", program, "--random=1"), ("zyx-run", text, "--random=1", "--print", "--remarks"),
                      ("zyx-run", text, "--random=1", "--device=c", "--time", f"--cache-dir={bench.folder / 'cache'}")):
            result = bench.folder / "y.npy"
            outcome = bench.run(*words, f"--output={result}", before=lambda: [os.close(d) for d in closed], seconds=30)
            require(outcome.code in (0, 1) and not outcome.hung, f"with {closed} closed: {outcome}")
            require(result.read_bytes() == right.read_bytes(), f"with {closed} closed another result: {outcome}")
            require(outcome.code == (1 in closed and len(words) > 3), f"with {closed} closed: {outcome}")
            result.unlink()
            count += 1
    return count


# Full disks

def on_small_disk(bench, script, kib=1024, seconds=60):
    """Runs a script of the shell in a folder `disk` of its own file system of that size; None where that may not be."""
    disk = bench.folder / "disk"
    disk.mkdir(exist_ok=True)
    mount = f"mount -t tmpfs -o size={kib}k,mode=0777 none {disk} || exit 77; cd {disk}; "
    unshare = ["unshare", "-m"] if IS_ROOT else ["unshare", "-rm"]
    outcome = bench.run(*unshare, "sh", "-c", mount + script, env={"PATH": f"{bench.bin}:{os.environ['PATH']}"}, seconds=seconds)
    return None if outcome.code == 77 or "unshare" in outcome.stderr else outcome


def full_disk(command, old, kib=1024):
    """What does not fit is refused, the old file stays whole, and nothing is left beside it."""
    def check(bench):
        artifact(bench, LARGE, "large.zyxa")
        source(bench, SMALL)
        script = (f"printf old > {old}; {command}; code=$?; test \"$(cat {old})\" = old || exit 70; "
                  f"test \"$(ls -A)\" = {old} || {{ ls -A >&2; exit 71; }}; exit $code")
        outcome = on_small_disk(bench, script, kib)
        if outcome is None:
            return
        require(outcome.code not in (70, 71), f"the old file or a temporary: {outcome}")
        judge(outcome, "refuse", "No space left on device")

    return check


def full_disk_of_cache(bench):
    source(bench)
    outcome = on_small_disk(bench, "head -c 1020k /dev/zero > fill; zyx-run ../p.mlir --random=1 --print --remarks --cache-dir=$PWD/cache")
    if outcome:
        judge(outcome, "run")


def full_disk_of_temporaries(bench):
    source(bench)
    outcome = on_small_disk(bench, "head -c 2000k /dev/zero > fill; TMPDIR=$PWD zyx-run ../p.mlir --random=1 --device=c; code=$?; "
                                   "test \"$(ls -A)\" = fill || { ls -A >&2; exit 71; }; exit $code")
    if outcome:
        require(outcome.code != 71, f"temporaries stay: {outcome}")
        judge(outcome, "refuse")


def full_disk_behind_stdout(bench):
    source(bench)
    outcome = on_small_disk(bench, "head -c 2000k /dev/zero > fill; zyx-compile ../p.mlir --stop-after=plan > text")
    if outcome:
        judge(outcome, "refuse", "No space left on device")


def file_size_limit(bench):
    """ulimit -f is an error of the write, not SIGXFSZ."""
    program = artifact(bench, LARGE)
    result = bench.folder / "y.npy"
    result.write_text("old")
    for limit in (0, 1 << 10, 1 << 20, 30 << 20):
        limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        judge(bench.run("zyx-run", program, "--random=1", f"--output={result}", before=limited), "refuse", "File too large")
        judge(bench.run("zyx-run", program, "--random=1", f"--outputs={result}.safetensors", before=limited), "refuse", "File too large")
        require(result.read_text() == "old", "the old file is lost")
        require_clean(bench.folder)
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
    judge(bench.run("zyx-run", "-", "--random=1", stdin=SMALL.encode(), before=limited), "refuse", "cannot be kept in memory: File too large")
    return 9


# Signals

def large_outputs(bench):
    """The result of the large program, and how long it takes."""
    program = artifact(bench, LARGE)
    result = bench.folder / "out" / "y.npy"
    result.parent.mkdir()
    began = time.monotonic()
    judge(bench.run("zyx-run", program, "--random=1", f"--output={result}", seconds=60), "run")
    return program, result, result.read_bytes(), time.monotonic() - began


def start(bench, *words, **more):
    command = [bench.tool(words[0]), *map(str, words[1:])]
    with open(bench.folder / "stderr.txt", "ab") as said:
        return subprocess.Popen(command, env=bench.environment(**more), cwd=bench.folder, stdout=subprocess.DEVNULL, stderr=said,
                                stdin=subprocess.DEVNULL, start_new_session=True)


def ended(child, what):
    try:
        return child.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise AssertionError(f"{what} does not end") from None


def signal_in_write(number, times=4):
    def check(bench):
        program, result, right, seconds = large_outputs(bench)
        draw = random.Random(number)
        old = b"old"
        for _ in range(times):
            result.write_bytes(old)
            child = start(bench, "zyx-run", program, "--random=1", f"--output={result}")
            time.sleep(draw.uniform(0.2, 1.1) * seconds)
            child.send_signal(number)
            code = ended(child, "a run")
            require(code in (0, -number), f"exit code {code}")
            require(result.read_bytes() in (old, right), "half a result")
            require(code != 0 or result.read_bytes() == right, "a result is lost")
            if number != signal.SIGKILL:
                require_clean(result.parent)
        judge(bench.run("zyx-run", program, "--random=1", f"--output={result}"), "run")
        require(result.read_bytes() == right, "another result")
        return times

    return check


def signal_in_compile(number, target, times=3):
    def check(bench):
        text = source(bench)
        result, temporaries = bench.folder / "out" / "p.zyxa", bench.folder / "tmp"
        result.parent.mkdir()
        temporaries.mkdir()
        began = time.monotonic()
        judge(bench.run("zyx-compile", text, f"--target={target}", "-o", result, seconds=60), "run")
        right, seconds = result.read_bytes(), time.monotonic() - began
        draw = random.Random(number)
        for _ in range(times):
            result.write_bytes(b"old")
            child = start(bench, "zyx-compile", text, f"--target={target}", "-o", result, TMPDIR=str(temporaries))
            time.sleep(draw.uniform(0.1, 1.1) * seconds)
            child.send_signal(number)
            code = ended(child, "a compilation")
            require(code in (0, -number), f"exit code {code}")
            require(result.read_bytes() in (b"old", right), "half an artifact")
            if number != signal.SIGKILL:
                require_clean(result.parent)
                require_clean(temporaries)
        judge(bench.run("zyx-compile", text, f"--target={target}", "-o", result, seconds=60), "run")
        require(result.read_bytes() == right, "another artifact")
        return times

    return check


def kill_in_cache(bench):
    """Whatever a killed process leaves in the cache, the next one is right."""
    text = source(bench)
    right = judge(bench.run("zyx-run", text, "--random=1", "--print", seconds=60), "run").stdout
    draw = random.Random(5)
    for i in range(5):
        folder = bench.folder / f"cache{i}"
        child = start(bench, "zyx-run", text, "--random=1", f"--cache-dir={folder}")
        time.sleep(draw.uniform(0.05, 0.6))
        child.kill()
        child.wait()
        for _ in range(2):
            outcome = judge(bench.run("zyx-run", text, "--random=1", "--print", f"--cache-dir={folder}", seconds=60), "run")
            require(outcome.stdout == right, "another result")
    return 5


def ignored_signals(bench):
    """As of nohup, and of hosts that wait for nobody."""
    text = source(bench)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGUSR1):
        judge(bench.run("zyx-run", text, "--random=1", "--print", before=lambda n=number: signal.signal(n, signal.SIG_IGN), seconds=60), "run")
    return 6


def blocked_signals(bench):
    def block():
        signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, signal.NSIG)) - {signal.SIGKILL, signal.SIGSTOP})

    text = source(bench)
    judge(bench.run("zyx-run", text, "--random=1", "--print", before=block, seconds=60), "run")
    judge(bench.run("zyx-run", text, "--random=1", "--device=c", before=block, seconds=60), "run")
    return 2


def stopped(bench):
    """A process that was stopped and goes on."""
    program, result, right, seconds = large_outputs(bench)
    result.unlink()
    child = start(bench, "zyx-run", program, "--random=1", f"--output={result}")
    for _ in range(5):
        time.sleep(seconds / 8)
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.02)
        child.send_signal(signal.SIGCONT)
    require(ended(child, "a run") == 0 and result.read_bytes() == right, "a stopped run is not right")


# LeakSanitizer looks for leaks by a process of its own, which it cannot make or wait for there.
NO_LEAKS = {"LSAN_OPTIONS": "detect_leaks=0"}


# Limits

def limits(name, values, which, program=SMALL, expect="either"):
    def check(bench):
        if bench.is_sanitized and which in (resource.RLIMIT_AS, resource.RLIMIT_STACK):
            return len(values)
        path = artifact(bench, program)
        result = bench.folder / "out" / "y.npy"
        result.parent.mkdir()
        judge(bench.run("zyx-run", path, "--random=1", f"--output={result}", memory=0), "run")
        right = result.read_bytes()
        for value in values:
            result.unlink()
            limited = lambda v=value: resource.setrlimit(which, (v, v))
            outcome = bench.run("zyx-run", path, "--random=1", f"--output={result}", memory=0, before=limited)
            # Below what the loader needs nothing of ours runs.
            if outcome.code == 127 and "error while loading shared libraries" in outcome.stderr:
                result.write_bytes(right)
                continue
            judge(outcome, expect)
            if outcome.code == 0:
                require(result.read_bytes() == right, "another result")
            else:
                require(not result.exists(), "a result of a run that failed")
                result.write_bytes(right)
            require_clean(result.parent)
        return len(values)

    return Case(f"limit.{name}", check)


def limit_of_processes(bench):
    """No threads: a user who may have no more processes."""
    if not IS_ROOT:
        return
    bench.folder.chmod(0o755)
    path = artifact(bench)

    def lower(value):
        resource.setrlimit(resource.RLIMIT_NPROC, (value, value))
        as_nobody()

    for value in (1, 2, 3):
        judge(bench.run("zyx-run", path, "--random=1", "--print", before=lambda v=value: lower(v), env={"HOME": "/nonexistent", **NO_LEAKS}))
    return 3


# Another user

def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def second_user(function):
    """A case that needs root to become somebody else."""
    def check(bench):
        if not IS_ROOT or not readable_by_all(bench.bin):
            return None
        bench.folder.chmod(0o755)
        return function(bench)

    return check


def readable_by_all(path):
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in [path, *path.parents])


def foreign_home(bench):
    """The home of another user, whose configuration and cache nobody else may see."""
    home = bench.folder / "home"
    (home / ".config" / "zyx").mkdir(parents=True)
    (home / ".config" / "zyx" / "config.json").write_text('{"threads": 1}')
    home.chmod(0o700)
    text = source(bench)
    env = {"HOME": str(home), "XDG_CONFIG_HOME": None, "XDG_CACHE_HOME": None, "ZYX_CACHE_DIR": None, "TMPDIR": None}
    for words in (("zyx-run", text, "--random=1", "--print"), ("zyx-compile", text, "--stop-after=plan"), ("zyx-run", "--list-devices")):
        outcome = judge(bench.run(*words, before=as_nobody, env=env, seconds=60), "run")
        require("config.json" in outcome.stderr and "warning" in outcome.stderr, f"nothing is said of the configuration: {outcome}")
    home.chmod(0o755)
    (home / ".config" / "zyx" / "config.json").chmod(0)
    judge(bench.run("zyx-run", "--list-devices", before=as_nobody, env=env), "run")
    return 4


def unwritable_folder(bench):
    """Found before anything runs: the program does not even exist."""
    (bench.folder / "out").mkdir()
    text = source(bench)
    for words in (("zyx-run", "absent.mlir", "--random=1", "--output=out/y.npy"), ("zyx-run", "absent.mlir", "--outputs=out/y.safetensors"),
                  ("zyx-run", "absent.mlir", "--trace=out/t.json"), ("zyx-compile", "absent.mlir", "-o", "out/p.zyxa"), ("zyx-compile", text)):
        judge(bench.run(*words, before=as_nobody), "refuse", "cannot write in the folder")
    require(not list((bench.folder / "out").iterdir()), "something is written")
    return 5


def unreadable_files(bench):
    text = source(bench)
    program = artifact(bench)
    with_input(bench)
    for path in (text, program, bench.folder / "x.npy"):
        path.chmod(0)
    judge(bench.run("zyx-run", text, "--random=1", before=as_nobody), "refuse", "Permission denied")
    judge(bench.run("zyx-run", program, "--random=1", before=as_nobody), "refuse", "Permission denied")
    program.chmod(0o644)
    judge(bench.run("zyx-run", program, "--input=x=x.npy", before=as_nobody), "refuse", "Permission denied")
    judge(bench.run("run_artifact", program, bench.folder, before=as_nobody), "refuse", "cannot be opened")
    return 4


def unreadable_cwd(bench):
    """A folder that only another user may enter, and one that is gone."""
    text = artifact(bench)
    closed = bench.folder / "closed"
    closed.mkdir(mode=0o700)
    judge(bench.run("zyx-run", text, "--random=1", "--print", cwd=closed, before=as_nobody), "run")
    judge(bench.run("zyx-run", text, "--random=1", "--output=y.npy", cwd=closed, before=as_nobody), "refuse")
    return 2


def gone_cwd(bench):
    program = artifact(bench)
    gone = bench.folder / "gone"
    gone.mkdir()
    judge(bench.run("zyx-run", program, "--random=1", "--print", cwd=gone, before=lambda: os.rmdir(gone)), "run")
    gone.mkdir()
    judge(bench.run("zyx-run", program, "--random=1", "--output=y.npy", cwd=gone, before=lambda: os.rmdir(gone)), "refuse")
    return 2


# The cache, whose entries are run as code

def run_cached(bench, folder):
    """Runs the small program with this cache: what it prints, and whether the entry was found."""
    outcome = judge(bench.run("zyx-run", source(bench), "--random=1", "--print", "--time", f"--cache-dir={folder}", seconds=60), "run")
    text = outcome.stdout.decode()
    return text.split("kernels:")[0].split("compile:")[0], "(parse" in text and "cache " in text, outcome.stderr


def untrusted_folder(change):
    """A folder that another user may write to is not read, which is said once."""
    def check(bench):
        folder = bench.folder / "cache"
        right, found, _ = run_cached(bench, folder)
        require(not found and run_cached(bench, folder)[1], "an entry is not found again")
        change(folder)
        printed, found, said = run_cached(bench, folder)
        require(printed == right and not found, "a folder of others is read")
        require(said.count("warning") == 1 and str(folder) in said, f"it is not said once: {said}")

    return check


def untrusted_entry(change):
    """An entry that another user may have written is made again."""
    def check(bench):
        folder = bench.folder / "cache"
        right, _, _ = run_cached(bench, folder)
        # One of the program, and one for each of its kernels.
        entries = sorted(folder.glob("*.zyxc"))
        require(len(entries) > 1, "the kernels have no entries")
        for entry in entries:
            change(entry)
        printed, found, _ = run_cached(bench, folder)
        require(printed == right and not found, "an entry of others is read")
        printed, found, _ = run_cached(bench, folder)
        require(printed == right and found, "the entry is not made again")
        for entry in entries:
            require(entry.is_file() and not entry.is_symlink() and entry.stat().st_mode & 0o077 == 0, "the entry is not the user's own")

    return check


def as_link(entry):
    entry.rename(entry.with_suffix(".other"))
    entry.symlink_to(entry.with_suffix(".other"))


def as_fifo(entry):
    entry.unlink()
    os.mkfifo(entry)


def as_folder(entry):
    entry.unlink()
    entry.mkdir()


# Modes and links

def kept_modes(bench):
    """A file that is written again keeps its mode, and links stay links."""
    program = artifact(bench)
    result = bench.folder / "y.npy"
    result.write_text("old")
    for mode in (0o600, 0o640, 0o666):
        result.chmod(mode)
        judge(bench.run("zyx-run", program, "--random=1", f"--output={result}"), "run")
        require(result.stat().st_mode & 0o777 == mode, f"the mode {mode:o} becomes {result.stat().st_mode & 0o777:o}")
    link = bench.folder / "link.npy"
    link.symlink_to("y.npy")
    result.write_text("old")
    judge(bench.run("zyx-run", program, "--random=1", f"--output={link}"), "run")
    require(link.is_symlink() and result.read_bytes()[:6] == b"\x93NUMPY", "a link is replaced")
    dangling = bench.folder / "dangling.npy"
    dangling.symlink_to("target.npy")
    judge(bench.run("zyx-run", program, "--random=1", f"--output={dangling}"), "run")
    require(dangling.is_symlink() and (bench.folder / "target.npy").exists(), "a dangling link is replaced")
    longest = bench.folder / ("y" * 251 + ".npy")
    judge(bench.run("zyx-run", program, "--random=1", f"--output={longest}"), "run")
    require(longest.exists(), "no file of 255 bytes of name")
    return 6


def read_only_file(bench):
    program = artifact(bench)
    result = bench.folder / "y.npy"
    result.write_text("old")
    result.chmod(0o444)
    bench.folder.chmod(0o777)
    judge(bench.run("zyx-run", program, "--random=1", f"--output={result}", before=as_nobody), "refuse", "Permission denied")
    require(result.read_text() == "old", "a file of another user is replaced")


def ignored_children(bench):
    """Where SIGCHLD is ignored, as in daemons, children of ours still end with a code."""
    text = source(bench)
    ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for words in (("--device=c",), ("--isolate",), ("--device=c", "--isolate")):
        judge(bench.run("zyx-run", text, "--random=1", "--print", *words, before=ignore, seconds=60, env=NO_LEAKS), "run")
    judge(bench.run("zyx-compile", text, "--target=c", "-o", "p.zyxa", before=ignore, seconds=60, env=NO_LEAKS), "run")
    return 4


def held_tuning(bench):
    """A table of measurements that somebody else holds is not waited for without a word."""
    folder = bench.folder / "cache"
    folder.mkdir(mode=0o700)
    with open(folder / "tuning.lock", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcome = judge(bench.run("zyx-run", source(bench), "--random=1", "--tune", f"--cache-dir={folder}", seconds=60), "run")
        require("wait" in outcome.stderr, f"it waits without a word: {outcome}")


# Names and places of files

def no_overwriting(bench):
    """What is read, or written for another output, is not overwritten, by whatever name."""
    text, folder = source(bench), bench.folder
    (folder / "p.zyxa").write_text(SMALL)
    (folder / "soft.mlir").symlink_to("p.mlir")
    os.link(text, folder / "hard.mlir")
    (folder / "here").symlink_to(".")
    for words in (("p.mlir", "-o", "p.mlir"), ("p.mlir", "-o", "here/p.mlir"), ("p.mlir", "-o", "soft.mlir"), ("soft.mlir", "-o", "p.mlir"),
                  ("p.mlir", "-o", "hard.mlir"), ("p.zyxa",), ("p.mlir", "-o", ""), ("p.mlir", "--output=")):
        judge(bench.run("zyx-compile", *words), "refuse")
    for words in (("--trace=p.mlir",), ("--output=a.npy", "--output=y=a.npy"), ("--output=a.npy", "--output=y=here/./a.npy"), ("--output=a.npy", "--trace=a.npy")):
        judge(bench.run("zyx-run", text, "--random=1", *words), "refuse")
    require(text.read_text() == SMALL and (folder / "p.zyxa").read_text() == SMALL, "a program is lost")
    require(not (folder / "a.npy").exists(), "an output is written")
    return 12


def odd_outputs(bench):
    """Outputs that are no files, or whose names are long or strange."""
    program = artifact(bench)
    (bench.folder / "folder.npy").mkdir()
    (bench.folder / "full.npy").symlink_to("/dev/full")
    os.mkfifo(bench.folder / "fifo.npy")
    (bench.folder / "loop.npy").symlink_to("loop.npy")
    refused = ["folder.npy", "full.npy", "fifo.npy", "loop.npy", "none/y.npy", "p.zyxa/y.npy", "y" * 300 + ".npy", "/proc/y.npy", "y.txt", "", ".npy/"]
    for name in refused:
        judge(bench.run("zyx-run", program, "--random=1", f"--output={name}"), "refuse",
              "its links lead around in a circle" if name == "loop.npy" else None)
    for name in ["with space.npy", "line\nbreak.npy", "-dash.npy", ".npy", "ü.npy", os.fsdecode(b"\xff\xfe.npy"), "%s%n.npy", "y" * 200 + ".npy"]:
        judge(bench.run("zyx-run", program, "--random=1", f"--output={name}"), "run")
        require((bench.folder / name).exists(), f"no file {name!r}")
        require_clean(bench.folder)
    return len(refused) + 8


def missing_out_folder(bench):
    """Found before the training, not behind it."""
    examples = bench.source / "examples"
    for words in (("digits-train", examples / "digits.safetensors", "--out=none"), ("chargpt", examples / "pride-and-prejudice.txt", "--out=none"),
                  ("digits-train", examples / "digits.safetensors", "--out=/dev/null"), ("digits-train", "absent", "--out=none")):
        outcome = judge(bench.run(*words), "refuse", "is no folder")
        require(not outcome.stdout, f"it begins to train: {outcome}")
    return 4


def no_device_of_examples(bench):
    """--device is of every example, and refused where there is none of the name."""
    examples = bench.source / "examples"
    for words in (("digits-train", examples / "digits.safetensors"), ("chargpt", examples / "pride-and-prejudice.txt"),
                  ("gpt2", examples / "digits.safetensors"), ("run_artifact", artifact(bench), bench.folder)):
        judge(bench.run(*words, "--device=abacus", seconds=30), "refuse", "abacus")
    return 4


# Several at once

def one_output_of_two(bench):
    """Two processes write one file: it is that of one of them."""
    program, result, right, _ = large_outputs(bench)
    other = bench.folder / "other.npy"
    judge(bench.run("zyx-run", program, "--random=2", f"--output={other}"), "run")
    for _ in range(2):
        children = [start(bench, "zyx-run", program, f"--random={seed}", f"--output={result}") for seed in (1, 2)]
        for child in children:
            require(ended(child, "a run") == 0, "a run of two fails")
        require(result.read_bytes() in (right, other.read_bytes()), "half of each")
        require_clean(result.parent)
    return 2


def one_cache_of_four(bench):
    text = source(bench)
    for i in range(2):
        folder = bench.folder / f"cache{i}"
        children = [start(bench, "zyx-run", text, "--random=1", f"--output=y{j}.npy", f"--cache-dir={folder}") for j in range(4)]
        for child in children:
            try:
                require(child.wait(60) == 0, f"a run of four fails: {(bench.folder / 'stderr.txt').read_text()}")
            finally:
                child.poll() is None and child.kill()
        require(len({(bench.folder / f"y{j}.npy").read_bytes() for j in range(4)}) == 1, "results differ")
    return 2


def removed_meanwhile(bench):
    """The folder of the output goes while the program runs."""
    program = artifact(bench, LARGE)
    folder = bench.folder / "out"
    for delay in (0.05, 0.1, 0.2):
        folder.mkdir()
        child = start(bench, "zyx-run", program, "--random=1", f"--output={folder / 'y.npy'}", "--repeat=20")
        time.sleep(delay)
        shutil.rmtree(folder, ignore_errors=True)
        code = ended(child, "a run")
        require(code in (0, 1), f"exit code {code}")
        shutil.rmtree(folder, ignore_errors=True)
    return 3


# Variables

VARIABLES = [
    {"ZYX_THREADS": "-1"}, {"ZYX_THREADS": "abc"}, {"ZYX_THREADS": ""}, {"ZYX_THREADS": "99999999999"}, {"ZYX_THREADS": "0"}, {"ZYX_DEVICE": "abacus"},
    {"ZYX_DEVICE": ""}, {"ZYX_DEVICES": "cpu=off"}, {"ZYX_DEVICES": "cpu"}, {"ZYX_DEVICES": "=,=,="}, {"ZYX_DEVICES": ","}, {"ZYX_MEMORY_LIMITS": "cup=1"},
    {"ZYX_MEMORY_LIMITS": "cpu=1"}, {"ZYX_MEMORY_LIMITS": "cpu=99999999999999999999GiB"}, {"ZYX_MEMORY_LIMITS": "4GB"}, {"ZYX_CACHE_SIZE": "lots"},
    {"ZYX_CACHE_SIZE": "-1"}, {"ZYX_CACHE_DIR": "/dev/null"}, {"ZYX_CACHE_DIR": "/proc"}, {"ZYX_CACHE_DIR": "relative/folder"}, {"ZYX_CACHE_DIR": "/"},
    {"ZYX_CACHE_DIR": "x" * 5000}, {"ZYX_DEBUG": "nonsense"}, {"ZYX_DEBUG": ",,,"}, {"ZYX_DEBUG": "x," * 30000}, {"ZYX_TUNE": "maybe"},
    {"ZYX_IMPLICIT_COPIES": "2"}, {"ZYX_NONSENSE": "1"}, {"ZYX_": "1"}, {"ZYX_COMPILER": "/dev/null"}, {"ZYX_COMPILER": "/"}, {"ZYX_COMPILER": ""},
    {"ZYX_COMPILER": "/bin/true"}, {"ZYX_COMPILER": "x" * 5000}, {"ZYX_CUDA_DRIVER": "/dev/null"}, {"ZYX_PTXAS": "/dev/null"}, {"HOME": None},
    {"HOME": ""}, {"HOME": "relative"}, {"HOME": "/dev/null"}, {"XDG_CONFIG_HOME": "/dev/null"}, {"XDG_CONFIG_HOME": "relative"},
    {"XDG_CONFIG_HOME": ""}, {"XDG_CACHE_HOME": "/proc/self"}, {"LC_ALL": "nonsense"}, {"LC_ALL": "tr_TR.UTF-8"}, {"LANG": "\x01"}, {"PATH": None},
    {"TERM": None}, {"TERM": "x" * 10000}, {"COLUMNS": "-1"}, {"MALLOC_PERTURB_": "165"}, {"LD_LIBRARY_PATH": "/nonexistent"},
]


def variables(bench):
    text = source(bench)
    right = None
    for env in [{}] + VARIABLES:
        more = {} if "ZYX_CACHE_DIR" in env else {"ZYX_CACHE_DIR": None, "XDG_CACHE_HOME": str(bench.folder / "cache"), **env}
        if "HOME" in env:
            more |= {"XDG_CONFIG_HOME": None, "XDG_CACHE_HOME": None}
        outcome = judge(bench.run("zyx-run", text, "--random=1", "--print", env={**more, **env}, seconds=30))
        right = right or outcome.stdout
        require(outcome.code != 0 or outcome.stdout == right, f"{env}: another result: {outcome}")
    return len(VARIABLES)


def temporaries_of_c(bench):
    """Where temporaries of the C compiler may not be, and a compiler that fails."""
    text = source(bench)
    bin = bench.folder / "bin"
    bin.mkdir()
    for name, body in (("fails", "exit 3"), ("dies", "kill -SEGV $$"), ("nothing", "exit 0"), ("closes", "exec >&- 2>&-; exit 1")):
        (bin / name).mkdir()
        for compiler in ("cc", "gcc", "clang"):
            (bin / name / compiler).write_text(f"#!/bin/sh\n{body}\n")
            (bin / name / compiler).chmod(0o755)
        judge(bench.run("zyx-run", text, "--random=1", "--device=c", env={"PATH": f"{bin / name}"}, seconds=30))
    for env in ({"TMPDIR": "/nonexistent"}, {"TMPDIR": "/dev/null"}, {"TMPDIR": "x" * 5000}, {"PATH": "/nonexistent"}, {"PATH": None}, {"PATH": ""}):
        judge(bench.run("zyx-run", text, "--random=1", "--device=c", env=env, seconds=30))
    require_clean(bench.folder)
    return 10


def wrong_arguments(bench):
    """Command lines that no one means."""
    program = artifact(bench)
    wrong = [["--output"], ["-o"], ["--print", "--print="], ["--repeat=-1"], ["--repeat=99999999999999999999"], ["--repeat"], ["--random=-1"],
             ["--random=1e9"], ["--input"], ["--input=="], ["--input=x"], ["--input==x.npy"], ["--bind=n"], ["--bind=n=x"], ["--entry="], ["--device="],
             ["--nonsense"], ["-x"], ["---"], ["--=1"], ["-"], ["--help=1"], ["--trace="], ["--inputs="], ["--outputs=y.npy"], ["--progress=often"], ["x" * 100000],
             ["--" + "x" * 100000], ["--print={"], ["--print={nothing}"], ["--", "--print"], [""], ["-o", "-"], ["--cache-dir="], ["--isa=native"]]
    for words in wrong:
        judge(bench.run("zyx-run", program, *words), "either")
        judge(bench.run("zyx-compile", program, *words), "refuse" if words != ["--help=1"] else "either")
    for words in (["--version"], ["--help"], ["-h"], ["--help", "--nonsense"]):
        for tool in ("zyx-run", "zyx-compile", "zyx-smith", "zyx-reduce", "zyx-conformance"):
            judge(bench.run(tool, *words), "run")
    return 2 * len(wrong) + 20


def no_writer(bench):
    """A named pipe that nobody writes to is waited for, which is said, and a signal ends it."""
    program = artifact(bench)
    os.mkfifo(bench.folder / "fifo")
    with open(bench.folder / "said", "wb") as said:
        child = subprocess.Popen([bench.tool("zyx-run"), str(program), "--input=x=fifo"], cwd=bench.folder, env=bench.environment(), stderr=said)
        time.sleep(1.6)
        require(child.poll() is None, "it does not wait")
        child.terminate()
        require(ended(child, "a waiting run") == -signal.SIGTERM, "another end")
    require("waiting for somebody to write" in (bench.folder / "said").read_text(), "it waits without a word")


def cases(options):
    made = printing_cases() + [
        Case("closed-descriptors", closed_descriptors),
        Case("full-disk.npy", full_disk("zyx-run ../large.zyxa --random=1 --output=y.npy", "y.npy")),
        Case("full-disk.safetensors", full_disk("zyx-run ../large.zyxa --random=1 --outputs=y.safetensors", "y.safetensors")),
        Case("full-disk.artifact", full_disk("zyx-compile ../p.mlir -o p.zyxa", "p.zyxa", kib=4)),
        Case("full-disk.trace", full_disk("zyx-run ../p.mlir --random=1 --repeat=200 --trace=t.json", "t.json", kib=8)),
        Case("full-disk.cache", full_disk_of_cache), Case("full-disk.temporaries", full_disk_of_temporaries),
        Case("full-disk.stdout", full_disk_behind_stdout), Case("file-size-limit", file_size_limit),
        Case("kill-in-cache", kill_in_cache), Case("ignored-signals", ignored_signals), Case("blocked-signals", blocked_signals),
        Case("stopped", stopped),
        limits("memory", [100 << 20, 130 << 20, 160 << 20, 190 << 20, 220 << 20, 250 << 20, 280 << 20, 400 << 20, 1 << 30], resource.RLIMIT_AS, LARGE),
        limits("files", [4, 5, 6, 7, 8, 10, 16, 64], resource.RLIMIT_NOFILE),
        limits("stack", [128 << 10, 256 << 10, 1 << 20], resource.RLIMIT_STACK),
        limits("locked", [0], resource.RLIMIT_MEMLOCK, expect="run"),
        Case("limit.processes", limit_of_processes),
        Case("user.home", second_user(foreign_home)), Case("user.folder", second_user(unwritable_folder)),
        Case("user.files", second_user(unreadable_files)), Case("user.cwd", second_user(unreadable_cwd)), Case("gone-cwd", gone_cwd),
        Case("cache.group", second_user(untrusted_folder(lambda folder: folder.chmod(0o770)))),
        Case("cache.everyone", untrusted_folder(lambda folder: folder.chmod(0o777))),
        Case("cache.owner", second_user(untrusted_folder(lambda folder: os.chown(folder, NOBODY, NOBODY)))),
        Case("cache.entry-group", untrusted_entry(lambda entry: entry.chmod(0o660))),
        Case("cache.entry-everyone", untrusted_entry(lambda entry: entry.chmod(0o666))),
        Case("cache.entry-owner", second_user(untrusted_entry(lambda entry: os.chown(entry, NOBODY, NOBODY)))),
        Case("cache.entry-link", untrusted_entry(as_link)), Case("cache.entry-fifo", untrusted_entry(as_fifo)),
        Case("cache.entry-folder", untrusted_entry(as_folder)), Case("kept-modes", kept_modes),
        Case("user.read-only-file", second_user(read_only_file)), Case("ignored-children", ignored_children),
        Case("held-tuning", held_tuning, slow=True),
        Case("no-overwriting", no_overwriting), Case("odd-outputs", odd_outputs), Case("missing-out-folder", missing_out_folder),
        Case("no-device-of-examples", no_device_of_examples), Case("one-output-of-two", one_output_of_two), Case("one-cache-of-four", one_cache_of_four),
        Case("removed-meanwhile", removed_meanwhile), Case("variables", variables), Case("temporaries-of-c", temporaries_of_c),
        Case("wrong-arguments", wrong_arguments), Case("no-writer", no_writer),
    ]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        name = signal.Signals(number).name[3:].lower()
        made.append(Case(f"signal-in-write.{name}", signal_in_write(number, 12 if options.all else 3)))
        made.append(Case(f"signal-in-compile.cpu-{name}", signal_in_compile(number, "cpu", 8 if options.all else 2)))
        made.append(Case(f"signal-in-compile.c-{name}", signal_in_compile(number, "c", 8 if options.all else 2)))
    return made


if __name__ == "__main__":
    hostile.main("scenes", cases, least=60)
