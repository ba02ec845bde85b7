# Written by test/python/stubs.py: nanobind's stubgen.
import builtins
from collections.abc import Mapping, Sequence
import os
from typing import Annotated, overload

from numpy.typing import NDArray

from zyx import (
    Error as Error,
    InvalidArgumentError as InvalidArgumentError,
    OutOfMemoryError as OutOfMemoryError,
    UnsupportedError as UnsupportedError
)


def _set_package_folder(arg: str, /) -> None: ...

class DType:
    """
    The type of the elements of an array, such as zyx.float32.

        >>> zyx.float32.name, zyx.float32.itemsize, zyx.float32.is_float
        ('float32', 4, True)
    """

    def __repr__(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""

    @property
    def is_float(self) -> builtins.bool: ...

    @property
    def is_signed(self) -> builtins.bool: ...

    @property
    def is_unsigned(self) -> builtins.bool: ...

bool: DType = ...

int8: DType = ...

int16: DType = ...

int32: DType = ...

int64: DType = ...

uint8: DType = ...

uint16: DType = ...

uint32: DType = ...

uint64: DType = ...

float16: DType = ...

bfloat16: DType = ...

float32: DType = ...

float64: DType = ...

float8_e4m3fn: DType = ...

float8_e5m2: DType = ...

def _dtype(arg: object, /) -> object: ...

class Array:
    """
    An immutable value that is computed when it is read. zyx.asarray() makes one of lists, numbers
    and arrays of other libraries. x[i] = v and x += v put another value into this place: arrays that
    were made of it before do not change.

        >>> x = zyx.asarray([1.0, 2.0])
        >>> y = x * 2
        >>> x[0] = 7
        >>> x.tolist(), y.tolist()
        ([7.0, 2.0], [2.0, 4.0])
    """

    def __init__(self, parameter: Parameter) -> None:
        """
        The value of a parameter; other things are made arrays by zyx.asarray().
        """

    @property
    def dtype(self) -> DType: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def ndim(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def device(self) -> str:
        """The device on which it is, or will be, computed."""

    @property
    def mT(self) -> Array:
        """Matrices in the last two dimensions, transposed."""

    @property
    def T(self) -> Array:
        """A matrix, transposed."""

    @property
    def is_computed(self) -> builtins.bool:
        """Whether it has its value, or a run in flight makes it."""

    def item(self) -> builtins.bool | int | float:
        """The only element, as a number of Python."""

    def __bool__(self) -> builtins.bool: ...

    def __int__(self) -> int: ...

    def __float__(self) -> float: ...

    def __complex__(self) -> complex: ...

    def __index__(self) -> int: ...

    def __len__(self) -> int: ...

    def __neg__(self) -> Array: ...

    def __pos__(self) -> Array: ...

    def __abs__(self) -> Array: ...

    def __invert__(self) -> Array: ...

    def __getitem__(self, key: object, /) -> Array: ...

    def __setitem__(self, key: object, value: object, /) -> None: ...

    def __copy__(self) -> Array: ...

    def __deepcopy__(self, memo: object, /) -> Array: ...

    def _text(self) -> str: ...

    def __add__(self, other: object, /) -> Array: ...

    def __radd__(self, other: object, /) -> Array: ...

    def __sub__(self, other: object, /) -> Array: ...

    def __rsub__(self, other: object, /) -> Array: ...

    def __mul__(self, other: object, /) -> Array: ...

    def __rmul__(self, other: object, /) -> Array: ...

    def __truediv__(self, other: object, /) -> Array: ...

    def __rtruediv__(self, other: object, /) -> Array: ...

    def __floordiv__(self, other: object, /) -> Array: ...

    def __rfloordiv__(self, other: object, /) -> Array: ...

    def __mod__(self, other: object, /) -> Array: ...

    def __rmod__(self, other: object, /) -> Array: ...

    def __pow__(self, other: object, /) -> Array: ...

    def __rpow__(self, other: object, /) -> Array: ...

    def __matmul__(self, other: object, /) -> Array: ...

    def __rmatmul__(self, other: object, /) -> Array: ...

    def __and__(self, other: object, /) -> Array: ...

    def __rand__(self, other: object, /) -> Array: ...

    def __or__(self, other: object, /) -> Array: ...

    def __ror__(self, other: object, /) -> Array: ...

    def __xor__(self, other: object, /) -> Array: ...

    def __rxor__(self, other: object, /) -> Array: ...

    def __lshift__(self, other: object, /) -> Array: ...

    def __rlshift__(self, other: object, /) -> Array: ...

    def __rshift__(self, other: object, /) -> Array: ...

    def __rrshift__(self, other: object, /) -> Array: ...

    def __lt__(self, other: object, /) -> Array: ...

    def __le__(self, other: object, /) -> Array: ...

    def __gt__(self, other: object, /) -> Array: ...

    def __ge__(self, other: object, /) -> Array: ...

    def __eq__(self, other: object, /) -> Array: ...

    def __ne__(self, other: object, /) -> Array: ...

    __hash__: None = None

    def __array_namespace__(self, /, *, api_version=None): ...

    def __array__(self, dtype=None, copy=None): ...

    def __dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None): ...

    def __dlpack_device__(self, /): ...

    def __iter__(self): ...

    def __repr__(self): ...

    def _repr_html_(self): ...

    def __str__(self): ...

    def to_device(self, device, /, *, stream=None): ...

    def tolist(self): ...


def add(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    x1 + x2, of integers modulo 2 to the number of bits. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.add(zyx.asarray([1, 2]), 10).tolist()
        [11, 12]
    """

def subtract(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    x1 - x2, of integers modulo 2 to the number of bits. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.subtract(zyx.asarray([5, 7]), 2).tolist()
        [3, 5]
    """

def multiply(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    x1 * x2, of integers modulo 2 to the number of bits. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.multiply(zyx.asarray([[1], [2]]), zyx.asarray([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """

def divide(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    x1 / x2 of floats. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.divide(zyx.asarray([1.0, 3.0]), 2).tolist()
        [0.5, 1.5]
    """

def floor_divide(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The quotient rounded down; of integers 0 where x2 is 0. The shapes broadcast; a dtype of another kind raises
    TypeError.

        >>> zyx.floor_divide(zyx.asarray([-7, 7]), 2).tolist()
        [-4, 3]
    """

def remainder(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    x1 - floor(x1 / x2) * x2, with the sign of x2. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.remainder(zyx.asarray([-7, 7]), 4).tolist()
        [1, 3]
    """

def pow(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    x1 to the power x2; integers to a negative power raise where it is a number. The shapes broadcast; a dtype of
    another kind raises TypeError.

        >>> zyx.pow(zyx.asarray([2, 3]), 2).tolist()
        [4, 9]
    """

def matmul(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Products of matrices [..., m, k] and [..., k, n]; one dimension is a vector. Dimensions in front broadcast.

        >>> zyx.matmul(zyx.ones((2, 3)), zyx.ones((3, 1))).tolist()
        [[3.0], [3.0]]
    """

def bitwise_and(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The bits that both have, of integers or bools. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.bitwise_and(zyx.asarray([6, 7]), 3).tolist()
        [2, 3]
    """

def bitwise_or(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The bits that one of both has, of integers or bools. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.bitwise_or(zyx.asarray([4, 5]), 3).tolist()
        [7, 7]
    """

def bitwise_xor(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The bits that one alone has, of integers or bools. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.bitwise_xor(zyx.asarray([6, 7]), 3).tolist()
        [5, 4]
    """

def bitwise_left_shift(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bits moved up by x2, with 0 behind. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.bitwise_left_shift(zyx.asarray([1, 3]), 2).tolist()
        [4, 12]
    """

def bitwise_right_shift(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bits moved down by x2, with the sign in front. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.bitwise_right_shift(zyx.asarray([-8, 8]), 2).tolist()
        [-2, 2]
    """

def less(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bools: x1 < x2, element by element. The shapes broadcast.

        >>> zyx.less(zyx.asarray([1, 2, 3]), 2).tolist()
        [True, False, False]
    """

def less_equal(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bools: x1 <= x2, element by element. The shapes broadcast.

        >>> zyx.less_equal(zyx.asarray([1, 2, 3]), 2).tolist()
        [True, True, False]
    """

def greater(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bools: x1 > x2, element by element. The shapes broadcast.

        >>> zyx.greater(zyx.asarray([1, 2, 3]), 2).tolist()
        [False, False, True]
    """

def greater_equal(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bools: x1 >= x2, element by element. The shapes broadcast.

        >>> zyx.greater_equal(zyx.asarray([1, 2, 3]), 2).tolist()
        [False, True, True]
    """

def equal(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bools: x1 == x2, element by element. The shapes broadcast.

        >>> zyx.equal(zyx.asarray([1, 2, 3]), 2).tolist()
        [False, True, False]
    """

def not_equal(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    Bools: x1 != x2, element by element. The shapes broadcast.

        >>> zyx.not_equal(zyx.asarray([1, 2, 3]), 2).tolist()
        [True, False, True]
    """

def maximum(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The larger of two elements; NaN where one is NaN. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.maximum(zyx.asarray([1, 5]), zyx.asarray([4, 2])).tolist()
        [4, 5]
    """

def minimum(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The smaller of two elements; NaN where one is NaN. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.minimum(zyx.asarray([1, 5]), zyx.asarray([4, 2])).tolist()
        [1, 2]
    """

def atan2(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The angle from -pi to pi of the point (x2, x1), of floats. The shapes broadcast; a dtype of another kind raises
    TypeError.

        >>> zyx.atan2(zyx.asarray([0.0, 1.0]), 1.0).tolist() == [0.0, zyx.atan(zyx.asarray(1.0)).item()]
        True
    """

def hypot(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    sqrt(x1^2 + x2^2) of floats, without overflow between. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.hypot(zyx.asarray([3.0]), 4.0).tolist()
        [5.0]
    """

def logaddexp(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    log(exp(x1) + exp(x2)) of floats, without overflow between. The shapes broadcast; a dtype of another kind raises
    TypeError.

        >>> zyx.logaddexp(zyx.asarray([1000.0]), -1000.0).tolist()
        [1000.0]
    """

def copysign(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The size of x1 with the sign of x2, of floats. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.copysign(zyx.asarray([1.0, 2.0]), zyx.asarray([-0.0, 3.0])).tolist()
        [-1.0, 2.0]
    """

def nextafter(x1: Array | builtins.bool | int | float, x2: Array | builtins.bool | int | float, /) -> Array:
    """
    The float behind x1 on the way to x2. The shapes broadcast; a dtype of another kind raises TypeError.

        >>> zyx.nextafter(zyx.asarray(1.0), 2.0).item() - 1.0 == 2.0**-23
        True
    """

class _Program:
    def __init__(self, path: str, device: str) -> None: ...

    def __call__(self, arguments: Sequence[Array]) -> list[Array]: ...

    @property
    def inputs(self) -> list: ...

    @property
    def outputs(self) -> list: ...

    @property
    def name(self) -> str: ...

    @property
    def device(self) -> str: ...

def _from_buffer(object: object, dtype: object | None, share: builtins.bool) -> Array: ...

def _from_dlpack(object: Annotated[NDArray, dict(writable=False)]) -> Array: ...

def _raise_forgotten(array: object | None) -> None: ...

def _from_bytes(bytes: bytes, dtype: object, shape: Sequence[int]) -> Array: ...

def _export_from_device(array: Array, copy: builtins.bool, stream: int, lives: builtins.bool = False) -> object: ...

def _dlpack_place(arg: Array, /) -> tuple: ...

def _current_stream() -> tuple: ...

def _borrow(dtype: object, shape: Sequence[int], address: int, owner: object, host: builtins.bool) -> Array: ...

def _lend(array: Array, stream: int | None) -> object: ...

def _order(stream: int, first: builtins.bool) -> None: ...

def _export(array: Array, copy: builtins.bool) -> object: ...

def _bytes(arg: Array, /) -> bytes: ...

def _cbrt(x: Array) -> Array: ...

def _ceil(x: Array) -> Array: ...

def _cos(x: Array) -> Array: ...

def _erf(x: Array) -> Array: ...

def _exp(x: Array) -> Array: ...

def _exp2(x: Array) -> Array: ...

def _expm1(x: Array) -> Array: ...

def _floor(x: Array) -> Array: ...

def _log(x: Array) -> Array: ...

def _log2(x: Array) -> Array: ...

def _reciprocal(x: Array) -> Array: ...

def _round(x: Array) -> Array: ...

def _rsqrt(x: Array) -> Array: ...

def _sin(x: Array) -> Array: ...

def _sqrt(x: Array) -> Array: ...

def _tan(x: Array) -> Array: ...

def _tanh(x: Array) -> Array: ...

def _trunc(x: Array) -> Array: ...

def _acos(x: Array) -> Array: ...

def _acosh(x: Array) -> Array: ...

def _asin(x: Array) -> Array: ...

def _asinh(x: Array) -> Array: ...

def _atan(x: Array) -> Array: ...

def _atanh(x: Array) -> Array: ...

def _cosh(x: Array) -> Array: ...

def _isfinite(x: Array) -> Array: ...

def _isinf(x: Array) -> Array: ...

def _isnan(x: Array) -> Array: ...

def _log10(x: Array) -> Array: ...

def _log1p(x: Array) -> Array: ...

def _logical_not(x: Array) -> Array: ...

def _sign(x: Array) -> Array: ...

def _signbit(x: Array) -> Array: ...

def _sinh(x: Array) -> Array: ...

def _square(x: Array) -> Array: ...

def _erfinv(x: Array) -> Array: ...

def _relu(x: Array) -> Array:
    """
    max(x, 0).

        >>> zyx.nn.relu(zyx.asarray([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

def _sigmoid(x: Array) -> Array:
    """
    1 / (1 + exp(-x)).

        >>> zyx.nn.sigmoid(zyx.asarray([0.0])).tolist()
        [0.5]
    """

def _silu(x: Array) -> Array:
    """
    x sigmoid(x).

        >>> zyx.nn.silu(zyx.asarray([0.0])).tolist()
        [0.0]
    """

def _gelu(x: Array) -> Array:
    """
    x times the share of a normal distribution below x, by the error function.

        >>> zyx.nn.gelu(zyx.asarray([0.0, 100.0])).tolist()
        [0.0, 100.0]
    """

def _gelu_tanh(x: Array) -> Array:
    """
    gelu() by the hyperbolic tangent, as GPT-2 has it.

        >>> zyx.nn.gelu_tanh(zyx.asarray([0.0, 100.0])).tolist()
        [0.0, 100.0]
    """

def _mish(x: Array) -> Array:
    """
    x tanh(log(1 + exp(x))).

        >>> zyx.nn.mish(zyx.asarray([0.0])).tolist()
        [0.0]
    """

def _selu(x: Array) -> Array:
    """
    A scaled elu(), which keeps the mean 0 and the variance 1.

        >>> zyx.nn.selu(zyx.asarray([0.0])).tolist()
        [0.0]
    """

def _hard_sigmoid(x: Array) -> Array:
    """
    x / 6 + 1/2, at least 0 and at most 1.

        >>> zyx.nn.hard_sigmoid(zyx.asarray([-4.0, 0.0, 4.0])).tolist()
        [0.0, 0.5, 1.0]
    """

def _detach(x: Array) -> Array: ...

def _cholesky(x: Array) -> Array: ...

def _cast(arg0: Array, arg1: object, /) -> Array: ...

def _bitcast(arg0: Array, arg1: object, /) -> Array: ...

def _to_device(arg0: Array, arg1: str, /) -> Array: ...

def _quotient(arg0: Array, arg1: Array, /) -> Array: ...

def _fmod(arg0: Array, arg1: Array, /) -> Array: ...

def _einsum(arg0: str, arg1: Sequence[Array], /) -> Array: ...

def _realize(arg: Sequence[Array], /) -> None: ...

def _all_close(arg0: Array, arg1: Array, arg2: float, arg3: float, arg4: builtins.bool, /) -> builtins.bool: ...

def _sum(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _prod(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _max(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _min(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _mean(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _any(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _all(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _logsumexp(x: Array, dims: Sequence[int], keepdims: builtins.bool) -> Array: ...

def _var(arg0: Array, arg1: Sequence[int], arg2: builtins.bool, arg3: float, /) -> Array: ...

def _argmax(arg0: Array, arg1: int, arg2: builtins.bool, /) -> Array: ...

def _argmin(arg0: Array, arg1: int, arg2: builtins.bool, /) -> Array: ...

def _cumsum(x: Array, dim: int, exclusive: builtins.bool = False, reverse: builtins.bool = False) -> Array: ...

def _cumprod(x: Array, dim: int, exclusive: builtins.bool = False, reverse: builtins.bool = False) -> Array: ...

def _softmax(arg0: Array, arg1: int, /) -> Array: ...

def _log_softmax(arg0: Array, arg1: int, /) -> Array: ...

def _sort(arg0: Array, arg1: int, arg2: builtins.bool, /) -> Array: ...

def _argsort(arg0: Array, arg1: int, arg2: builtins.bool, /) -> Array: ...

def _topk(arg0: Array, arg1: int, arg2: int, arg3: builtins.bool, /) -> tuple[Array, Array]: ...

def _reshape(arg0: Array, arg1: Sequence[int], /) -> Array: ...

def _expand(arg0: Array, arg1: Sequence[int], /) -> Array: ...

def _permute(arg0: Array, arg1: Sequence[int], /) -> Array: ...

def _flip(arg0: Array, arg1: Sequence[int], /) -> Array: ...

def _unsqueeze(arg0: Array, arg1: int, /) -> Array: ...

def _squeeze(arg0: Array, arg1: Sequence[int], /) -> Array: ...

def _roll(arg0: Array, arg1: Sequence[int], arg2: Sequence[int], /) -> Array: ...

def _repeat(arg0: Array, arg1: Sequence[int], /) -> Array: ...

def _repeat_interleave(arg0: Array, arg1: int, arg2: int, /) -> Array: ...

def _concat(arg0: Sequence[Array], arg1: int, /) -> Array: ...

def _stack(arg0: Sequence[Array], arg1: int, /) -> Array: ...

def _pad(arg0: Array, arg1: Sequence[int], arg2: Sequence[int], arg3: float, /) -> Array: ...

def _tril(arg0: Array, arg1: int, /) -> Array: ...

def _triu(arg0: Array, arg1: int, /) -> Array: ...

def _where(arg0: Array, arg1: object, arg2: object, /) -> Array: ...

def _take(arg0: Array, arg1: Array, arg2: int, /) -> Array: ...

def _take_along_axis(arg0: Array, arg1: Array, arg2: int, /) -> Array: ...

def _scatter(arg0: Array, arg1: Array, arg2: Array, arg3: int, arg4: str, /) -> Array: ...

def _put_along_axis(arg0: Array, arg1: Array, arg2: Array, arg3: int, arg4: str, /) -> Array: ...

def _nonzero(arg: Array, /) -> Array: ...

def _masked_select(arg0: Array, arg1: Array, /) -> Array: ...

def _unique(arg: Array, /) -> list[Array]: ...

def _one_hot(arg0: Array, arg1: int, arg2: object, /) -> Array: ...

def _full(arg0: Sequence[int], arg1: float, arg2: object, /) -> Array: ...

def _full_i64(arg0: Sequence[int], arg1: int, arg2: object, /) -> Array: ...

def _full_u64(arg0: Sequence[int], arg1: int, arg2: object, /) -> Array: ...

def _arange(arg0: int, arg1: int, arg2: int, arg3: object, /) -> Array: ...

def _eye(arg0: int, arg1: int, arg2: int, arg3: object, /) -> Array: ...

def _linspace(arg0: float, arg1: float, arg2: int, arg3: object, /) -> Array: ...

def _seed(arg: int, /) -> Array: ...

def _random_bits(arg0: Array, arg1: Sequence[int], /) -> Array: ...

def _uniform(arg0: Array, arg1: Sequence[int], arg2: float, arg3: float, arg4: object, /) -> Array: ...

def _normal(arg0: Array, arg1: Sequence[int], arg2: float, arg3: float, arg4: object, /) -> Array: ...

def _randint(arg0: Array, arg1: Sequence[int], arg2: int, arg3: int, arg4: object, /) -> Array: ...

def _bernoulli(arg0: Array, arg1: Sequence[int], arg2: float, /) -> Array: ...

def _permutation(arg0: Array, arg1: int, /) -> Array: ...

def _dropout(arg0: Array, arg1: Array, arg2: float, /) -> Array: ...

def _cross_entropy(arg0: Array, arg1: Array, arg2: str, arg3: int, /) -> Array: ...

def _mse_loss(arg0: Array, arg1: Array, arg2: str, /) -> Array: ...

def _l1_loss(arg0: Array, arg1: Array, arg2: str, /) -> Array: ...

def _bce_with_logits(arg0: Array, arg1: Array, arg2: str, /) -> Array: ...

def _kl_divergence(arg0: Array, arg1: Array, arg2: str, /) -> Array: ...

def _soft_cross_entropy(arg0: Array, arg1: Array, arg2: str, /) -> Array: ...

def _huber_loss(arg0: Array, arg1: Array, arg2: float, arg3: str, /) -> Array: ...

def _layer_norm(arg0: Array, arg1: int, arg2: float, /) -> Array: ...

def _leaky_relu(arg0: Array, arg1: float, /) -> Array: ...

def _elu(arg0: Array, arg1: float, /) -> Array: ...

def _softplus(arg0: Array, arg1: float, /) -> Array: ...

def _convolution(arg0: Array, arg1: Array, arg2: Array | None, arg3: Sequence[int], arg4: Sequence[int], arg5: Sequence[int], arg6: int, /) -> Array: ...

def _transposed_convolution(arg0: Array, arg1: Array, arg2: Sequence[int], arg3: Sequence[int], arg4: int, /) -> Array: ...

def _sliding_windows(arg0: Array, arg1: Sequence[int], arg2: Sequence[int], arg3: Sequence[int], /) -> Array: ...

def _max_pool(arg0: Array, arg1: Sequence[int], arg2: Sequence[int], arg3: Sequence[int], /) -> Array: ...

def _avg_pool(arg0: Array, arg1: Sequence[int], arg2: Sequence[int], arg3: Sequence[int], /) -> Array: ...

def _triangular_solve(arg0: Array, arg1: Array, arg2: builtins.bool, arg3: builtins.bool, /) -> Array: ...

def _attention(arg0: Array, arg1: Array, arg2: Array, arg3: Array | None, arg4: builtins.bool, arg5: float | None, /) -> Array: ...

class Tape:
    """
    While it lives, arrays keep what they were made of even when they are computed, so that a gradient
    can be taken of them.

        >>> with zyx.Tape():
        ...     x = zyx.asarray([3.0])
        ...     y = x * x
        ...     y.tolist()
        ...     [g.tolist() for g in zyx.gradient(y, [x])]
        [9.0]
        [[6.0]]
    """

    def __init__(self) -> None: ...

    def __enter__(self) -> Tape: ...

    def __exit__(self, type: object | None, value: object | None, traceback: object | None) -> builtins.bool: ...

class _Function:
    def __init__(self, function: object, donated: Sequence[int]) -> None: ...

    def __call__(self, arg: Sequence, /) -> list[Array]: ...

    def over(self, arguments: _Arguments, addresses: list, owners: list, more: Sequence) -> object: ...

    @property
    def captures(self) -> int: ...

class _Arguments:
    def __init__(self, arg: Sequence, /) -> None: ...

def _is_capturing() -> builtins.bool: ...

def _types(arg: Sequence, /) -> object: ...

def _as_source(arg: Array, /) -> Array: ...

def _id(arg: Array, /) -> int: ...

def _gradient(target: Array, sources: Sequence[Array], seed: Array | None, allow_unused: builtins.bool) -> list[Array]: ...

def _checkpoint(function: object, inputs: Sequence[Array]) -> list[Array]: ...

@overload
def _loop(trips: int, initial: Sequence[Array], body: object) -> list[Array]: ...

@overload
def _loop(trips: Array, initial: Sequence[Array], body: object) -> list[Array]: ...

def _while_loop(initial: Sequence[Array], condition: object, body: object) -> list[Array]: ...

def _cond(condition: Array, operands: Sequence[Array], then: object, otherwise: object) -> list[Array]: ...

def _choose(index: Array, operands: Sequence[Array], branches: list) -> list[Array]: ...

class Parameter:
    """
    A place of a module for a value that optimizers move. In an expression it is its value.

        >>> rng = zyx.nn.InitRng(1)
        >>> layer = zyx.nn.Linear(2, 1, rng, bias=False)
        >>> layer.weight.value = zyx.asarray([[1.0, 2.0]])
        >>> (layer.weight * 2).tolist()
        [[2.0, 4.0]]
    """

    def __init__(self, value: Array) -> None: ...

    @property
    def value(self) -> Array:
        """
        The array that is there now. One that is set is computed, and has the type of the one before.
        """

    @value.setter
    def value(self, arg: Array, /) -> None: ...

    def set_later(self, value: Array) -> None:
        """
        Sets it without computing it: a step of an optimizer, or who reads it, does.
        """

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> DType: ...

    @property
    def device(self) -> str: ...

    def _is_same(self, arg: Parameter, /) -> builtins.bool: ...

class InitRng:
    """
    The seed of first values: the same one makes the same layers.

        >>> a, b = (zyx.nn.Linear(2, 2, zyx.nn.InitRng(7)).weight for _ in range(2))
        >>> a.value.tolist() == b.value.tolist()
        True
    """

    def __init__(self, seed: int) -> None: ...

class _Module:
    def __init__(self) -> None: ...

    def _add_buffer(self, arg0: str, arg1: Array, /) -> Parameter: ...

    def _put_parameter(self, arg0: str, arg1: Array, /) -> Parameter: ...

    def _put_module(self, arg0: str, arg1: _Module, /) -> None: ...

    def _put_place(self, arg0: str, arg1: Parameter, arg2: builtins.bool, /) -> None: ...

    def _names(self) -> list[str]: ...

    def _generators(self) -> dict[str, list[int]]: ...

    def _restore(self, arg0: Mapping[str, Array], arg1: Mapping[str, Sequence[int]], /) -> None: ...

    def _remove(self, arg: str, /) -> None: ...

    def _adopt(self, arg0: str, arg1: _Module, /) -> None: ...

    def named_parameters(self) -> list[tuple[str, Parameter]]:
        """
        Names and parameters: its own first, then those of its children, by dotted names.
        """

    def named_buffers(self) -> list[tuple[str, Parameter]]:
        """Names and values that a module keeps besides, and no optimizer moves."""

    def state(self) -> dict[str, Array]:
        """Values of parameters and buffers by their names."""

    def load_state(self, state: Mapping[str, Array], *, strict: builtins.bool = True, dtype: object | None = None, assign: builtins.bool = False) -> object:
        """
        Takes values by name, or refuses all that does not fit and changes nothing. Returns the names that are missing,
        and those that are superfluous.
        """

    def load(self, path: str | os.PathLike, *, strict: builtins.bool = True, dtype: object | None = None) -> object:
        """
        From a safetensors file, an index of several, or a folder that has either.
        """

    def save(self, path: str | os.PathLike) -> None:
        """To a safetensors file."""

    def to(self, dtype: object) -> None:
        """All parameters and buffers of floats become of this dtype."""

    def train(self, on: builtins.bool = True) -> None:
        """Whether this module and all below it are in training, as they begin."""

    def eval(self) -> None:
        """train(False)."""

    @property
    def is_training(self) -> builtins.bool: ...

class _Linear(_Module):
    """
    x weight^T + bias: [..., inputs] to [..., outputs].

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.Linear(3, 2, rng)(zyx.ones((5, 3))).shape
        (5, 2)
    """

    def __init__(self, inputs: int, outputs: int, rng: InitRng, bias: builtins.bool = True) -> None: ...

    def __call__(self, x: Array) -> Array: ...

    @property
    def weight(self) -> Parameter: ...

    @property
    def bias(self) -> Parameter: ...

class _Embedding(_Module):
    """
    Rows of `width` by index, integers of any shape; zeros for an index out of range.

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.Embedding(10, 4, rng)(zyx.asarray([[1, 2, 3]])).shape
        (1, 3, 4)
    """

    def __init__(self, rows: int, width: int, rng: InitRng) -> None: ...

    def __call__(self, x: Array) -> Array: ...

    @property
    def weight(self) -> Parameter: ...

class _Dropout(_Module):
    """
    In training, 0 for a share of the elements, and the others larger.

        >>> layer = zyx.nn.Dropout(0.5, 1)
        >>> layer.eval()
        >>> layer(zyx.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def __init__(self, probability: float, seed: int) -> None: ...

    def __call__(self, x: Array) -> Array: ...

class _Mlp(_Module):
    """
    Linear, GELU, Linear: [..., width] to the same shape.

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.Mlp(4, 16, rng)(zyx.ones((2, 4))).shape
        (2, 4)
    """

    def __init__(self, width: int, hidden: int, rng: InitRng) -> None: ...

    def __call__(self, x: Array) -> Array: ...

class _LayerNorm(_Module):
    """
    (x - mean) / sqrt(variance + epsilon) weight + bias, over the last dimension.

        >>> zyx.nn.LayerNorm(2, epsilon=0.0)(zyx.asarray([[1.0, 3.0]])).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(self, width: int, epsilon: float = 1e-05) -> None: ...

    def __call__(self, x: Array) -> Array: ...

    @property
    def weight(self) -> Parameter: ...

    @property
    def bias(self) -> Parameter: ...

class _RmsNorm(_Module):
    """
    x / sqrt(mean(x^2) + epsilon) weight, over the last dimension.

        >>> zyx.nn.RmsNorm(2)(zyx.zeros((1, 2))).tolist()
        [[0.0, 0.0]]
    """

    def __init__(self, width: int, epsilon: float = 1e-06) -> None: ...

    def __call__(self, x: Array) -> Array: ...

    @property
    def weight(self) -> Parameter: ...

class _GroupNorm(_Module):
    """
    Over groups of channels: [batch, channels, ...].

        >>> zyx.nn.GroupNorm(2, 4)(zyx.zeros((1, 4, 3))).shape
        (1, 4, 3)
    """

    def __init__(self, groups: int, channels: int, epsilon: float = 1e-05) -> None: ...

    def __call__(self, x: Array) -> Array: ...

    @property
    def weight(self) -> Parameter: ...

    @property
    def bias(self) -> Parameter: ...

class _BatchNorm(_Module):
    """
    Over the batch, of each channel: [batch, channels, ...]; by running moments after eval().

        >>> zyx.nn.BatchNorm(3)(zyx.zeros((2, 3, 4, 4))).shape
        (2, 3, 4, 4)
    """

    def __init__(self, channels: int, epsilon: float = 1e-05, momentum: float = 0.1) -> None: ...

    def __call__(self, x: Array) -> Array: ...

    @property
    def weight(self) -> Parameter: ...

    @property
    def bias(self) -> Parameter: ...

    @property
    def running_mean(self) -> Parameter: ...

    @property
    def running_var(self) -> Parameter: ...

class _Convolution(_Module):
    """Along one to three dimensions: [batch, channels, ...]."""

    def __init__(self, inputs: int, outputs: int, window: Sequence[int], rng: InitRng, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int = 1, bias: builtins.bool = True) -> None: ...

    def __call__(self, x: Array) -> Array: ...

    @property
    def weight(self) -> Parameter: ...

    @property
    def bias(self) -> Parameter: ...

class _Rnn(_Module):
    """
    [steps, batch, inputs] to [steps, batch, hidden].

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.Rnn(3, 5, rng)(zyx.zeros((4, 2, 3))).shape
        (4, 2, 5)
    """

    def __init__(self, inputs: int, hidden: int, rng: InitRng) -> None: ...

    def __call__(self, x: Array) -> Array: ...

class _Gru(_Module):
    """
    [steps, batch, inputs] to [steps, batch, hidden].

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.Gru(3, 5, rng)(zyx.zeros((4, 2, 3))).shape
        (4, 2, 5)
    """

    def __init__(self, inputs: int, hidden: int, rng: InitRng) -> None: ...

    def __call__(self, x: Array) -> Array: ...

class _Lstm(_Module):
    """
    [steps, batch, inputs] to [steps, batch, hidden].

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.Lstm(3, 5, rng)(zyx.zeros((4, 2, 3))).shape
        (4, 2, 5)
    """

    def __init__(self, inputs: int, hidden: int, rng: InitRng) -> None: ...

    def __call__(self, x: Array) -> Array: ...

class _MultiheadAttention(_Module):
    """
    Attention to itself, or to a memory: [batch, rows, width].

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.MultiheadAttention(8, 2, rng, causal=True)(zyx.ones((1, 3, 8))).shape
        (1, 3, 8)
    """

    def __init__(self, width: int, heads: int, rng: InitRng, kv_heads: int = 0, causal: builtins.bool = False, bias: builtins.bool = True, rotary: builtins.bool = False) -> None: ...

    def __call__(self, x: Array, memory: Array | None = None, mask: Array | None = None) -> Array: ...

class _TransformerBlock(_Module):
    """
    Attention and Mlp, each after a LayerNorm and with a residual: [batch, rows, width].

        >>> rng = zyx.nn.InitRng(1)
        >>> zyx.nn.TransformerBlock(8, 2, rng)(zyx.ones((1, 3, 8))).shape
        (1, 3, 8)
    """

    def __init__(self, width: int, heads: int, rng: InitRng, kv_heads: int = 0, causal: builtins.bool = False, bias: builtins.bool = True, rotary: builtins.bool = False) -> None: ...

    def __call__(self, x: Array, mask: Array | None = None) -> Array: ...

def load(path: str | os.PathLike, *, map: builtins.bool = False) -> dict[str, Array]:
    """
    Arrays by name: of a safetensors file, an index of several, or a folder. With `map` they stay in their file until a
    program needs them. Raises zyx.Error where there is no such file, or another one.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'x.safetensors')
        ...     zyx.save(path, {'x': zyx.asarray([1.0, 2.0])})
        ...     zyx.load(path)['x'].tolist()
        [1.0, 2.0]
    """

def save(path: str | os.PathLike, arrays: Mapping[str, Array]) -> None:
    """
    Arrays by name, as a safetensors file. There is none before all of it is written.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, 'x.safetensors')
        ...     zyx.save(path, {'x': zyx.asarray([1, 2])})
        ...     os.path.exists(path)
        True
    """

def _load_gguf(path: str | os.PathLike) -> tuple:
    """
    Metadata, arrays by name, and of those that are quantised the blocks as uint8 with their format.
    """

def _dequantise(blocks: Array, format: str, shape: Sequence[int]) -> Array: ...

class UpdateRule:
    """
    How a step changes a parameter: what sgd(), adam() and the like return.

        >>> isinstance(zyx.optim.sgd(0.1), zyx.optim.UpdateRule)
        True
    """

def sgd(learning_rate: float = 0.001, *, momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: builtins.bool = False) -> UpdateRule:
    """
    Steps against the gradient, with momentum where that is not 0.

        >>> model = zyx.nn.Linear(1, 1, zyx.nn.InitRng(1), bias=False)
        >>> model.weight.value = zyx.asarray([[1.0]])
        >>> optimizer = zyx.optim.Optimizer(model, zyx.optim.sgd(0.5))
        >>> optimizer.minimize(zyx.sum(model.weight * 1.0))
        >>> model.weight.value.tolist()
        [[0.5]]
    """

def adam(learning_rate: float = 0.001, *, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, weight_decay: float = 0.0, amsgrad: builtins.bool = False) -> UpdateRule:
    """
    Adam, whose weight_decay is a part of the gradient. A rate or a beta that is none raises InvalidArgumentError.

        >>> isinstance(zyx.optim.adam(1e-3, beta2=0.99), zyx.optim.UpdateRule)
        True
    """

def adamw(learning_rate: float = 0.001, *, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, weight_decay: float = 0.01, amsgrad: builtins.bool = False) -> UpdateRule:
    """
    Adam with decoupled weight decay.

        >>> isinstance(zyx.optim.adamw(1e-3, weight_decay=0.1), zyx.optim.UpdateRule)
        True
    """

def rmsprop(learning_rate: float = 0.01, *, alpha: float = 0.99, epsilon: float = 1e-08, weight_decay: float = 0.0, momentum: float = 0.0, centered: builtins.bool = False) -> UpdateRule:
    """
    Gradients over the root of a running mean of their squares.

        >>> isinstance(zyx.optim.rmsprop(1e-2, alpha=0.9), zyx.optim.UpdateRule)
        True
    """

def lion(learning_rate: float = 0.0001, *, beta1: float = 0.9, beta2: float = 0.99, weight_decay: float = 0.0) -> UpdateRule:
    """
    Steps of one size, by the sign of a running mean.

        >>> isinstance(zyx.optim.lion(1e-4), zyx.optim.UpdateRule)
        True
    """

def adafactor(learning_rate: float = 0.01, *, decay: float = -0.8, floor: float = 0.001, clip: float = 1.0, weight_decay: float = 0.0) -> UpdateRule:
    """
    Adam's second moment as rows and columns, for large matrices.

        >>> isinstance(zyx.optim.adafactor(1e-2), zyx.optim.UpdateRule)
        True
    """

class Optimizer:
    """
    Steps of a module's parameters by a rule. After a step that fails all is what it was before.

        >>> model = zyx.nn.Linear(1, 1, zyx.nn.InitRng(1), bias=False)
        >>> model.weight.value = zyx.asarray([[1.0]])
        >>> optimizer = zyx.optim.Optimizer(model, zyx.optim.adamw(0.1))
        >>> optimizer.minimize(zyx.sum(model(zyx.ones((3, 1)))))
        >>> optimizer.steps, model.weight.value.item() < 1
        (1, True)
    """

    def __init__(self, model: _Module, rule: UpdateRule) -> None: ...

    def minimize(self, loss: Array) -> None:
        """
        Takes one step down the gradient of a loss, which is computed with it. A loss of values that a step has replaced
        since, as another thread's, is refused.
        """

    def step(self, gradients: Sequence[Array]) -> None:
        """Takes one step by gradients in the order of the parameters."""

    @property
    def learning_rate(self) -> float: ...

    @learning_rate.setter
    def learning_rate(self, arg: float, /) -> None: ...

    @property
    def steps(self) -> int: ...

    @property
    def parameters(self) -> list[tuple[str, Parameter]]: ...

    def state(self) -> dict[str, Array]:
        """All that the next step depends on, but the parameters, by name."""

    def load_state(self, state: Mapping[str, Array]) -> None: ...

class TrainStep:
    """
    A step as one program: the function of a batch, a list of arrays, is called once for each set of
    types. It returns a list whose first array is the loss.
    """

    def __init__(self, optimizer: Optimizer, loss: object, donate: builtins.bool = False) -> None: ...

    def _call(self, arg: Sequence[Array], /) -> list[Array]: ...

def _clip_by_global_norm(gradients: Sequence[Array], most: float) -> tuple[list[Array], Array]: ...

def step_decay(rate: float, step: int, every: int, factor: float) -> float:
    """
    rate factor^floor(step / every).

        >>> zyx.optim.step_decay(1.0, 7, 3, 0.5)
        0.25
    """

def exponential_decay(rate: float, step: int, factor: float) -> float:
    """
    rate factor^step.

        >>> zyx.optim.exponential_decay(1.0, 2, 0.5)
        0.25
    """

def cosine_decay(rate: float, step: int, total: int, low: float = 0.0) -> float:
    """
    From rate down to low in half a cosine, and low from step `total` on.

        >>> zyx.optim.cosine_decay(1.0, 0, 10), zyx.optim.cosine_decay(1.0, 10, 10)
        (1.0, 0.0)
    """

def linear_warmup(rate: float, step: int, steps: int) -> float:
    """
    From 0 up to rate in so many steps, and rate from then on.

        >>> zyx.optim.linear_warmup(1.0, 50, 10)
        1.0
    """

class device_scope:
    """
    While it lives, new arrays of this thread lie on that device. A name that is none raises zyx.Error.

        >>> with zyx.device_scope('reference'):
        ...     zyx.zeros(3).device
        'reference'
    """

    def __init__(self, device: str) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, type: object | None, value: object | None, traceback: object | None) -> builtins.bool: ...

def sync() -> None:
    """
    Waits until no run is in flight; raises the first failure since the last time.

        >>> zyx.sync()
    """

def counters() -> dict:
    """
    What the context did so far: runs, compiles, bytes of values.

        >>> sorted(zyx.counters())
        ['compiles', 'hits', 'launches', 'live_nodes', 'peak_bytes', 'runs', 'value_bytes']
    """

def default_device() -> str:
    """
    The device of new arrays: that of the innermost device_scope, or else of the context.

        >>> with zyx.device_scope('reference'):
        ...     zyx.default_device()
        'reference'
    """

def _set_progress(function: object | None) -> None: ...

def _plot(arrays: Sequence[Array], stage: str) -> str: ...

def _is_name_of_c_function(name: str) -> builtins.bool: ...

def _export_program(function: object, arguments: Sequence[Array], form: str, entry: str, inputs: Sequence[str], outputs: Sequence[str], target: str, isa: str) -> object: ...
