# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of functions: gradients and jit. Arguments are trees: tuples, lists and dicts with arrays in them."""
import functools
import struct
import weakref

from . import _zyx
from ._creation import asarray, to_int
from ._kept import MOST_PROGRAMS, Kept
from ._positions import positions_of
from ._zyx import Array, Parameter, Tape, float32

ONE = struct.pack("<f", 1.0)


class _Leaf:
    """Where an array stands in a tree."""

    __slots__ = ()

    def __repr__(self):
        return "*"


LEAF = _Leaf()


def _flatten(tree, leaves, open_nodes):
    kind = type(tree)
    if kind is Array:
        leaves.append(tree)
        return LEAF
    if kind is tuple or kind is list or kind is dict or (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        if id(tree) in open_nodes:
            raise ValueError("a tree of arguments has itself in it")
        open_nodes.add(id(tree))
        if kind is dict:
            keys = tuple(sorted(tree)) if all(isinstance(key, str) for key in tree) else tuple(tree)
            made = (dict, keys, tuple(_flatten(tree[key], leaves, open_nodes) for key in keys))
        else:
            made = (kind, None, tuple(_flatten(each, leaves, open_nodes) for each in tree))
        open_nodes.discard(id(tree))
        return made
    if isinstance(tree, Parameter):
        leaves.append(tree.value)
        return LEAF
    if isinstance(tree, (tuple, list, dict)):
        raise TypeError(f"a tree has tuples, lists, dicts and named tuples, and no {kind.__name__}")
    if not isinstance(tree, (bool, int, float, complex, str, bytes)) and (hasattr(tree, "__dlpack__") or
                                                                          hasattr(tree, "__array__")):
        leaves.append(asarray(tree))
        return LEAF
    return static(tree)


class _Static:
    """A kind of parts of a structure: what is no array."""


class _Exact:
    """A value that == does not tell from others: -0.0 from 0.0, and NaN, which is none of its equals, from all."""

    __slots__ = ("value", "key")

    def __init__(self, value):
        self.value, self.key = value, _exact_key(value)

    def __eq__(self, other):
        return type(other) is _Exact and self.key == other.key

    def __hash__(self):
        return hash(self.key)


def _exact_key(value):
    """Of numbers and tuples of them their types and bits."""
    if isinstance(value, float):
        return type(value), struct.pack("<d", value)
    if isinstance(value, complex):
        return type(value), struct.pack("<dd", value.real, value.imag)
    if isinstance(value, tuple):
        return type(value), tuple(map(_exact_key, value))
    return type(value), value


def static(value):
    """The structure of what is no array. Its type tells 1, 1.0 and True apart, which are equal."""
    return _Static, type(value), (_Exact(value) if isinstance(value, (float, complex, tuple)) else value,)


def _unflatten(structure, leaves):
    if structure is LEAF:
        return next(leaves)
    kind, keys, parts = structure
    if kind is _Static:
        value, = parts
        return value.value if type(value) is _Exact else value
    if kind is dict:
        return {key: _unflatten(part, leaves) for key, part in zip(keys, parts)}
    made = [_unflatten(part, leaves) for part in parts]
    return kind(*made) if hasattr(kind, "_fields") else kind(made)


def tree_flatten(tree):
    """The arrays in a tree of tuples, lists and dicts, and what is left of it.

        >>> leaves, structure = zyx.tree_flatten({"a": zyx.asarray(1), "b": (zyx.asarray(2), None)})
        >>> [leaf.item() for leaf in leaves]
        [1, 2]
    """
    leaves = []
    structure = _flatten(tree, leaves, set())
    return leaves, structure


def tree_unflatten(structure, leaves):
    """The tree with these arrays in it.

        >>> leaves, structure = zyx.tree_flatten((zyx.asarray(1), [zyx.asarray(2)]))
        >>> a, (b,) = zyx.tree_unflatten(structure, leaves)
        >>> a.item(), b.item()
        (1, 2)
    """
    return _unflatten(structure, iter(leaves))


def tree_map(function, tree, *others):
    """The tree with what the function makes of each array, and of those at its place in the others.

        >>> zyx.tree_map(lambda x: x * 2, {'a': zyx.asarray([1])})['a'].tolist()
        [2]
    """
    leaves, structure = tree_flatten(tree)
    columns = [leaves]
    for other in others:
        more, its = tree_flatten(other)
        if its != structure:
            raise ValueError("tree_map: the trees have different structures")
        columns.append(more)
    return tree_unflatten(structure, [function(*each) for each in zip(*columns)])


def eval(*trees):
    """Computes all arrays of the trees in one program.

        >>> x = zyx.asarray([1.0]) + 1
        >>> before = x.is_computed
        >>> zyx.eval(x)
        >>> before, x.is_computed
        (False, True)
    """
    leaves = []
    for tree in trees:
        _flatten(tree, leaves, set())
    if leaves:
        _zyx._realize(leaves)


def detach(x, /):
    """The value of x, computed now, through which no gradient goes.

        >>> zyx.detach(zyx.asarray([1.0]) * 2).tolist()
        [2.0]
    """
    return _zyx._detach(_one_array("detach: x", x, "an array"))


def gradient(target, sources, *, seed=None, allow_unused=False):
    """The gradient of the sum of `target`'s elements with respect to each array of a list.

    An array that was read has forgotten what it was made of, unless a Tape lives. A source on which the target does not
    depend is refused; with `allow_unused` its gradient is 0.

        >>> x = zyx.asarray([3.0])
        >>> [slope.tolist() for slope in zyx.gradient(zyx.sum(x * x), [x])]
        [[6.0]]
    """
    target = _one_array("gradient: the target", target, "an array of floats")
    return _zyx._gradient(target, [s.value if isinstance(s, Parameter) else s for s in sources], seed, allow_unused)


def value_and_grad(function, argnums=0, has_aux=False):
    """A function that returns what `function` returns, one float, and the gradient with respect to arguments.

    `argnums` is a position, or a tuple of them. The gradient has the structure of the argument. With `has_aux` the
    function returns a pair whose first is the float. The function may write such an argument, as by x[0] = v: the gradient is
    with respect to what it was given, and the caller's array stays what it is.

        >>> value, slope = zyx.value_and_grad(lambda x: zyx.sum(x * x))(zyx.asarray([1.0, 2.0]))
        >>> slope.tolist()
        [2.0, 4.0]
    """
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(function)
    def differentiated(*args, **kwargs):
        args = list(args)
        sources, structures, seen = [], [], set()
        for position in positions:
            if not -len(args) <= position < len(args):
                raise TypeError(f"grad: there is no argument {position} among {len(args)}")
            leaves, structure = tree_flatten(args[position])
            own = []
            for leaf in leaves:
                if not leaf.dtype.is_float:
                    raise TypeError(f"grad: argument {position} has an array of {leaf.dtype!r}, which has no gradient")
                source = _zyx._as_source(leaf)
                if _zyx._id(source) in seen:
                    # Two arguments may be one array: a factor that is data makes another node of it.
                    source = leaf * _zyx._cast(_zyx._from_bytes(ONE, float32, ()), leaf.dtype)
                seen.add(_zyx._id(source))
                own.append(source)
            sources += own
            structures.append((structure, len(own)))
            # The function gets handles of its own: x[i] = v in it rebinds those, and no source.
            args[position] = tree_unflatten(structure, [_zyx._cast(source, source.dtype) for source in own])
        # The function may read values, of its loss for example.
        with Tape():
            result = function(*args, **kwargs)
            value, aux = result if has_aux else (result, None)
            if not isinstance(value, Array) or value.size != 1 or not value.dtype.is_float:
                raise TypeError("grad: the function returns one float, as an array of one element, not "
                                f"{value!r}" + ("" if has_aux else "; has_aux takes a pair"))
            gradients = _zyx._gradient(value, sources, None, True) if sources else []
        parts, start = [], 0
        for structure, count in structures:
            parts.append(tree_unflatten(structure, gradients[start:start + count]))
            start += count
        gradient = parts[0] if isinstance(argnums, int) else tuple(parts)
        return ((value, aux) if has_aux else value), gradient

    return differentiated


def grad(function, argnums=0, has_aux=False):
    """A function that returns the gradient of `function` with respect to arguments; see value_and_grad().

        >>> zyx.grad(lambda x: x * x * x)(zyx.asarray(2.0)).item()
        12.0
    """
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def differentiated(*args, **kwargs):
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


class jit:
    """A function of trees of arrays as one program for each set of types.

    The function is called once for each structure, shapes, dtypes and devices of its arguments, with arrays that have no
    values. What is no array (numbers, strings, None) is a part of the program: another one is another program.
    `static_argnums` and `static_argnames` say which arguments are so as a whole; they are hashable. Arrays that the
    function reads from elsewhere are those of the first call, but for parameters of modules. `donate_argnums` are
    arguments whose memory results may take; these arrays have no value after the call. Negative positions count from the
    last positional parameter. The last 64 programs are kept; of a method each object, which has weak references, has its own.

        >>> double = zyx.jit(lambda x: x + x)
        >>> double(zyx.asarray([1.0, 2.0])).tolist()
        [2.0, 4.0]
    """

    def __init__(self, function, *, static_argnums=(), static_argnames=(), donate_argnums=()):
        # First, as it copies attributes, which a jit of a jit has, too.
        functools.update_wrapper(self, function)
        self._function = function
        self._static_positions = positions_of("jit: static_argnums", function, static_argnums)
        self._static_names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        self._donated = positions_of("jit: donate_argnums", function, donate_argnums)
        self._programs, self._made, self._left = Kept(), 0, 0
        # The same programs for calls of arrays alone, by their types.
        self._plain = None if self._static_positions or self._donated else {}
        # Of objects whose method this is, by their ids.
        self._bound = {}

    def __get__(self, instance, owner=None):
        return self if instance is None else _Method(self._of(instance), instance)

    def _of(self, instance):
        """That of an object, which is a part of its programs. It is not kept in the object, whose copies would have it,
        and does not keep the object."""
        key = id(instance)
        reference, bound = self._bound.get(key, (None, None))
        if reference is None or reference() is not instance:
            # What is wrapped may be no function with a name of its own.
            name = getattr(self, "__qualname__", repr(self._function))
            try:
                reference = weakref.ref(instance, functools.partial(_forget, self._bound, key))
            except TypeError:
                raise TypeError(f"jit: {name}: an object whose method is compiled needs weak references: "
                                f"'__weakref__' among the __slots__ of {type(instance).__qualname__}") from None
            if 0 in self._donated:
                raise ValueError(f"jit: {name}: donate_argnums has 0, the object whose method it is")

            @functools.wraps(self._function)
            def method(*args, **kwargs):
                return function(reference(), *args, **kwargs)

            function = self._function
            # The object is static whether it is named or not.
            bound = jit(method, static_argnums=tuple(position - 1 for position in self._static_positions if position),
                        static_argnames=self._static_names,
                        donate_argnums=tuple(position - 1 for position in self._donated))
            self._bound[key] = reference, bound
        return bound

    def __reduce__(self):
        # Programs are compiled again.
        return functools.partial(jit, static_argnums=tuple(self._static_positions), static_argnames=self._static_names,
                                 donate_argnums=tuple(self._donated)), (self._function,)

    @property
    def captures(self):
        """How often the function was called."""
        return self._left + sum(program.captures for program, _ in self._programs.values())

    def __call__(self, *args, **kwargs):
        if self._plain and not kwargs:
            found = self._plain.get(_zyx._types(args))
            if found is not None:
                program, structure_of = found
                results = program(args)
                structure = structure_of()
                return results[0] if structure is LEAF else tree_unflatten(structure, results)
        leaves, structures, donated = [], [], []
        for position, arg in enumerate(args):
            if position in self._static_positions:
                structures.append(static(arg))
                continue
            if position in self._donated:
                first = len(leaves)
                structures.append(_flatten(arg, leaves, set()))
                donated += range(first, len(leaves))
            elif type(arg) is Array:
                # As _flatten has it, which most arguments need not ask.
                leaves.append(arg)
                structures.append(LEAF)
            else:
                structures.append(_flatten(arg, leaves, set()))
        names = tuple(sorted(kwargs)) if kwargs else ()
        for name in names:
            if name in self._static_names:
                structures.append(static(kwargs[name]))
            else:
                structures.append(_flatten(kwargs[name], leaves, set()))
        key = (len(args), names, tuple(structures), _zyx._types(leaves))
        try:
            found = self._programs.get(key)
        except TypeError as error:
            raise TypeError(f"jit: what is no array is a part of the program, and so has to be hashable: {error}") from None
        if found is None:
            found = self._program(len(args), names, key[2], donated)
            left = self._programs.put(key, found)
            self._made += 1
            if left is not None:
                self._left += left[0].captures
            if self._plain and self._made % (MOST_PROGRAMS // 2) == 0:
                # Those that are called come back by way of the others, among which they are then the latest.
                self._plain.clear()
        program, structure_of = found
        results = program(leaves)
        structure = structure_of()
        if self._plain is not None and not kwargs and all(type(arg) is Array for arg in args):
            self._plain[key[3]] = found
        return results[0] if structure is LEAF else tree_unflatten(structure, results)

    def _program(self, count, names, structures, donated):
        function, made = self._function, []

        def flat(leaves):
            rest = iter(leaves)
            values = [_unflatten(structure, rest) for structure in structures]
            result = function(*values[:count], **dict(zip(names, values[count:])))
            leaves, structure = tree_flatten(result)
            made.append(structure)
            return leaves

        def structure_of():
            # One function for each structure and types; a mode of a module may make it another one.
            if len(made) > 1 and any(structure != made[0] for structure in made):
                raise ValueError("jit: the function returned different structures for the same arguments")
            return made[0]

        return _zyx._Function(flat, donated), structure_of

    def __repr__(self):
        return f"<zyx.jit of {self._function!r}>"


class _Method:
    """A jit of one object, which lives as long as this."""

    __slots__ = ("_jit", "__self__")

    def __init__(self, jit, instance):
        self._jit, self.__self__ = jit, instance

    def __call__(self, *args, **kwargs):
        return self._jit(*args, **kwargs)

    def __reduce__(self):
        return getattr, (self.__self__, self._jit.__name__)

    def __getattr__(self, name):
        return getattr(self._jit, name)

    def __eq__(self, other):
        return type(other) is _Method and self._jit is other._jit

    def __hash__(self):
        return hash(self._jit)

    def __repr__(self):
        return f"<{self._jit!r} of {self.__self__!r}>"


def _forget(bound, key, reference):
    if bound.get(key, (None,))[0] is reference:
        del bound[key]


def checkpoint(function):
    """A function of arrays whose gradient computes its values again instead of keeping them.

        >>> zyx.checkpoint(lambda x: x * x)(zyx.asarray([3.0])).tolist()
        [9.0]
    """

    @functools.wraps(function)
    def checkpointed(*args):
        leaves, structure = tree_flatten(args)
        made = []

        def flat(leaves):
            result, its = tree_flatten(function(*tree_unflatten(structure, leaves)))
            made.append(its)
            return result

        results = _zyx._checkpoint(flat, leaves)
        return tree_unflatten(made[0], results)

    return checkpointed


def _flat_body(name, structure, body):
    """A body of a loop as a function of leaves, of which the first is the number of the trip."""
    def flat(all_leaves):
        result, its = tree_flatten(body(all_leaves[0], tree_unflatten(structure, all_leaves[1:])))
        if its != structure:
            raise ValueError(f"{name}: the body returns another structure than it was given")
        return result

    return flat


def loop(trips, initial, body):
    """body(trip, carried) `trips` times, as a part of one program. `carried` is a tree; the body returns as many arrays
    of the same types in the same structure. Where `trips` is an array, an int64 without dimensions, data says how often; such
    a loop has a gradient where `trips` is the minimum of data and a number.

        >>> zyx.loop(3, zyx.asarray([1.0]), lambda trip, x: x * 2).tolist()
        [8.0]
        >>> zyx.loop(zyx.asarray(2), zyx.asarray([1.0]), lambda trip, x: x * 2).tolist()
        [4.0]
    """
    leaves, structure = tree_flatten(initial)
    flat = _flat_body("loop", structure, body)
    if not isinstance(trips, Array):
        trips = to_int(trips, "loop: the number of trips")
    return tree_unflatten(structure, _zyx._loop(trips, leaves, flat))


def while_loop(initial, condition, body):
    """body(trip, carried) while condition(carried), an array of one bool without dimensions, is true, as a part of one program.
    `carried` is a tree; the body returns as many arrays of the same types in the same structure. It has no gradient.

        >>> zyx.while_loop(zyx.asarray(1.0), lambda x: x < 100, lambda trip, x: x * 2).item()
        128.0
    """
    leaves, structure = tree_flatten(initial)
    flat = _flat_body("while_loop", structure, body)

    def goes_on(now):
        return [_one_array("while_loop: the condition", condition(tree_unflatten(structure, now)), "an array of one bool", bool)]

    return tree_unflatten(structure, _zyx._while_loop(leaves, goes_on, flat))


def _one_array(what, value, meant, kind=()):
    """An array, or what a number of one kind is as one; TypeError for others."""
    if isinstance(value, Parameter):
        return value.value
    if isinstance(value, Array):
        return value
    # True is an int of Python, and no index.
    is_number = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    if is_number or (kind and hasattr(value, "__array__") and getattr(value, "shape", None) == ()):
        return asarray(value)
    raise TypeError(f"{what} is {meant}, and no {type(value).__name__}")


def _branches(name, branches, operands):
    """Functions of lists of arrays, and what the structure of their results is, once they were called."""
    leaves, structure = tree_flatten(operands)
    made = []

    def flat(branch):
        def function(arrays):
            result, its = tree_flatten(branch(*tree_unflatten(structure, arrays)))
            if made and made[0] != its:
                raise ValueError(f"{name}: the branches return other structures")
            made[:] = [its]
            return result

        return function

    return leaves, [flat(branch) for branch in branches], made


def cond(condition, then, otherwise, *operands):
    """then(*operands) where an array of one bool is true, else otherwise(*operands), as a part of one program. What a branch
    computes from `operands` is computed where it is chosen alone, and what it computes from other arrays always. The branches
    return trees of one structure with arrays of the same types.

        >>> x = zyx.asarray([1.0, 2.0])
        >>> zyx.cond(zyx.sum(x) > 2, lambda x: x * 2, lambda x: -x, x).tolist()
        [2.0, 4.0]
        >>> zyx.grad(lambda x: zyx.cond(zyx.sum(x) > 9, lambda x: zyx.sum(x * 2), lambda x: zyx.sum(-x), x))(x).tolist()
        [-1.0, -1.0]
    """
    leaves, (first, second), made = _branches("cond", (then, otherwise), operands)
    chosen = _zyx._cond(_one_array("cond: the condition", condition, "an array of one bool", bool), leaves, first, second)
    return tree_unflatten(made[0], chosen)


def switch(index, branches, *operands):
    """branches[index](*operands), where `index` is an array of one int64, as cond() does; the last one where it is out of range.

        >>> zyx.switch(zyx.asarray(1), [lambda x: x, lambda x: x + 1, lambda x: x * 5], zyx.asarray(3.0)).item()
        4.0
    """
    leaves, functions, made = _branches("switch", branches, operands)
    chosen = _zyx._choose(_one_array("switch: the index", index, "an array of one int64", int), leaves, functions)
    return tree_unflatten(made[0], chosen)
