# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a graph is computed: on the host, or on a card with PyTorch's stream. Tensors and arrays share memory by DLPack."""
import functools

import torch

from .. import _zyx
from ._lower import Refused

_scope = _zyx.device_scope


def _from_capsule(capsule):
    return torch.utils.dlpack.from_dlpack(capsule)


class Given:
    """Arguments of a program: arrays, and (dtype, extents) of tensors that each call has anew."""

    def __init__(self, arrays):
        self.arrays = arrays
        self.arguments = _zyx._Arguments(arrays)

    def filled(self, made):
        """A list with these arrays in the places of the tensors."""
        rest = iter(made)
        return [next(rest) if isinstance(each, tuple) else each for each in self.arrays]

    def types(self):
        return [each for each in self.arrays if isinstance(each, tuple)]


class _Place:
    def has(self, tensor):
        """Whether the tensor's memory is there."""
        return tensor.device.type == self.kind

    def shares(self, tensor):
        """Whether programs read its memory: it is there, and aligned."""
        return self.has(tensor) and tensor.data_ptr() % self.alignment == 0

    def take(self, tensor, element, extents):
        """An array over the memory of a tensor, or over a copy where its elements are not aligned."""
        return _zyx._borrow(element, extents, tensor.data_ptr(), tensor, self.is_host)

    def run(self, function, given, tensors, addresses, more):
        """What a program makes of tensors' memory, and of the arrays of `given` and `more`."""
        found = function.over(given.arguments, addresses, tensors, more)
        if found is None:
            made = [self.take(tensor, *kind) for tensor, kind in zip(tensors, given.types())]
            found = function([*given.filled(made), *more])
        return found


class Host(_Place):
    """Everything is there when a call returns."""

    name, kind, is_host, alignment = "cpu", "cpu", True, 1

    def call(self):
        return _scope("cpu")

    def own(self, tensor):
        return tensor

    def begin(self):
        pass

    def give(self, array):
        return _from_capsule(_zyx._lend(array, None))

    def put(self, tensor, device):
        return tensor

    def end(self):
        pass


class Card(_Place):
    """zyx's stream and the current one of PyTorch wait for one another; the host waits for neither.

    Work of PyTorch that was begun before a call is in front of the program, and what is begun behind it is behind the program.
    That keeps memory, too: PyTorch's allocator gives memory that a tensor leaves to later work of its stream alone.
    """

    kind, is_host, alignment = "cuda", False, 16

    def __init__(self, index):
        self.name, self.index = f"cuda:{index}", index
        with _scope(self.name):
            kind, number, _ = _zyx._current_stream()
        if (kind, number) != (2, index):
            raise Refused(f"zyx.torch: PyTorch's device '{self.name}' is zyx's device {number} of DLPack's kind {kind}")
        # Streams of PyTorch's own, which are there for ever, by their addresses.
        self.streams = set()

    def call(self):
        return _OnCard(self)

    def check(self):
        """Whether programs may be behind the current stream of PyTorch's."""
        if torch.cuda.is_current_stream_capturing():
            raise Refused("zyx.torch: PyTorch records a CUDA graph, into which programs of zyx cannot be put")
        stream = torch._C._cuda_getCurrentRawStream(self.index)
        if stream not in self.streams:
            current = torch.cuda.current_stream(self.index)
            if current.stream_id != 0 and current.stream_id == current.cuda_stream:
                raise Refused("zyx.torch: the current stream is a torch.cuda.ExternalStream, of which nobody says how long it lives")
            self.streams.add(stream)

    def _stream(self):
        """That stream as DLPack numbers it."""
        return torch._C._cuda_getCurrentRawStream(self.index) or 1

    def own(self, tensor):
        """A copy that is there."""
        return tensor.to(torch.device("cuda", self.index), copy=True)

    def begin(self):
        """Behind all copies of arguments."""
        _zyx._order(self._stream(), True)

    def give(self, array):
        return _from_capsule(_zyx._lend(array, self._stream()))

    def put(self, tensor, device):
        """A result where the graph has it, which may be the host."""
        return tensor if device.type == "cuda" else tensor.to(device)

    def end(self):
        """Also behind what made no result."""
        _zyx._order(self._stream(), False)


class _OnCard:
    """The card is the current device of both."""

    __slots__ = ("card", "scope", "device")

    def __init__(self, card):
        self.card, self.scope, self.device = card, _scope(card.name), None

    def __enter__(self):
        if torch.cuda.current_device() != self.card.index:
            self.device = torch.cuda.device(self.card.index)
            self.device.__enter__()
        try:
            self.card.check()
            self.scope.__enter__()
        except BaseException:
            self._leave()
            raise

    def __exit__(self, *error):
        self.scope.__exit__(*error)
        self._leave()

    def _leave(self):
        if self.device is not None:
            self.device.__exit__(None, None, None)


@functools.lru_cache(maxsize=None)
def place_of(device):
    if device.type not in ("cpu", "cuda"):
        raise Refused(f"zyx.torch: a tensor is on '{device}'; this version computes on the host and on CUDA's cards")
    return Host() if device.type == "cpu" else Card(device.index or 0)
