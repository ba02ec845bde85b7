# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as text of graph ops, which zyx-compile and zyx-run read."""
from .. import _export, _symbols, _zyx
from . import _model, _types
from ._file import ModelError


def _extents(model, info, shapes, bind):
    """The shape of an input, where all of it is known."""
    if info.name in shapes:
        given = tuple(shapes[info.name])
        if info.shape is not None and (len(given) != len(info.shape) or any(
                isinstance(extent, int) and extent != other for extent, other in zip(info.shape, given))):
            raise ModelError(f"{model.name}: the input '{info.name}' has the shape {list(info.shape)}, not {list(given)}")
        return given
    if info.shape is None:
        raise ModelError(f"{model.name}: the model does not say which rank the input '{info.name}' has; give its shape")
    made = []
    for number, extent in enumerate(info.shape):
        extent = bind.get(extent, extent)
        if not isinstance(extent, int):
            name = f"the extent '{extent}'" if extent else f"extent {number}, which has no name,"
            raise ModelError(f"{model.name}: {name} of the input '{info.name}' is open; give its value, or the shape")
        made.append(extent)
    return tuple(made)


class _Counted(Exception):
    """Which outputs are as large as data says, and have a count behind them."""


# Of a constant in a text, bytes at most.
MOST_BYTES = 4096


def program_text(model, *, shapes=None, bind=None, values=None, weights="inputs", entry="main"):
    """A model as the text of a program, and the weights that are inputs of it, by name.

    The text is of one set of shapes: `shapes` are those of inputs by name, `bind` says numbers for extents that the model
    names. A name in place of a number is a symbol of the text, which gets its number when that is compiled; such a model must
    compute the same, but for extents, whatever the number is. `values` are numbers for inputs that say what is computed, such as a shape; they are no inputs of the program.
    An output as large as data says has as many elements as there may be, and their count is the next output, "y_count". Weights of at most 4,096 bytes are constants of the text, larger ones inputs behind the model's own; these are refused
    with weights="constants". Raises ModelError, with the file and the node, where the model is no one program.

        >>> from onnx import TensorProto, helper
        >>> x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
        >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
        >>> model = zyx.onnx.load(helper.make_model(graph).SerializeToString())
        >>> text, weights = zyx.onnx.program_text(model)
        >>> "@main" in text, weights
        (True, {})
    """
    shapes, bind, values = dict(shapes or {}), dict(bind or {}), dict(values or {})
    symbols = _symbols.names_in([*shapes.values(), bind.values()])
    if symbols:
        def of(numbers):
            return program_text(model, shapes={name: _symbols.put(shape, numbers) for name, shape in shapes.items()},
                                bind={name: numbers.get(value, value) for name, value in bind.items()}, values=values, weights=weights,
                                entry=entry)

        return _symbols.text_of(of, symbols, model.name)
    if weights not in ("constants", "inputs"):
        raise ValueError(f"program_text: weights are 'constants' or 'inputs', not {weights!r}")
    _check(model, shapes, bind, values)
    with _zyx.device_scope(model.device):
        infos = {info.name: info for info in model.inputs + model.optional_inputs}
        fixed = {name: _model.known(numbers, _types.dtype_of(infos[name].code)) for name, numbers in values.items()}
        inputs = [info for info in model.inputs if info.name not in fixed]
        large = _large(model, fixed)
        text, others = _text(model, inputs, [_extents(model, info, shapes, bind) for info in inputs], large, fixed, entry)
    inputs = {**{name: value.array for name, value in large.items()}, **others}
    if inputs and weights == "constants":
        name, value = next(iter(inputs.items()))
        raise _zyx.UnsupportedError(f"{model.name}: the weight '{name}' has {value.size * value.dtype.itemsize} bytes; a "
                                    f"constant of a text has at most {MOST_BYTES}, and larger ones are inputs")
    return text.decode(), inputs


def _check(model, shapes, bind, values):
    """Refuses names that the model has not, and inputs and outputs that no program has."""
    names = [info.name for info in model.inputs + model.optional_inputs]
    for given, what in ((shapes, "shape"), (values, "value")):
        for name in given:
            if name not in names:
                raise ModelError(f"{model.name}: a {what} is given for '{name}', which is no input; there are "
                                 f"{', '.join(names) or 'none'}")
    extents = {extent for info in model.inputs for extent in info.shape or () if isinstance(extent, str)}
    for name in bind:
        if name not in extents:
            raise ModelError(f"{model.name}: no input has an extent '{name}'; there are {', '.join(sorted(extents)) or 'none'}")
    for info in [*model.inputs, *model.outputs]:
        if info.kind != "tensor" or info.code == _types.STRING:
            kind = "texts" if info.code == _types.STRING else f"a {info.kind}"
            raise _zyx.UnsupportedError(f"{model.name}: '{info.name}' is {kind}, and arguments of a program are arrays")


def _large(model, fixed):
    """Weights that are no constants of a text, by name."""
    return {name: value for name, value in model.constants.items()
            if name not in fixed and isinstance(value, _model.Value) and value.known is None
            and value.array.size * value.dtype.itemsize > MOST_BYTES}


def _text(model, inputs, extents, large, fixed, entry):
    """The text of a program of inputs of these extents, and values that the graph has besides `large`."""
    from .._creation import zeros
    arguments = [zeros(shape, dtype=_types.dtype_of(info.code)) for info, shape in zip(inputs, extents)]
    arguments += [value.array for value in large.values()]

    def exported(counted):
        """Of outputs of which some have a count behind them."""
        def function(arrays):
            with _zyx.device_scope(model.device):
                return _results(model, inputs, large, fixed, arrays, counted)

        outputs = [name for info, is_counted in zip(model.outputs, counted)
                   for name in ([info.name, f"{info.name}_count"] if is_counted else [info.name])]
        return _export.export(function, arguments, "text", entry=entry, inputs=[info.name for info in inputs] + list(large),
                              outputs=_export._unique(outputs))

    try:
        try:
            return exported((False,) * len(model.outputs))
        except _Counted as found:
            return exported(found.args[0])
    except _model.NeedsValue as needed:
        if needed.is_data:
            raise _zyx.UnsupportedError(f"{needed.where}: data says which shapes there are, or what is computed, so that "
                                        "the model is no one program") from None
        names = ", ".join(f"'{name}'" for name in sorted(needed.inputs))
        raise ModelError(f"{needed.where}: what is computed depends on the value of the input {names}; give it") from None


def _results(model, inputs, large, fixed, arrays, counted):
    """The arrays that the graph makes, each with its count where it has one; _Counted where others have one than was thought."""
    rest = iter(arrays)
    given = {info.name: _model.Value(next(rest), info.code, frozenset([info.name])) for info in inputs}
    given.update((name, _model.Value(next(rest), value.code)) for name, value in large.items())
    given.update(fixed)
    results = _model.Trace(model, False).outputs(given)
    for info, result in zip(model.outputs, results):
        if not isinstance(result, _model.Value):
            raise _zyx.UnsupportedError(f"{model.name}: the output '{info.name}' is no array")
    found = tuple(result.count is not None for result in results)
    if found != counted:
        raise _Counted(found)
    return [part for result in results for part in result.parts]
