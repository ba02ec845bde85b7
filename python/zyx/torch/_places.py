# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a graph is computed: on the host, or on a card with PyTorch's stream. Tensors and arrays share memory by DLPack."""
import contextlib
import functools

import torch

from .. import _zyx
from ._lower import Refused

_scope = _zyx.device_scope


class Host:
    """Everything is there when a call returns."""

    name = "cpu"

    def call(self):
        return _scope("cpu")

    def shares(self, tensor):
        return True

    def own(self, tensor):
        return tensor

    def take(self, tensor):
        return _zyx._from_dlpack(tensor)

    def begin(self):
        pass

    def give(self, array):
        return torch.from_dlpack(_zyx._export(array, False))

    def put(self, tensor, device):
        return tensor

    def end(self):
        pass


class Card:
    """zyx's stream and the current one of PyTorch wait for one another; the host waits for neither.

    Work of PyTorch that was begun before a call is in front of the program, and what is begun behind it is behind the program.
    That keeps memory, too: PyTorch's allocator gives memory that a tensor leaves to later work of its stream alone.
    """

    def __init__(self, index):
        self.name, self.index = f"cuda:{index}", index
        with _scope(self.name):
            kind, number, stream = _zyx._current_stream()
        if (kind, number) != (2, index):
            raise Refused(f"zyx.torch: PyTorch's device '{self.name}' is zyx's device {number} of DLPack's kind {kind}")
        self.stream = torch.cuda.ExternalStream(stream, device=index)

    @contextlib.contextmanager
    def call(self):
        if torch.cuda.is_current_stream_capturing():
            raise Refused("zyx.torch: PyTorch records a CUDA graph, into which programs of zyx cannot be put")
        current = torch.cuda.current_stream(self.index)
        if current.stream_id != 0 and current.stream_id == current.cuda_stream:
            raise Refused("zyx.torch: the current stream is a torch.cuda.ExternalStream, of which nobody says how long it lives")
        # DLPack gives tensors of the current card alone.
        with torch.cuda.device(self.index), _scope(self.name):
            yield

    def shares(self, tensor):
        """Whether programs read its memory: it is on the card, and aligned."""
        return tensor.device.type == "cuda" and tensor.data_ptr() % 16 == 0

    def own(self, tensor):
        """The tensor, or a copy that is."""
        return tensor if self.shares(tensor) else tensor.to(torch.device("cuda", self.index), copy=True)

    def take(self, tensor):
        return _zyx._from_dlpack(tensor.__dlpack__(stream=-1, max_version=(1, 0)))

    def begin(self):
        """Behind all copies of arguments."""
        self.stream.wait_stream(torch.cuda.current_stream())

    def give(self, array):
        # PyTorch's own streams are there for ever. DLPack's number of CUDA's default stream is 1.
        stream = torch.cuda.current_stream().cuda_stream or 1
        return torch.from_dlpack(_zyx._export_from_device(array, False, stream, True).__dlpack__(max_version=(1, 0)))

    def put(self, tensor, device):
        """A result where the graph has it, which may be the host."""
        return tensor if device.type == "cuda" else tensor.to(device)

    def end(self):
        """Also behind what made no result."""
        torch.cuda.current_stream().wait_stream(self.stream)


@functools.lru_cache(maxsize=None)
def place_of(device):
    if device.type not in ("cpu", "cuda"):
        raise Refused(f"zyx.torch: a tensor is on '{device}'; this version computes on the host and on CUDA's cards")
    return Host() if device.type == "cpu" else Card(device.index or 0)
