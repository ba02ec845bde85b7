"""Workloads of products: matrices and convolutions."""
from .text import Text, product


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

    def factors(x):
        return (x[0] if layout[0] == "N" else x[0].transpose(-1, -2)), (x[1].transpose(-1, -2) if layout[1] == "T" else x[1])

    def peer(torch, x):
        a, b = factors(x)
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
            return torch.matmul(*(factor.double() for factor in factors(x)))
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
