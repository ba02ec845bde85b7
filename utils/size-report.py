#!/usr/bin/env python3
"""Prints the lines of each room and the largest files.

  utils/size-report.py [--largest N] [REVISION]

With REVISION, also what changed since then.
"""
import argparse
import collections
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = (".cpp", ".h", ".td", ".py", ".sh", ".mlir", ".c", ".inc", ".md", ".txt", ".cmake")


def git(*arguments):
    return subprocess.run(("git", "-C", str(ROOT), *arguments), capture_output=True, text=True,
                          check=True).stdout


def room(path):
    parts = path.split("/")
    if parts[:2] == ["include", "zyx"]:
        parts = ["lib"] + parts[2:]
    if parts[0] == "lib":
        return "/".join(parts[:-1][:3] if parts[1] in ("Dialect", "Conversion", "Target")
                        else parts[:-1][:2])
    return parts[0] if len(parts) > 1 else "(top)"


def lines_of(revision=None):
    """Lines by path, in the working tree or in a revision."""
    if revision is None:
        names = [n for n in git("ls-files").splitlines() if n.endswith(SUFFIXES)]
        return {n: (ROOT / n).read_text(errors="replace").count("\n") for n in names
                if (ROOT / n).exists()}
    names = [n for n in git("ls-tree", "-r", "--name-only", revision).splitlines()
             if n.endswith(SUFFIXES)]
    return {n: git("show", f"{revision}:{n}").count("\n") for n in names}


def by_room(lines):
    total = collections.Counter()
    for path, count in lines.items():
        total[room(path)] += count
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--largest", type=int, default=10)
    parser.add_argument("revision", nargs="?")
    options = parser.parse_args()
    now = lines_of()
    rooms = by_room(now)
    before = by_room(lines_of(options.revision)) if options.revision else {}
    for name in sorted(set(rooms) | set(before)):
        change = f"  {rooms[name] - before.get(name, 0):+7d}" if options.revision else ""
        print(f"{rooms[name]:8d}{change}  {name}")
    print(f"{sum(rooms.values()):8d}  in all")
    print("largest:")
    for name, count in sorted(now.items(), key=lambda item: -item[1])[:options.largest]:
        print(f"{count:8d}  {name}")


if __name__ == "__main__":
    main()
