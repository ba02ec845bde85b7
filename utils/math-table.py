#!/usr/bin/env python3
# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far the functions of kernels are from the interpreter's: writes docs/generated/math.md.

  utils/math-table.py [--build=FOLDER] [--jobs=N]
      runs zyx-conformance --exhaustive, which takes every function through every f32: minutes each
  utils/math-table.py --from FILE...
      reads what it printed instead; functions that it does not name keep their rows

The other formats are columns of docs/generated/conformance.md, of which the 16-bit ones are of all values, too.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTIONS = re.findall(r"^ZYX_KERNEL_FUNCTION\(\w+, (\w+)", (ROOT / "include/zyx/Dialect/Kernel/IR/Functions.inc").read_text(),
                       re.MULTILINE)
LINE = re.compile(r"^unary\.(\w+)\.f32 +(\d+) values: (\d+) differ, at most (\d+) ULP \(at 0x(\w+)\), (\d+) wrong",
                  re.MULTILINE)

HEAD = """# Functions

Written by `utils/math-table.py`; do not edit. Kernels call no library: `-zyx-kernel-expand-math` makes
polynomials of the functions of `math`, in the format of their operands, f16 and bf16 in f32. The table
says how far their results are from the interpreter's, in units in the last place, on `cpu`.

`f32` went through all 2^32 values; the interpreter computes in f64 and rounds once, so that a result that
differs is one that is not correctly rounded. The 16-bit formats are of all values as well;
`f64` is of the values of [conformance](conformance.md), and `KernelTransformsTests` holds its functions
to 4 ULP of a result computed in more digits. `pow` has two operands, of which both tests take samples.

| function | f32: all values | differ | largest at | f16 | bf16 | f64 |
|---|---|---|---|---|---|---|
"""


def cells(page, row):
    """ULP of f16, bf16, f32 and f64 in the table of `cpu`."""
    table = page.split("\n## cpu\n", 1)[1].split("\n## ", 1)[0]
    columns = re.search(r"^\| op \|(.*)\|$", table, re.MULTILINE).group(1).replace(" ", "").split("|")
    found = re.search(rf"^\| `{row}` \|(.*)\|$", table, re.MULTILINE)
    if not found:
        sys.exit(f"math-table: docs/generated/conformance.md has no row for {row}")
    ulp = {}
    for column, cell in zip(columns, found.group(1).split("|")):
        figure = re.search(r"\((\d+) ULP\)", cell)
        ulp[column] = figure.group(1) if figure else ""
    return ulp


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--jobs", default=2, type=int)
    parser.add_argument("--from", dest="files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    if options.files:
        text = "".join(file.read_text() for file in options.files)
    else:
        filters = [f"--filter=unary.{name}.f32" for name in FUNCTIONS]
        text = subprocess.run([options.build / "bin/zyx-conformance", "--exhaustive", f"--jobs={options.jobs}",
                               *filters], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {match[1]: match for match in LINE.finditer(text)}
    page, table = (ROOT / "docs/generated/conformance.md").read_text(), ROOT / "docs/generated/math.md"
    rows = re.findall(r"^(\| `(\w+)` .*\n)", table.read_text(), re.MULTILINE) if options.files else []
    kept = {name: row for row, name in rows}
    lines = []
    for name in FUNCTIONS:
        match = found.get(name)
        if not match and name in kept:
            lines.append(kept[name])
            continue
        if not match or int(match[2]) != 2**32 or int(match[6]):
            sys.exit(f"math-table: {name} has not gone through all values, or is wrong somewhere")
        ulp = cells(page, f"unary {name}")
        lines.append(f"| `{name}` | {match[4]} ULP | {int(match[3]) / 2**32:.2%} | `0x{match[5]}` | {ulp['f16']} ULP | "
                     f"{ulp['bf16']} ULP | {ulp['f64']} ULP |\n")
    ulp = cells(page, "binary pow")
    lines.append(f"| `pow` | {ulp['f32']} ULP, sampled | | | {ulp['f16']} ULP | {ulp['bf16']} ULP | {ulp['f64']} ULP |\n")
    table.write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    main()
