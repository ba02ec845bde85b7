# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check-help.py BIN SOURCE: the help of zyx-run names every device, that of zyx-compile every target and instruction set,
each option of the help is an option, and the examples that it shows run."""

import os
import re
import shlex
import subprocess
import sys
import tempfile

BIN, SOURCE = sys.argv[1:]
FAILURES = []


def run(*command, **options):
    environment = {**os.environ, "PATH": BIN + os.pathsep + os.environ["PATH"]}
    return subprocess.run(command, capture_output=True, text=True, env=environment, **options)


def names(text, behind):
    """Of a message's list."""
    return re.search(re.escape(behind) + r"([^\n]*)", text).group(1).replace(" and ", ", ").split(", ")


def expect(condition, what):
    if not condition:
        FAILURES.append(what)


helps = {tool: run(os.path.join(BIN, tool), "--help").stdout for tool in ("zyx-run", "zyx-compile")}
program = os.path.join(SOURCE, "examples", "matmul.mlir")
devices = [line.split()[0] for line in run("zyx-run", "--list-devices").stdout.splitlines()
           if "this build has no" not in line and not line.startswith(" ")]
for device in {name.split(":")[0] for name in devices}:
    expect(f'"{device}"' in helps["zyx-run"], f"zyx-run --help does not name the device {device}")
for target in names(run("zyx-compile", program, "--target=abacus", "-o", "-").stderr, "'abacus'; there are "):
    expect(f'"{target}"' in helps["zyx-compile"], f"zyx-compile --help does not name the target {target}")
for tool in helps:
    output = ["-o", "-"] if tool == "zyx-compile" else ["--random=1"]
    for isa in names(run(tool, program, "--isa=abacus", *output).stderr, "'abacus'; there are "):
        expect(f'"{isa}"' in helps[tool], f"{tool} --help does not name the instruction set {isa}")
    for option in set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", helps[tool], re.MULTILINE)) - {"--help", "--version"}:
        said = run(tool, option + "=1").stderr
        expect("unknown option" not in said, f"{tool} does not know {option} of its help")

examples = helps["zyx-run"].split("\nexamples, ", 1)[1].split(":\n", 1)[1].replace("\\\n", " ")
commands = [line.strip() for line in examples.splitlines() if line.strip()]
expect(len(commands) == 3, f"{len(commands)} examples")
for command in commands:
    words = shlex.split(command)
    words = [re.sub(r"(^|=)examples/", rf"\1{SOURCE}/examples/", word) for word in words]
    with tempfile.TemporaryDirectory() as folder:
        done = run(*words, cwd=folder)
    expect(done.returncode == 0, f"{command}: {done.stderr}")
    if "--print" in command:
        expect("767 of 797 correct" in done.stdout, f"{command}: {done.stdout}")
sys.exit("\n".join(FAILURES) if FAILURES else 0)
