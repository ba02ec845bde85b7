"""Workloads of attention."""
from .text import Text, product


def by_backends(make):
    """The two that PyTorch has; `make` gets a function that calls another one with one of them only."""
    def of(backend):
        def prepared(torch, x):
            from torch.nn.attention import SDPBackend, sdpa_kernel

            def by(function):
                with sdpa_kernel(getattr(SDPBackend, backend)):
                    return function()
            return make(torch, x, by)
        return prepared
    return {"cudnn": of("CUDNN_ATTENTION"), "flash": of("FLASH_ATTENTION")}


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

    def forward(torch, x):
        return torch.nn.functional.scaled_dot_product_attention(*x, is_causal=causal, enable_gqa=groups > 1)

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
    peers = by_backends(lambda torch, x, by: lambda: by(lambda: forward(torch, x)))
    return {"build": build, "peers": peers, "reference": reference, "flops": flops, "compiled": False, "bound": 8e-3}


def attention_backward(batch, heads, rows, features, causal=False, dtype="bf16"):
    """Gradients of queries, keys and values from that of the result, as zyx's tensors make them.

    zyx's program is the forward half and the backward one, as in a step of training; its time is less that of the
    forward half alone, round by round. PyTorch's is that of torch.autograd.grad alone, of a result that is there.
    """
    def backward(torch, x, by):
        leaves = [each.detach().requires_grad_() for each in x[:3]]
        result = by(lambda: torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal))
        return lambda: torch.autograd.grad(result, leaves, x[3], retain_graph=True)

    def reference(torch, x):
        q, k, v, seed = (each.float() for each in x)
        hidden = torch.ones(rows, rows, device=q.device, dtype=torch.bool).triu(1) if causal else None
        result, *gradients = [torch.empty_like(q) for _ in range(4)]
        for i in range(batch):
            for j in range(heads):
                scores = q[i, j] @ k[i, j].T * features ** -0.5
                if causal:
                    scores.masked_fill_(hidden, float("-inf"))
                weights = torch.softmax(scores, 1)
                result[i, j] = weights @ v[i, j]
                of_weights = seed[i, j] @ v[i, j].T
                of_scores = weights * (of_weights - (weights * of_weights).sum(1, keepdim=True)) * features ** -0.5
                gradients[0][i, j] = of_scores @ k[i, j]
                gradients[1][i, j] = of_scores.T @ q[i, j]
                gradients[2][i, j] = weights.T @ seed[i, j]
        return [result, *gradients]
    words = [batch, heads, rows, features, dtype] + (["causal"] if causal else [])
    # Five products, of which the forward half has two.
    flops = 10 * batch * heads * rows * rows * features // (2 if causal else 1)
    return {"tensors": ["attention-backward", *map(str, words)], "peers": by_backends(backward), "reference": reference,
            "less": attention(batch, heads, rows, features, causal, 1, dtype), "flops": flops, "compiled": False,
            "bound": 1e-2}
