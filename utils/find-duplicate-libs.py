#!/usr/bin/env python3
"""Checks how the programs and shared libraries of a build folder are linked.

  utils/find-duplicate-libs.py BUILD [--plain NAME ...]

No binary may hold a second, static copy of LLVM or MLIR beside the shared libraries: options would
register twice and type ids would differ. Binaries named by --plain must not need LLVM at all.
Prints one line per violation and exits with 1 if there is one.
"""
import argparse
import pathlib
import re
import subprocess
import sys

SHARED = {"MLIR": "libMLIR.so.22.1", "LLVM": "libLLVM.so.22.1"}
# A class of each library that is not a template and is defined in one object.
MARKS = {"MLIR": r"mlir::MLIRContext::MLIRContext\(", "LLVM": r"llvm::LLVMContext::LLVMContext\("}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def binaries(build):
    for folder in ("bin", "lib", "test/unit"):
        for path in sorted((build / folder).glob("*")):
            if path.is_file() and not path.is_symlink() and path.suffix != ".a" and \
                    path.open("rb").read(4) == b"\x7fELF":
                yield path


def check(path, plain):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", "-W", str(path)))
    symbols = run("nm", "-C", "--defined-only", str(path))
    for library, mark in MARKS.items():
        if re.search(r"^\S+ [TD] " + mark, symbols, re.MULTILINE) or \
                re.search(r"^\S+ t " + mark, symbols, re.MULTILINE):
            yield f"holds a static copy of {library}"
    foreign = [n for n in needed if re.match(r"lib(LLVM|MLIR|clang)", n)]
    if plain and foreign:
        yield f"needs {' '.join(foreign)}, but must run without LLVM"
    for name in foreign:
        if name not in SHARED.values():
            yield f"needs {name}, not the pinned {' or '.join(SHARED.values())}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--plain", nargs="*", default=[])
    options = parser.parse_args()
    found, errors = set(), []
    for path in binaries(options.build):
        found.add(path.name)
        errors += [f"{path.name}: {e}" for e in check(path, path.name in options.plain)]
    errors += [f"{name}: is not built" for name in options.plain if name not in found]
    for error in errors:
        print(error)
    print(f"find-duplicate-libs: {len(found)} binaries, {len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
