"""The workloads of benchmarks/cpu.sh: shapes, inputs, the result in double, and zyx's program."""
import dataclasses
import math
import pathlib
import sys
import typing

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "utils"), str(ROOT / "examples")]
import gpt2  # noqa: E402
from graph_text import Graph  # noqa: E402


@dataclasses.dataclass
class Workload:
    name: str
    # The line of the table to which its ratio counts; "" for none.
    figure: str
    kind: str
    arguments: dict
    # Of the tensors: dtype and shape.
    inputs: list
    output: tuple
    # [low, high) of the random numbers.
    ranges: list
    # From the inputs, as double or int64, to the result.
    reference: typing.Callable
    program: typing.Callable
    # What a call does, in 1e9 of the unit.
    amount: float
    unit: str
    # An error is |y - reference| / max(floor, |reference|).
    floor: float = 1e-3
    tolerance: float = 1e-5


DTYPES = {"f32": numpy.float32, "i8": numpy.int8, "i32": numpy.int32, "i64": numpy.int64,
          "bf16": numpy.uint16}


def to_bits(values, dtype):
    """To the bits in memory; bf16 rounded to nearest even."""
    if dtype != "bf16":
        return values.astype(DTYPES[dtype])
    bits = values.astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    return ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def from_bits(bits, dtype):
    if dtype == "bf16":
        return (bits.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    return bits.astype(numpy.int64 if dtype.startswith("i") else numpy.float64)


def gemm(figure, m, n, k, dtype="f32", batch=1, ta=False, tb=False, name=None):
    name = name or (f"{ {'f32': 'sgemm', 'bf16': 'bf16-gemm', 'i8': 'i8-gemm'}[dtype]}-" +
                    (f"{batch}x" if batch > 1 else "") +
                    (f"{m}" if m == n == k else f"{m}x{k}x{n}") +
                    ("" if not ta and not tb else "-" + "NT"[ta] + "NT"[tb]))
    lead = [batch] if batch > 1 else []
    output = "i32" if dtype == "i8" else dtype

    def program():
        graph = Graph()
        order = [*range(len(lead)), len(lead) + 1, len(lead)]
        a = graph.argument("a", dtype, *lead, *((k, m) if ta else (m, k)))
        b = graph.argument("b", dtype, *lead, *((n, k) if tb else (k, n)))
        a, b = graph.permute(a, *order) if ta else a, graph.permute(b, *order) if tb else b
        return graph.text(graph.cast(graph.contract(a, b), output))

    def reference(a, b):
        a, b = a.swapaxes(-1, -2) if ta else a, b.swapaxes(-1, -2) if tb else b
        # Products of 8-bit integers are exact in double.
        return (a.astype(numpy.float64) @ b.astype(numpy.float64))

    return Workload(
        name, figure, "gemm",
        {"m": m, "n": n, "k": k, "batch": batch, "ta": ta, "tb": tb, "dtype": dtype},
        [(dtype, lead + ([k, m] if ta else [m, k])), (dtype, lead + ([n, k] if tb else [k, n]))],
        (output, lead + [m, n]), [(-128, 128) if dtype == "i8" else (-1, 1)] * 2, reference, program,
        2e-9 * batch * m * n * k, "GFLOP",
        # The terms of an element add up to about k / 4 in magnitude whatever their sum is.
        k / 4 if dtype != "i8" else 1, 1e-2 if dtype == "bf16" else 1e-6)


def conv(name, h, c, kernel, o, stride=1, groups=1, n=1):
    pad = kernel // 2
    size = (h + 2 * pad - kernel) // stride + 1
    each = c // groups

    def program():
        graph = Graph()
        x = graph.argument("x", "f32", n, h, h, c)
        w = graph.parameter("w", "f32", kernel, kernel, each, o)
        return graph.text(graph.conv(x, w, stride, pad, groups))

    def reference(x, w):
        x = numpy.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        y = numpy.zeros((n, size, size, o))
        for i in range(kernel):
            for j in range(kernel):
                part = x[:, i:i + stride * size:stride, j:j + stride * size:stride, :]
                for g in range(groups if groups != c else 1):
                    if groups == c:
                        y += part * w[i, j, 0]
                    else:
                        outputs = slice(g * (o // groups), (g + 1) * (o // groups))
                        y[..., outputs] += part[..., g * each:(g + 1) * each] @ w[i, j][:, outputs]
        return y

    terms = kernel * kernel * each
    return Workload(
        f"conv-{name}", "conv", "conv",
        {"n": n, "h": h, "w": h, "c": c, "kh": kernel, "kw": kernel, "o": o, "stride": stride,
         "pad": pad, "groups": groups},
        [("f32", [n, h, h, c]), ("f32", [kernel, kernel, each, o])], ("f32", [n, size, size, o]),
        [(-1, 1)] * 2, reference, program, 2e-9 * n * size * size * o * terms, "GFLOP", terms / 4, 2e-6)


def erf(x):
    return numpy.vectorize(math.erf)(x)


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, scale, shift):
    d = x - x.mean(-1, keepdims=True)
    return d / numpy.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + shift


ROW_OPS = {
    "softmax": (0, lambda g, x: g.softmax(x), softmax),
    "layer-norm": (2, lambda g, x, s, t: g.layer_norm(x, s, t), layer_norm),
    "rms-norm": (1, lambda g, x, s: g.rms_norm(x, s),
                 lambda x, s: x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * s),
    "gelu": (0, lambda g, x: g.gelu(x), lambda x: x / 2 * (1 + erf(x * 0.5 ** 0.5))),
}


def row_op(kind, rows, columns):
    vectors, write, reference = ROW_OPS[kind]

    def program():
        graph = Graph()
        x = graph.argument("x", "f32", rows, columns)
        more = [graph.argument(name, "f32", columns) for name in ("scale", "shift")[:vectors]]
        return graph.text(write(graph, x, *more))

    return Workload(f"{kind}-{rows}x{columns}", "rows", kind, {"rows": rows, "columns": columns},
                    [("f32", [rows, columns])] + [("f32", [columns])] * vectors,
                    ("f32", [rows, columns]), [(-4, 4)] + [(0, 1)] * vectors, reference, program,
                    8e-9 * rows * columns, "GB",
                    # Near 0 a gelu is a difference of rounded numbers of about 1.
                    1 if kind == "gelu" else 1e-3, 1e-3 if "norm" in kind else 1e-5)


def attention(s, d=64, heads=8):
    def program():
        graph = Graph()
        q, k, v = (graph.argument(name, "f32", heads, s, d) for name in "qkv")
        return graph.text(graph.attention(q, k, v))

    def reference(q, k, v):
        return numpy.stack([softmax(q[h] @ k[h].T / d ** 0.5) @ v[h] for h in range(heads)])

    return Workload(f"attention-{s}", "attention", "attention", {"heads": heads, "s": s, "d": d},
                    [("f32", [heads, s, d])] * 3, ("f32", [heads, s, d]), [(-1, 1)] * 3, reference,
                    program, 4e-9 * heads * s * s * d, "GFLOP", 1e-2, 1e-4)


def memory(kind, shape, write, reference, inputs=1, output=None):
    size = math.prod(shape)
    output = shape if output is None else output
    moved = 4 * (inputs * size + math.prod(output))

    def program():
        graph = Graph()
        values = [graph.argument(name, "f32", *shape) for name in "xyz"[:inputs]]
        return graph.text(write(graph, *values))

    return Workload(f"{kind}-2^{int(math.log2(size))}", "memory", "memory", {"bytes": moved},
                    [("f32", shape)] * inputs, ("f32", output), [(-4, 4)] * inputs, reference, program,
                    1e-9 * moved, "GB", 1e-3 if output else size ** 0.5)


def top_k(rows, columns, k):
    """The k largest of each row: a sort and a slice."""
    def program():
        graph = Graph()
        x = graph.argument("x", "f32", rows, columns)
        return graph.text(graph.pad(graph.sort(x, 1, descending=True), 0, [0, 0], [0, k - columns]))

    return Workload(f"top-{k}-of-{rows}x{columns}", "", "top-k", {"k": k}, [("f32", [rows, columns])], ("f32", [rows, k]),
                    [(-4, 4)], lambda x: -numpy.sort(-x, 1)[:, :k], program, 4e-9 * rows * columns, "GB")


def cumsum(shape, dim):
    def program():
        graph = Graph()
        return graph.text(graph.scan("add", graph.argument("x", "f32", *shape), dim))

    name = "x".join(str(extent) for extent in shape)
    return Workload(f"cumsum-{name}-along-{dim}", "", "cumsum", {"dim": dim}, [("f32", shape)], ("f32", shape),
                    [(0, 1)], lambda x: numpy.cumsum(x, dim), program, 8e-9 * math.prod(shape), "GB")


def chain(rows, columns):
    def program():
        graph = Graph()
        x, y = (graph.argument(name, "f32", rows, columns) for name in "xy")
        t = graph.unary("abs", graph.binary("add", x, y))
        t = graph.binary("add", graph.binary("mul", t, 0.5), 1)
        t = graph.unary("exp", graph.unary("sqrt", t))
        t = graph.binary("min", graph.binary("max", t, 3), 8)
        return graph.text(graph.binary("mul", graph.binary("mul", t, t), y))

    def reference(x, y):
        t = numpy.clip(numpy.exp(numpy.sqrt(abs(x + y) * 0.5 + 1)), 3, 8)
        return t * t * y

    return Workload(f"chain-{rows}x{columns}", "chain", "chain", {"rows": rows, "columns": columns},
                    [("f32", [rows, columns])] * 2, ("f32", [rows, columns]), [(-4, 4)] * 2, reference,
                    program, 12e-9 * rows * columns, "GB")


def gelu_tanh(x):
    return x / 2 * (1 + numpy.tanh((2 / numpy.pi) ** 0.5 * (x + 0.044715 * x ** 3)))


def network(positions=128, layers=12, heads=12, width=768):
    """GPT-2 small by examples/gpt2.py."""
    weights = gpt2.weights(positions=positions, layers=layers, width=width)

    def reference(tokens, *values):
        w = dict(zip((name for name, *_ in weights), values))

        def linear(x, name):
            return x @ w[name + ".weight"] + w[name + ".bias"]

        def norm(x, name):
            return layer_norm(x, w[name + ".weight"], w[name + ".bias"])

        hidden = numpy.triu(numpy.full((positions, positions), -numpy.inf), 1)
        x = w["wte.weight"][tokens] + w["wpe.weight"]
        for i in range(layers):
            qkv = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn")
            q, k, v = (part.reshape(positions, heads, -1).swapaxes(0, 1)
                       for part in numpy.split(qkv, 3, -1))
            y = softmax(q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5 + hidden) @ v
            x = x + linear(y.swapaxes(0, 1).reshape(positions, width), f"h.{i}.attn.c_proj")
            y = gelu_tanh(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"))
            x = x + linear(y, f"h.{i}.mlp.c_proj")
        return norm(x, "ln_f") @ w["wte.weight"].T

    products = 12 * layers * width * width + width * 50257 + 2 * layers * positions * width
    return Workload(f"gpt2-small-{positions}", "network", "gpt2",
                    {"layers": layers, "heads": heads, "names": [name for name, *_ in weights]},
                    [("i64", [positions])] + [("f32", shape) for _, shape, _, _ in weights],
                    ("f32", [positions, 50257]),
                    [(0, 50257)] + [(mean - spread, mean + spread) for *_, mean, spread in weights],
                    reference, lambda: gpt2.program(positions=positions, layers=layers, heads=heads,
                                                    width=width),
                    2e-9 * positions * products, "GFLOP", 1, 1e-3)


def launches(count, n=4):
    """`count` kernels of 16 elements, each reading what the one before it wrote: maxima along rows
    and columns in turn cannot be one kernel, because each needs all of the one before."""
    def program():
        graph = Graph()
        x = graph.argument("x", "f32", n, n)
        for i in range(count):
            x = graph.binary("sub", x, graph.reduce("max", x, 1 - i % 2, keep=True))
        return graph.text(x)

    def reference(x):
        for i in range(count):
            x = x - x.max(1 - i % 2, keepdims=True)
        return x

    return Workload(f"launch-{count}", "overheads", "launch", {}, [("f32", [n, n])], ("f32", [n, n]),
                    [(-4, 4)], reference, program, 0, "", 1)


def all_workloads():
    square, odd, low = "sgemm squares", "sgemm odd and skinny", "bf16 and i8"
    yield from (gemm(square, n, n, n) for n in (128, 256, 512, 1024, 2048))
    yield from (gemm(odd, m, 1024, 1024) for m in (1, 2, 4, 8, 16, 32))
    yield from (gemm(odd, n, n, n) for n in (127, 1000))
    yield gemm(odd, 1023, 1021, 1025)
    yield gemm(odd, 128, 768, 768)
    yield gemm(odd, 128, 768, 3072)
    yield gemm(odd, 128, 3072, 768)
    yield from (gemm(odd, 512, 512, 512, ta=ta, tb=not ta) for ta in (False, True))
    yield gemm(odd, 64, 64, 64, batch=64)
    yield gemm(odd, 128, 128, 64, batch=64)
    yield from (gemm(low, n, n, n, dtype) for dtype in ("bf16", "i8") for n in (512, 1024, 2048))
    yield conv("3x3-56x64", 56, 64, 3, 64)
    yield conv("1x1-56x64", 56, 64, 1, 256)
    yield conv("7x7-224x3", 224, 3, 7, 64, stride=2)
    yield conv("3x3-14x256", 14, 256, 3, 256)
    yield conv("depthwise-112x32", 112, 32, 3, 32, groups=32)
    # Of no figure: kernels of their own.
    yield dataclasses.replace(conv("depthwise-7x7-56x96", 56, 96, 7, 96, groups=96), figure="")
    yield top_k(1, 32000, 50)
    yield top_k(64, 50257, 5)
    yield cumsum([4, 1024, 1000], 1)
    yield from (row_op(kind, *shape) for shape in ((256, 1024), (4096, 128)) for kind in ROW_OPS)
    yield from (attention(s) for s in (128, 1024, 4096))
    n = 2 ** 12
    yield memory("add", [n, n], lambda g, x, y: g.binary("add", x, y), lambda x, y: x + y, 2)
    yield memory("negate", [n, n], lambda g, x: g.unary("neg", x), lambda x: -x)
    yield memory("transpose", [n, n], lambda g, x: g.permute(x, 1, 0), lambda x: x.T)
    yield memory("sum", [n, n], lambda g, x: g.reduce("add", x, 0, 1), lambda x: x.sum(), 1, [])
    yield chain(256, 1024)
    yield network()
    yield launches(1)
    yield launches(33)
