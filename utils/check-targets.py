#!/usr/bin/env python3
"""Checks that the kind of a machine is asked nowhere outside Target, and that rooms which decide by its numbers have
none of their own: they read facts of its record.

  utils/check-targets.py [--root FOLDER]

Reads lib/, include/ and tools/. Prints one line per violation, such as
  lib/Schedule/ChooseRules.cpp:128: isGpu: read a fact of the record instead (zyx/Target/Info/TargetInfo.h)
and exits with 1 if there is one.
"""
import argparse
import pathlib
import re
import sys

SOURCES = {".cpp", ".c", ".h", ".td", ".inc"}
TOPS = ("lib", "include", "tools")
# Below these folders a machine is known by its kind.
OWN = ("lib/Target", "include/zyx/Target")
KINDS = re.compile(r"\b(isGpu|isGPU|TargetKind)\b")
# Rooms that choose by estimates, and names of constants that only a machine can give a value.
DECIDING = ("lib/Schedule", "lib/Cost", "lib/Search", "lib/Fusion", "lib/Conversion/GraphToKernel")
NUMBERS = re.compile(r"\b(\w*(?:PerCycle|[lL]atency)|[rR]egisterFile|[rR]esident\w*|[sS]ector\w*|"
                     r"(?:warp|subgroup)(?:Size|Threads|Rows|Columns|Depth)|threadsPer\w+|threadBytes)\s*=\s*[\d.]")
# Passes that form groups ask the module for the machine: an option would be a second truth.
OPTIONS = ("include/zyx/Fusion",)
FACTS = re.compile(r'Option<"\w*", "([\w-]*(?:threads|cluster|cores|workgroups|registers|shared|warp)[\w-]*)"')
ADVICE = "read a fact of the record instead (zyx/Target/Info/TargetInfo.h)"


def check(root):
    errors, known = [], 0
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCES or any(name.startswith(own + "/") for own in OWN):
                continue
            known += 1
            for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
                found = KINDS.findall(line)
                if any(name.startswith(room + "/") for room in DECIDING):
                    found += NUMBERS.findall(line)
                if any(name.startswith(room + "/") for room in OPTIONS):
                    found += FACTS.findall(line)
                for word in found:
                    errors.append(f"{name}:{number}: {word}: {ADVICE}")
    return errors, known


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    errors, known = check(parser.parse_args().root)
    for error in errors:
        print(error)
    print(f"check-targets: {known} files, {len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
