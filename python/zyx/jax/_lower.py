# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From ops of StableHLO to expressions of arrays: the table of ops, types, numbers that are known, and the walk."""
import functools
import re

import ml_dtypes
import numpy as np
from jaxlib.mlir import ir

from .. import _small, _zyx
from .._complex import Complex
from .._lowering import cast, full

# Elements by their names in MLIR: as zyx has them, and as NumPy has.
ELEMENTS = {
    "i1": (_zyx.bool, np.bool_), "i8": (_zyx.int8, np.int8), "i16": (_zyx.int16, np.int16), "i32": (_zyx.int32, np.int32),
    "i64": (_zyx.int64, np.int64), "ui8": (_zyx.uint8, np.uint8), "ui16": (_zyx.uint16, np.uint16),
    "ui32": (_zyx.uint32, np.uint32), "ui64": (_zyx.uint64, np.uint64), "f16": (_zyx.float16, np.float16),
    "bf16": (_zyx.bfloat16, ml_dtypes.bfloat16), "f32": (_zyx.float32, np.float32), "f64": (_zyx.float64, np.float64),
    "f8E4M3FN": (_zyx.float8_e4m3fn, ml_dtypes.float8_e4m3fn), "f8E5M2": (_zyx.float8_e5m2, ml_dtypes.float8_e5m2),
}
# Those that are kept in a wider dtype, by their names in ml_dtypes: they are moved, compared and converted, and no more.
NARROW = {"i4": "int4", "ui4": "uint4", "i2": "int2", "ui2": "uint2", "f8E4M3FNUZ": "float8_e4m3fnuz", "f8E5M2FNUZ": "float8_e5m2fnuz",
          "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E4M3": "float8_e4m3", "f8E3M4": "float8_e3m4", "f4E2M1FN": "float4_e2m1fn",
          "f8E8M0FNU": "float8_e8m0fnu"}
NARROW = {name: small for name, small in NARROW.items() if hasattr(ml_dtypes, small)}
PARTS = {"complex<f32>": ("f32", np.complex64), "complex<f64>": ("f64", np.complex128)}
TO_NUMPY = {dtype: numpy_dtype for dtype, numpy_dtype in ELEMENTS.values()}
SMALL = set(NARROW.values())

# Arrays of at most so many elements that follow from constants are computed while the module is read.
MOST_KNOWN = 64

# What computes an op, by its name: a function of a Node and of the op's arguments.
OPS = {}
# Those whose arguments may be arrays of NumPy, where they are known.
TAKES_KNOWN = set()
# What computes known results: functions of a Node and arrays of NumPy.
FOLDS = {}


class Refused(_zyx.UnsupportedError):
    """What zyx.jax has not: the op, and the line that it comes from.

        >>> import jax.numpy as jnp
        >>> try:
        ...     zyx.jax.jit(jnp.linalg.eigvals)(jnp.eye(2))
        ... except zyx.jax.Refused as error:
        ...     "stablehlo.custom_call" in str(error)
        True
    """


def op(*names, known=False):
    """Registers what ops become."""

    def register(function):
        for name in names:
            OPS[name] = function
            if known:
                TAKES_KNOWN.add(name)
        return function

    return register


class Type:
    """The shape and the elements of a tensor."""
    __slots__ = ("shape", "name", "dtype", "numpy", "is_complex", "narrow")

    def __init__(self, type):
        if not isinstance(type, ir.RankedTensorType):
            raise Refused(f"a value of the type {type}")
        if not type.has_static_shape:
            raise Refused(f"a value of the type {type}, whose extents are open")
        self.shape, self.name = tuple(type.shape), str(type.element_type)
        self.is_complex, self.narrow = self.name in PARTS, NARROW.get(self.name)
        if self.narrow:
            self.dtype, self.numpy = _small.holder(self.narrow), getattr(ml_dtypes, self.narrow)
        elif self.is_complex:
            part, self.numpy = PARTS[self.name]
            self.dtype = ELEMENTS[part][0]
        elif self.name in ELEMENTS:
            self.dtype, self.numpy = ELEMENTS[self.name]
        else:
            raise Refused(f"elements of {self.name}, which zyx has not")

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))


def is_token(type):
    return str(type) == "!stablehlo.token"


def held(value):
    """An array of NumPy whose elements are those of a dtype of zyx."""
    name = value.dtype.name
    return value.astype(TO_NUMPY[_small.holder(name)]) if name in SMALL else value


def array_of(value):
    """A value as an array or a pair, where it is a known one."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind == "c":
        part = np.float32 if value.dtype == np.complex64 else np.float64
        return Complex(array_of(value.real.astype(part)), array_of(value.imag.astype(part)))
    value = held(value)
    name = "bool" if value.dtype == np.bool_ else value.dtype.name
    dtype = _zyx._dtype(name)
    if value.size and (value.size == 1 or not np.any(value.reshape(-1).view(np.uint8).reshape(value.size, -1)
                                                   != value.reshape(-1)[:1].view(np.uint8))):
        first = value.reshape(-1)[0]
        return full(value.shape, bool(first) if dtype is _zyx.bool else float(first) if dtype.is_float else int(first), dtype)
    return _zyx._from_bytes(np.ascontiguousarray(value).tobytes(), dtype, value.shape)


def number_of(value):
    """The number of a known value without dimensions, or None."""
    return value.reshape(())[()] if isinstance(value, np.ndarray) and value.size == 1 else None


def is_scalar_constant(value, number):
    found = number_of(value)
    return found is not None and bool(found == number)


@functools.lru_cache(maxsize=4096)
def _where(text):
    """The line of a program that a location names, or the path of the op in it."""
    lines = re.findall(r'"([^"]+)":(\d+)', text)
    if lines:
        return f" ({lines[0][0]}:{lines[0][1]})"
    names = re.findall(r'loc\("([^"]+)"', text)
    return f" ({names[0]})" if names else ""


class Node:
    """An op where it is walked."""

    def __init__(self, trace, operation, scope):
        self.trace, self.op, self.scope = trace, operation, scope
        self.name = operation.name
        self.is_elements = False

    @functools.cached_property
    def types(self):
        return [None if is_token(each.type) else Type(each.type) for each in self.op.results]

    @property
    def shape(self):
        return self.types[0].shape

    @property
    def dtype(self):
        return self.types[0].dtype

    def operand_type(self, at):
        return Type(self.op.operands[at].type)

    def has(self, name):
        return name in self.op.attributes

    def ints(self, name, default=None):
        if name not in self.op.attributes:
            return default
        attribute = self.op.attributes[name]
        if isinstance(attribute, ir.DenseIntElementsAttr):
            return np.array(attribute).tolist()
        return [int(each) if isinstance(each, int) else each.value for each in attribute]

    def flags(self, name, default=None):
        if name not in self.op.attributes:
            return default
        attribute = self.op.attributes[name]
        if isinstance(attribute, ir.DenseIntElementsAttr):
            return [bool(each) for each in np.array(attribute).reshape(-1)]
        return [bool(each) for each in attribute]

    def integer(self, name, default=None):
        return self.op.attributes[name].value if name in self.op.attributes else default

    def word(self, name, default=None):
        """An enumeration, such as LT of #stablehlo<comparison_direction LT>."""
        if name not in self.op.attributes:
            return default
        attribute = self.op.attributes[name]
        if isinstance(attribute, ir.StringAttr):
            return attribute.value
        found = re.search(r"(\w+)>$", str(attribute))
        return found.group(1) if found else str(attribute)

    def block(self, at=0):
        return self.op.regions[at].blocks[0]

    def called(self, name):
        """The block of the one function that an attribute names."""
        return self.trace.functions[self.op.attributes[name][0].value].regions[0].blocks[0]

    def elements(self, block, arguments):
        """The results of a block of scalars for arrays of any one shape."""
        return self.trace.block(block, arguments, self.scope, True)

    def run(self, block, arguments):
        return self.trace.block(block, arguments, self.scope, False)

    def refuse(self, why):
        raise Refused(why)

    def same(self, block):
        """A block without arguments, of scalars where this op is in one of scalars."""
        return self.trace.block(block, [], self.scope, self.is_elements)

    @property
    def where(self):
        return _where(str(self.op.location))


def constant(node):
    """A constant as an array, or as one of NumPy where it is small."""
    type = node.types[0]
    if type.size == 0:
        return np.zeros(type.shape, type.numpy)
    if type.is_complex or type.narrow:
        value = _of_text(node, type)
        return value if type.size <= MOST_KNOWN else array_of(value)
    attribute = node.op.attributes["value"]
    if not hasattr(attribute, "is_splat"):
        value = _resource(node, attribute, type)
        return value if type.size <= MOST_KNOWN else array_of(value)
    if attribute.is_splat:
        value = np.broadcast_to(_splat(attribute, type), type.shape)
        if type.size <= MOST_KNOWN:
            return np.array(value)
        number = value.reshape(-1)[0]
        return full(type.shape, bool(number) if type.dtype is _zyx.bool else float(number) if type.dtype.is_float
                    else int(number), type.dtype)
    value = _dense(attribute, type)
    return value if type.size <= MOST_KNOWN else array_of(value)


def _splat(attribute, type):
    if type.name in ("f32", "f64", "f16", "i1") or type.name.startswith(("i", "ui")):
        try:
            return np.array(attribute).reshape(-1)[:1].astype(type.numpy)[0]
        except (TypeError, ValueError):
            pass
    return np.asarray(attribute.get_splat_value().value, np.float64).astype(type.numpy)


def _of_text(node, type):
    """Elements of which bindings of MLIR have no attribute, complex and small ones: out of the text of the op."""
    found = re.search(r'(?:= |constant )dense<(?:"0x([0-9A-Fa-f]*)"|([^">]*))>', str(node.op))
    if found is None:
        node.refuse(f"a constant of {type.name} of another kind")
    part = np.zeros((), type.numpy).real.dtype
    bits = np.dtype(f"u{part.itemsize}")
    if found[1]:
        value = np.frombuffer(bytes.fromhex(found[1]), bits)
        value = _small_of(value, type.narrow) if type.narrow else value.view(part)
    else:
        texts = re.findall(r"-?(?:0x[0-9A-Fa-f]+|[0-9][0-9.eE+-]*)", found[2])
        value = np.asarray([_small_of(np.asarray(int(each, 16), bits), type.narrow) if each.startswith("0x") and type.narrow else
                            np.asarray(int(each, 16), bits).view(part) if each.startswith("0x") else np.asarray(float(each)).astype(part)
                            for each in texts], part)
    value = value.view(type.numpy)
    if value.size not in (1, type.size):
        node.refuse(f"a constant of {value.size} elements, where {type.size} are meant")
    return np.array(np.broadcast_to(value[0], type.shape)) if value.size == 1 else value.reshape(type.shape)


def _small_of(bits, name):
    """Small elements of their bits, one in each byte."""
    if name in _small.INTEGERS:
        width, signed = _small.INTEGERS[name]
        bits = bits.astype(np.int16) & ((1 << width) - 1)
        bits = np.where(bits >> (width - 1), bits - (1 << width), bits) if signed else bits
        return bits.astype(getattr(ml_dtypes, name))
    return bits.view(getattr(ml_dtypes, name))


def _resource(node, attribute, type):
    """Elements that stand behind the module's text. jaxlib does not read them, but writes them: a number that says how they are
    aligned, and then their bytes."""
    found = re.match(r'dense_resource<"?(.*?)"?>', str(attribute))
    if found is None:
        node.refuse(f"a constant of another kind: {str(attribute)[:60]}")
    name = found[1]
    data = node.trace.resources.get(name)
    if data is None:
        node.refuse(f"a constant in the resource '{name}', which the module has not")
    data = data[4:]
    if len(data) != type.size * np.dtype(type.numpy).itemsize:
        node.refuse(f"a constant in the resource '{name}' of {len(data)} bytes, which are no {type.size} elements of {type.name}")
    value = np.frombuffer(data, np.uint8 if type.name == "i1" else type.numpy)
    if type.name == "i1" and np.any(value > 1):
        node.refuse(f"a constant in the resource '{name}' whose bytes are no bools")
    return value.astype(type.numpy).reshape(type.shape)


def _dense(attribute, type):
    try:
        return np.array(attribute).astype(type.numpy, copy=False).reshape(type.shape)
    except (TypeError, ValueError):
        # Elements that NumPy has no name for, as numbers of Python.
        return np.array([float(each) for each in attribute], np.float64).astype(type.numpy).reshape(type.shape)


OPS["stablehlo.constant"] = constant
TAKES_KNOWN.add("stablehlo.constant")


class Scope:
    """Values by the SSA values that name them."""

    def __init__(self, outer=None):
        self.values, self.outer = {}, outer

    def __getitem__(self, value):
        scope = self
        while scope is not None:
            if value in scope.values:
                return scope.values[value]
            scope = scope.outer
        raise KeyError(value)


class Trace:
    """A walk of a module's functions."""

    def __init__(self, module):
        self.module = module
        self.functions = {operation.attributes["sym_name"].value: operation.operation for operation in module.body.operations
                          if operation.operation.name == "func.func"}
        self.depth = 0

    @functools.cached_property
    def resources(self):
        """Bytes by their names."""
        text = str(self.module)
        begin = text.rfind("{-#")
        return {name.strip('"'): bytes.fromhex(digits) for name, digits in
                re.findall(r'([\w.$-]+|"[^"]*"): "0x([0-9A-Fa-f]*)"', text[begin:])} if begin >= 0 else {}

    def main(self, arguments, entry="main"):
        return self.call(entry, arguments, False)

    def call(self, name, arguments, is_elements):
        if name not in self.functions:
            raise Refused(f"a call of '{name}', which the module has not")
        self.depth += 1
        if self.depth > 200:
            raise Refused(f"a call of '{name}' within 200 others")
        try:
            return self.block(self.functions[name].regions[0].blocks[0], arguments, None, is_elements)
        finally:
            self.depth -= 1

    def block(self, block, arguments, outer, is_elements):
        scope = Scope(outer)
        for argument, value in zip(block.arguments, arguments):
            scope.values[argument] = value
        for operation in block.operations:
            operation = operation.operation
            name = operation.name
            if name in ("func.return", "stablehlo.return"):
                return [scope[each] for each in operation.operands]
            node = Node(self, operation, scope)
            for value, result in zip(operation.results, self.step(node, is_elements)):
                scope.values[value] = result
        raise Refused("a block without an end")

    def step(self, node, is_elements):
        name, node.is_elements = node.name, is_elements
        arguments = [node.scope[each] for each in node.op.operands]
        try:
            found = self._computed(node, name, arguments, is_elements)
            found = found if isinstance(found, (list, tuple)) else [found]
            return [self._checked(node, value, type, is_elements) for value, type in zip(found, node.types)]
        except (Refused, _zyx.UnsupportedError) as error:
            if getattr(error, "is_placed", False):
                raise
            placed = Refused(f"zyx.jax: {name}{node.where}: {error}")
            placed.is_placed = True
            raise placed from error

    def _computed(self, node, name, arguments, is_elements):
        function = OPS.get(name)
        if function is None:
            raise Refused("is not one of zyx.jax")
        if name not in MOVES:
            for type in node.types:
                if type is not None and type.narrow:
                    raise Refused(f"of elements of {type.name}, which zyx moves, compares and converts, and computes with in wider ones")
        if name in FOLDS and not any(isinstance(each, np.ndarray) and each.dtype.name in SMALL for each in arguments) and arguments and all(isinstance(each, np.ndarray) for each in arguments) and (
                is_elements or node.types[0].size <= MOST_KNOWN):
            with np.errstate(all="ignore"):
                made = FOLDS[name](node, *arguments)
            if made is not None:
                return np.asarray(made).astype(node.types[0].numpy, copy=False)
        if is_elements and name in IDENTITIES and not node.operand_type(0).shape and not node.types[0].shape:
            return arguments[0]
        if is_elements and any(type is not None and type.shape for type in node.types):
            raise Refused("an array within a function of elements")
        if name not in TAKES_KNOWN:
            arguments = [array_of(each) for each in arguments]
        return function(node, *arguments)

    def _checked(self, node, value, type, is_elements):
        """Results have the dtypes that the op says; another shape would be a mistake of the table."""
        if type is None:
            return None
        if not is_elements and tuple(value.shape) != type.shape:
            raise AssertionError(f"zyx.jax: {node.name} of shape {type.shape} was made with shape {tuple(value.shape)}")
        if isinstance(value, np.ndarray):
            return value
        if isinstance(value, Complex) != type.is_complex:
            raise AssertionError(f"zyx.jax: {node.name} was made of {'real' if type.is_complex else 'complex'} elements")
        return value.map(lambda part: cast(part, type.dtype)) if type.is_complex else cast(value, type.dtype)


# What gives elements as they are, or runs functions that do.
MOVES = {f"stablehlo.{name}" for name in (
    "broadcast", "broadcast_in_dim", "case", "clamp", "concatenate", "constant", "convert", "custom_call", "dynamic_slice", "dynamic_update_slice",
    "gather", "if", "maximum", "minimum", "optimization_barrier", "pad", "reshape", "reverse", "select", "slice", "sort", "transpose", "while")}
MOVES |= {"func.call"}

# What does nothing to an element.
IDENTITIES = {"stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.transpose", "stablehlo.broadcast"}


def parse(source):
    """A module of StableHLO: text, bytecode, or a portable artifact."""
    # As JAX makes its own contexts: with what registers the dialects of MLIR itself, func among them.
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    registry, context = ir.DialectRegistry(), ir.Context()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    context.load_all_available_dialects()
    data = source if isinstance(source, (bytes, bytearray)) else source.encode()
    data = bytes(data)
    try:
        with context:
            if data[:4] == b"ML\xefR":
                try:
                    return stablehlo.deserialize_portable_artifact(context, data)
                except Exception:
                    return ir.Module.parse(data, context)
            return ir.Module.parse(data.decode(), context)
    except (ir.MLIRError, ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"no module of StableHLO: {str(error)[:500]}") from None


def names_in(operation):
    """The names of all ops within one."""
    found = {operation.name}
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                found |= names_in(inner.operation)
    return found


@functools.cache
def register_passes():
    from jaxlib.mlir.dialects import stablehlo
    stablehlo.register_stablehlo_passes()


def legalized(module):
    """With functions of CHLO that zyx.jax has not, such as lgamma, as StableHLO has them: polynomials and fractions."""
    if all(name in OPS for name in names_in(module.operation) if name.startswith("chlo.")):
        return module
    from jaxlib.mlir import passmanager
    register_passes()
    with module.context:
        passmanager.PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
    return module
