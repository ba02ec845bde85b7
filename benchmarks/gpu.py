#!/usr/bin/env python3
"""Measures zyx on an NVIDIA GPU beside PyTorch, in one process.

  benchmarks/gpu.py prepare BUILD FOLDER [--target=sm_90a] [--only=TEXT,...]
      Here: compiles every workload with BUILD's zyx-compile, and puts what the other machine needs into FOLDER.
  gpu.py run FOLDER [--seconds=0.3] [--only=TEXT,...] [--no-compile] [--mode=MODE] [--results=FILE]
      There: checks each result, times zyx and the peers in turn, prints the table, writes FILE (JSON).
      MODE is torch.compile's, "max-autotune-no-cudagraphs" if none is given.
  benchmarks/gpu.py update FILE...
      Here: writes the section of docs/performance.md, and keeps the record in benchmarks/results. Of several files
      the rows of a later one take the place of those of the same names.

Times are of the device, and all contenders' are taken in the same way: events around one run, each on its own stream,
which is held until the host has handed over the whole run: zyx's by a word that it waits for
(zyx_executor_measure), PyTorch's by a kernel that sleeps. So nobody's time has the host's in it, unless a run is
longer to hand over than the stream is held. Contenders take turns, one run each a round; times are medians over the
rounds, with quartiles. The contenders are zyx, PyTorch's eager mode, torch.compile, and what torch.compile made, captured
in a CUDA graph, whose inputs stay where they are. An error is |y - ref| / |ref| over the whole result, where ref is
computed in f32 or f64 by PyTorch. Compile times are of zyx-compile from its start to its end, without a cache.
Whole models are timed by the host's clock, from the call to the end of the run, the stream being idle before: it is
what their user waits for. Of chains of tiny kernels, the time of one in twenty runs handed over together is printed,
and the host's time for handing one run over.
"""
import ctypes, json, os, shutil, subprocess, sys, time

import gpu_models

BEGIN, END = "<!-- benchmarks/gpu.py writes from here -->", "<!-- benchmarks/gpu.py writes to here -->"


# Graphs, as text.

class Text:
    """One function, built op by op."""

    def __init__(self):
        self.lines, self.args, self.count = [], [], 0

    @staticmethod
    def type(shape, dtype):
        return "tensor<" + "".join(f"{d}x" for d in shape) + dtype + ">"

    def input(self, shape, dtype):
        value = (f"%arg{len(self.args)}", tuple(shape), dtype)
        self.args.append(value)
        return value

    def op(self, text, shape, dtype):
        self.count += 1
        name = f"%{self.count}"
        self.lines.append(f"  {name} = graph.{text}")
        return name, tuple(shape), dtype

    def t(self, v):
        return self.type(v[1], v[2])

    def reshape(self, v, shape):
        return self.op(f"reshape {v[0]} : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def expand(self, v, shape):
        return self.op(f"expand {v[0]} : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def permute(self, v, order):
        shape = [v[1][i] for i in order]
        return self.op(f"permute {v[0]} order = {list(order)} : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def cast(self, v, dtype):
        return v if v[2] == dtype else self.op(f"cast {v[0]} : {self.t(v)} -> {self.type(v[1], dtype)}", v[1], dtype)

    def unary(self, kind, v):
        return self.op(f"unary {kind} {v[0]} : {self.t(v)}", v[1], v[2])

    def binary(self, kind, a, b):
        return self.op(f"binary {kind} {a[0]}, {b[0]} : {self.t(a)}", a[1], a[2])

    def number(self, value, shape, dtype):
        return self.op(f"constant dense<{value:e}> : {self.type(shape, dtype)}", shape, dtype)

    def reduce(self, kind, v, dim):
        shape = v[1][:dim] + v[1][dim + 1:]
        return self.op(f"reduce {kind} {v[0]} dims = [{dim}] : {self.t(v)} -> {self.type(shape, v[2])}", shape, v[2])

    def rows(self, v, shape):
        """A value per row, along the rows."""
        return self.expand(self.reshape(v, v[1] + (1,)), shape)

    def scaled(self, v, factor):
        return self.binary("mul", v, self.number(factor, v[1], v[2]))

    def function(self, result):
        args = ", ".join(f"{v[0]}: {self.t(v)}" for v in self.args)
        return "\n".join([f"func.func @main({args}) -> {self.t(result)} {{", *self.lines,
                          f"  return {result[0]} : {self.t(result)}", "}"]) + "\n"


def product(t, a, b):
    """[..., m, k] by [..., n, k], summed in f32; of i8 in i32."""
    sums = "i32" if a[2] == "i8" else "f32"
    *batch, m, k = a[1]
    n = b[1][-2]
    shape = (*batch, m, n, k)
    left = t.expand(t.reshape(a, (*batch, m, 1, k)), shape)
    right = t.expand(t.reshape(b, (*batch, 1, n, k)), shape)
    return t.reduce("add", t.binary("mul", t.cast(left, sums), t.cast(right, sums)), len(shape) - 1)


def gemm(layout, m, n, k, dtype="bf16", batch=(), out=None, epilogue=None, fast=False):
    def build():
        t = Text()
        a = t.input((*batch, m, k) if layout[0] == "N" else (*batch, k, m), dtype)
        b = t.input((*batch, n, k) if layout[1] == "T" else (*batch, k, n), dtype)
        swap = [*range(len(batch)), len(batch) + 1, len(batch)]
        left = a if layout[0] == "N" else t.permute(a, swap)
        right = b if layout[1] == "T" else t.permute(b, swap)
        y = product(t, left, right)
        if epilogue == "gelu":
            y = t.binary("add", y, t.expand(t.cast(t.reshape(t.input((n,), dtype), (1, n)), "f32"), (m, n)))
            inner = t.scaled(t.binary("add", y, t.scaled(t.binary("mul", t.binary("mul", y, y), y), 0.044715)), 0.7978845608)
            gate = t.binary("add", t.unary("tanh", inner), t.number(1.0, y[1], "f32"))
            y = t.scaled(t.binary("mul", y, gate), 0.5)
        return t.function(t.cast(y, out or dtype))

    one = {}

    def peer(torch, x):
        a = x[0] if layout[0] == "N" else x[0].transpose(-1, -2)
        b = x[1].transpose(-1, -2) if layout[1] == "T" else x[1]
        if epilogue == "gelu":
            return torch.nn.functional.gelu(torch.nn.functional.linear(a, x[1], x[2]), approximate="tanh")
        if dtype == "i8":
            return torch._int_mm(a, b)
        if dtype.startswith("f8"):
            one.setdefault("scale", torch.ones((), device="cuda"))
            return torch._scaled_mm(a, b, scale_a=one["scale"], scale_b=one["scale"], out_dtype=torch.bfloat16)
        torch.backends.cuda.matmul.allow_tf32 = fast
        return torch.matmul(a, b)

    def reference(torch, x):
        if dtype in ("i8", "f32") or dtype.startswith("f8"):
            return torch.matmul(x[0].double(), x[1].double().t() if layout[1] == "T" else x[1].double())
        return peer(torch, [each.float() for each in x])
    flops = 2 * m * n * k
    for extent in batch:
        flops *= extent
    return {"build": build, "peer": peer, "reference": reference, "flops": flops, "compiled": epilogue is not None,
            "bound": 1e-3 if fast and dtype == "f32" else {"f32": 1e-5, "i32": 0}.get(out or dtype, 8e-3),
            "target": "sm_90a-fast" if fast else None}


def conv(n, size, channels, outputs, window, stride, dtype="bf16", layout="NHWC", relu=False):
    """Of square images and windows, with a padding that keeps the size at a stride of 1."""
    last = layout == "NHWC"
    pad = (window - 1) // 2
    count = (size + 2 * pad - window) // stride + 1

    def build():
        t = Text()
        x = t.input((n, size, size, channels) if last else (n, channels, size, size), dtype)
        f = t.input((outputs, window, window, channels) if last else (outputs, channels, window, window), dtype)
        dims = [1, 2] if last else [2, 3]
        if pad:
            low = [pad if d in dims else 0 for d in range(4)]
            zero = t.op(f"constant dense<0.0> : tensor<{dtype}>", (), dtype)
            padded = tuple(e + 2 * l for e, l in zip(x[1], low))
            x = t.op(f"pad {x[0]}, {zero[0]} low = {low} high = {low} interior = [0, 0, 0, 0] : {t.t(x)} -> "
                     f"{t.type(padded, dtype)}", padded, dtype)
        shape = tuple(count if d in dims else e for d, e in enumerate(x[1])) + (window, window)
        w = t.op(f"window {x[0]} dims = {dims} size = [{window}, {window}] stride = [{stride}, {stride}] "
                 f"dilation = [1, 1] : {t.t(x)} -> {t.type(shape, dtype)}", shape, dtype)
        inner = (window, window, channels)
        left = t.permute(w, [0, 1, 2, 4, 5, 3] if last else [0, 2, 3, 4, 5, 1])
        right = f if last else t.permute(f, [0, 2, 3, 1])
        place, where = ((n, count, count, outputs), 3) if last else ((n, outputs, count, count), 1)
        left = t.reshape(left, left[1][:where] + (1,) + left[1][where:])
        right = t.reshape(right, tuple(e if d == where else 1 for d, e in enumerate(place)) + inner)
        both = [t.cast(t.expand(v, place + inner), "f32") for v in (left, right)]
        product = t.binary("mul", *both)
        y = t.op(f"reduce add {product[0]} dims = [4, 5, 6] : {t.t(product)} -> {t.type(place, 'f32')}", place, "f32")
        if relu:
            bias = t.reshape(t.cast(t.input((outputs,), dtype), "f32"), tuple(e if d == where else 1 for d, e in enumerate(place)))
            y = t.binary("add", y, t.expand(bias, place))
            y = t.binary("max", y, t.number(0.0, place, "f32"))
        return t.function(t.cast(y, dtype))

    def prepare(torch, x):
        # As views with channels first, which is how PyTorch names dimensions of tensors with channels last too.
        return [v.permute(0, 3, 1, 2) if last and v.dim() == 4 else v for v in x]

    def peer(torch, x):
        v = prepare(torch, x)
        y = torch.nn.functional.conv2d(v[0], v[1], v[2] if relu else None, stride=stride, padding=pad)
        y = torch.relu(y) if relu else y
        return y.permute(0, 2, 3, 1) if last else y

    def reference(torch, x):
        return peer(torch, [each.double() for each in x])
    return {"build": build, "peer": peer, "reference": reference, "compiled": relu, "bound": 8e-3,
            "flops": 2 * n * count * count * outputs * window * window * channels}


def rowwise(kind, shape, dtype):
    def build():
        t = Text()
        x = t.input(shape, dtype)
        n = shape[1]
        wide = t.cast(x, "f32")
        if kind == "softmax":
            e = t.unary("exp", t.binary("sub", wide, t.rows(t.reduce("max", wide, 1), shape)))
            y = t.binary("div", e, t.rows(t.reduce("add", e, 1), shape))
        elif kind == "rms-norm":
            mean = t.scaled(t.reduce("add", t.binary("mul", wide, wide), 1), 1 / n)
            y = t.binary("mul", wide, t.rows(t.unary("rsqrt", t.binary("add", mean, t.number(1e-5, mean[1], "f32"))), shape))
        elif kind == "layer-norm":
            d = t.binary("sub", wide, t.rows(t.scaled(t.reduce("add", wide, 1), 1 / n), shape))
            mean = t.scaled(t.reduce("add", t.binary("mul", d, d), 1), 1 / n)
            y = t.binary("mul", d, t.rows(t.unary("rsqrt", t.binary("add", mean, t.number(1e-5, mean[1], "f32"))), shape))
        elif kind == "sum-rows":
            y = t.reduce("add", wide, 1)
        elif kind == "sum-columns":
            y = t.reduce("add", wide, 0)
        elif kind == "sum-all":
            y = t.op(f"reduce add {wide[0]} dims = [0, 1] : {t.t(wide)} -> tensor<f32>", (), "f32")
        return t.function(t.cast(y, dtype))

    def peer(torch, x):
        f = torch.nn.functional
        x = x[0]
        return {"softmax": lambda: torch.softmax(x, 1), "layer-norm": lambda: f.layer_norm(x, x.shape[1:]),
                "rms-norm": lambda: f.rms_norm(x, x.shape[1:], eps=1e-5), "sum-rows": lambda: x.sum(1),
                "sum-columns": lambda: x.sum(0), "sum-all": lambda: x.sum()}[kind]()
    size = {"f32": 4, "bf16": 2}[dtype] * shape[0] * shape[1]
    return {"build": build, "peer": peer, "reference": lambda torch, x: peer(torch, [x[0].double()]),
            "bytes": size if kind.startswith("sum") else 2 * size, "compiled": True,
            "bound": {"f32": 1e-4, "bf16": 1e-2}[dtype]}


def pointwise(kind, shape, dtype):
    out = {"cast-down": "bf16", "cast-up": "f32"}.get(kind, dtype)

    def build():
        t = Text()
        x = t.input(shape, dtype)
        y = x
        if kind == "copy":
            y = t.unary("neg", x)
        elif kind == "chain":
            for i in range(5):
                y = t.binary("max", t.scaled(y, 1.0 + i / 8), t.unary("neg", y))
        elif kind == "transpose":
            y = t.permute(x, [1, 0])
            y = t.unary("neg", y)
        return t.function(t.cast(y, out))

    def peer(torch, x):
        y = x[0]
        if kind == "copy":
            return -y
        if kind == "chain":
            for i in range(5):
                y = torch.maximum(y * (1.0 + i / 8), -y)
            return y
        if kind == "transpose":
            return (-y.t()).contiguous()
        return y.to(getattr(torch, {"bf16": "bfloat16", "f32": "float32"}[out]))
    sizes = {"f32": 4, "bf16": 2}
    return {"build": build, "peer": peer, "reference": peer, "compiled": True,
            "bytes": shape[0] * shape[1] * (sizes[dtype] + sizes[out]), "bound": 1e-2 if "bf16" in (dtype, out) else 1e-6}


def attention(batch, heads, rows, features, causal=False, groups=1, dtype="bf16"):
    """Of [batch, heads, rows, features]; `groups` heads share keys and values."""
    def build():
        t = Text()
        q = t.input((batch, heads, rows, features), dtype)
        k, v = (t.input((batch, heads // groups, rows, features), dtype) for _ in range(2))
        if groups > 1:
            shape = (batch, heads // groups, groups, rows, features)
            k, v = (t.reshape(t.expand(t.reshape(x, shape[:2] + (1,) + shape[3:]), shape), q[1]) for x in (k, v))
        x = t.scaled(product(t, q, k), features ** -0.5)
        if causal:
            row, column = (t.op(f"iota dim = {dim} : {t.type(x[1], 'i32')}", x[1], "i32") for dim in (2, 3))
            sees = t.op(f"binary le {column[0]}, {row[0]} : {t.t(column)}", x[1], "i1")
            never = t.op(f"constant dense<0xFF800000> : {t.t(x)}", x[1], "f32")
            x = t.op(f"select {sees[0]}, {x[0]}, {never[0]} : {t.t(x)}", x[1], "f32")
        e = t.unary("exp", t.binary("sub", x, t.rows(t.reduce("max", x, 3), x[1])))
        weights = t.binary("div", e, t.rows(t.reduce("add", e, 3), x[1]))
        return t.function(t.cast(product(t, weights, t.permute(v, [0, 1, 3, 2])), dtype))

    best = {}

    def peer(torch, x):
        """By cuDNN or by FlashAttention, whichever is faster."""
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def by(backend):
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(*x, is_causal=causal, enable_gqa=groups > 1)
        if not best:
            for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
                try:
                    times = []
                    for _ in range(8):
                        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                        torch.cuda._sleep(500000)
                        events[0].record()
                        by(backend)
                        events[1].record()
                        torch.cuda.synchronize()
                        times.append(events[0].elapsed_time(events[1]))
                    best[sorted(times)[3]] = backend
                except RuntimeError:
                    pass
        return by(best[min(best)])

    def reference(torch, x):
        q, k, v = (each.float() for each in x)
        hidden = torch.ones(rows, rows, device=q.device, dtype=torch.bool).triu(1) if causal else None
        result = torch.empty_like(q)
        for i in range(batch):
            for j in range(heads):
                scores = q[i, j] @ k[i, j // groups].T * features ** -0.5
                if causal:
                    scores.masked_fill_(hidden, float("-inf"))
                result[i, j] = torch.softmax(scores, 1) @ v[i, j // groups]
        return result
    flops = 4 * batch * heads * rows * rows * features // (2 if causal else 1)
    return {"build": build, "peer": peer, "reference": reference, "flops": flops, "compiled": False, "bound": 8e-3}


def cross_entropy(rows, classes, dtype):
    """The mean of -log(softmax(x))[target], as the Tensor API composes it."""
    def build():
        t = Text()
        shape = (rows, classes)
        x, target = t.input(shape, dtype), t.input((rows,), "i64")
        wide = t.cast(x, "f32")
        d = t.binary("sub", wide, t.rows(t.reduce("max", wide, 1), shape))
        logarithms = t.binary("sub", d, t.rows(t.unary("log", t.reduce("add", t.unary("exp", d), 1)), shape))
        number = t.op(f"iota dim = 1 : {t.type(shape, 'i64')}", shape, "i64")
        chosen = t.op(f"binary eq {number[0]}, {t.rows(target, shape)[0]} : {t.t(number)}", shape, "i1")
        losses = t.op(f"select {chosen[0]}, {logarithms[0]}, {t.number(0, shape, 'f32')[0]} : {t.t(logarithms)}", shape, "f32")
        loss = t.unary("neg", t.reduce("add", losses, 1))
        mean = t.op(f"reduce add {t.scaled(loss, 1 / rows)[0]} dims = [0] : {t.t(loss)} -> tensor<f32>", (), "f32")
        return t.function(t.cast(mean, dtype))

    def peer(torch, x):
        return torch.nn.functional.cross_entropy(x[0], x[1])
    return {"build": build, "peer": peer, "reference": lambda torch, x: peer(torch, [x[0].float(), x[1]]), "compiled": True,
            "bytes": rows * classes * {"f32": 4, "bf16": 2}[dtype], "bound": 1e-2, "below": classes}


def softmax_backward(shape, dtype):
    def build():
        t = Text()
        y, dy = t.input(shape, dtype), t.input(shape, dtype)
        y, dy = t.cast(y, "f32"), t.cast(dy, "f32")
        sums = t.rows(t.reduce("add", t.binary("mul", y, dy), 1), shape)
        return t.function(t.cast(t.binary("mul", y, t.binary("sub", dy, sums)), dtype))

    def peer(torch, x):
        y, dy = x[0].float(), x[1].float()
        return (y * (dy - (y * dy).sum(1, keepdim=True))).to(x[0].dtype)
    return {"build": build, "peer": peer, "reference": peer, "compiled": True,
            "bytes": 3 * shape[0] * shape[1] * {"f32": 4, "bf16": 2}[dtype], "bound": {"f32": 1e-4, "bf16": 1e-2}[dtype]}


def workloads():
    all = {}
    for size in (1024, 2048, 4096, 8192):
        all[f"gemm-bf16-{size}-NT"] = gemm("NT", size, size, size)
    for layout in ("NN", "TN", "TT"):
        all[f"gemm-bf16-4096-{layout}"] = gemm(layout, 4096, 4096, 4096)
    all["gemm-f16-4096-NT"] = gemm("NT", 4096, 4096, 4096, "f16")
    all["gemm-f32-4096-NT"] = gemm("NT", 4096, 4096, 4096, "f32")
    all["gemm-f32-4096-NN"] = gemm("NN", 4096, 4096, 4096, "f32")
    all["gemm-tf32-4096-NT"] = gemm("NT", 4096, 4096, 4096, "f32", fast=True)
    all["gemm-i8-4096-NT"] = gemm("NT", 4096, 4096, 4096, "i8", out="i32")
    all["gemm-f8-4096-NT"] = gemm("NT", 4096, 4096, 4096, "f8E4M3FN", out="bf16", fast=True)
    all["gemm-bf16-4096-NT-f32"] = gemm("NT", 4096, 4096, 4096, out="f32")
    all["gemm-bf16-4096x11008x4096-NT"] = gemm("NT", 4096, 11008, 4096)
    all["gemm-bf16-96x1024x1024x64-NT"] = gemm("NT", 1024, 1024, 64, batch=(96,))
    all["gemm-bf16-4000x4040x4024-NT"] = gemm("NT", 4000, 4040, 4024)
    all["gemm-bias-gelu-bf16-4096"] = gemm("NT", 4096, 4096, 4096, epilogue="gelu")
    for m in (1, 8, 16, 64):
        for n, k in ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)):
            all[f"linear-bf16-{m}x{n}x{k}"] = gemm("NT", m, n, k)
    for size, channels, outputs, window, stride in ((56, 64, 64, 3, 1), (28, 128, 128, 3, 1), (14, 256, 256, 3, 1),
                                                    (7, 512, 512, 3, 1), (56, 64, 256, 1, 1), (56, 128, 128, 3, 2),
                                                    (56, 256, 512, 1, 2), (224, 3, 64, 7, 2)):
        step = f"-by-{stride}" if stride > 1 else ""
        all[f"conv-bf16-32x{size}x{size}x{channels}-{outputs}-{window}x{window}{step}"] = \
            conv(32, size, channels, outputs, window, stride)
    all["conv-f16-32x28x28x128-128-3x3"] = conv(32, 28, 128, 128, 3, 1, "f16")
    all["conv-relu-bf16-32x14x14x256-256-3x3"] = conv(32, 14, 256, 256, 3, 1, relu=True)
    for size, channels in ((56, 64), (14, 256)):
        all[f"conv-first-bf16-32x{channels}x{size}x{size}-{channels}-3x3"] = conv(32, size, channels, channels, 3, 1, layout="NCHW")
    for features in (64, 128):
        for rows in (1024, 2048, 4096, 8192, 16384):
            for causal in (False, True):
                name = f"attention-bf16-{rows}x{features}" + ("-causal" if causal else "")
                all[name] = attention(16384 // rows, 2048 // features, rows, features, causal)
    all["attention-bf16-4096x128-causal-grouped"] = attention(4, 32, 4096, 128, True, groups=4)
    shape = (8192, 8192)
    for dtype in ("f32", "bf16"):
        for kind in ("copy", "chain", "transpose"):
            all[f"{kind}-{dtype}"] = pointwise(kind, shape, dtype)
        for kind in ("softmax", "layer-norm", "rms-norm", "sum-rows", "sum-columns", "sum-all"):
            all[f"{kind}-{dtype}"] = rowwise(kind, shape, dtype)
    all["cast-f32-bf16"] = pointwise("cast-down", shape, "f32")
    all["cast-bf16-f32"] = pointwise("cast-up", shape, "bf16")
    for columns in (65536, 262144):
        for kind in ("softmax", "rms-norm"):
            all[f"{kind}-f32-1024x{columns}"] = rowwise(kind, (1024, columns), "f32")
    all["cross-entropy-bf16-16384x50304"] = cross_entropy(16384, 50304, "bf16")
    for dtype in ("f32", "bf16"):
        all[f"softmax-backward-{dtype}"] = softmax_backward(shape, dtype)
    all.update(gpu_models.workloads())
    return all


# Here.

def prepare(build, folder, target, chosen):
    os.makedirs(folder, exist_ok=True)
    bin = os.path.join(build, "bin")
    manifest = {"target": target, "workloads": {}}
    for name, work in chosen.items():
        source = os.path.join(folder, name + ".mlir")
        with open(source, "w") as file:
            file.write(work["build"]())
        begin = time.monotonic()
        done = subprocess.run([os.path.join(bin, "zyx-compile"), source, f"--target={work.get('target') or target}", "-o",
                               os.path.join(folder, name + ".zyxa")], capture_output=True, text=True)
        manifest["workloads"][name] = {"compile_s": time.monotonic() - begin}
        if done.returncode:
            print(f"{name}: {done.stderr.strip()}", file=sys.stderr)
            manifest["workloads"][name]["refused"] = done.stderr.strip()
    manifest["commit"] = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True,
                                        cwd=os.path.dirname(os.path.abspath(__file__))).stdout.strip()
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1)
    runtime = os.path.join(folder, "libZyxRuntime.so")
    subprocess.run(["strip", "-o", runtime, os.path.realpath(os.path.join(build, "lib", "libZyxRuntime.so"))], check=True)
    for module in (__file__, gpu_models.__file__):
        shutil.copy(os.path.abspath(module), folder)


# There.

class Runtime:
    """zyx's C surface."""

    def __init__(self, folder):
        self.lib = ctypes.CDLL(os.path.join(folder, "libZyxRuntime.so"))
        self.lib.zyx_error_get_message.restype = ctypes.c_char_p
        for function in ("zyx_device_create", "zyx_executor_load_file", "zyx_executor_find_input",
                         "zyx_executor_set_input", "zyx_executor_run", "zyx_executor_read_output", "zyx_executor_measure"):
            getattr(self.lib, function).restype = ctypes.c_void_p
        self.device = ctypes.c_void_p()
        self.call("zyx_device_create", b"cuda", None, ctypes.byref(self.device))

    def call(self, name, *arguments):
        error = getattr(self.lib, name)(*arguments)
        if error:
            raise RuntimeError(self.lib.zyx_error_get_message(ctypes.c_void_p(error)).decode())

    def load(self, path):
        executor = ctypes.c_void_p()
        self.call("zyx_executor_load_file", self.device, path.encode(), ctypes.byref(executor))
        return executor

    def find(self, executor, name):
        index = ctypes.c_size_t()
        self.call("zyx_executor_find_input", executor, name.encode(), ctypes.byref(index))
        return index.value

    def set(self, executor, index, array):
        self.call("zyx_executor_set_input", executor, ctypes.c_size_t(index), ctypes.c_void_p(array.data_ptr()),
                  ctypes.c_size_t(array.numel() * array.element_size()))

    def read(self, executor, array):
        self.call("zyx_executor_read_output", executor, ctypes.c_size_t(0), ctypes.c_void_p(array.data_ptr()),
                  ctypes.c_size_t(array.numel() * array.element_size()))

    def run(self, executor):
        self.call("zyx_executor_run", executor)

    def measure(self, executor, runs=1):
        """Microseconds of the device, and of the host that hands the runs over."""
        took = (ctypes.c_uint64 * 3)(ctypes.sizeof(ctypes.c_uint64) * 3)
        self.call("zyx_executor_measure", executor, ctypes.c_uint32(runs), took)
        return took[1] / 1e3, took[2] / 1e3

    def release(self, executor):
        self.lib.zyx_executor_release(executor)


def shapes_of(text):
    """Shapes and dtypes of a function's inputs and of its result, from its first line."""
    head = text.split("\n", 1)[0]
    found = []
    for part in head.split("tensor<")[1:]:
        *dims, dtype = part.split(">")[0].split("x")
        found.append(([int(d) for d in dims], dtype))
    return found[:-1], found[-1]


def quartiles(values):
    values = sorted(values)
    return [values[len(values) * i // 4] for i in (1, 2, 3)]


def run(folder, chosen, seconds, mode, results):
    import torch
    dtypes = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8, "i32": torch.int32,
              "f8E4M3FN": torch.float8_e4m3fn}
    with open(os.path.join(folder, "manifest.json")) as file:
        manifest = json.load(file)
    runtime = Runtime(folder)
    # Of the algorithms for a convolution, the fastest.
    torch.backends.cudnn.benchmark = True
    properties = torch.cuda.get_device_properties(0)
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version,clocks.sm,power.draw", "--format=csv,noheader"],
                            capture_output=True, text=True).stdout.strip()
    record = {"device": properties.name, "driver": driver, "torch": torch.__version__, "cuda": torch.version.cuda,
              "date": time.strftime("%Y-%m-%d", time.gmtime()), "commit": manifest["commit"], "mode": mode, "rows": []}

    def timed(function):
        torch.cuda._sleep(500000)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    def waited(function):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        function()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1e6

    def captured(function):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            function()
        return graph.replay

    def error_of(value, reference):
        difference, size = (value.double() - reference.double()).norm(), reference.double().norm()
        return (difference / size).item()

    source = torch.empty(1 << 28, dtype=torch.float32, device="cuda").normal_()
    target = torch.empty_like(source)
    copies = [timed(lambda: target.copy_(source)) for _ in range(12)]
    record["copy_bytes_per_us"] = 2 * source.numel() * 4 / sorted(copies)[6]
    del source, target
    print(f"{properties.name}, driver {driver}; torch {torch.__version__}; copy {record['copy_bytes_per_us'] / 1e6:.3f} TB/s")
    for name, work in chosen.items():
        if name not in manifest["workloads"]:
            continue
        row = {"name": name, "compile_s": manifest["workloads"][name]["compile_s"]}
        record["rows"].append(row)
        try:
            with open(os.path.join(folder, name + ".mlir")) as file:
                inputs, (shape, dtype) = shapes_of(file.read())
            row["refused"] = manifest["workloads"][name].get("refused")
            if row["refused"]:
                continue
            torch.manual_seed(len(record["rows"]))
            executor = runtime.load(os.path.join(folder, name + ".zyxa"))
            if "data" in work:
                named = work["data"](torch, dtypes[work["dtype"]])
                x = list(named.values())
                for key, each in named.items():
                    runtime.set(executor, runtime.find(executor, key), each.cpu())
            else:
                x = [torch.randint(work["below"], s, device="cuda") if d == "i64" else
                     (torch.randn(s, device="cuda", dtype=torch.float32) * (32 if d == "i8" else 1)).to(dtypes[d])
                     for s, d in inputs]
                for i, each in enumerate(x):
                    runtime.set(executor, i, each.cpu())
            # From the second run on commands are graphs.
            for _ in range(3):
                runtime.run(executor)
            got = torch.empty(shape, dtype=dtypes[dtype])
            runtime.read(executor, got)
            reference = work["reference"](torch, x)
            row["error"] = error_of(got.to("cuda").reshape(reference.shape), reference)
            row["wrong"] = not row["error"] <= work["bound"]
            del reference
            time_of = waited if work.get("wall") else timed
            contenders = {"zyx": (lambda: waited(lambda: runtime.run(executor))) if work.get("wall") else
                          lambda: runtime.measure(executor)[0]}
            if "kernels" in work and not row["wrong"]:
                row["kernels"] = work["kernels"]
                took = [runtime.measure(executor, 20) for _ in range(9)]
                row["kernel_us"] = quartiles([device / 20 / work["kernels"] for device, _ in took])[1]
                row["host_us"] = quartiles([host / 20 for _, host in took])[1]
            if not row["wrong"]:
                contenders["eager"] = lambda: time_of(lambda: work["peer"](torch, x))
                if "kernels" in work:
                    work["peer"](torch, x)
                    alone = captured(lambda: work["peer"](torch, x))
                    contenders["graph"] = lambda: timed(alone)
                if mode and work["compiled"]:
                    torch._dynamo.reset()
                    function = torch.compile(lambda *v: work["peer"](torch, v), dynamic=False, mode=mode)
                    for _ in range(3):
                        function(*x)
                    replay = captured(lambda: function(*x))
                    contenders["compile"] = lambda: time_of(lambda: function(*x))
                    contenders["graph"] = lambda: time_of(replay)
                times = {key: [] for key in contenders}
                for _ in range(3):
                    for key in contenders:
                        contenders[key]()
                end = time.monotonic() + seconds
                while time.monotonic() < end or len(times["zyx"]) < 7:
                    for key in contenders:
                        times[key].append(contenders[key]())
                for key, values in times.items():
                    row[key] = quartiles(values)[1]
                    row[key + "_quartiles"] = quartiles(values)
            runtime.release(executor)
            if not row["wrong"]:
                row["rate"] = work["flops" if "flops" in work else "bytes"] / row["zyx"] / 1e6
        except Exception as failure:
            row["failed"] = str(failure)[:300]
        print(line(row, record), flush=True)
        # After each row, so that a run that is cut off loses none.
        if results:
            os.makedirs(os.path.dirname(results) or ".", exist_ok=True)
            with open(results, "w") as file:
                json.dump(record, file, indent=1)


def line(row, record):
    name = row["name"]
    for key in ("refused", "failed"):
        if row.get(key):
            return f"| {name} | {key}: {row[key].splitlines()[0][:80]} | | | | | | |"
    if row.get("wrong"):
        return f"| {name} | wrong: error {row['error']:.1e} | | | | | | |"
    isProduct = any(kind in name for kind in ("gemm", "linear", "gpt2", "conv", "attention"))
    rate = f"{row['rate']:.0f} TFLOP/s" if any(kind in name for kind in ("gemm", "conv", "attention")) else f"{row['rate']:.1f} TFLOP/s" if isProduct else \
        f"{row['rate']:.2f} TB/s, {row['rate'] * 1e6 / record['copy_bytes_per_us']:.2f} of copy"
    if "kernels" in row:
        rate = f"{row['kernel_us']:.2f} us a kernel, {row['host_us']:.2f} us of the host a run"
    peers = [f"{row[key]:.1f} ({row[key] / row['zyx']:.2f})" if key in row else "" for key in ("eager", "compile", "graph")]
    first, _, third = row["zyx_quartiles"]
    return f"| {name} | {row['zyx']:.1f} ({first:.1f} - {third:.1f}) | {rate} | {row['error']:.1e} | {row['compile_s']:.2f} | " + \
        " | ".join(peers) + " |"


def update(paths):
    record, rows = {}, {}
    for path in paths:
        with open(path) as file:
            record = json.load(file)
        for row in record["rows"]:
            rows[row["name"]] = {"commit": record["commit"], **row}
    # In the order of the list, and what is listed no more behind it.
    order = [name for name in workloads() if name in rows]
    record["rows"] = [rows[name] for name in order + [name for name in rows if name not in order]]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folder = os.path.join(root, "benchmarks", "results", f"{record['date']}-h100-gpu")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "gpu.json"), "w") as file:
        json.dump(record, file, indent=1)
    commits = ", ".join(dict.fromkeys(row["commit"] for row in record["rows"]))
    rows = [line(row, record) for row in record["rows"]]
    section = "\n".join([
        BEGIN, f"{record['device']}, driver {record['driver'].split(',')[0]}; PyTorch {record['torch']}; commit {commits}; {record['date']}. "
        f"A copy of 1 GiB moves {record['copy_bytes_per_us'] / 1e6:.2f} TB/s. "
        + (f"torch.compile's mode is {record['mode']}." if record["mode"] else "torch.compile was not run."), "",
        "| workload | zyx, us (quartiles) | rate | error | compile, s | PyTorch, us (ratio) | torch.compile, us (ratio) | "
        "its graph, us (ratio) |", "|---|---|---|---|---|---|---|---|",
        *rows, END])
    page = os.path.join(root, "docs", "performance.md")
    with open(page) as file:
        text = file.read()
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    with open(page, "w") as file:
        file.write(text[:begin] + section + text[end:])


def main(arguments):
    options = dict(a[2:].partition("=")[::2] for a in arguments if a.startswith("--"))
    words = [a for a in arguments if not a.startswith("--")]
    only = [part for part in options.get("only", "").split(",") if part]
    chosen = {name: work for name, work in workloads().items() if not only or any(part in name for part in only)}
    if words[:1] == ["prepare"] and len(words) == 3:
        prepare(words[1], words[2], options.get("target", "sm_90a"), chosen)
    elif words[:1] == ["run"] and len(words) == 2:
        mode = None if "no-compile" in options else options.get("mode", "max-autotune-no-cudagraphs")
        run(words[1], chosen, float(options.get("seconds", 0.3)), mode, options.get("results"))
    elif words[:1] == ["update"] and len(words) > 1:
        update(words[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
