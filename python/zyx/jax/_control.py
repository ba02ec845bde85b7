# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls, branches and loops, and what gives its arguments on."""
import numpy as np

from .. import _complex as C
from .. import _zyx
from .._complex import Complex
from .._lowering import cast, where
from .._transforms import loop, while_loop
from ._lower import FOLDS, MOST_KNOWN, Scope, array_of, constant, number_of, op

# Of loops whose conditions are numbers that are known, trips at most that are counted.
MOST_TRIPS = 1 << 20


@op("func.call", known=True)
def call(node, *arguments):
    return node.trace.call(node.op.attributes["callee"].value, arguments, node.is_elements)


@op("stablehlo.composite", known=True)
def composite(node, *arguments):
    return node.trace.call(node.op.attributes["decomposition"].value, arguments, node.is_elements)


@op("stablehlo.optimization_barrier", known=True)
def barrier(node, *arguments):
    return list(arguments)


@op("stablehlo.after_all", "stablehlo.create_token", known=True)
def token(node, *arguments):
    return [None]


@op("sdy.sharding_constraint", known=True)
def sharding(node, x):
    return x


# Branches


# Branches that have one of these are computed where they are chosen alone; of others all are computed, and data chooses.
LONG = {f"stablehlo.{name}" for name in ("cholesky", "convolution", "custom_call", "dot_general", "fft", "reduce_window", "scatter",
                                         "select_and_scatter", "sort", "triangular_solve", "while")}


def _is_long(trace, block, seen):
    for operation in block.operations:
        operation = operation.operation
        if operation.name in LONG:
            return True
        for region in operation.regions:
            if any(_is_long(trace, inner, seen) for inner in region.blocks):
                return True
        name = operation.attributes["callee"].value if operation.name == "func.call" else None
        if name is not None and name in trace.functions and name not in seen:
            seen.add(name)
            if _is_long(trace, trace.functions[name].regions[0].blocks[0], seen):
                return True
    return False


def _apart(node, blocks, choose):
    """The results of the one block that data chooses, by choose(functions, operands), whose operands are the values of the scope
    around that the blocks read."""
    free = {}
    for block in blocks:
        _free(block, free)
    free = [value for value in free if not isinstance(node.scope[value], np.ndarray) and node.scope[value] is not None]
    parts = Parts([node.scope[value] for value in free])
    kept = []

    def function(block):
        def made(arrays):
            scope = Scope(node.scope)
            scope.values.update(zip(free, parts.whole(arrays)))
            results = node.trace.block(block, [], scope, False)
            kept[:] = [Parts(results)]
            return kept[0].flat(results)

        return made

    arrays = choose([function(block) for block in blocks], parts.flat([node.scope[value] for value in free]))
    return kept[0].whole(arrays)


def _is_apart(node, blocks):
    return not node.is_elements and any(type is not None for type in node.types) and any(
        _is_long(node.trace, block, set()) for block in blocks)


@op("stablehlo.case", known=True)
def case(node, index):
    blocks = [region.blocks[0] for region in node.op.regions]
    last, number = len(blocks) - 1, number_of(index)
    if number is not None:
        number = int(number)
        return node.same(blocks[number if 0 <= number <= last else last])
    index = array_of(index)
    if _is_apart(node, blocks):
        return _apart(node, blocks, lambda functions, operands: _zyx._choose(cast(index, _zyx.int64), operands, functions))
    results = [node.same(block) for block in blocks]
    made = results[-1]
    for at in range(last):
        made = [chosen(index == at, own, other) for own, other in zip(results[at], made)]
    return made


@op("stablehlo.if", known=True)
def branch(node, condition):
    blocks, number = [region.blocks[0] for region in node.op.regions], number_of(condition)
    if number is not None:
        return node.same(blocks[0 if number else 1])
    if _is_apart(node, blocks):
        return _apart(node, blocks, lambda functions, operands: _zyx._cond(array_of(condition), operands, *functions))
    results = [node.same(block) for block in blocks]
    return [chosen(array_of(condition), a, b) for a, b in zip(*results)]


def chosen(condition, a, b):
    if a is None:
        return None
    a, b = array_of(a), array_of(b)
    return C.joined(condition, a, b) if isinstance(a, Complex) else where(condition, a, b)


# Loops


class Parts:
    """Values as a list of arrays: complex ones are two, and tokens none."""

    def __init__(self, values):
        self.kinds = [None if each is None else isinstance(each, Complex) for each in values]

    def flat(self, values):
        made = []
        for each, is_complex in zip(values, self.kinds):
            if is_complex is None:
                continue
            each = array_of(each)
            made += [each.real, each.imag] if is_complex else [each]
        return made

    def whole(self, arrays):
        rest = iter(arrays)
        return [None if kind is None else Complex(next(rest), next(rest)) if kind else next(rest) for kind in self.kinds]


def _needed(block, values):
    """The operations of a block that values are made of, and the positions of the arguments among them; None for what is no
    operation of numbers."""
    arguments, operations, places = list(block.arguments), [], set()
    made = {result: each.operation for each in block.operations for result in each.operation.results}
    stack, seen = list(values), set()
    while stack:
        value = stack.pop()
        if value in arguments:
            places.add(arguments.index(value))
            continue
        operation = made.get(value)
        if operation is None:
            # Of the scope around the block.
            continue
        if operation.results[0] in seen:
            continue
        seen.add(operation.results[0])
        if operation.name not in FOLDS and operation.name != "stablehlo.constant":
            return None
        operations.append(operation)
        stack += list(operation.operands)
    return operations, places


class Unknown(Exception):
    pass


def trips_of(node, carried):
    """How often a loop runs, where that follows from known numbers alone; else None."""
    test, body = node.block(0), node.block(1)
    ends = list(body.operations)[-1].operation.operands
    condition = list(test.operations)[-1].operation.operands[0]
    found = _needed(test, [condition])
    if found is None:
        return None
    places = set(found[1])
    while True:
        more = _needed(body, [ends[at] for at in places])
        if more is None:
            return None
        if more[1] <= places:
            break
        places |= more[1]
    if any(not isinstance(carried[at], np.ndarray) or carried[at].size > MOST_KNOWN for at in places):
        return None
    state = {at: carried[at] for at in places}
    from ._lower import Node

    def evaluated(block, values, numbers):
        scope = {block.arguments[at]: number for at, number in numbers.items()}
        own = {result: each.operation for each in block.operations for result in each.operation.results}

        def of(value):
            if value in scope:
                return scope[value]
            operation = own.get(value)
            if operation is None:
                try:
                    outer = node.scope[value]
                except KeyError:
                    raise Unknown from None
                if not isinstance(outer, np.ndarray):
                    raise Unknown
                return outer
            inner = Node(node.trace, operation, node.scope)
            if operation.name == "stablehlo.constant":
                made = constant(inner)
            else:
                with np.errstate(all="ignore"):
                    made = FOLDS[operation.name](inner, *[of(each) for each in operation.operands])
            if not isinstance(made, (np.ndarray, np.generic)):
                raise Unknown
            scope[value] = np.asarray(made).astype(inner.types[0].numpy, copy=False)
            return scope[value]

        return [of(each) for each in values]

    order = sorted(places)
    count = 0
    try:
        linear = _linear(node, test, body, condition, ends, order, state, evaluated)
        if linear is not None:
            return linear
        while bool(evaluated(test, [condition], state)[0]):
            count += 1
            if count > MOST_TRIPS:
                return None
            state = dict(zip(order, evaluated(body, [ends[at] for at in order], state)))
    except Unknown:
        return None
    return count


def _maker(block, value):
    """The operation of a block whose first result a value is."""
    return next((each.operation for each in block.operations if each.operation.results and each.operation.results[0] == value), None)


def _linear(node, test, body, condition, ends, order, state, evaluated):
    """A counter that grows by one up to a bound, without counting."""
    operation = _maker(test, condition)
    if operation is None or operation.name != "stablehlo.compare" or "LT" not in str(operation.attributes["comparison_direction"]):
        return None
    arguments = list(test.arguments)
    if operation.operands[0] not in arguments:
        return None
    at = arguments.index(operation.operands[0])
    step = dict(zip(order, evaluated(body, [ends[each] for each in order], state)))
    if any(other != at and not np.array_equal(step[other], state[other]) for other in order):
        return None
    grows = _maker(body, ends[at])
    if grows is None or grows.name != "stablehlo.add" or body.arguments[at] not in list(grows.operands):
        return None
    bound = evaluated(test, [operation.operands[1]], state)[0]
    again = evaluated(test, [operation.operands[1]], step)[0]
    change, rest = int(step[at]) - int(state[at]), int(bound) - int(state[at])
    if change != 1 or not np.array_equal(bound, again) or state[at].dtype.kind not in "iu":
        return None
    other = grows.operands[1] if grows.operands[0] == body.arguments[at] else grows.operands[0]
    # What is added, and the bound, must be the same in each trip: made of what the body returns as it takes it.
    for found in (_needed(body, [other]), _needed(test, [operation.operands[1]])):
        if found is None or any(ends[each] != body.arguments[each] for each in found[1]):
            return None
    return max(rest, 0)


def _free(block, found=None, own=None):
    """Values of the scope around a block that it reads."""
    found, own = found if found is not None else {}, own if own is not None else set()
    own.update(block.arguments)
    for operation in block.operations:
        operation = operation.operation
        for operand in operation.operands:
            if operand not in own:
                found.setdefault(operand, None)
        for region in operation.regions:
            for inner in region.blocks:
                _free(inner, found, own)
        own.update(operation.results)
    return list(found)


@op("stablehlo.while", known=True)
def while_of(node, *carried):
    if node.is_elements:
        node.refuse("a loop within a function of elements")
    test, body = node.block(0), node.block(1)
    trips = trips_of(node, carried)
    parts = Parts(carried)
    if trips is not None and trips <= 1:
        return node.run(body, carried) if trips else list(carried)

    def step(trip, arrays):
        return tuple(parts.flat(node.run(body, parts.whole(arrays))))

    initial = tuple(parts.flat(carried))
    if trips is not None:
        return parts.whole(loop(trips, initial, step))
    # Data ends it.
    return parts.whole(while_loop(initial, lambda arrays: array_of(node.run(test, parts.whole(arrays))[0]), step))
