# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damage.py ZYX_RUN GOOD DAMAGED: lists files that differ from GOOD in some bytes, in child processes."""

import random
import subprocess
import sys

program, good, damaged = sys.argv[1:]
with open(good, "rb") as file:
    original = file.read()
count = 40
for seed in range(count):
    numbers = random.Random(seed)
    data = bytearray(original)
    # The first bytes make it bytecode.
    for _ in range(numbers.randint(1, 4)):
        data[numbers.randrange(4, len(data))] = numbers.randrange(256)
    with open(damaged, "wb") as file:
        file.write(data)
    run = subprocess.run([program, damaged, "--isolate", "--list"], capture_output=True)
    if run.returncode not in (0, 1) or (run.returncode == 1) != (b"zyx-run: error: " in run.stderr):
        sys.exit(f"seed {seed}: exit code {run.returncode}, {run.stderr!r}")
print(f"{count} files, every one read or refused")
