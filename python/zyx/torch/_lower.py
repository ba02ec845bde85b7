# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From nodes of an ATen graph to expressions of arrays: the table of ops, types, and the walk."""
import contextlib
import operator

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as KIND
from torch._prims_common import elementwise_dtypes

from .. import _zyx
from .._lowering import (axes_of, cast, cut, expand, float32, float64, from_front, full, gradients, int64, iota,  # noqa: F401
                         pad, permute, reshape, rounded, where, wide, wrapped)
from .._zyx import Array

aten, prims = torch.ops.aten, torch.ops.prims

DTYPES = {
    torch.bool: _zyx.bool, torch.uint8: _zyx.uint8, torch.uint16: _zyx.uint16, torch.uint32: _zyx.uint32,
    torch.uint64: _zyx.uint64, torch.int8: _zyx.int8, torch.int16: _zyx.int16, torch.int32: _zyx.int32,
    torch.int64: _zyx.int64, torch.float16: _zyx.float16, torch.bfloat16: _zyx.bfloat16,
    torch.float32: _zyx.float32, torch.float64: _zyx.float64,
}

# Floats of 8 bits are the bytes of their bits: such tensors are moved and converted, and no more.
BITS = {getattr(torch, name): name for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
        if hasattr(torch, name)}
DTYPES.update(dict.fromkeys(BITS, _zyx.uint8))
# Of too large a number PyTorch 2.15 makes the largest float8_e4m3fn, and older versions NaN.
SATURATES = {dtype: bool(torch.isfinite(torch.tensor([1e9, float("inf")]).to(dtype).float()).all()) for dtype in BITS}
MOVES = {"_to_copy", "_unsafe_view", "alias", "cat", "clone", "contiguous", "convert_element_type", "detach", "expand", "flip", "index_select",
         "lift_fresh", "lift_fresh_copy", "permute", "reshape", "select", "slice", "split", "split_with_sizes", "squeeze", "stack", "t", "transpose",
         "unbind", "unsqueeze", "view", "_scaled_mm"}

# Of complex elements each part is an array (_complex.py).
PARTS = {torch.complex64: _zyx.float32, torch.complex128: _zyx.float64}

# What computes a node, by its op: a function of the node and its arguments.
OPS = {}
# The same where an element is complex.
COMPLEX = {}
# What says that it does not: a function of the node that returns a reason, or None.
LIMITS = {}


class Refused(_zyx.UnsupportedError):
    """What zyx.torch has not: the op, and the line that it comes from. TorchDynamo wraps it.

        >>> issubclass(zyx.torch.Refused, zyx.UnsupportedError)
        True
    """


def op(*targets, limit=None, table=OPS):
    """Registers what a node of these ops becomes. `limit` returns a reason where it becomes nothing."""

    def register(function):
        for target in targets:
            table[target] = function
            if limit is not None:
                LIMITS[target] = limit
        return function

    return register


def packets(*overload_packets):
    """All overloads of ops."""
    return [getattr(packet, name) for packet in overload_packets for name in packet.overloads()]


def newer(*names):
    """Ops by name, of those the ones that this PyTorch has."""
    return [getattr(aten, name).default for name in names if hasattr(aten, name)]


def to_dtype(dtype):
    """Of a complex one that of its parts."""
    found = DTYPES.get(dtype) or PARTS.get(dtype)
    if found is None:
        raise Refused(f"zyx has no elements of {dtype}")
    return found


# Types


def meta_of(argument):
    """What is known of an argument of a node: of a tensor its fake one."""
    return argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument


def result_dtype(node, index=None):
    found = node.meta["val"]
    return to_dtype((found if index is None else found[index]).dtype)


def computed_in(node, arguments, kind=KIND.DEFAULT):
    """The dtype in which an op of elements computes, of those of its arguments in the graph."""
    return to_dtype(elementwise_dtypes(*[meta_of(each) for each in arguments], type_promotion_kind=kind)[0])


def component_of(node, arguments):
    """The same of complex numbers: the dtype of their parts."""
    return to_dtype(elementwise_dtypes(*[meta_of(each) for each in arguments], type_promotion_kind=KIND.DEFAULT)[0])


def operand(x, dtype):
    """An argument, an array or a number, as an array of a dtype. Of two casts the first rounds."""
    return cast(x, dtype) if isinstance(x, Array) else full((), x, dtype)


# What data may break

_conditions = None


@contextlib.contextmanager
def conditions():
    """Collects what must be true at run time: pairs of an array of bools and what is refused where one is false."""
    global _conditions
    before, _conditions = _conditions, []
    try:
        yield _conditions
    finally:
        _conditions = before


def require(condition, refused):
    """A program is for some data alone: a call with other data raises, and gives no wrong answer."""
    _conditions.append((_zyx._all(reshape(condition, (condition.size,)), [0], False), refused))


# The walk


def is_number(node):
    """Whether a node computes numbers of Python: extents of shapes that are symbols."""
    return node.op == "call_function" and (getattr(node.target, "__module__", None) in (
        "_operator", "math", "torch.fx.experimental.sym_node", "torch") and not _has_tensor(node)
                                           or node.target in (aten.sym_size.int, aten.sym_numel.default,
                                                              aten.sym_stride.int, aten.sym_storage_offset.default))


def _has_tensor(node):
    return any("val" not in each.meta or isinstance(each.meta["val"], (torch.Tensor, list, tuple))
               for each in node.all_input_nodes)


def _tensors_in(node):
    value = node.meta.get("val")
    return [each for each in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(each, torch.Tensor)]


def tensors_of(node):
    """What is known of the tensors that a node takes and makes."""
    for each in [node, *node.all_input_nodes]:
        yield from _tensors_in(each)


def is_complex(node):
    return any(each.dtype.is_complex for each in tensors_of(node))


def table_of(node):
    return COMPLEX if is_complex(node) else OPS


def device_of(graph):
    """The card that a graph has tensors of, or the host. What it has on the host besides is computed there, too."""
    devices = (each.device for node in graph.nodes for each in _tensors_in(node))
    return next((device for device in devices if device.type != "cpu"), torch.device("cpu"))


def reason(node, device=torch.device("cpu")):
    """Why a node is not computed on a device, or None."""
    if node.op != "call_function" or node.target is operator.getitem or is_number(node):
        return None
    if node.target not in table_of(node):
        return "is not one of zyx.torch" + (" for complex elements" if node.target in OPS else "")
    for each in tensors_of(node):
        if each.dtype not in DTYPES and each.dtype not in PARTS:
            return f"has elements of {each.dtype}, which zyx has not"
        if each.dtype in BITS and getattr(node.target, "_opname", None) not in MOVES:
            return f"has elements of {each.dtype}, which zyx moves and converts, and computes with in wider ones"
        if each.layout is not torch.strided or each.is_quantized:
            return "has a tensor that is not strided"
        if each.device.type not in ("cpu", "cuda"):
            return f"has a tensor on '{each.device}'; this version computes on the host and on CUDA's cards"
        if each.device.type == "cuda" and each.device != device:
            return f"has a tensor on '{each.device}' in a graph of '{device}'"
    limit = LIMITS.get(node.target)
    return limit(node) if limit is not None else None


def where_of(node):
    """The line of the user's program that a node comes from."""
    lines = [line.strip() for line in (node.stack_trace or "").splitlines()]
    files = [line for line in lines if line.startswith("File ")]
    return f" ({files[-1][5:]})" if files else ""


def walk(graph, arguments):
    """The outputs of a graph for these arrays and numbers, in the order of the output node's leaves."""
    from . import _control
    values, rest = {}, iter(arguments)

    def of(argument):
        return torch.fx.node.map_arg(argument, values.__getitem__)

    for node in graph.nodes:
        if node.op == "placeholder":
            values[node] = next(rest)
        elif node.op == "output":
            return of(node.args[0])
        elif node.op == "get_attr":
            values[node] = node.meta["graph"] if "graph" in node.meta else _control.constant_of(node)
        elif node.target is operator.getitem or is_number(node):
            values[node] = _number(node, of) if node.target is not operator.getitem else of(node.args[0])[node.args[1]]
        else:
            try:
                found = table_of(node)[node.target](node, *of(node.args), **of(node.kwargs))
            except (Refused, _zyx.UnsupportedError) as error:
                raise Refused(f"{node.target}{where_of(node)}: {error}") from error
            values[node] = _checked(node, found)
    raise AssertionError("a graph without outputs")


def _number(node, of):
    arguments = of(node.args)
    if node.target is aten.sym_size.int:
        return arguments[0].shape[arguments[1]]
    if node.target is aten.sym_numel.default:
        return arguments[0].size
    return node.target(*arguments, **of(node.kwargs))


def _checked(node, found):
    """Results with the dtypes that the graph says; another shape would be a mistake of the table."""
    meta = node.meta["val"]
    if isinstance(meta, torch.Tensor):
        return _as_meta(node, found, meta)
    return [each if not isinstance(own, torch.Tensor) else None if each is None else _as_meta(node, each, own)
            for each, own in zip(found, meta)]


def _as_meta(node, array, meta):
    shape = tuple(meta.shape)
    if len(shape) != array.ndim or any(isinstance(a, int) and a != b for a, b in zip(shape, array.shape)):
        raise AssertionError(f"zyx.torch: {node.target} of shape {shape} was made with shape {array.shape}")
    dtype = to_dtype(meta.dtype)
    if isinstance(array, Array) == meta.dtype.is_complex:
        raise AssertionError(f"zyx.torch: {node.target} was made of {'real' if meta.dtype.is_complex else 'complex'} elements")
    return array.map(lambda part: cast(part, dtype)) if meta.dtype.is_complex else cast(array, dtype)
