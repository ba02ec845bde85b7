#!/usr/bin/env python3
"""Checks that a file of lib/ with more than 600 lines states why it is one file.

  utils/check-lengths.py [--root FOLDER]

A reason is a line of REASONS below: a path and what the file holds that two files would not show better. A reason for
a file that needs none, or that is gone, is a violation, too. Prints one line per violation, such as
  lib/Schedule/ChooseRules.cpp: 1149 lines, more than 600: split it by class, or state a reason in utils/check-lengths.py
and exits with 1 if there is one.
"""
import argparse
import pathlib
import sys

SOURCES = {".cpp", ".c", ".h", ".inc"}
MOST = 600
REASONS = {
    "lib/Codegen/Cpu/BlockedDots.cpp":
        "one class: the loops of a product, from its blocks down to the registers of a micro-kernel",
    "lib/Codegen/Tile/TileEvaluator.cpp":
        "one class: an evaluator of expressions, with one function for each op",
    "lib/Conversion/GraphToKernel/GroupAxes.cpp":
        "one class: which axes a group has, and how its values lie along them",
    "lib/Conversion/GraphToKernel/LoopKernel.cpp":
        "one class: the kernel of a loop over elements, from its views to its stores",
    "lib/Conversion/KernelToLLVM/Memory.cpp":
        "one pattern for each op that touches memory, over the same addresses and masks",
    "lib/Graph/Infer.cpp":
        "the rules of inference: one short function for each op",
    "lib/Target/Info/TargetInfo.cpp":
        "one table: a short function for each record of a machine, and their names",
    "lib/Schedule/EstimateKernel.cpp":
        "one class: what a kernel takes, from its ops and bytes to the units that do them",
    "lib/Tensor/State.cpp":
        "one class: what a context holds; State.h says which member is whose",
}


def check(root, reasons):
    errors, known = [], 0
    longer = set()
    for path in sorted((root / "lib").rglob("*")):
        if path.suffix not in SOURCES or not path.is_file():
            continue
        known += 1
        name, lines = path.relative_to(root).as_posix(), path.read_text(errors="replace").count("\n")
        if lines <= MOST:
            continue
        longer.add(name)
        if name not in reasons:
            errors.append(f"{name}: {lines} lines, more than {MOST}: "
                          "split it by class, or state a reason in utils/check-lengths.py")
    for name in sorted(set(reasons) - longer):
        errors.append(f"{name}: at most {MOST} lines, so its reason in utils/check-lengths.py goes")
    return errors, known


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    own = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=own)
    root = parser.parse_args().root
    # The reasons are of this repository's files.
    errors, known = check(root, REASONS if root.resolve() == own else {})
    for error in errors:
        print(error)
    print(f"check-lengths: {known} files, {len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
