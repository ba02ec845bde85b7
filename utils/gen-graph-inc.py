#!/usr/bin/env python3
# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes include/zyx/Graph/GraphOps.inc from GraphOps.td, so that the rooms without LLVM name the
same ops in the same order. With --check it only compares, and fails where the file is stale."""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TD = "zyx/Dialect/Graph/IR/GraphOps.td"
INC = ROOT / "include/zyx/Graph/GraphOps.inc"
HEADER = """\
//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Written by utils/gen-graph-inc.py from GraphOps.td; do not edit. Define the macros that are
// wanted before including it: ZYX_GRAPH_OP(Name, name, arity, number), and per kind (Name, name)
// ZYX_GRAPH_UNARY, _BINARY, _REDUCE, _SCATTER, _SORT, whose order is their number. Numbers stand in
// the byte form. An arity of -1 means any number of operands from 1 on. Ops with a body are
// ZYX_GRAPH_BODY_OP, which is ZYX_GRAPH_OP where it is not defined.
//===----------------------------------------------------------------------===//
"""


def records(tblgen, include):
    command = [tblgen, "--dump-json", f"-I{ROOT}/include", f"-I{include}", f"{ROOT}/include/{TD}"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def numbered(entries, what):
    """Entries by number; the numbers must be 0, 1, 2, ... because enumerators are counted."""
    entries = sorted(entries)
    if [entry[0] for entry in entries] != list(range(len(entries))):
        sys.exit(f"{TD}: the numbers of {what} are not 0 to {len(entries) - 1}")
    return entries


def pascal(word):
    return "".join(part.capitalize() for part in word.split("_"))


def generate(table):
    instances = table["!instanceof"]
    blocks, numbers = [], []
    for macro, family in (("ZYX_GRAPH_OP", "Graph_NodeOp"), ("ZYX_GRAPH_BODY_OP", "Graph_BodyOp")):
        ops = sorted((r["opcode"], pascal(r["opName"]), r["opName"], r["arity"])
                     for r in (table[name] for name in instances[family]))
        numbers += [op[0] for op in ops]
        blocks.append((macro, "Name, name, arity, number",
                       [f"{name}, {word}, {arity}, {number}" for number, name, word, arity in ops]))
    if len(set(numbers)) != len(numbers):
        sys.exit(f"{TD}: two ops have one number")
    for family in ("Unary", "Binary", "Reduce", "Scatter", "Sort"):
        kinds = [(r["value"], r["symbol"], r["str"])
                 for r in (table[name] for name in instances[f"Graph_{family}"])]
        # The same list may be instantiated for the enum and for the table of the page.
        kinds = numbered(set(kinds), f"{family.lower()} kinds")
        blocks.append((f"ZYX_GRAPH_{family.upper()}", "Name, name",
                       [f"{name}, {word}" for _, name, word in kinds]))
    text = HEADER
    for macro, parameters, _ in blocks:
        default = f" ZYX_GRAPH_OP({parameters})" if macro == "ZYX_GRAPH_BODY_OP" else ""
        text += f"\n#ifndef {macro}\n#define {macro}({parameters}){default}\n#endif"
    text += "\n"
    for macro, _, entries in blocks:
        text += "\n" + "".join(f"{macro}({entry})\n" for entry in entries)
    return text + "\n" + "".join(f"#undef {macro}\n" for macro, _, _ in blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tblgen", default="llvm-tblgen-22")
    parser.add_argument("--mlir-include", default="/usr/lib/llvm-22/include")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = generate(records(arguments.tblgen, arguments.mlir_include))
    if not arguments.check:
        INC.write_text(text)
    elif not INC.exists() or INC.read_text() != text:
        sys.exit(f"{INC.relative_to(ROOT)} is stale: run utils/gen-graph-inc.py")


if __name__ == "__main__":
    main()
