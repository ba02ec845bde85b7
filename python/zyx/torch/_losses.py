# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses that PyTorch computes by custom ops: the cross entropy of a product, which has its gradients with it."""
import importlib.util

import torch

from .. import _functions as F
from .. import _zyx
from ._lower import cast, full, int64, iota, op, permute, reshape, where, wide
from ._network import product

# It registers the ops; older versions of PyTorch have them not.
if importlib.util.find_spec("torch.nn.modules.linear_cross_entropy"):
    importlib.import_module("torch.nn.modules.linear_cross_entropy")


def _entropies(x, filters, target, bias, weight, ignored):
    """Of each row the loss and the sum of its targets' weights; of each class those weights; and the logarithms of all classes."""
    logits = product(wide(x), permute(wide(filters), (1, 0)), wide(x).dtype)
    logits = logits if bias is None else logits + wide(bias)
    logs = _zyx._log_softmax(logits, 1)
    if target.dtype.is_float:
        weights = cast(target, logs.dtype)
        weights = weights if weight is None else weights * wide(weight)
    else:
        hit = reshape(cast(target, int64), (x.shape[0], 1)) == iota(logs.shape, 1)
        hit = hit & (reshape(target, (x.shape[0], 1)) != ignored)
        weights = where(hit, full((), 1, logs.dtype) if weight is None else wide(weight), full((), 0, logs.dtype))
    # A class without weight has no part in the loss, whatever its logarithm is.
    losses = _zyx._sum(where(weights == 0, full((), 0, logs.dtype), -(weights * logs)), [1], False)
    return losses, weights, logs


def _limit_smoothing(node):
    return "has label smoothing" if node.args[7] else None


def linear_cross_entropy(node, x, filters, target, bias, weight, reduction, ignored, smoothing, size, policy, dtype, retains,
                         for_x, for_filters, for_bias):
    shapes = [tuple(each.shape) for each in node.meta["val"]]
    losses, weights, logs = _entropies(x, filters, target, bias, weight, ignored)
    loss = _zyx._sum(losses, [0], False)
    slopes = F.exp(logs) * _zyx._sum(weights, [1], True) - weights
    if reduction == "mean":
        whole = full((), x.shape[0], loss.dtype) if target.dtype.is_float else _zyx._sum(weights, [0, 1], False)
        loss, slopes = loss / whole, slopes / whole
    made = [product(slopes, wide(filters), slopes.dtype) if for_x else None,
            product(permute(slopes, (1, 0)), wide(x), slopes.dtype) if for_filters else None,
            _zyx._sum(slopes, [0], False) if for_bias else None]
    return [loss] + [full(shape, 0, loss.dtype) if each is None else each for each, shape in zip(made, shapes[1:])]


def linear_cross_entropies(node, x, filters, target, bias, weight, ignored, *_):
    return _entropies(x, filters, target, bias, weight, ignored)[0]


for _name, _limit, _function in (("_linear_cross_entropy_batch_chunked", _limit_smoothing, linear_cross_entropy),
                                 ("_linear_cross_entropy_batch_chunked_no_reduction", None, linear_cross_entropies)):
    if hasattr(torch.ops.torch_nn, _name):
        op(getattr(torch.ops.torch_nn, _name).default, limit=_limit)(_function)
