#!/usr/bin/env python3
# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes from GraphOps.td what rooms without LLVM, tensors and Python say of each op and kind: whole lists
(include/zyx/Graph/GraphOps.inc, UnaryKinds.inc, include/zyx/Dialect/Kernel/IR/Functions.inc) and the parts of other
files between "Written by utils/gen-graph-inc.py" and "Written until here". With --check it only compares, and fails
where a file is stale."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TD = "zyx/Dialect/Graph/IR/GraphOps.td"
HEADER = """\
//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Written by utils/gen-graph-inc.py from {source}; do not edit. Define the macros that are
// wanted before including it{text}
//===----------------------------------------------------------------------===//
"""
OPS_TEXT = """: ZYX_GRAPH_OP(Name, name, arity, number), and per kind (Name, name)
// ZYX_GRAPH_BINARY, _REDUCE, _SCATTER, _SORT, whose order is their number; UnaryKinds.inc has those
// of unary. Numbers stand in the byte form. An arity of -1 means any number of operands from 1 on.
// Ops with a body are ZYX_GRAPH_BODY_OP, which is ZYX_GRAPH_OP where it is not defined."""
UNARY_TEXT = """. The order is the number, which stands in the byte form.
// ZYX_GRAPH_UNARY(Name, name): each kind. Of some of them:
// ZYX_GRAPH_UNARY_NUMBERS, _BITS, _FLOATS(Name): the dtypes they take
// ZYX_GRAPH_UNARY_FLAT(Name): the derivative is 0 wherever there is one
// ZYX_GRAPH_UNARY_NAN_BELOW_ZERO(Name)
// ZYX_GRAPH_UNARY_MATH(Name, Op): kernels compute it by math::Op
// ZYX_GRAPH_UNARY_TRANSCENDENTAL(Name): kernels compute it by a polynomial or more"""
FUNCTIONS_TEXT = """:
// ZYX_KERNEL_FUNCTION(Op, name, Length, isOnRegisters, isHeavy): an op of math with one operand which
// zyx-kernel-expand-math computes; UnaryKinds.td says what the words mean."""
TAKES = {"float": "FLOATS", "integer, float": "NUMBERS", "bool, integer": "BITS"}


def records(tblgen, include):
    command = [tblgen, "--dump-json", f"-I{ROOT}/include", f"-I{include}", f"{ROOT}/include/{TD}"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def numbered(entries, what):
    """Entries by number; the numbers must be 0, 1, 2, ... because enumerators are counted."""
    if sorted(entries) != list(range(len(entries))):
        sys.exit(f"{TD}: the numbers of {what} are not 0 to {len(entries) - 1}")
    return [entries[number] for number in range(len(entries))]


def pascal(word):
    return "".join(part.capitalize() for part in word.split("_"))


def kinds(table, family):
    found = {}
    # The same list may be instantiated for the enum and for the table of the page.
    for each in (table[name] for name in table["!instanceof"][f"Graph_{family}"]):
        if found.setdefault(each["value"], each)["symbol"] != each["symbol"]:
            sys.exit(f"{TD}: two {family.lower()} kinds have the number {each['value']}")
    return numbered(found, f"{family.lower()} kinds")


def inc(header, blocks):
    """A list of macros: (macro, its parameters, entries)."""
    text = header
    for macro, parameters, _ in blocks:
        default = f" ZYX_GRAPH_OP({parameters})" if macro == "ZYX_GRAPH_BODY_OP" else ""
        text += f"\n#ifndef {macro}\n#define {macro}({parameters}){default}\n#endif"
    text += "\n"
    for macro, _, entries in blocks:
        text += "\n" + "".join(f"{macro}({entry})\n" for entry in entries)
    return text + "\n" + "".join(f"#undef {macro}\n" for macro, _, _ in blocks)


def graph_ops(table):
    blocks, numbers = [], []
    for macro, family in (("ZYX_GRAPH_OP", "Graph_NodeOp"), ("ZYX_GRAPH_BODY_OP", "Graph_BodyOp")):
        ops = sorted((r["opcode"], pascal(r["opName"]), r["opName"], r["arity"])
                     for r in (table[name] for name in table["!instanceof"][family]))
        numbers += [op[0] for op in ops]
        blocks.append((macro, "Name, name, arity, number",
                       [f"{name}, {word}, {arity}, {number}" for number, name, word, arity in ops]))
    if len(set(numbers)) != len(numbers):
        sys.exit(f"{TD}: two ops have one number")
    for family in ("Binary", "Reduce", "Scatter", "Sort"):
        blocks.append((f"ZYX_GRAPH_{family.upper()}", "Name, name",
                       [f"{kind['symbol']}, {kind['str']}" for kind in kinds(table, family)]))
    return inc(HEADER.format(source="GraphOps.td", text=OPS_TEXT), blocks)


class Unary:
    """A row of UnaryKinds.td."""

    def __init__(self, record, table):
        self.symbol, self.name, self.takes, self.text = (record[key] for key in ("symbol", "str", "takes", "meaning"))
        self.is_flat, self.is_nan, self.member = (record[key] for key in ("isFlat", "isNanBelowZero", "member"))
        self.lowering = table[record["lowering"]["def"]]
        if self.takes not in TAKES:
            sys.exit(f"UnaryKinds.td: {self.name}: nothing takes '{self.takes}': add it to Inference::unary and here")

    def math(self):
        return self.lowering["op"] and self.lowering["op"] + "Op"

    def python(self):
        """What Python calls it; None where _functions.py says more than that it takes floats."""
        return re.sub(r"([A-Z])", r"_\1", self.member).lower() if self.member and self.takes == "float" else None


def unary_kinds(rows):
    blocks = [("ZYX_GRAPH_UNARY", "Name, name", [f"{row.symbol}, {row.name}" for row in rows])]
    blocks += [(f"ZYX_GRAPH_UNARY_{word}", "Name", [row.symbol for row in rows if row.takes == takes])
               for takes, word in TAKES.items()]
    blocks += [("ZYX_GRAPH_UNARY_FLAT", "Name", [row.symbol for row in rows if row.is_flat]),
               ("ZYX_GRAPH_UNARY_NAN_BELOW_ZERO", "Name", [row.symbol for row in rows if row.is_nan]),
               ("ZYX_GRAPH_UNARY_MATH", "Name, Op", [f"{row.symbol}, {row.math()}" for row in rows if row.math()]),
               ("ZYX_GRAPH_UNARY_TRANSCENDENTAL", "Name",
                [row.symbol for row in rows if row.lowering["length"] not in ("", "Root")])]
    return inc(HEADER.format(source="UnaryKinds.td", text=UNARY_TEXT), blocks)


def functions(rows):
    word = ("false", "true")
    entries = [f"{row.math()}, {row.name}, {row.lowering['length']}, {word[row.lowering['isOnRegisters']]}, "
               f"{word[row.lowering['isHeavy']]}" for row in rows if row.lowering["length"]]
    return inc(HEADER.format(source="UnaryKinds.td", text=FUNCTIONS_TEXT),
               [("ZYX_KERNEL_FUNCTION", "Op, name, Length, isOnRegisters, isHeavy", entries)])


def sentence(text):
    is_letter = not text[1].isalpha()
    return (text[0] if is_letter else text[0].upper()) + text[1:] + "."


def parts(rows):
    """What stands between the two lines, by file."""
    where = "Place where = Place::current()"
    members = [row for row in rows if row.member]
    python = sorted((row.python(), row) for row in rows if row.python())
    maker = {True: "_rounding", False: "_of_floats"}
    return {
        "include/zyx/Tensor/Tensor.h": "".join(
            f"  /// {sentence(row.text)}\n  Tensor {row.member}({where}) const;\n" for row in members),
        "include/zyx/Tensor/Members.h": "".join(
            f"inline Tensor {row.member}(const Tensor &x, {where}) {{ return x.{row.member}(where); }}\n"
            for row in members),
        "lib/Tensor/Elementwise.cpp": "".join(
            f"Tensor Tensor::{row.member}(Place where) const {{ return makeUnary(UnaryKind::{row.symbol}, *this, where); }}\n"
            for row in members),
        "python/src/Functions.cpp": "".join(f'    {{"_{name}", &zyx::{row.member}}},\n' for name, row in python),
        "python/zyx/_functions.py": "".join(
            f'{name} = {maker[bool(row.is_flat)]}("{name}", "{sentence(row.text)}")\n' for name, row in python),
        "python/zyx/__init__.py": textwrap.fill(
            "from ._functions import (" + ", ".join(name for name, _ in python) + ")", 120,
            subsequent_indent=" " * len("from ._functions import (")) + "\n",
    }


def replace_part(path, part):
    text = path.read_text()
    found = re.search(r"^ *(?://|#) Written by utils/gen-graph-inc\.py.*\n((?:.*\n)*?) *(?://|#) Written until here\.\n", text,
                      re.MULTILINE)
    if not found:
        sys.exit(f"{path}: lacks the two lines between which utils/gen-graph-inc.py writes")
    return text[:found.start(1)] + part + text[found.end(1):]


def replace_stubs(path, rows):
    """test/python/stubs.py writes the others, in the order of python/src/Functions.cpp, and no comments."""
    part = "".join(f"def _{name}(x: Array) -> Array: ...\n\n" for name in sorted(filter(None, map(Unary.python, rows))))
    text = re.sub(r"^def _(\w+)\(x: Array\) -> Array: \.\.\.\n\n",
                  lambda found: "" if found[0] in part else found[0], path.read_text(), flags=re.MULTILINE)
    first = text.index("def _acos(x: Array)")
    return text[:first] + part + text[first:]


def files(table):
    rows = [Unary(record, table) for record in kinds(table, "Unary")]
    texts = {"include/zyx/Graph/GraphOps.inc": graph_ops(table), "include/zyx/Graph/UnaryKinds.inc": unary_kinds(rows),
             "include/zyx/Dialect/Kernel/IR/Functions.inc": functions(rows),
             "python/zyx/_zyx.pyi": replace_stubs(ROOT / "python/zyx/_zyx.pyi", rows)}
    for name, part in parts(rows).items():
        texts[name] = replace_part(ROOT / name, part)
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tblgen", default="llvm-tblgen-22")
    parser.add_argument("--mlir-include", default="/usr/lib/llvm-22/include")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    stale = []
    for name, text in files(records(arguments.tblgen, arguments.mlir_include)).items():
        path = ROOT / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not arguments.check:
            path.write_text(text)
            print(f"wrote {name}")
    if arguments.check and stale:
        sys.exit(f"{', '.join(stale)}: stale; run utils/gen-graph-inc.py")


if __name__ == "__main__":
    main()
