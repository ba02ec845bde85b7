"""DLPack of a card both ways with PyTorch, and torch.compile(backend="zyx") of CUDA tensors, on a card.

Without a card, or without PyTorch, these tests are skipped. The machines of cards may have no pytest: there
`python test_torch_card.py [NAME...]` prints a line for each test, and ends with 0 where all are right. CARD_TORCH names another device for a
rehearsal.
"""
import gc
import os
import sys
import time
import traceback
import types

try:
    import pytest
    torch = pytest.importorskip("torch", reason="PyTorch is not installed, and torch.compile is its function")
except ImportError:
    import torch

import zyx  # noqa: E402
import zyx.torch  # noqa: E402

CARD = torch.device(os.environ.get("CARD_TORCH", "cuda:0"))
F = torch.nn.functional
if "pytest" in sys.modules:
    pytestmark = pytest.mark.skipif(CARD.type == "cuda" and not torch.cuda.is_available(), reason="PyTorch finds no card of CUDA's")
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def close(a, b, rtol=1e-4, atol=1e-4):
    torch.testing.assert_close(a, b, rtol=rtol, atol=atol)


def compiled(function, **named):
    torch._dynamo.reset()
    return torch.compile(function, backend="zyx", **named)


def test_torch_gives():
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int32, torch.int64, torch.uint8):
        t = torch.arange(24, device=CARD).reshape(4, 6).to(dtype)
        x = zyx.from_dlpack(t)
        assert x.device == "cuda" and x.shape == (4, 6), (x.device, x.shape)
        assert x.__dlpack__(max_version=(1, 0)) is not None
        assert torch.from_dlpack(x).data_ptr() == t.data_ptr(), dtype
        close(torch.from_dlpack(zyx.astype(x, zyx.float64)), t.double())


def test_zyx_gives():
    with zyx.device_scope("cuda"):
        x = zyx.asarray([1.0, 2.0, 3.0, 4.0])
    y = x * 2
    t = torch.from_dlpack(y)
    assert t.device == CARD and t.tolist() == [2.0, 4.0, 6.0, 8.0]
    close(t + 1, torch.tensor([3.0, 5, 7, 9], device=CARD))
    del x, y
    gc.collect()
    with zyx.device_scope("cuda"):
        for i in range(16):
            zyx.eval(zyx.full((4,), float(i)) * 3.0)
    assert t.tolist() == [2.0, 4.0, 6.0, 8.0]


def test_order_of_streams():
    """zyx reads what a long queue of PyTorch's makes, and PyTorch what zyx's makes, on three streams."""
    n = 4096
    a = torch.full((n, n), 1.0 / n, device=CARD)
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for trip in range(6):
                t = torch.ones(n, n, device=CARD)
                for _ in range(8):
                    t = t @ a
                t = t + trip
                y = zyx.from_dlpack(t) * 2 + 1
                u = torch.from_dlpack(y)
                del y
                v = u.sum() / u.numel()
                del u
                assert abs(v.item() - (2 * (1 + trip) + 1)) < 1e-2, (trip, v.item())


def test_strides_and_edges():
    t = torch.randn(6, 8, device=CARD)
    for refused in (t.T, t[:, ::2]):
        try:
            zyx.from_dlpack(refused)
        except BufferError:
            pass
        else:
            raise AssertionError("memory with strides was taken")
    bools = t > 0
    assert torch.equal(torch.from_dlpack(zyx.from_dlpack(bools)), bools)
    odd = t.flatten()[1:]
    close(torch.from_dlpack(zyx.from_dlpack(odd) + 0), odd)
    assert torch.from_dlpack(zyx.from_dlpack(torch.empty(0, 3, device=CARD))).shape == (0, 3)
    close(torch.from_dlpack(zyx.from_dlpack(t).to_device("cpu")), t.cpu())


def test_memory_goes_back():
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(50):
        t = torch.randn(1 << 22, device=CARD)
        u = torch.from_dlpack(zyx.from_dlpack(t) + 1)
        close(u[:4], t[:4] + 1)
        del t, u
    gc.collect()
    torch.cuda.synchronize()
    zyx.eval(zyx.zeros((1,), device="cuda") + 1)
    after = torch.cuda.memory_allocated()
    assert after - before <= 4 << 24, (before, after)


def both(function, *arguments, gradients=True, rtol=1e-4, atol=1e-4, **named):
    def run(f):
        torch.manual_seed(3)
        given = [x.detach().clone().requires_grad_(gradients and x.is_floating_point()) if isinstance(x, torch.Tensor) else x for x in arguments]
        result = f(*given)
        results = [x for x in (result if isinstance(result, (tuple, list)) else [result])]
        slopes = []
        if gradients:
            sources = [x for x in given if isinstance(x, torch.Tensor) and x.requires_grad]
            total = sum(x.float().square().mean() for x in results if x.requires_grad)
            slopes = torch.autograd.grad(total, sources, allow_unused=True)
        return [x.detach() for x in results], slopes

    expected, found = run(function), run(compiled(function, **named))
    for a, b in zip(expected[0], found[0]):
        assert a.device == b.device and a.stride() == b.stride(), (a.device, b.device, a.stride(), b.stride())
        close(b, a, rtol, atol)
    for a, b in zip(expected[1], found[1]):
        assert (a is None) == (b is None)
        if a is not None:
            close(b, a, rtol, atol)


def test_elements():
    x, y = torch.randn(64, 129, device=CARD), torch.randn(129, device=CARD)
    both(lambda x, y: (torch.sin(x) * y + x.exp().clamp(max=3)).mT, x, y)
    both(lambda x: (x > 0, x.argmax(1), x.sum(0), x[:, 3:7], x), x, gradients=False)
    both(lambda x: x.to(torch.bfloat16) @ x.to(torch.bfloat16).mT, x, gradients=False, rtol=3e-2, atol=1e-1)


def test_layouts():
    x = torch.randn(4, 8, 6, 6, device=CARD)
    both(lambda x: F.relu(x) + 1, x.to(memory_format=torch.channels_last))
    both(lambda x: x * 2, x.mT, gradients=False)
    both(lambda x: x * 2, x[:, ::2], gradients=False)
    both(lambda x: x + 1, torch.randn(3, 1, device=CARD).expand(3, 5), gradients=False)
    both(lambda x: x + 1, torch.randn(33, device=CARD)[1:], gradients=False)
    both(lambda x, m: torch.where(m, x, -x), x, x > 0, gradients=False)


def test_numbers_of_the_host():
    x = torch.randn(5, device=CARD)
    both(lambda x, s: x * s + 1, x, torch.tensor(2.5), gradients=False)
    both(lambda x: x + torch.tensor([1.0, 2, 3, 4, 5], device=x.device), x, gradients=False)
    both(lambda x: (x * 2, torch.arange(4), torch.ones(2, device=x.device)), x, gradients=False)
    both(lambda x: (x * 2).cpu(), x, gradients=False)


def test_attention():
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.bfloat16, 3e-2), (torch.float16, 5e-3)):
        q = torch.randn(2, 4, 33, 32, device=CARD, dtype=dtype)
        both(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), q, rtol=tolerance, atol=tolerance)
        both(lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m), q, torch.randn(2, 1, 33, 33, device=CARD, dtype=dtype) > -1, rtol=tolerance,
             atol=tolerance)
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q = torch.randn(2, 4, 64, 64, device=CARD, dtype=torch.bfloat16)
    for kind in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH):
        try:
            with sdpa_kernel(kind):
                F.scaled_dot_product_attention(q, q, q)
        except RuntimeError as error:
            print(f"   {kind} is not there: {str(error)[:100]}")
            continue
        with sdpa_kernel(kind):
            both(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), q, rtol=3e-2, atol=3e-2)


def test_training():
    def trained(function_of):
        torch.manual_seed(5)
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
                                    torch.nn.Linear(8 * 16, 10)).to(CARD)
        images, labels = torch.randn(32, 1, 8, 8).to(CARD), torch.randint(10, (32,)).to(CARD)
        function, optimizer, losses = function_of(model), torch.optim.AdamW(model.parameters(), lr=0.01), []
        for _ in range(25):
            loss = F.cross_entropy(function(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, [p.detach().clone() for p in model.parameters()]

    eager, own = trained(lambda model: model), trained(compiled)
    assert own[0][-1] < 0.6 * own[0][0], own[0]
    assert max(abs(a - b) for a, b in zip(eager[0], own[0])) < 5e-3, (eager[0][-1], own[0][-1])


def test_streams():
    """Calls between long work on streams of PyTorch's, whose memory is used again at once."""
    n = 2048
    a = torch.full((n, n), 1.0 / n, device=CARD)
    function = compiled(lambda t, b: t * 2 + b)
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            total = torch.zeros((), device=CARD)
            for trip in range(60):
                t = torch.ones(n, n, device=CARD)
                for _ in range(4):
                    t = t @ a
                y = function(t + trip, t)
                del t
                torch.full((n, n), -100.0, device=CARD)
                total = total + (y.mean() - (2 * (1 + trip) + 1)).abs()
                del y
                torch.full((n, n), -200.0, device=CARD)
            assert total.item() < 0.5, total.item()


def test_random_numbers():
    function = compiled(lambda x: F.dropout(x, 0.5))
    x = torch.ones(1000, device=CARD)
    torch.manual_seed(1)
    first, second = function(x), function(x)
    torch.manual_seed(1)
    assert torch.equal(function(x), first) and not torch.equal(first, second)
    assert 400 < (first == 0).sum().item() < 600


def test_capture_is_refused():
    function = compiled(lambda x: x * 2)
    x = torch.ones(8, device=CARD)
    function(x)
    torch.cuda.synchronize()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            function(x)
    except Exception as error:
        assert "CUDA graph" in str(error), error
    else:
        raise AssertionError("a CUDA graph recorded a program")
    close(function(x), x * 2)


def test_factorizations():
    x = torch.randn(5, 5, device=CARD)
    x = x @ x.mT + 5 * torch.eye(5, device=CARD)
    both(lambda x: torch.linalg.cholesky(x), x, gradients=False)
    both(lambda x: torch.linalg.solve(x, x + 1), x, gradients=False)


def test_threads():
    """Calls of threads that overtake each other, on streams of their own."""
    import threading
    function = compiled(lambda x, y: (x @ y).sin() + x)
    given = [torch.randn(64, 64, device=CARD) for _ in range(8)]
    expected = [(x @ x.mT).sin() + x for x in given]
    turned = [x.mT.contiguous() for x in given]
    close(function(given[0], turned[0]), expected[0], 1e-3, 1e-3)
    torch.cuda.synchronize()
    wrong = []

    def work(seed):
        with torch.cuda.stream(torch.cuda.Stream()):
            for i in range(seed, seed + 100):
                at = i % len(given)
                if not torch.allclose(function(given[at], turned[at]), expected[at], 1e-3, 1e-3):
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(3 * seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_memory_of_calls_is_bounded():
    """The host does not go on while calls of it hold more and more memory of the card."""
    function = compiled(lambda x: (x * 2, x + 1))
    x = torch.ones(1 << 28, device=CARD)
    function(x)
    torch.cuda.synchronize()
    least, all_of_it = torch.cuda.mem_get_info()
    for _ in range(50):
        a, b = function(x)
        del a, b
        least = min(least, torch.cuda.mem_get_info()[0])
    torch.cuda.synchronize()
    print(f"   least free: {least / 2**30:.1f} of {all_of_it / 2**30:.1f} GiB")
    assert least > all_of_it / 2


def main():
    import logging
    import warnings
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    asked = [function for name, function in globals().items()
             if name.startswith("test_") and isinstance(function, types.FunctionType) and (not sys.argv[1:] or name in sys.argv[1:])]
    good = 0
    for each in asked:
        began = time.perf_counter()
        try:
            each()
            text, good = "right", good + 1
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            line = next((frame.lineno for frame in reversed(frames) if frame.filename == __file__), 0)
            text = f"WRONG at line {line}: {type(error).__name__}: {' '.join(str(error).split())[:400]}"
        print(f"{each.__name__}: {text} ({time.perf_counter() - began:.1f} s)", flush=True)
    print(f"card: {good} of {len(asked)} checks right")
    return 0 if good == len(asked) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
