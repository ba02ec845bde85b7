# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers as pairs of arrays: what ops of them become. In a tensor of PyTorch's the parts of a number are neighbours, so
that it is an array with one axis more."""
import math
import operator

from .. import _functions as F
from .. import _zyx
from .._complex import (Complex, acos, acosh, asinh, atanh, cos, exp, expm1, from_last, joined, log, log1p, matmul, of, sgn,
                        sigmoid, sin, sqrt, tanh, to_last, turned)
from .._zyx import Array
from . import _movement, _network, _pointwise, _reduction  # noqa: F401 (what the parts become)
from ._lower import (COMPLEX, OPS, aten, axes_of, cast, component_of, expand, full, meta_of, op, packets, prims, reshape,
                     result_dtype)


def complexes(*targets):
    """Registers what a node of these ops becomes where an element is complex."""
    return op(*targets, table=COMPLEX)


# Both parts alone: what moves elements, and sums of them. Of arguments that are values a real one has no imaginary part.

for _target in (
        aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.view_copy.default, aten._reshape_alias.default,
        aten.expand.default, aten.expand_copy.default, aten.permute.default, aten.permute_copy.default, aten.transpose.int,
        aten.t.default, aten.unsqueeze.default, aten.unsqueeze_copy.default, *packets(aten.squeeze), *packets(aten.squeeze_copy),
        aten.flip.default, aten.roll.default, aten.repeat.default, aten.cat.default, aten.stack.default, aten.slice.Tensor,
        aten.slice_copy.Tensor, aten.select.int, aten.select_copy.int, aten.narrow.default, aten.narrow_copy.default,
        aten.split_with_sizes.default, aten.split_with_sizes_copy.default, aten.split.Tensor, aten.split_copy.Tensor,
        aten.unbind.int, aten.unbind_copy.int, aten.diagonal.default, aten.diagonal_copy.default, aten.diagonal_scatter.default,
        aten.unfold.default, aten.unfold_copy.default, aten.index_select.default, aten.gather.default, aten.index.Tensor,
        aten._unsafe_index.Tensor, aten.index_put.default, aten._unsafe_index_put.default, aten.scatter.src,
        aten.scatter.value, aten.scatter_add.default, aten.slice_scatter.default, aten.select_scatter.default, aten.masked_scatter.default,
        aten.as_strided.default, aten.as_strided_copy.default, aten.as_strided_scatter.default, aten.tril.default,
        aten.triu.default, aten.clone.default, aten.alias.default, aten.lift_fresh_copy.default, aten.detach.default,
        aten.lift_fresh.default, aten.contiguous.default, prims.clone.default, aten.sum.default, aten.sum.dim_IntList,
        aten.mean.default, aten.mean.dim, aten.cumsum.default, aten.where.self, aten.put.default):
    # Which arguments are no values: conditions and positions.
    _others = {aten.where.self: (0,), aten.index.Tensor: (1,), aten._unsafe_index.Tensor: (1,), aten.index_put.default: (1,),
               aten._unsafe_index_put.default: (1,), aten.gather.default: (2,), aten.index_select.default: (2,),
               aten.masked_scatter.default: (1,), aten.put.default: (1,), aten.scatter_add.default: (2,)}.get(_target, ())
    if _target in (aten.scatter.src, aten.scatter.value):
        _others = (2,)

    def _moved(node, *arguments, _others=_others, **named):
        if node.target is aten.scatter.value:
            arguments = (*arguments[:3], complex(arguments[3]))

        def part(argument, name):
            if isinstance(argument, (list, tuple)):
                return type(argument)(part(each, name) for each in argument)
            if isinstance(argument, (Complex, complex)):
                return getattr(argument, name)
            if name == "imag" and isinstance(argument, Array):
                return full(argument.shape, 0, argument.dtype)
            return argument

        real, imag = ([argument if at in _others else part(argument, name) for at, argument in enumerate(arguments)]
                      for name in ("real", "imag"))
        a, b = OPS[node.target](node, *real, **named), OPS[node.target](node, *imag, **named)
        return [Complex(*each) for each in zip(a, b)] if isinstance(a, (list, tuple)) else Complex(a, b)

    if _target in OPS:
        complexes(_target)(_moved)


@complexes(aten.constant_pad_nd.default)
def constant_pad(node, x, amounts, value=0):
    pad, value = OPS[aten.constant_pad_nd.default], complex(value)
    return Complex(pad(node, x.real, amounts, value.real), pad(node, x.imag, amounts, value.imag))


@complexes(aten.full.default, aten.full_like.default, aten.scalar_tensor.default, aten.zeros.default, aten.zeros_like.default,
           aten.new_zeros.default, aten.ones.default, aten.ones_like.default, aten.new_ones.default, aten.empty.memory_format,
           aten.empty_permuted.default, aten.empty_strided.default, aten.empty_like.default, aten.new_empty.default,
           aten.new_empty_strided.default, aten._efficientzerotensor.default)
def made(node, *arguments, **_):
    dtype, name = result_dtype(node), node.target.overloadpacket.__name__
    number = arguments[-1] if name in ("full", "full_like", "scalar_tensor") else int(name.endswith(("ones", "ones_like")))
    if not meta_of(node).dtype.is_complex:
        return full(node.meta["val"].shape, number, dtype)
    return of(number, dtype).map(lambda part: expand(part, node.meta["val"].shape))


# Types and parts


@complexes(aten._to_copy.default, prims.convert_element_type.default)
def to_copy(node, x, *_, **__):
    dtype = result_dtype(node)
    if meta_of(node).dtype.is_complex:
        return of(x, dtype)
    return truth(x) if dtype is _zyx.bool else OPS[node.target](node, x.real)


@complexes(aten.copy.default)
def copy(node, x, source, *_):
    if not isinstance(x, Complex):
        return expand(cast(source.real, x.dtype), x.shape)
    return of(source, x.dtype).map(lambda part: expand(part, x.shape))


def truth(x):
    if isinstance(x, Complex):
        return (x.real != 0) | (x.imag != 0)
    return x if x.dtype is _zyx.bool else x != 0


@complexes(aten.view_as_complex.default)
def view_as_complex(node, x):
    return from_last(x)


complexes(aten.view_as_real.default, aten.view_as_real_copy.default)(lambda node, x: to_last(x))


@complexes(aten.complex.default)
def complex_of(node, a, b):
    dtype, shape = result_dtype(node), node.meta["val"].shape
    return Complex(expand_to(cast(a, dtype), shape), expand_to(cast(b, dtype), shape))


def expand_to(x, shape):
    return expand(reshape(x, (1,) * (len(shape) - x.ndim) + x.shape), shape)


@complexes(aten.polar.default)
def polar(node, size, angle):
    return Complex(size * F.cos(angle), size * F.sin(angle))


complexes(aten.real.default)(lambda node, x: x.real)
complexes(aten.imag.default)(lambda node, x: x.imag)
complexes(aten._conj.default, prims.conj_physical.default, aten._conj_physical.default, aten.conj_physical.default,
          aten._conj_copy.default)(lambda node, x: of(x, result_dtype(node)).conj())
complexes(aten.resolve_conj.default, aten.resolve_neg.default)(lambda node, x: x)
complexes(aten.abs.default)(lambda node, x: _zyx.hypot(x.real, x.imag))
complexes(aten.angle.default)(lambda node, x: _zyx.atan2(x.imag, x.real))
complexes(aten.isnan.default)(lambda node, x: F.isnan(x.real) | F.isnan(x.imag))
complexes(aten.isinf.default)(lambda node, x: F.isinf(x.real) | F.isinf(x.imag))
complexes(aten.isfinite.default)(lambda node, x: F.isfinite(x.real) & F.isfinite(x.imag))
complexes(aten.logical_not.default)(lambda node, x: F.logical_not(truth(x)))
complexes(aten.logical_and.default)(lambda node, a, b: truth(a) & truth(b))
complexes(aten.logical_or.default)(lambda node, a, b: truth(a) | truth(b))
complexes(aten.logical_xor.default)(lambda node, a, b: truth(a) ^ truth(b))
for _target in packets(aten.any, aten.all):
    complexes(_target)(lambda node, x, *rest, **named: OPS[node.target](node, truth(x), *rest, **named))


# Arithmetic


def both(node, a, b):
    """Two operands in the dtype that PyTorch promotes to."""
    dtype = component_of(node, node.args[:2])
    return of(a, dtype), of(b, dtype)


def _equal(node, a, b):
    a, b = both(node, a, b)
    return (a.real == b.real) & (a.imag == b.imag)


complexes(*packets(aten.eq))(_equal)
complexes(*packets(aten.ne))(lambda node, a, b: F.logical_not(_equal(node, a, b)))


def _scaled(node, a, b, alpha, sign):
    a, b = both(node, a, b)
    b = b if alpha == 1 else b * of(alpha, b.dtype)
    return a + b if sign > 0 else a - b


complexes(*packets(aten.add))(lambda node, a, b, alpha=1: _scaled(node, a, b, alpha, 1))
complexes(*packets(aten.sub))(lambda node, a, b, alpha=1: _scaled(node, a, b, alpha, -1))
complexes(*packets(aten.mul))(lambda node, a, b: operator.mul(*both(node, a, b)))


@complexes(*packets(aten.rsub))
def rsub(node, a, b, alpha=1):
    a, b = both(node, a, b)
    return b - (a if alpha == 1 else a * of(alpha, a.dtype))


@complexes(*packets(aten.div))
def div(node, a, b):
    a, b = both(node, a, b)
    return a / b


complexes(aten.neg.default)(lambda node, x: -x)
complexes(aten.reciprocal.default)(lambda node, x: of(1, x.dtype) / x)


for _target, _function in {
        aten.exp: exp, aten.log: log, aten.sqrt: sqrt, aten.sin: sin, aten.cos: cos, aten.tanh: tanh, aten.tan: turned(tanh),
        aten.sinh: turned(sin), aten.cosh: lambda x: cos(Complex(-x.imag, x.real)), aten.atanh: atanh, aten.asinh: asinh,
        aten.acosh: acosh, aten.acos: acos, aten.asin: turned(asinh), aten.atan: turned(atanh), aten.sgn: sgn,
        aten.sigmoid: sigmoid, aten.rsqrt: lambda x: of(1, x.dtype) / sqrt(x), aten.expm1: expm1,
        aten.log1p: log1p, aten.log2: lambda x: log(x) * (1 / math.log(2)),
        aten.log10: lambda x: log(x) * (1 / math.log(10)), aten.square: lambda x: x * x,
        aten.exp2: lambda x: exp(x * math.log(2))}.items():
    complexes(_target.default)(lambda node, x, _function=_function: _function(x))


@complexes(*packets(aten.pow))
def power(node, a, b):
    if isinstance(b, (int, float)) and b == int(b) and 0 < abs(b) <= 8:
        result = a
        for _ in range(abs(int(b)) - 1):
            result = result * a
        return result if b > 0 else of(1, a.dtype) / result
    a, b = both(node, a, b)
    found = exp(log(a) * b)
    zero = (a.real == 0) & (a.imag == 0)
    at_zero = joined((b.real == 0) & (b.imag == 0), of(1, a.dtype), of(0, a.dtype))
    return joined(zero, at_zero, found)


@complexes(aten.prod.default, aten.prod.dim_int)
def prod(node, x, dim=None, keepdim=False, *, dtype=None):
    x = of(x, result_dtype(node))
    rank = x.ndim
    axes = axes_of(dim, rank)
    if rank and dim is None:
        x = x.map(lambda part: reshape(part, (part.size,)))
    if rank:
        x = x.map(lambda part: F.moveaxis(part, axes[0] if dim is not None else 0, -1))
        while x.shape[-1] > 1:
            half, extent = x.shape[-1] // 2, x.shape[-1]
            y = x.map(lambda part: part[..., :half]) * x.map(lambda part: part[..., half:2 * half])
            x = y if extent % 2 == 0 else Complex(*[_zyx._concat([each, part[..., extent - 1:]], x.ndim - 1)
                                                    for each, part in ((y.real, x.real), (y.imag, x.imag))])
        if x.shape[-1] == 0:
            x = of(full(x.shape[:-1] + (1,), 1, x.dtype), x.dtype)
    return x.map(lambda part: reshape(part, node.meta["val"].shape))


# Products


@complexes(aten.mm.default, aten.bmm.default)
def mm(node, a, b):
    return matmul(*both(node, a, b))


@complexes(aten.mv.default)
def mv(node, a, b):
    return matmul(a, b.map(lambda part: reshape(part, (part.size, 1)))).map(lambda part: reshape(part, (part.shape[0],)))


@complexes(aten.dot.default, aten.vdot.default)
def dot(node, a, b):
    a = a.conj() if node.target is aten.vdot.default else a
    y = a * b
    return y.map(lambda part: _zyx._sum(part, [0], False))


@complexes(aten.addmm.default, aten.baddbmm.default)
def addmm(node, bias, a, b, *, beta=1, alpha=1):
    y = matmul(a, b) * of(alpha, a.dtype)
    return y if beta == 0 else y + bias * of(beta, a.dtype)


@complexes(aten.linalg_vector_norm.default)
def vector_norm(node, x, p=2, dims=None, keepdim=False, *, dtype=None):
    return OPS[node.target](node, _zyx.hypot(x.real, x.imag), p, dims, keepdim)
