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
    """The loss and its gradient with respect to x in one program, as zyx's tensors make it for a step of training."""
    def peer(torch, x):
        targets, logits = x[0], x[1].detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(logits, targets)
        return loss, torch.autograd.grad(loss, logits)[0]

    def reference(torch, x):
        """A part of the rows at a time: in f32 all of them would be many times what the card has left."""
        targets, logits = x
        loss, gradient = 0, torch.empty_like(logits)
        for own, number, to in zip(logits.split(1024), targets.split(1024), gradient.split(1024)):
            wide = own.float()
            loss = loss + torch.nn.functional.cross_entropy(wide, number, reduction="sum")
            y = torch.softmax(wide, 1)
            y[torch.arange(len(number), device=y.device), number] -= 1
            to.copy_(y / rows)
        return [loss / rows, gradient]
    return {"tensors": ["cross-entropy-backward", str(rows), str(classes), dtype], "peer": peer, "reference": reference,
            "compiled": True, "bytes": 2 * rows * classes * {"f32": 4, "bf16": 2}[dtype], "bound": 1e-2, "below": classes}


def rows_backward(kind, shape, dtype):
    """Gradients of x, and of weight and bias, from that of the result, as zyx's tensors make them of x: what the forward
    half knows of a row is computed again. PyTorch's peers are given that: the softmax itself, or means and deviations."""
    aten = {"softmax": "_softmax_backward_data", "layer-norm": "native_layer_norm_backward", "rms-norm": "_fused_rms_norm_backward"}[kind]

    def named(torch, x):
        """x, the gradient of the result, and weights, if there are some, of what the program takes."""
        return (x[1], x[0], None) if kind == "softmax" else (x[2], x[0], x[1])

    def saved(torch, x):
        """What is to be kept of the forward half."""
        given, seed, weight = named(torch, x)
        if kind == "softmax":
            return [torch.softmax(given, 1), seed]
        if kind == "layer-norm":
            bias = torch.zeros_like(weight)
            _, *statistics = torch.ops.aten.native_layer_norm(given, shape[1:], weight, bias, 1e-5)
            return [seed, given, *statistics, weight, bias]
        _, deviation = torch.ops.aten._fused_rms_norm(given, shape[1:], weight, 1e-5)
        return [seed, given, deviation, weight]

    def peer(torch, x):
        function = getattr(torch.ops.aten, aten)
        if kind == "softmax":
            return function(x[1], x[0], 1, x[0].dtype)
        if kind == "layer-norm":
            return function(x[0], x[1], shape[1:], *x[2:], [True, True, True])
        return function(x[0], x[1], shape[1:], *x[2:], [True, True])

    def reference(torch, x):
        given, seed, weight = (each if each is None else each.double().requires_grad_() for each in named(torch, x))
        f = torch.nn.functional
        leaves = [each for each in (given, weight) if each is not None]
        if kind == "layer-norm":
            leaves.append(torch.zeros_like(weight, requires_grad=True))
        result = {"softmax": lambda: torch.softmax(given, 1), "layer-norm": lambda: f.layer_norm(given, shape[1:], *leaves[1:]),
                  "rms-norm": lambda: f.rms_norm(given, shape[1:], weight, eps=1e-5)}[kind]()
        return [each.detach() for each in torch.autograd.grad(result, leaves, seed.detach())]
    return {"tensors": [f"{kind}-backward", *map(str, shape), dtype], "peer": peer, "saved": saved, "reference": reference,
            "compiled": True, "bytes": 3 * shape[0] * shape[1] * {"f32": 4, "bf16": 2}[dtype],
            "bound": {"f32": 1e-4, "bf16": 1e-2}[dtype]}


def softmax_backward(shape, dtype):
    """The gradient of x from that of y = softmax(x) and y itself, which a forward half has kept."""
    def build():
        t = Text()
        y, dy = t.input(shape, dtype), t.input(shape, dtype)
        y, dy = t.cast(y, "f32"), t.cast(dy, "f32")
        sums = t.rows(t.reduce("add", t.binary("mul", y, dy), 1), shape)
        return t.function(t.cast(t.binary("mul", y, t.binary("sub", dy, sums)), dtype))

    def peer(torch, x):
        return torch.ops.aten._softmax_backward_data(x[1], x[0], 1, x[0].dtype)
    return {"build": build, "peer": peer, "reference": lambda torch, x: peer(torch, [each.double() for each in x]),
            "compiled": True, "bytes": 3 * shape[0] * shape[1] * {"f32": 4, "bf16": 2}[dtype],
            "bound": {"f32": 1e-4, "bf16": 1e-2}[dtype]}
