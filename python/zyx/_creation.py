# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of constants, and of elements of other objects."""
import math
import operator
import struct
import sys

from . import _dtypes, _zyx
from ._dtypes import float32, float64, int64, number_dtype, to_dtype
from ._zyx import Array

CODES = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
         "uint64": "Q", "float32": "f", "float64": "d"}
# Dtypes of NumPy arrays by ml_dtypes, which the buffer protocol cannot name.
EXTENSIONS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


def _placed(array, device):
    return array if device is None else _zyx._to_device(array, device)


def to_index(number, what):
    """Whatever may be an index, as an integer of Python."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{what} is an integer, and no {type(number).__name__}") from None


def to_int(number, what):
    """An integer that the compiler counts with."""
    found = to_index(number, what)
    if not -2**63 <= found < 2**63:
        raise OverflowError(f"{what}: {_short(found)} is no int64")
    return found


def _short(number):
    """An integer for a message, which thousands of digits say nothing to."""
    return str(number) if number.bit_length() <= 128 else f"an integer of {number.bit_length()} bits"


def to_shape(shape):
    """A shape of an int or a sequence of ints."""
    if isinstance(shape, int):
        return (to_int(shape, "an extent"),)
    try:
        extents = tuple(shape)
    except TypeError:
        # Scalars of other libraries.
        extents = (shape,)
    return tuple(to_int(extent, "an extent") for extent in extents)


def _list_shape(obj):
    """The shape of nested lists, and their numbers in order."""
    if not isinstance(obj, (list, tuple)):
        return (), [obj]
    shapes, numbers = [], []
    for each in obj:
        shape, inner = _list_shape(each)
        shapes.append(shape)
        numbers += inner
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(f"asarray: lists of different shapes side by side: {sorted(set(shapes))}")
    return (len(obj),) + (shapes[0] if shapes else ()), numbers


def _has_arrays(obj):
    if isinstance(obj, (list, tuple)):
        return any(_has_arrays(each) for each in obj)
    return not isinstance(obj, (bool, int, float, complex))


def _from_numbers(obj, dtype):
    shape, numbers = _list_shape(obj)
    for number in numbers:
        number_dtype(number)
    if any(isinstance(number, float) for number in numbers):
        source = float64
    elif numbers and all(isinstance(number, bool) for number in numbers):
        source = _zyx.bool
    elif any(number > 2**63 - 1 for number in numbers):
        source = _zyx.uint64
    else:
        source = int64 if numbers else float64
    target = dtype or (float32 if source is float64 else source)
    info = _dtypes.iinfo(target) if target.is_signed or target.is_unsigned else None
    if info and source is not float64:
        for number in numbers:
            if not info.min <= number <= info.max:
                raise OverflowError(f"asarray: no {target!r} is {_short(number)}")
    # Integers fit, as was looked at. A float that is no float32 but infinite is the cast's, which knows that.
    if (info and source is not float64 and source is not _zyx.bool) or (source is float64 and target is float32):
        try:
            return _zyx._from_bytes(struct.pack("<" + CODES[target.name] * len(numbers), *numbers), target, shape)
        except (OverflowError, struct.error):
            pass
    try:
        data = struct.pack("<" + CODES[source.name] * len(numbers), *numbers)
    except (OverflowError, struct.error):
        raise OverflowError(f"asarray: no {source!r} is {_short(max((each for each in numbers if isinstance(each, int)), key=abs))}") from None
    return _zyx._cast(_zyx._from_bytes(data, source, shape), target)


def _is_scalar(obj, numpy):
    return isinstance(obj, (bool, int, float)) or isinstance(obj, numpy.generic) and (
        obj.dtype.name in CODES or obj.dtype.name in ("float16", *EXTENSIONS))


def _all_scalars(obj, numpy):
    if isinstance(obj, (list, tuple)):
        return all(_all_scalars(each, numpy) for each in obj)
    return _is_scalar(obj, numpy)


def _from_scalars(obj, dtype):
    """Of nested lists with scalars of NumPy, and numbers of Python between them: one array, and not a stack of as many.
    None where something else is among them."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not _all_scalars(obj, numpy):
        return None
    shape, scalars = _list_shape(obj)
    # A float64 of NumPy is a float of Python, too, and goes as one.
    kinds = {type(scalar): scalar for scalar in scalars if not isinstance(scalar, (bool, int, float))}
    numbers = [scalar for scalar in scalars if isinstance(scalar, (bool, int, float))]
    made = [to_dtype(scalar.dtype) for scalar in kinds.values()]
    # What the numbers become alone, and whether an integer fits that, or what is asked for.
    for of_kind in (lambda number: isinstance(number, float), lambda number: isinstance(number, bool),
                    lambda number: isinstance(number, int) and not isinstance(number, bool)):
        own = [number for number in numbers if of_kind(number)]
        if own:
            made.append(_from_numbers(own, None).dtype)
            if dtype is not None:
                _from_numbers(own, dtype)
    common = _dtypes.result_type(*made)
    # NumPy knows the names of ml_dtypes' dtypes by their scalars alone.
    name = next((scalar.dtype for scalar in kinds.values() if scalar.dtype.name == common.name), common.name)
    with numpy.errstate(over="ignore"):
        found = _from_object(numpy.array(scalars, dtype=name).reshape(shape), False)
    return _zyx._cast(found, dtype or common)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of a number, nested lists, an array, or any object with the buffer protocol or DLPack.

    Elements of other libraries are copied, because they may change. With copy=False they are not, and must not change.
    Floats of Python, of which a float64 of NumPy is one, become float32; other scalars of NumPy keep their dtype.

        >>> zyx.asarray([[1, 2], [3, 4]]).shape
        (2, 2)
    """
    dtype = None if dtype is None else to_dtype(dtype)
    if isinstance(obj, _zyx.Parameter):
        obj = obj.value
    if isinstance(obj, Array):
        # Nothing is written, so that two handles of one value are as good as a copy.
        result = _zyx._cast(obj, dtype or obj.dtype)
        return _placed(result, device)
    if isinstance(obj, (list, tuple)) and _has_arrays(obj):
        if copy is False:
            raise ValueError("asarray: copy=False, but a list of arrays needs a copy")
        scalars = _from_scalars(obj, dtype)
        if scalars is not None:
            return _placed(scalars, device)
        parts = [asarray(each, dtype=dtype) for each in obj]
        common = _dtypes.result_type(*parts)
        return _placed(_zyx._stack([_zyx._cast(part, common) for part in parts], 0), device)
    if isinstance(obj, (bool, int, float, complex, list, tuple)):
        if copy is False:
            raise ValueError("asarray: copy=False, but numbers of Python need a copy")
        return _placed(_from_numbers(obj, dtype), device)
    result = _from_object(obj, copy is False)
    if dtype is not None and result.dtype is not dtype:
        if copy is False:
            raise ValueError("asarray: copy=False, but another dtype needs a copy")
        result = _zyx._cast(result, dtype)
    return _placed(result, device)


def _from_object(obj, share):
    name = getattr(getattr(obj, "dtype", None), "name", None)
    if name in EXTENSIONS and hasattr(obj, "view"):
        return _zyx._from_buffer(obj.view(EXTENSIONS[name]), getattr(_zyx, name), share)
    try:
        view = memoryview(obj)
    except TypeError:
        view = None
    if view is not None:
        return _zyx._from_buffer(obj, None, share)
    if hasattr(obj, "__dlpack__"):
        shared = from_dlpack(obj)
        return shared if share else _copied(shared)
    if hasattr(obj, "__array__"):
        return _zyx._from_buffer(obj.__array__(), None, share)
    raise TypeError(f"asarray: {type(obj).__name__} is no number, list, buffer or DLPack array")


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of another library, which must not change from then on. Bools are copied, and with
    copy=True all elements are.

        >>> zyx.from_dlpack(zyx.asarray([1, 2])).tolist()
        [1, 2]
    """
    if isinstance(x, Array):
        return _placed(x, device)
    if not hasattr(x, "__dlpack_device__") or not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ and __dlpack_device__")
    kind, number = map(int, x.__dlpack_device__())
    if kind in HOST_KINDS:
        result = _of_capsule(x, _capsule(x))
    elif kind in KINDS:
        with _zyx.device_scope(f"{KINDS[kind]}:{number}"):
            result = _of_capsule(x, _capsule(x, stream=_zyx._current_stream()[2]))
    else:
        raise BufferError(f"from_dlpack: the array lies on a device of DLPack's kind {kind}, of which zyx has none")
    return _placed(_copied(result) if copy else result, device)


# DLPack's numbers: memory of the host, and what CUDA has pinned there; and of cards.
HOST_KINDS, KINDS = (1, 3), {2: "cuda", 10: "hip"}


def _capsule(x, **stream):
    """What another library gives, which keeps the memory even where that is a copy and none of x's. Of memory of a device
    all that makes it is put in front of the stream."""
    try:
        return x.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:
        # From before DLPack had versions.
        return x.__dlpack__(**stream)


def _of_capsule(x, capsule):
    try:
        return _zyx._from_dlpack(capsule)
    except TypeError:
        # The binding's words are those of an overload.
        raise BufferError(f"from_dlpack: {type(x).__name__}.__dlpack__ gives {type(capsule).__name__} where a capsule of DLPack is meant "
                          "that nobody has taken, of numbers on the device that __dlpack_device__ names") from None


def _copied(x):
    with _zyx.device_scope(x.device):
        return _zyx._from_bytes(_zyx._bytes(x), x.dtype, x.shape)


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one number.

        >>> zyx.full((2,), 7).tolist()
        [7, 7]
    """
    shape = to_shape(shape)
    if isinstance(fill_value, Array):
        fill_value = fill_value.item()
    dtype = number_dtype(fill_value) if dtype is None else to_dtype(dtype)
    if isinstance(fill_value, int) and not isinstance(fill_value, bool) and abs(fill_value) > 2**53 and not dtype.is_float:
        info = _dtypes.iinfo(dtype)
        if not info.min <= fill_value <= info.max:
            raise OverflowError(f"full: no {dtype!r} is {_short(fill_value)}")
        make = _zyx._full_i64 if fill_value < 2**63 else _zyx._full_u64
        return _placed(make(shape, fill_value, dtype), device)
    try:
        number = float(fill_value)
    except OverflowError:
        raise OverflowError(f"full: no {dtype!r} is {_short(fill_value)}") from None
    return _placed(_zyx._full(shape, number, dtype), device)


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros, of float32 where nothing else is said.

        >>> zyx.zeros((2, 2)).tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    return _placed(_zyx._full(to_shape(shape), 0, float32 if dtype is None else to_dtype(dtype)), device)


def ones(shape, *, dtype=None, device=None):
    """An array of ones, of float32 where nothing else is said.

        >>> zyx.ones(2, dtype=zyx.int32).tolist()
        [1, 1]
    """
    return _placed(_zyx._full(to_shape(shape), 1, float32 if dtype is None else to_dtype(dtype)), device)


def empty(shape, *, dtype=None, device=None):
    """zeros(): an array has always a value.

        >>> zyx.empty(2).tolist()
        [0.0, 0.0]
    """
    return zeros(shape, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """full() with the shape and dtype of x, but for what is named.

        >>> zyx.full_like(zyx.asarray([1, 2]), 7).tolist()
        [7, 7]
    """
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    """zeros() with the shape and dtype of x, but for what is named.

        >>> zyx.zeros_like(zyx.asarray([1, 2])).tolist()
        [0, 0]
    """
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    """ones() with the shape and dtype of x, but for what is named.

        >>> zyx.ones_like(zyx.asarray([1, 2])).tolist()
        [1, 1]
    """
    return ones(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """zeros_like(): an array has always a value.

        >>> zyx.empty_like(zyx.asarray([1, 2])).tolist()
        [0, 0]
    """
    return zeros_like(x, dtype=dtype, device=device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, ... below stop: of int64, or of float32 where one of them is a float.

        >>> zyx.arange(2, 10, 3).tolist()
        [2, 5, 8]
    """
    if stop is None:
        start, stop = 0, start
    numbers = (start, stop, step)
    if step == 0:
        raise ValueError("arange: a step of 0 goes nowhere")
    is_float = any(isinstance(number, float) for number in numbers)
    dtype = (float32 if is_float else int64) if dtype is None else to_dtype(dtype)
    if not is_float:
        return _placed(_zyx._arange(*(to_int(number, "arange: a number") for number in numbers), dtype), device)
    parts = (stop - start) / step
    if not math.isfinite(parts):
        raise ValueError(f"arange: from {start} to {stop} by {step} there is no number of elements")
    count = to_int(max(0, math.ceil(parts)), "arange: the number of elements")
    positions = _zyx._arange(0, count, 1, float64)
    return _placed(_zyx._cast(_zyx.add(_zyx.multiply(positions, float(step)), float(start)), dtype), device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` numbers with equal distances, the last of which is `stop` where `endpoint` is set.

        >>> zyx.linspace(0, 1, 3).tolist()
        [0.0, 0.5, 1.0]
    """
    dtype = float32 if dtype is None else to_dtype(dtype)
    start, stop, num = float(start), float(stop), to_int(num, "linspace: num")
    if num < 0:
        raise ValueError(f"linspace: {num} numbers")
    parts = num - 1 if endpoint else num
    positions = _zyx._arange(0, num, 1, float64)
    step = (stop - start) / parts if parts > 0 else 0.0
    result = _zyx.add(_zyx.multiply(positions, step), start)
    if endpoint and num > 1:
        # The last one is not rounded.
        result = _zyx._where(_zyx.equal(positions, float(num - 1)), _zyx._full((num,), stop, float64), result)
    return _placed(_zyx._cast(result, dtype), device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """1 on a diagonal, 0 elsewhere.

        >>> zyx.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    n_rows, k = to_int(n_rows, "eye: the number of rows"), to_int(k, "eye: k")
    columns = n_rows if n_cols is None else to_int(n_cols, "eye: the number of columns")
    return _placed(_zyx._eye(n_rows, columns, k, float32 if dtype is None else to_dtype(dtype)), device)


def tril(x, /, *, k=0):
    """Matrices with 0 above a diagonal.

        >>> zyx.tril(zyx.ones((2, 2))).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    return _zyx._tril(x, k)


def triu(x, /, *, k=0):
    """Matrices with 0 below a diagonal.

        >>> zyx.triu(zyx.ones((2, 2))).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    return _zyx._triu(x, k)


def meshgrid(*arrays, indexing="xy"):
    """Coordinates of a grid: an array for each of these of one dimension.

        >>> [x.tolist() for x in zyx.meshgrid(zyx.asarray([1, 2]), zyx.asarray([3]))]
        [[[1, 2]], [[3, 3]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not '{indexing}'")
    if len({x.dtype for x in arrays}) > 1:
        raise ValueError("meshgrid: the arrays have different dtypes")
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    shape = [0] * len(arrays)
    for i, x in enumerate(arrays):
        if x.ndim > 1:
            raise ValueError(f"meshgrid: array {i} has {x.ndim} dimensions")
        shape[order[i]] = x.size
    result = []
    for i, x in enumerate(arrays):
        own = [1] * len(arrays)
        own[order[i]] = x.size
        result.append(_zyx._expand(_zyx._reshape(x, own), shape))
    return result
