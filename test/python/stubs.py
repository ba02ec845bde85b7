#!/usr/bin/env python3
"""Compares python/zyx/_zyx.pyi with what nanobind's stubgen says of the extension, and with the methods that Python adds.

  test/python/stubs.py [--update]

Exits with 1 where they differ, or where the stubs are no Python; --update writes them.
"""
import argparse
import ast
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

from nanobind.stubgen import StubGen

ROOT = pathlib.Path(__file__).resolve().parents[2] / "python" / "zyx"
PATH = ROOT / "_zyx.pyi"


def extension():
    """Without the package, whose methods of Array stubgen would take for functions of other modules."""
    for folder in sys.path:
        for path in pathlib.Path(folder or ".").glob("zyx/_zyx.*.so"):
            loader = importlib.machinery.ExtensionFileLoader("zyx._zyx", str(path))
            module = importlib.util.module_from_spec(importlib.util.spec_from_loader("zyx._zyx", loader))
            loader.exec_module(module)
            return module
    sys.exit("stubs.py: there is no extension in PYTHONPATH")


def added(kind):
    """Methods that _array.py gives a class, by their names there: `Array.tolist = _tolist`."""
    text = (ROOT / "_array.py").read_text()
    functions = {each.name: each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
    lines = []
    for name, function in re.findall(rf"^{kind}\.(\w+) = (_\w+)$", text, re.MULTILINE):
        found = functions[function]
        lines.append(f"    def {name}({ast.unparse(found.args)}): ...\n")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    module = extension()
    generator = StubGen(module, include_private=True, quiet=True)
    generator.put(module)
    # Where the extension lies is none of its interface.
    text = "# Written by test/python/stubs.py: nanobind's stubgen.\n" + re.sub(r"zyx\._zyx\.", "", generator.get())
    # The dtype of that name hides the type of Python.
    text = "\n".join(re.sub(r"\bbool\b", "builtins.bool", line) if "def " in line else line for line in text.split("\n"))
    text = text.replace("\nfrom collections.abc", "\nimport builtins\nfrom collections.abc", 1)
    head, body = re.split(r"(?<=\nclass Array:\n)", text, maxsplit=1)
    end = re.search(r"\n(?=\S)", body)
    text = head + body[:end.start()].rstrip("\n") + "\n\n" + added("Array") + "\n\n" + body[end.start() + 1:]
    ast.parse(text)
    if options.update:
        PATH.write_text(text)
    elif not PATH.exists() or PATH.read_text() != text:
        print(f"{PATH}: differs; run test/python/stubs.py --update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
