# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs in the place of a graph: programs, one for each set of shapes and strides, over the memory of tensors."""
import functools
import operator
import threading

import torch

from .. import _zyx
from .._kept import Kept
from . import _control, _random
from ._complex import from_last, to_last
from ._lower import BITS, DTYPES, Refused, aten, conditions, device_of, expand, reason, walk, where_of
from ._places import Given, place_of


def layout_of(shape, stride):
    """How a tensor lies in memory: axes from the widest step to the smallest, and those along which it repeats.

    None where memory has gaps, so that only a copy is dense.
    """
    axes = [axis for axis in range(len(shape)) if shape[axis] != 1 and stride[axis] != 0]
    repeated = tuple(axis for axis in range(len(shape)) if shape[axis] != 1 and stride[axis] == 0)
    if 0 in shape:
        return tuple(range(len(shape))), ()
    axes.sort(key=lambda axis: -stride[axis])
    step = 1
    for axis in reversed(axes):
        if stride[axis] != step:
            return None
        step *= shape[axis]
    others = [axis for axis in range(len(shape)) if axis not in axes]
    return tuple(others + axes), repeated


class Input:
    """How a tensor becomes an argument of a program, and back in it."""

    def __init__(self, tensor, place):
        self.dtype, self.place = tensor.dtype, place
        # A weight keeps its memory between calls, so that its array is made once. What an optimizer writes is seen in it.
        self.is_weight = isinstance(tensor, torch.nn.Parameter) or hasattr(tensor, "_dynamo_static_input_type")
        self.kept = None, None
        tensor = torch.view_as_real(tensor) if self.dtype.is_complex else tensor
        self.shape = tuple(tensor.shape)
        found = layout_of(self.shape, tensor.stride())
        self.copies = found is None
        self.order, self.repeated = found or (tuple(range(len(self.shape))), ())
        self.is_plain = not self.copies and not self.repeated and self.order == tuple(range(len(self.shape)))
        # Other bytes of bools than 0 and 1 are looked for by the program, instead of by a copy.
        self.element = DTYPES[torch.uint8 if self.dtype is torch.bool else tensor.dtype]
        self.extents = [1 if axis in self.repeated else self.shape[axis] for axis in self.order]

    def keeps(self, tensor):
        """Whether the array is over memory that stays the tensor's."""
        return self.is_weight and not self.copies and not self.dtype.is_complex and self.place.shares(tensor)

    def array(self, tensor):
        """Over the tensor's memory."""
        begin, array = self.kept
        if begin is None or begin != tensor.data_ptr() or not self.keeps(tensor):
            memory = self.memory(tensor)
            array = self.place.take(memory, self.element, self.extents)
            if self.keeps(tensor):
                self.kept = tensor.data_ptr(), array
        return array

    def memory(self, tensor):
        """What has the elements in the order of the array: the tensor, or a copy."""
        if self.copies:
            tensor = tensor.detach().contiguous()
        return tensor if self.place.shares(tensor) else self.place.own(self._dense(tensor.detach()))

    def _dense(self, tensor):
        """A copy of it has no more than these elements."""
        if self.dtype.is_complex:
            tensor = torch.view_as_real(tensor)
        if not self.copies and not self.is_plain:
            for axis in self.repeated:
                tensor = tensor.narrow(axis, 0, 1)
            tensor = tensor.permute(self.order)
        if not tensor.is_contiguous():
            # Strides of extents of 1 are any number.
            tensor = tensor.as_strided(tensor.shape, _dense(tensor.shape))
        return tensor.view(torch.uint8) if self.dtype is torch.bool or self.dtype in BITS else tensor

    def restored(self, array):
        array = self._ordered(array)
        return from_last(array) if self.dtype.is_complex else array

    def _ordered(self, array):
        if self.dtype is torch.bool:
            array = array != 0
        if self.is_plain or self.copies:
            return array
        back = [0] * len(self.order)
        for at, axis in enumerate(self.order):
            back[axis] = at
        array = _zyx._permute(array, back) if back else array
        return expand(array, self.shape)


def _dense(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]


class Output:
    """How a result is laid out, so that it has the strides that the graph promises."""

    def __init__(self, meta):
        shape, stride = [int(each) if isinstance(each, int) else None for each in meta.shape], meta.stride()
        self.is_complex, self.device = meta.dtype.is_complex, meta.device
        self.dtype = meta.dtype if meta.dtype in BITS else None
        if self.is_complex:
            shape, stride = [*shape, 2], [*(2 * each for each in stride), 1]
        found = layout_of(shape, stride) if None not in shape and all(isinstance(each, int) for each in stride) else None
        self.order, self.repeated = found or (tuple(range(len(shape))), ())
        self.shape, self.is_plain = shape, self.order == tuple(range(len(shape))) and not self.repeated

    def arranged(self, array):
        array = to_last(array) if self.is_complex else array
        if self.is_plain:
            return array
        key = tuple(slice(0, 1) if axis in self.repeated else slice(None) for axis in range(array.ndim))
        return _zyx._permute(array[key], list(self.order))

    def tensor(self, made):
        made = self._ordered(made)
        made = made if self.dtype is None else made.view(self.dtype)
        return torch.view_as_complex(made) if self.is_complex else made

    def _ordered(self, made):
        if self.is_plain:
            return made
        back = [0] * len(self.order)
        for at, axis in enumerate(self.order):
            back[axis] = at
        made = made.permute(back)
        return made.expand(self.shape) if self.repeated else made


class Program:
    """A graph for one set of shapes and strides."""

    def __init__(self, graph, arguments, draws, place):
        self.place = place
        self.inputs = [Input(each, place) if isinstance(each, torch.Tensor) else each for each in arguments]
        outputs = next(node for node in graph.nodes if node.op == "output").args[0]
        self.leaves = torch.utils._pytree.tree_leaves(outputs, is_leaf=lambda each: each is None)
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        # What the graph returns as it is given stays a tensor of PyTorch's.
        self.passed, self.made, self.outputs = {}, [], []
        for at, leaf in enumerate(self.leaves):
            if isinstance(leaf, torch.fx.Node) and leaf.op == "placeholder":
                self.passed[at] = placeholders.index(leaf)
            elif isinstance(leaf, torch.fx.Node) and isinstance(leaf.meta["val"], torch.Tensor):
                self.made.append(at)
                self.outputs.append(Output(leaf.meta["val"]))
        self.others, self.required = {}, []

        def flat(arrays):
            rest = iter(arrays)
            given = [each.restored(next(rest)) if isinstance(each, Input) else each for each in self.inputs]
            with _random.seeded(_random.Seeds(next(rest)) if draws else None), conditions() as required:
                results = torch.utils._pytree.tree_leaves(walk(graph, given), is_leaf=lambda each: each is None)
            self.others = {at: result for at, result in enumerate(results)
                           if at not in self.passed and at not in self.made}
            self.required = [refused for _, refused in required]
            return [output.arranged(results[at]) for at, output in zip(self.made, self.outputs)] + [
                condition for condition, _ in required]

        self.function, self.draws = _zyx._Function(flat, []), draws

    def __call__(self, arguments, given, tensors, addresses, begins):
        """Of tensors whose memory is read there, among `given`: zyx's arguments. Arguments' memory begins at `begins`."""
        more = ()
        if self.draws:
            # From the generator of the host, so that torch.manual_seed() is obeyed.
            seeds = torch.randint(-2**63, 2**63 - 1, (self.draws,), dtype=torch.int64)
            more = [_zyx._bitcast(_zyx._from_buffer(seeds.numpy(), None, False), _zyx.uint64)]
        results = [None] * len(self.leaves)
        self.place.begin()
        try:
            found = self.place.run(self.function, given, tensors, addresses, more)
            for holds, refused in zip(found[len(self.made):], self.required):
                if not holds:
                    raise Refused(f"zyx.torch: {refused}, which this program has not")
            for at, output, array in zip(self.made, self.outputs, found):
                tensor = self.place.give(array)
                begin = tensor.data_ptr()
                if begin in begins and tensor.numel():
                    # Two results of one value, or an argument as it is: whoever writes one must not change the other.
                    tensor = tensor.clone()
                begins.add(begin)
                tensor = output.tensor(tensor)
                results[at] = tensor if output.device.type == self.place.kind else self.place.put(tensor, output.device)
        finally:
            self.place.end()
        for at, position in self.passed.items():
            results[at] = arguments[position]
        for at, other in self.others.items():
            results[at] = other
        return results


_pointers, _shapes, _strides, _negatives = (functools.partial(map, each) for each in (
    torch.Tensor.data_ptr, torch.Tensor.size, torch.Tensor.stride, torch.Tensor.is_neg))


class Bound:
    """A program with the weights of a call, whose arrays are good while they are the same tensors in the same memory.

    What each call does besides takes as long as a small program, so that it goes through tensors by functions of PyTorch's
    own language, without lines of Python for each.
    """

    def __init__(self, program, arguments):
        self.program, tensors = program, [at for at, each in enumerate(program.inputs) if isinstance(each, Input)]
        self.places = [at for at in tensors if program.inputs[at].keeps(arguments[at])]
        self.weights = [arguments[at] for at in self.places]
        others = set(range(len(arguments))) - set(self.places)
        self.tensors = [at for at in tensors if at in others]
        self.numbers = sorted(others - set(tensors))
        self.values = [(type(arguments[at]), arguments[at]) for at in self.numbers]
        given = [*self.weights, *(arguments[at] for at in self.tensors)]
        self.shapes, self.strides, self.addresses = list(_shapes(given)), list(_strides(given)), list(_pointers(self.weights))
        inputs = [program.inputs[at] for at in self.tensors]
        # Whether memory is not read where it is: it has gaps, or is the host's and not the card's.
        self.copies = any(each.copies or not program.place.has(arguments[at]) for at, each in zip(self.tensors, inputs))
        self.complex = [number for number, each in enumerate(inputs) if each.dtype.is_complex]
        arrays = [program.inputs[at].array(arguments[at]) if at not in others else (program.inputs[at].element, program.inputs[at].extents)
                  for at in tensors]
        self.given, self.begins = Given(arrays), set(self.addresses)

    def fits(self, arguments, tensors):
        """Whether it is for these arguments, of which the tensors are no weights."""
        weights = self.weights
        given = [*weights, *tensors]
        return (all(map(operator.is_, map(arguments.__getitem__, self.places), weights)) and
                list(_pointers(weights)) == self.addresses and list(_strides(given)) == self.strides and
                list(_shapes(given)) == self.shapes and all((type(arguments[at]), arguments[at]) == value for at, value in zip(self.numbers, self.values)))

    def settled(self, arguments):
        """The tensors that are no weights, with the elements in memory that they have."""
        tensors = list(map(arguments.__getitem__, self.tensors))
        if any(_negatives(tensors)) or any(tensors[number].is_conj() for number in self.complex):
            tensors = list(map(_settled, tensors))
        return tensors

    def __call__(self, arguments, tensors):
        program, addresses = self.program, list(_pointers(tensors))
        begins = self.begins.union(addresses)
        if self.copies or functools.reduce(operator.or_, addresses, 0) % program.place.alignment:
            tensors = [program.inputs[at].memory(tensor) for at, tensor in zip(self.tensors, tensors)]
            addresses = list(_pointers(tensors))
        return program(arguments, self.given, tensors, addresses, begins)


def _key(arguments):
    """What a program is for."""
    return tuple([(each.shape, each.stride()) if isinstance(each, torch.Tensor) else each for each in arguments])


def _settled(tensor):
    """With the elements in memory that it has: PyTorch leaves conjugates and negatives to whoever reads them."""
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    return tensor.resolve_conj() if tensor.is_conj() else tensor


class Compiled:
    """A graph whose ops zyx has, as a function of tensors and numbers."""

    def __init__(self, module):
        self.graph = module.graph
        # Tensors of the graph itself are arguments, which nobody sees.
        self.constants = []
        self.module = module
        self.draws = _random.count(self.graph)
        self.programs = Kept()
        self.lock = threading.Lock()
        self.place, self.recent = place_of(device_of(self.graph)), None
        outputs = next(node for node in self.graph.nodes if node.op == "output").args[0]
        self.spec = torch.utils._pytree.tree_flatten(outputs)[1]
        # As nearly all graphs return, a list or a tuple of tensors.
        self.is_flat = isinstance(outputs, (list, tuple)) and self.spec.num_nodes == 1 + len(outputs)
        self._lift()

    def _lift(self):
        first = next(iter(self.graph.nodes))
        for node in [node for node in self.graph.nodes if node.op == "get_attr" and "graph" not in node.meta]:
            value = self.module
            for part in node.target.split("."):
                value = getattr(value, part)
            with self.graph.inserting_before(first):
                placeholder = self.graph.placeholder(f"constant_{len(self.constants)}")
            placeholder.meta["val"] = value
            self.constants.append(value)
            node.replace_all_uses_with(placeholder)
            self.graph.erase_node(node)

    def __call__(self, *arguments):
        arguments, recent = [*self.constants, *arguments], self.recent
        with self.place.call():
            tensors = recent.settled(arguments) if recent is not None else ()
            if recent is None or not recent.fits(arguments, tensors):
                arguments = [_settled(each) if isinstance(each, torch.Tensor) else each for each in arguments]
                recent = self.recent = self._bound(arguments)
                tensors = recent.settled(arguments)
            results = recent(arguments, tensors)
        return results if self.is_flat else torch.utils._pytree.tree_unflatten(results, self.spec)

    def _bound(self, arguments):
        key = _key(arguments)
        with self.lock:
            program = self.programs.get(key)
            if program is None:
                program = Program(self.graph, arguments, self.draws, self.place)
                self.programs.put(key, program)
        return Bound(program, arguments)


def _hold(message, condition):
    if not condition:
        raise RuntimeError(message)


# What raises in a graph where data says so, and returns nothing.
ASSERTIONS = {getattr(aten._assert_async, name) for name in aten._assert_async.overloads()}


def _check_of(target, arguments, named):
    """What an op looks at, and a function of that which raises as the op does; or None for other ops."""
    if target is aten._linalg_check_errors.default:
        info, name = arguments
        return info, functools.partial(target, api_name=name, is_matrix=named["is_matrix"])
    if target in ASSERTIONS:
        return arguments[0], functools.partial(_hold, arguments[1] if len(arguments) > 1 else "Expected Tensor with single nonzero value")
    return None


def _lift_checks(graph):
    """Takes out of a graph what raises where data says so: where a factorization failed, or an index is none. What it looks at
    becomes results behind the others: a list of the functions that look at them there."""
    checks, looked = [], []
    for node in list(graph.nodes):
        is_ordered = node.target is torch.ops.higher_order.with_effects
        found = _check_of(*node.args[1:2], node.args[2:], node.kwargs) if is_ordered else _check_of(node.target, node.args, node.kwargs)
        if found is None:
            continue
        looked.append(found[0])
        checks.append(found[1])
        for user in list(node.users):
            user.replace_all_uses_with(node.args[0])
            graph.erase_node(user)
        graph.erase_node(node)
    if checks:
        output = next(node for node in graph.nodes if node.op == "output")
        output.args = ((*output.args[0], *looked),)
    return checks


def _checked(function, checks):
    def call(*arguments):
        results = function(*arguments)
        for check, info in zip(checks, results[-len(checks):]):
            check(info)
        return results[:-len(checks)]

    return call


def refusals(graph):
    """The nodes that zyx does not compute, with reasons."""
    found, device = {}, device_of(graph)
    for node in graph.nodes:
        why = reason(node, device)
        if why is not None:
            found[node] = why
    return found


def compiled(module, example, left):
    """A function for a module of ATen ops. `left` says which of them eager mode may compute: a function of their names."""
    graph = module.graph
    graph.eliminate_dead_code()
    for node in graph.nodes:
        if node.op == "get_attr":
            value = module
            for part in str(node.target).split("."):
                value = getattr(value, part)
            if isinstance(value, torch.fx.GraphModule) and _control.prepare(node, value):
                continue
            if not isinstance(value, torch.Tensor):
                raise Refused(f"zyx.torch: a part of the graph is a {type(value).__name__}, and no tensor")
            node.meta.setdefault("val", value)
    checks = _lift_checks(graph)
    bad = refusals(graph)
    refused = {}
    for node, why in bad.items():
        if not left(str(node.target)):
            refused.setdefault(str(node.target), f"{node.target}{where_of(node)} {why}")
    if refused:
        raise Refused("zyx.torch: " + "; ".join(refused.values()) +
                      ". options={'eager': [names]} leaves ops to eager mode, options={'eager': True} all of these")
    function = _split(module, bad) if bad else Compiled(module)
    return _checked(function, checks) if checks else function


def _split(module, bad):
    """Parts of ops that zyx has, and between them those that eager mode computes."""
    from torch.fx.passes.split_module import split_module
    stage = {}
    for node in module.graph.nodes:
        level = max((stage[each] for each in node.all_input_nodes if each in stage), default=0)
        if node.op in ("placeholder", "output"):
            stage[node] = 0
            continue
        # Stages of eager mode have odd numbers; a list of results is taken apart where it was made.
        if node.target is operator.getitem:
            stage[node] = stage[node.args[0]]
            continue
        stage[node] = level if level % 2 == (node in bad) else level + 1
    made = split_module(module, None, lambda node: stage[node], keep_original_order=True)
    for name, child in list(made.named_children()):
        is_eager = any(node in bad or str(node.target) in {str(each.target) for each in bad}
                       for node in child.graph.nodes if node.op == "call_function")
        if not is_eager:
            setattr(made, name, _Part(Compiled(child)))
    return made


class _Part(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)
