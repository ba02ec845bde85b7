#!/usr/bin/env python3
"""Checks that every C and C++ file is as clang-format 22 writes it.

  utils/check-format.py [--fix]

Prints the first differing line of each file and exits with 1 if there is one; --fix rewrites the files instead.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATTERNS = ("*.c", "*.cpp", "*.h")
PER_CALL = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true", help="rewrite the files")
    options = parser.parse_args()
    tool = shutil.which("clang-format-22")
    if tool is None:
        sys.exit("check-format.py: clang-format-22 is missing; utils/install.sh installs it")
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", *PATTERNS],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    files = [name for name in listed if name and (ROOT / name).exists()]
    failed = []
    for start in range(0, len(files), PER_CALL):
        part = files[start:start + PER_CALL]
        if options.fix:
            subprocess.run([tool, "-i", *part], cwd=ROOT, check=True)
            continue
        done = subprocess.run([tool, "--dry-run", "-ferror-limit=1", "--Werror", *part], cwd=ROOT,
                              capture_output=True, text=True)
        found = [line for line in done.stderr.split("\n") if "code should be clang-formatted" in line]
        if done.returncode != 0 and not found:
            sys.exit(f"check-format.py: {done.stderr}")
        failed += [line.split(": error")[0] for line in found]
    for place in failed:
        print(f"{place}: not as clang-format writes it; utils/check-format.py --fix does")
    if not options.fix:
        print(f"{len(files)} files, {len(failed)} not formatted")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
