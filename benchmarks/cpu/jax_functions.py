"""The workloads as functions of JAX, for its own compiler and for IREE's."""
import jax
import jax.numpy as jnp

from worker import Unsupported


def gemm(shape):
    kind = {"bf16": jnp.bfloat16, "i8": jnp.int32}.get(shape["dtype"], jnp.float32)

    def function(a, b):
        a, b = a.swapaxes(-1, -2) if shape["ta"] else a, b.swapaxes(-1, -2) if shape["tb"] else b
        return jnp.matmul(a, b, preferred_element_type=kind)
    return function


def conv(shape):
    def function(x, w):
        return jax.lax.conv_general_dilated(
            x, w, (shape["stride"],) * 2, ((shape["pad"],) * 2,) * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=shape["groups"])
    return function


def layer_norm(x, scale, shift):
    d = x - x.mean(-1, keepdims=True)
    return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + shift


def rms_norm(x, scale):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale


def chain(x, y):
    t = jnp.exp(jnp.sqrt(jnp.abs(x + y) * 0.5 + 1))
    t = jnp.minimum(jnp.maximum(t, 3), 8)
    return t * t * y


def attention(q, k, v):
    q, k, v = (x.transpose(1, 0, 2)[None] for x in (q, k, v))
    return jax.nn.dot_product_attention(q, k, v)[0].transpose(1, 0, 2)


def find(kind, arguments):
    functions = {"softmax": jax.nn.softmax, "layer-norm": layer_norm, "rms-norm": rms_norm,
                 "gelu": lambda x: jax.nn.gelu(x, approximate=False), "chain": chain,
                 "attention": attention}
    if kind in ("gemm", "conv"):
        return {"gemm": gemm, "conv": conv}[kind](arguments)
    if kind not in functions:
        raise Unsupported(kind)
    return functions[kind]
