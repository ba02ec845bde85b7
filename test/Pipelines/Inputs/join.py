"""Joins the programs of a folder to one file, as zyx-opt --split-input-file takes them.

  join.py FOLDER FILE.mlir
"""
import pathlib
import sys

folder, out = map(pathlib.Path, sys.argv[1:])
programs = sorted(folder.glob("*.mlir"))
out.write_text("\n// -----\n\n".join(f"// {p.name}\n{p.read_text()}" for p in programs))
