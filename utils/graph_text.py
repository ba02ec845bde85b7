"""Writes programs in the graph dialect, op by op, with the types worked out.

  graph = Graph()
  x = graph.argument("x", "f32", 4, 8)
  print(graph.text(graph.unary("exp", x)))

Used by benchmarks/cpu and examples/gpt2.py; not a program by itself.
"""


class Value:
    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)

    @property
    def type(self):
        return "tensor<" + "".join(f"{extent}x" for extent in self.shape) + f"{self.dtype}>"


def number(value, dtype):
    """As MLIR writes an element."""
    if dtype.startswith(("i", "ui")):
        return str(int(value))
    mantissa, e, exponent = f"{float(value):.17g}".partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


class Graph:
    def __init__(self, entry="main"):
        self.entry, self.arguments, self.lines, self.count = entry, [], [], 0

    def argument(self, name, dtype, *shape):
        value = Value(f"%{name}", dtype, shape)
        self.arguments.append(f'{value.name}: {value.type} {{graph.name = "{name}"}}')
        return value

    def op(self, text, dtype, shape):
        """A line; `{result}` in it is the type of its result."""
        value = Value(f"%{self.count}", dtype, shape)
        self.count += 1
        self.lines.append(f"  {value.name} = graph." + text.replace("{result}", value.type))
        return value

    def parameter(self, name, dtype, *shape):
        return self.op(f'parameter "{name}" : {{result}}', dtype, shape)

    def constant(self, value, dtype, *shape):
        return self.op(f"constant dense<{number(value, dtype)}> : {{result}}", dtype, shape)

    def reshape(self, x, *shape):
        if tuple(shape) == x.shape:
            return x
        return self.op(f"reshape {x.name} : {x.type} -> {{result}}", x.dtype, shape)

    def expand(self, x, *shape):
        if tuple(shape) == x.shape:
            return x
        return self.op(f"expand {x.name} : {x.type} -> {{result}}", x.dtype, shape)

    def permute(self, x, *order):
        return self.op(f"permute {x.name} order = {list(order)} : {x.type} -> {{result}}", x.dtype,
                       [x.shape[i] for i in order])

    def cast(self, x, dtype):
        if x.dtype == dtype:
            return x
        return self.op(f"cast {x.name} : {x.type} -> {{result}}", dtype, x.shape)

    def unary(self, kind, x):
        return self.op(f"unary {kind} {x.name} : {x.type}", x.dtype, x.shape)

    def binary(self, kind, a, b):
        """`a` or `b` may be a number; of two tensors the one of extents 1 is expanded."""
        if not isinstance(a, Value):
            a = self.constant(a, b.dtype, *b.shape)
        if not isinstance(b, Value):
            b = self.constant(b, a.dtype, *a.shape)
        rank = max(len(a.shape), len(b.shape))
        a, b = (self.reshape(v, *[1] * (rank - len(v.shape)), *v.shape) for v in (a, b))
        shape = [max(p, q) if 0 not in (p, q) else 0 for p, q in zip(a.shape, b.shape)]
        a, b = self.expand(a, *shape), self.expand(b, *shape)
        compares = kind in ("lt", "le", "gt", "ge", "eq", "ne")
        return self.op(f"binary {kind} {a.name}, {b.name} : {a.type}",
                       "i1" if compares else a.dtype, shape)

    def select(self, condition, a, b):
        return self.op(f"select {condition.name}, {a.name}, {b.name} : {a.type}", a.dtype, a.shape)

    def reduce(self, kind, x, *dims, keep=False):
        dims = sorted(d % len(x.shape) for d in dims)
        kept = [e for d, e in enumerate(x.shape) if d not in dims]
        y = self.op(f"reduce {kind} {x.name} dims = {dims} : {x.type} -> {{result}}", x.dtype, kept)
        if keep:
            y = self.reshape(y, *[1 if d in dims else e for d, e in enumerate(x.shape)])
        return y

    def iota(self, dim, dtype, *shape):
        return self.op(f"iota dim = {dim} : {{result}}", dtype, shape)

    def scan(self, kind, x, dim):
        return self.op(f"scan {kind} {x.name} dim = {dim} : {{result}}", x.dtype, x.shape)

    def sort(self, x, dim, descending=False):
        order = "descending " if descending else ""
        return self.op(f"sort values {x.name} dim = {dim} {order}: {x.type} -> {{result}}", x.dtype, x.shape)

    def pad(self, x, fill, low, high):
        fill = self.constant(fill, x.dtype)
        interior = [0] * len(x.shape)
        return self.op(f"pad {x.name}, {fill.name} low = {list(low)} high = {list(high)} "
                       f"interior = {interior} : {x.type} -> {{result}}", x.dtype,
                       [a + e + b for a, e, b in zip(low, x.shape, high)])

    def window(self, x, dims, size, stride, dilation=None):
        dilation = dilation or [1] * len(dims)
        shape = list(x.shape)
        for d, n, step, apart in zip(dims, size, stride, dilation):
            shape[d] = (shape[d] - 1 - (n - 1) * apart) // step + 1
        return self.op(f"window {x.name} dims = {list(dims)} size = {list(size)} "
                       f"stride = {list(stride)} dilation = {list(dilation)} : {x.type} -> {{result}}",
                       x.dtype, shape + list(size))

    def gather(self, x, indices, dim):
        shape = x.shape[:dim] + indices.shape + x.shape[dim + 1:]
        return self.op(f"gather {x.name}[{indices.name}] dim = {dim} : ({x.type}, {indices.type}) "
                       "-> {result}", x.dtype, shape)

    def text(self, *outputs):
        types = ", ".join(f'{y.type} {{graph.name = "y{i}"}}' for i, y in enumerate(outputs))
        return (f"func.func @{self.entry}({', '.join(self.arguments)}) -> ({types}) {{\n" +
                "\n".join(self.lines) + "\n  return " + ", ".join(y.name for y in outputs) + " : " +
                ", ".join(y.type for y in outputs) + "\n}\n")

    # Compositions.

    def contract(self, a, b, accumulator=None):
        """The sum over k of a[..., m, k] * b[..., k, n], both cast to the accumulator's type first.
        Leading extents are equal."""
        accumulator = accumulator or {"bf16": "f32", "f16": "f32", "i8": "i32"}.get(a.dtype, a.dtype)
        batch, (m, k), n = a.shape[:-2], a.shape[-2:], b.shape[-1]
        rank = len(batch)
        b = self.permute(b, *range(rank), rank + 1, rank)
        a, b = self.cast(a, accumulator), self.cast(b, accumulator)
        a = self.expand(self.reshape(a, *batch, m, 1, k), *batch, m, n, k)
        b = self.expand(self.reshape(b, *batch, 1, n, k), *batch, m, n, k)
        return self.reduce("add", self.binary("mul", a, b), -1)

    def softmax(self, x):
        e = self.unary("exp", self.binary("sub", x, self.reduce("max", x, -1, keep=True)))
        return self.binary("div", e, self.reduce("add", e, -1, keep=True))

    def layer_norm(self, x, scale, shift, epsilon=1e-5):
        n = x.shape[-1]
        mean = self.binary("div", self.reduce("add", x, -1, keep=True), n)
        d = self.binary("sub", x, mean)
        squares = self.reduce("add", self.binary("mul", d, d), -1, keep=True)
        r = self.unary("rsqrt", self.binary("add", self.binary("div", squares, n), epsilon))
        return self.binary("add", self.binary("mul", self.binary("mul", d, r), scale), shift)

    def rms_norm(self, x, scale, epsilon=1e-5):
        squares = self.reduce("add", self.binary("mul", x, x), -1, keep=True)
        mean = self.binary("div", squares, x.shape[-1])
        r = self.unary("rsqrt", self.binary("add", mean, epsilon))
        return self.binary("mul", self.binary("mul", x, r), scale)

    def gelu(self, x):
        e = self.unary("erf", self.binary("mul", x, 0.5 ** 0.5))
        return self.binary("mul", self.binary("mul", x, 0.5), self.binary("add", e, 1))

    def gelu_tanh(self, x):
        cube = self.binary("mul", self.binary("mul", x, x), x)
        inner = self.binary("mul", self.binary("add", x, self.binary("mul", cube, 0.044715)),
                            (2 / 3.141592653589793) ** 0.5)
        return self.binary("mul", self.binary("mul", x, 0.5),
                           self.binary("add", self.unary("tanh", inner), 1))

    def attention(self, q, k, v, causal=False):
        """Of [heads, positions, width] each: softmax(q k^T / sqrt(width)) v."""
        scores = self.binary("mul", self.contract(q, self.permute(k, 0, 2, 1)), q.shape[-1] ** -0.5)
        if causal:
            heads, rows, columns = scores.shape
            seen = self.binary("ge", self.iota(1, "i32", heads, rows, columns),
                               self.iota(2, "i32", heads, rows, columns))
            nothing = self.constant(-1e30, scores.dtype, heads, rows, columns)
            scores = self.select(seen, scores, nothing)
        return self.contract(self.softmax(scores), v)

    def conv(self, x, w, stride=1, pad=0, groups=1):
        """NHWC, filters [height, width, channels per group, outputs], zeros around."""
        if pad:
            x = self.pad(x, 0, [0, pad, pad, 0], [0, pad, pad, 0])
        kh, kw, each, outputs = w.shape
        x = self.window(x, [1, 2], [kh, kw], [stride, stride])
        n, oh, ow = x.shape[:3]
        # [n, oh, ow, groups, outputs per group, kh, kw, channels per group]
        shape = (n, oh, ow, groups, outputs // groups, kh, kw, each)
        x = self.permute(self.reshape(x, n, oh, ow, groups, each, kh, kw), 0, 1, 2, 3, 5, 6, 4)
        x = self.expand(self.reshape(x, n, oh, ow, groups, 1, kh, kw, each), *shape)
        w = self.permute(self.reshape(w, kh, kw, each, groups, outputs // groups), 3, 4, 0, 1, 2)
        w = self.expand(self.reshape(w, 1, 1, 1, groups, outputs // groups, kh, kw, each), *shape)
        y = self.reduce("add", self.binary("mul", x, w), 5, 6, 7)
        return self.reshape(y, n, oh, ow, outputs)
