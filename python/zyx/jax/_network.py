# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, convolutions and Fourier transforms."""
import math

from .. import _complex as C
from .. import _zyx
from .._complex import Complex
from .._fourier import along, half_to_real, transformed
from .._lowering import cast, full, permute, reshape, wide
from ._lower import op
from ._movement import padded, spread


def _product(a, b):
    if isinstance(a, Complex) or isinstance(b, Complex):
        return C.matmul(C.of(a, a.dtype), C.of(b, b.dtype))
    return _zyx.matmul(a, b)


def _mapped(x, function):
    return x.map(function) if isinstance(x, Complex) else function(x)


@op("stablehlo.dot_general")
def dot_general(node, a, b):
    from jaxlib.mlir.dialects import stablehlo
    numbers = stablehlo.DotDimensionNumbers(node.op.attributes["dot_dimension_numbers"])
    batch_a, batch_b = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    sum_a, sum_b = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    return product(a, b, batch_a, batch_b, sum_a, sum_b, node.types[0])


def product(a, b, batch_a, batch_b, sum_a, sum_b, type):
    free_a = [axis for axis in range(a.ndim) if axis not in batch_a + sum_a]
    free_b = [axis for axis in range(b.ndim) if axis not in batch_b + sum_b]
    if type.size == 0 or a.size == 0 or b.size == 0:
        zero = full(type.shape, 0, type.dtype)
        return Complex(zero, zero) if type.is_complex else zero
    lead = math.prod(a.shape[axis] for axis in batch_a)
    inner = math.prod(a.shape[axis] for axis in sum_a)
    rows, columns = math.prod(a.shape[axis] for axis in free_a), math.prod(b.shape[axis] for axis in free_b)
    # Sums of small floats, and of integers, have the type of the result; those of 16 bits are summed in 32.
    dtype = type.dtype

    def own(x):
        if x.dtype is dtype:
            return x
        return cast(x, dtype) if dtype.is_float or not x.dtype.is_float else x

    if dtype is _zyx.bool:
        a, b = cast(a, _zyx.int32), cast(b, _zyx.int32)
    else:
        a, b = _mapped(a, own), _mapped(b, own)
    batched = [lead] if batch_a else []
    x = _mapped(a, lambda x: reshape(permute(x, batch_a + free_a + sum_a), batched + [rows, inner]))
    y = _mapped(b, lambda x: reshape(permute(x, batch_b + sum_b + free_b), batched + [inner, columns]))
    found = _product(x, y)
    if dtype is _zyx.bool:
        found = found != 0
    return _mapped(found, lambda x: reshape(x, type.shape))


@op("stablehlo.dot")
def dot(node, a, b):
    return product(a, b, [], [], [a.ndim - 1], [0], node.types[0])


@op("stablehlo.convolution")
def convolution(node, x, filters):
    from jaxlib.mlir.dialects import stablehlo
    numbers = stablehlo.ConvDimensionNumbers(node.op.attributes["dimension_numbers"])
    type = node.types[0]
    rank = x.ndim - 2
    if type.size == 0 or x.size == 0 or filters.size == 0:
        return full(type.shape, 0, type.dtype)
    if rank > 3:
        node.refuse(f"along {rank} dimensions; there are up to 3")
    order = [numbers.input_batch_dimension, numbers.input_feature_dimension, *numbers.input_spatial_dimensions]
    of_kernel = [numbers.kernel_output_feature_dimension, numbers.kernel_input_feature_dimension,
                 *numbers.kernel_spatial_dimensions]
    back = [numbers.output_batch_dimension, numbers.output_feature_dimension, *numbers.output_spatial_dimensions]
    ones = [1] * rank
    stride, dilation = node.ints("window_strides") or ones, node.ints("rhs_dilation") or ones
    base, padding = node.ints("lhs_dilation") or ones, node.ints("padding") or [[0, 0]] * rank
    reversed_axes = [2 + at for at, flag in enumerate(node.flags("window_reversal") or []) if flag]
    groups, batches = node.integer("feature_group_count", 1), node.integer("batch_group_count", 1)
    dtype = type.dtype

    def own(x):
        return wide(cast(x, dtype))

    def made(x, filters):
        x, filters = own(permute(x, order)), own(permute(filters, of_kernel))
        if reversed_axes:
            filters = _zyx._flip(filters, reversed_axes)
        count = groups
        if batches > 1:
            # Groups of images become groups of channels.
            n, channels = x.shape[:2]
            x = reshape(x, (batches, n // batches, channels) + x.shape[2:])
            x = permute(x, [1, 0] + list(range(2, x.ndim)))
            x = reshape(x, (n // batches, batches * channels) + x.shape[3:])
            count = batches
        x = spread(x, [0, 0] + [each - 1 for each in base])
        x = padded(x, [0, 0] + [low for low, _ in padding], [0, 0] + [high for _, high in padding])
        if rank == 0:
            n, channels = x.shape
            y = _zyx.matmul(permute(reshape(x, (n, count, channels // count)), [1, 0, 2]),
                            permute(reshape(filters, (count, filters.shape[0] // count, filters.shape[1])), [0, 2, 1]))
            y = reshape(permute(y, [1, 0, 2]), (n, filters.shape[0]))
        elif dtype.is_float:
            y = _zyx._convolution(x, filters, None, stride, [0] * rank, dilation, count)
        else:
            y = _of_integers(x, filters, stride, dilation, count)
        inverse = [0] * y.ndim
        for at, axis in enumerate(back):
            inverse[axis] = at
        return permute(y, inverse)

    if not isinstance(x, Complex) and not isinstance(filters, Complex):
        return made(x, filters)
    x, filters = C.of(x, dtype), C.of(filters, dtype)
    return Complex(made(x.real, filters.real) - made(x.imag, filters.imag),
                   made(x.real, filters.imag) + made(x.imag, filters.real))


def _of_integers(x, filters, stride, dilation, groups):
    """By windows and a product: integers wrap."""
    rank = x.ndim - 2
    window = list(filters.shape[2:])
    found = _zyx._sliding_windows(x, window, stride, dilation)
    n, channels, places = x.shape[0], x.shape[1], found.shape[2:2 + rank]
    found = reshape(found, (n, groups, channels // groups, math.prod(places), math.prod(window)))
    found = permute(found, [1, 0, 3, 2, 4])
    inner = channels // groups * math.prod(window)
    found = reshape(found, (groups, n * math.prod(places), inner))
    weights = permute(reshape(filters, (groups, filters.shape[0] // groups, inner)), [0, 2, 1])
    y = reshape(_zyx.matmul(found, weights), (groups, n, math.prod(places), filters.shape[0] // groups))
    return reshape(permute(y, [1, 0, 3, 2]), (n, filters.shape[0], *places))


@op("stablehlo.fft")
def fft(node, x):
    type, kind, lengths = node.types[0], node.word("fft_type"), node.ints("fft_length")
    axes = list(range(x.ndim - len(lengths), x.ndim))
    if type.size == 0 or x.size == 0:
        zero = full(type.shape, 0, type.dtype)
        return Complex(zero, zero) if type.is_complex else zero
    last = axes[-1]
    if kind == "RFFT":
        kept = type.shape[-1]
        z = along(x, last, lambda each: transformed(each, -1).map(lambda part: part[..., :kept]))
        for axis in axes[:-1]:
            z = along(z, axis, lambda each: transformed(each, -1))
        return z
    if kind == "FFT":
        for axis in axes:
            x = along(x, axis, lambda each: transformed(each, -1))
        return x
    factor = 1 / math.prod(lengths)
    for axis in axes if kind == "IFFT" else axes[:-1]:
        x = along(x, axis, lambda each: transformed(each, 1))
    if kind == "IFFT":
        return x * factor
    return along(x, last, lambda each: half_to_real(each, lengths[-1])) * factor
