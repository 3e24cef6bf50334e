"""Cascade attention: queries against shared blocks of keys, merged by their log-sum-exps.

softmax over the union of two sets of keys is the mean of the two softmaxes, weighted by their
normalisers: with log-sum-exps l1, l2 the weight of the second is sigmoid(l2 - l1). So keys that
many queries share are read by one call, keys of their own by another, and nothing is masked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

NAME = "judgelab_tree"
JOIN = 2048  # keys up to which a path is copied into one block; longer ones stay apart
Block = tuple[Tensor, Tensor]
"""Keys and values [1, kv heads, length, head size]."""


class TreeRefused(Exception):
    """This model's attention is not a plain softmax over all earlier tokens; says why."""


@dataclass(frozen=True)
class Own:
    """Consecutive segments that attend causally to themselves in one call.

    Attributes:
        start, count, length: first token, number of segments, (padded) tokens of each.
        gather: [count * length] token of each padded place; None where nothing is padded.
    """

    start: int
    count: int
    length: int
    gather: Tensor | None = None
    real: Tensor | None = None  # places that hold a token, in the order of the tokens


@dataclass(frozen=True)
class Shared:
    """Consecutive tokens start..stop that all see the path that ends with ``node``."""

    start: int
    stop: int
    node: int


@dataclass
class Pass:
    """What the attention of one forward pass has to know.

    Attributes:
        made: (node, parent, start, stop) of nodes in this pass, parents first.
        paths: (node, layer) -> blocks of its path; filled as layers run.
    """

    own: list[Own]  # covers all tokens in order
    shared: list[Shared]  # queries that have something above them
    made: list[tuple[int, int, int, int]]
    keep: frozenset[int]  # nodes whose path a later pass needs
    paths: dict[tuple[int, int], list[Block]] = field(default_factory=dict)


def tree_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    tree: Pass | None = None,
    **extra: Any,
) -> tuple[Tensor, None]:
    """Attention of packed segments; the signature is transformers' AttentionInterface.

    Query, key and value are [1, heads, tokens, head size]; the result is [1, tokens, heads, head
    size], and no weights. TreeRefused where the model asks for more than plain causal attention.
    """
    _refuse(tree, query, value, dropout, extra)
    assert tree is not None
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    made = _extend(tree, module.layer_idx, key, value)
    out, lse = _own(tree.own, query, key, value, scale)
    for part in tree.shared:
        states = query[:, :, part.start : part.stop]
        into, norm = out[part.start : part.stop], lse[part.start : part.stop]
        blocks = made.get(part.node) or tree.paths[part.node, module.layer_idx]
        for keys, values in blocks:
            seen, seen_norm = _see(states, keys, values, scale)
            into.lerp_(seen, (seen_norm - norm).sigmoid_().unsqueeze(-1).to(out.dtype))
            if len(blocks) > 1:
                torch.logaddexp(norm, seen_norm, out=norm)
    return out.unsqueeze(0), None


def _refuse(tree: Pass | None, query: Tensor, value: Tensor, dropout: float, extra: Any) -> None:
    if tree is None:
        raise TreeRefused("it does not hand extra arguments on to its attention")
    for name in ("sliding_window", "softcap", "s_aux", "position_bias", "head_mask"):
        if extra.get(name) is not None:
            raise TreeRefused(f"its attention uses {name}")
    if query.shape[-1] != value.shape[-1]:
        raise TreeRefused("its keys and values differ in size")
    if dropout or query.shape[0] != 1:
        raise TreeRefused("its attention is not in evaluation mode")


def _extend(tree: Pass, layer: int, key: Tensor, value: Tensor) -> dict[int, list[Block]]:
    """Paths of the nodes of this pass, at this layer."""
    made: dict[int, list[Block]] = {}
    for node, parent, start, stop in tree.made:
        own = (key[:, :, start:stop], value[:, :, start:stop])
        above = made.get(parent) or (tree.paths[parent, layer] if parent >= 0 else [])
        if above and above[-1][0].shape[2] + stop - start <= JOIN:
            last = above[-1]
            own = (torch.cat((last[0], own[0]), 2), torch.cat((last[1], own[1]), 2))
            above = above[:-1]
        elif node in tree.keep:  # a view would keep the whole pass alive
            own = (own[0].contiguous(), own[1].contiguous())
        made[node] = [*above, own]
        if node in tree.keep:
            tree.paths[node, layer] = made[node]
    return made


def _own(
    parts: list[Own], query: Tensor, key: Tensor, value: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    """Causal attention inside each segment: [tokens, heads, size], and log-sum-exps."""
    groups = query.shape[1] // key.shape[1]
    outs, norms = [], []
    for part in parts:
        q, k, v = (_stack(x, part) for x in (query, key, value))
        if groups > 1:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        out, norm = flash(q, k, v, causal=True, scale=scale)
        out, norm = out.transpose(1, 2).flatten(0, 1), norm.transpose(1, 2).flatten(0, 1)
        if part.real is not None:
            out, norm = out.index_select(0, part.real), norm.index_select(0, part.real)
        outs.append(out)
        norms.append(norm)
    if len(outs) == 1:
        return outs[0].contiguous(), norms[0].contiguous()
    return torch.cat(outs), torch.cat(norms)


def _stack(states: Tensor, part: Own) -> Tensor:
    """[segments, heads, length, size] of the segments of one call."""
    tokens = states[0].transpose(0, 1)
    if part.gather is not None:
        flat = tokens.index_select(0, part.gather)
    else:
        flat = tokens[part.start : part.start + part.count * part.length]
    return flat.view(part.count, part.length, *flat.shape[1:]).transpose(1, 2)


def _see(query: Tensor, key: Tensor, value: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Attention of all queries to all keys of a block: [tokens, heads, size], log-sum-exps."""
    heads, length = query.shape[1], query.shape[2]
    groups = heads // key.shape[1]
    if groups > 1:  # nothing is masked: heads that share keys become more queries of one head
        query = query.reshape(1, key.shape[1], groups * length, -1)
    out, norm = flash(query, key, value, causal=False, scale=scale)
    if groups > 1:
        out, norm = out.reshape(1, heads, length, -1), norm.reshape(1, heads, length)
    return out[0].transpose(0, 1), norm[0].transpose(0, 1)


def flash(
    query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    """Attention [batch, heads, length, size] and its log-sum-exp [batch, heads, length] in fp32.

    By the kernel torch has for this device and dtype; query, key and value have as many heads each.
    """
    ops = torch.ops.aten
    if query.device.type == "cpu":
        out, norm = ops._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, 0.0, causal, scale=scale
        )
    elif query.dtype == torch.float32:
        out, norm, *_ = ops._scaled_dot_product_efficient_attention(
            query, key, value, None, True, 0.0, causal, scale=scale
        )
    else:
        out, norm, *_ = ops._scaled_dot_product_flash_attention(
            query, key, value, 0.0, causal, False, scale=scale
        )
    return out, norm[:, :, : query.shape[2]]
