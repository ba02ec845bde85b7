"""What a program takes and returns, and random values for it."""


def shapes_of(text):
    """Shapes and dtypes of a function's inputs and of its results, from the line that declares it."""
    head = next(each for each in text.split("\n") if "func.func" in each)

    def tensors(part):
        found = []
        for each in part.split("tensor<")[1:]:
            *dims, dtype = each.split(">")[0].split("x")
            found.append(([int(d) for d in dims], dtype))
        return found
    arguments, _, results = head.partition("->")
    return tensors(arguments), tensors(results)


def dtype_of(torch, name):
    return {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8, "i32": torch.int32,
            "f8E4M3FN": torch.float8_e4m3fn}[name]


def draw(torch, work, text, seed):
    """Inputs on the card, by name where the workload has names, else in order."""
    torch.manual_seed(seed)
    if "data" in work:
        return work["data"](torch, dtype_of(torch, work["dtype"]))

    def one(shape, dtype):
        if dtype == "i64":
            return torch.randint(work["below"], shape, device="cuda")
        scale = 32 if dtype == "i8" else 1
        return (torch.randn(shape, device="cuda", dtype=torch.float32) * scale).to(dtype_of(torch, dtype))
    return {i: one(shape, dtype) for i, (shape, dtype) in enumerate(shapes_of(text)[0])}
