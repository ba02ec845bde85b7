# Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch's fused ops of transformers are made of: torch.nn calls them where no gradient is wanted. And older names of ops."""
import torch

from ._lower import newer

aten, functional = torch.ops.aten, torch.nn.functional


def _hidden(mask, mask_type, rank):
    """What a row does not see, for scores of batches and heads. 0: of rows and columns; 1: of batches' columns; 2: of all four."""
    mask = mask.to(torch.bool)
    if mask_type == 1:
        return mask[:, None, None, :]
    return mask if mask.ndim == rank else mask.reshape((1,) * (rank - mask.ndim) + tuple(mask.shape))


def attention(query, key, value, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask=None, need_weights=True,
              average=True, mask_type=None):
    def split(x, at):
        part = slice(at * width, (at + 1) * width)
        x = functional.linear(x, qkv_weight[part], qkv_bias[part])
        return x.reshape(x.shape[0], x.shape[1], heads, width // heads).transpose(1, 2)

    q, k, v = split(query, 0), split(key, 1), split(value, 2)
    scores = (q * (width // heads) ** -0.5) @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(_hidden(mask, mask_type, 4), float("-inf"))
    weights = scores.softmax(-1)
    joined = (weights @ v).transpose(1, 2).reshape(query.shape[0], query.shape[1], width)
    return functional.linear(joined, out_weight, out_bias), weights.mean(1) if average else weights


def encoder_layer(x, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, use_gelu, norm_first, eps, scale1, shift1, scale2,
                  shift2, weight1, bias1, weight2, bias2, mask=None, mask_type=None):
    def attended(x):
        return attention(x, x, x, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, mask, False, True, mask_type)[0]

    def fed(x):
        x = functional.linear(x, weight1, bias1)
        return functional.linear(functional.gelu(x) if use_gelu else functional.relu(x), weight2, bias2)

    def first(x):
        return functional.layer_norm(x, (width,), scale1, shift1, eps)

    def second(x):
        return functional.layer_norm(x, (width,), scale2, shift2, eps)

    if norm_first:
        x = x + attended(first(x))
        return x + fed(second(x))
    x = first(x + attended(x))
    return second(x + fed(x))


def cholesky(x, upper=False):
    return torch.linalg.cholesky(x, upper=upper)


DECOMPOSITIONS = {aten._transformer_encoder_layer_fwd.default: encoder_layer, aten._native_multi_head_attention.default: attention,
                  # An op of its own until PyTorch 2.11.
                  **dict.fromkeys(newer("cholesky"), cholesky)}
