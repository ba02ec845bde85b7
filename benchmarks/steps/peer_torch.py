"""PyTorch's training steps and inference: peer_torch.py THREADS VARIANT, with the protocol of
benchmarks/Steps.cpp. VARIANT is eager, compile, or reference: eager in double."""
import json
import os
import struct
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

VARIANT = sys.argv[2]
torch.set_num_threads(int(sys.argv[1]))
DTYPES = {"F32": torch.float32, "I64": torch.int64}


def memory(what):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(what + ":"))


def load(path):
    """A safetensors file."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), bytearray(file.read())
    header.pop("__metadata__", None)
    return {name: torch.frombuffer(data, dtype=DTYPES[e["dtype"]], offset=e["data_offsets"][0],
                                   count=torch.Size(e["shape"]).numel()).view(e["shape"]).clone()
            for name, e in header.items()}


class Digits(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 32, 3, padding=1)
        self.out = nn.Linear(512, 10)

    def forward(self, x):
        x = F.relu(self.second(F.relu(self.first(x))))
        return self.out(F.max_pool2d(x, 2).flatten(1))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        q, k, v = (layer(x).view(*x.shape[:2], self.heads, -1).transpose(1, 2)
                   for layer in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(x.shape))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.add_module("in", nn.Linear(width, 4 * width))
        self.out = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.out(F.gelu(getattr(self, "in")(x)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.mlp = Attention(width, heads), Mlp(width)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class CharTransformer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        width = sizes["width"]
        self.tokens = nn.Embedding(sizes["vocabulary"], width)
        self.positions = nn.Embedding(sizes["context"], width)
        self.layers = sizes["layers"]
        for i in range(self.layers):
            self.add_module(f"block{i}", Block(width, sizes["heads"]))
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, sizes["vocabulary"], bias=False)

    def forward(self, x):
        x = self.tokens(x) + self.positions.weight
        for i in range(self.layers):
            x = getattr(self, f"block{i}")(x)
        return self.out(self.norm(x))


def make_step(request):
    data = load(request["data"])
    model = {"digits": Digits, "chars": CharTransformer}[request["model"]](request["sizes"])
    inputs, targets = data.pop("inputs"), data.pop("targets", None)
    model.load_state_dict(data)
    if VARIANT == "reference":
        model.double()
        inputs = inputs.double() if inputs.is_floating_point() else inputs
    turn = 0

    def next_batch():
        nonlocal turn
        i, turn = turn % len(inputs), turn + 1
        return inputs[i].clone(), targets[i].clone() if targets is not None else None

    if not request["training"]:
        model.eval()
        if VARIANT == "compile":
            # With weights that do not change, as the documentation of the compiler advises.
            import torch._inductor.config as inductor
            inductor.freezing = True
            model = torch.compile(model, dynamic=False)

        def infer():
            with torch.inference_mode():
                return model(next_batch()[0])
        return infer

    def loss_of(x, y):
        logits = model(x)
        return F.cross_entropy(logits.flatten(0, -2), y.flatten())

    # The faster ones of what its documentation offers on a processor.
    optimizer = torch.optim.AdamW(model.parameters(), fused=VARIANT == "eager")
    update = optimizer.step
    if VARIANT == "compile":
        loss_of = torch.compile(loss_of, dynamic=False)
        # A rate that is no tensor would be a constant of the program.
        for group in optimizer.param_groups:
            group["lr"] = torch.tensor(group["lr"])
        update = torch.compile(optimizer.step, dynamic=False)

    def train():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*next_batch())
        loss.backward()
        update()
        return torch.tensor([loss.item()])
    return train


class Worker:
    def answer(self, request):
        if request["do"] == "version":
            return {"version": torch.__version__, "resident": memory("VmRSS")}
        if request["do"] == "prepare":
            self.step, results, seconds = make_step(request), [], []
            for _ in range(request["steps"]):
                began = time.perf_counter()
                result = self.step()
                seconds.append(time.perf_counter() - began)
                results += result.flatten().tolist()
            self.once = seconds[-1]
            return {"results": results, "seconds": seconds}
        repeat = min(max(int(request["seconds"] / self.once), 1), 100000)
        for _ in range(max(1, repeat // 4)):
            self.step()
        began = time.perf_counter()
        for _ in range(repeat):
            self.step()
        seconds = (time.perf_counter() - began) / repeat
        self.once = min(self.once, seconds)
        return {"seconds": seconds, "peak": memory("VmHWM")}


worker, answers = Worker(), os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    try:
        answer = worker.answer(json.loads(line))
    except Exception as failure:  # the driver leaves this contender out, and says so
        answer = {"error": f"{type(failure).__name__}: {str(failure)[:300]}"}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
