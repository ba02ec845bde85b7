#!/usr/bin/env python3
"""Runs the cells of a notebook as one program, and keeps what they show.

  test/python/notebook.py examples/pictures.ipynb [--update]

Jupyter would bring some 40 packages into the environment of the tests; what a cell shows are the methods _repr_svg_ and
_repr_html_ of its last value, which this calls as it does.
"""
import ast
import contextlib
import io
import json
import pathlib
import sys


def show(value):
    """The data of an output, by the kinds that a notebook knows."""
    data = {"text/plain": repr(value)}
    for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(value, method):
            data[kind] = getattr(value, method)()
    return data


def run(notebook):
    """The outputs of each cell of code."""
    names, outputs = {"__name__": "__main__"}, []
    for number, cell in enumerate(cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        tree = ast.parse("".join(cell["source"]), f"cell-{number + 1}")
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, made = io.StringIO(), []
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"cell-{number + 1}", "exec"), names)
            value = eval(compile(last, f"cell-{number + 1}", "eval"), names) if last else None
        if printed.getvalue():
            made.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
        if value is not None:
            data = {kind: lines(text) for kind, text in show(value).items()}
            made.append({"data": data, "execution_count": number + 1, "metadata": {}, "output_type": "execute_result"})
        outputs.append(made)
    return outputs


def lines(text):
    return text.splitlines(keepends=True)


def main():
    path = pathlib.Path(sys.argv[1])
    notebook = json.loads(path.read_text())
    made = run(notebook)
    for cell, outputs in zip((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), made):
        cell["outputs"] = outputs
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    if "--update" in sys.argv:
        path.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
