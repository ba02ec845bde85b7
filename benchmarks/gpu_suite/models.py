"""Workloads of several kernels: GPT-2 small, chains of tiny ones, and long rows twice.

The graphs are written here, by utils/graph_text.py; the functions of PyTorch run there.
"""
import math, os, sys

WIDTH, LAYERS, HEADS, VOCABULARY = 768, 12, 12, 50257
CHAIN = 100


def graph_text():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, os.path.join(root, "utils"))
    import graph_text
    return graph_text.Graph()


def weights(positions):
    """Name, shape, mean and spread of each."""
    found = [("wte", (VOCABULARY, WIDTH), 0, 0.02), ("wpe", (positions, WIDTH), 0, 0.02)]
    for layer in [f"h{i}." for i in range(LAYERS)]:
        for name, inputs, outputs in (("qkv", WIDTH, 3 * WIDTH), ("proj", WIDTH, WIDTH), ("up", WIDTH, 4 * WIDTH),
                                      ("down", 4 * WIDTH, WIDTH)):
            found += [(layer + name, (outputs, inputs), 0, 0.02), (layer + name + "_bias", (outputs,), 0, 0.02)]
        for name in ("ln1", "ln2"):
            found += [(layer + name, (WIDTH,), 1, 0.1), (layer + name + "_bias", (WIDTH,), 0, 0.02)]
    return found + [("ln", (WIDTH,), 1, 0.1), ("ln_bias", (WIDTH,), 0, 0.02)]


def gpt2(batch, positions, dtype):
    """The logits of all positions. What is between kernels has `dtype`; sums, norms and curves are computed in f32."""
    rows = batch * positions

    def build():
        g = graph_text()
        tokens = g.argument("tokens", "i64", rows)
        w = {name: g.parameter(name, dtype, *shape) for name, shape, _, _ in weights(positions)}

        def wide(x):
            return g.cast(x, "f32")

        def linear(x, name):
            return g.binary("add", g.contract(x, g.permute(w[name], 1, 0)), wide(w[name + "_bias"]))

        def norm(x, name):
            return g.cast(g.layer_norm(wide(x), wide(w[name]), wide(w[name + "_bias"])), dtype)

        def heads(x, part):
            x = g.pad(x, 0, [0, -part * WIDTH], [0, (part - 2) * WIDTH])
            return g.permute(g.reshape(x, batch, positions, HEADS, WIDTH // HEADS), 0, 2, 1, 3)

        def attention(q, k, v):
            scores = g.binary("mul", g.contract(q, g.permute(k, 0, 1, 3, 2)), (WIDTH // HEADS) ** -0.5)
            sees = g.binary("le", g.iota(3, "i32", *scores.shape), g.iota(2, "i32", *scores.shape))
            never = g.op("constant dense<0xFF800000> : {result}", "f32", scores.shape)
            p = g.softmax(g.select(sees, scores, never))
            y = g.cast(g.contract(p, wide(v)), dtype)
            return g.reshape(g.permute(y, 0, 2, 1, 3), rows, WIDTH)

        def add(x, y):
            return g.cast(g.binary("add", wide(x), y), dtype)

        places = g.reshape(g.expand(g.reshape(w["wpe"], 1, positions, WIDTH), batch, positions, WIDTH), rows, WIDTH)
        x = add(g.gather(w["wte"], tokens, 0), wide(places))
        for layer in [f"h{i}." for i in range(LAYERS)]:
            qkv = g.cast(linear(norm(x, layer + "ln1"), layer + "qkv"), dtype)
            x = add(x, linear(attention(*(heads(qkv, part) for part in range(3))), layer + "proj"))
            hidden = g.cast(g.gelu_tanh(linear(norm(x, layer + "ln2"), layer + "up")), dtype)
            x = add(x, linear(hidden, layer + "down"))
        return g.text(g.cast(g.contract(norm(x, "ln"), g.permute(w["wte"], 1, 0)), dtype))

    def data(torch, kind):
        made = {"tokens": torch.randint(VOCABULARY, (rows,), device="cuda")}
        for name, shape, mean, spread in weights(positions):
            made[name] = (torch.randn(shape, device="cuda") * spread + mean).to(kind)
        return made

    def peer(torch, x):
        f = torch.nn.functional
        tokens, w = x[0], dict(zip([name for name, *_ in weights(positions)], x[1:]))

        def linear(x, name):
            return f.linear(x, w[name], w[name + "_bias"])

        def norm(x, name):
            return f.layer_norm(x, (WIDTH,), w[name], w[name + "_bias"])
        x = w["wte"][tokens].view(batch, positions, WIDTH) + w["wpe"]
        for layer in [f"h{i}." for i in range(LAYERS)]:
            q, k, v = (part.view(batch, positions, HEADS, WIDTH // HEADS).transpose(1, 2)
                       for part in linear(norm(x, layer + "ln1"), layer + "qkv").split(WIDTH, 2))
            y = f.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, positions, WIDTH)
            x = x + linear(y, layer + "proj")
            x = x + linear(f.gelu(linear(norm(x, layer + "ln2"), layer + "up"), approximate="tanh"), layer + "down")
        return f.linear(norm(x, "ln"), w["wte"]).view(rows, VOCABULARY)

    def reference(torch, x):
        return peer(torch, [x[0]] + [each.double() if dtype == "f32" else each.float() for each in x[1:]])
    matrices = sum(math.prod(shape) for name, shape, _, _ in weights(positions) if len(shape) == 2 and name != "wpe")
    return {"build": build, "data": data, "dtype": dtype, "peer": peer, "reference": reference, "compiled": dtype != "f32",
            "wall": True, "flops": 2 * rows * matrices + 2 * LAYERS * batch * positions * positions * WIDTH,
            "bound": {"f32": 1e-4, "bf16": 2e-2}[dtype]}


def gpt2_gradients(batch, positions, dtype="bf16"):
    """The mean cross-entropy of GPT-2 small and its gradients with respect to all weights, as zyx's tensors make them."""
    rows = batch * positions
    shapes = [("embedding", (VOCABULARY, WIDTH)), ("positions", (positions, WIDTH))]
    for layer in range(LAYERS):
        for name, shape in (("scale1", (WIDTH,)), ("shift1", (WIDTH,)), ("qkv", (WIDTH, 3 * WIDTH)), ("qkv_bias", (3 * WIDTH,)),
                            ("proj", (WIDTH, WIDTH)), ("proj_bias", (WIDTH,)), ("scale2", (WIDTH,)), ("shift2", (WIDTH,)),
                            ("up", (WIDTH, 4 * WIDTH)), ("up_bias", (4 * WIDTH,)), ("down", (4 * WIDTH, WIDTH)),
                            ("down_bias", (WIDTH,))):
            shapes.append((f"{layer}.{name}", shape))
    shapes += [("scale", (WIDTH,)), ("shift", (WIDTH,))]

    def data(torch, kind):
        """By their numbers in the program: targets, embedding, tokens, the other weights."""
        targets, tokens = (torch.randint(VOCABULARY, (rows,), device="cuda") for _ in range(2))
        made = [(torch.randn(shape, device="cuda") * (0.1 if "scale" in name else 0.02) + ("scale" in name)).to(kind)
                for name, shape in shapes]
        return {f"in{i}": each for i, each in enumerate([targets, made[0], tokens, *made[1:]])}

    def gradients(torch, x, batch=batch):
        f, rows = torch.nn.functional, batch * positions
        leaves = [each.detach().requires_grad_() for each in (x[1], *x[3:])]
        w = dict(zip([name for name, _ in shapes], leaves))

        def linear(x, name):
            return x @ w[name] + w[name + "_bias"]

        def norm(x, number, layer=""):
            return f.layer_norm(x, (WIDTH,), w[f"{layer}scale{number}"], w[f"{layer}shift{number}"])
        y = f.embedding(x[2], w["embedding"]) + w["positions"].repeat(batch, 1)
        for layer in [f"{i}." for i in range(LAYERS)]:
            all = linear(norm(y, 1, layer), layer + "qkv").view(batch, positions, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            seen = f.scaled_dot_product_attention(*all, is_causal=True).permute(0, 2, 1, 3).reshape(rows, WIDTH)
            y = y + linear(seen, layer + "proj")
            y = y + linear(f.gelu(linear(norm(y, 2, layer), layer + "up"), approximate="tanh"), layer + "down")
        loss = f.cross_entropy((norm(y, "") @ w["embedding"].T).float(), x[0])
        return [loss, *torch.autograd.grad(loss, leaves)]

    def reference(torch, x):
        """Of one sequence after the other, which takes less memory."""
        wide = [each if each.dtype == torch.int64 else each.float() for each in x]
        sums = None
        for i in range(batch):
            part = slice(i * positions, (i + 1) * positions)
            found = gradients(torch, [wide[0][part], wide[1], wide[2][part], *wide[3:]], 1)
            sums = found if sums is None else [a + b for a, b in zip(sums, found)]
        return [each.detach() / batch for each in sums]
    matrices = sum(math.prod(shape) for name, shape in shapes if len(shape) == 2 and name != "positions")
    return {"tensors": ["gpt2-gradients", str(LAYERS), str(batch), str(positions), dtype], "data": data, "dtype": dtype,
            "peer": gradients, "reference": reference, "compiled": True, "wall": True, "bound": 5e-2,
            "flops": 6 * rows * matrices + 6 * LAYERS * batch * positions * positions * WIDTH}


def chain(kernels):
    """x w w ..., of 16x16 each: as many kernels, each of which waits for the one before."""
    def build():
        g = graph_text()
        x, w = g.argument("x", "f32", 16, 16), g.argument("w", "f32", 16, 16)
        for _ in range(kernels):
            x = g.contract(x, w)
        return g.text(x)

    def data(torch, kind):
        return {"x": torch.randn(16, 16, device="cuda"), "w": torch.randn(16, 16, device="cuda") / 4}

    def peer(torch, x):
        y = x[0]
        for _ in range(kernels):
            y = y @ x[1]
        return y
    return {"build": build, "data": data, "dtype": "f32", "peer": peer, "compiled": False, "kernels": kernels,
            "reference": lambda torch, x: peer(torch, [each.double() for each in x]),
            "flops": 2 * 16 ** 3 * kernels, "bound": 1e-4}


def rows_twice(rows, columns):
    """The softmax of a softmax, whose sums are large: kernels of long rows in a graph."""
    def build():
        g = graph_text()
        x = g.softmax(g.argument("x", "f32", rows, columns))
        return g.text(g.softmax(g.binary("mul", x, float(columns))))

    def peer(torch, x):
        return torch.softmax(torch.softmax(x[0], 1) * columns, 1)
    return {"build": build, "peer": peer, "reference": lambda torch, x: peer(torch, [x[0].double()]), "compiled": True,
            "bytes": 4 * 4 * rows * columns, "bound": 1e-4}


def workloads():
    return {"gpt2-gradients-bf16-8x1024": gpt2_gradients(8, 1024), "gpt2-bf16-8x1024": gpt2(8, 1024, "bf16"), "gpt2-bf16-1x128": gpt2(1, 128, "bf16"),
            "gpt2-f32-1x128": gpt2(1, 128, "f32"), f"replay-{CHAIN}": chain(CHAIN), "replay-1": chain(1),
            "softmax-twice-f32-1024x65536": rows_twice(1024, 65536)}
