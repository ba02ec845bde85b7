"""PyTorch, eager and compiled."""
import sys

import torch
import torch.nn.functional as F

from worker import Unsupported, Worker

torch.set_num_threads(int(sys.argv[1]))
torch.set_grad_enabled(False)


def tensor(array, bits=False):
    made = torch.from_numpy(array).clone()
    return made.view(torch.bfloat16) if bits else made


def gemm(shape, a, b, variant):
    bits = shape["dtype"] == "bf16"
    a, b = tensor(a, bits), tensor(b, bits)
    a, b = a.mT if shape["ta"] else a, b.mT if shape["tb"] else b
    function = {"i8": torch._int_mm}.get(shape["dtype"], torch.matmul)
    dtype = torch.int32 if shape["dtype"] == "i8" else a.dtype
    out = torch.empty(*a.shape[:-1], b.shape[-1], dtype=dtype)
    return lambda: function(a, b, out=out)


def conv(shape, x, w, variant):
    # NHWC in memory, as the program has it; "eager" is NCHW.
    x = tensor(x).permute(0, 3, 1, 2)
    w = tensor(w).permute(3, 2, 0, 1)
    if variant == "eager":
        x, w = x.contiguous(), w.contiguous()
    else:
        w = w.contiguous(memory_format=torch.channels_last)
    layer = torch.nn.Conv2d(shape["c"], shape["o"], shape["kh"], shape["stride"], shape["pad"],
                            groups=shape["groups"], bias=False).eval()
    layer.weight = torch.nn.Parameter(w, requires_grad=False)
    return (layer, x)


def rms_norm(x, scale):
    return F.rms_norm(x, x.shape[-1:], scale, 1e-5)


def chain(x, y):
    t = ((x + y).abs() * 0.5 + 1).sqrt().exp()
    t = t.maximum(torch.full((), 3.0)).minimum(torch.full((), 8.0))
    return t * t * y


class Gpt2(torch.nn.Module):
    """The network of examples/gpt2.py as PyTorch's users write it."""

    def __init__(self, shape, tensors):
        super().__init__()
        self.layers, self.heads = shape["layers"], shape["heads"]
        for name, value in zip(shape["names"], tensors):
            self.register_parameter(name.replace(".", "_"),
                                    torch.nn.Parameter(value, requires_grad=False))

    def linear(self, x, name):
        return torch.addmm(getattr(self, name + "_bias"), x, getattr(self, name + "_weight"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], getattr(self, name + "_weight"),
                            getattr(self, name + "_bias"))

    def forward(self, tokens):
        x = F.embedding(tokens, self.wte_weight) + self.wpe_weight
        for i in range(self.layers):
            qkv = self.linear(self.norm(x, f"h_{i}_ln_1"), f"h_{i}_attn_c_attn")
            q, k, v = (part.view(len(x), self.heads, -1).transpose(0, 1)[None]
                       for part in qkv.chunk(3, -1))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)[0]
            x = x + self.linear(y.transpose(0, 1).reshape(x.shape), f"h_{i}_attn_c_proj")
            y = F.gelu(self.linear(self.norm(x, f"h_{i}_ln_2"), f"h_{i}_mlp_c_fc"),
                       approximate="tanh")
            x = x + self.linear(y, f"h_{i}_mlp_c_proj")
        return self.norm(x, "ln_f") @ self.wte_weight.T


def prepare(kind, variant, arguments, inputs):
    # With weights that do not change, as the documentation of the compiler for inference advises.
    import torch._inductor.config as inductor
    inductor.freezing = True
    if kind == "gemm":
        call = gemm(arguments, *inputs, variant)
        return call, lambda y: (y.view(torch.uint16) if y.dtype == torch.bfloat16 else y).numpy()
    if kind == "gpt2":
        tokens, *values = [tensor(x) for x in inputs]
        network = Gpt2(arguments, values).eval()
        function = torch.compile(network, dynamic=False) if variant == "compile" else network
        return lambda: function(tokens), lambda y: y.numpy()
    if kind == "conv":
        layer, x = conv(arguments, *inputs, variant)
        function = torch.compile(layer, dynamic=False) if variant == "compile" else layer
        return lambda: function(x), lambda y: y.permute(0, 2, 3, 1).contiguous().numpy()
    functions = {
        "softmax": lambda x: F.softmax(x, -1),
        "layer-norm": lambda x, s, t: F.layer_norm(x, x.shape[-1:], s, t, 1e-5),
        "rms-norm": rms_norm, "gelu": F.gelu, "chain": chain,
        "top-k": lambda x: x.topk(arguments["k"]).values,
        "cumsum": lambda x: x.cumsum(arguments["dim"]),
        "attention": lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None])[0],
    }
    if kind not in functions:
        raise Unsupported(kind)
    function = functions[kind]
    if variant == "compile":
        function = torch.compile(function, dynamic=False)
    inputs = [tensor(x) for x in inputs]
    return lambda: function(*inputs), lambda y: y.numpy()


Worker(torch.__version__ + ", oneDNN " +
       torch.__config__.show().split("MKL-DNN) v" if "MKL-DNN) v" in torch.__config__.show()
                                     else "MKL-DNN v")[1].split(" ")[0], prepare).serve()
