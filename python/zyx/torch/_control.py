# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control of PyTorch: cond, while_loop and scan, whose branches and bodies are graphs of their own."""
import torch

from .. import _zyx
from .._transforms import loop
from . import _random
from ._lower import (BITS, DTYPES, Array, Refused, _tensors_in, cast, conditions, full, op, reason, reshape,
                     tensors_of, walk)

HIGHER = torch.ops.higher_order
# Of tensors that a branch has itself, elements at most.
MOST_CONSTANT = 4096


def _positions(target):
    """Where the graphs are among the arguments."""
    return {HIGHER.cond: (1, 2), HIGHER.while_loop: (0, 1), getattr(HIGHER, "scan", None): (0,)}.get(target, ())


def is_control(target):
    return bool(_positions(target))


def prepare(node, module):
    """Says of an attribute of a graph that it is a graph of control alone. False where it is not."""
    if not node.users or not all(is_control(user.target) and node in [user.args[at] for at in _positions(user.target)]
                                 for user in node.users):
        return False
    module.graph.eliminate_dead_code()
    for inner in module.graph.nodes:
        if inner.op == "get_attr":
            value = getattr(module, inner.target, None) if "." not in str(inner.target) else None
            if isinstance(value, torch.Tensor):
                inner.meta.setdefault("val", value)
                inner.meta["constant"] = value
            elif isinstance(value, torch.fx.GraphModule):
                prepare(inner, value)
    node.meta["graph"] = module.graph
    return True


def constant_of(node):
    """The array of a tensor that a branch has itself."""
    tensor = node.meta["constant"].detach().cpu().contiguous()
    data = tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    return _zyx._from_bytes(data, DTYPES[tensor.dtype], tuple(tensor.shape))


def _limit(node):
    for at in _positions(node.target):
        graph = node.args[at].meta.get("graph") if isinstance(node.args[at], torch.fx.Node) else None
        if graph is None:
            return "has a branch that is no graph"
        if _random.count(graph):
            return "draws random numbers in a branch"
        for inner in graph.nodes:
            if inner.op == "get_attr" and "graph" not in inner.meta:
                value = inner.meta.get("constant")
                if value is None or value.numel() > MOST_CONSTANT or value.dtype not in DTYPES:
                    return f"has a branch that reads '{inner.target}'"
            why = reason(inner)
            if why is not None and "in a graph of" not in why:
                return f"has a branch with {inner.target}, which {why}"
    made = node.meta["val"]
    if not all(isinstance(each, torch.Tensor) for each in (made if isinstance(made, (list, tuple)) else [made])):
        return "carries numbers of Python"
    if any(each.dtype in BITS or each.dtype.is_complex for each in tensors_of(node)):
        return "has complex elements or floats of 8 bits"
    return None


def run(graph, arguments):
    """The results of a branch: a list of arrays."""
    with conditions() as required:
        made = torch.utils._pytree.tree_leaves(walk(graph, arguments))
    if required:
        raise Refused(f"{required[0][1]} in a branch, where nothing raises")
    metas = torch.utils._pytree.tree_leaves(next(each for each in graph.nodes if each.op == "output").args[0])
    return [each if isinstance(each, Array) else full((), each, DTYPES[_tensors_in(meta)[0].dtype])
            for each, meta in zip(made, metas)]


class _Given:
    """Arguments of a branch: arrays that a body is given, and numbers."""

    def __init__(self, arguments):
        self.arguments = list(arguments)
        self.arrays = [each for each in self.arguments if isinstance(each, Array)]

    def whole(self, arrays):
        rest = iter(arrays)
        return [next(rest) if isinstance(each, Array) else each for each in self.arguments]


@op(HIGHER.cond, limit=_limit)
def cond(node, condition, then, otherwise, operands=()):
    if not isinstance(condition, Array):
        return run(then if condition else otherwise, operands)
    given = _Given(operands)
    return _zyx._cond(cast(reshape(condition, ()), _zyx.bool), given.arrays, *[
        lambda arrays, graph=graph: run(graph, given.whole(arrays)) for graph in (then, otherwise)])


@op(HIGHER.while_loop, limit=_limit)
def while_loop(node, condition, body, carried, additional=()):
    def is_left(arrays):
        return [cast(reshape(run(condition, [*arrays, *additional])[0], ()), _zyx.bool)]

    return _zyx._while_loop(list(carried), is_left, lambda arrays: run(body, [*arrays[1:], *additional]))


def scan(node, body, initial, xs, additional=()):
    """Rows of the results of all trips, behind what the last one carries."""
    metas = [each for each in node.meta["val"]][len(initial):]
    trips = xs[0].shape[0]
    rows = [full((trips, *map(int, each.shape[1:])), 0, DTYPES[each.dtype]) for each in metas]

    def step(trip, carried):
        place = reshape(trip, (1,))
        own = [reshape(_zyx._take(x, place, 0), x.shape[1:]) for x in xs]
        made = run(body, [*carried[:len(initial)], *own, *additional])
        return [*made[:len(initial)], *[
            _zyx._scatter(row, place, reshape(each, (1, *each.shape)), 0, "set")
            for row, each in zip(carried[len(initial):], made[len(initial):])]]

    return loop(trips, [*initial, *rows], step)


if hasattr(HIGHER, "scan"):
    op(HIGHER.scan, limit=_limit)(scan)
