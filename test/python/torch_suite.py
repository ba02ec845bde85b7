"""PyTorch's own samples of its ops (op_db) through the backend of torch.compile.

A sample is a graph of one call, which the backend is given as torch.compile gives it one. What is random, or memory that
nobody wrote, has no right answer, and is counted apart.
"""
import random

import torch
from torch.utils import _pytree as pytree

import zyx.torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "i64": torch.int64}

# Memory that nobody wrote, and draws with a seed of their own, whose numbers are PyTorch's alone. What else is drawn at
# random differs from call to call.
UNDEFINED = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_",
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "uniform", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d", "nn.functional.rrelu",
}
# Of equal elements any may be chosen: positions are right where the elements at them are.
CHOOSING = {"argsort", "topk", "kthvalue", "sort", "median", "nanmedian", "mode", "cummax", "cummin", "max", "min"}
# Vectors of these have any sign: what PyTorch's own tests look at is the same for both.
GAUGES = {"linalg.svd", "svd", "linalg.eigh", "linalg.eig", "svd_lowrank", "pca_lowrank"}
# Of random projections, whose numbers are PyTorch's alone: how many times as far apart they may be.
LOOSE = {"svd_lowrank": 30, "pca_lowrank": 30}


class Call(torch.nn.Module):
    """One op with what is no tensor of its arguments in it."""

    def __init__(self, function, leaves, spec, places, shown):
        super().__init__()
        # What PyTorch's own tests look at of results of which several are right, as signs of eigenvectors.
        self.shown = shown
        self.call = (function, leaves, spec, places)

    def forward(self, *tensors):
        function, leaves, spec, places = self.call
        leaves = list(leaves)
        for place, tensor in zip(places, tensors):
            leaves[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, spec)
        found = function(first, *args, **kwargs)
        if self.shown is not None:
            found = self.shown(found)
        return tuple(each for each in pytree.tree_leaves(found) if isinstance(each, torch.Tensor))


def samples(info, dtype, gradients, count):
    """The first samples, and some of the others: those that hurt stand anywhere."""
    torch.manual_seed(0)
    found = list(info.sample_inputs("cpu", dtype, requires_grad=gradients))
    rest = found[count:]
    return found[:count] + random.Random(0).sample(rest, min(len(rest), count // 2))


def drops(sample):
    """Whether a sample has a probability of dropout, as attention has it."""
    return bool(sample.kwargs.get("dropout_p")) or (
        bool(sample.kwargs.get("training")) and any(isinstance(each, float) and each > 0 for each in sample.args))


def same(a, b):
    return a is b or (a is not None and b is not None and torch.equal(a.detach().nan_to_num(), b.detach().nan_to_num()))


def close(a, b, dtype, size=1.0):
    """Why results do not agree as rounding allows, or None. bf16 is rounded between steps by one and not by the other. `size`
    is that of terms which may cancel."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{tuple(b.shape)} of {b.dtype} instead of {tuple(a.shape)} of {a.dtype}"
    if a.layout is not torch.strided:
        return None if torch.equal(a, b) else "differs"
    if a.dtype.is_complex:
        a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
    if not a.dtype.is_floating_point:
        return None if torch.equal(a, b) else f"{(a != b).sum().item()} of {a.numel()} elements differ"
    relative, absolute = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (5e-3, 5e-3), torch.float64: (1e-7, 1e-7)}.get(
        a.dtype, (2e-4, 2e-5))
    if dtype is torch.bfloat16 and a.dtype is torch.float32:
        relative, absolute = 1e-2, 1e-2
    x, y = a.double(), b.double()
    finite = x[torch.isfinite(x)]
    absolute *= max(size, finite.abs().max().item() if finite.numel() else 1.0)
    if torch.allclose(x, y, rtol=relative, atol=absolute, equal_nan=True):
        return None
    apart = (x - y).abs()
    return f"apart by {apart[~apart.isnan()].max().item() if (~apart.isnan()).any() else 'NaN'} at a size of " \
           f"{finite.abs().max().item() if finite.numel() else 0}"


def is_nearer(own, eager, exact):
    """Whether an answer is as near to the one in 32 bits as eager mode's is, which may have NaN where that has none: the matrix
    exponential of bf16 squares what was rounded again and again."""
    def apart(x):
        return (x.double() - exact.double()).abs().nan_to_num(nan=float("inf")).max().item()
    return apart(own) < float("inf") and apart(own) <= apart(eager)


def run(info, sample, dtype, backward):
    """right, wrong, refused, undefined or skipped (PyTorch itself cannot), and why."""
    leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    if any(leaf.layout is not torch.strided for leaf in (leaves[place] for place in places)):
        return "skipped", "sparse"
    module = Call(info.op, leaves, spec, places, sample.output_process_fn_grad if info.name in GAUGES else None)

    def fresh():
        return [leaves[place].detach().clone().requires_grad_(backward and leaves[place].requires_grad) for place in places]

    try:
        runs = []
        for seed in (1, 2):
            torch.manual_seed(seed)
            given = fresh()
            expected = module(*given)
            runs.append((expected, gradients(expected, given) if backward else None))
        expected, before = runs[0]
        # What is left of a matrix behind M has a larger rank than is asked for: eager mode with another seed finds others.
        is_undefined = info.name in UNDEFINED or drops(sample) or info.name in LOOSE and sample.kwargs.get("M") is not None or not all(
            same(a, b) for a, b in zip(pytree.tree_leaves(runs[0]), pytree.tree_leaves(runs[1])))
    except Exception as error:
        return "skipped", f"{type(error).__name__}: {error}"
    if not expected or (backward and before is None):
        return "skipped", "no tensor"
    try:
        given = fresh()
        graph = torch.fx.Graph()
        inputs = [graph.placeholder(f"x{i}") for i in range(len(given))]
        root = torch.nn.Module()
        root.op = module
        graph.output(graph.call_module("op", tuple(inputs)))
        compiled = zyx.torch.backend(torch.fx.GraphModule(root, graph), given)
        found = compiled(*given)
        after = gradients(found, given) if backward else None
    except zyx.torch.Refused as error:
        return "refused", str(error)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        # What PyTorch cannot trace reaches no backend.
        kinds = ("DataDependent", "DynamicOutputShape", "GuardOnDataDependent", "UnsupportedOperator", "PendingUnbacked")
        return "untraced" if any(kind in type(error).__name__ for kind in kinds) else "failed", text
    if is_undefined:
        return "undefined", ""
    exact = None
    pairs = list(zip(expected, found)) if not backward else list(zip(before, after))
    if len(expected) != len(found):
        return "wrong", f"{len(found)} results instead of {len(expected)}"
    # Sums in another order differ by the size of their terms, which the largest gradient shows.
    size = max([1.0] + [a.detach().double().nan_to_num(0, 0, 0).abs().max().item() for a, _ in pairs
                        if a is not None and a.numel() and not a.is_complex()]) if backward else 1.0
    for at, (a, b) in enumerate(pairs):
        if (a is None) != (b is None):
            return "wrong", f"gradient {at} is {'missing' if b is None else 'there'}"
        if not backward and info.name in CHOOSING and a.dtype is torch.int64 and chooses(given[0], at, expected, found):
            continue
        why = None if a is None else close(a.detach(), b.detach(), dtype, LOOSE.get(info.name, 1) * size)
        if why and dtype is torch.bfloat16:
            # Eager mode may round where zyx does not: the answer in 32 bits is the better one.
            exact = exact or widened(module, fresh(), backward)
            if exact[at] is not None:
                why = close(exact[at].to(b.dtype), b.detach(), dtype, size)
                if why and is_nearer(b.detach(), a.detach(), exact[at]):
                    why = None
        if why:
            return "wrong", f"{'gradient' if backward else 'result'} {at}: {why}"
    return "right", ""


def chooses(x, at, expected, found):
    """Whether the elements at these positions along some axis are those of eager mode, at no position twice."""
    for axis in range(max(x.ndim, 1)):
        try:
            own, its = (each[at] if each[at].ndim == x.ndim else each[at].unsqueeze(axis) for each in (expected, found))
            if torch.equal(*(torch.gather(x, axis, each).nan_to_num() for each in (own, its))) and (
                    len(found) > 1 or torch.equal(own.sort(axis)[0], its.sort(axis)[0])):
                return True
        except (RuntimeError, IndexError):
            pass
    return False


def widened(module, given, backward):
    """What eager mode has in 32 bits of these numbers."""
    given = [x.detach().float().requires_grad_(x.requires_grad) if x.dtype is torch.bfloat16 else x for x in given]
    torch.manual_seed(1)
    try:
        results = module(*given)
        return [x if x is None else x.detach() for x in (gradients(results, given) if backward else results)]
    except Exception:
        return [None] * 64


def gradients(results, given):
    """Gradients of the sum of all results that have one, with weights that differ; None where none has."""
    sources = [x for x in given if x.requires_grad]
    total = None
    for result in results:
        result = torch.view_as_real(result) if result.is_complex() else result
        if result.requires_grad and result.dtype.is_floating_point:
            weights = torch.linspace(0.5, 1.5, max(result.numel(), 1), dtype=torch.float64)[:result.numel()]
            part = (result * weights.reshape(result.shape).to(result.dtype)).sum()
            total = part if total is None else total + part
    if total is None or not sources:
        return None
    return torch.autograd.grad(total, sources, allow_unused=True)
