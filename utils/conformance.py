#!/usr/bin/env python3
# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of the graph on a device, compared with the interpreter.

  utils/conformance.py --device=D [--isa=NAME] [--filter=TEXT]... [--jobs=N] [--optimise=none]
      [--build=FOLDER]
      runs the cases on the device: for each op, kind and dtype how many pass, are wrong, refused or
      crash, the largest distance in ULP, and the reason of each refusal
  utils/conformance.py --update [--jobs=N] [--build=FOLDER]
      runs them on cpu, c and reference and writes docs/generated/conformance.md
  utils/conformance.py --devices=FOLDER
      writes the tables of docs/devices.md of reports that were kept: FOLDER/DEVICE/*.tsv are those of one device, in
      parts, and FOLDER/DEVICE/about.md says what ran, where and when
  utils/conformance.py --counts REPORT...
      a line for each report that zyx-conformance --report wrote

Exits with 1 if an answer is wrong, a case crashes, or an op, kind or dtype has no case.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = ("cpu", "c", "reference")
DTYPES = ("bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3fn f8e5m2").split()
OUTCOMES = {"P": "pass", "W": "wrong", "R": "refused", "C": "crash"}


def page_errors(root):
    """What is wrong with docs/generated/conformance.md beside the tree it describes."""
    incs = [root / "include/zyx/Graph" / name for name in ("GraphOps.inc", "UnaryKinds.inc")]
    page = root / "docs/generated/conformance.md"
    if not incs[0].exists():
        return
    if not page.exists():
        yield "docs/generated/conformance.md: missing; run utils/conformance.py --update"
        return
    expected = expected_rows("".join(inc.read_text() for inc in incs if inc.exists()))
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page.read_text(),
                               re.DOTALL | re.MULTILINE))
    for device in DEVICES:
        rows = re.findall(r"^\| `([\w ]+)` \|(.*)", sections.get(device, ""), re.MULTILINE)
        names = [name for name, _ in rows]
        for row in expected:
            if row not in names:
                yield f"docs/generated/conformance.md: {device} has no row for {row}"
        for name, cells in rows:
            if name not in expected:
                yield f"docs/generated/conformance.md: {device} has a row for {name}, which is no op"
            for word in ("no case", "wrong", "crash"):
                if word in cells:
                    yield f"docs/generated/conformance.md: {device}, {name}: {word}"


def expected_rows(inc):
    """The ops of GraphOps.inc and UnaryKinds.inc, those with kinds once for each kind: "select", "unary exp"."""
    ops, kinds = [], collections.defaultdict(list)
    for family, word in re.findall(r"^ZYX_GRAPH_(?:BODY_)?([A-Z]+)\(\w+, (\w+)", inc, re.MULTILINE):
        if family == "OP":
            ops.append(word)
        else:
            kinds[family.lower()].append(word)
    return [row for op in ops for row in ([f"{op} {kind}" for kind in kinds[op]] or [op])]


class Cell:
    """What is known about one op of one dtype on one device."""

    def __init__(self):
        self.counts, self.ulps, self.reasons = collections.Counter(), None, []

    def text(self, note):
        parts = [f"{self.counts[word]} {word}" for word in ("wrong", "crash") if self.counts[word]]
        if self.counts["refused"]:
            marks = " ".join(f"[{note(reason)}]" for reason in sorted(set(self.reasons)))
            parts.append(f"{self.counts['refused']} refused {marks}")
        if self.counts["pass"]:
            parts.append(str(self.counts["pass"]))
        if self.ulps is not None:
            parts[-1] += f" ({self.ulps} ULP)"
        return ", ".join(parts)


class Report:
    """The files that `zyx-conformance --report` writes of parts of the cases. One that two parts have counts once."""

    def __init__(self, *paths):
        self.rows, self.cells, self.others = {}, {}, collections.defaultdict(collections.Counter)
        self.counts, self.reasons, seen = collections.Counter(), collections.Counter(), set()
        for path in paths:
            for line in path.read_text().splitlines():
                fields = line.split("\t")
                if fields[0] == "row":
                    self.rows[fields[1]] = fields[2].split()
                elif fields[1] not in seen:
                    seen.add(fields[1])
                    self.add_case(*fields[1:7])

    def cell(self, row, dtype):
        return self.cells.setdefault((row, dtype), Cell())

    def add_case(self, name, letter, whose, cells, ulps, text):
        outcome = OUTCOMES[letter]
        self.counts[outcome] += 1
        if outcome == "refused":
            self.reasons[text] += 1
        if whose == "shared":
            self.others[name.split(".")[0]][outcome] += 1
        for entry in filter(None, cells.split(";")):
            # A composition that fails says nothing about one of its ops.
            if whose == "own" or outcome == "pass":
                cell = self.cell(*entry.split("/"))
                cell.counts[outcome] += 1
                if outcome == "refused":
                    cell.reasons.append(text)
        for entry in filter(None, ulps.split(";")):
            function, distance = entry.split(" ")
            kind, dtype = function.split(".")
            for row in self.rows:
                if row.split(" ")[-1] == kind:
                    cell = self.cell(row, dtype)
                    cell.ulps = max(cell.ulps or 0, int(distance))

    def missing(self):
        for row, dtypes in self.rows.items():
            present = {dtype for of, dtype in self.cells if of == row}
            if not present:
                yield row
            yield from (f"{row} of {d}" for d in dtypes if present and d not in present)

    def summary(self):
        return ", ".join(f"{self.counts[word]} {word}" for word in OUTCOMES.values())

    def table(self, note, cut=False):
        """Lines of a Markdown table; with `cut` only rows and columns that have a case."""
        columns = [d for d in DTYPES if not cut or any(dtype == d for _, dtype in self.cells)]
        yield "| op | " + " | ".join(columns) + " |"
        yield "|---" * (len(columns) + 1) + "|"
        for row, accepted in self.rows.items():
            if cut and not any(of == row for of, _ in self.cells):
                continue
            known = any(of == row for of, _ in self.cells)
            texts = [self.cells[row, d].text(note) if (row, d) in self.cells else
                     "no case" if not cut and (d in accepted or not known) else ""
                     for d in columns]
            yield f"| `{row}` | " + " | ".join(texts) + " |"
        yield ""
        yield "| other cases | pass | wrong | refused | crash |"
        yield "|---|---|---|---|---|"
        for name, counts in sorted(self.others.items()):
            yield f"| {name} | " + " | ".join(str(counts[w]) for w in OUTCOMES.values()) + " |"


class Notes:
    """Numbers of the reasons, in the order in which they come."""

    def __init__(self):
        self.numbers = {}

    def __call__(self, reason):
        return self.numbers.setdefault(reason, len(self.numbers) + 1)

    def lines(self):
        return [f"- [{number}] {reason}" for reason, number in self.numbers.items()]


def program(options):
    if options.build:
        return options.build / "bin" / "zyx-conformance"
    found = sorted((ROOT / "build").glob("*/bin/zyx-conformance"), key=lambda p: p.stat().st_mtime)
    if not found:
        sys.exit("conformance.py: build the target zyx-conformance first, or name --build=FOLDER")
    return found[-1]


def run(options, devices, quiet):
    """([a report for each device], whether nothing is wrong) of one run, whose devices share the interpreter's answers."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"{device}.tsv" for device in devices]
        command = [str(program(options)), *(f"--device={device}" for device in devices), f"--reports={folder}",
                   f"--jobs={options.jobs}", f"--optimise={options.optimise}",
                   f"--isa={options.isa}"]
        command += [f"--filter={text}" for text in options.filter]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if not all(path.exists() for path in paths):
            sys.exit(f"conformance.py: {' '.join(command)} wrote no report:\n{done.stdout}")
        if not quiet:
            print("".join(line + "\n" for line in done.stdout.splitlines()
                          if not line.endswith(" ULP")))
        return [Report(path) for path in paths], done.returncode == 0


INTRODUCTION = """\
# Conformance

Written by `utils/conformance.py --update`; do not edit. Each op of
[the specification](dialect-graph.md), with its kind, against the interpreter: rows are
the ops of `include/zyx/Graph/GraphOps.inc`, columns the dtype of the operand. A cell says how many
cases pass and, where a function is compared by ULP, the largest distance seen; what is wrong,
crashes or is refused stands in front. An empty cell is refused by inference: the op does not
exist for that dtype. `reference` is the interpreter itself, whose cells say which cases there are.

A case that is named after an op counts for that op. Views, compositions and random graphs count for
all ops in them where they pass, and in the second table. Casts and unary ops of 8- and 16-bit types
go through all values, everything else through values that hurt and random ones.

`utils/check-docs.py` fails where an op has no row, a row no case, or an answer is wrong. The figures
are those of the machine that wrote the page; they are not compared.
"""


def update(options):
    reports, good = run(options, DEVICES, quiet=True)
    text = INTRODUCTION
    for device, report in zip(DEVICES, reports):
        notes = Notes()
        table = "\n".join(report.table(notes))
        text += f"\n## {device}\n\n{report.summary()}.\n\n{table}\n"
        if notes.numbers:
            text += "\nRefused because:\n\n" + "\n".join(notes.lines()) + "\n"
        print(f"{device}: {report.summary()}")
        for what in report.missing():
            good = False
            print(f"{device}: no case: {what}")
    (ROOT / "docs" / "generated" / "conformance.md").write_text(text)
    return good


def write_devices(folder, page=ROOT / "docs" / "devices.md"):
    """The part of docs/devices.md that follows its own words. A device that has no folder keeps the table it has."""
    words, _, tables = page.read_text().partition("\n## Tables\n")
    parts, good = {part.split("\n")[0]: part.rstrip() + "\n" for part in tables.split("\n### ")[1:]}, True
    for device in sorted(path for path in folder.iterdir() if path.is_dir()):
        report, notes = Report(*sorted(device.glob("*.tsv"))), Notes()
        good &= not report.counts["wrong"] and not report.counts["crash"]
        about = (device / "about.md").read_text().strip()
        part = f"{device.name}\n\n{about}\n\n{report.summary()}.\n\n" + "\n".join(report.table(notes, cut=True)) + "\n"
        if notes.numbers:
            part += "\nRefused because:\n\n" + "\n".join(notes.lines()) + "\n"
        parts[device.name] = part
        print(f"{device.name}: {report.summary()}")
    page.write_text(words + "\n## Tables\n" + "".join(f"\n### {parts[name]}" for name in sorted(parts)))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--device")
    what.add_argument("--update", action="store_true")
    what.add_argument("--devices", type=pathlib.Path, metavar="FOLDER")
    what.add_argument("--counts", nargs="+", type=pathlib.Path, metavar="REPORT")
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--isa", default="native")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--optimise", choices=("default", "none"), default="default")
    parser.add_argument("--build", type=pathlib.Path)
    options = parser.parse_args()
    if options.counts:
        for path in options.counts:
            print(f"conformance: {path.stem}: {Report(path).summary()}")
        return 0
    if options.devices:
        return 0 if write_devices(options.devices) else 1
    if options.update:
        return 0 if update(options) else 1
    (report,), good = run(options, [options.device], quiet=False)
    notes = Notes()
    print("\n".join(report.table(notes, cut=bool(options.filter))))
    print("\n".join(notes.lines()))
    missing = [] if options.filter else list(report.missing())
    for entry in missing:
        print(f"no case: {entry}")
    print(f"{options.device}: {report.summary()}")
    return 0 if good and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
