# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules whose arguments have open extents, as jax.export writes them of symbolic shapes: a program for each set of shapes."""
import contextlib
import io
import re
import threading

from jaxlib.mlir import ir

from .. import _small, _zyx
from .._creation import asarray
from .._kept import Kept
from ._lower import ELEMENTS, NARROW, PARTS, Refused, parse, register_passes
from ._program import Program, entry_of

ARGUMENTS = "builtin.module(stablehlo-refine-arguments{{types={}}})"


class OpenType:
    """A type whose extents may be None, or have a bound."""
    __slots__ = ("shape", "bounds", "name", "dtype", "is_complex")

    def __init__(self, type):
        if not isinstance(type, ir.RankedTensorType):
            raise Refused(f"a value of the type {type}")
        self.shape = tuple(None if type.is_dynamic_dim(at) else type.get_dim_size(at) for at in range(type.rank))
        self.name = str(type.element_type)
        self.is_complex = self.name in PARTS
        element = PARTS[self.name][0] if self.is_complex else self.name
        if element in NARROW:
            self.dtype = _small.holder(NARROW[element])
        elif element in ELEMENTS:
            self.dtype = ELEMENTS[element][0]
        else:
            raise Refused(f"elements of {self.name}, which zyx has not")
        self.bounds = (None,) * type.rank
        if type.encoding is not None:
            found = re.fullmatch(r"#stablehlo\.bounds<([\d?, ]*)>", str(type.encoding))
            if not found:
                raise Refused(f"a value of the type {type}")
            self.bounds = tuple(None if each.strip() == "?" else int(each) for each in found[1].split(","))

    def __str__(self):
        return f"{self.name}[{', '.join(text_of(*each) for each in zip(self.shape, self.bounds))}]"

    def refusal(self, shape):
        """Why an argument cannot have a shape, or None."""
        if len(shape) != len(self.shape) or any(mine not in (None, other) for mine, other in zip(self.shape, shape)):
            return f"has the shape {list(shape)}, and the module says {self}"
        for at, (bound, extent) in enumerate(zip(self.bounds, shape)):
            if bound is not None and extent > bound:
                return f"has the extent {extent} in dimension {at}, whose bound is {bound}"
        return None


def text_of(extent, bound):
    return str(extent) if extent is not None else "?" if bound is None else f"?<={bound}"


class OpenProgram:
    """A module's public function, of which a program is made for each set of shapes. load() makes one of a file.

    The last 64 programs are kept.

        >>> text = '''
        ... func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        ...   %y = stablehlo.add %x, %x : tensor<?xf32>
        ...   return %y : tensor<?xf32>
        ... }'''
        >>> program = zyx.jax.load(text.encode())
        >>> program
        <zyx.jax program module: (f32[?]) -> (f32[?])>
        >>> program(zyx.asarray([1.0, 2.0])).tolist(), program(zyx.asarray([3.0])).tolist(), program.captures
        ([2.0, 4.0], [6.0], 2)
    """

    def __init__(self, module, name="main", device=None):
        self.module, self.name, self.device = module, name, device
        self.entry, kind, count = entry_of(module, name)
        if self.entry != "main" and count > 1:
            raise Refused(f"zyx.jax: {name}: open extents of '{self.entry}', which is not 'main'")
        try:
            self.inputs, self.outputs = [OpenType(each) for each in kind.inputs], [OpenType(each) for each in kind.results]
        except Refused as error:
            raise Refused(f"zyx.jax: {name}: an argument or a result is {error}") from None
        # Bounds say nothing about extents that are numbers, and passes that find them leave such types as they are.
        text = module.operation.get_asm(enable_debug_info=True)
        self._text = re.sub(r", #stablehlo\.bounds<[\d?, ]*>>", ">", text)
        self._programs, self._lock = Kept(), threading.Lock()
        self.captures = 0

    def at(self, shapes):
        """The program of arguments of these shapes. Raises ValueError where the module has none."""
        shapes = tuple(tuple(map(int, shape)) for shape in shapes)
        if len(shapes) != len(self.inputs):
            raise TypeError(f"{self.name}: takes {len(self.inputs)} arrays, not {len(shapes)}")
        found = self._programs.get(shapes)
        if found is not None:
            return found
        for at, (type, shape) in enumerate(zip(self.inputs, shapes)):
            if why := type.refusal(shape):
                raise ValueError(f"{self.name}: argument {at} {why}")
        with self._lock:
            found = self._programs.get(shapes)
            if found is None:
                found = self._made(shapes)
                self._programs.put(shapes, found)
                self.captures += 1
        return found

    def _made(self, shapes):
        from jaxlib import _jax
        from jaxlib.mlir import passmanager
        register_passes()
        module, data = parse(self._text), io.BytesIO()
        types = ",".join("tensor<" + "".join(f"{extent}x" for extent in shape) + f"{type.name}>"
                         for type, shape in zip(self.inputs, shapes))
        try:
            with module.context:
                passmanager.PassManager.parse(ARGUMENTS.format(types)).run(module.operation)
                module.operation.write_bytecode(data)
            # What XLA does to such a module: functions become parts of the one that calls them, and extents numbers.
            refined = _jax.mlir.refine_polymorphic_shapes(data.getvalue(), enable_shape_assertions=True, validate_static_shapes=False)
        except (ir.MLIRError, RuntimeError) as error:
            reason = re.sub(r"^.*?error: ", "", str(error), count=1, flags=re.DOTALL).split("\n")[0]
            raise ValueError(f"{self.name}: arguments of the shapes {', '.join(map(str, map(list, shapes)))}: {reason[:700]}") from None
        return Program(parse(refined), self.name, self.device)

    def __call__(self, *arrays):
        """The results, arrays of zyx: one, or a tuple of several."""
        with _zyx.device_scope(self.device) if self.device else contextlib.nullcontext():
            arrays = [asarray(array) for array in arrays]
        shapes = [array.shape[:-1] if at < len(self.inputs) and self.inputs[at].is_complex else array.shape
                  for at, array in enumerate(arrays)]
        return self.at(shapes)(*arrays)

    def __repr__(self):
        return f"<zyx.jax program {self.name}: ({', '.join(map(str, self.inputs))}) -> ({', '.join(map(str, self.outputs))})>"
