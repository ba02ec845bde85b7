# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of modules: rules, steps, and learning rates."""
from . import _zyx
from ._transforms import tree_flatten, tree_unflatten
from ._zyx import (Optimizer, UpdateRule, adafactor, adam, adamw, cosine_decay, exponential_decay, linear_warmup, lion,
                   rmsprop, sgd, step_decay)

__all__ = ["Optimizer", "TrainStep", "UpdateRule", "adafactor", "adam", "adamw", "clip_by_global_norm", "cosine_decay",
           "exponential_decay", "linear_warmup", "lion", "rmsprop", "sgd", "step_decay"]


def clip_by_global_norm(gradients, most):
    """Gradients whose norm, of all together, is at most that; and the norm before.

        >>> clipped, norm = zyx.optim.clip_by_global_norm([zyx.asarray([3.0, 4.0])], 1e9)
        >>> clipped[0].tolist(), norm.item()
        ([3.0, 4.0], 5.0)
    """
    leaves, structure = tree_flatten(gradients)
    clipped, norm = _zyx._clip_by_global_norm(leaves, most)
    return tree_unflatten(structure, clipped), norm


class TrainStep:
    """A step of an optimizer as one program, with the gradients and the update.

    The function of a batch, of arrays, returns the loss, or a tuple whose first is the loss. It is called once for each
    set of types. A call takes a step and returns what the function returned, of the parameters before it.

        >>> model = zyx.nn.Linear(2, 1, zyx.nn.InitRng(1))
        >>> optimizer = zyx.optim.Optimizer(model, zyx.optim.sgd(0.1))
        >>> step = zyx.optim.TrainStep(optimizer, lambda x, y: zyx.nn.mse_loss(model(x), y))
        >>> first, second = (step(zyx.ones((4, 2)), zyx.ones((4, 1))).item() for _ in range(2))
        >>> second < first
        True
    """

    def __init__(self, optimizer, loss, *, donate=False):
        self._is_tuple = None

        def flat(batch):
            result = loss(*batch)
            self._is_tuple = isinstance(result, tuple)
            return list(result) if self._is_tuple else [result]

        self._step = _zyx.TrainStep(optimizer, flat, donate)

    def __call__(self, *batch):
        results = self._step._call(list(batch))
        return tuple(results) if self._is_tuple else results[0]
