#!/usr/bin/env python3
"""Scores of the doors of zyx beside what they are compared with.

  utils/scores.py array-api [--device=DEVICE] [--function=NAME] [--build=build/release]

array-api: each function of the array API standard 2024.12, with each of its dtypes, on shapes that hurt, compared with
array-api-strict. A cell, of a function and a dtype, is right where all of its samples are. Prints what is wrong, a row for
each function that is not right in all dtypes, and the score; exits with 1 where a cell is wrong.
"""
import argparse
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def array_api(options):
    sys.path[:0] = [str(ROOT / "test" / "python"), str((options.build / "python").resolve())]
    import compare
    import standard
    began, cells = time.perf_counter(), {}
    for case in standard.CASES:
        if options.function in (None, case.name):
            for dtype in case.dtypes:
                wrong = compare.run(case, dtype)
                for text in wrong:
                    print(text)
                cells[case.name, dtype] = cells.get((case.name, dtype), True) and not wrong
    for name in sorted({name for name, _ in cells}):
        bad = [dtype for (other, dtype), right in cells.items() if other == name and not right]
        if bad:
            print(f"| {name} | {', '.join(bad)} |")
    right = sum(cells.values())
    print(f"array-api on {options.device}: {right} of {len(cells)} cells, {100 * right / max(len(cells), 1):.1f} %; "
          f"{len({name for name, _ in cells})} functions; {time.perf_counter() - began:.0f} s")
    return 0 if cells and right == len(cells) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=["array-api"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--function")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    python = ROOT / "build" / "python" / "bin" / "python"
    # The environment that utils/install.sh makes has array-api-strict.
    if python.exists() and pathlib.Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execv(python, [str(python), "-B", *sys.argv])
    os.environ["ZYX_DEVICE"] = options.device
    os.environ.setdefault("ZYX_CACHE_DIR", "off")
    return array_api(options)


if __name__ == "__main__":
    sys.exit(main())
