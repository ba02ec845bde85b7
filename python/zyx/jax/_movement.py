# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that move elements, and those that read and write at positions that are data."""
import math


from .. import _functions as F
from .. import _zyx
from .._complex import Complex
from .._lowering import cast, cut, expand, full, int64, iota, permute, reshape, where
from .._transforms import loop
from ._lower import array_of, number_of, op

bool_, uint8 = _zyx.bool, _zyx.uint8


def each_part(function):
    """What moves elements moves both parts of complex ones."""

    def made(node, *arguments):
        if not any(isinstance(x, Complex) for x in arguments):
            return function(node, *arguments)
        return Complex(function(node, *[x.real if isinstance(x, Complex) else x for x in arguments]),
                       function(node, *[x.imag if isinstance(x, Complex) else x for x in arguments]))

    return made


@op("stablehlo.iota")
def iota_of(node):
    type, axis = node.types[0], node.integer("iota_dimension")
    if type.is_complex:
        node.refuse("of complex elements")
    return cast(expand(iota(type.shape, axis), type.shape), type.dtype)


@op("stablehlo.reshape")
@each_part
def reshape_of(node, x):
    return reshape(x, node.shape)


@op("stablehlo.transpose")
@each_part
def transpose(node, x):
    return permute(x, node.ints("permutation"))


@op("stablehlo.broadcast_in_dim")
@each_part
def broadcast_in_dim(node, x):
    return broadcast(x, node.ints("broadcast_dimensions"), node.shape)


def broadcast(x, axes, shape):
    order = sorted(range(x.ndim), key=lambda at: axes[at])
    x = permute(x, order)
    own = [1] * len(shape)
    for at, axis in enumerate(sorted(axes)):
        own[axis] = x.shape[at]
    return expand(reshape(x, own), shape)


@op("stablehlo.slice")
@each_part
def slice_of(node, x):
    key = tuple(slice(a, b, c) for a, b, c in zip(node.ints("start_indices"), node.ints("limit_indices"), node.ints("strides")))
    return x[key] if key else x


@op("stablehlo.reverse")
@each_part
def reverse(node, x):
    axes = node.ints("dimensions")
    return _zyx._flip(x, axes) if axes else x


@op("stablehlo.concatenate")
@each_part
def concatenate(node, *arrays):
    return _zyx._concat(list(arrays), node.integer("dimension")) if len(arrays) > 1 else arrays[0]


def spread(x, amounts):
    """With so many places between the elements of each axis, which hold 0."""
    for axis, amount in enumerate(amounts):
        if amount and x.shape[axis] > 1:
            extent = x.shape[axis]
            y = _zyx._unsqueeze(x, axis + 1)
            high = [0] * y.ndim
            high[axis + 1] = amount
            y = padded(y, [0] * y.ndim, high)
            x = reshape(y, x.shape[:axis] + (extent * (amount + 1),) + x.shape[axis + 1:])
            x = cut(x, axis, 0, extent * (amount + 1) - amount)
    return x


def padded(x, low, high):
    """With zeros around; negative amounts cut."""
    for axis, (a, b) in enumerate(zip(low, high)):
        if a < 0 or b < 0:
            first = max(-a, 0)
            last = x.shape[axis] - max(-b, 0)
            if first >= last:
                # What is cut leaves nothing of the array.
                extent = x.shape[axis] + a + b
                shape = list(x.shape)
                shape[axis] = max(extent, 0)
                x = full(shape, 0, x.dtype)
                low, high = list(low), list(high)
                low[axis] = high[axis] = 0
                continue
            x = cut(x, axis, first, last)
    low, high = [max(a, 0) for a in low], [max(a, 0) for a in high]
    if not any(low) and not any(high):
        return x
    if x.size == 0:
        return full([a + extent + b for a, extent, b in zip(low, x.shape, high)], 0, x.dtype)
    if x.dtype is bool_:
        return cast(_zyx._pad(cast(x, uint8), low, high, 0.0), bool_)
    return _zyx._pad(x, low, high, 0.0)


def pad_with(x, value, low, high, interior):
    """With a value, an array without dimensions, or a known one."""
    if isinstance(x, Complex):
        value = array_of(value)
        return Complex(pad_with(x.real, value.real, low, high, interior), pad_with(x.imag, value.imag, low, high, interior))
    number = number_of(value)
    made = padded(spread(x, interior), low, high)
    if number is not None and number == 0 and not math.copysign(1, float(number)) < 0:
        return made
    if not any(low) and not any(high) and not any(interior):
        return made
    inside = padded(spread(full(x.shape, True, bool_), interior), low, high)
    return where(inside, made, expand(reshape(array_of(value), (1,) * made.ndim), made.shape))


@op("stablehlo.pad", known=True)
def pad(node, x, value):
    return pad_with(array_of(x), value, node.ints("edge_padding_low"), node.ints("edge_padding_high"),
                    node.ints("interior_padding"))


# Windows that begin where data says


def _begin(start, extent, size):
    """A start that leaves the window inside: a number where it is known."""
    number = number_of(start)
    if number is not None:
        return min(max(int(number), 0), extent - size)
    start = array_of(start)
    return _zyx.minimum(_zyx.maximum(wide_index(start), 0), extent - size)


def wide_index(x):
    """As int64, where numbers of 64 bits without a sign that are larger are its largest."""
    if x.dtype is _zyx.uint64:
        x = where(x > 2**62, full((), 2**62, x.dtype), x)
    return cast(x, int64)


@op("stablehlo.dynamic_slice", known=True)
def dynamic_slice(node, x, *starts):
    x = array_of(x)

    def made(x):
        for axis, (start, size) in enumerate(zip(starts, node.ints("slice_sizes"))):
            if size == x.shape[axis]:
                continue
            begin = _begin(start, x.shape[axis], size)
            if isinstance(begin, int):
                x = cut(x, axis, begin, begin + size)
            else:
                places = _zyx._arange(0, size, 1, int64) + reshape(begin, (1,)) if size else full((0,), 0, int64)
                x = _zyx._take(x, places, axis)
        return x

    return x.map(made) if isinstance(x, Complex) else made(x)


@op("stablehlo.dynamic_update_slice", known=True)
def dynamic_update_slice(node, x, update, *starts):
    x, update = array_of(x), array_of(update)
    if isinstance(x, Complex):
        return Complex(*[_updated(a, b, starts) for a, b in ((x.real, update.real), (x.imag, update.imag))])
    return _updated(x, update, starts)


def _updated(x, update, starts):
    if update.size == 0:
        return x
    axes = [axis for axis in range(x.ndim) if update.shape[axis] != x.shape[axis]]
    if not axes:
        return update
    begins = {axis: _begin(starts[axis], x.shape[axis], update.shape[axis]) for axis in axes}
    if len(axes) == 1:
        axis = axes[0]
        places = _zyx._arange(0, update.shape[axis], 1, int64) + (
            begins[axis] if isinstance(begins[axis], int) else reshape(begins[axis], (1,)))
        return scattered(x, places, update, axis, "set")
    inside = None
    for axis in axes:
        begin = begins[axis]
        at = iota(x.shape, axis) - (begin if isinstance(begin, int) else begin)
        here = (at >= 0) & (at < update.shape[axis])
        inside = here if inside is None else inside & here
        near = _zyx.minimum(_zyx.maximum(reshape(at, (x.shape[axis],)), 0), update.shape[axis] - 1)
        update = _zyx._take(update, near, axis)
    return where(expand(inside, x.shape), update, x)


def scattered(x, places, update, axis, mode):
    if x.dtype is bool_:
        mode = {"add": "max", "mul": "min"}.get(mode, mode)
        return cast(_zyx._scatter(cast(x, uint8), places, cast(update, uint8), axis, mode), bool_)
    return _zyx._scatter(x, places, update, axis, mode)


# Gather and scatter


class Numbers:
    """The dimension numbers of a gather, or of a scatter, which has the same by other names."""

    def __init__(self, node):
        from jaxlib.mlir.dialects import stablehlo
        if node.name == "stablehlo.scatter":
            found = stablehlo.ScatterDimensionNumbers(node.op.attributes["scatter_dimension_numbers"])
            self.offsets, self.collapsed = list(found.update_window_dims), list(found.inserted_window_dims)
            self.batching, self.of_batches = list(found.input_batching_dims), list(found.scatter_indices_batching_dims)
            self.axes = list(found.scattered_dims_to_operand_dims)
        else:
            found = stablehlo.GatherDimensionNumbers(node.op.attributes["dimension_numbers"])
            self.offsets, self.collapsed = list(found.offset_dims), list(found.collapsed_slice_dims)
            self.batching, self.of_batches = list(found.operand_batching_dims), list(found.start_indices_batching_dims)
            self.axes = list(found.start_index_map)
        self.vector = found.index_vector_dim


def _starts(numbers, indices, shape):
    """For each axis of the operand, where windows begin: arrays of the shape of the choices."""
    vector = numbers.vector
    if vector == indices.ndim:
        indices = reshape(indices, indices.shape + (1,))
    indices = wide_index(F.moveaxis(indices, vector, -1)) if vector != indices.ndim - 1 else wide_index(indices)
    choices = indices.shape[:-1]
    starts = {axis: reshape(cut(indices, indices.ndim - 1, at, at + 1), choices) for at, axis in enumerate(numbers.axes)}
    for axis, of_indices in zip(numbers.batching, numbers.of_batches):
        at = of_indices - (of_indices > vector)
        starts[axis] = expand(iota(choices, at), choices)
    return starts, choices


def _places(numbers, starts, choices, shape, sizes, chosen):
    """Positions in the chosen axes together, of the shape of the choices and of the windows in those axes."""
    kept = [axis for axis in chosen if axis not in numbers.collapsed and axis not in numbers.batching]
    inner = [sizes[axis] for axis in kept]
    whole = tuple(choices) + tuple(inner)
    flat = None
    for axis in chosen:
        at = reshape(starts[axis], tuple(choices) + (1,) * len(inner)) if axis in starts else full((1,) * len(whole), 0, int64)
        if axis in kept:
            own = [1] * len(whole)
            own[len(choices) + kept.index(axis)] = sizes[axis]
            at = at + reshape(_zyx._arange(0, sizes[axis], 1, int64), own)
        flat = at if flat is None else flat * shape[axis] + at
    # With no such axis each choice has the array as a whole.
    return expand(full((1,) * len(whole), 0, int64) if flat is None else flat, whole), kept


@op("stablehlo.gather")
@each_part
def gather(node, x, indices):
    numbers, sizes, result = Numbers(node), node.ints("slice_sizes"), node.shape
    if math.prod(result) == 0:
        return full(result, 0, x.dtype)
    starts, choices = _starts(numbers, indices, x.shape)
    for axis in starts:
        if axis not in numbers.batching:
            starts[axis] = _zyx.minimum(_zyx.maximum(starts[axis], 0), x.shape[axis] - sizes[axis])
    # Whole axes stay as they are, and the others are one together.
    chosen = [axis for axis in range(x.ndim) if axis in numbers.batching or sizes[axis] != x.shape[axis]
              or axis in numbers.collapsed]
    rest = [axis for axis in range(x.ndim) if axis not in chosen]
    if not chosen:
        found, kept = expand(reshape(x, (1,) * len(choices) + x.shape), tuple(choices) + x.shape), []
    else:
        flat, kept = _places(numbers, starts, choices, x.shape, sizes, chosen)
        rows = reshape(permute(x, chosen + rest), (math.prod(x.shape[axis] for axis in chosen),
                                                   *[x.shape[axis] for axis in rest]))
        found = reshape(_zyx._take(rows, reshape(flat, (flat.size,)), 0), flat.shape + rows.shape[1:])
    # Now: choices, kept, rest. The result has the window's axes where offset_dims are.
    window = [axis for axis in range(x.ndim) if axis not in numbers.collapsed and axis not in numbers.batching]
    place = {axis: len(choices) + at for at, axis in enumerate(kept + rest)}
    order, batch = [None] * len(result), iter(range(len(choices)))
    for at, axis in zip(numbers.offsets, window):
        order[at] = place[axis]
    order = [next(batch) if each is None else each for each in order]
    return permute(found, order)


MODES = {"stablehlo.add": "add", "stablehlo.multiply": "mul", "stablehlo.maximum": "max", "stablehlo.minimum": "min",
         "stablehlo.or": "max", "stablehlo.and": "min"}


def _mode(node, block, count):
    """How each operand takes its updates, where the block is one of those that zyx has: a list of modes, or None."""
    operations = [each.operation for each in block.operations]
    last, made = operations[-1], {each.results[0]: each for each in operations[:-1] if len(each.results) == 1}
    own, new = list(block.arguments)[:count], list(block.arguments)[count:]
    modes = []
    for at, value in enumerate(last.operands):
        if value == new[at]:
            modes.append("set")
            continue
        found = made.get(value)
        if found is None or len(found.operands) != 2:
            return None
        a, b = found.operands
        is_bool = str(ir_element(value)) == "i1"
        mode = MODES.get(found.name)
        if found.name in ("stablehlo.or", "stablehlo.and") and not is_bool:
            return None
        if found.name == "stablehlo.subtract" and a == own[at] and b == new[at] and not is_bool:
            modes.append("subtract")
        elif mode and {a == own[at] and b == new[at], a == new[at] and b == own[at]} & {True}:
            modes.append(mode)
        else:
            return None
    return modes


def ir_element(value):
    return value.type.element_type


@op("stablehlo.scatter")
def scatter(node, *arguments):
    count = (len(arguments) - 1) // 2
    arrays, indices, updates = arguments[:count], arguments[count], arguments[count + 1:]
    modes = _mode(node, node.block(), count)
    numbers = Numbers(node)
    shape, of_updates = arrays[0].shape, updates[0].shape
    if updates[0].size == 0 or arrays[0].size == 0:
        return list(arrays)
    starts, choices = _starts(numbers, indices, shape)
    window = [axis for axis in range(len(shape)) if axis not in numbers.collapsed and axis not in numbers.batching]
    sizes = [1] * len(shape)
    for at, axis in zip(numbers.offsets, window):
        sizes[axis] = of_updates[at]
    # A window that is not inside as a whole writes nothing.
    inside = None
    for axis in numbers.axes:
        here = (starts[axis] >= 0) & (starts[axis] <= shape[axis] - sizes[axis])
        inside = here if inside is None else inside & here
    chosen = [axis for axis in range(len(shape)) if axis in numbers.batching or sizes[axis] != shape[axis]
              or axis in numbers.collapsed]
    if not chosen and numbers.axes:
        chosen = [numbers.axes[0]]
    rest = [axis for axis in range(len(shape)) if axis not in chosen]
    rows = math.prod(shape[axis] for axis in chosen)
    flat, kept = _places(numbers, starts, choices, shape, sizes, chosen)
    if inside is not None:
        flat = where(expand(reshape(inside, tuple(choices) + (1,) * len(kept)), flat.shape), flat, full((), rows, int64))
    flat = reshape(flat, (flat.size,))
    # Of the updates: choices, kept, rest.
    places = dict(zip(window, numbers.offsets))
    batch = [at for at in range(len(of_updates)) if at not in numbers.offsets]
    order = batch + [places[axis] for axis in kept] + [places[axis] for axis in rest]
    back = [0] * len(shape)
    for at, axis in enumerate(chosen + rest):
        back[axis] = at

    def arranged(x):
        return reshape(permute(x, chosen + rest), (rows, *[shape[axis] for axis in rest]))

    def restored(x):
        return permute(reshape(x, [shape[axis] for axis in chosen + rest]), back)

    def of_update(update):
        return reshape(permute(update, order), (flat.size, *[shape[axis] for axis in rest]))

    if modes is None:
        if any(isinstance(x, Complex) for x in arrays):
            node.refuse("another function than a sum of complex elements")
        if not _unique(node):
            return _one_by_one(node, [arranged(x) for x in arrays], flat, [of_update(update) for update in updates], restored)
        own = [_zyx._take(arranged(x), flat, 0) for x in arrays]
        new = [of_update(update) for update in updates]
        made = node.elements(node.block(), own + new)
        return [restored(scattered(arranged(x), flat, expand(cast(array_of(each), x.dtype), value.shape), 0, "set"))
                for x, each, value in zip(arrays, made, new)]
    results = []
    for x, update, mode in zip(arrays, updates, modes):
        if isinstance(x, Complex):
            if mode not in ("add", "set", "subtract"):
                node.refuse(f"a {mode} of complex elements")
            results.append(Complex(*[_scattered(a, of_update(b), arranged, restored, flat, mode)
                                     for a, b in ((x.real, update.real), (x.imag, update.imag))]))
        else:
            results.append(_scattered(x, of_update(update), arranged, restored, flat, mode))
    return results


def _one_by_one(node, arrays, flat, updates, restored):
    """Any block: of equal positions each takes what the one before it left."""
    inside = _zyx.minimum(flat, arrays[0].shape[0] - 1)

    def step(trip, arrays):
        at = _zyx._take(flat, reshape(trip, (1,)), 0)
        own = [_taken(x, _zyx._take(inside, reshape(trip, (1,)), 0)) for x in arrays]
        new = [_taken(update, reshape(trip, (1,))) for update in updates]
        made = node.elements(node.block(), own + new)
        return tuple(scattered(x, at, expand(cast(array_of(each), x.dtype), value.shape), 0, "set")
                     for x, each, value in zip(arrays, made, own))

    made = loop(flat.size, tuple(arrays), step)
    return [restored(x) for x in made]


def _taken(x, places):
    return cast(_zyx._take(cast(x, uint8), places, 0), bool_) if x.dtype is bool_ else _zyx._take(x, places, 0)


def _scattered(x, update, arranged, restored, flat, mode):
    if mode == "subtract":
        update, mode = full((), 0, update.dtype) - update, "add"
    return restored(scattered(arranged(x), flat, update, 0, mode))


def _unique(node):
    return bool(node.integer("unique_indices", False))


