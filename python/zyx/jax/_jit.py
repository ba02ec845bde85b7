# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX as programs of zyx, over the memory of JAX's arrays."""
import functools
import threading

import jax
import numpy as np
from jax import tree_util

from .. import _zyx
from .._kept import Kept
from .._positions import parameters_of, positions_of
from .._zyx import Array
from ._lower import Refused, held
from ._program import Program

_export, _from_dlpack, _from_buffer = _zyx._export, _zyx._from_dlpack, _zyx._from_buffer
_tracing = threading.local()


def to_array(x, type):
    """A leaf as an array of zyx over its memory where it is dense, of the elements that the program takes."""
    if isinstance(x, Array):
        return x if x.dtype is type.dtype else _zyx._cast(x, type.dtype)
    if isinstance(x, jax.Array):
        if next(iter(x.devices())).platform != "cpu":
            raise ValueError(f"zyx.jax: an array on '{next(iter(x.devices()))}'; this version computes on the host")
        if jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key):
            x = jax.random.key_data(x)
    if isinstance(x, int) and np.dtype(type.numpy).kind in "iu" and not np.iinfo(type.numpy).min <= x <= np.iinfo(type.numpy).max:
        raise OverflowError(f"zyx.jax: {x} is no number of {np.dtype(type.numpy)}")
    x = np.asarray(x)
    if x.dtype != type.numpy:
        x = x.astype(type.numpy)
    if x.dtype.kind == "c":
        # The parts are neighbours: an axis behind the others.
        shape, x = x.shape, np.ascontiguousarray(x)
        return _from_buffer(x.view(x.real.dtype).reshape(shape + (2,)), None, True)
    if x.dtype == np.bool_:
        return _from_buffer(x, None, False)
    x = held(x)
    x = x if x.flags.c_contiguous else np.ascontiguousarray(x)
    if x.dtype.isbuiltin != 1:
        # A dtype of ml_dtypes: its bits.
        bits = _from_buffer(x.view({1: np.uint8, 2: np.uint16}[x.dtype.itemsize]), None, True)
        return _zyx._bitcast(bits, type.dtype)
    return _from_buffer(x, None, True)


def to_jax(array, like, begins=(), info=None):
    """An array of JAX over the memory of a result, if that is none of those that begin where an argument does: who has that
    one may write it. JAX makes a copy where it wants memory aligned in another way."""
    if like.is_complex:
        parts = np.array(_export(array, False))
        return jax.numpy.asarray(parts.view(like.numpy).reshape(like.shape))
    if like.narrow:
        return jax.numpy.asarray(np.array(_export(array, False)).astype(like.numpy))
    made = jax.dlpack.from_dlpack(_export(array, False))
    if made.size and made.unsafe_buffer_pointer() in begins:
        made = jax.numpy.array(made, copy=True)
    if info is not None and jax.dtypes.issubdtype(info.dtype, jax.dtypes.prng_key):
        made = jax.random.wrap_key_data(made, impl=info.dtype._impl)
    return made


def _delete(donated, made):
    """Each donated array of which there is a result of its type ends, one for each result, as in JAX: its memory is free
    for others. No result lies in it."""
    room = [(each.shape, each.dtype) for each in made]
    for leaf in donated:
        if (leaf.shape, leaf.dtype) in room:
            room.remove((leaf.shape, leaf.dtype))
            leaf.delete()


def _begin(leaf):
    """Where the elements of an argument lie."""
    if isinstance(leaf, jax.Array):
        return None if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf.unsafe_buffer_pointer()
    return leaf.__array_interface__["data"][0] if isinstance(leaf, np.ndarray) else None


def _positions(what, function, numbers, names):
    """Static arguments by both their positions and their names, as JAX has them."""
    positions = set(positions_of(f"zyx.jax.jit: {what}", function, numbers))
    order = parameters_of(function)[0] or []
    keywords = set(names) | {order[number] for number in positions if number < len(order)}
    return positions | {order.index(name) for name in names if name in order}, keywords


def _listed(names):
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


class jit:
    """A function of JAX as one program of zyx for each set of types: structures, shapes and dtypes of its arguments. The last 64
    programs are kept.

    Arguments and results are arrays of JAX on the host. `static_argnums` and `static_argnames` name arguments that are parts of the
    program, `donate_argnums` and `donate_argnames` those that end with the call. Transformations stand inside, as in jit(jax.grad(f)).

        >>> import jax.numpy as jnp
        >>> step = zyx.jax.jit(lambda x, y: jnp.dot(x, y) + 1)
        >>> float(step(jnp.asarray([1.0, 2.0]), jnp.asarray([3.0, 4.0])))
        12.0
        >>> step.captures
        1
    """

    def __init__(self, function, *, static_argnums=None, static_argnames=None, donate_argnums=None, donate_argnames=None):
        functools.update_wrapper(self, function)
        self._static = _positions("static_argnums", function, static_argnums, _listed(static_argnames))
        self._donated = _positions("donate_argnums", function, donate_argnums, _listed(donate_argnames))
        self._jitted = jax.jit(function, static_argnums=static_argnums, static_argnames=static_argnames,
                               donate_argnums=donate_argnums, donate_argnames=donate_argnames, keep_unused=True)
        self._programs, self._lock = Kept(), threading.Lock()

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    @property
    def captures(self):
        """How many programs there are."""
        return len(self._programs)

    def __call__(self, *args, **kwargs):
        numbers, names = self._static
        leaves, tree = tree_util.tree_flatten((
            tuple(arg for at, arg in enumerate(args) if at not in numbers),
            {name: arg for name, arg in kwargs.items() if name not in names}))
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            if getattr(_tracing, "depth", 0):
                # Within a function that is traced for zyx: a part of it.
                return self._jitted(*args, **kwargs)
            raise TypeError("zyx.jax.jit: a transformation of JAX is around the function, and would leave it to JAX; it has to "
                            "be inside, as in zyx.jax.jit(jax.grad(f))")
        donated = self._given_away(args, kwargs, leaves)
        leaves = [np.asarray(leaf) if isinstance(leaf, Array) else leaf for leaf in leaves]
        # 2, 2.0 and True are equal, and make other programs.
        static = (tuple((at, type(args[at]), args[at]) for at in sorted(numbers) if at < len(args)),
                  tuple((name, type(kwargs[name]), kwargs[name]) for name in sorted(names) if name in kwargs))
        key = (tree, static, tuple(_type_of(leaf) for leaf in leaves), jax.config.jax_enable_x64,
               jax.config.jax_default_matmul_precision, jax.config.jax_numpy_dtype_promotion)
        program = self._programs.get(key)
        if program is None:
            with self._lock:
                program = self._programs.get(key)
                if program is None:
                    args, kwargs = _with(args, kwargs, numbers, names, tree_util.tree_unflatten(tree, leaves))
                    program = self._made(args, kwargs)
                    self._programs.put(key, program)
        call, out, infos = program
        begins = {_begin(leaf) for leaf in leaves}
        arrays = [to_array(leaf, type) for leaf, type in zip(leaves, call.inputs)]
        with _zyx.device_scope("cpu"):
            results = call.arrays(arrays)
        made = [to_jax(result, type, begins, info) for result, type, info in zip(results, call.outputs, infos)]
        _delete(donated, made)
        return tree_util.tree_unflatten(out, made)

    def _given_away(self, args, kwargs, leaves):
        """The arrays of JAX among the arguments that are donated. One that is an argument twice is refused, as JAX does."""
        numbers, names = self._donated
        if not numbers and not names:
            return []
        donated = [leaf for leaf in tree_util.tree_leaves((
            [arg for at, arg in enumerate(args) if at in numbers], [arg for name, arg in kwargs.items() if name in names]))
            if isinstance(leaf, jax.Array)]
        for leaf in donated:
            if sum(other is leaf for other in leaves) > 1:
                raise ValueError("zyx.jax.jit: an array is donated and is another argument, too")
        return donated

    def _made(self, args, kwargs):
        _tracing.depth = getattr(_tracing, "depth", 0) + 1
        try:
            lowered = self._jitted.lower(*args, **kwargs)
        finally:
            _tracing.depth -= 1
        program = Program(lowered.compiler_ir("stablehlo"), getattr(self, "__name__", "main"))
        count = len(tree_util.tree_leaves(lowered.in_avals if hasattr(lowered, "in_avals") else lowered.args_info))
        if len(program.inputs) != count:
            raise Refused(f"zyx.jax: {program.name}: JAX made {len(program.inputs)} arguments of {count}")
        return program, lowered.out_tree, tree_util.tree_leaves(lowered.out_info)


def _with(args, kwargs, numbers, names, dynamic):
    rest = iter(dynamic[0])
    args = tuple(arg if at in numbers else next(rest) for at, arg in enumerate(args))
    return args, {name: dynamic[1].get(name, arg) if name not in names else arg for name, arg in kwargs.items()}


def _type_of(leaf):
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        return leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)
    return type(leaf)
