"""Fills torch.compile's cache by many processes, so that a shard on a card need not wait for it."""
import os, subprocess, sys, time

from . import peers
from .worker import Tools


def share(torch, options):
    """The programs of one process: each is compiled, and called."""
    tools = Tools(options.prefix) if options.prefix else Tools.of_build(options.build)
    place = "cuda" if options.device.startswith("cuda") else "cpu"
    deadline = time.monotonic() + 60 * options.minutes
    for index in tools.indexes(options):
        if time.monotonic() > deadline:
            return
        begin = time.monotonic()
        try:
            program = tools.draw(options.like, options.seed, index, options.scale)
            values = peers.draw(torch, program, place)
            with peers.limited(2 * options.peer_limit):
                peers.Peers(torch, program, values).get("compile")
        except Exception as failure:
            print(f"{index}: {type(failure).__name__}: {str(failure)[:120]}", flush=True)
        print(f"{index}: {time.monotonic() - begin:.1f} s", flush=True)
        values = None
        if place == "cuda":
            torch.cuda.empty_cache()


def all_shares(script, arguments, options):
    """As many processes as there are jobs."""
    environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": "1"}
    kept = [each for each in arguments if not each.startswith(("--shard", "--jobs"))]
    running = [subprocess.Popen([sys.executable, script, *kept, f"--shard={i + 1}/{options.jobs}"], env=environment)
               for i in range(options.jobs)]
    return max(each.wait() for each in running)
