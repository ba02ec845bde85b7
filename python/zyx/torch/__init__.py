# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""zyx as a backend of torch.compile(). docs/torch-compile.md has examples, and says what is refused."""
import functools

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition

from . import (_attention, _complex, _control, _fourier, _fused, _gamma, _grouped, _linalg, _losses, _movement, _network,
               _pointwise, _polynomials, _random, _reduction, _segments, _special, _spectral, _windows)
from ._compile import compiled
from ._lower import OPS, Refused

__all__ = ["Refused", "backend", "decompositions", "ops"]


@functools.lru_cache(maxsize=None)
def decompositions():
    """What ATen ops are made of: PyTorch's core decompositions, and others where zyx has no op of its own.

        >>> import torch
        >>> torch.ops.aten.addcmul.default in zyx.torch.decompositions()
        True
    """
    from torch._decomp import core_aten_decompositions, decomposition_table
    # These make complex numbers by writing into parts of them, which AOTAutograd does not take.
    left = {*OPS, torch.ops.aten.complex.default, torch.ops.aten.polar.default}
    table = {target: function for target, function in core_aten_decompositions().items() if target not in left}
    for target, function in decomposition_table.items():
        if isinstance(target, torch._ops.OpOverload) and target.namespace == "aten" and target not in left:
            table.setdefault(target, function)
    return {**table, **_fused.DECOMPOSITIONS, **_windows.DECOMPOSITIONS}


def ops():
    """The ops of ATen's that become programs, by name.

        >>> "aten.mm.default" in zyx.torch.ops()
        True
    """
    return sorted(str(target) for target in OPS)


def _left(eager):
    """Whether an op is left to eager mode, by its name: all, or those of a list."""
    if eager is True:
        return lambda name: True
    names = set(eager or ())
    return lambda name: name in names or name.rsplit(".", 1)[0] in names


def backend(module, example, *, options=None, mode=None):
    """The backend "zyx" of torch.compile().

    `options` is a dict. "eager": True leaves ops that zyx has not to PyTorch, or a list of names only those; without it
    such an op raises `zyx.torch.Refused`, an UnsupportedError, which names it and the line that it comes from.

        >>> import torch
        >>> double = torch.compile(lambda x: x * 2, backend="zyx")
        >>> double(torch.tensor([1.0, 2.5])).tolist()
        [2.0, 5.0]
    """
    options = dict(options or {})
    eager = options.pop("eager", None)
    if options:
        raise TypeError(f"zyx.torch has no option '{next(iter(options))}'; it has 'eager'")
    if mode not in (None, "default"):
        raise TypeError(f"zyx.torch has no mode '{mode}'")
    left = _left(eager)
    _grouped.register()

    def compiler(module, example):
        from functorch.compile import make_boxed_func
        return make_boxed_func(compiled(module, example, left))

    return aot_autograd(fw_compiler=compiler, bw_compiler=compiler, decompositions=decompositions(),
                        partition_fn=min_cut_rematerialization_partition)(module, example)
