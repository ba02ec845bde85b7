"""Runs the passes that docs/pipeline.md lists one by one, each in a process of its own on the text of the one before.

  pass_by_pass.py docs/pipeline.md ZYX-OPT FILE...

They must make what the whole pipeline makes. Without simplifications in between they must arrive as well.
"""
import re
import shlex
import subprocess
import sys

page, opt, *files = sys.argv[1:]
block = re.search(r"where `--zyx-compile=target=([\w-]+)` does:\n\n```sh\n(.*?)```", open(page).read(), re.DOTALL)
target = block[1]
flags = [word for line in block[2].splitlines() for word in shlex.split(line)[1:]]
simplifications = {"--canonicalize", "--cse"}


def run(text, flag):
    ran = subprocess.run([opt, "-", flag], input=text, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{name}: {flag}: {ran.stderr}")
    return ran.stdout


for name in files:
    source = text = open(name).read()
    for flag in flags:
        text = run(text, flag)
    if text != run(source, f"--zyx-compile=target={target}"):
        sys.exit(f"{name}: the passes one by one make another module")
    text = source
    for flag in flags:
        if flag not in simplifications:
            text = run(text, flag)
    if "llvm.func" not in text or "kernel.func" in text:
        sys.exit(f"{name}: without simplifications it does not arrive")
print(f"{len(flags)} passes, {len(files)} programs")
