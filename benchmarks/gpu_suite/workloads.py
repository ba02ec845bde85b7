"""The list of all workloads."""
from . import models
from .attention import attention, attention_backward
from .order import embedding_gradient, scan, sort
from .products import conv, gemm
from .rows import cross_entropy, cross_entropy_backward, pointwise, rows_backward, rowwise, softmax_backward


def workloads():
    all = {}
    for size in (1024, 2048, 4096, 8192):
        all[f"gemm-bf16-{size}-NT"] = gemm("NT", size, size, size)
    for layout in ("NN", "TN", "TT"):
        all[f"gemm-bf16-4096-{layout}"] = gemm(layout, 4096, 4096, 4096)
    # Gradients of weights: few results of long sums.
    for layout in ("NN", "NT", "TN", "TT"):
        all[f"gemm-bf16-768x768x8192-{layout}"] = gemm(layout, 768, 768, 8192)
    all["gemm-bf16-768x3072x8192-TN"] = gemm("TN", 768, 3072, 8192)
    all["gemm-f16-4096-NT"] = gemm("NT", 4096, 4096, 4096, "f16")
    for layout in ("NT", "NN", "TN", "TT"):
        all[f"gemm-f32-4096-{layout}"] = gemm(layout, 4096, 4096, 4096, "f32")
    all["gemm-tf32-4096-NT"] = gemm("NT", 4096, 4096, 4096, "f32", fast=True)
    all["gemm-i8-4096-NT"] = gemm("NT", 4096, 4096, 4096, "i8", out="i32")
    all["gemm-f8-4096-NT"] = gemm("NT", 4096, 4096, 4096, "f8E4M3FN", out="bf16", fast=True)
    all["gemm-bf16-4096-NT-f32"] = gemm("NT", 4096, 4096, 4096, out="f32")
    all["gemm-bf16-4096x11008x4096-NT"] = gemm("NT", 4096, 11008, 4096)
    all["gemm-bf16-96x1024x1024x64-NT"] = gemm("NT", 1024, 1024, 64, batch=(96,))
    all["gemm-bf16-4000x4040x4024-NT"] = gemm("NT", 4000, 4040, 4024)
    all["gemm-bias-gelu-bf16-4096"] = gemm("NT", 4096, 4096, 4096, epilogue="gelu")
    for m in (1, 8, 16, 64):
        for n, k in ((6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336)):
            all[f"linear-bf16-{m}x{n}x{k}"] = gemm("NT", m, n, k)
    for size, channels, outputs, window, stride in ((56, 64, 64, 3, 1), (28, 128, 128, 3, 1), (14, 256, 256, 3, 1),
                                                    (7, 512, 512, 3, 1), (56, 64, 256, 1, 1), (56, 128, 128, 3, 2),
                                                    (56, 256, 512, 1, 2), (224, 3, 64, 7, 2)):
        step = f"-by-{stride}" if stride > 1 else ""
        all[f"conv-bf16-32x{size}x{size}x{channels}-{outputs}-{window}x{window}{step}"] = \
            conv(32, size, channels, outputs, window, stride)
    all["conv-f16-32x28x28x128-128-3x3"] = conv(32, 28, 128, 128, 3, 1, "f16")
    all["conv-relu-bf16-32x14x14x256-256-3x3"] = conv(32, 14, 256, 256, 3, 1, relu=True)
    for size, channels in ((56, 64), (14, 256)):
        all[f"conv-first-bf16-32x{channels}x{size}x{size}-{channels}-3x3"] = conv(32, size, channels, channels, 3, 1, layout="NCHW")
    for features in (64, 128):
        for rows in (1024, 2048, 4096, 8192, 16384):
            for causal in (False, True):
                name = f"attention-bf16-{rows}x{features}" + ("-causal" if causal else "")
                sizes = (16384 // rows, 2048 // features, rows, features, causal)
                all[name] = attention(*sizes)
                all[name.replace("-bf16", "-backward-bf16")] = attention_backward(*sizes)
    all["attention-bf16-4096x128-causal-grouped"] = attention(4, 32, 4096, 128, True, groups=4)
    shape = (8192, 8192)
    for dtype in ("f32", "bf16"):
        for kind in ("copy", "chain", "transpose"):
            all[f"{kind}-{dtype}"] = pointwise(kind, shape, dtype)
        for kind in ("softmax", "layer-norm", "rms-norm", "sum-rows", "sum-columns", "sum-all"):
            all[f"{kind}-{dtype}"] = rowwise(kind, shape, dtype)
    all["cast-f32-bf16"] = pointwise("cast-down", shape, "f32")
    all["cast-bf16-f32"] = pointwise("cast-up", shape, "bf16")
    for columns in (65536, 262144):
        for kind in ("softmax", "rms-norm"):
            all[f"{kind}-f32-1024x{columns}"] = rowwise(kind, (1024, columns), "f32")
    all["cross-entropy-bf16-16384x50304"] = cross_entropy(16384, 50304, "bf16")
    all["cross-entropy-backward-bf16-16384x50304"] = cross_entropy_backward(16384, 50304, "bf16")
    for kind in ("softmax", "layer-norm", "rms-norm"):
        for dtype in ("f32", "bf16"):
            all[f"{kind}-backward-{dtype}"] = rows_backward(kind, shape, dtype)
    for dtype in ("f32", "bf16"):
        all[f"softmax-kept-backward-{dtype}"] = softmax_backward(shape, dtype)
    all["scan-f32-8192x8192"] = scan((8192, 8192), 1)
    all["scan-columns-f32-8192x8192"] = scan((8192, 8192), 0)
    all["scan-f32-16x1048576"] = scan((16, 1 << 20), 1)
    for dtype in ("f32", "bf16"):
        all[f"sort-{dtype}-128x50257"] = sort((128, 50257), dtype)
    all["sort-f32-8192x1024"] = sort((8192, 1024))
    all["embedding-gradient-f32-8192x50257x768"] = embedding_gradient(8192, 50257, 768)
    all.update(models.workloads())
    return all
