"""zyx as a backend of torch.compile(): training, layouts, aliases, random numbers, refusals, and the page of docs.

PyTorch is a large download, which check.sh does not make: without it these tests are skipped.
"""
import math
import pathlib
import re
import sys
import threading
import types

import cards
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed, and torch.compile is its function")

import zyx  # noqa: E402
import zyx.torch  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def compiled(function, **options):
    return torch.compile(function, backend="zyx", fullgraph=True, **options)


def close(a, b, tolerance=1e-5):
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


def test_docs(monkeypatch):
    """The blocks of docs/torch-compile.md are one program."""
    module = types.ModuleType("docs")
    monkeypatch.setitem(sys.modules, "docs", module)
    names = module.__dict__
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "torch-compile.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 3
    for block in found:
        exec(compile(block, "docs/torch-compile.md", "exec"), names)


def test_docs_of_python():
    """The page of the package ends with a compiled model."""
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL | re.MULTILINE)
    exec(compile(found[-1], "docs/python.md", "exec"), {})


def test_entry_point():
    assert "zyx" in torch._dynamo.list_backends(exclude_tags=())


def block():
    return torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, activation="gelu")


def test_training():
    """Losses and gradients of a transformer are those of eager mode, over steps."""
    models = [block(), block()]
    models[1].load_state_dict(models[0].state_dict())
    functions = [models[0], compiled(models[1])]
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
    for _ in range(3):
        x = torch.randn(2, 5, 16)
        for function, optimizer in zip(functions, optimizers):
            optimizer.zero_grad()
            function(x).square().mean().backward()
            optimizer.step()
    for a, b in zip(models[0].parameters(), models[1].parameters()):
        close(a, b, 1e-4)


@pytest.mark.parametrize("heads", [4, 2])
def test_attention(heads):
    """Causal, with a mask, and with heads that share keys; forward and backward."""
    slopes = []
    q, k, v = torch.randn(2, 4, 6, 8), torch.randn(2, heads, 6, 8), torch.randn(2, heads, 6, 8)
    mask = torch.rand(2, 1, 6, 6) > 0.3
    mask[..., 0] = True

    def function(q, k, v):
        attend = torch.nn.functional.scaled_dot_product_attention
        return attend(q, k, v, is_causal=True, enable_gqa=True) + attend(q, k, v, attn_mask=mask, enable_gqa=True)

    for each in (function, compiled(function)):
        own = [x.clone().requires_grad_() for x in (q, k, v)]
        result = each(*own)
        (result * torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape)).sum().backward()
        slopes.append([result.detach()] + [x.grad for x in own])
    for expected, got in zip(*slopes):
        close(got, expected, 1e-4)


def test_batch_norm_updates_its_moments():
    a, b = torch.nn.BatchNorm1d(4), torch.nn.BatchNorm1d(4)
    function = compiled(b)
    for _ in range(3):
        x = torch.randn(6, 4)
        close(a(x), function(x))
    close(a.running_mean, b.running_mean)
    close(a.running_var, b.running_var)
    assert b.num_batches_tracked == 3


@pytest.mark.parametrize("make", [
    lambda: torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last), lambda: torch.randn(4, 3, 2, 4).transpose(0, 2),
    lambda: torch.randn(2, 3, 4, 8)[..., ::2], lambda: torch.randn(2, 1, 4, 4).expand(2, 3, 4, 4),
    lambda: torch.randn(97)[1:].reshape(2, 3, 4, 4), lambda: torch.randn(2, 3, 4, 4)[:, :, 1:3],
    lambda: torch.randn(1, 3, 1, 4).as_strided((1, 3, 1, 4), (7, 4, 99, 1))])
def test_layouts(make):
    """Strides of arguments are followed, and those of results are eager mode's."""
    x = make()
    function = lambda x: (x * 2 + 1, torch.relu(x).sum(1))  # noqa: E731
    for a, b in zip(function(x), compiled(function)(x)):
        close(a, b)
        assert a.stride() == b.stride() or 1 in a.shape


def test_no_copies():
    """A result's memory is zyx's own, and an argument's is read where it is."""
    from zyx.torch._compile import Input
    from zyx.torch._places import Host
    x = torch.randn(4, 6)
    assert zyx._zyx._export(Input(x, Host()).array(x), False).__dlpack_device__() == (1, 0)
    for given in (x, x.t(), x[:1].expand(4, 6)):
        array = Input(given, Host()).array(given)
        assert torch.from_dlpack(zyx._zyx._export(array, False)).data_ptr() == x.data_ptr()


def test_results_share_no_memory():
    """What PyTorch writes into one result is seen in no other, nor in an argument, nor at the next call."""
    def function(x):
        return x * 1, x + 0, torch.zeros(3), x.clone(), x

    step = compiled(function)
    x = torch.arange(3.0)
    results = step(x)
    for result in results[:-1]:
        result += 10
    close(x, torch.arange(3.0))
    for got, expected in zip(results, (x + 10, x + 10, torch.full((3,), 10.0), x + 10, x)):
        close(got, expected)
    for got, expected in zip(step(x), (x, x, torch.zeros(3), x, x)):
        close(got, expected)


def test_arguments_that_change_between_calls():
    step = compiled(lambda x: x.sum())
    x = torch.ones(4)
    assert step(x) == 4
    x += 1
    assert step(x) == 8


def test_weights_that_change_between_calls():
    """Arrays of weights are kept: what is written into them, and other memory in their place, is seen."""
    model = torch.nn.Linear(3, 2)
    step = compiled(model)
    x = torch.randn(4, 3)
    with torch.no_grad():
        close(step(x), model(x))
        model.weight += 1
        close(step(x), model(x))
        model.weight.data = torch.randn(2, 3)
        close(step(x), model(x))
        model.bias = torch.nn.Parameter(torch.randn(2))
        close(step(x), model(x))


def test_mutation():
    def function(x, y):
        x.add_(y)
        x[:, 1] = 0
        return x * 2

    a, b, y = torch.ones(2, 3), torch.ones(2, 3), torch.randn(2, 3)
    close(function(a, y), compiled(function)(b, y))
    close(a, b)


def test_open_extents():
    step = torch.compile(lambda x: torch.softmax(x, -1).reshape(-1) * x.shape[0], backend="zyx", dynamic=True, fullgraph=True)
    for rows in (2, 3, 5, 3):
        x = torch.randn(rows, rows + 1)
        close(step(x), torch.softmax(x, -1).reshape(-1) * rows)


def test_random_numbers():
    """torch.manual_seed() says which numbers come; a dropped element has no gradient."""
    step = compiled(lambda x: torch.nn.functional.dropout(x, 0.25))
    x = torch.ones(10000, requires_grad=True)
    torch.manual_seed(3)
    first, second = step(x), step(x)
    torch.manual_seed(3)
    assert torch.equal(step(x), first) and not torch.equal(first, second)
    assert 0.23 < (first == 0).float().mean() < 0.27
    first.sum().backward()
    assert torch.equal(x.grad, first.detach())


def test_dtypes():
    """Promotion is PyTorch's: numbers, small floats, integers and bools."""
    def function(x, n, b):
        return x + n, n / 3, n // 2, b + n, x * 0.1, torch.sin(n), b & (n > 1), n.float().to(torch.uint8), x.mean()

    arguments = torch.randn(5).to(torch.bfloat16), torch.arange(-2, 3), torch.tensor([True, False, True, False, True])
    for a, b in zip(function(*arguments), compiled(function)(*arguments)):
        assert a.dtype == b.dtype
        close(a, b)


def test_refusals():
    """An op that is not covered is named once with its line, whether its name or its elements are strange."""
    def solved(x):
        return torch.linalg.eigvals(x) + torch.linalg.eigvals(x + 1)

    with pytest.raises(Exception) as caught:
        compiled(solved)(torch.randn(3, 3))
    text = str(caught.value)
    assert text.count("aten.linalg_eig.default") == 1 and "test_torch.py" in text and "is not one of zyx.torch" in text
    with pytest.raises(Exception, match="complex32, which zyx has not"):
        compiled(lambda x: x.to(torch.complex32).real)(torch.randn(3))
    with pytest.raises(Exception, match="has no option 'fast'"):
        compiled(lambda x: x + 1, options={"fast": True})(torch.randn(3))


def test_systems_of_equations():
    """Factorizations and what they solve; a singular matrix raises as in eager mode."""
    def function(a, b):
        return torch.linalg.solve(a, b), torch.linalg.inv(a), torch.linalg.slogdet(a), torch.linalg.cholesky(a @ a.mT)

    a, b = torch.randn(2, 5, 5) + 3 * torch.eye(5), torch.randn(2, 5, 3)
    step = compiled(function)
    for got, expected in zip(step(a, b), function(a, b)):
        close(got, expected, 1e-4)
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        step(torch.zeros(2, 5, 5), b)


@pytest.mark.parametrize("is_turned", [False, True])
def test_gradients_of_systems(is_turned):
    """PyTorch's derivatives use the factors, which are those of the transposed matrix where that lies in row-major order."""
    functions = [torch.linalg.solve, lambda a, b: torch.linalg.det(a) * b.sum(), lambda a, b: torch.linalg.slogdet(a)[1] + b.sum(),
                 lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), lambda a, b: torch.linalg.inv(a) @ b]
    a, b = torch.randn(4, 3, 3) + torch.eye(3), torch.randn(4, 3, 2)
    a = a.mT if is_turned else a
    for function in functions:
        slopes = []
        for each in (function, compiled(function)):
            x, y = a.detach().requires_grad_(), b.detach().requires_grad_()
            result = each(x, y)
            (result * torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape)).sum().backward()
            slopes += [x.grad, y.grad]
        close(slopes[2], slopes[0], 1e-3)
        close(slopes[3], slopes[1], 1e-3)


def test_running_logsumexp_of_large_numbers():
    """Its gradient cancels: it has the digits of eager mode only where the running sums have them."""
    slopes = []
    for function in (torch.logcumsumexp, compiled(torch.logcumsumexp)):
        x = (1e4 + torch.arange(40.0).reshape(8, 5) / 7).requires_grad_()
        (function(x, 0) * torch.linspace(0.5, 1.5, 40).reshape(8, 5)).sum().backward()
        slopes.append(x.grad)
    torch.testing.assert_close(slopes[1], slopes[0], rtol=1e-4, atol=1e-4)


def test_common_divisors():
    a = torch.tensor([0, 0, -12, 2**62, 7540113804746346429, -2**31])
    b = torch.tensor([0, 5, 18, 2**60, 4660046610375530309, 2**31])
    for dtype, count in ((torch.int64, 6), (torch.int32, 3), (torch.int8, 3)):
        x, y = a[:count].to(dtype), b[:count].to(dtype)
        torch._dynamo.reset()
        function = lambda x, y: (torch.gcd(x, y), torch.lcm(x[:3], y[:3]))  # noqa: E731
        for got, expected in zip(compiled(function)(x, y), function(x, y)):
            assert got.dtype == expected.dtype and torch.equal(got, expected)


def slopes_of(function, *arguments):
    """Results and gradients of eager mode, and those of the backend."""
    found = []
    for each in (function, compiled(function)):
        own = [x.clone().requires_grad_(x.is_floating_point()) for x in arguments]
        result = each(*own)
        (result * torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape)).sum().backward()
        found.append([result.detach(), *[x.grad for x in own if x.requires_grad]])
    return zip(*found)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("last", [False, True])
def test_bags_of_embeddings(mode, last):
    """An empty bag, an index that occurs twice, padding, weights of samples."""
    table, at = torch.randn(6, 4), torch.tensor([1, 5, 1, 0, 2, 2, 5])
    offsets = torch.tensor([0, 2, 2, 5, 7] if last else [0, 2, 2, 5])
    for padding in (None, 2):
        torch._dynamo.reset()
        for expected, got in slopes_of(lambda table: torch.nn.functional.embedding_bag(
                at, table, offsets, mode=mode, include_last_offset=last, padding_idx=padding), table):
            close(got, expected)
    if mode == "sum":
        torch._dynamo.reset()
        for expected, got in slopes_of(lambda table, weights: torch.nn.functional.embedding_bag(
                at, table, offsets, mode=mode, include_last_offset=last, per_sample_weights=weights), table, torch.randn(7)):
            close(got, expected)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_reductions_of_segments(reduce):
    """Equal elements, zeros, an empty segment, and rows that belong to none."""
    x = torch.tensor([[1.0, 2], [1, 0], [0, 3], [-2, 3], [5, 0], [7, 7]])
    for expected, got in slopes_of(lambda x: torch.segment_reduce(x, reduce, lengths=torch.tensor([2, 3, 1]), axis=0), x):
        close(got, expected)
    torch._dynamo.reset()
    y = torch.randn(2, 5)
    for expected, got in slopes_of(lambda y: torch.segment_reduce(
            y, reduce, offsets=torch.tensor([[0, 1, 5], [0, 3, 5]]), axis=1, initial=0.5), y):
        close(got, expected)


def test_drawn_positions():
    """Of weights that are 0 none is drawn, and without replacement none twice."""
    weights = torch.tensor([0.0, 1, 0, 3])
    often, pairs = compiled(lambda w: (torch.multinomial(w, 20000, True), torch.multinomial(w.expand(500, 4), 2)))(weights)
    counts = torch.bincount(often, minlength=4)
    assert counts[0] == counts[2] == 0 and 0.23 < counts[1] / 20000 < 0.27
    assert torch.equal(pairs.sort(1)[0], torch.tensor([[1, 3]]).expand(500, 2))


@pytest.mark.parametrize("dim", [2, 3])
def test_fractional_pools(dim):
    pool = getattr(torch.nn.functional, f"fractional_max_pool{dim}d")
    x, at = torch.randn(2, 3, *[9, 8, 7][:dim]), torch.rand(2, 3, dim)
    for expected, got in slopes_of(lambda x: pool(x, [3, 2, 2][:dim], output_size=[3, 4, 5][:dim], _random_samples=at), x):
        close(got, expected)


@pytest.mark.parametrize("norm_first", [False, True])
def test_fused_layers(norm_first):
    """Without gradients torch.nn calls one op for a layer of a transformer, with masks of two kinds."""
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, norm_first=norm_first).eval()
    x, later = torch.randn(3, 5, 16), torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
    padding = torch.zeros(3, 5, dtype=torch.bool)
    padding[1, 3:] = True
    with torch.no_grad():
        for masks in ({}, {"src_key_padding_mask": padding}, {"src_mask": later}, {"src_mask": later, "src_key_padding_mask": padding}):
            torch._dynamo.reset()
            close(compiled(layer)(x, **masks), layer(x, **masks))


def test_histograms():
    x, weight = torch.randn(50), torch.rand(50)
    function = lambda x, w: (*torch.histogram(x, 7), *torch.histogram(x, 5, range=(-1.0, 1.0), weight=w, density=True),  # noqa: E731
                             *torch.histogram(x, torch.tensor([-1.0, 0, 0.5, 2])), torch.hash_tensor(x), torch.hash_tensor(x.reshape(5, 10), 1))
    for expected, got in zip(function(x, weight), compiled(function)(x, weight)):
        close(got, expected)


def test_gamma_and_bessel_functions():
    x = torch.tensor([-7.3, -1.5, -0.2, 1e-3, 0.7, 1.0, 2.0, 5.5, 40.0, 70.0, 300.0], dtype=torch.float64)

    def function(x):
        return (torch.lgamma(x), torch.digamma(x), torch.polygamma(1, x), torch.polygamma(3, x), torch.special.i0e(x),
                torch.special.i1e(x), torch.special.bessel_j0(x), torch.special.bessel_j1(x))

    for got, expected in zip(compiled(function)(x), function(x)):
        # PyTorch's own have six digits at some places.
        torch.testing.assert_close(got, expected, rtol=1e-6, atol=1e-6)


def test_ops_left_to_eager_mode():
    def function(x):
        return torch.linalg.eigvals(torch.sin(x)) * 2, torch.cos(x)

    x = torch.randn(4, 4)
    for eager in (True, ["aten.linalg_eig"]):
        torch._dynamo.reset()
        for a, b in zip(function(x), compiled(function, options={"eager": eager})(x)):
            close(a, b)
    torch._dynamo.reset()
    with pytest.raises(Exception, match="linalg_eig"):
        compiled(function, options={"eager": ["aten.nonzero"]})(x)


def test_threads():
    """Calls of one compiled function from several threads, each with its own result."""
    import concurrent.futures
    step = compiled(lambda x: (x @ x).sum(0))
    arguments = [torch.full((8, 8), float(i)) for i in range(16)]
    step(arguments[0])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for i, found in enumerate(pool.map(step, arguments)):
            close(found, torch.full((8,), 64.0 * i * i))


def wide(function, *arguments, tolerance=1e-9):
    for got, expected in zip(compiled(function)(*arguments), function(*arguments)):
        assert got.dtype == expected.dtype
        torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def test_complex_digits():
    """Of small numbers, and of those on the side of the plane where sums would cancel."""
    z = torch.tensor([-1e4 + 0j, 1e4 - 1j, 1e-9 + 1e-9j, -100 + 0.5j, 0.3 - 0.2j, -0.9 + 0.1j, 3 + 4j, 0j, -1e-5j],
                     dtype=torch.complex64)
    for function in (torch.asinh, torch.asin, torch.acos, torch.atanh, torch.atan, torch.log1p, torch.acosh, torch.expm1):
        x = z[2:] if function is torch.expm1 else z
        torch.testing.assert_close(compiled(function)(x), function(x.to(torch.complex128)).to(torch.complex64),
                                   rtol=1e-6, atol=0)


def test_complex_scatter():
    x, at = torch.randn(2, 3, dtype=torch.complex64), torch.tensor([[0, 2]])
    for source in (3.0, 1 - 2j, x + 1):
        close(compiled(lambda x, at, source=source: torch.scatter(x, 1, at, source))(x, at), torch.scatter(x, 1, at, source))
    with pytest.raises(Exception, match="is not one of zyx.torch for complex elements"):
        compiled(lambda x, at: torch.scatter(x, 1, at, x, reduce="multiply"))(x, at)



def test_complex_numbers():
    """Arguments, results, constants and gradients; conjugates that PyTorch has not written into memory."""
    def function(z, w, x):
        y = z * 2j + w.conj() / (z + 1)
        return (y, y.abs(), torch.exp(1j * x) @ z, torch.view_as_real(y).sum(0), torch.sqrt(w)[:, None, 1:], torch.complex(x, -x),
                torch.cat([z, w.mT.conj()]), z**2 + torch.log(w), torch.where(x > 0, z, w), y.real.sum(), torch.tanh(w), (z == w))

    z, w, x = torch.randn(4, 4, dtype=torch.complex128), torch.randn(4, 4, dtype=torch.complex128), torch.randn(4, 4, dtype=torch.float64)
    wide(function, z, w, x)
    torch._dynamo.reset()
    wide(function, z.mT.conj(), w[:, [1, 0, 3, 2]], x.t())
    slopes = []
    torch._dynamo.reset()
    for each in (function, compiled(function)):
        own = [t.clone().requires_grad_() for t in (z, w, x)]
        sum((r.abs().square().sum() for r in each(*own)[:-1]), torch.zeros(())).backward()
        slopes.append([t.grad for t in own])
    for expected, got in zip(*slopes):
        torch.testing.assert_close(got, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("size", [1, 2, 15, 64, 96, 127, 1021, 1031, 1200])
def test_fourier_transforms(size):
    """Extents that are one product, that have factors, and large primes."""
    def function(x, z):
        return (torch.fft.fft(z), torch.fft.ifft(z, norm="ortho"), torch.fft.rfft(x), torch.fft.irfft(z, n=size), torch.fft.hfft(z, n=size),
                torch.fft.fft2(z, dim=(0, 1)), torch.fft.rfft2(x, dim=(1, 0), norm="forward"))

    wide(function, torch.randn(3, size, dtype=torch.float64), torch.randn(3, size, dtype=torch.complex128))


def test_short_fourier_transform_and_its_gradient():
    def function(x):
        return torch.stft(x, 16, 4, window=torch.hann_window(16, dtype=torch.float64), return_complex=True).abs().square().mean()

    slopes = []
    x = torch.randn(2, 64, dtype=torch.float64)
    for each in (function, compiled(function)):
        own = x.clone().requires_grad_()
        each(own).backward()
        slopes.append(own.grad)
    torch.testing.assert_close(slopes[1], slopes[0])


@pytest.mark.parametrize("given", [(), (False,), (True,)])
def test_windows(given):
    """PyTorch 2.11 leaves them in graphs; older ones make them of other ops. Small floats round once, and eager mode's in each step."""
    windows = torch.hann_window, torch.hamming_window, torch.blackman_window, torch.bartlett_window, torch.kaiser_window

    def function(x):
        more = [torch.kaiser_window(17, *given, 5.0), torch.hamming_window(17, *given, 0.6, 0.3)] if given else []
        return [x * each for each in (*more, *(window(length, *given, dtype=dtype) for dtype, lengths in (
            (None, (0, 1, 2, 3, 16, 17)), (torch.float64, (50,)), (torch.bfloat16, (50,))) for length in lengths for window in windows))]

    x = torch.ones(1, dtype=torch.bfloat16)
    for expected, got in zip(function(x), compiled(function)(x)):
        assert got.dtype == expected.dtype
        torch.testing.assert_close(got, expected, rtol=0, atol=0.02 if got.dtype is torch.bfloat16 else 1e-5)


@pytest.mark.parametrize("shape", [(5, 5), (7, 3), (2, 3, 6), (1, 4), (2, 8, 8)])
def test_singular_values_and_eigenvalues(shape):
    """What factors make is the matrix, vectors are orthogonal, and values are those of eager mode."""
    def function(a):
        u, s, v = torch.linalg.svd(a, full_matrices=True)
        low = torch.linalg.svd(a, full_matrices=False)
        values, vectors = torch.linalg.eigh(a.mT @ a)
        q, r = torch.linalg.qr(a, mode="complete")
        return ([s, low[1], values, torch.linalg.qr(a)[0], q, r, torch.linalg.pinv(a), torch.linalg.matrix_rank(a), *torch.geqrf(a)],
                [u.mT @ u, v.mT @ v, (low[0] * low[1].unsqueeze(-2)) @ low[2], (vectors * values.unsqueeze(-2)) @ vectors.mT, q @ r])

    a = torch.randn(*shape, dtype=torch.float64)
    (results, made), (expected, _) = compiled(function)(a), function(a)
    for got, own in zip(results, expected):
        torch.testing.assert_close(got, own, rtol=1e-9, atol=1e-9)
    eyes = [torch.eye(n, dtype=torch.float64).expand(*shape[:-2], n, n) for n in shape[-2:]]
    for got, own in zip(made, [*eyes, a, a.mT @ a, a]):
        torch.testing.assert_close(got, own, rtol=1e-9, atol=1e-9)


def test_matrices_without_full_rank():
    a = torch.tensor([[1.0, 2, 3], [2, 4, 6], [0, 0, 0], [1, 1, 1]], dtype=torch.float64)
    b = torch.tensor([[0.0, 1e190], [-1e200, 0]], dtype=torch.float64)
    for x in (a, a.mT, torch.zeros(3, 3, dtype=torch.float64), b, torch.diag(torch.tensor([1e-200, 1, 1e3], dtype=torch.float64))):
        torch._dynamo.reset()
        u, s, v = compiled(lambda x: torch.linalg.svd(x))(x)
        torch.testing.assert_close(s, torch.linalg.svdvals(x), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(u.mT @ u, torch.eye(len(u), dtype=torch.float64))
        torch.testing.assert_close((u[:, :len(s)] * s) @ v[:len(s)], x, rtol=1e-9, atol=1e-9)


def test_matrix_exponential():
    a = torch.randn(3, 5, 5, dtype=torch.float64) * torch.tensor([1e-3, 1, 30], dtype=torch.float64)[:, None, None]
    wide(lambda a: (torch.linalg.matrix_exp(a), torch.linalg.matrix_exp(a * 0)), a)


def test_bessel_functions_of_the_second_kind():
    x = torch.cat([torch.logspace(-9, 2.5, 200, dtype=torch.float64), torch.tensor([0.0, -1.0, 2.0, 12.0, 55.0], dtype=torch.float64)])
    special = torch.special
    wide(lambda x: (special.modified_bessel_k0(x), special.modified_bessel_k1(x), special.scaled_modified_bessel_k0(x),
                    special.scaled_modified_bessel_k1(x), special.log_ndtr(-x), special.erfcx(x - 3), special.ndtri(x)), x)
    # PyTorch's own have six digits at some places.
    wide(lambda x: (special.bessel_y0(x), special.bessel_y1(x), special.airy_ai(x)), x, tolerance=1e-6)


def test_erfc_has_digits_of_small_numbers():
    x = torch.tensor([-6.0, 0.3, 2.0, 5.0, 8.0])
    torch.testing.assert_close(compiled(torch.erfc)(x), torch.erfc(x), rtol=1e-5, atol=0.0)


def test_incomplete_gamma_functions():
    a, x = torch.meshgrid(torch.logspace(-2, 3, 15, dtype=torch.float64), torch.logspace(-2, 3, 15, dtype=torch.float64), indexing="ij")
    wide(lambda a, x: (torch.special.gammainc(a, x), torch.special.gammaincc(a, x)), a, x, tolerance=1e-7)
    wide(lambda x, q: (torch.special.zeta(x, q),), a[4:] + 1.01, x[4:])
    with pytest.raises(Exception, match="zeta of a number below -64"):
        compiled(torch.special.zeta)(torch.tensor([2.0]), torch.tensor([-99.5]))


@pytest.mark.parametrize("name", ["chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
                                  "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_w", "hermite_polynomial_h",
                                  "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"])
def test_polynomials(name):
    x, n = torch.meshgrid(torch.linspace(-1.5, 1.5, 13, dtype=torch.float64), torch.arange(-1.0, 12, dtype=torch.float64), indexing="ij")
    function = getattr(torch.special, name)
    wide(lambda x, n: (function(x, n), function(x, 3)), x, n, tolerance=1e-8)
    if name == "legendre_polynomial_p":
        with pytest.raises(Exception, match="a degree above 512"):
            compiled(function)(x, n + 600)


def test_calls_of_several_threads():
    """A call that another one overtakes has its own arguments."""
    step = compiled(lambda x, y: (x @ y).sin() + x)
    sizes = [torch.randn(24, 24) for _ in range(8)]
    expected = [(x @ x.T).sin() + x for x in sizes]
    transposed = [x.T.contiguous() for x in sizes]
    step(sizes[0], transposed[0])
    wrong = []

    def work(seed):
        for i in range(seed, seed + 200):
            at = i % len(sizes)
            if not torch.allclose(step(sizes[at], transposed[at]), expected[at], atol=1e-4):
                wrong.append((seed, i))

    threads = [threading.Thread(target=work, args=(3 * seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads) and not wrong


def test_elements_that_are_not_aligned():
    """They are copied, at each call."""
    step = compiled(lambda x, y: x * 2 + y)
    memory, y = torch.zeros(41, dtype=torch.uint8), torch.randn(10)
    for begin in (0, 1):
        x = memory[begin:begin + 40].view(torch.float32) if begin == 0 else torch.frombuffer(memory.numpy().data, dtype=torch.float32, offset=1)
        for value in (1.0, -3.0):
            x.fill_(value)
            close(step(x, y), x * 2 + y)


def test_arguments_are_let_go():
    """A call keeps no tensor that is not a weight."""
    step = compiled(lambda x: x + 1)
    for _ in range(2):
        x = torch.randn(1000)
        before = sys.getrefcount(x)
        step(x)
        assert sys.getrefcount(x) == before


# PyTorch has no card here: its graphs have tensors of one, whose elements lie on the host and are copied to the simulated card.
CARD = """
import contextlib
import torch
import zyx.torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from zyx import _zyx
from zyx.torch import _compile, _places

class Simulated(_places.Card):
    def __init__(self):
        self.name, self.index = "cuda:0", 0
    @contextlib.contextmanager
    def call(self):
        with _zyx.device_scope("cuda:0"):
            yield
    def has(self, tensor):
        return False
    def own(self, tensor):
        return tensor
    def take(self, tensor, element, extents):
        if tensor.dtype == torch.bool:
            tensor = tensor.view(torch.uint8)
        array = _zyx._from_buffer(tensor.detach().contiguous().numpy(), None, False)
        assert array.device == "cuda" and array.dtype == element
        return _zyx._reshape(array, list(extents))
    def run(self, function, given, tensors, addresses, more):
        made = [self.take(tensor, *kind) for tensor, kind in zip(tensors, given.types())]
        return function([*given.filled(made), *more])
    def begin(self):
        pass
    def give(self, array):
        assert array.device == "cuda"
        return torch.from_dlpack(_zyx._export(_zyx._to_device(array, "cpu"), False))
    def put(self, tensor, device):
        assert device.type == "cuda"
        return tensor
    def end(self):
        pass

_compile.place_of = lambda device: Simulated() if device == torch.device("cuda", 0) else _places.Host()

def on_card(function, *tensors):
    with FakeTensorMode():
        given = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="cuda:0") for x in tensors]
        graph = make_fx(function, decomposition_table=zyx.torch.decompositions())(*given)
    return _compile.compiled(graph, given, lambda name: False)(*tensors)
"""


@cards.needs_card
def test_a_graph_of_a_card():
    cards.run(CARD + """
x, m = torch.randn(5, 7), torch.randn(5, 7) > 0
torch.testing.assert_close(on_card(lambda x, m: torch.where(m, x.sin(), x).sum(1), x, m), torch.where(m, x.sin(), x).sum(1))
made = on_card(lambda x: (x * 2 + torch.arange(7, device=x.device)).mT, x)
torch.testing.assert_close(made, (x * 2 + torch.arange(7)).mT)
assert made.stride() == (1, 7)
try:
    on_card(lambda x: torch.linalg.eigvals(x), torch.randn(3, 3))
except zyx.torch.Refused as error:
    assert "aten.linalg_eig.default" in str(error)
else:
    raise AssertionError("an op that zyx has not")
""")


# The card's own way, over its memory: tensors of the host lie there, as the simulator's memory is the host's.
MEMORY = """
import ctypes
import gc
import os
import weakref

# Streams of PyTorch's, as it were. The simulator does what is on one when somebody waits for it.
driver = ctypes.CDLL(os.environ["ZYX_CUDA_DRIVER"])
with _zyx.device_scope("cuda:0"):
    assert _zyx._current_stream()[:2] == (2, 0)
context = ctypes.c_void_p()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and driver.cuCtxPushCurrent_v2(context) == 0
STREAMS = [ctypes.c_void_p() for _ in range(2)]
for stream in STREAMS:
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
STREAMS = [stream.value for stream in STREAMS]

def wait():
    assert driver.cuStreamSynchronize(ctypes.c_void_p(CURRENT[0])) == 0

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.restype, set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]

class Managed(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("number", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]

USED = ctypes.create_string_buffer(b"used_dltensor")
LIVE = []

def tensor_of(capsule):
    address = pointer_of(capsule, b"dltensor")
    managed = Managed.from_address(address)
    assert (managed.kind, managed.number) == (2, 0)
    set_name(capsule, ctypes.cast(USED, ctypes.c_char_p))
    shape = [managed.shape[i] for i in range(managed.ndim)]
    dtype = {(2, 32): torch.float32, (0, 64): torch.int64, (6, 8): torch.bool, (1, 8): torch.uint8}[managed.code, managed.bits]
    size = torch.Size(shape).numel()
    memory = (ctypes.c_char * (size * managed.bits // 8)).from_address(managed.data)
    LIVE.append(address)
    def let_go():
        LIVE.remove(address)
        managed.deleter(address)
    weakref.finalize(memory, let_go)
    return torch.frombuffer(memory, dtype=dtype).reshape(shape)

def on_cards_memory(x):
    with _zyx.device_scope("cuda:0"):
        array = _zyx._from_buffer(x.numpy(), None, False)
    made = tensor_of(_zyx._lend(array, CURRENT[0]))
    wait()
    return made

_places._from_capsule = tensor_of
_places.Card.has = lambda self, tensor: True
_places.Card.own = lambda self, tensor: on_cards_memory(tensor.contiguous())
CURRENT = [STREAMS[0]]
CAPTURES = [False]
torch.cuda.current_device = lambda: 0
torch.cuda.is_current_stream_capturing = lambda: CAPTURES[0]
torch.cuda.current_stream = lambda index=None: type("", (), {"stream_id": 0, "cuda_stream": CURRENT[0]})
torch._C._cuda_getCurrentRawStream = lambda index: CURRENT[0]
CARDS = _places.Card(0)
_compile.place_of = lambda device: CARDS
"""


@cards.needs_card
def test_memory_of_a_card_goes_both_ways():
    cards.run(CARD + MEMORY + """
def made(function, *tensors):
    with FakeTensorMode():
        given = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="cuda:0") for x in tensors]
        graph = make_fx(function, decomposition_table=zyx.torch.decompositions())(*given)
    return _compile.compiled(graph, given, lambda name: False)

tensors = [on_cards_memory(torch.randn(5, 8)) for _ in range(3)]
function = lambda x, y, z: ((x * y + z).sin(), x.sum(1), x > y, x)
step = made(function, *tensors)
kept = []
for trip in range(20):
    results = step(*tensors)
    assert results[3] is tensors[0]
    if trip % 3 != 0:
        wait()
        for a, b in zip(results, function(*tensors)):
            torch.testing.assert_close(a, b)
        kept.append((results[0], results[0].clone()))
    tensors = [results[0], *tensors[:2]]
for a, b in kept:
    assert torch.equal(a, b)
# Elements that are not aligned, another stream, and results that outlive it.
odd = on_cards_memory(torch.randn(41))[1:].reshape(5, 8)
CURRENT[0] = STREAMS[1]
results = step(odd, *tensors[1:])
wait()
torch.testing.assert_close(results[0], (odd * tensors[1] + tensors[2]).sin())
CURRENT[0] = STREAMS[0]
CAPTURES[0] = True
try:
    step(*tensors)
except zyx.torch.Refused as error:
    assert "CUDA graph" in str(error)
else:
    raise AssertionError("a graph recorded it")
CAPTURES[0] = False
results = step(*tensors)
wait()
torch.testing.assert_close(results[0], (tensors[0] * tensors[1] + tensors[2]).sin())
a = b = kept = tensors = results = odd = None
gc.collect()
# What the last calls were given has been let go, and so has what they made.
zyx.sync()
gc.collect()
assert len(LIVE) == 0, len(LIVE)
""")


@cards.needs_card
def test_attention_of_a_card():
    cards.run(CARD + """
aten = torch.ops.aten
torch.manual_seed(0)
q, k, v, g = (torch.randn(2, 3, 5, 8) for _ in range(4))
mask = torch.randn(2, 3, 5, 5)

def expected(mask, causal):
    given = [x.clone().requires_grad_() for x in (q, k, v)]
    y = torch.nn.functional.scaled_dot_product_attention(*given, attn_mask=mask, is_causal=causal)
    return y.detach(), torch.autograd.grad(y, given, g)

def logs(mask, causal):
    scores = q @ k.mT / 8 ** 0.5 + (0 if mask is None else mask)
    return (scores + torch.full((5, 5), -torch.inf).triu(1) if causal else scores).logsumexp(-1)

for mask, causal in ((None, False), (None, True), (mask, False)):
    y, slopes = expected(mask, causal)
    more = [] if mask is None else [mask]
    def one(*rest):
        return rest[0] if rest else None
    def efficient(q, k, v, *rest):
        return aten._scaled_dot_product_efficient_attention(q, k, v, one(*rest), True, 0.0, causal)[:2]
    own, kept = on_card(efficient, q, k, v, *more)
    torch.testing.assert_close(own, y)
    torch.testing.assert_close(kept[:, :, :5], logs(mask, causal))
    def backward(g, q, k, v, y, logs, *rest):
        seed = torch.zeros((), dtype=torch.int64, device=q.device)
        return aten._scaled_dot_product_efficient_attention_backward(g, q, k, v, one(*rest), y, logs, seed, seed, 0.0,
                                                                     [True, True, True, False], causal)[:3]
    for a, b in zip(on_card(backward, g, q, k, v, own, kept, *more), slopes):
        torch.testing.assert_close(a, b)
    if mask is None:
        own, kept = on_card(lambda q, k, v: aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)[:2], q, k, v)
        torch.testing.assert_close(own, y)
        torch.testing.assert_close(kept, logs(mask, causal))
        def backward(g, q, k, v, y, logs):
            seed = torch.zeros((), dtype=torch.int64, device=q.device)
            return aten._scaled_dot_product_flash_attention_backward(g, q, k, v, y, logs, None, None, 5, 5, 0.0, causal, seed, seed)
        for a, b in zip(on_card(backward, g, q, k, v, own, kept), slopes):
            torch.testing.assert_close(a, b)
""")


def test_rows_that_see_nothing():
    """Their results and gradients are 0, as eager mode's are, and no other gradient has NaN."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 4, 8, requires_grad=True) for _ in range(3))
    sees = torch.ones(4, 4, dtype=torch.bool)
    sees[1] = False
    for mask in (sees, torch.where(sees, 0.0, -torch.inf), sees.expand(1, 1, 4, 4)):
        def attend(q, k, v):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y, own = attend(q, k, v), torch.compile(attend, backend="zyx")(q, k, v)
        torch.testing.assert_close(own, y)
        weights = torch.randn_like(y)
        for a, b in zip(torch.autograd.grad(own, (q, k, v), weights), torch.autograd.grad(y, (q, k, v), weights)):
            torch.testing.assert_close(a, b)


def test_streams_that_a_card_refuses(monkeypatch):
    """What records a graph, and what may be destroyed before a result is."""
    from zyx.torch import _places

    card = object.__new__(_places.Card)
    card.name, card.index, card.streams = "cuda:0", 0, set()
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    for records, number, handle, why in ((True, 0, 0, "records a CUDA graph"), (False, 4096, 4096, "ExternalStream")):
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: records)
        monkeypatch.setattr(torch.cuda, "current_stream",
                            lambda index=None: types.SimpleNamespace(stream_id=number, cuda_stream=handle))
        monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda index: handle, raising=False)
        with pytest.raises(_places.Refused, match=why), card.call():
            pass
    with pytest.raises(_places.Refused, match="on 'meta'"):
        _places.place_of(torch.device("meta"))


def test_gradients_of_samples_between_elements():
    """Cubic samples, and coordinates that are mirrored or held at an end, have eager mode's gradients."""
    torch.manual_seed(0)
    x = torch.randn(1, 2, 4, 5)
    grid = torch.rand(1, 3, 4, 2) * 4 - 2
    weights = torch.linspace(0.5, 1.5, 24).reshape(1, 2, 3, 4)
    for mode, padding, corners in (("bicubic", "border", False), ("bicubic", "reflection", True), ("bilinear", "reflection", False),
                                   ("bilinear", "border", True), ("nearest", "reflection", False)):
        def sampled(x, grid):
            return torch.nn.functional.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=corners)

        def slopes(function):
            given = [each.clone().requires_grad_() for each in (x, grid)]
            return torch.autograd.grad((function(*given) * weights).sum(), given)

        torch._dynamo.reset()
        for own, its in zip(slopes(sampled), slopes(torch.compile(sampled, backend="zyx"))):
            torch.testing.assert_close(its, own, rtol=1e-4, atol=1e-4)


def test_assertions_raise_at_the_call():
    def doubled(x):
        torch.ops.aten._assert_async.msg((x >= 0).all(), "an index below 0")
        return x * 2

    function = torch.compile(doubled, backend="zyx")
    assert function(torch.tensor([1, 2])).tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="an index below 0"):
        function(torch.tensor([1, -2]))
    assert function(torch.tensor([3, 4])).tolist() == [6, 8]


def test_integers_in_steps_of_floats():
    for dtype in (torch.int64, torch.int32, torch.float32):
        def steps(x):
            return x + torch.arange(-0.9, 2.1, 2.0, dtype=dtype)

        close(steps(torch.zeros(1)), compiled(steps)(torch.zeros(1)))


def test_weights_that_change():
    """Arrays of weights are kept between calls, while the weights are the same memory in the same order."""
    model = torch.nn.Linear(4, 4)
    function, x = compiled(model), torch.randn(3, 4)
    square = torch.randn(4, 4)

    def transpose():
        # The same memory.
        model.weight.data = model.weight.data.t()

    def replace():
        model.weight = torch.nn.Parameter(square)

    for change in (lambda: None, lambda: model.weight.mul_(2), transpose, lambda: model.weight.t_(),
                   lambda: setattr(model.weight, "data", square + 1), replace, lambda: None):
        with torch.no_grad():
            change()
            close(model(x), function(x))
            close(model(x), function(x))


@pytest.mark.skipif(not hasattr(torch.ops.aten, "cholesky"), reason="this PyTorch has the newer name alone")
def test_cholesky_by_its_older_name():
    x = torch.randn(3, 3)
    x = x @ x.mT + 3 * torch.eye(3)
    for upper in (False, True):
        close(torch.cholesky(x, upper=upper), compiled(lambda x: torch.cholesky(x, upper=upper))(x))


EIGHT_BITS = [getattr(torch, name) for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu") if hasattr(torch, name)]


def same_floats(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape and found.stride() == expected.stride()
    a, b = found.double(), expected.double()
    assert torch.all(((a == b) & (torch.signbit(a) == torch.signbit(b))) | (a.isnan() & b.isnan()))


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
def test_floats_of_8_bits(dtype):
    """They are cast as in eager mode, and moved; what computes with them is refused by its name."""
    random = np.random.default_rng(0)
    bits = torch.from_numpy(random.integers(0, 2**32, 5000, dtype=np.uint64).astype(np.uint32).view(np.float32))
    x = torch.cat([bits, torch.from_numpy((random.normal(size=5000) * 10.0 ** random.uniform(-6, 5, 5000)).astype(np.float32)), torch.tensor(
        [0, -0.0, math.nan, math.inf, -math.inf, 448, 449, 463, 464, 465, 480, 240, 248, 256, 57344, 61440, 61441, 65536])])
    to = torch.compile(lambda v: v.to(dtype), backend="zyx", dynamic=False)
    for each in (x, x.double(), x.bfloat16(), torch.arange(-500, 500), torch.tensor([True, False])):
        same_floats(to(each), each.to(dtype))
    every = torch.arange(256, dtype=torch.uint8).view(dtype)
    for other in (torch.float32, torch.bfloat16, torch.float64, torch.bool, torch.float8_e5m2):
        torch._dynamo.reset()
        same_floats(torch.compile(lambda v: v.to(other), backend="zyx")(every), every.to(other))

    def moved(v, w):
        return (v.t(), v[2:5, 1:], torch.cat([v, w]), (w.float() * 2).to(v.dtype), v.view(torch.uint8), v.permute(1, 0).contiguous(),
                v.unsqueeze(0).expand(2, 16, 16), v[:, 3])

    every = every.reshape(16, 16)
    for a, b in zip(torch.compile(moved, backend="zyx")(every, every.clone()), moved(every, every.clone())):
        same_floats(a, b)
    weight, rows = torch.from_numpy(random.normal(size=(5, 16)).astype(np.float32)).to(dtype), x[5000:5048].reshape(3, 16)
    linear = torch.compile(lambda x, w: x @ (w.float() * 0.5).t(), backend="zyx")
    torch.testing.assert_close(linear(rows, weight), rows @ (weight.float() * 0.5).t(), rtol=1e-4, atol=1e-3)
    with pytest.raises(Exception, match=r"aten\.relu\.default .*has elements of torch\.float8"):
        torch.compile(lambda v: torch.relu(v.to(dtype)), backend="zyx")(x)


def test_quantised_products():
    """Of integers of 8 bits, exactly, and of floats of 8 bits with scales."""
    random = np.random.default_rng(0)
    a, b = (torch.from_numpy(random.integers(-128, 128, shape).astype(np.int8)) for shape in ((32, 48), (48, 16)))
    assert torch.equal(torch.compile(torch._int_mm, backend="zyx")(a, b), torch._int_mm(a, b))
    for first, second in ((torch.float8_e4m3fn, torch.float8_e4m3fn), (torch.float8_e5m2, torch.float8_e4m3fn)):
        x, w = torch.randn(32, 48).to(first), torch.randn(16, 48).to(second).t()
        for scales in ((torch.tensor(0.5), torch.tensor(3.0)), (torch.rand(32, 1), torch.rand(1, 16))):
            for bias in (None, torch.randn(16).bfloat16()):
                def f(x, w, a, b):
                    return torch._scaled_mm(x, w, a, b, bias=bias, out_dtype=torch.bfloat16)

                torch._dynamo.reset()
                expected = (x.float() @ w.float()) * scales[0] * scales[1] + (0 if bias is None else bias.float())
                torch.testing.assert_close(torch.compile(f, backend="zyx")(x, w, *scales).float(), expected, rtol=1e-2, atol=1e-2)


@pytest.mark.skipif(not hasattr(torch, "_grouped_mm"), reason="this PyTorch has no products of groups")
@pytest.mark.parametrize("rows, ends", [(3, [1, 1, 3, 3]), (24, [0, 4, 9, 24]), (24, [8, 8, 8, 16])])
def test_products_of_groups(rows, ends):
    """Of rows, which data cuts into groups with a matrix each. Other matrices are not looked at, and rows behind all groups are zeros."""
    torch._dynamo.reset()
    offsets, made = torch.tensor(ends, dtype=torch.int32), ends[-1]
    x, w = torch.randn(rows, 8), torch.randn(4, 8, 16)
    w[1, 0, 0] = math.inf

    def expected(x, w):
        parts = [x[begin:end] @ w[group] for group, (begin, end) in enumerate(zip([0, *ends], ends))]
        return torch.cat([*parts, torch.zeros(rows - made, 16)])

    f = torch.compile(lambda x, w: torch._grouped_mm(x, w, offs=offsets), backend="zyx")
    close(expected(x, w), f(x, w))
    w[1, 0, 0] = 0.5
    pairs = []
    for function in (expected, f):
        own = [each.clone().requires_grad_() for each in (x, w)]
        function(*own).sin().sum().backward()
        pairs.append([each.grad for each in own])
    for a, b in zip(*pairs):
        close(a, b)
    if rows % 4 == 0:
        columns = torch.randn(4, 16, 8)
        transposed = torch.compile(lambda w, x: torch._grouped_mm(w, x.t(), offs=offsets), backend="zyx")(columns, x)
        close(expected(x, columns.mT).t(), transposed)


def test_products_of_groups_of_transformers():
    """Its own ops, which it has where PyTorch's are not compiled."""
    moe = pytest.importorskip("transformers.integrations.moe", reason="transformers is not installed")
    if not hasattr(torch.ops.transformers, "grouped_mm_fallback"):
        pytest.skip("this version of transformers has no such ops")
    del moe
    offsets = torch.tensor([2, 2, 7])
    f = lambda x, w: torch.ops.transformers.grouped_mm_fallback(x, w, offsets).sin()  # noqa: E731
    pairs = []
    for function in (f, torch.compile(f, backend="zyx")):
        torch.manual_seed(3)
        own = [torch.randn(9, 4, requires_grad=True), torch.randn(3, 4, 5, requires_grad=True)]
        made = function(*own)
        made.sum().backward()
        pairs.append([made, *(each.grad for each in own)])
    for a, b in zip(*pairs):
        close(a, b)


def test_views_by_strides():
    """Of arrays whose axes lie in another order; memory outside of an array is refused, and nothing is made up for it."""
    x = torch.randn(4, 6, 5)
    for function in (lambda x: x.as_strided((3, 4), (2, 1), 7), lambda x: x.transpose(0, 2).as_strided((3, 4), (2, 3)),
                     lambda x: (x + 1).permute(2, 0, 1).as_strided((5, 4, 6), (1, 30, 5)).sin(), lambda x: x[1:].as_strided((10,), (1,))):
        torch._dynamo.reset()
        slopes = []
        for each in (function, torch.compile(function, backend="zyx")):
            own = x.clone().requires_grad_()
            made = each(own)
            slopes.append((made.detach(), torch.autograd.grad(made.square().sum(), own)[0]))
        close(slopes[0][0], slopes[1][0])
        close(slopes[0][1], slopes[1][1])
    written = lambda x: torch.as_strided_scatter((x + 1).permute(2, 0, 1), torch.ones(3, 2), (3, 2), (7, 1), 3)  # noqa: E731
    close(written(x), torch.compile(written, backend="zyx")(x))
    for function in (lambda x: x[:2].as_strided((100,), (1,)), lambda x: x[1:].as_strided((10,), (1,), 2)):
        with pytest.raises(Exception, match="reads memory in front of an array, or behind it"):
            torch.compile(function, backend="zyx")(x)
    with pytest.raises(Exception, match="reads memory by strides of an array that is not dense"):
        torch.compile(lambda x: x[:, ::2].as_strided((2,), (1,)), backend="zyx")(x)


@pytest.mark.parametrize("dim", [0, 2])
def test_gradients_of_weight_norms(dim):
    v, g = torch.randn(3, 4, 5), torch.rand((3, 1, 1) if dim == 0 else (1, 1, 5))
    f, pairs = lambda v, g: torch._weight_norm(v, g, dim).sin(), []  # noqa: E731
    for function in (f, torch.compile(f, backend="zyx")):
        own = [each.clone().requires_grad_() for each in (v, g)]
        function(*own).sum().backward()
        pairs.append([each.grad for each in own])
    for a, b in zip(*pairs):
        close(a, b)


def test_bounds_of_bools_and_repeats_of_a_known_size():
    a, b = torch.tensor([True, False, True, False]), torch.tensor([True, True, False, False])
    bounds = lambda a, b: (torch.clamp_min(a, b), torch.clamp_max(a, b))  # noqa: E731
    for own, expected in zip(torch.compile(bounds, backend="zyx")(a, b), bounds(a, b)):
        assert torch.equal(own, expected)
    x, times = torch.randn(3, 4), torch.tensor([2, 0, 3, 1])
    repeats = lambda x: torch.repeat_interleave(x, times, 1, output_size=6)  # noqa: E731
    assert torch.equal(torch.compile(repeats, backend="zyx")(x), repeats(x))


def test_branches():
    """cond, in programs forwards and backwards, and what is chosen alone is computed."""
    w, x = torch.randn(3, 3), torch.randn(3, 3)

    def f(x, c):
        return torch.cond(c > 0, lambda x: (x @ w).sin(), lambda x: x.cos() @ w + 1, (x,))

    compiled = torch.compile(f, backend="zyx", fullgraph=True)
    for c in (torch.tensor(1.0), torch.tensor(-1.0)):
        torch.testing.assert_close(compiled(x, c), f(x, c))
        ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
        (compiled(ours, c) * x).sum().backward()
        (f(theirs, c) * x).sum().backward()
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_loops_that_a_condition_ends():
    from torch._higher_order_ops.while_loop import while_loop

    def f(x, limit):
        return while_loop(lambda n, x: x.abs().sum() < limit, lambda n, x: (n + 1, x * 2 + 0.25), (torch.tensor(0), x))

    compiled = torch.compile(f, backend="zyx", fullgraph=True)
    x = torch.tensor([0.5, -1.0])
    for limit in (torch.tensor(100.0), torch.tensor(0.0)):
        n, y = 0, x
        while y.abs().sum() < limit:
            n, y = n + 1, y * 2 + 0.25
        found = compiled(x, limit)
        assert found[0].item() == n
        torch.testing.assert_close(found[1], y)


def test_scans():
    from torch._higher_order_ops.scan import scan
    xs, h = torch.randn(7, 3), torch.randn(3)

    def f(h, xs):
        return scan(lambda h, x: ((h * x).tanh(), h + x), h, xs)

    last, rows = torch.compile(f, backend="zyx", fullgraph=True)(h, xs)
    expected = []
    for x in xs:
        expected.append(h + x)
        h = (h * x).tanh()
    torch.testing.assert_close(last, h)
    torch.testing.assert_close(rows, torch.stack(expected))


def test_refusals_in_branches():
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: torch.linalg.eigvals(x).real.clone(), lambda x: x[0].clone(), (x,))

    with pytest.raises(Exception, match="has a branch with aten.linalg_eig"):
        torch.compile(f, backend="zyx", fullgraph=True)(torch.eye(3))
