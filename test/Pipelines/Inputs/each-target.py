"""Runs every phase of the compiler on the programs of a folder, for every target that zyx-opt knows.

  each-target.py ZYX-OPT FOLDER OUT [option of zyx-opt]...
"""
import pathlib
import re
import subprocess
import sys

opt, folder, out, options = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]


def compile(program, target):
    made = out / f"{program.stem}-{target}.mlir"
    ran = subprocess.run([opt, program, f"--zyx-compile=target={target}", "-o", made, *options], capture_output=True,
                         text=True)
    return made.read_text() if ran.returncode == 0 else None, ran.stderr


programs = sorted(folder.glob("*.mlir"))
refused = compile(programs[0], "none")[1]
targets = re.search(r"there are (.*)", refused)[1].split(", ")
failed = 0
for target in targets:
    for program in programs:
        text, messages = compile(program, target)
        # The kernels are what the plan names.
        kernels = set(re.findall(r"plan\.launch @(\w+)", text or ""))
        found = set(re.findall(r"(?:llvm\.func|kernel\.func) @(\w+)\(", text or ""))
        if text and kernels and kernels <= found:
            print(f"{program.name} for {target}: plan and kernels")
        else:
            failed += 1
            print(f"{program.name} for {target}: FAILED\n{messages}")
print(f"{len(programs)} programs for {len(targets)} targets, {failed} failed")
sys.exit(failed != 0)
