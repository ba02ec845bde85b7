# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, windows and orders. Their functions are blocks of scalars, which are recognised, or walked for arrays."""
import math

import numpy as np

from .. import _complex as C
from .. import _functions as F
from .. import _zyx
from .._complex import Complex
from .._dtypes import iinfo
from .._lowering import cast, cut, expand, full, int64, iota, permute, reshape, where, wide
from . import _elementwise
from ._lower import array_of, number_of, op
from ._movement import pad_with, padded

bool_, uint8 = _zyx.bool, _zyx.uint8


def mapped(x, function):
    return x.map(function) if isinstance(x, Complex) else function(x)


# What a block does


def operations_of(block):
    return [each.operation for each in block.operations]


def simple(block):
    """The name of the one op of two arguments that a block is, or None."""
    operations = operations_of(block)
    if len(operations) != 2 or len(block.arguments) != 2 or len(operations[1].operands) != 1:
        return None
    own = operations[0]
    if len(own.operands) != 2 or operations[1].operands[0] != own.results[0]:
        return None
    a, b = block.arguments
    return own.name if sorted([own.operands[0] == a, own.operands[1] == b]) == [True, True] or (
        own.operands[0] == b and own.operands[1] == a) else None


def neutral(name, x):
    """Of an op and an array, the number that changes nothing."""
    dtype = x.dtype
    if name in ("stablehlo.add", "stablehlo.or", "stablehlo.xor"):
        return 0
    if name == "stablehlo.multiply":
        return 1
    if name == "stablehlo.and":
        return 1 if dtype is bool_ else -1 if dtype.is_signed else iinfo(dtype).max
    if dtype is bool_:
        return 0 if name == "stablehlo.maximum" else 1
    low, high = (-math.inf, math.inf) if dtype.is_float else (iinfo(dtype).min, iinfo(dtype).max)
    return low if name == "stablehlo.maximum" else high


def _nan_aside(core):
    """A maximum in which NaN wins."""

    def made(x, axes):
        found = core(x, axes, False)
        if not x.dtype.is_float:
            return found
        bad = _zyx._any(F.isnan(x), axes, False)
        return where(bad, full((), math.nan, found.dtype), found)

    return made


def reduced_simply(name, x, axes):
    """The reduction by an op of what is there; None where zyx has none."""
    if not axes:
        return x
    if isinstance(x, Complex):
        return x.map(lambda part: _zyx._sum(part, axes, False)) if name == "stablehlo.add" else None
    if x.dtype is bool_:
        core = {"stablehlo.add": _zyx._any, "stablehlo.or": _zyx._any, "stablehlo.maximum": _zyx._any,
                "stablehlo.multiply": _zyx._all, "stablehlo.and": _zyx._all, "stablehlo.minimum": _zyx._all}.get(name)
        return core(x, axes, False) if core else None
    if name == "stablehlo.add":
        return cast(_zyx._sum(wide(x), axes, False), x.dtype)
    if name == "stablehlo.multiply":
        return cast(_zyx._prod(wide(x), axes, False), x.dtype)
    if name == "stablehlo.maximum":
        return _nan_aside(_zyx._max)(x, axes)
    if name == "stablehlo.minimum":
        return _nan_aside(_zyx._min)(x, axes)
    return None


def folded(arrays, axis, function):
    """All elements along an axis joined in order: each step joins neighbours."""
    while arrays[0].shape[axis] > 1:
        extent = arrays[0].shape[axis]
        even = extent - extent % 2

        def half(x, first):
            key = [slice(None)] * x.ndim
            key[axis] = slice(first, even, 2)
            return mapped(x, lambda part: part[tuple(key)])

        made = function([half(x, 0) for x in arrays], [half(x, 1) for x in arrays])
        if extent % 2:
            last = [mapped(x, lambda part: cut(part, axis, extent - 1, extent)) for x in arrays]
            made = [joined([a, b], axis) for a, b in zip(made, last)]
        arrays = made
    return arrays


def joined(parts, axis):
    if isinstance(parts[0], Complex):
        return Complex(_zyx._concat([part.real for part in parts], axis), _zyx._concat([part.imag for part in parts], axis))
    return _zyx._concat(parts, axis)


def block_function(node, block, inputs):
    """A block as a function of two lists of arrays."""

    def function(a, b):
        made = [array_of(each) for each in node.elements(block, list(a) + list(b))]
        return [fitted(each, like) for each, like in zip(made, a)]

    return function


def fitted(x, like):
    """With the shape and the dtype of an array, where a block makes a constant of it."""
    return mapped(x, lambda part: expand(cast(part, like.dtype), like.shape))


def reduced(node, block, arrays, starts, axes):
    """The arrays without these axes, reduced by a block. `starts` may be known."""
    if not axes:
        return list(arrays)
    name, shape = simple(block), [extent for axis, extent in enumerate(arrays[0].shape) if axis not in axes]
    if 0 in [arrays[0].shape[axis] for axis in axes] or 0 in shape:
        return [mapped(array_of(start), lambda part: expand(reshape(part, (1,) * len(shape)), shape)) for start in starts]
    if name is not None:
        found = reduced_simply(name, arrays[0], axes)
        if found is not None:
            number = number_of(starts[0])
            if number is not None and number == neutral(name, arrays[0]):
                return [found]
            return block_function(node, block, arrays)(
                [found], [mapped(array_of(starts[0]), lambda part: expand(reshape(part, (1,) * len(shape)), shape))])
    rest = [axis for axis in range(arrays[0].ndim) if axis not in axes]
    count = math.prod(arrays[0].shape[axis] for axis in axes)
    lined = [mapped(x, lambda part: reshape(permute(part, rest + list(axes)), shape + [count])) for x in arrays]
    best = _best(block, lined, starts)
    if best is not None:
        return best
    function = block_function(node, block, arrays)
    made = [mapped(x, lambda part: reshape(part, shape)) for x in folded(lined, len(shape), function)]
    begin = [mapped(array_of(start), lambda part: expand(reshape(part, (1,) * len(shape)), shape)) for start in starts]
    return function(begin, made)


def _best(block, lined, starts):
    """JAX's argmax and argmin: values with their positions, of which the first of equal ones and the first NaN wins."""
    if len(lined) != 2 or isinstance(lined[0], Complex):
        return None
    names = [each.name for each in operations_of(block)]
    expected = ["stablehlo.compare", "stablehlo.compare", "stablehlo.or", "stablehlo.compare", "stablehlo.compare",
                "stablehlo.and", "stablehlo.or", "stablehlo.select", "stablehlo.select", "stablehlo.return"]
    if names != expected:
        return None
    operations = operations_of(block)
    own, at, other, its = block.arguments[0], block.arguments[1], block.arguments[2], block.arguments[3]
    directions = [_direction(operations[each]) for each in (0, 1, 3, 4)]
    sides = [tuple(operations[each].operands) for each in (0, 1, 3, 4)]
    if directions[0] not in ("GT", "LT") or directions[1:] != ["NE", "EQ", "LT"] or sides != [
            (own, other), (own, own), (own, other), (at, its)]:
        return None
    r = [each.results[0] for each in operations[:-1]]
    wiring = [tuple(operations[each].operands) for each in (2, 5, 6, 7, 8, 9)]
    if wiring != [(r[0], r[1]), (r[2 + 1], r[4]), (r[2], r[5]), (r[2], own, other), (r[6], at, its), (r[7], r[8])]:
        return None
    x, positions = lined
    worst = -math.inf if directions[0] == "GT" else math.inf
    if not x.dtype.is_float:
        if x.dtype is bool_:
            return None
        worst = iinfo(x.dtype).min if directions[0] == "GT" else iinfo(x.dtype).max
    start, first = number_of(starts[0]), number_of(starts[1])
    if start is None or first is None or float(start) != float(worst) or int(first) != 0:
        return None
    axis = x.ndim - 1
    found = (_zyx._argmax if directions[0] == "GT" else _zyx._argmin)(x, axis, True)
    if x.dtype.is_float:
        bad = F.isnan(x)
        found = where(_zyx._any(bad, [axis], True), _zyx._argmax(cast(bad, uint8), axis, True), found)
    values = reshape(_zyx._take_along_axis(x, cast(found, int64), axis), x.shape[:-1])
    places = reshape(_zyx._take_along_axis(positions, cast(found, int64), axis), x.shape[:-1])
    # Of the worst element the position of the start wins, as it is the lowest.
    places = where(values == full((), worst, x.dtype), full((), 0, positions.dtype), places)
    return [values, places]


def _direction(operation):
    return str(operation.attributes["comparison_direction"]).split()[-1].rstrip(">")


@op("stablehlo.reduce", known=True)
def reduce(node, *arguments):
    count = len(arguments) // 2
    arrays = [array_of(each) for each in arguments[:count]]
    return reduced(node, node.block(), arrays, arguments[count:], sorted(node.ints("dimensions")))


# Windows


def _scan(name, x, axis, back):
    """A reduction of all elements up to each one, by ops that zyx scans with."""
    if isinstance(x, Complex) and name == "stablehlo.add":
        return x.map(lambda part: _zyx._cumsum(part, axis, reverse=back))
    if isinstance(x, Complex) or x.dtype is bool_:
        return None
    if name == "stablehlo.add":
        return cast(_zyx._cumsum(wide(x), axis, reverse=back), x.dtype)
    if name == "stablehlo.multiply":
        return cast(_zyx._cumprod(wide(x), axis, reverse=back), x.dtype)
    return None


@op("stablehlo.reduce_window", known=True)
def reduce_window(node, *arguments):
    count = len(arguments) // 2
    arrays, starts = [array_of(each) for each in arguments[:count]], arguments[count:]
    rank = arrays[0].ndim
    ones, block = [1] * rank, node.block()
    sizes = node.ints("window_dimensions")
    stride, base = node.ints("window_strides") or ones, node.ints("base_dilations") or ones
    dilation, padding = node.ints("window_dilations") or ones, node.ints("padding") or [[0, 0]] * rank
    result = node.shape
    if math.prod(result) == 0:
        return [mapped(array_of(start), lambda part: full(result, 0, part.dtype)) for start in starts]
    axes = [axis for axis in range(rank) if sizes[axis] != 1]
    plain = all(each == 1 for each in (*stride, *base, *dilation))
    if plain and len(axes) == 1 and count == 1:
        # Windows that reach from each element to the first, or to the last one.
        axis = axes[0]
        extent = arrays[0].shape[axis]
        others = all(tuple(each) == (0, 0) for at, each in enumerate(padding) if at != axis)
        number = number_of(starts[0])
        for back, expected in ((False, (extent - 1, 0)), (True, (0, extent - 1))):
            if others and sizes[axis] == extent and tuple(padding[axis]) == expected:
                name = simple(block)
                found = _scan(name, arrays[0], axis, back) if name and number is not None and number == neutral(
                    name, arrays[0]) else None
                if found is not None:
                    return [found]
    low, high = [each[0] for each in padding], [each[1] for each in padding]
    arrays = [pad_with(x, start, low, high, [each - 1 for each in base]) for x, start in zip(arrays, starts)]
    function = block_function(node, block, arrays)
    # Windows along one axis after the other: what a block joins may be joined in any order.
    for axis in range(rank):
        if sizes[axis] > 1 or stride[axis] > 1:
            arrays = _windowed(node, block, arrays, starts, axis, sizes[axis], stride[axis], dilation[axis], function)
    begin = [mapped(array_of(start), lambda part: expand(reshape(part, (1,) * rank), result)) for start in starts]
    if count == 1 and simple(block) and number_of(starts[0]) is not None and number_of(starts[0]) == neutral(
            simple(block), arrays[0]):
        return arrays
    return function(begin, arrays)


def _windowed(node, block, arrays, starts, axis, size, stride, dilation, function):
    extent = arrays[0].shape[axis]
    places = (extent - (dilation * (size - 1) + 1)) // stride + 1
    name = simple(block)
    if len(arrays) == 1 and name is not None and size <= 64:
        x = arrays[0]

        def windows(part):
            last = F.moveaxis(part, axis, -1)
            is_bool = last.dtype is bool_
            found = _zyx._sliding_windows(cast(last, uint8) if is_bool else last, [size], [stride], [dilation])
            return cast(found, bool_) if is_bool else found

        if not isinstance(x, Complex):
            lined = windows(x)
            found = reduced_simply(name, lined, [lined.ndim - 1])
            if found is not None:
                return [F.moveaxis(found, -1, axis)]

    def piece(x, first, count, step):
        key = [slice(None)] * x.ndim
        key[axis] = slice(first, first + (count - 1) * step + 1, step)
        return mapped(x, lambda part: part[tuple(key)])

    # By doubling: windows of 2^k elements, of which each window is a few.
    spans, span, width = arrays, 1, extent
    made, offset, left = None, 0, size
    while left:
        if left & 1:
            here = [piece(x, offset * dilation, places, stride) for x in spans]
            made = here if made is None else function(made, here)
            offset += span
        left >>= 1
        if left:
            width -= span * dilation
            spans = function([piece(x, 0, width, 1) for x in spans], [piece(x, span * dilation, width, 1) for x in spans])
            span *= 2
    return made


@op("stablehlo.select_and_scatter", known=True)
def select_and_scatter(node, x, source, start):
    """Each window chooses an element, which takes the sum of what the windows that chose it have."""
    x, source = array_of(x), array_of(source)
    rank = x.ndim
    sizes = node.ints("window_dimensions") or [1] * rank
    stride, padding = node.ints("window_strides") or [1] * rank, node.ints("padding") or [[0, 0]] * rank
    if source.size == 0 or isinstance(x, Complex):
        if isinstance(x, Complex):
            node.refuse("of complex elements")
        return expand(reshape(array_of(start), (1,) * rank), x.shape)
    name = simple(node.block(1))
    mode = {"stablehlo.add": "add", "stablehlo.maximum": "max", "stablehlo.minimum": "min", "stablehlo.multiply": "mul"}.get(name)
    if mode is None or x.dtype is bool_:
        node.refuse("a scatter that is none of add, multiply, minimum and maximum")
    low, high = [each[0] for each in padding], [each[1] for each in padding]
    # Positions, and -1 of what stands around the array.
    own = reshape(_zyx._arange(1, x.size + 1, 1, int64), x.shape)
    own, x_padded = padded(own, low, high) - 1, padded(x, low, high)
    lined = _zyx._sliding_windows(x_padded, sizes, stride, [1] * rank)
    places = _zyx._sliding_windows(own, sizes, stride, [1] * rank)
    count = math.prod(sizes)
    lined = reshape(lined, lined.shape[:rank] + (count,))
    places = reshape(places, places.shape[:rank] + (count,))
    block = node.block(0)

    def better(a, b):
        keeps = array_of(node.elements(block, [a[0], b[0]])[0])
        keeps = (keeps | (b[1] < 0)) & (a[1] >= 0)
        return [where(keeps, a[0], b[0]), where(keeps, a[1], b[1])]

    _, chosen = folded([lined, places], rank, better)
    chosen = reshape(chosen, (chosen.size,))
    chosen = where(chosen < 0, full((), x.size, int64), chosen)
    dtype = x.dtype
    base = expand(reshape(wide(cast(array_of(start), dtype)), (1,)), (x.size,))
    made = _zyx._scatter(base, chosen, wide(reshape(source, (source.size,))), 0, mode)
    return reshape(cast(made, dtype), x.shape)


# Orders


def _keys(block, count):
    """What JAX's comparator looks at: pairs of a function of an element, as operations, and whether the order is descending;
    None for another comparator."""
    operations = operations_of(block)
    made = {each.results[0]: each for each in operations[:-1]}
    arguments = list(block.arguments)

    def chain(value, side):
        """The argument that a value is a function of, and the function's text."""
        if value in arguments:
            at = arguments.index(value)
            return (at // 2, ("argument",)) if at % 2 == side else None
        operation = made.get(value)
        if operation is None or operation.regions:
            return None
        if operation.name == "stablehlo.constant":
            return None, ("constant", str(operation.attributes["value"]))
        parts, sources = [], set()
        for operand in operation.operands:
            found = chain(operand, side)
            if found is None:
                return None
            if found[0] is not None:
                sources.add(found[0])
            parts.append(found[1])
        if len(sources) > 1:
            return None
        attributes = tuple(sorted((each, str(operation.attributes[each])) for each in operation.attributes))
        return (next(iter(sources)) if sources else None), (operation.name, attributes, tuple(parts))

    def keys(value):
        operation = made.get(value)
        if operation is None:
            return None
        if operation.name == "stablehlo.compare":
            a, b = operation.operands
            left, right = chain(a, 0), chain(b, 1)
            direction = _direction(operation)
            if left is None or left != right or left[0] is None or direction not in ("LT", "GT"):
                return None
            return [(left[0], a, direction == "GT", _kind(operation))]
        if operation.name == "stablehlo.select":
            # select(equal, the other keys, less)
            equal, rest, less = operation.operands
        elif operation.name == "stablehlo.or":
            less, both = operation.operands
            both = made.get(both)
            if both is None or both.name != "stablehlo.and":
                return None
            equal, rest = both.operands
        else:
            return None
        first, others, same = keys(less), keys(rest), made.get(equal)
        if first is None or others is None or len(first) != 1 or same is None or same.name != "stablehlo.compare":
            return None
        if _direction(same) != "EQ":
            return None
        mine, its = chain(same.operands[0], 0), chain(same.operands[1], 1)
        if mine is None or mine != its or chain(first[0][1], 0) != mine:
            return None
        return first + others

    return keys(operations[-1].operands[0])


def _kind(operation):
    text = str(operation.attributes["compare_type"]) if "compare_type" in operation.attributes else ""
    return "TOTALORDER" if "TOTALORDER" in text else "FLOAT" if "FLOAT" in text else ""


@op("stablehlo.sort")
def sort(node, *arrays):
    axis, block = node.integer("dimension"), node.block()
    axis = axis % max(arrays[0].ndim, 1)
    if arrays[0].ndim == 0 or arrays[0].size == 0 or arrays[0].shape[axis] == 1:
        return list(arrays)
    found = _keys(block, len(arrays))
    if found is None or any(isinstance(arrays[each[0]], Complex) for each in found):
        return _network(node, block, arrays, axis)
    order = None
    # From the last key to the first one, each order stable.
    for at, value, descending, kind in reversed(found):
        key = _value_of(node, block, value, at, arrays[at])
        if key.dtype is bool_:
            key = cast(key, uint8)
        if key.dtype.is_float:
            if kind != "TOTALORDER":
                # NaN is neither less nor greater: such an order is none that a key has.
                return _network(node, block, arrays, axis)
            key = _elementwise.total_order(key)
        if order is not None:
            key = _zyx._take_along_axis(key, order, axis)
        mine = cast(_zyx._argsort(key, axis, descending), int64)
        order = mine if order is None else _zyx._take_along_axis(order, mine, axis)

    def taken(x):
        if x.dtype is bool_:
            return cast(_zyx._take_along_axis(cast(x, uint8), order, axis), bool_)
        return _zyx._take_along_axis(x, order, axis)

    return [mapped(x, taken) for x in arrays]


def _value_of(node, block, value, at, array):
    """A value of a comparator as a function of its argument, for a whole array."""
    trace = node.trace
    from ._lower import Node, Scope
    scope = Scope(node.scope)
    scope.values[block.arguments[2 * at]] = array
    for operation in operations_of(block):
        if value in scope.values:
            break
        if operation.results and all(_has(scope, each) for each in operation.operands):
            inner = Node(trace, operation, scope)
            for result, made in zip(operation.results, trace.step(inner, True)):
                scope.values[result] = made
    found = array_of(scope.values[value])
    return expand(found, array.shape)


def _has(scope, value):
    try:
        scope[value]
        return True
    except KeyError:
        return False


def _network(node, block, arrays, axis):
    """Batcher's network of exchanges, for any order; positions make it stable."""
    shape, extent = arrays[0].shape, arrays[0].shape[axis]
    if extent > 4096:
        node.refuse(f"a comparator of another kind than JAX's, for {extent} elements; there are up to 4096")
    whole = 1 << (extent - 1).bit_length()
    lined = [mapped(x, lambda part: F.moveaxis(part, axis, -1)) for x in arrays]
    places = expand(iota((extent,), 0), lined[0].shape)
    lined = lined + [places]
    if whole != extent:
        # What fills the rest stands behind all others: its positions say so.
        more = [(0,) * (x.ndim - 1) + (whole - extent,) for x in lined]
        lined = [mapped(x, lambda part: padded(part, [0] * part.ndim, list(high))) for x, high in zip(lined, more)]
        fill = expand(_zyx._arange(0, whole, 1, int64), lined[0].shape)
        lined[-1] = fill
    lead = tuple(lined[0].shape[:-1])
    size = 2
    while size <= whole:
        step = size // 2
        while step:
            lined = _exchanged(node, block, lined, lead, whole, size, step, extent)
            step //= 2
        size *= 2
    made = [mapped(x, lambda part: F.moveaxis(part[..., :extent], -1, axis)) for x in lined[:-1]]
    return made


def _exchanged(node, block, lined, lead, whole, size, step, extent):
    def halves(x):
        y = reshape(x, lead + (whole // (2 * step), 2, step))
        return y[..., 0, :], y[..., 1, :]

    pairs = []
    for x in lined:
        if isinstance(x, Complex):
            (a, b), (c, d) = halves(x.real), halves(x.imag)
            pairs.append((Complex(a, c), Complex(b, d)))
        else:
            pairs.append(halves(x))
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def less(x, y):
        found = array_of(node.elements(block, [each for pair in zip(x[:-1], y[:-1]) for each in pair])[0])
        return expand(found, x[-1].shape)

    forward, backward = less(a, b), less(b, a)
    inside_a, inside_b = a[-1] < extent, b[-1] < extent
    before = where(inside_a & inside_b, forward | (F.logical_not(backward) & (a[-1] < b[-1])), a[-1] < b[-1])
    # Runs of the bitonic network change their direction.
    up = (np.arange(whole // (2 * step)) * 2 * step & size) == 0
    direction = _zyx._from_bytes(up.astype(np.uint8).tobytes(), uint8, up.shape)
    direction = reshape(direction, (1,) * len(lead) + (len(up), 1)) != 0
    keeps = F.logical_not(F.logical_xor(before, expand(direction, before.shape)))
    choose = lambda x, y: (C.joined if isinstance(x, Complex) else where)(keeps, x, y)  # noqa: E731
    made = []
    for x, y in zip(a, b):
        first, second = choose(x, y), choose(y, x)
        if isinstance(first, Complex):
            made.append(Complex(*[reshape(_zyx._stack([p, q], len(lead) + 1), lead + (whole,))
                                  for p, q in ((first.real, second.real), (first.imag, second.imag))]))
        else:
            made.append(reshape(_zyx._stack([first, second], len(lead) + 1), lead + (whole,)))
    return made


def approximate_top_k(node, x, positions, *initial):
    """lax.approx_max_k and approx_min_k: TPUs leave elements out, and here, as in XLA for other devices, none is."""
    options = node.op.attributes["mhlo.backend_config"]
    axis, comparator = options["reduction_dim"].value, node.called("called_computations")
    found = _keys(comparator, 2)
    if found is None or len(found) != 1 or found[0][1] != comparator.arguments[0] or not x.dtype.is_float:
        node.refuse("of 'ApproxTopK' with a comparator of its own")
    count = node.shape[axis]
    if x.size == 0 or count == 0:
        return [full(type.shape, 0, type.dtype) for type in node.types]
    order = cut(cast(_zyx._argsort(_elementwise.total_order(x), axis, found[0][2]), int64), axis, 0, count)
    return [_zyx._take_along_axis(each, order, axis) for each in (x, positions)]


@op("chlo.top_k")
def top_k(node, x):
    count, axis = node.integer("k"), x.ndim - 1
    if x.size == 0 or count == 0:
        return [full(node.types[0].shape, 0, x.dtype), full(node.types[1].shape, 0, node.types[1].dtype)]
    key = x
    if x.dtype is bool_:
        key = cast(x, uint8)
    if x.dtype.is_float:
        key = _elementwise.total_order(x)
    order = cut(cast(_zyx._argsort(key, axis, True), int64), axis, 0, count)
    values = _zyx._take_along_axis(cast(x, uint8) if x.dtype is bool_ else x, order, axis)
    return [cast(values, x.dtype), cast(order, node.types[1].dtype)]
