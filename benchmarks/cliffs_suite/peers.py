"""PyTorch: inputs, references, and the peers of a program."""
import contextlib, ctypes, functools, gc, os, signal, sys, time, types

from card_clock import CardClock

from . import exported, rooflines

HOST_PEERS = ("eager", "compile", "onnxruntime")
CARD_PEERS = ("eager", "compile", "eager-graphs", "compile-graphs")


class TooLong(Exception):
    pass


@contextlib.contextmanager
def limited(seconds):
    """Of a main thread: raises when so much time is over."""
    def stop(*_):
        raise TooLong(f"takes more than {seconds:.0f} s")
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def dtypes(torch):
    return {"bool": torch.bool, "i8": torch.int8, "u8": torch.uint8, "i32": torch.int32, "i64": torch.int64,
            "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}


def draw(torch, program, device):
    """The inputs, the same ones for the same program on the same kind of device."""
    generator = torch.Generator(device).manual_seed(program["seed"] * 1000003 + program["index"])
    made = []
    for each in program["inputs"]:
        kind, a, b = each["values"]
        shape, dtype = each["shape"], dtypes(torch)[each["dtype"]]
        if kind == "mask":
            value = torch.rand(shape, generator=generator, device=device) < a
            value[..., 0] = True
        elif kind == "normal":
            value = torch.empty(shape, device=device).normal_(a, b, generator=generator).to(dtype)
        elif dtype.is_floating_point:
            value = torch.empty(shape, device=device).uniform_(a, b, generator=generator).to(dtype)
        else:
            value = torch.randint(int(a), int(b), shape, generator=generator, device=device, dtype=torch.int64).to(dtype)
        if kind == "ascending":
            value = value.sort(-1).values
        made.append(value)
    return made


class Lender:
    """Says of tensors on the first card where another process finds their memory."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")

    def check(self, code, call):
        if code:
            raise RuntimeError(f"{call} gives {code}")

    def describe(self, value):
        base, size, handle = ctypes.c_uint64(), ctypes.c_size_t(), (ctypes.c_ubyte * 64)()
        address = value.data_ptr()
        self.check(self.driver.cuMemGetAddressRange_v2(ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(address)), "cuMemGetAddressRange")
        self.check(self.driver.cuIpcGetMemHandle(handle, base), "cuIpcGetMemHandle")
        return f"{bytes(handle).hex()} {address - base.value} {value.numel() * value.element_size()}"


def module_of(program):
    """Its names. torch.compile looks the module of a function up."""
    module = types.ModuleType(f"program{program['index']}")
    sys.modules[module.__name__] = module
    exec(compile(program["python"], f"<{program['family']} {program['index']}>", "exec"), module.__dict__)
    return module.__dict__


def wide_values(torch, values, dtype):
    return [value.to(dtype) if value.dtype.is_floating_point else value for value in values]


class Peers:
    """Functions without arguments that compute a program's results."""

    def __init__(self, torch, program, values):
        self.torch, self.program, self.values, self.names = torch, program, values, module_of(program)

    def bound(self, function, values):
        if self.program["gradients"]:
            return lambda: function(*values)
        def without_gradients():
            with self.torch.no_grad():
                return function(*values)
        return without_gradients

    def reference(self):
        """In f64, or in f32 where there is no memory for that; and which."""
        torch = self.torch
        for dtype in (torch.float64, torch.float32):
            try:
                # It runs once: to try all algorithms of a convolution takes longer than any of them.
                with torch.backends.cudnn.flags(benchmark=False, allow_tf32=False):
                    return self.bound(self.names["program"], wide_values(torch, self.values, dtype))(), dtype
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as failure:
                if dtype == torch.float32 or "memory" not in str(failure).lower():
                    raise
            # What failed refers to its own frames, and these to tensors.
            gc.collect()
            torch.cuda.empty_cache()

    @functools.cached_property
    def eager(self):
        return self.bound(self.names["program"], self.values)

    def rounded_otherwise(self, seed):
        """Eager mode with each float of the inputs moved to a neighbour of its dtype, or left. Where a value decides, as in a
        ReLU, one that is zero but for rounding falls on either side of it."""
        torch = self.torch
        generator = torch.Generator(self.values[0].device).manual_seed(seed)
        moved = []
        for value in self.values:
            if value.dtype.is_floating_point:
                step = torch.randint(-1, 2, value.shape, generator=generator, device=value.device)
                # Long sums of f32 differ by more than one unit: in turns values move by 1, 4 and 16.
                if value.dtype == torch.float32:
                    step *= 4 ** (seed % 3)
                # Three quarters of eps round to one unit in the last place at both ends of a binade.
                value = (value.double() * (1 + 0.75 * torch.finfo(value.dtype).eps * step)).to(value.dtype)
            moved.append(value)
        return self.bound(self.names["program"], moved)

    @functools.cached_property
    def compiled(self):
        torch, forward = self.torch, self.names["forward"]
        torch._dynamo.reset()
        torch._dynamo.config.recompile_limit = 64
        faster = torch.compile(forward, dynamic=False)
        if self.program["gradients"]:
            update = {"update": torch.compile(self.names["update"], dynamic=False)} if "update" in self.names else {}
            program = functools.partial(self.names["program"], forward=faster, **update)
        else:
            program = faster
        function = self.bound(program, self.values)
        for _ in range(2):
            function()
        return function

    def captured(self, function):
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                function()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = function()

        def replay():
            graph.replay()
            return results
        return replay

    @functools.cached_property
    def onnxruntime(self):
        torch = self.torch
        function = exported.function_of(torch, self.program, self.names["forward"], self.values, dtypes(torch))
        with torch.no_grad():
            error = error_of(torch, function(), self.names["forward"](*self.values))
        if rooflines.is_wrong(self.program, error):
            raise exported.Refused(f"it computes something else: {error}")
        return function

    def get(self, name):
        if name == "onnxruntime":
            return self.onnxruntime
        base = self.compiled if name.startswith("compile") else self.eager
        return self.captured(base) if name.endswith("-graphs") else base


# Elements that are compared at once: in f64 large results have no room beside the references.
PART = 1 << 26


def parts_of(value, reference):
    """The elements of both in f64, PART at a time."""
    for y, ref in zip(value.flatten().split(PART), reference.flatten().split(PART)):
        yield y.double(), ref.double()


def error_of(torch, values, references):
    """How far results are from the references: `all`: |y - ref| / |ref| of the worst result; `each`: the largest distance
    of an element, relative to itself and the root of the mean square together; `far`: the share of elements beyond the
    bound of its dtype; `differing`: the share of integers that are others. `broken`: another count or shape, or a number
    that should be finite and is not, or the other way around."""
    found = {"all": 0.0, "each": 0.0, "far": 0.0, "differing": 0.0, "broken": False}
    if len(values) != len(references):
        return {**found, "broken": True}
    for value, reference in zip(values, references):
        if value.shape != reference.shape:
            return {**found, "broken": True}
        if value.numel() == 0:
            continue
        if not reference.dtype.is_floating_point:
            found["differing"] = max(found["differing"], (value.to(reference.dtype) != reference).double().mean().item())
            continue
        distances = references_squared = 0.0
        for y, ref in parts_of(value, reference):
            finite = ref.isfinite()
            if not torch.equal(finite, y.isfinite()):
                return {**found, "broken": True}
            y, ref = torch.where(finite, y, 0), torch.where(finite, ref, 0)
            distances += (y - ref).square().sum().item()
            references_squared += ref.square().sum().item()
        if references_squared == 0:
            found["each"] = found["all"] = max(found["all"], float(distances > 0))
            continue
        mean, far = (references_squared / value.numel()) ** 0.5, 0
        for y, ref in parts_of(value, reference):
            finite = ref.isfinite()
            each = torch.where(finite, (y - ref).abs() / (ref.abs() + mean), 0)
            found["each"] = max(found["each"], each.max().item())
            far += (each > 0.15).sum().item()
        found["all"] = max(found["all"], (distances / references_squared) ** 0.5)
        found["far"] = max(found["far"], far / value.numel())
    return found


def set_environment(folder):
    """Before torch is imported."""
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", folder)


class Clock:
    """Seconds of one run of a function."""

    def __init__(self, torch, device):
        self.card = None if device == "cpu" else CardClock(torch)

    def __call__(self, function):
        if self.card:
            return self.card.timed(function)
        begin = time.perf_counter()
        function()
        return time.perf_counter() - begin


def copy_rate(torch, device):
    """Bytes a second, read and written, of a copy that no cache holds."""
    count = 1 << 28 if device != "cpu" else 1 << 26
    source = torch.ones(count, dtype=torch.float32, device=device)
    target, clock = torch.empty_like(source), Clock(torch, device)
    return 2 * source.numel() * 4 / sorted(clock(lambda: target.copy_(source)) for _ in range(9))[4]


def product_rate(torch):
    """Operations a second of the library's product of large matrices of f32 on a processor, at best."""
    a, b = torch.ones(1536, 1536), torch.ones(1536, 1536)
    clock = Clock(torch, "cpu")
    return 2 * 1536 ** 3 / min(clock(lambda: a @ b) for _ in range(8))
