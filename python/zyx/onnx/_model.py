# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models: their graphs become expressions of arrays, node by node, and those become programs."""
import inspect
import math
import re
import struct

from .. import _transforms, _zyx
from .._kept import Kept
from .._zyx import Array
from . import _file, _types
from ._file import ModelError

# The newest opset whose ops this version knows, by domain.
NEWEST = {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview": 1, "ai.onnx.preview.training": 1}
# Values of at most so many elements are computed by the interpreter while a graph is read, where nothing but constants
# leads to them: shapes, axes, limits.
MOST_KNOWN = 4096
# Nodes of one program, with those of its functions as often as they are called and those of loops for each trip. Few bytes
# of a file may stand for very many.
MOST_NODES = 1_000_000

OPS = {}
# Ops that take a bounded input: functions of a node, the number of the input, its array and the axis, which give the axis of
# the result, or None. _bounded.py has them.
CARRIES = {}


class _Op:
    __slots__ = ("function", "takes_values", "keeps_type", "_counts")

    def __init__(self, function, takes_values, keeps_type):
        self.function, self.takes_values, self.keeps_type, self._counts = function, takes_values, keeps_type, None

    def check(self, count):
        """Refuses a number of inputs that the op does not take."""
        if self._counts is None:
            own = [each for each in list(inspect.signature(self.function).parameters.values())[1:]
                   if each.kind is not inspect.Parameter.KEYWORD_ONLY]
            has_more = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in own)
            self._counts = sum(each.kind is not inspect.Parameter.VAR_POSITIONAL and each.default is inspect.Parameter.empty
                               for each in own), math.inf if has_more else len(own)
        least, most = self._counts
        if not least <= count <= most:
            raise ModelError(f"it has {count} inputs, and the op takes "
                             + (f"{least} at least" if count < least else f"{most} at most"))


def op(*names, domain="", takes_values=False, keeps_type=False):
    """Registers what a node becomes: a function of the node and its inputs, as arrays, that returns an array or several.

    With `takes_values` it is given what the graph has, sequences for example, and returns such. With `keeps_type` the
    results have the element type of the first input, where that is one that zyx has not.
    """

    def register(function):
        for name in names:
            OPS[domain, name] = _Op(function, takes_values, keeps_type)
        return function

    return register


class NeedsValue(Exception):
    """A value is asked for while a program is captured, and these inputs of the model lead to it."""

    def __init__(self, inputs, is_data):
        super().__init__("this value has to be read while the graph is made")
        self.inputs, self.is_data = inputs, is_data
        # The innermost node, as errors name it.
        self.where = ""


class Bounded:
    """What an op gives whose result is as large as data says: as many elements along an axis as there may be, and their count."""

    __slots__ = ("array", "count", "axis")

    def __init__(self, array, count, axis):
        self.array, self.count, self.axis = array, count, axis


class Value:
    """An array in a graph, its element type, and the inputs that lead to it. `known` is a copy for the interpreter. With a
    `count`, what is behind so many elements along `axis` is none of the array's."""

    __slots__ = ("_array", "known", "code", "inputs", "count", "axis")

    def __init__(self, array, code, inputs=frozenset(), known=None):
        self._array, self.known, self.code, self.inputs = array, known, code, inputs
        self.count = self.axis = None

    @property
    def array(self):
        """On the device of the scope."""
        self._needs_count()
        if self._array is None:
            self._array = _constant(self.known)
        return self._array

    @property
    def parts(self):
        """The arrays that a program gives for it."""
        return [self.array] if self.count is None else [self._array, self.count]

    def _needs_count(self):
        if self.count is not None:
            raise NeedsValue(self.inputs, True)

    @property
    def shape(self):
        self._needs_count()
        return (self.known if self._array is None else self._array).shape

    @property
    def dtype(self):
        return (self.known if self._array is None else self._array).dtype


class Sequence:
    """A sequence of values of one element type."""

    __slots__ = ("items", "code")

    def __init__(self, items, code):
        self.items, self.code = list(items), code


class Strings:
    """Texts in row-major order and their shape. They lie on no device."""

    __slots__ = ("texts", "shape")

    def __init__(self, texts, shape):
        self.texts, self.shape = texts, shape


def _constant(known):
    """The array on the device of the scope: a number where all elements are one, which kernels take as such."""
    data, size = _zyx._bytes(known), known.dtype.itemsize
    if known.size and data == data[:size] * known.size and known.dtype.name in ("float32", "float64", "int32", "int64", "bool"):
        number = _zyx._reshape(known, (known.size,))[0].item()
        if abs(number) < 2**53 and not (number == 0 and math.copysign(1, number) < 0):
            return _zyx._full(known.shape, number, known.dtype)
    return _zyx._from_bytes(data, known.dtype, known.shape)


def known(numbers, dtype):
    """A value of numbers that are there while the graph is read."""
    from .._creation import asarray
    with _zyx.device_scope("reference"):
        array = asarray(numbers, dtype=dtype)
        _transforms.eval(array)
    return Value(None, _types.TYPES[array.dtype], known=array)


KINDS = {int: "an integer", float: "a number", str: "a text", list: "a list"}


def _of_kind(name, value, default):
    """An attribute that is of its default's kind. An integer may be written as a float, and the other way round."""
    kind = type(default)
    if kind not in KINDS or type(value) is kind:
        return value
    if kind is float and isinstance(value, int):
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    raise ModelError(f"the attribute '{name}' is {KINDS.get(type(value), 'something else')}, where {KINDS[kind]} is meant")


def _attribute(proto):
    """A number, text, list, tensor or graph."""
    kind = proto.type or next((number for number, name in
                               ((1, "f"), (2, "i"), (3, "s"), (4, "t"), (5, "g"), (6, "floats"), (7, "ints"), (8, "strings"))
                               if name in proto.has), 0)
    if kind == 3:
        return str(proto.s, "utf-8", "surrogateescape")
    if kind == 8:
        return [str(text, "utf-8", "surrogateescape") for text in proto.strings]
    fields = {1: "f", 2: "i", 4: "t", 5: "g", 6: "floats", 7: "ints", 9: "tensors", 10: "graphs", 11: "sparse_tensor", 13: "tp"}
    if kind not in fields:
        raise ModelError(f"the attribute '{proto.name}' is of the kind {kind}")
    return getattr(proto, fields[kind])


def _domain(name):
    return "" if name == "ai.onnx" else name


class Node:
    """What an op sees of its node."""

    def __init__(self, trace, proto, scope, values):
        self.trace, self.proto, self.scope, self.values = trace, proto, scope, values
        self.op, self.domain = proto.op_type, _domain(proto.domain)
        self.version = scope.opsets.get(self.domain, 1)
        self.codes = {}

    @property
    def where(self):
        name = f"'{self.proto.name}'" if self.proto.name else f"of '{next(iter(self.proto.output), '')}'"
        return f"{self.trace.model.name}: node {name} ({self.op}, opset {self.version})"

    def attr(self, name, default=None):
        for each in self.proto.attribute:
            if each.name == name:
                if each.ref_attr_name:
                    return _of_kind(name, self.scope.attributes.get(each.ref_attr_name, default), default)
                return _of_kind(name, _attribute(each), default)
        return default

    def need(self, name):
        found = self.attr(name)
        if found is None:
            raise ModelError(f"the attribute '{name}' is missing")
        return found

    def has(self, index):
        """Whether an optional input is there."""
        return index < len(self.values) and self.values[index] is not None

    def wants(self, index):
        """Whether somebody reads an output."""
        return index < len(self.proto.output) and self.proto.output[index] != ""

    def code(self, index=0):
        return self.values[index].code

    def _read(self, index, is_data):
        value = self.values[index]
        if value.known is not None:
            return value.known
        if value.inputs and not self.trace.is_stepwise:
            raise NeedsValue(value.inputs, is_data)
        return value.array

    def list(self, index, default=None):
        """The numbers of an input that says what is computed: a shape, axes."""
        return self._read(index, False).tolist() if self.has(index) else default

    def ints(self, index, default=None):
        """The same as integers in one list."""
        if not self.has(index):
            return default
        found = self._read(index, False)
        numbers = [found.item()] if found.ndim == 0 else _zyx._reshape(found, (found.size,)).tolist()
        return [int(number) for number in numbers]

    def number(self, index, default=None):
        if not self.has(index):
            return default
        found = self._read(index, False)
        if found.size != 1:
            raise ModelError(f"input {index} has the shape {list(found.shape)}, where a number is meant")
        return found.item() if found.ndim == 0 else _zyx._reshape(found, ()).item()

    def data(self, index):
        """The numbers of an input that are data; a graph with such a node runs step by step."""
        return self._read(index, True).tolist()

    def set_code(self, code, index=0):
        """The element type of a result."""
        self.codes[index] = code

    def refuse(self, what):
        raise _zyx.UnsupportedError(what)

    def run(self, graph, values, given=None):
        """The outputs of a graph that is an attribute, for these inputs; `given` has values of names of the graphs around it that
        are others there."""
        outer = self.scope
        if given:
            outer = _Scope(outer.opsets, outer)
            outer.names.update(given)
        return self.trace.graph(graph, values, outer)


class _Scope:
    """Names of a graph, and those of the graphs around it."""

    def __init__(self, opsets, outer=None, attributes=None):
        self.opsets, self.outer, self.names = opsets, outer, {}
        self.attributes = attributes if attributes is not None else outer.attributes if outer else {}

    def get(self, name):
        """Or None."""
        try:
            return self.find(name)
        except ModelError:
            return None

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        raise ModelError(f"nothing before it makes '{name}'")


class Trace:
    """One walk through the graph."""

    def __init__(self, model, is_stepwise):
        self.model, self.is_stepwise, self.depth, self.count = model, is_stepwise, 0, 0

    def outputs(self, inputs):
        scope = _Scope(self.model.opsets)
        scope.names.update(self.model.constants)
        scope.names.update((info.name, None) for info in self.model.inputs if info.kind == "optional")
        scope.names.update(inputs)
        self.nodes(self.model.proto.graph.node, scope)
        try:
            return [scope.find(output.name) for output in self.model.proto.graph.output]
        except ModelError as error:
            raise ModelError(f"{self.model.name}: outputs of the graph: {error}") from None

    def graph(self, graph, values, outer):
        if self.depth > _file.DEEPEST:
            raise ModelError(f"graphs and functions lie in each other more than {_file.DEEPEST} deep")
        scope = _Scope(outer.opsets, outer)
        scope.names.update(self.model.constants_of(graph))
        if len(values) > len(graph.input):
            raise ModelError(f"the graph '{graph.name}' has {len(graph.input)} inputs, and is given {len(values)}")
        scope.names.update((info.name, value) for info, value in zip(graph.input, values))
        self.depth += 1
        try:
            self.nodes(graph.node, scope)
        finally:
            self.depth -= 1
        return [scope.find(output.name) for output in graph.output]

    def nodes(self, protos, scope):
        for proto in protos:
            node = Node(self, proto, scope, None)
            self.count += 1
            try:
                if self.count > MOST_NODES and not self.is_stepwise:
                    node.refuse(f"a program of more than {MOST_NODES} nodes, of which loops and branches have the most")
                node.values = [scope.find(name) if name else None for name in proto.input]
                results = self.evaluate(node)
                if len(results) < len([name for name in proto.output if name]):
                    raise ModelError(f"it has {len(proto.output)} outputs, and the op makes {len(results)}")
            except NeedsValue as needed:
                needed.where = needed.where or node.where
                raise
            except ERRORS as error:
                raise _at(node, error) from error
            for name, result in zip(proto.output, results):
                if name:
                    scope.names[name] = result

    def evaluate(self, node):
        function = self.model.functions.get((node.domain, node.op, node.proto.overload))
        if function is not None:
            return self.call(function, node)
        found = OPS.get((node.domain, node.op))
        if found is None:
            node.refuse("this op is not one of zyx.onnx")
        found.check(len(node.values))
        if found.takes_values:
            results = found.function(node, *node.values)
            return list(results) if isinstance(results, (list, tuple)) else [results]
        for value in node.values:
            if isinstance(value, Strings):
                if node.op == "Equal":
                    from . import _texts
                    return [_texts.truths(*_texts.both(node, *node.values, lambda a, b: a == b))]
                node.refuse("this op of strings")
            if isinstance(value, Sequence):
                raise ModelError("an input is a sequence, where the op takes arrays")
        present = [value for value in node.values if value is not None]
        if all(value.known is not None for value in present):
            with _zyx.device_scope("reference"):
                results = self.results(node, found, [value and value.known for value in node.values])
                if sum(result.shape and math.prod(result.shape) or 1 for result in results) <= MOST_KNOWN:
                    _transforms.eval([result._array for result in results if result._array is not None])
                    for result in results:
                        if result.known is None:
                            result.known, result._array = result._array, None
                    return results
            node.codes = {}
        inputs = frozenset().union(*(value.inputs for value in present))
        bounded = [index for index, value in enumerate(node.values) if value is not None and value.count is not None]
        if bounded:
            return self.carried(node, found, bounded, inputs)
        results = self.results(node, found, [value and value.array for value in node.values])
        for result in results:
            if result.known is None:
                result.inputs = inputs
        return results

    def carried(self, node, found, bounded, inputs):
        """The results of a node with a bounded input, bounded as that is."""
        at, source = bounded[0], node.values[bounded[0]]
        rule = CARRIES.get(node.op) if node.domain == "" and len(bounded) == 1 else None
        axis = rule(node, at, source._array, source.axis) if rule else None
        if axis is None:
            raise NeedsValue(source.inputs, True)
        node.values[at] = Value(source._array, source.code, source.inputs)
        results = self.results(node, found, [value and value.array for value in node.values])
        for result in results:
            result.inputs, result.count, result.axis = inputs, source.count, axis
        return results

    def results(self, node, found, arrays):
        made = found.function(node, *arrays)
        values = []
        for index, result in enumerate(made if isinstance(made, (list, tuple)) else (made,)):
            if isinstance(result, Value):
                values.append(result)
            elif result is None:
                values.append(Value(None, 0))
            else:
                bounded, result = (result, result.array) if isinstance(result, Bounded) else (None, result)
                code = node.codes.get(index)
                if code is None:
                    first = node.values[0].code if node.values and node.values[0] is not None else None
                    keeps = found.keeps_type and first in _types.NARROW
                    code = first if keeps else _types.TYPES[result.dtype]
                values.append(Value(result, code))
                if bounded is not None:
                    values[-1].count, values[-1].axis = bounded.count, bounded.axis
        return values

    def call(self, function, node):
        """A function of the model, as if its nodes stood here."""
        if self.depth > _file.DEEPEST:
            raise ModelError(f"graphs and functions lie in each other more than {_file.DEEPEST} deep")
        if len(node.values) > len(function.input):
            raise ModelError(f"it has {len(node.values)} inputs, and the function takes {len(function.input)} at most")
        attributes = {proto.name: _attribute(proto) for proto in function.attribute_proto}
        for proto in node.proto.attribute:
            attributes[proto.name] = node.attr(proto.name)
        opsets = dict(node.scope.opsets)
        opsets.update((_domain(each.domain), each.version) for each in function.opset_import)
        scope = _Scope(opsets, attributes=attributes)
        values = node.values + [None] * (len(function.input) - len(node.values))
        scope.names.update(zip(function.input, values))
        self.depth += 1
        try:
            self.nodes(function.node, scope)
        finally:
            self.depth -= 1
        return [scope.find(name) for name in function.output]


# What nodes raise that cannot be meant: their attributes and inputs are none that the op's function looks at first.
ERRORS = (_zyx.Error, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError, struct.error)


# In texts of TypeError of Python and the binding, which are about operands and not about the node.
OF_PYTHON = re.compile(r"incompatible function arguments|unsupported operand|not supported between|object (is not|cannot|does not)|indices must|has no len|"
                       r"argument must be|bad operand|string or a real number")


def _text_of(node, error):
    """What is wrong, where Python's or the binding's own words are about neither the node nor the op."""
    if isinstance(error, (_zyx.Error, ValueError)):
        return str(error)
    if isinstance(error, ZeroDivisionError):
        return "an attribute or input is 0, by which something is divided"
    if isinstance(error, KeyError):
        return f"{error} is none of the values that are meant"
    if isinstance(error, RecursionError):
        return "an attribute or input goes deeper than Python's stack"
    if isinstance(error, IndexError) and None not in node.values:
        return f"an attribute or input has too few elements: {error}"
    if isinstance(error, (AttributeError, IndexError, TypeError)) and (None in node.values or "NoneType" in str(error)):
        return "an input or attribute that it needs is not there"
    if isinstance(error, AttributeError) or OF_PYTHON.search(str(error)):
        return "an input or attribute is of a kind that the op does not take"
    return str(error)


def _at(node, error):
    """The error with its node in front, once."""
    if getattr(error, "_has_node", False):
        return error
    kind = type(error) if isinstance(error, (_zyx.Error, ModelError)) else ModelError
    made = kind(f"{node.where}: {_text_of(node, error)}")
    made._has_node = True
    return made


class TensorInfo:
    """An input or output as the model declares it: name, element type, shape. Extents that the model leaves open are
    names or None, and an unknown rank is None.

        >>> from onnx import TensorProto, helper
        >>> x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
        >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
        >>> model = zyx.onnx.load(helper.make_model(graph).SerializeToString())
        >>> model.inputs[0].name, model.inputs[0].shape
        ('x', (2,))
    """

    def __init__(self, info):
        self.name = info.name
        proto, self.kind = info.type, "tensor"
        if proto is not None and (proto.sequence_type or proto.optional_type):
            self.kind = "sequence" if proto.sequence_type else "optional"
            proto = (proto.sequence_type or proto.optional_type).elem_type
            if proto is not None and proto.sequence_type:
                self.kind, proto = "sequence", proto.sequence_type.elem_type
        tensor = proto.tensor_type if proto is not None else None
        self.code = tensor.elem_type if tensor is not None else 0
        self.shape = None
        if tensor is not None and tensor.shape is not None:
            self.shape = tuple(dim.dim_value if "dim_value" in dim.has else dim.dim_param or None
                               for dim in tensor.shape.dim)

    @property
    def type(self):
        return _types.name_of(self.code)

    def __repr__(self):
        return f"<{self.kind} {self.name!r}: {self.type} {'?' if self.shape is None else list(self.shape)}>"


class Model:
    """A model that was loaded. Called with arrays, by position or by the names of its inputs, it returns what it
    computes: an array, or a tuple of them where it has several outputs. The first call with inputs of new types compiles
    a program, which later calls run.

        >>> from onnx import TensorProto, helper
        >>> x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
        >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
        >>> model = zyx.onnx.load(helper.make_model(graph).SerializeToString())
        >>> model(zyx.asarray([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, proto, folder, name, device):
        self.proto, self.folder, self.name = proto, folder, name
        self.device = device
        self.opsets = {_domain(each.domain): each.version for each in proto.opset_import}
        self.functions = {(_domain(each.domain), each.name, each.overload): each for each in proto.functions}
        self._constants = {}
        self._check()
        with _zyx.device_scope(self.device):
            self.constants = self.constants_of(proto.graph)
        self.inputs = [TensorInfo(info) for info in proto.graph.input if info.name not in self.constants]
        # Inputs with a value in the file: those of a model before IR 4 are weights, later ones may be given.
        self.optional_inputs = [TensorInfo(info) for info in proto.graph.input if info.name in self.constants]
        self.outputs = [TensorInfo(info) for info in proto.graph.output]
        self.specialized_inputs = ()
        self.is_stepwise = False
        self._programs, self._captures = Kept(), 0

    def __repr__(self):
        return f"<zyx.onnx.Model {self.name!r}: {self.inputs} -> {self.outputs}>"

    def _check(self):
        """Refuses what no node of this version does, before anything runs."""
        for domain, version in self.opsets.items():
            if domain in NEWEST and version > NEWEST[domain]:
                raise _zyx.UnsupportedError(f"{self.name}: opset {version} of '{domain or 'ai.onnx'}'; the newest one that "
                                            f"this version knows is {NEWEST[domain]}")
        missing = {}

        def visit(nodes, depth):
            for node in nodes:
                key = (_domain(node.domain), node.op_type)
                if key not in OPS and (*key, node.overload) not in self.functions:
                    missing.setdefault(key, node.name or next(iter(node.output), ""))
                for attribute in node.attribute:
                    for graph in ([attribute.g] if attribute.g is not None else []) + attribute.graphs:
                        visit(graph.node, depth + 1)

        visit(self.proto.graph.node, 0)
        for function in self.proto.functions:
            visit(function.node, 0)
        self._check_size()
        if missing:
            texts = [f"{'.'.join(filter(None, key))} (node '{name}')" for key, name in sorted(missing.items())]
            raise _zyx.UnsupportedError(f"{self.name}: ops that zyx.onnx has not: {', '.join(texts)}")

    def _check_size(self):
        """Refuses functions that call each other so often that no walk through them ends."""
        sizes, open_functions = {}, set()

        def size(nodes):
            total = len(nodes)
            for node in nodes:
                key = (_domain(node.domain), node.op_type, node.overload)
                # One that calls itself is refused when it is called.
                if key in self.functions and key not in open_functions:
                    if key not in sizes:
                        if len(open_functions) > _file.DEEPEST:
                            raise ModelError(f"{self.name}: functions call each other more than {_file.DEEPEST} deep")
                        open_functions.add(key)
                        sizes[key] = size(self.functions[key].node)
                        open_functions.discard(key)
                    total += sizes[key]
                total += sum(size(graph.node) for attribute in node.attribute
                             for graph in ([attribute.g] if attribute.g is not None else []) + attribute.graphs)
            return total

        total = size(self.proto.graph.node)
        if total > MOST_NODES:
            raise _zyx.UnsupportedError(f"{self.name}: a model of {total} nodes, with those of functions wherever they are called; "
                                        f"at most {MOST_NODES} are taken")

    def constants_of(self, graph):
        """Initializers by name, read once."""
        if id(graph) not in self._constants:
            if graph.sparse_initializer:
                raise _zyx.UnsupportedError(f"{self.name}: the graph '{graph.name}' has sparse initializers")
            self._constants[id(graph)] = {tensor.name: self.tensor(tensor) for tensor in graph.initializer}
        return self._constants[id(graph)]

    def tensor(self, proto):
        """The value of a TensorProto: small ones are known, others lie on the device."""
        try:
            made, code = _types.tensor_of(proto, self.folder, self.name)
        except ModelError:
            raise
        except ERRORS as error:
            kind = type(error) if isinstance(error, _zyx.Error) else ModelError
            raise kind(f"{self.name}: tensor '{proto.name}': {error}") from error
        if code == _types.STRING:
            return Strings(*made)
        if made.size <= MOST_KNOWN:
            with _zyx.device_scope("reference"):
                made, code = _types.tensor_of(proto, self.folder, self.name)
                _transforms.eval(made)
            return Value(None, code, known=made)
        return Value(made, code)

    def _bind(self, args, named):
        """Values by the names of inputs."""
        if len(args) > len(self.inputs):
            raise TypeError(f"{self.name}: {len(self.inputs)} inputs, and {len(args)} arguments")
        given = dict(zip([info.name for info in self.inputs], args))
        for name, value in named.items():
            if name in given:
                raise TypeError(f"{self.name}: the input '{name}' is given twice")
            given[name] = value
        infos = {info.name: info for info in self.inputs + self.optional_inputs}
        for name in given:
            if name not in infos:
                raise TypeError(f"{self.name}: there is no input '{name}'; there are {', '.join(infos) or 'none'}")
        for info in self.inputs:
            if info.name not in given and info.kind != "optional":
                raise TypeError(f"{self.name}: the input '{info.name}' is missing")
        return {name: self._value(infos[name], obj) for name, obj in given.items() if obj is not None}

    def _value(self, info, obj):
        if info.kind == "sequence" or (info.kind == "optional" and isinstance(obj, (list, tuple))):
            return Sequence([self._value_of(info, each) for each in obj], info.code)
        return self._value_of(info, obj)

    def _value_of(self, info, obj):
        if info.code == _types.STRING:
            return Strings(*_types.texts_of(obj))
        if isinstance(obj, (bool, int, float, list, tuple)) and info.code:
            from .._creation import asarray
            array, code = asarray(obj, dtype=_types.dtype_of(info.code)), info.code
        else:
            array, code = _types.from_object(obj)
        if info.code in _types.NARROW and array.dtype is _types.dtype_of(info.code):
            code = info.code
        if info.code and code != info.code:
            raise TypeError(f"{self.name}: the input '{info.name}' has elements of {info.type}, not {_types.name_of(code)}")
        if info.kind == "tensor" and info.shape is not None:
            fits = len(info.shape) == array.ndim and all(
                not isinstance(extent, int) or extent == other for extent, other in zip(info.shape, array.shape))
            if not fits:
                raise ValueError(f"{self.name}: the input '{info.name}' has the shape {list(info.shape)}, not "
                                 f"{list(array.shape)}")
        return Value(array, code, frozenset([info.name]))

    def __call__(self, *args, **named):
        results = [_plain(each) for each in self._outputs(args, named)]
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs):
        """Outputs by name as arrays of NumPy, of inputs by name."""
        return {info.name: _as_numpy(each) for info, each in zip(self.outputs, self._outputs((), inputs))}

    def _outputs(self, args, named):
        with _zyx.device_scope(self.device):
            values = self._bind(args, named)
            # Texts are computed by Python, and are no arguments of a program.
            self.is_stepwise |= any(info.code == _types.STRING for info in self.inputs)
            while not self.is_stepwise:
                try:
                    return self._by_program(values)
                except NeedsValue as needed:
                    names = needed.inputs & values.keys()
                    sizes = sum(_size(values[name]) for name in names)
                    if needed.is_data or not names - set(self.specialized_inputs) or sizes > MOST_KNOWN:
                        self.is_stepwise = True
                        break
                    self.specialized_inputs = tuple(sorted(names | set(self.specialized_inputs)))
            # What data decides is read between programs.
            if _zyx._is_capturing():
                raise _zyx.UnsupportedError(f"{self.name}: the model runs step by step, which no part of a program does")
            results = Trace(self, True).outputs(values)
            _transforms.eval([each.array for each in _leaves(results)])
            return results

    def _by_program(self, values):
        fixed = {name: values[name] for name in self.specialized_inputs if name in values}
        free = {name: value for name, value in values.items() if name not in fixed}
        leaves = _leaves(free.values())
        arrays = [leaf.array for leaf in leaves]
        statics = tuple((name, _structure(value), tuple(_zyx._bytes(leaf.array) for leaf in _leaves([value])))
                        for name, value in fixed.items())
        key = (tuple((name, _structure(value)) for name, value in free.items()), statics)
        found = self._programs.get(key)
        if found is None:
            found = self._program(free, fixed)
        program, made = found
        computed = iter(program(arrays))
        if _zyx._is_capturing() and any(leaf.count is not None for leaf in _leaves(made[0])):
            raise _zyx.UnsupportedError(f"{self.name}: data says how large an output is, which no part of a program does")
        left = self._programs.put(key, found)
        if left is not None:
            self._captures += left[0].captures
        return [_filled(each, computed) for each in made[0]]

    def _program(self, free, fixed):
        made = []

        def function(arrays):
            with _zyx.device_scope(self.device):
                rest = iter(arrays)
                inputs = {name: _replaced(value, rest, frozenset([name])) for name, value in free.items()}
                inputs.update((name, _as_known(value)) for name, value in fixed.items())
                results = Trace(self, False).outputs(inputs)
                made[:] = [[_hollow(each) for each in results]]
                return [part for leaf in _leaves(results) for part in leaf.parts]

        return _zyx._Function(function, []), made

    @property
    def captures(self):
        """How often a program was made of the graph."""
        return self._captures + sum(program.captures for program, _ in self._programs.values())


def _leaves(values):
    result = []
    for value in values:
        if isinstance(value, Sequence):
            result += _leaves(value.items)
        elif isinstance(value, Value):
            result.append(value)
    return result


def _size(value):
    return sum(math.prod(leaf.shape) for leaf in _leaves([value]))


def _structure(value):
    if isinstance(value, Sequence):
        return ("sequence", value.code, tuple(_structure(item) for item in value.items))
    return (value.code, value.dtype, value.shape)


def _replaced(value, arrays, inputs):
    if isinstance(value, Sequence):
        return Sequence([_replaced(item, arrays, inputs) for item in value.items], value.code)
    return Value(next(arrays), value.code, inputs)


def _hollow(value):
    """What a result is, without its value."""
    if isinstance(value, Sequence):
        return Sequence([_hollow(item) for item in value.items], value.code)
    if not isinstance(value, Value):
        return value
    made = Value(None, value.code)
    made.count, made.axis = None if value.count is None else True, value.axis
    return made


def _filled(value, arrays):
    if value is None or isinstance(value, Strings):
        return value
    if isinstance(value, Sequence):
        return Sequence([_filled(item, arrays) for item in value.items], value.code)
    array = next(arrays)
    if value.count is not None:
        from ._bounded import trimmed
        array = trimmed(array, next(arrays), value.axis)
    return Value(array, value.code)


def _as_known(value):
    if isinstance(value, Sequence):
        return Sequence([_as_known(item) for item in value.items], value.code)
    with _zyx.device_scope("reference"):
        copy = _zyx._from_bytes(_zyx._bytes(value.array), value.dtype, value.shape)
    return Value(None, value.code, known=copy)


def _plain(value):
    if value is None:
        return None
    if isinstance(value, Strings):
        return _types.nested(value.texts, value.shape)
    return [_plain(item) for item in value.items] if isinstance(value, Sequence) else value.array


def _as_numpy(value):
    if value is None:
        return None
    if isinstance(value, Sequence):
        return [_as_numpy(item) for item in value.items]
    if isinstance(value, Strings):
        return _types.texts_to_numpy(value.texts, value.shape)
    return _types.to_numpy(value.array, value.code)
