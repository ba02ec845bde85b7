# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of StableHLO as programs, and as text of graph ops."""
import contextlib
import re

from .. import _export, _symbols, _zyx
from .._complex import from_last, to_last
from .._creation import asarray, zeros
from ._lower import Refused, Trace, Type, array_of, legalized

# Of a constant in a text, bytes at most.
MOST_BYTES = 4096


def entry_of(module, name):
    """The name and the type of the one function that a module offers, and how many functions it has."""
    functions = {operation.attributes["sym_name"].value: operation for operation in module.body.operations
                 if operation.operation.name == "func.func"}
    public = [each for each, operation in functions.items()
              if "sym_visibility" not in operation.attributes or operation.attributes["sym_visibility"].value == "public"]
    entry = "main" if "main" in functions else public[0] if len(public) == 1 else None
    if entry is None:
        raise ValueError(f"{name}: the module has no function 'main', and {len(public)} public ones")
    return entry, functions[entry].attributes["function_type"].value, len(functions)


class Program:
    """A module's public function, compiled at its first call. load() makes one of a file.

        >>> text = '''
        ... func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        ...   %y = stablehlo.add %x, %x : tensor<2xf32>
        ...   return %y : tensor<2xf32>
        ... }'''
        >>> program = zyx.jax.load(text.encode())
        >>> program
        <zyx.jax program module: (f32[2]) -> (f32[2])>
    """

    def __init__(self, module, name="main", device=None):
        self.module, self.name, self.device = legalized(module), name, device
        self.entry, kind, _ = entry_of(module, name)
        try:
            self.inputs, self.outputs = [Type(each) for each in kind.inputs], [Type(each) for each in kind.results]
        except Refused as error:
            raise Refused(f"zyx.jax: {name}: an argument or a result is {error}") from None
        self.function = _zyx._Function(self._traced, [])

    def _values(self, arrays):
        return [from_last(array) if type.is_complex else array for array, type in zip(arrays, self.inputs)]

    def _results(self, values):
        return [to_last(each) if type.is_complex else each for each, type in zip(map(array_of, values), self.outputs)]

    def _traced(self, arrays):
        return self._results(Trace(self.module).main(self._values(arrays), self.entry))

    def arrays(self, arrays):
        """The results for arrays; complex elements are pairs in the last axis."""
        return self.function(arrays)

    def __call__(self, *arrays):
        """The results, arrays of zyx: one, or a tuple of several."""
        if len(arrays) != len(self.inputs):
            raise TypeError(f"{self.name}: takes {len(self.inputs)} arrays, not {len(arrays)}")
        with _zyx.device_scope(self.device) if self.device else contextlib.nullcontext():
            given = []
            for at, (array, type) in enumerate(zip(arrays, self.inputs)):
                array = asarray(array)
                shape = type.shape + ((2,) if type.is_complex else ())
                if array.shape != shape or array.dtype is not type.dtype:
                    raise TypeError(f"{self.name}: argument {at} has the type {array.dtype.name}{list(array.shape)}, not "
                                    f"{type.dtype.name}{list(shape)}")
                given.append(array)
            results = self.arrays(given)
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self):
        def text(types):
            return ", ".join(f"{type.name}{list(type.shape)}" for type in types)

        return f"<zyx.jax program {self.name}: ({text(self.inputs)}) -> ({text(self.outputs)})>"


def _names(module, entry, kind, count):
    """Those of arguments or results that JAX wrote beside them, or else numbers."""
    function = next(operation for operation in module.body.operations if operation.operation.name == "func.func"
                    and operation.attributes["sym_name"].value == entry)
    made = []
    attributes = function.attributes["arg_attrs" if kind == "arg" else "res_attrs"] if (
        "arg_attrs" if kind == "arg" else "res_attrs") in function.attributes else None
    for at in range(count):
        name = None
        if attributes is not None:
            entry_of = attributes[at]
            if "jax.arg_info" in entry_of or "jax.result_info" in entry_of:
                name = entry_of["jax.arg_info" if kind == "arg" else "jax.result_info"].value
                name = re.sub(r"\W+", "_", name).strip("_")
        made.append(name if name and re.match(r"[A-Za-z_]", name) else f"{'in' if kind == 'arg' else 'out'}{at}")
    return _export._unique(made)


def _shapes(program, shapes):
    """Those of all inputs of a program with open extents; an input without open ones needs none."""
    if not isinstance(shapes, dict):
        return shapes
    names = _names(program.module, program.entry, "arg", len(program.inputs))
    for name in shapes:
        if name not in names:
            raise ValueError(f"{program.name}: there is no input '{name}'; there are {', '.join(names) or 'none'}")
    for name, type in zip(names, program.inputs):
        if name not in shapes and None in type.shape:
            raise ValueError(f"{program.name}: the input '{name}' has open extents, {type}, and needs a shape")
    return [shapes.get(name, type.shape) for name, type in zip(names, program.inputs)]


def program_text(program, *, shapes=None, weights="inputs", entry="main"):
    """A program as text of graph ops, and the constants that are inputs of it, by name.

    A text is of one set of shapes: of a program with open extents, `shapes` has those of its inputs, in a list or by name
    ("in0", or as JAX named the argument); a name in place of a number is a symbol of the text, which gets its number when that is
    compiled. Constants of at most 4,096 bytes are constants of the text, larger ones inputs behind the module's own; these are refused
    with weights="constants".

        >>> text = '''
        ... func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        ...   %y = stablehlo.add %x, %x : tensor<2xf32>
        ...   return %y : tensor<2xf32>
        ... }'''
        >>> program = zyx.jax.load(text.encode())
        >>> text, weights = zyx.jax.program_text(program)
        >>> "graph.binary" in text, weights
        (True, {})
    """
    if weights not in ("constants", "inputs"):
        raise ValueError(f"program_text: weights are 'constants' or 'inputs', not {weights!r}")
    if hasattr(program, "at"):
        shapes = _shapes(program, {} if shapes is None else shapes)
        symbols = _symbols.names_in(shapes)
        if symbols:
            def of(numbers):
                return program_text(program, shapes=[_symbols.put(shape, numbers) for shape in shapes], weights=weights, entry=entry)

            return _symbols.text_of(of, symbols, program.name)
        program = program.at(shapes)
    elif shapes:
        raise ValueError(f"{program.name}: the module has its shapes")
    with _zyx.device_scope("reference"):
        arguments = [zeros(type.shape + ((2,) if type.is_complex else ()), dtype=type.dtype) for type in program.inputs]

        def function(arrays):
            with _zyx.device_scope("reference"):
                return program._traced(arrays)

        text, others = _export.export(function, arguments, "text", entry=entry,
                                      inputs=_names(program.module, program.entry, "arg", len(program.inputs)),
                                      outputs=_names(program.module, program.entry, "res", len(program.outputs)))
    if others and weights == "constants":
        name, value = next(iter(others.items()))
        raise _zyx.UnsupportedError(f"{program.name}: the constant '{name}' has {value.size * value.dtype.itemsize} bytes; a "
                                    f"constant of a text has at most {MOST_BYTES}, and larger ones are inputs")
    return text.decode(), others
