# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Methods of Array that are easier said in Python than in C++."""
import copyreg

from . import _dtypes, _zyx
from ._creation import EXTENSIONS
from ._zyx import Array, DType, Parameter

FORMATS = {"bfloat16", "float8_e4m3fn", "float8_e5m2"}


def _namespace(self, /, *, api_version=None):
    """The namespace of the array API standard."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"zyx is a namespace of the array API standard 2024.12, not of {api_version}")
    import zyx
    return zyx


def _numpy(self, dtype=None, copy=None):
    """The elements as an array of NumPy, which cannot be written unless it is a copy. bfloat16 and f8 need ml_dtypes."""
    import numpy
    _zyx._raise_forgotten(self)
    if self.dtype.name in FORMATS:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(f"NumPy has no {self.dtype.name} without the package ml_dtypes; "
                            "zyx.astype(x, zyx.float32) needs none") from None
        raw = numpy.frombuffer(_zyx._bytes(self), dtype=EXTENSIONS[self.dtype.name])
        found = raw.view(getattr(ml_dtypes, self.dtype.name)).reshape(self.shape)
    else:
        found = numpy.asarray(_view(self))
    if dtype is not None and found.dtype != dtype:
        if copy is False:
            raise ValueError("copy=False, but another dtype needs a copy")
        return found.astype(dtype)
    return found.copy() if copy else found


def _dlpack(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    """The elements for another library. Without versions it could not know that they must not change: it gets a copy."""
    place = _dlpack_device(self)
    asked = place if dl_device is None else tuple(map(int, dl_device))
    if asked != place:
        if asked != (1, 0):
            raise BufferError(f"__dlpack__: the array lies on {place}, and is given there or on the host, not on {asked}")
        if copy is False:
            raise BufferError("__dlpack__: copy=False, but memory of the host needs a copy")
        return _dlpack(_zyx._to_device(self, "cpu"), max_version=max_version, copy=copy)
    is_versioned = max_version is not None and max_version[0] >= 1
    if copy is False and not is_versioned:
        raise BufferError("__dlpack__: copy=False needs max_version=(1, 0): older ones cannot say that memory is read-only")
    is_copy = copy is True or not is_versioned
    exported = _zyx._export(self, is_copy) if place == (1, 0) else _zyx._export_from_device(self, is_copy, _stream(stream, place))
    return exported.__dlpack__(max_version=max_version) if is_versioned else exported.__dlpack__()


def _stream(stream, place):
    """The consumer's stream, as the standard numbers them: without one CUDA's first default stream."""
    if stream is None:
        return 1
    if not isinstance(stream, int) or isinstance(stream, bool) or stream < -1:
        raise BufferError(f"__dlpack__: {stream!r} is no stream")
    if stream == 0 and place[0] == 2:
        raise BufferError("__dlpack__: stream 0 of CUDA may be either default stream: 1 is the legacy one, 2 that of the thread")
    return stream


def _dlpack_device(self, /):
    """Where the memory lies, by DLPack's numbers; what it has none for is not given, as nobody asked for a copy."""
    place = _zyx._dlpack_place(self)
    if place[0] == 0:
        raise BufferError(f"__dlpack__: the array lies on '{self.device}', for which DLPack has no number: to_device('cpu') makes "
                          "a copy on the host")
    return place


def _to_device(self, device, /, *, stream=None):
    """The elements on another device: a copy where they lie elsewhere."""
    return _zyx._to_device(self, device)


def _view(self):
    """The elements by the buffer protocol. What a handler of a signal raises meanwhile is raised here, and by no __array__."""
    try:
        return memoryview(self)
    except BaseException:
        _zyx._raise_forgotten(None)
        raise


def _tolist(self):
    """The elements as nested lists of numbers of Python."""
    if self.ndim == 0:
        return self.item()
    if self.dtype.name in FORMATS or self.dtype.name == "float16":
        return _tolist(_zyx._cast(self, _zyx.float32))
    if self.size == 0:
        def nested(shape):
            return [nested(shape[1:]) for _ in range(shape[0])] if shape else []
        return nested(self.shape[:self.shape.index(0) + 1])
    return _view(self).tolist()


def _repr(self):
    if not self.is_computed and _zyx._is_capturing():
        return f"zyx.Array(<no value yet>, shape={self.shape}, dtype={self.dtype!r})"
    text = self._text().split("\n", 1)[1]
    return f"zyx.Array({text.replace(chr(10), chr(10) + ' ' * 10)}, dtype={self.dtype!r})"


def _html(self):
    # Of notebooks, which most programs are none of.
    from ._picture import array_html
    return array_html(self)


def _str(self):
    return self._text().split("\n", 1)[1]


def _iter(self):
    if self.ndim == 0:
        raise TypeError("an array without dimensions has no elements to go through")
    return (self[i] for i in range(self.shape[0]))


# Of what a pickle of an array holds.
PICKLED = 1


def _unpickled(version, data, dtype, shape):
    if version != PICKLED:
        raise ValueError(f"a pickle of an array is of format {version!r}; this version of zyx reads {PICKLED}")
    return _zyx._from_bytes(data, dtype, shape)


copyreg.pickle(DType, lambda dtype: (_dtypes.to_dtype, (dtype.name,)))
copyreg.pickle(Array, lambda x: (_unpickled, (PICKLED, _zyx._bytes(x), x.dtype, x.shape)))


def _in_place(name, operator):
    def function(self, other):
        result = getattr(self, operator)(other)
        if result is NotImplemented:
            return result
        if result.shape != self.shape or result.dtype is not self.dtype:
            raise TypeError(f"x {name}= v: the result has shape {result.shape} and dtype {result.dtype!r}, and x has "
                            f"{self.shape} and {self.dtype!r}; x = x {name} v takes it")
        return result

    return function


for _name, _operator in {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow",
                         "@": "matmul", "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"}.items():
    # The name gets another array; whoever has the one before keeps it.
    setattr(Array, f"__i{_operator}__", _in_place(_name, f"__{_operator}__"))

Array.__array_namespace__ = _namespace
Array.__array__ = _numpy
Array.__dlpack__ = _dlpack
Array.__dlpack_device__ = _dlpack_device
Array.__iter__ = _iter
Array.__repr__ = _repr
Array._repr_html_ = _html
Array.__str__ = _str
# Operators of NumPy's arrays leave the choice to zyx, which refuses to mix.
Array.__array_ufunc__ = None
Array.to_device = _to_device
Array.tolist = _tolist


def _forwarded(name):
    def function(self, *others):
        return getattr(self.value, name)(*others)

    function.__name__ = name
    return function


# A parameter in an expression is its value.
for _name in ["neg", "pos", "abs", "getitem", "len", "float", "bool", "int"] + [
        side + each for side in ("", "r") for each in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
] + ["lt", "le", "gt", "ge", "eq", "ne"]:
    setattr(Parameter, f"__{_name}__", _forwarded(f"__{_name}__"))
# __hash__ stays that of the place: a parameter is a key of a dict, as a Parameter of PyTorch is.
for _name in ["T", "mT"]:
    setattr(Parameter, _name, property(lambda self, name=_name: getattr(self.value, name)))


def _parameter_numpy(self, dtype=None, copy=None):
    return _numpy(self.value, dtype, copy)


def _parameter_repr(self):
    return f"zyx.nn.Parameter({self.value!r})"


Parameter.__array__ = _parameter_numpy
Parameter.__array_ufunc__ = None
Parameter.__repr__ = _parameter_repr
