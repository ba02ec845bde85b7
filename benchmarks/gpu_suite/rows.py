"""Workloads that memory bounds: elementwise ones and reductions."""
from .text import Text


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


def cross_entropy_backward(rows, classes, dtype):
    """The gradient of that with respect to x: the softmax less one at the target, of the mean's share."""
    def build():
        t = Text()
        shape = (rows, classes)
        x, target = t.input(shape, dtype), t.input((rows,), "i64")
        wide = t.cast(x, "f32")
        e = t.unary("exp", t.binary("sub", wide, t.rows(t.reduce("max", wide, 1), shape)))
        y = t.binary("div", e, t.rows(t.reduce("add", e, 1), shape))
        number = t.op(f"iota dim = 1 : {t.type(shape, 'i64')}", shape, "i64")
        chosen = t.op(f"binary eq {number[0]}, {t.rows(target, shape)[0]} : {t.t(number)}", shape, "i1")
        return t.function(t.cast(t.scaled(t.binary("sub", y, t.cast(chosen, "f32")), 1 / rows), dtype))

    def peer(torch, x):
        y = torch.softmax(x[0].float(), 1)
        chosen = torch.arange(classes, device="cuda") == x[1][:, None]
        return ((y - chosen.to(y.dtype)) * (1 / rows)).to(x[0].dtype)
    return {"build": build, "peer": peer, "reference": peer, "compiled": True,
            "bytes": 2 * rows * classes * {"f32": 4, "bf16": 2}[dtype], "bound": 1e-2, "below": classes}


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
