# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files: protocol buffers, read without the packages onnx and protobuf, so that a file may have any size."""
import mmap
import os
import stat
import struct


class ModelError(ValueError):
    """A file that is no ONNX model, or one that says what cannot be meant.

        >>> try:
        ...     zyx.onnx.load(b"no model")
        ... except zyx.onnx.ModelError as error:
        ...     isinstance(error, ValueError)
        True
    """


# Messages: a number, the name of a field, and its kind. A kind in brackets is a field that repeats.
SCHEMAS = {
    "ModelProto": {
        1: ("ir_version", "int"), 7: ("graph", "GraphProto"), 8: ("opset_import", ["OperatorSetIdProto"]),
        14: ("metadata_props", ["StringStringEntryProto"]), 25: ("functions", ["FunctionProto"]),
    },
    "GraphProto": {
        1: ("node", ["NodeProto"]), 2: ("name", "text"), 5: ("initializer", ["TensorProto"]),
        11: ("input", ["ValueInfoProto"]), 12: ("output", ["ValueInfoProto"]),
        15: ("sparse_initializer", ["SparseTensorProto"]),
    },
    "NodeProto": {
        1: ("input", ["text"]), 2: ("output", ["text"]), 3: ("name", "text"), 4: ("op_type", "text"),
        5: ("attribute", ["AttributeProto"]), 7: ("domain", "text"), 8: ("overload", "text"),
    },
    "AttributeProto": {
        1: ("name", "text"), 2: ("f", "float"), 3: ("i", "int"), 4: ("s", "bytes"), 5: ("t", "TensorProto"),
        6: ("g", "GraphProto"), 7: ("floats", ["float"]), 8: ("ints", ["int"]), 9: ("strings", ["bytes"]),
        10: ("tensors", ["TensorProto"]), 11: ("graphs", ["GraphProto"]), 14: ("tp", "TypeProto"),
        20: ("type", "int"), 21: ("ref_attr_name", "text"), 22: ("sparse_tensor", "SparseTensorProto"),
    },
    "TensorProto": {
        1: ("dims", ["int"]), 2: ("data_type", "int"), 3: ("segment", "bytes"), 4: ("float_data", ["float"]),
        5: ("int32_data", ["int"]), 6: ("string_data", ["bytes"]), 7: ("int64_data", ["int"]), 8: ("name", "text"),
        9: ("raw_data", "bytes"), 10: ("double_data", ["double"]), 11: ("uint64_data", ["int"]),
        13: ("external_data", ["StringStringEntryProto"]), 14: ("data_location", "int"),
    },
    "SparseTensorProto": {1: ("values", "TensorProto"), 2: ("indices", "TensorProto"), 3: ("dims", ["int"])},
    "StringStringEntryProto": {1: ("key", "text"), 2: ("value", "text")},
    "OperatorSetIdProto": {1: ("domain", "text"), 2: ("version", "int")},
    "ValueInfoProto": {1: ("name", "text"), 2: ("type", "TypeProto")},
    "TypeProto": {
        1: ("tensor_type", "TypeProto.Tensor"), 4: ("sequence_type", "TypeProto.Sequence"),
        5: ("map_type", "TypeProto.Map"), 8: ("sparse_tensor_type", "TypeProto.Tensor"),
        9: ("optional_type", "TypeProto.Sequence"),
    },
    "TypeProto.Tensor": {1: ("elem_type", "int"), 2: ("shape", "TensorShapeProto")},
    "TypeProto.Sequence": {1: ("elem_type", "TypeProto")},
    "TypeProto.Map": {1: ("key_type", "int"), 2: ("value_type", "TypeProto")},
    "TensorShapeProto": {1: ("dim", ["TensorShapeProto.Dimension"])},
    "TensorShapeProto.Dimension": {1: ("dim_value", "int"), 2: ("dim_param", "text")},
    "FunctionProto": {
        1: ("name", "text"), 4: ("input", ["text"]), 5: ("output", ["text"]), 6: ("attribute", ["text"]),
        7: ("node", ["NodeProto"]), 9: ("opset_import", ["OperatorSetIdProto"]), 10: ("domain", "text"),
        11: ("attribute_proto", ["AttributeProto"]), 13: ("overload", "text"),
    },
}
EMPTY = {"int": 0, "float": 0.0, "double": 0.0, "text": "", "bytes": b""}
# Graphs in graphs deeper than this are refused: files are not trusted.
DEEPEST = 64


class Message:
    """A message with an attribute for each field; `has` names those that the file says."""

    def __init__(self, kind):
        self.kind = kind
        self.has = set()

    def __getattr__(self, name):
        # Only called for what the file does not say.
        for field, kind in SCHEMAS[self.kind].values():
            if field == name:
                value = [] if isinstance(kind, list) else EMPTY.get(kind)
                if isinstance(kind, list):
                    setattr(self, name, value)
                return value
        raise AttributeError(name)

    def __repr__(self):
        return f"<{self.kind} {getattr(self, 'name', '')!r}>"


class _Reader:
    def __init__(self, data, name):
        self.data, self.name = data, name

    def refuse(self, what, at):
        raise ModelError(f"{self.name}: {what}, at byte {at}")

    def varint(self, at, end):
        value = shift = 0
        start = at
        while True:
            if at >= end:
                self.refuse("the file is cut in a number", start)
            byte = self.data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, at
            shift += 7
            if shift > 63:
                self.refuse("a number of more than 64 bits", start)

    def message(self, kind, at, end, depth=0):
        if depth > DEEPEST:
            self.refuse(f"messages lie in each other more than {DEEPEST} deep", at)
        schema, result = SCHEMAS[kind], Message(kind)
        fields = result.__dict__
        while at < end:
            start = at
            tag, at = self.varint(at, end)
            number, wire = tag >> 3, tag & 7
            if wire == 0:
                raw, at = self.varint(at, end)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
                raw, at = (at, at + size), at + size
            elif wire == 2:
                size, at = self.varint(at, end)
                raw, at = (at, at + size), at + size
            else:
                self.refuse(f"a field of the unknown kind {wire} in {kind}: this is no ONNX file", start)
            if at > end:
                self.refuse(f"the file is cut: a field of {kind} ends behind it", start)
            if number not in schema:
                continue
            name, expected = schema[number]
            repeats = isinstance(expected, list)
            inner = expected[0] if repeats else expected
            values = self.values(inner, wire, raw, depth, f"{kind}.{name}", start, repeats)
            result.has.add(name)
            if repeats:
                fields.setdefault(name, []).extend(values)
            else:
                fields[name] = values[-1]
        return result

    def values(self, kind, wire, raw, depth, name, start, repeats):
        """The values of one field on the wire; numbers may be packed."""
        if kind == "int":
            if wire == 0:
                return [_signed(raw)]
            if wire == 2 and repeats:
                values, (at, end) = [], raw
                while at < end:
                    value, at = self.varint(at, end)
                    values.append(_signed(value))
                return values
        elif kind in ("float", "double"):
            code, size, alone = ("f", 4, 5) if kind == "float" else ("d", 8, 1)
            if wire == alone or (wire == 2 and repeats):
                at, end = raw
                if (end - at) % size:
                    self.refuse(f"{name} has {end - at} bytes, which are no numbers of {size}", start)
                return list(struct.unpack(f"<{(end - at) // size}{code}", self.data[at:end]))
        elif wire == 2:
            at, end = raw
            if kind == "bytes":
                return [self.data[at:end]]
            if kind == "text":
                try:
                    return [str(self.data[at:end], "utf-8")]
                except UnicodeDecodeError:
                    self.refuse(f"{name} is no text of UTF-8", start)
            return [self.message(kind, at, end, depth + 1)]
        self.refuse(f"{name} has another kind than ONNX gives it", start)


def _signed(value):
    return value - 2**64 if value >= 2**63 else value


def opened(path, name):
    """A file for reading. Another process's end of a pipe is not waited for: that is none."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise ModelError(f"{name}: is no file")
    return os.fdopen(number, "rb")


def read(source, name=None):
    """The ModelProto of a path, or of bytes, and the folder in which its external data may lie."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        name = name or os.path.basename(path)
        with opened(path, name) as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError(f"{name}: the file is empty")
            # Pages of a file, which stay there as long as a part of it is in use.
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        folder = os.path.dirname(os.path.abspath(path))
    else:
        data, folder, name = memoryview(source).cast("B"), None, name or "model"
        if not len(data):
            raise ModelError(f"{name}: there are no bytes")
    model = _Reader(data, name).message("ModelProto", 0, len(data))
    if model.graph is None:
        raise ModelError(f"{name}: there is no graph in it")
    if not model.opset_import:
        raise ModelError(f"{name}: it does not say of which opset it is")
    return model, folder, name


def parse(kind, data, name):
    """A message of another kind, such as a TensorProto in a file of its own."""
    data = memoryview(data).cast("B")
    return _Reader(data, name).message(kind, 0, len(data))
