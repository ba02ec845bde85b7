"""Calls of jax.lax, jax.numpy and what is built of them, as a table, through zyx.jax.jit() beside JAX's CPU.

A call is a name and a function of arrays of a dtype; a cell is a call with one of its dtypes. Arrays have 12 to 60 elements,
negative ones and equal ones among them.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import zyx.jax

DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16, "i32": jnp.int32, "bool": jnp.bool_}
F, FB, N, FI, ALL, I, IB, B = (("f32",), ("f32", "bf16"), ("f32", "bf16", "i32"), ("f32", "i32"), tuple(DTYPES), ("i32",),
                               ("i32", "bool"), ("bool",))


def array(shape, dtype, seed=0, kind="any"):
    """Numbers of a kind: any, positive, unit (between -1 and 1), above (1 to 4)."""
    rng = np.random.default_rng(seed + 17 * len(shape) + int(np.prod(shape)))
    if dtype == "bool":
        return jnp.asarray(rng.integers(0, 2, shape).astype(bool))
    if dtype == "i32":
        low, high = {"any": (-9, 10), "positive": (1, 10), "unit": (-1, 2), "above": (1, 5)}[kind]
        return jnp.asarray(rng.integers(low, high, shape).astype(np.int32))
    low, high = {"any": (-3, 3), "positive": (0.1, 3), "unit": (-0.95, 0.95), "above": (1.05, 4)}[kind]
    return jnp.asarray(rng.uniform(low, high, shape).astype(np.float32)).astype(DTYPES[dtype])


CASES = []


def add(name, function, dtypes=FB, *, shapes=((3, 4),), kinds=None, close=None):
    """One call: function(*arrays of these shapes)."""
    CASES.append((name, function, dtypes, shapes, kinds or ("any",) * len(shapes), close))


def each(module, names, dtypes, **named):
    for name in names.split():
        own, _, kind = name.partition(":")
        kinds = (kind,) * len(named.get("shapes", ((3, 4),))) if kind else None
        add(f"{module.__name__}.{own}", getattr(module, own), dtypes, kinds=kinds, **named)


TWO = ((3, 4), (3, 4))
each(lax, "abs sign neg", N)
each(lax, "exp exp2 expm1 log:positive log1p:positive sin cos tan:unit tanh sinh cosh asin:unit acos:unit atan asinh acosh:above "
     "atanh:unit sqrt:positive rsqrt:positive cbrt logistic erf erfc erf_inv:unit floor ceil round is_finite lgamma:positive "
     "digamma:positive reciprocal square bessel_i0e bessel_i1e", FB)
each(lax, "add sub mul max min eq ne lt le gt ge", N, shapes=TWO)
each(lax, "max min eq ne", B, shapes=TWO)
each(lax, "div rem", N, shapes=TWO, )
each(lax, "pow:positive atan2", FB, shapes=TWO)
each(lax, "nextafter complex", F, shapes=TWO)
each(lax, "bitwise_and bitwise_or bitwise_xor", IB, shapes=TWO)
each(lax, "bitwise_not", IB)
each(lax, "clz population_count", I)
each(lax, "shift_left shift_right_arithmetic shift_right_logical", I, shapes=TWO)
each(lax, "igamma:above igammac:above", F, shapes=TWO)
add("jax.lax.igamma_grad_a", lax.igamma_grad_a, F, shapes=TWO, kinds=("above", "above"))
add("jax.lax.random_gamma_grad", lax.random_gamma_grad, F, shapes=TWO, kinds=("above", "above"))
add("jax.lax.betainc", lambda a, b, x: lax.betainc(a, b, jnp.abs(x)), F, shapes=TWO + ((3, 4),), kinds=("above", "above", "unit"))
add("jax.lax.zeta", lax.zeta, F, shapes=TWO, kinds=("above", "above"))
add("jax.lax.polygamma", lambda x: lax.polygamma(jnp.full_like(x, 2), x), F, kinds=("above",))
add("jax.lax.integer_pow", lambda x: (lax.integer_pow(x, 3), lax.integer_pow(x, 0)), N)
add("jax.lax.integer_pow -2", lambda x: lax.integer_pow(x, -2), FB, kinds=("positive",))
add("jax.lax.clamp", lambda x: lax.clamp(jnp.asarray(-1, x.dtype), x, jnp.asarray(2, x.dtype)), N)
add("jax.lax.select", lambda a, b: lax.select(a < b, a, b), N, shapes=TWO)
add("jax.lax.select_n", lambda i, a, b: lax.select_n(i != 0, a, b), I, shapes=TWO + ((3, 4),))
add("jax.lax.round away", lambda x: lax.round(x * 2, lax.RoundingMethod.AWAY_FROM_ZERO), FB)
add("jax.lax.reduce_precision", lambda x: (lax.reduce_precision(x, 5, 4), lax.reduce_precision(x, 8, 7)), F)
add("jax.lax.convert_element_type", lambda x: (x.astype(jnp.float32), x.astype(jnp.int8), x.astype(bool), x.astype(jnp.float16)), ALL)
add("jax.lax.convert_element_type u", lambda x: (jnp.abs(x).astype(jnp.uint8), jnp.abs(x).astype(jnp.uint32)), N)
add("jax.lax.bitcast_convert_type", lambda x: (lax.bitcast_convert_type(x, jnp.uint32), lax.bitcast_convert_type(x, jnp.uint8),
                                               lax.bitcast_convert_type(x, jnp.int16)), FI)
add("jax.lax.bitcast_convert_type up", lambda x: lax.bitcast_convert_type(x.astype(jnp.uint8).reshape(3, 4), jnp.uint32), I)
add("jax.lax.iota", lambda x: x[0, 0] + lax.iota(x.dtype, 5), FI)
add("jax.lax.broadcasted_iota", lambda x: x + lax.broadcasted_iota(x.dtype, (3, 4), 0), N)
add("jax.lax.broadcast", lambda x: lax.broadcast(x, (2, 1)), ALL)
add("jax.lax.broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 2, 4), (0, 2)), ALL)
add("jax.lax.reshape", lambda x: lax.reshape(x, (4, 3), (1, 0)), ALL)
add("jax.lax.transpose", lambda x: lax.transpose(x, (2, 0, 1)), ALL, shapes=((2, 3, 4),))
add("jax.lax.rev", lambda x: lax.rev(x, (0, 1)), ALL)
add("jax.lax.concatenate", lambda a, b: lax.concatenate([a, b, a], 1), ALL, shapes=((3, 4), (3, 2)))
add("jax.lax.pad", lambda x: lax.pad(x, jnp.asarray(1, x.dtype), ((1, 2, 0), (0, 1, 2))), ALL)
add("jax.lax.pad negative", lambda x: lax.pad(x, jnp.asarray(0, x.dtype), ((-1, 2, 1), (1, -2, 0))), ALL)
add("jax.lax.pad of data", lambda x: lax.pad(x, x[0, 0], ((1, 0, 1), (-1, 0, 0))), ALL)
add("jax.lax.slice", lambda x: lax.slice(x, (1, 0), (3, 4), (1, 2)), ALL)
add("jax.lax.slice_in_dim", lambda x: lax.slice_in_dim(x, 1, 4, 2, 1), ALL)
add("jax.lax.index_in_dim", lambda x: lax.index_in_dim(x, -1, 0), ALL)
add("jax.lax.dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i[0, 0], i[0, 1]), (2, 3)), I, shapes=TWO)
add("jax.lax.dynamic_slice f32", lambda x: lax.dynamic_slice(x, (jnp.argmax(x[:, 0]), jnp.argmin(x[0])), (2, 2)), F)
add("jax.lax.dynamic_slice_in_dim", lambda x: lax.dynamic_slice_in_dim(x, jnp.argmax(x[0]), 2, 1), ALL)
add("jax.lax.dynamic_index_in_dim", lambda x: lax.dynamic_index_in_dim(x, jnp.argmax(x[:, 1]), 0), ALL)
add("jax.lax.dynamic_update_slice", lambda x, y: lax.dynamic_update_slice(x, y, (jnp.argmax(x[:, 0]), jnp.argmax(x[0]))), ALL, shapes=((3, 4), (2, 2)))
add("jax.lax.dynamic_update_slice_in_dim", lambda x, y: lax.dynamic_update_slice_in_dim(x, y, jnp.argmax(x[:, 0]), 0), ALL, shapes=((3, 4), (2, 4)))
add("jax.lax.dynamic_update_index_in_dim", lambda x, y: lax.dynamic_update_index_in_dim(x, y, jnp.argmin(x[0]), 1), ALL, shapes=((3, 4), (3,)))
add("jax.lax.expand_dims", lambda x: lax.expand_dims(x, (0, 2)), ALL)
add("jax.lax.squeeze", lambda x: lax.squeeze(x, (1,)), ALL, shapes=((3, 1, 4),))
add("jax.lax.collapse", lambda x: lax.collapse(x, 0, 2), ALL, shapes=((2, 3, 4),))
add("jax.lax.full_like", lambda x: lax.full_like(x, 1), ALL)
add("jax.lax.split", lambda x: lax.split(x, (1, 3), 1), ALL)
add("jax.lax.stop_gradient", lambda x: lax.stop_gradient(x), ALL)
add("jax.lax.optimization_barrier", lambda x: lax.optimization_barrier(x), ALL)
each(lax, "real imag conj", F)
for _name in "cumsum cumprod cummax cummin".split():
    add(f"jax.lax.{_name}", lambda x, f=getattr(lax, _name): (f(x, 0), f(x, 1, reverse=True)), N)
add("jax.lax.cumlogsumexp", lambda x: lax.cumlogsumexp(x, 1), FB)
for _name in "reduce_max reduce_min reduce_sum reduce_prod".split():
    add(f"jax.lax.{_name}", lambda x, f=getattr(lax, _name): (f(x, (0,)), f(x, (0, 1))), N)
for _name in "reduce_and reduce_or reduce_xor".split():
    add(f"jax.lax.{_name}", lambda x, f=getattr(lax, _name): (f(x, (0,)), f(x, (0, 1))), IB)
add("jax.lax.reduce", lambda x: lax.reduce(x, jnp.asarray(2, x.dtype), lambda a, b: a + b, (1,)), N)
add("jax.lax.reduce of a block", lambda x: lax.reduce(x, jnp.asarray(0, x.dtype), lambda a, b: jnp.maximum(jnp.abs(a), jnp.abs(b)), (0,)), N)
add("jax.lax.reduce of two", lambda x, y: lax.reduce((x, y), (jnp.asarray(0, x.dtype),) * 2, lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (1,)), N, shapes=TWO)
add("jax.lax.argmax", lambda x: (lax.argmax(x, 1, jnp.int32), lax.argmax(x, 0, jnp.int32)), ALL)
add("jax.lax.argmin", lambda x: (lax.argmin(x, 1, jnp.int32), lax.argmin(x, 0, jnp.int32)), ALL)
add("jax.lax.sort", lambda x: lax.sort(x, dimension=0), ALL)
add("jax.lax.sort of two", lambda x, y: lax.sort((x, y), num_keys=2), N, shapes=TWO)
add("jax.lax.sort stable", lambda x, y: lax.sort((x, y), num_keys=1), ("i32", "bool"), shapes=TWO)
add("jax.lax.sort_key_val", lambda x, y: lax.sort_key_val(x, y), F, shapes=TWO)
add("jax.lax.top_k", lambda x: lax.top_k(x, 2), N)
add("jax.lax.approx_max_k", lambda x: lax.approx_max_k(x, 2), F)
add("jax.lax.dot", lambda a, b: lax.dot(a, b), N, shapes=((3, 4), (4, 5)))
add("jax.lax.dot of vectors", lambda a, b: lax.dot(a, b), N, shapes=((4,), (4,)))
add("jax.lax.dot_general", lambda a, b: lax.dot_general(a, b, (((2, 0), (1, 3)), ((1,), (0,)))), N, shapes=((2, 3, 4), (3, 4, 5, 2)))
add("jax.lax.dot_general to f32", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32), ("bf16",), shapes=((3, 4), (4, 5)))
add("jax.lax.batch_matmul", lambda a, b: lax.batch_matmul(a, b), N, shapes=((2, 3, 4), (2, 4, 5)))
add("jax.lax.ragged_dot", lambda a, b: lax.ragged_dot(a, b, jnp.array([1, 2, 1], jnp.int32)), F, shapes=((4, 3), (3, 3, 5)))
IMAGE = ((2, 4, 6, 5), (6, 4, 3, 2))


def conv(name, shapes=IMAGE, dtypes=FB, **named):
    named.setdefault("window_strides", (1,) * (len(shapes[0]) - 2))
    named.setdefault("padding", "VALID")
    add(f"jax.lax.conv_general_dilated {name}", lambda a, b: lax.conv_general_dilated(a, b, **named), dtypes, shapes=shapes)
    add(f"jax.grad of conv_general_dilated {name}", jax.grad(lambda a, b: jnp.sum(jnp.sin(lax.conv_general_dilated(a, b, **named))), (0, 1)), F, shapes=shapes)


conv("valid")
conv("same", padding="SAME", window_strides=(2, 1))
conv("dilated", rhs_dilation=(2, 1), padding=((1, 2), (0, 3)))
conv("of a spread image", lhs_dilation=(2, 3), padding=((-1, 2), (1, 0)))
conv("NHWC", shapes=((2, 6, 5, 4), (3, 2, 4, 6)), dimension_numbers=("NHWC", "HWIO", "NHWC"))
conv("in groups", shapes=((2, 4, 6, 5), (6, 2, 3, 2)), feature_group_count=2)
conv("by depth", shapes=((2, 4, 6, 5), (4, 1, 3, 2)), feature_group_count=4)
conv("in groups of images", shapes=((4, 4, 6, 5), (6, 4, 3, 2)), batch_group_count=2)
conv("1d", shapes=((2, 4, 9), (6, 4, 3)), padding="SAME")
conv("3d", shapes=((1, 2, 4, 3, 4), (3, 2, 2, 2, 2)))
add("jax.lax.conv", lambda a, b: lax.conv(a, b, (1, 1), "SAME"), N, shapes=IMAGE)
add("jax.lax.conv_transpose", lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")), FB, shapes=((2, 4, 3, 3), (6, 4, 3, 2)))
add("jax.lax.conv_with_general_padding", lambda a, b: lax.conv_with_general_padding(a, b, (1, 1), ((1, 1), (0, 2)), (1, 2), (1, 1)), F, shapes=IMAGE)
add("jax.lax.conv_general_dilated_patches", lambda a: lax.conv_general_dilated_patches(a, (3, 2), (1, 1), "VALID"), F, shapes=((2, 4, 6, 5),))
for _name, _start, _function in (("add", 0, lax.add), ("max", -np.inf, lax.max), ("min", np.inf, lax.min), ("mul", 1, lax.mul)):
    for _kind, _named in {"same": dict(window_dimensions=(1, 3, 2), window_strides=(1, 2, 1), padding="SAME"),
                          "dilated": dict(window_dimensions=(1, 2, 2), window_strides=(1, 1, 1), padding=((0, 0), (1, 2), (0, 1)),
                                          base_dilation=(1, 2, 1), window_dilation=(1, 1, 2)),
                          "large": dict(window_dimensions=(1, 6, 1), window_strides=(1, 1, 1), padding=((0, 0), (5, 0), (0, 0)))}.items():
        add(f"jax.lax.reduce_window {_name} {_kind}", lambda x, s=_start, f=_function, n=_named: lax.reduce_window(
            x, jnp.asarray(s, x.dtype) if x.dtype != jnp.int32 or abs(s) < 9 else jnp.asarray(np.iinfo(np.int32).min if s < 0 else np.iinfo(np.int32).max, jnp.int32),
            f, **n), N, shapes=((2, 6, 5),))
        if _name in ("add", "max", "min"):
            add(f"jax.grad of reduce_window {_name} {_kind}", lambda x, s=_start, f=_function, n=_named: jax.grad(
                lambda x: jnp.sum(jnp.sin(lax.reduce_window(x, s, f, **{k: v for k, v in n.items() if "base" not in k and "dilation" not in k}))))(x),
                F, shapes=((2, 6, 5),))
add("jax.lax.reduce_window of a block", lambda x: lax.reduce_window(x, jnp.asarray(0, x.dtype), lambda a, b: jnp.maximum(jnp.abs(a), jnp.abs(b)), (2, 3), (1, 1), "VALID"), N, shapes=((4, 6),))
add("jax.lax.gather clip", lambda x, i: lax.gather(x, i[:, :2], lax.GatherDimensionNumbers((1,), (0,), (0, 1)), (1, 2), mode="clip"), I, shapes=((5, 4), (6, 3)))
for _mode in ("clip", "fill", "promise_in_bounds"):
    add(f"jax.numpy indexing {_mode}", lambda x, m=_mode: x.at[jnp.array([0, 2, -1] + ([9] if m != "promise_in_bounds" else []))].get(mode=m), ALL)
for _name in "set add multiply min max".split():
    add(f"jax.numpy at.{_name}", lambda x, y, n=_name: getattr(x.at[jnp.array([0, 2, 2])], n)(y), ALL if _name not in ("set",) else (), shapes=((4, 3), (3, 3)))
    add(f"jax.numpy at.{_name} of columns", lambda x, y, n=_name: getattr(x.at[:, jnp.array([2, 0])], n)(y), ALL, shapes=((4, 3), (4, 2)))
    add(f"jax.numpy at.{_name} of pairs", lambda x, y, n=_name: getattr(x.at[jnp.array([0, 3, 7]), jnp.array([2, 1, 0])], n)(y), ALL, shapes=((4, 3), (3,)))
add("jax.numpy at.set of equal rows", lambda x, y: x.at[jnp.array([0, 2, 1])].set(y), ALL, shapes=((4, 3), (3, 3)))
add("jax.numpy at.apply", lambda x: x.at[jnp.array([0, 2])].apply(lambda y: y * y), N)
add("jax.numpy at.power", lambda x: x.at[1].power(2), F)
add("jax.numpy at.divide", lambda x: x.at[1:, 2].divide(2), F)
add("jax.numpy at slices", lambda x: x.at[1:3, ::2].set(1), ALL)
add("jax.numpy indexing of slices", lambda x: (x[1:, ::-2], x[..., None, 1], x[-1], x[::2, [0, 2]]), ALL)
add("jax.numpy indexing of arrays", lambda x: x[jnp.array([[0, 1], [2, 0]]), jnp.array([1, 3])], ALL)
add("jax.numpy indexing of data", lambda x, i: x[i[:, 0] % 3], I, shapes=((3, 4), (5, 2)))
add("jax.lax.scan", lambda x: lax.scan(lambda c, y: (c * 0.5 + y, (jnp.sin(c), c + y)), x[0], x), F)
add("jax.lax.scan reverse", lambda x: lax.scan(lambda c, y: (c + y, c), x[0], x, reverse=True), N)
add("jax.grad of scan", jax.grad(lambda x: jnp.sum(lax.scan(lambda c, y: (jnp.tanh(c * 0.5 + y), c), x[0], x)[1])), F)
add("jax.lax.map", lambda x: lax.map(lambda y: y.sum() * y, x), N)
add("jax.lax.fori_loop", lambda x: lax.fori_loop(0, 7, lambda i, c: c + i * x, x), N)
add("jax.lax.fori_loop of data", lambda x: lax.fori_loop(0, jnp.abs(x[0, 0]) % 5, lambda i, c: c + i, x), I)
add("jax.lax.while_loop", lambda x: lax.while_loop(lambda c: jnp.sum(jnp.abs(c)) < 200, lambda c: c * 2 + 1, x), N)
add("jax.lax.while_loop nested", lambda x: lax.while_loop(lambda c: jnp.max(c) < 50, lambda c: lax.while_loop(lambda d: jnp.min(d) < 3, lambda d: d + 1, c) * 2, x), FI)
add("jax.vmap of while_loop", lambda x: jax.vmap(lambda y: lax.while_loop(lambda c: jnp.sum(jnp.abs(c)) < 60, lambda c: c * 2 + 1, y))(x), FI)
add("jax.lax.cond", lambda x: lax.cond(x[0, 0] > 0, lambda x: x + x, lambda x: x * x, x), N)
add("jax.lax.switch", lambda x: lax.switch(jnp.argmax(x[0]), [lambda x: x + x, lambda x: x * x, lambda x: -x], x), N)
add("jax.lax.associative_scan", lambda x: lax.associative_scan(jnp.add, x, axis=1), N)
add("jax.lax.associative_scan of pairs", lambda x, y: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, y)), F, shapes=TWO)
add("jax.lax.custom_root", lambda x: lax.custom_root(lambda y: y * y - x, x, lambda f, y: lax.fori_loop(0, 20, lambda i, y: 0.5 * (y + x / y), y), lambda g, y: y / g(jnp.ones_like(y))), F, kinds=("positive",))
for _name in "fft ifft fft2 fftn rfft rfft2 rfftn".split():
    add(f"jax.numpy.fft.{_name}", getattr(jnp.fft, _name), F, shapes=((3, 10),))
add("jax.numpy.fft.irfft", lambda x: (jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(x), 7)), F, shapes=((3, 10),))
add("jax.numpy.fft.hfft", lambda x: jnp.fft.hfft(x), F, shapes=((3, 10),))
add("jax.numpy.fft.fftshift", lambda x: (jnp.fft.fftshift(x), jnp.fft.fftfreq(5)), F)
# jax.numpy
each(jnp, "abs absolute negative positive square", N)
each(jnp, "exp exp2 expm1 log:positive log10:positive log1p:positive log2:positive sin cos tan:unit sinh cosh tanh arcsin:unit arccos:unit arctan "
     "arcsinh arccosh:above arctanh:unit sqrt:positive cbrt reciprocal:positive sinc i0 floor ceil trunc rint isfinite isinf isnan signbit fabs deg2rad "
     "rad2deg degrees radians nan_to_num isneginf isposinf modf frexp spacing", F)
each(jnp, "sign round real imag conj angle iscomplex isreal", FI)
each(jnp, "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor", ALL[:3], shapes=TWO)
each(jnp, "divide true_divide floor_divide mod remainder fmod divmod", FI, shapes=TWO, )
each(jnp, "power:positive float_power:positive", F, shapes=TWO)
add("jax.numpy.power of integers", lambda a, b: jnp.power(a, jnp.abs(b) % 5), I, shapes=TWO)
each(jnp, "arctan2 hypot logaddexp logaddexp2 copysign nextafter heaviside fmax fmin isclose", F, shapes=TWO)
each(jnp, "gcd lcm left_shift right_shift bitwise_left_shift bitwise_right_shift", I, shapes=TWO, )
each(jnp, "bitwise_and bitwise_or bitwise_xor", IB, shapes=TWO)
each(jnp, "invert bitwise_not", IB)
each(jnp, "bitwise_count", I)
add("jax.numpy.ldexp", lambda a, b: jnp.ldexp(a, b.astype(jnp.int32)), F, shapes=TWO)
add("jax.numpy.logical_not", jnp.logical_not, ALL)
each(jnp, "sum prod max min mean all any argmax argmin ptp count_nonzero amax amin cumsum cumprod", N)
each(jnp, "all any sum argmax count_nonzero cumsum", B)
each(jnp, "var std median nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian nanargmax nanargmin nancumsum nancumprod average", F)
for _name in "sum prod max min mean var std argmax median".split():
    add(f"jax.numpy.{_name} axis", lambda x, f=getattr(jnp, _name): (f(x, axis=0), f(x, axis=-1, keepdims=True)), FI)
add("jax.numpy.quantile", lambda x: (jnp.quantile(x, 0.3), jnp.percentile(x, jnp.array([10., 60.]), axis=1), jnp.nanquantile(x, 0.5, axis=0)), F)
each(jnp, "sort argsort flip fliplr flipud ravel transpose matrix_transpose rot90 tril triu diagonal trace diff copy atleast_3d", FI)
add("jax.numpy.sort axis", lambda x: (jnp.sort(x, axis=0, descending=True), jnp.argsort(x, axis=0)), ALL)
add("jax.numpy.sort of NaN", lambda x: jnp.sort(jnp.where(x > 1, jnp.nan, x)), F)
add("jax.numpy.partition", lambda x: (jnp.sort(jnp.partition(x, 2)[:, :2]), jnp.partition(x, 2)[:, 2]), FI)
add("jax.numpy.lexsort", lambda x, y: jnp.lexsort((x, y)), I, shapes=TWO)
add("jax.numpy.searchsorted", lambda x, y: (jnp.searchsorted(jnp.sort(x.ravel()), y), jnp.searchsorted(jnp.sort(x.ravel()), y, side="right", method="sort")), FI, shapes=TWO)
add("jax.numpy.digitize", lambda x: jnp.digitize(x, jnp.array([-1., 0., 2.])), F)
add("jax.numpy.bincount", lambda x: jnp.bincount(jnp.abs(x).ravel(), length=12), I)
add("jax.numpy.histogram", lambda x: jnp.histogram(x, 5, (-3, 3)), F)
add("jax.numpy.unique", lambda x: jnp.unique(x, size=6, return_counts=True), I)
add("jax.numpy.nonzero", lambda x: jnp.nonzero(x > 0, size=5), FI)
add("jax.numpy.where", lambda x, y: (jnp.where(x > y, x, y), jnp.where(x > 0, x, 0)), N, shapes=TWO)
add("jax.numpy.select", lambda x: jnp.select([x > 1, x < 0], [x, -x], 0), FI)
add("jax.numpy.piecewise", lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * x]), F)
add("jax.numpy.choose", lambda x: jnp.choose(jnp.abs(x) % 2, [x, -x], mode="clip"), I)
add("jax.numpy.clip", lambda x: jnp.clip(x, -1, 2), N)
add("jax.numpy.interp", lambda x: jnp.interp(x, jnp.array([-2., 0., 1.]), jnp.array([0., 3., 1.])), F)
for _name, _call in {
        "reshape": lambda x: jnp.reshape(x, (2, -1)), "expand_dims": lambda x: jnp.expand_dims(x, 1), "squeeze": lambda x: jnp.squeeze(x[None]),
        "moveaxis": lambda x: jnp.moveaxis(x[None], 0, -1), "swapaxes": lambda x: jnp.swapaxes(x, 0, 1), "rollaxis": lambda x: jnp.rollaxis(x, 1),
        "roll": lambda x: (jnp.roll(x, 2), jnp.roll(x, (1, -1), (0, 1))), "repeat": lambda x: jnp.repeat(x, 2, axis=1),
        "tile": lambda x: jnp.tile(x, (2, 1, 2)), "stack": lambda x: jnp.stack([x, x], 1), "concatenate": lambda x: jnp.concatenate([x, x]),
        "hstack": lambda x: jnp.hstack([x, x]), "vstack": lambda x: jnp.vstack([x, x]), "dstack": lambda x: jnp.dstack([x, x]),
        "column_stack": lambda x: jnp.column_stack([x, x[:, 0]]), "block": lambda x: jnp.block([[x, x], [x, x]]),
        "split": lambda x: jnp.split(x, 2, 1), "array_split": lambda x: jnp.array_split(x, 3, 1), "hsplit": lambda x: jnp.hsplit(x, 2),
        "broadcast_to": lambda x: jnp.broadcast_to(x, (2, 3, 4)), "broadcast_arrays": lambda x: jnp.broadcast_arrays(x, x[0]),
        "atleast_2d": lambda x: jnp.atleast_2d(x[0]), "append": lambda x: jnp.append(x, x[0]), "insert": lambda x: jnp.insert(x, 1, x[0], axis=0),
        "delete": lambda x: jnp.delete(x, 1, axis=0), "diag": lambda x: (jnp.diag(x[0]), jnp.diag(x)), "diagflat": lambda x: jnp.diagflat(x[0]),
        "eye": lambda x: x + jnp.eye(3, 4, dtype=x.dtype) if x.dtype != bool else x, "full_like": lambda x: jnp.full_like(x, 1), "zeros_like": jnp.zeros_like, "ones_like": jnp.ones_like,
        "meshgrid": lambda x: jnp.meshgrid(x[0], x[:, 0]), "take": lambda x: (jnp.take(x, jnp.array([0, 5])), jnp.take(x, jnp.array([1, 0]), axis=1)),
        "take_along_axis": lambda x: jnp.take_along_axis(x, jnp.array([[0, 1], [2, 3], [1, 1]]), 1), "put_along_axis": lambda x: jnp.put_along_axis(x, jnp.array([[1], [2], [0]]), x[:, :1], 1, inplace=False),
        "pad constant": lambda x: jnp.pad(x, ((1, 2), (0, 1))), "pad edge": lambda x: jnp.pad(x, 2, mode="edge"), "pad reflect": lambda x: jnp.pad(x, 2, mode="reflect"), "pad wrap": lambda x: jnp.pad(x, 1, mode="wrap"),
        "fill_diagonal": lambda x: jnp.fill_diagonal(x, 1, inplace=False), "resize": lambda x: jnp.resize(x, (5, 4)), "unstack": lambda x: jnp.unstack(x), "extract": lambda x: jnp.extract(jnp.ones_like(x, bool), x, size=4),
        "tri": lambda x: x * jnp.tri(3, 4, dtype=x.dtype) if x.dtype != bool else x, "array_equal": lambda x: jnp.array_equal(x, x), "apply_along_axis": lambda x: jnp.apply_along_axis(jnp.max, 1, x)}.items():
    add(f"jax.numpy.{_name}", _call, ALL)
each(jnp, "matmul", N, shapes=((2, 3, 4), (4, 5)))
each(jnp, "dot", N, shapes=((3, 4), (4, 5)))
each(jnp, "inner vdot vecdot kron", N, shapes=TWO)
each(jnp, "outer", N, shapes=((3,), (4,)))
each(jnp, "cross", FI, shapes=((4, 3), (4, 3)))
each(jnp, "convolve correlate", FI, shapes=((7,), (3,)))
each(jnp, "polyval polyadd polymul polysub", FI, shapes=((4,), (3,)))
add("jax.numpy.polyder", lambda x: (jnp.polyder(x), jnp.polyint(x)), F, shapes=((5,),))
add("jax.numpy.tensordot", lambda a, b: jnp.tensordot(a, b, ((1, 0), (0, 2))), N, shapes=((3, 4), (4, 5, 3)))
add("jax.numpy.einsum", lambda a, b: (jnp.einsum("ij,kj->ik", a, b), jnp.einsum("ij,ij->", a, b), jnp.einsum("ij->j", a)), N, shapes=TWO)
add("jax.numpy.cov", lambda x: (jnp.cov(x), jnp.corrcoef(x)), F)
add("jax.numpy.gradient", lambda x: jnp.gradient(x), F)
add("jax.numpy.trapezoid", lambda x: jnp.trapezoid(x), F)
add("jax.numpy.vander", lambda x: jnp.vander(x[0]), FI)
add("jax.numpy.unwrap", lambda x: jnp.unwrap(x * 3), F)
add("jax.numpy.ediff1d", jnp.ediff1d, FI)
add("jax.numpy.linspace", lambda x: (jnp.linspace(x[0], x[1], 5), jnp.logspace(0., x[0, 0], 4), jnp.geomspace(1., jnp.abs(x[0, 0]) + 1, 4)), F)
add("jax.numpy.packbits", lambda x: jnp.packbits(x), B)
add("jax.numpy.unravel_index", lambda x: jnp.unravel_index(jnp.abs(x), (4, 5)), I)
add("jax.numpy.isin", lambda x: jnp.isin(x, jnp.array([1, 3], x.dtype)), FI)
add("jax.numpy.hanning", lambda x: x[0, 0] * jnp.hanning(5) + jnp.hamming(5) + jnp.blackman(5) + jnp.bartlett(5) + jnp.kaiser(5, 3.), F)
# What is built of them.
each(jax.nn, "relu relu6 sigmoid softplus soft_sign silu log_sigmoid elu celu selu leaky_relu gelu hard_sigmoid hard_tanh hard_silu mish softmax log_softmax logsumexp "
     "standardize squareplus sparse_plus sparse_sigmoid glu", FB)
for _name in "relu6 softplus silu elu selu gelu mish softmax log_softmax logsumexp standardize".split():
    add(f"jax.grad of nn.{_name}", jax.grad(lambda x, f=getattr(jax.nn, _name): jnp.sum(jnp.sin(f(x)))), F)
add("jax.nn.one_hot", lambda x: jax.nn.one_hot(x, 5), I)
add("jax.nn.dot_product_attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), FB, shapes=((2, 5, 4, 8),) * 3)
add("jax.grad of dot_product_attention", jax.grad(lambda q, k, v: jnp.sum(jnp.sin(jax.nn.dot_product_attention(q, k, v))), (0, 1, 2)), F, shapes=((2, 5, 4, 8),) * 3)
_spd = lambda x: x @ x.T + 3 * jnp.eye(3, dtype=x.dtype)  # noqa: E731
for _name, _call in {"inv": jnp.linalg.inv, "det": jnp.linalg.det, "slogdet": jnp.linalg.slogdet, "cholesky": jnp.linalg.cholesky, "eigvalsh": jnp.linalg.eigvalsh,
                     "svdvals": lambda x: jnp.linalg.svd(x, compute_uv=False), "solve": lambda x: jnp.linalg.solve(x, x[:, 0]), "qr": lambda x: jnp.abs(jnp.linalg.qr(x)[1]),
                     "pinv": jnp.linalg.pinv, "norm": jnp.linalg.norm, "matrix_power": lambda x: jnp.linalg.matrix_power(x, 3), "matrix_rank": jnp.linalg.matrix_rank,
                     "lstsq": lambda x: jnp.linalg.lstsq(x, x[:, 0])[0], "expm": lambda x: jax.scipy.linalg.expm(x * 0.1), "lu": jax.scipy.linalg.lu,
                     "solve_triangular": lambda x: jax.scipy.linalg.solve_triangular(x, x, lower=True), "cho_solve": lambda x: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(x), x)}.items():
    add(f"jax.numpy.linalg.{_name}", lambda x, f=_call: f(_spd(x)), F)
add("jax.grad of solve", jax.grad(lambda x: jnp.sum(jnp.linalg.solve(_spd(x), x))), F)
add("jax.grad of cholesky", jax.grad(lambda x: jnp.sum(jnp.sin(jnp.linalg.cholesky(_spd(x))))), F)
for _name, _kind in {"erf": "any", "erfc": "any", "erfinv": "unit", "expit": "any", "gammaln": "positive", "digamma": "positive", "ndtr": "any", "log_ndtr": "any",
                     "i0": "any", "i0e": "any", "i1": "any", "i1e": "any", "entr": "positive"}.items():
    add(f"jax.scipy.special.{_name}", getattr(jax.scipy.special, _name), F, kinds=(_kind,))
add("jax.scipy.special.logsumexp", lambda x: jax.scipy.special.logsumexp(x, 1), F)
for _name, _call in {"bits": jax.random.bits, "uniform": jax.random.uniform, "normal": jax.random.normal, "bernoulli": lambda k, s: jax.random.bernoulli(k, 0.3, s),
                     "randint": lambda k, s: jax.random.randint(k, s, -5, 50), "exponential": jax.random.exponential, "gumbel": jax.random.gumbel, "laplace": jax.random.laplace,
                     "truncated_normal": lambda k, s: jax.random.truncated_normal(k, -1., 2., s), "categorical": lambda k, s: jax.random.categorical(k, jnp.zeros(s)),
                     "permutation": lambda k, s: jax.random.permutation(k, 9), "split": lambda k, s: jax.random.split(k, 3), "gamma": lambda k, s: jax.random.gamma(k, 2., s)}.items():
    add(f"jax.random.{_name}", lambda x, f=_call: f(jax.random.PRNGKey(x[0, 0].astype(jnp.uint32)), (3, 5)), I)
add("jax.grad of mean((tanh(x w))^2)", jax.grad(lambda x, w: jnp.mean(jnp.tanh(x @ w)**2), (0, 1)), FB, shapes=((3, 4), (4, 5)))
add("jax.jacobian", jax.jacobian(lambda x: jnp.sin(x) * x[0]), F)
add("jax.hessian", jax.hessian(lambda x: jnp.sum(jnp.tanh(x)**3)), F)
add("jax.vmap", jax.vmap(lambda x, y: jnp.dot(x, y) * x), N, shapes=TWO)
add("jax.checkpoint", jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.sin(x))))), F)
CASES = [case for case in CASES if case[2]]


def run(case, dtype):
    """right, wrong, refused, failed or skipped (JAX itself does not take it), and why."""
    name, function, _, shapes, kinds, _ = case
    arrays = [array(shape, dtype, seed, kind) for seed, (shape, kind) in enumerate(zip(shapes, kinds))]
    try:
        expected = jax.tree.leaves(jax.jit(function)(*arrays))
    except Exception as error:
        return "skipped", f"{type(error).__name__}: {error}"
    try:
        found = jax.tree.leaves(zyx.jax.jit(function)(*arrays))
    except zyx.UnsupportedError as error:
        return "refused", str(error)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    if len(found) != len(expected):
        return "wrong", f"{len(found)} results instead of {len(expected)}"
    for at, (a, b) in enumerate(zip(expected, found)):
        why = differs(a, b, dtype)
        if why and dtype == "bf16":
            # JAX may keep more digits between steps than ops of 16 bits have: what 32 bits have is the better answer.
            wide = jax.tree.leaves(jax.jit(function)(*[x.astype(jnp.float32) for x in arrays]))[at]
            why = differs(wide.astype(a.dtype), b, dtype)
        if why:
            return "wrong", f"result {at}: {why}"
    return "right", ""


def differs(a, b, dtype):
    """Why results do not agree as rounding allows, or None."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    if a.dtype.kind in "iub":
        bad = int(np.sum(np.asarray(a) != np.asarray(b)))
        return f"{bad} of {a.size} elements differ" if bad else None
    kind = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = np.asarray(a).astype(kind), np.asarray(b).astype(kind)
    finite = np.abs(x[np.isfinite(x)])
    size = max(1.0, float(finite.max()) if finite.size else 1.0)
    relative, absolute = {"bfloat16": (8e-3, 8e-3), "float16": (2e-3, 2e-3)}.get(str(a.dtype), (8e-3, 8e-3) if dtype == "bf16" else (1e-4, 1e-5))
    if np.allclose(y, x, rtol=relative, atol=absolute * size, equal_nan=True):
        return None
    with np.errstate(all="ignore"):
        apart = np.abs(x - y)
    return f"apart by {np.nanmax(apart) if not np.all(np.isnan(apart)) else 'NaN'} at a size of {size}"
