#!/usr/bin/env python3
"""Whether the suite fails when the compiler is wrong.

  utils/mutate.py [NAME ...] [--tree FOLDER] [--preset NAME] [--every-stage] [--no-baseline]
  utils/mutate.py --check

Each test/mutations/NAME.patch is a small wrong change of lib/. One after the other is applied to a
scratch worktree (by default build/mutants, made where it is missing), the programs of the tests are
built, and the stages of the suite run until one fails: the mutation is caught. A patch may name the
stage that runs first, as "First: smith". Prints a table, and exits with 1 if one is missed or does
not build. --every-stage does not stop at the first failure; --check only says whether each patch
applies to the current tree.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNIT = ["GraphTests", "KernelIRTests", "LowerTilesTests", "KernelTransformsTests", "PlanToArtifactTests",
        "RuntimeTests", "TargetKernelTests"]
# Name, what is built for it, commands in the build folder; of unit tests the programs are the commands.
STAGES = [
    ("smith", ["zyx-smith"],
     [["bin/zyx-smith", "--device=cpu", "--count=200", "--max-refused=10"],
      ["bin/zyx-smith", "--device=c", "--count=60", "--max-refused=3"]]),
    ("conformance", ["zyx-conformance"],
     [["bin/zyx-conformance", "--device=cpu"],
      ["bin/zyx-conformance", "--device=c", "--seeds=1:1"]]),
    ("unit", UNIT, []),
    ("lit", ["zyx-opt", "zyx-translate"],
     [["@lit@", "-q", "test/Dialect", "test/Conversion", "test/Target", "test/Fusion", "test/Schedule"]]),
]


def run(command, folder, timeout=None):
    """The exit status and what was printed; a command that takes too long has failed."""
    try:
        done = subprocess.run(command, cwd=folder, text=True, errors="replace", timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as expired:
        return -1, f"takes more than {expired.timeout} s"


def first_line(patch):
    return patch.read_text().splitlines()[0].rstrip(".")


def check(patches):
    bad = 0
    for patch in patches:
        status, text = run(["git", "apply", "--check", str(patch)], ROOT)
        if status:
            bad += 1
            print(f"{patch.name}: does not apply: {text.strip()}")
    print(f"mutate: {len(patches)} patches, {bad} do not apply")
    return bad == 0


class Suite:
    def __init__(self, tree, preset):
        self.tree, self.build = tree, tree / "build" / preset
        if not tree.exists():
            subprocess.run(["git", "worktree", "add", "--detach", str(tree), "HEAD"], cwd=ROOT, check=True)
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", preset], cwd=tree, check=True, stdout=subprocess.DEVNULL)
        cache = (self.build / "CMakeCache.txt").read_text()
        self.lit = re.search(r"^ZYX_LIT:FILEPATH=(.*)$", cache, re.M).group(1)

    def make(self, targets):
        return run(["ninja", "-C", str(self.build), *targets], self.tree)

    def failing(self, stages, every):
        """The names of the stages that fail; None and the log where something does not build."""
        names = []
        for name, targets, commands in stages:
            status, log = self.make(targets)
            if status:
                return None, log
            if name == "unit":
                commands = [[str(p)] for p in sorted(self.build.glob("test/unit/*Tests")) if p.name in targets]
            for command in commands:
                command = [self.lit if word == "@lit@" else word for word in command]
                status, log = run(command, self.build, timeout=600)
                if status:
                    told = re.search(r"^(WRONG|CRASH|\[  FAILED  \]|FAIL:|  zyx ::) ?([^\n:]*)", log, re.M)
                    names.append((name, " ".join([pathlib.Path(command[0]).name, *command[1:2]]) +
                                  (f": {told.group(1).strip()} {told.group(2).strip()}" if told else "")))
                    break
            if names and not every:
                break
        return names, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--preset", default="dev")
    parser.add_argument("--every-stage", action="store_true")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    folder = ROOT / "test" / "mutations"
    patches = sorted(p for p in folder.glob("*.patch") if not options.names or p.stem in options.names)
    if options.check:
        return 0 if check(patches) else 1

    suite = Suite(options.tree.resolve(), options.preset)
    if not options.no_baseline:
        names, log = suite.failing(STAGES, True)
        if names is None or names:
            print("mutate: the suite fails without a mutation:", names, log[-2000:])
            return 1
    rows, missed = [], 0
    for patch in patches:
        began = time.time()
        subprocess.run(["git", "apply", str(patch)], cwd=suite.tree, check=True)
        try:
            first = re.search(r"^First: (\w+)$", patch.read_text(), re.M)
            order = sorted(STAGES, key=lambda stage: not first or stage[0] != first.group(1))
            names, log = suite.failing(order, options.every_stage)
        finally:
            subprocess.run(["git", "apply", "-R", str(patch)], cwd=suite.tree, check=True)
        missed += not names
        caught = ("does not build" if names is None else
                  "; ".join(f"{stage}: {what}" for stage, what in names) or "MISSED")
        rows.append(f"| {patch.stem} | {first_line(patch)} | {caught} |")
        print(f"{rows[-1]} {time.time() - began:.0f} s" + (f"\n{log[-2000:]}" if names is None else ""), flush=True)
    print("\n| mutation | what is wrong | caught by |\n|---|---|---|")
    print("\n".join(rows))
    print(f"\nmutate: {len(patches)} mutations, {len(patches) - missed} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
