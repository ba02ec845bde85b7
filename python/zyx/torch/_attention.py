# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: the ops that PyTorch chooses on the host and on cards."""
import math

import torch

from .. import _zyx
from ._lower import aten, cast, expand, full, gradients, iota, op, pad, to_dtype, where, wide


def _attended(q, k, v, mask, causal, scale):
    """Sums of values by softmax, and the logarithms of its denominators; in float32 at least. Both are 0 of a row that sees
    nothing: it sees all here, and what it gets is dropped, so that no gradient has NaN."""
    rows, columns = q.shape[-2], k.shape[-2]
    if q.ndim == 4 and k.shape[1] != q.shape[1]:
        # Several heads of queries share keys and values.
        k, v = (_zyx._repeat_interleave(each, q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = _zyx.matmul(q, k.mT) * float(1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    sees, blind = iota((rows, columns), 1) <= iota((rows, columns), 0), None
    if mask is not None:
        is_bool = mask.dtype is _zyx.bool
        seen = mask if is_bool else mask != -math.inf
        blind = ~_zyx._any(seen & sees if causal else seen, [-1], True)
        scores = where(mask | blind, scores, full((), -math.inf, scores.dtype)) if is_bool else scores + cast(
            where(blind, full((), 0, mask.dtype), mask), scores.dtype)
    if causal:
        scores = where(expand(sees, scores.shape), scores, full((), -math.inf, scores.dtype))
    y, logs = _zyx.matmul(_zyx._softmax(scores, scores.ndim - 1), v), _zyx._logsumexp(scores, [scores.ndim - 1], True)
    if blind is not None:
        y, logs = (where(blind, full((), 0, each.dtype), each) for each in (y, logs))
    return y, _zyx._squeeze(logs, [-1])


def _limit_dropout(at):
    return lambda node: "drops at random" if len(node.args) > at and node.args[at] else None


@op(aten._scaled_dot_product_flash_attention_for_cpu.default, limit=_limit_dropout(3))
def flash_attention(node, q, k, v, dropout=0.0, causal=False, *, attn_mask=None, scale=None):
    q, k, v = wide(q), wide(k), wide(v)
    return _attended(q, k, v, attn_mask, causal, scale)


@op(aten._scaled_dot_product_flash_attention_for_cpu_backward.default, limit=_limit_dropout(6))
def flash_attention_backward(node, gradient, q, k, v, y, logs, dropout, causal, *, attn_mask=None, scale=None):
    return gradients(lambda q, k, v: _attended(q, k, v, attn_mask, causal, scale)[0], [wide(q), wide(k), wide(v)],
                     wide(gradient))


# Those of cards differ in what they keep for gradients: results behind the first.


def _with_kept(node, y, logs):
    found = [y]
    for meta in node.meta["val"][1:]:
        is_tensor = isinstance(meta, torch.Tensor)
        found.append(full(tuple(meta.shape), 0, to_dtype(meta.dtype)) if is_tensor else meta)
    shape = tuple(node.meta["val"][1].shape)
    if len(shape) > logs.ndim:
        logs = _zyx._unsqueeze(logs, -1)
    # Rows may be filled up to a multiple, or none asked for.
    found[1] = cast(pad(logs, [0] * logs.ndim, [a - b for a, b in zip(shape, logs.shape)]), _zyx.float32) if 0 not in shape else found[1]
    return found


def _attention_of_card(node, q, k, v, mask, causal, scale):
    return _with_kept(node, *_attended(wide(q), wide(k), wide(v), mask, causal, scale))


@op(aten._scaled_dot_product_flash_attention.default, limit=_limit_dropout(3))
def card_flash_attention(node, q, k, v, dropout=0.0, causal=False, shows=False, *, scale=None):
    return _attention_of_card(node, q, k, v, None, causal, scale)


@op(aten._scaled_dot_product_efficient_attention.default, aten._scaled_dot_product_cudnn_attention.default,
    limit=_limit_dropout(5))
def card_attention(node, q, k, v, mask, keeps, dropout=0.0, causal=False, shows=False, *, scale=None):
    return _attention_of_card(node, q, k, v, mask, causal, scale)


@op(aten._scaled_dot_product_flash_attention_backward.default, limit=_limit_dropout(10))
def card_flash_attention_backward(node, gradient, q, k, v, y, logs, rows, columns, most_rows, most_columns, dropout, causal, seed,
                                  offset, *, scale=None):
    return flash_attention_backward(node, gradient, q, k, v, y, logs, dropout, causal, scale=scale)


@op(aten._scaled_dot_product_cudnn_attention_backward.default, limit=_limit_dropout(13))
def card_cudnn_attention_backward(node, gradient, q, k, v, y, logs, seed, offset, mask, rows, columns, most_rows, most_columns,
                                  dropout, causal, *, scale=None):
    return flash_attention_backward(node, gradient, q, k, v, y, logs, dropout, causal, attn_mask=mask, scale=scale)


@op(aten._scaled_dot_product_efficient_attention_backward.default, limit=_limit_dropout(9))
def card_efficient_attention_backward(node, gradient, q, k, v, mask, y, logs, seed, offset, dropout, wanted, causal=False, *,
                                      scale=None):
    sources = [wide(q), wide(k), wide(v)] + ([wide(mask)] if mask is not None and wanted[3] else [])
    found = gradients(lambda q, k, v, own=mask: _attended(q, k, v, own, causal, scale)[0], sources, wide(gradient))
    return [each if is_wanted else None for each, is_wanted in zip([*found, None], wanted)]
