"""Workloads of what walks elements in their order: scans, sorts, scatters."""
from .text import Text

BYTES = {"f32": 4, "bf16": 2}


def scan(shape, dim, dtype="f32"):
    def build():
        t = Text()
        x = t.input(shape, dtype)
        return t.function(t.op(f"scan add {x[0]} dim = {dim} : {t.t(x)}", shape, dtype))

    def peer(torch, x):
        return torch.cumsum(x[0], dim)
    count = 1
    for extent in shape:
        count *= extent
    return {"build": build, "peer": peer, "reference": lambda torch, x: torch.cumsum(x[0].double(), dim), "compiled": False,
            "bytes": 2 * count * BYTES[dtype], "bound": 1e-4}


def sort(shape, dtype="f32"):
    """Along rows, the largest first."""
    def build():
        t = Text()
        x = t.input(shape, dtype)
        return t.function(t.op(f"sort values {x[0]} dim = 1 descending : {t.t(x)} -> {t.t(x)}", shape, dtype))

    def peer(torch, x):
        return torch.sort(x[0], dim=1, descending=True, stable=True).values
    return {"build": build, "peer": peer, "reference": peer, "compiled": False,
            "bytes": 2 * shape[0] * shape[1] * BYTES[dtype], "bound": 0.0}


def embedding_gradient(rows, classes, features, dtype="f32"):
    """Sums of rows that have the same class, as the gradient of an embedding has them."""
    def build():
        t = Text()
        places, updates = t.input((rows,), "i64"), t.input((rows, features), dtype)
        zeros = t.number(0, (classes, features), dtype)
        return t.function(t.op(f"scatter add {zeros[0]}[{places[0]}], {updates[0]} dim = 0 : ({t.t(zeros)}, {t.t(places)}, "
                               f"{t.t(updates)}) -> {t.t(zeros)}", zeros[1], dtype))

    def peer(torch, x):
        return torch.ops.aten.embedding_dense_backward(x[1], x[0], classes, -1, False)
    return {"build": build, "peer": peer, "reference": lambda torch, x: peer(torch, [x[0], x[1].double()]), "compiled": False,
            "bytes": (rows + classes) * features * BYTES[dtype], "bound": 1e-5, "below": classes}
