# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows of short Fourier transforms, which PyTorch 2.11 leaves in a graph as ops of their own."""
import functools
import math

import torch

aten = torch.ops.aten


def _window(values, default):
    """Of a function of positions and the last of them, and of what the second argument and those behind it are where they are left
    out: a periodic window is one of an element more, without that element."""
    def window(length, *given, dtype=None, device=None, **_):
        periodic, *rest = (*given, *default[len(given):])
        dtype = torch.get_default_dtype() if dtype is None else dtype
        if length <= 1:
            return torch.ones(length, dtype=dtype, device=device)
        last = length if periodic else length - 1
        # An op of small floats rounds once.
        wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
        return values(torch.arange(length, dtype=wide, device=device), last, *rest).to(dtype)

    return window


def _hamming(at, last, alpha, beta):
    return (at * (2 * math.pi / last)).cos() * -beta + alpha


def _blackman(at, last):
    at = at * (math.pi / last)
    return (at * 4).cos() * 0.08 - (at * 2).cos() * 0.5 + 0.42


def _bartlett(at, last):
    rising = at * (2 / last)
    return torch.where(torch.arange(at.shape[0], device=at.device) <= last // 2, rising, 2 - rising)


def _kaiser(at, last, beta):
    along = at * (2 / last) - 1
    beta = torch.full((), beta, dtype=at.dtype, device=at.device)
    return torch.special.i0(beta * (1 - along * along).clamp(min=0).sqrt()) / torch.special.i0(beta)


_OPS = {"hann": (functools.partial(_hamming, alpha=0.5, beta=0.5), (True,)), "hamming": (_hamming, (True, 0.54, 0.46)),
        "blackman": (_blackman, (True,)), "bartlett": (_bartlett, (True,)), "kaiser": (_kaiser, (True, 12.0))}
DECOMPOSITIONS = {getattr(packet, overload): _window(*made) for name, made in _OPS.items()
                  for packet in [getattr(aten, f"{name}_window")] for overload in packet.overloads() if "out" not in overload}
