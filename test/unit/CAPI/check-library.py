#!/usr/bin/env python3
"""Checks what libZyxRuntime.so needs, exports and weighs.

  check-library.py LIBRARY [--readelf TOOL] [--nm TOOL] [--strip TOOL] [--max-bytes N]
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--readelf", default="readelf")
parser.add_argument("--nm", default="nm")
parser.add_argument("--strip", default="strip")
parser.add_argument("--max-bytes", type=int, default=1_000_000)
args = parser.parse_args()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


problems = []
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output(args.readelf, "-d", args.library))
system = r"(libstdc\+\+|libm|libgcc_s|libc|libpthread|libdl|ld-linux[-\w]*)\.so(\.\d+)?"
if not needed:
    problems.append("no NEEDED entry was found in the dynamic section")
problems += [f"needs {name}" for name in needed if not re.fullmatch(system, name)]

symbols = [line.split()[-1] for line in
           output(args.nm, "-D", "--defined-only", args.library).splitlines() if line.strip()]
if "zyx_executor_run" not in symbols:
    problems.append("does not export zyx_executor_run")
problems += [f"exports {name}" for name in symbols if not name.startswith("zyx_")]

with tempfile.TemporaryDirectory() as folder:
    stripped = os.path.join(folder, "stripped.so")
    subprocess.run([args.strip, "-o", stripped, args.library], check=True)
    size = os.path.getsize(stripped)
if size > args.max_bytes:
    problems.append(f"has {size} bytes stripped, more than {args.max_bytes}")

for problem in problems:
    print(f"{args.library}: {problem}")
print(f"needs {', '.join(needed)}; {len(symbols)} symbols; {size} bytes stripped")
sys.exit(1 if problems else 0)
