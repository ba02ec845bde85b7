# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX and modules of StableHLO as programs of zyx. docs/jax.md has examples, and says what is refused.

jaxlib reads modules; jit() needs JAX itself.
"""
import os
import pathlib

from . import _control, _elementwise, _linalg, _movement, _network, _reduction  # noqa: F401 (tables of ops)
from ._lower import OPS, Refused, parse
from ._open import OpenProgram
from ._program import Program, entry_of, program_text

__all__ = ["OpenProgram", "Program", "Refused", "jit", "load", "ops", "program_text"]


def load(source, *, device=None):
    """The program of a module of StableHLO.

    `source` is a path, or bytes: text, or a portable artifact, as jax.export writes it (`exported.mlir_module_serialized`).
    The program takes and returns arrays of zyx on `device`, by default that of new arrays. Where arguments have open
    extents, it is an OpenProgram, which makes a program for each set of shapes. Raises ValueError for what is no
    module, and Refused where an op is not one of zyx.jax.

        >>> text = '''
        ... func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        ...   %y = stablehlo.add %x, %x : tensor<2xf32>
        ...   return %y : tensor<2xf32>
        ... }'''
        >>> program = zyx.jax.load(text.encode())
        >>> program(zyx.asarray([1.0, 2.5])).tolist()
        [2.0, 5.0]
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _program(parse(bytes(source)), "module", device)
    path = pathlib.Path(os.fspath(source))
    try:
        return _program(parse(path.read_bytes()), path.name, device)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _program(module, name, device):
    inputs = entry_of(module, name)[1].inputs
    is_open = any(getattr(type, "has_rank", False) and not type.has_static_shape for type in inputs)
    return (OpenProgram if is_open else Program)(module, name, device)


def ops():
    """The ops of StableHLO and CHLO that are there, by name.

        >>> "stablehlo.dot_general" in zyx.jax.ops()
        True
    """
    return sorted(OPS)


def __getattr__(name):
    # JAX is read when it is needed: modules in files need jaxlib alone.
    if name == "jit":
        from ._jit import jit
        return jit
    raise AttributeError(f"module 'zyx.jax' has no attribute '{name}'")
