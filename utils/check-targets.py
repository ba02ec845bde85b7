#!/usr/bin/env python3
"""Checks that the kind of a machine is asked nowhere outside Target, and that rooms which decide by its numbers have
none of their own: they read facts of its record, and fits of models where these are together.

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
# Rooms that choose by estimates or make code of threads, and names of constants that only a machine or a measurement can
# give a value. Those of machines are in records; those of measurements in zyx/Target/Info/Fits.h, which is no such room.
DECIDING = ("lib/Schedule", "lib/Cost", "lib/Fusion", "lib/Codegen", "lib/Conversion/GraphToKernel",
            "lib/Dialect/Graph/Analysis", "lib/Dialect/Kernel/IR")
NAMES = (r"\w*(?:PerCycle|[lL]atency)", r"\w*[rR]egisters\w*", r"[rR]egisterFile", r"[rR]esident\w*", r"[sS]ector\w*",
         r"(?:warp|subgroup)(?:Size|Threads|Rows|Columns|Depth)", r"threadsPer\w+", r"threadBytes", r"productsPer\w+",
         r"(?:copy|access|lane|sector|line)(?:Alignment|Bytes)", r"most(?:Dimensions|Extent|StrideBytes|SharedBytes)",
         r"\w*(?:Cycles|Code)", r"\w*(?:Meeting|Barriers?)", r"(?:instruction|code|transaction|scattered)Bytes",
         r"(?:max|most)(?:Box|Pixels)", r"(?:stride|sent)Bytes", r"(?!most|fewest|max)\w+(?:Rate|Loss|Cost|Ops)")
NUMBERS = re.compile(r"\b(" + "|".join(NAMES) + r")(?:\[\])?\s*=\s*\{?(?:int64_t\()?[\d.]*[1-9.]")
# Lanes of a vector are a machine's, but for one, which is none.
LANES = re.compile(r"\bconstexpr int64_t (?:[^;]*, )?(lanes|mostLanes) = (?:[2-9]|\d\d)")
# A real number that a pass decides by is a fit; those that bound what numbers can be are none.
REALS = re.compile(r"\bconstexpr (?:double|float) (?!minusInfinity|infinity|least\b|mostExponent)(\w+) = ")
# Twice a rate is a rate of its own.
FACTORS = re.compile(r"\b(\w+PerCycle)\)*\s*\*\s*\(?(?:\w+ \? )?(?:[2-9]|\d\d|\d\.)|"
                     r"(?:[2-9]|\d\d|\d\.\d+) \* [\w.]*?(\w+PerCycle)\b")
# Where cycles are counted, so many lanes are a rate, too.
COUNTING = re.compile(r"lib/Schedule/Estimate\w*\.cpp")
LANE_FACTORS = re.compile(r"\b(?:[2-9]|\d\d) \* (lanes)\b|\b(lanes) \* (?:[2-9]|\d\d)")
# What a machine's manual or a measurement of the machine alone says is no fit.
FITS = "include/zyx/Target/Info/Fits.h"
MACHINES = re.compile(r"\b(\w*(?:PerCycle|[lL]atency|Code|Meeting|Barriers?)|"
                      r"(?:instruction|code|transaction|line|scattered|shared|lane)Bytes|megahertz|clusterSize)\s*=")
# Passes that form groups ask the module for the machine: an option would be a second truth.
OPTIONS = ("include/zyx/Fusion",)
FACTS = re.compile(r'Option<"\w*", "([\w-]*(?:threads|cluster|cores|workgroups|registers|shared|warp)[\w-]*)"')
ADVICE = "read a fact of the record instead (zyx/Target/Info/TargetInfo.h), or name a fit (zyx/Target/Info/Fits.h)"


def check(root):
    errors, known = [], 0
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCES or (name != FITS and any(name.startswith(own + "/") for own in OWN)):
                continue
            known += 1
            deciding = any(name.startswith(room + "/") for room in DECIDING)
            for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
                found = KINDS.findall(line)
                if deciding:
                    found += NUMBERS.findall(line) + LANES.findall(line) + REALS.findall(line)
                    found += [a or b for a, b in FACTORS.findall(line)]
                if COUNTING.fullmatch(name):
                    found += [a or b for a, b in LANE_FACTORS.findall(line)]
                if name == FITS:
                    found += MACHINES.findall(line)
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
