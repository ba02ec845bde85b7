# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of ONNX. Those that zyx has not are kept in a wider dtype, which holds each of their values."""
import math
import os
import struct

from .. import _small, _zyx
from .._creation import asarray
from . import _file
from ._file import ModelError

# The number of a type in files, its name in NumPy or ml_dtypes, and the dtype that holds it.
FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64 = range(1, 14)
BFLOAT16, FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ = 16, 17, 18, 19, 20
UINT4, INT4, FLOAT4E2M1, FLOAT8E8M0, UINT2, INT2 = 21, 22, 23, 24, 25, 26

DTYPES = {
    FLOAT: _zyx.float32, UINT8: _zyx.uint8, INT8: _zyx.int8, UINT16: _zyx.uint16, INT16: _zyx.int16,
    INT32: _zyx.int32, INT64: _zyx.int64, BOOL: _zyx.bool, FLOAT16: _zyx.float16, DOUBLE: _zyx.float64,
    UINT32: _zyx.uint32, UINT64: _zyx.uint64, BFLOAT16: _zyx.bfloat16, FLOAT8E4M3FN: _zyx.float8_e4m3fn,
    FLOAT8E5M2: _zyx.float8_e5m2,
}
TYPES = {dtype: code for code, dtype in DTYPES.items()}
# Types without a dtype: their name, and the dtype that keeps their values.
NARROW = {
    UINT4: ("uint4", _zyx.uint8), INT4: ("int4", _zyx.int8), UINT2: ("uint2", _zyx.uint8), INT2: ("int2", _zyx.int8),
    FLOAT8E4M3FNUZ: ("float8_e4m3fnuz", _zyx.float32), FLOAT8E5M2FNUZ: ("float8_e5m2fnuz", _zyx.float32),
    FLOAT4E2M1: ("float4_e2m1fn", _zyx.float32), FLOAT8E8M0: ("float8_e8m0fnu", _zyx.float32),
}
OTHERS = {0: "undefined", STRING: "string", 14: "complex64", 15: "complex128"}

# Integers of few bits: how many, and whether they have a sign.
INTEGERS = {code: _small.INTEGERS[NARROW[code][0]] for code in (UINT4, INT4, UINT2, INT2)}
# Floats of few bits, as _small.FLOATS describes them.
FLOATS = {code: _small.FLOATS[name] for code, name in (
    (FLOAT8E4M3FN, "float8_e4m3fn"), (FLOAT8E5M2, "float8_e5m2"), (FLOAT8E4M3FNUZ, "float8_e4m3fnuz"), (FLOAT8E5M2FNUZ, "float8_e5m2fnuz"),
    (FLOAT4E2M1, "float4_e2m1fn"))}


def name_of(code):
    if code in DTYPES:
        return DTYPES[code].name
    return NARROW[code][0] if code in NARROW else OTHERS.get(code, f"type {code}")


def dtype_of(code):
    """The dtype that holds an element type."""
    if code in DTYPES:
        return DTYPES[code]
    if code in NARROW:
        return NARROW[code][1]
    raise _zyx.UnsupportedError(f"zyx has no elements of the type {name_of(code)}")


def bits_of(code):
    return INTEGERS[code][0] if code in INTEGERS else 4 if code == FLOAT4E2M1 else 8 * _itemsize(code)


def _itemsize(code):
    return 1 if code in NARROW else DTYPES[code].itemsize


def decode(bits, code):
    """The number that bits of a narrow type mean."""
    if code in INTEGERS:
        width, signed = INTEGERS[code]
        return bits - (1 << width) if signed and bits >> (width - 1) else bits
    if code == FLOAT8E8M0:
        return math.nan if bits == 0xFF else 2.0**(bits - 127)
    digits, least, largest, _, _, signed_zero = FLOATS[code]
    width = 4 if code == FLOAT4E2M1 else 8
    if width == 8 and not signed_zero and bits == 0x80:
        return math.nan
    sign = -1.0 if bits >> (width - 1) else 1.0
    exponent = (bits >> digits) & ((1 << (width - 1 - digits)) - 1)
    fraction = bits & ((1 << digits) - 1)
    if exponent == 0:
        return sign * fraction * 2.0**(least - digits)
    return sign * (1 + fraction * 2.0**-digits) * 2.0**(exponent - 1 + least)


def encode(number, code):
    """The bits of a number that a narrow type holds."""
    if code in INTEGERS:
        return number & ((1 << INTEGERS[code][0]) - 1)
    table = _encodings.get(code)
    if table is None:
        width = 4 if code == FLOAT4E2M1 else 8
        table = _encodings[code] = {}
        for bits in range(1 << width):
            value = decode(bits, code)
            table[struct.pack("<d", value) if value == value else None] = bits
    return table[struct.pack("<d", number) if number == number else None]


_encodings = {}


def _unpacked(data, code, count):
    """Numbers of fewer than 8 bits, the first one in the low bits."""
    width = bits_of(code)
    each, mask = 8 // width, (1 << width) - 1
    numbers = [decode((byte >> (width * place)) & mask, code) for byte in data for place in range(each)]
    return numbers[:count]


def _external(tensor, folder, name):
    """Bytes of a file beside the model."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise ModelError(f"{name}: its data lies in the file '{location}', and a model of bytes has no folder; "
                         "load(path) has one")
    if not location or os.path.isabs(location):
        raise ModelError(f"{name}: external data at '{location}', which is no path in the model's folder")
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, location))
    # Links are followed before that is asked.
    if os.path.commonpath([root, path]) != root:
        raise ModelError(f"{name}: external data at '{location}', outside of the model's folder")
    try:
        start, size = int(entries.get("offset", 0)), int(entries.get("length", -1))
    except ValueError:
        raise ModelError(f"{name}: offset and length of external data are no numbers") from None
    try:
        with _file.opened(path, f"{name}: external data at '{location}'") as file:
            whole = os.fstat(file.fileno()).st_size
            if size < 0:
                size = whole - start
            if start < 0 or size < 0 or start + size > whole:
                raise ModelError(f"{name}: external data of {size} bytes from byte {start} on, but '{location}' has {whole}")
            file.seek(start)
            return file.read(size)
    except OSError as error:
        raise ModelError(f"{name}: external data at '{location}': {error.strerror}") from None


def tensor_of(tensor, folder, owner):
    """The array of a TensorProto, and its element type. Strings are a list of texts and a shape."""
    name = f"{owner}: tensor '{tensor.name}'" if tensor.name else f"{owner}: a tensor"
    code, shape = tensor.data_type, tuple(tensor.dims)
    if any(extent < 0 for extent in shape):
        raise ModelError(f"{name}: the shape {list(shape)}")
    if tensor.has & {"segment"}:
        raise ModelError(f"{name}: tensors in segments are not read")
    count = math.prod(shape)
    if code == STRING:
        if len(tensor.string_data) != count:
            raise ModelError(f"{name}: {len(tensor.string_data)} texts for the shape {list(shape)}")
        return ([str(text, "utf-8", "surrogateescape") for text in tensor.string_data], shape), code
    dtype = dtype_of(code)
    raw = None
    if tensor.data_location == 1:
        raw = _external(tensor, folder, name)
    elif "raw_data" in tensor.has:
        raw = tensor.raw_data
    if raw is not None:
        size = (count * bits_of(code) + 7) // 8
        if len(raw) != size:
            raise ModelError(f"{name}: {len(raw)} bytes, but {count} elements of {name_of(code)} are {size}")
        if code in NARROW:
            numbers = _unpacked(raw, code, count) if bits_of(code) < 8 else [decode(byte, code) for byte in raw]
            return _of_numbers(numbers, dtype, shape), code
        if code == BOOL and any(byte > 1 for byte in bytes(raw)):
            raise ModelError(f"{name}: bools with other bytes than 0 and 1")
        if count and shape:
            # One copy of what may be large, out of a file that is mapped.
            letter = {1: "?" if code == BOOL else "B", 2: "H", 4: "I", 8: "Q"}[dtype.itemsize]
            # What was read of a file of its own is nobody else's.
            is_own = tensor.data_location == 1
            return _zyx._from_buffer(memoryview(raw).cast("B").cast(letter, shape), dtype, is_own), code
        return _zyx._from_bytes(bytes(raw), dtype, shape), code
    if code in (FLOAT,):
        numbers, letter = tensor.float_data, "f"
    elif code == DOUBLE:
        numbers, letter = tensor.double_data, "d"
    elif code == INT64:
        numbers, letter = tensor.int64_data, "q"
    elif code in (UINT32, UINT64):
        numbers, letter = [number & 0xFFFFFFFFFFFFFFFF for number in tensor.uint64_data], "Q"
    else:
        numbers, letter = tensor.int32_data, None
    if code in NARROW and bits_of(code) < 8:
        numbers = _unpacked([number & 0xFF for number in numbers], code, count)
    elif code in NARROW:
        numbers = [decode(number & 0xFF, code) for number in numbers]
    if len(numbers) != count:
        raise ModelError(f"{name}: {len(numbers)} elements for the shape {list(shape)}")
    if code in NARROW:
        return _of_numbers(numbers, dtype, shape), code
    if letter is not None:
        wide = {"f": _zyx.float32, "d": _zyx.float64, "q": _zyx.int64, "Q": _zyx.uint64}[letter]
        return _zyx._cast(_zyx._from_bytes(struct.pack(f"<{count}{letter}", *numbers), wide, shape), dtype), code
    # Small integers, and the bits of small floats.
    width = 8 * dtype.itemsize
    data = b"".join((number & ((1 << width) - 1)).to_bytes(width // 8, "little") for number in numbers)
    return _zyx._from_bytes(data, dtype, shape), code


def _of_numbers(numbers, dtype, shape):
    letter, wide = ("d", _zyx.float64) if dtype.is_float else ("q", _zyx.int64)
    return _zyx._cast(_zyx._from_bytes(struct.pack(f"<{len(numbers)}{letter}", *numbers), wide, shape), dtype)


def from_object(obj):
    """The array of a number, list, array or object of another library, and its element type."""
    name = getattr(getattr(obj, "dtype", None), "name", None)
    for code, (narrow, dtype) in NARROW.items():
        if name == narrow and not isinstance(obj, _zyx.Array):
            return asarray(obj.astype(dtype.name)), code
    if isinstance(obj, (list, tuple)) and not obj:
        return asarray(obj), FLOAT
    array = asarray(obj)
    return array, TYPES[array.dtype]


def to_numpy(array, code):
    """An array of NumPy of an element type, with ml_dtypes for those that NumPy has not."""
    import numpy
    found = numpy.asarray(array)
    if code in NARROW:
        import ml_dtypes
        return found.astype(getattr(ml_dtypes, NARROW[code][0]))
    return found


def texts_of(obj):
    """Texts in row-major order and their shape, of a text, nested lists or an array of NumPy."""
    if hasattr(obj, "tolist"):
        shape, texts = tuple(obj.shape), obj.tolist()
        for _ in range(len(shape) - 1):
            texts = [text for row in texts for text in row]
        texts = texts if shape else [texts]
    else:
        from .._creation import _list_shape
        shape, texts = _list_shape(obj)
    texts = [str(text, "utf-8") if isinstance(text, bytes) else text for text in texts]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("an input of strings is given something else")
    return texts, shape


def nested(texts, shape):
    """Lists of lists of a shape; without dimensions the text itself."""
    if not shape:
        return texts[0]
    step = math.prod(shape[1:])
    return [nested(texts[at * step:(at + 1) * step], shape[1:]) for at in range(shape[0])]


def texts_to_numpy(texts, shape):
    import numpy
    found = numpy.empty(len(texts), dtype=object)
    found[:] = texts
    return found.reshape(shape)
