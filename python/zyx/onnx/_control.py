# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops, sequences and optional values."""
import math

from .. import _functions as F
from .. import _zyx
from . import _types
from ._elementwise import cast, full, where
from ._model import ModelError, NeedsValue, Sequence, Strings, Value, known, op
from ._movement import pieces

int64 = _zyx.int64


def _inputs(values):
    result = frozenset()
    for value in values:
        if isinstance(value, Sequence):
            result |= _inputs(value.items)
        elif isinstance(value, Value):
            result |= value.inputs
    return result


# A branch that has one of these is computed where it is chosen alone; of others both are computed, and data chooses.
LONG = {"Attention", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "Det", "DFT", "Einsum", "FlexAttention", "GRU", "Gemm", "LSTM",
        "Loop", "MatMul", "MatMulInteger", "QLinearConv", "QLinearMatMul", "RNN", "STFT", "Scan", "ScatterElements", "ScatterND", "TopK"}
# Trips of loops that a program has one behind the other; more are a loop of the program.
MOST_UNROLLED = 16
# An input that leads to all values of a loop.
TRIP = "the trip of a loop"
# Of what a loop collects, bytes at most for the trips that there may be.
MOST_COLLECTED = 1 << 28


def _graphs_of(node):
    for attribute in node.attribute:
        yield from ([attribute.g] if attribute.g is not None else []) + attribute.graphs


def _is_long(n, graph):
    return any(node.op_type in LONG or (node.domain, node.op_type, node.overload) in n.trace.model.functions
               or any(_is_long(n, inner) for inner in _graphs_of(node)) for node in graph.node)


def _reads(graph, found):
    """Names that a graph, and those in it, take from what is around them, or perhaps: among others."""
    for node in graph.node:
        found.update(dict.fromkeys(name for name in node.input if name))
        for inner in _graphs_of(node):
            _reads(inner, found)
    found.update(dict.fromkeys(info.name for info in graph.output))
    return found


@op("If", takes_values=True)
def branch(n, condition):
    try:
        chosen = bool(n.number(0))
    except NeedsValue as needed:
        graphs = [n.need("then_branch"), n.need("else_branch")]
        both = [n.run(graph, []) for graph in graphs]
        results = [_either(condition, a, b) for a, b in zip(*both)]
        if any(result is None for result in results):
            # Results of different types: data decides which program goes on.
            raise NeedsValue(needed.inputs, True) from None
        return _apart(n, condition, graphs, results) if any(_is_long(n, graph) for graph in graphs) else results
    return n.run(n.need("then_branch" if chosen else "else_branch"), [])


def _either(condition, a, b):
    if not isinstance(a, Value) or not isinstance(b, Value) or a.code != b.code or a.shape != b.shape:
        return None
    test = _zyx._reshape(condition.array, ())
    return Value(where(test, a.array, b.array), a.code, condition.inputs | a.inputs | b.inputs)


def _apart(n, condition, graphs, results):
    """The results of the one graph that data chooses; `results` have their types."""
    outer = {}
    for graph in graphs:
        for name in _reads(graph, {}):
            value = n.scope.get(name)
            if isinstance(value, Value) and value.known is None and value.count is None:
                outer[name] = value

    def function(graph):
        def made(arrays):
            given = {name: Value(array, value.code, value.inputs) for (name, value), array in zip(outer.items(), arrays)}
            return [each.array for each in n.run(graph, [], given)]

        return made

    arrays = _zyx._cond(_zyx._reshape(condition.array, ()), [value.array for value in outer.values()], *map(function, graphs))
    return [Value(array, each.code, each.inputs) for array, each in zip(arrays, results)]


@op("Loop", takes_values=True)
def loop(n, trips, condition, *carried):
    body, most = n.need("body"), None
    if trips is not None:
        most = int(n.number(0))
    carried, collects = list(carried), len(body.output) - 1 - len(carried)
    if not n.trace.is_stepwise:
        made = _as_one(n, body, most, condition, carried, collects)
        if made is not None:
            return made
    goes_on = True if condition is None else bool(n.number(1))
    collected, at = [[] for _ in range(collects)], 0
    count = len(carried)
    while goes_on and (most is None or at < most):
        results = n.run(body, [known(at, int64), known(True, _zyx.bool), *carried])
        carried, made = results[1:1 + count], results[1 + count:]
        for place, each in zip(collected, made):
            place.append(each)
        at += 1
        if most is None or at < most:
            goes_on = bool(_read(n, results[0]))
    return carried + [_stacked(n, parts, body.output[1 + count + i]) for i, parts in enumerate(collected)]


def _as_one(n, body, most, condition, carried, collects):
    """A loop of the program that data ends, or that has many trips; None where it is none: its values change their shapes, or one
    of its body has to be read."""
    if not all(isinstance(each, Value) and each.count is None for each in carried):
        return None
    try:
        starts = condition is None or bool(n.number(1))
    except NeedsValue:
        starts = None
    inputs = frozenset().union(*(each.inputs for each in carried), condition.inputs if condition is not None else (), [TRIP])
    codes, shapes = [each.code for each in carried], [each.shape for each in carried]
    count, kinds = len(carried), []

    def values(arrays):
        return [Value(array, code, inputs) for array, code in zip(arrays, codes)]

    def trip(at, arrays):
        """What the body makes of a trip, or None."""
        results = n.run(body, [Value(at, _types.INT64, inputs), known(True, _zyx.bool), *values(arrays)])
        if not all(isinstance(each, Value) and each.count is None for each in results) or any(
                each.code != code or each.shape != shape for each, code, shape in zip(results[1:1 + count], codes, shapes)):
            raise _NoLoop
        return results

    try:
        # What it makes, of values that are none of the program's.
        probe = trip(_zyx._full((), 0, int64), [each.array for each in carried])
        kinds = [(each.code, each.shape, each.array.dtype) for each in probe[1 + count:]]
        # And what the body reads of the graphs around it.
        inputs = inputs.union(*(each.inputs for each in probe))
        is_known = probe[0].known is not None and bool(_read(n, probe[0])) and starts
        if is_known and most is not None and most <= MOST_UNROLLED:
            return None
        if is_known and most is None:
            raise ModelError("a loop without an end: nothing makes its condition false, and there is no largest number of trips")
        if starts is False or (collects and most is None) or (most is not None and most <= 0):
            return None
        room = sum(dtype.itemsize * max(most, 1) * math.prod(shape) for _, shape, dtype in kinds) if collects else 0
        if room > MOST_COLLECTED:
            return None
        rows = [full((most, *shape), 0, dtype) for _, shape, dtype in kinds]
        initial = [each.array for each in carried] + rows

        def step(at, arrays):
            results = trip(at, arrays[:count])
            place = _zyx._reshape(at, (1,))
            return ([each.array for each in results[1:1 + count]] + [
                _zyx._scatter(row, place, _zyx._reshape(each.array, (1, *each.shape)), 0, "set")
                for row, each in zip(arrays[count:], results[1 + count:])]), results[0]

        if is_known:
            made = _zyx._loop(most, initial, lambda arrays: step(arrays[0], arrays[1:])[0])
            return [Value(array, code, inputs - {TRIP}) for array, code in zip(made, codes + [kind[0] for kind in kinds])]
        go = _zyx._full((), True, _zyx.bool) if condition is None else _zyx._reshape(condition.array, ())

        def more(arrays):
            return [arrays[0] if most is None else arrays[0] & (arrays[1] < most)]

        def body_of(arrays):
            made, goes_on = step(arrays[0], arrays[3:])
            return [_zyx._reshape(goes_on.array, ()), arrays[2] + 1, *made]

        made = _zyx._while_loop([go, _zyx._full((), 0, int64), *initial], more, body_of)
    except (NeedsValue, _NoLoop):
        return None
    results = [Value(array, code, inputs - {TRIP}) for array, code in zip(made[2:], codes + [kind[0] for kind in kinds])]
    for each in results[count:]:
        each.count, each.axis = made[1], 0
    return results


class _NoLoop(Exception):
    pass


def _read(n, value):
    if value.known is not None:
        return value.known.item() if value.known.ndim == 0 else _zyx._reshape(value.known, ()).item()
    if value.inputs and not n.trace.is_stepwise:
        raise NeedsValue(value.inputs, True)
    return _zyx._reshape(value.array, ()).item()


def _stacked(n, parts, info):
    if not parts:
        from ._model import TensorInfo
        shape = TensorInfo(info).shape
        code = TensorInfo(info).code
        if shape is None or any(not isinstance(extent, int) for extent in shape):
            shape = ()
        return Value(full((0, *shape), 0, _types.dtype_of(code)), code)
    return Value(_zyx._stack([part.array for part in parts], 0), parts[0].code, _inputs(parts))


@op("Scan", takes_values=True)
def scan(n, *values):
    body, count = n.need("body"), n.need("num_scan_inputs")
    if n.version < 9:
        return _scan_of_batches(n, values, body, count)
    states, xs = list(values[:len(values) - count]), values[len(values) - count:]
    outputs = len(body.output) - len(states)
    in_axes = n.attr("scan_input_axes") or [0] * count
    out_axes = n.attr("scan_output_axes") or [0] * outputs
    reversed_in = n.attr("scan_input_directions") or [0] * count
    reversed_out = n.attr("scan_output_directions") or [0] * outputs
    return _scanned(n, states, xs, body, in_axes, out_axes, reversed_in, reversed_out)


def _scanned(n, states, xs, body, in_axes, out_axes, reversed_in, reversed_out):
    length = xs[0].shape[in_axes[0]] if xs else 0
    collected = [[] for _ in out_axes]
    for at in range(length):
        slices = [_piece(x, axis, length - 1 - at if back else at) for x, axis, back in zip(xs, in_axes, reversed_in)]
        results = n.run(body, [*states, *slices])
        states = results[:len(states)]
        for place, each in zip(collected, results[len(states):]):
            place.append(each)
    made = []
    for parts, axis, back in zip(collected, out_axes, reversed_out):
        if not parts:
            n.refuse("a scan of no elements")
        axis += len(parts[0].shape) + 1 if axis < 0 else 0
        parts = parts[::-1] if back else parts
        made.append(Value(_zyx._stack([part.array for part in parts], axis), parts[0].code, _inputs(parts)))
    return [*states, *made]


def _piece(x, axis, at):
    array = x.array
    key = [slice(None)] * array.ndim
    key[axis] = at
    return Value(array[tuple(key)], x.code, x.inputs)


def _scan_of_batches(n, values, body, count):
    """Opset 8: the first axis counts batches, which have their states each."""
    if values[0] is not None:
        n.refuse("lengths of sequences of a scan of opset 8")
    values = values[1:]
    states, xs = values[:len(values) - count], values[len(values) - count:]
    batches, results = values[-1].shape[0], []
    back = n.attr("directions") or [0] * count
    outputs = len(body.output) - len(states)
    for at in range(batches):
        results.append(_scanned(n, [_piece(state, 0, at) for state in states], [_piece(x, 0, at) for x in xs], body,
                                [0] * count, [0] * outputs, back, [0] * outputs))
    return [Value(_zyx._stack([each.array for each in parts], 0), parts[0].code, _inputs(parts)) for parts in zip(*results)]


# Sequences


@op("SequenceEmpty", takes_values=True)
def sequence_empty(n):
    return Sequence([], n.attr("dtype", _types.FLOAT))


@op("SequenceConstruct", takes_values=True)
def sequence_construct(n, *items):
    return Sequence(items, items[0].code)


def _place(n, index, count, more=0):
    at = int(n.number(index))
    at += count if at < 0 else 0
    if not 0 <= at < count + more:
        raise ModelError(f"a sequence of {count} has no place {at}")
    return at


@op("SequenceInsert", takes_values=True)
def sequence_insert(n, sequence, item, at=None):
    place = len(sequence.items) if at is None else _place(n, 2, len(sequence.items), 1)
    return Sequence(sequence.items[:place] + [item] + sequence.items[place:], item.code)


@op("SequenceErase", takes_values=True)
def sequence_erase(n, sequence, at=None):
    place = len(sequence.items) - 1 if at is None else _place(n, 1, len(sequence.items))
    return Sequence(sequence.items[:place] + sequence.items[place + 1:], sequence.code)


@op("SequenceAt", takes_values=True)
def sequence_at(n, sequence, at):
    return sequence.items[_place(n, 1, len(sequence.items))]


@op("SequenceLength", takes_values=True)
def sequence_length(n, sequence):
    return known(len(sequence.items), int64)


@op("SplitToSequence", takes_values=True)
def split_to_sequence(n, x, split=None):
    array = x.array
    axis = n.attr("axis", 0) % array.ndim
    extent, drops = array.shape[axis], False
    if split is None:
        sizes, drops = [1] * extent, not n.attr("keepdims", 1)
    elif len(split.shape) == 0:
        each = int(n.number(1))
        sizes = [min(each, extent - at) for at in range(0, extent, each)]
    else:
        sizes = n.ints(1)
    parts = pieces(array, sizes, axis)
    if drops:
        parts = [F.squeeze(part, axis) for part in parts]
    return Sequence([Value(part, x.code, x.inputs) for part in parts], x.code)


@op("ConcatFromSequence", takes_values=True)
def concat_from_sequence(n, sequence):
    arrays, axis = [item.array for item in sequence.items], n.need("axis")
    if not arrays:
        raise ModelError("a sequence of nothing")
    if n.attr("new_axis", 0):
        axis += arrays[0].ndim + 1 if axis < 0 else 0
        result = _zyx._stack(arrays, axis)
    else:
        result = F.concat(arrays, axis=axis)
    return Value(result, sequence.items[0].code, _inputs(sequence.items))


@op("SequenceMap", takes_values=True)
def sequence_map(n, first, *others):
    body = n.need("body")
    results = []
    for at, item in enumerate(first.items):
        more = [other.items[at] if isinstance(other, Sequence) else other for other in others]
        results.append(n.run(body, [item, *more]))
    if not results:
        from ._model import TensorInfo
        return [Sequence([], TensorInfo(info).code) for info in body.output]
    return [Sequence(column, column[0].code) for column in zip(*results)]


# Optional values


@op("Optional", takes_values=True)
def optional(n, value=None):
    return [value]


@op("OptionalHasElement", takes_values=True)
def optional_has_element(n, value=None):
    return known(value is not None, _zyx.bool)


@op("OptionalGetElement", takes_values=True)
def optional_get_element(n, value=None):
    if value is None:
        raise ModelError("the optional value is not there")
    return [value]
