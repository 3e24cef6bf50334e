"""The fast way: packed targets on a prefix tree, exact, through transformers' own modules.

All segments of a bin go through every linear layer side by side, without padding. Only attention
knows of the tree: it is registered with transformers' AttentionInterface, and the description of
the pass travels as an extra keyword. Keys and values of a context come from the same forward pass
as its targets, or are kept from an earlier one.

Queries see shared blocks of keys one after the other (cascade attention). softmax over the union of
two sets of keys is the mean of the two softmaxes, weighted by their normalisers: with log-sum-exps
l1, l2 the weight of the second is sigmoid(l2 - l1). So keys that many queries share are read by one
call, keys of their own by another, and nothing is masked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from judgelab.scoring.head import Head, Reading
from judgelab.scoring.prefix_tree import Bin, Ids, ScoringPlan

NAME = "judgelab_tree"
JOIN = 2048  # keys up to which a path is copied into one block; longer ones stay apart
ALONE = 64  # tokens from which a segment is worth a call of its own rather than padding
Block = tuple[Tensor, Tensor]  # keys and values [1, kv heads, length, head size]


class TreeRefused(Exception):
    """This model's attention is not a plain softmax over all earlier tokens; says why."""


@dataclass(frozen=True)
class Segment:
    """Where one node (leaf < 0) or leaf lies in the pass."""

    node: int  # the node itself, or the one below the leaf
    leaf: int
    parent: int  # what its queries see beside themselves
    start: int
    tokens: Ids
    position: int

    @property
    def stop(self) -> int:
        """The token after its last one."""
        return self.start + len(self.tokens)


@dataclass(frozen=True)
class Own:
    """Consecutive segments that attend causally to themselves in one call."""

    start: int  # first token
    count: int  # of segments
    length: int  # (padded) tokens of each
    gather: Tensor | None = None  # [count * length] token of each padded place; None: no padding
    real: Tensor | None = None  # places that hold a token, in the order of the tokens


@dataclass
class Pass:
    """What the attention of one forward pass has to know."""

    own: list[Own]  # covers all tokens in order
    shared: list[tuple[slice, int]]  # consecutive tokens that see the path ending with a node
    nodes: list[Segment]  # of contexts, parents first
    keep: frozenset[int]  # nodes whose path a later pass needs
    paths: dict[tuple[int, int], list[Block]]  # (node, layer) -> its path; filled as layers run


def score_tree(model: Any, head: Head, plan: ScoringPlan) -> NDArray[np.float64]:
    """[tokens] log P of every token of every target, nats, in the order of ``plan.places``.

    TreeRefused where the model's attention is not plain; see ``engine.tree_refusal``.
    """
    result = torch.full((plan.places[-1],), torch.nan, dtype=torch.float64)
    last_use = {  # index of the last bin in which a node is seen
        node: b
        for b, part in enumerate(plan.bins)
        for node in (
            *(plan.nodes[n].parent for n in part.nodes),
            *(plan.leaves[i].node for i in part.leaves),
        )
    }
    paths: dict[tuple[int, int], list[Block]] = {}
    with torch.inference_mode(), _attention(model):
        for b, part in enumerate(plan.bins):
            layout = _layout(plan, part)
            keep = frozenset(n for n in part.nodes if last_use.get(n, b) > b)
            hidden = _forward(model, layout, _pass(layout, keep, paths, model.device))
            if readings := _readings(plan, layout):
                head.read(hidden, readings, result)
            for node, layer in [key for key in paths if last_use[key[0]] <= b]:
                del paths[node, layer]
    return np.asarray(result.numpy())


def _layout(plan: ScoringPlan, part: Bin) -> list[Segment]:
    result: list[Segment] = []
    start = 0
    for n in part.nodes:
        node = plan.nodes[n]
        result.append(Segment(n, -1, node.parent, start, node.tokens, node.start))
        start += len(node.tokens)
    for i in part.leaves:
        leaf = plan.leaves[i]
        end = plan.nodes[leaf.node].end
        result.append(Segment(leaf.node, i, leaf.node, start, leaf.inputs, end))
        start += len(leaf.inputs)
    return result


def _pass(
    layout: list[Segment],
    keep: frozenset[int],
    paths: dict[tuple[int, int], list[Block]],
    device: torch.device,
) -> Pass:
    """Segments that see the same path are one call; equal ones, and short ones, are stacked."""
    shared = []
    for parent, group in groupby(layout, attrgetter("parent")):
        segments = list(group)
        if parent >= 0:
            shared.append((slice(segments[0].start, segments[-1].stop), parent))
    runs: list[list[Segment]] = []
    for segment in layout:
        length = len(segment.tokens)
        last = len(runs[-1][-1].tokens) if runs else -1
        if last == length or (0 <= last < ALONE and length < ALONE):
            runs[-1].append(segment)
        else:
            runs.append([segment])
    own = [_own_of(run, device) for run in runs]
    return Pass(own, shared, [s for s in layout if s.leaf < 0], keep, paths)


def _own_of(run: list[Segment], device: torch.device) -> Own:
    lengths = [len(s.tokens) for s in run]
    longest = max(lengths)
    if min(lengths) == longest:
        return Own(run[0].start, len(run), longest)
    places = torch.arange(longest)
    length = torch.tensor(lengths)[:, None]
    first = torch.tensor([s.start for s in run])[:, None]
    gather = (first + torch.minimum(places, length - 1)).flatten().to(device)
    real = (places < length).flatten().nonzero()[:, 0].to(device)
    return Own(run[0].start, len(run), longest, gather, real)


def _forward(model: Any, layout: list[Segment], tree: Pass) -> Tensor:
    ids = torch.tensor([[t for s in layout for t in s.tokens]], device=model.device)
    spans = [torch.arange(s.position, s.position + len(s.tokens)) for s in layout]
    places = torch.cat(spans)[None].to(model.device)
    out = model.base_model(input_ids=ids, position_ids=places, use_cache=False, tree=tree)
    hidden: Tensor = out.last_hidden_state[0]
    return hidden


def _readings(plan: ScoringPlan, layout: list[Segment]) -> list[Reading]:
    """A node's last state predicts the first token of every target on it; the rest in place."""
    readings: list[Reading] = []
    for segment in layout:
        if segment.leaf >= 0:
            tokens, place = plan.leaves[segment.leaf].tokens, plan.places[segment.leaf]
            readings += [(segment.start + k, t, place + k + 1) for k, t in enumerate(tokens[1:])]
        else:
            on = plan.children[segment.node]
            last = segment.stop - 1
            readings += [(last, plan.leaves[i].tokens[0], plan.places[i]) for i in on]
    return readings


@contextmanager
def _attention(model: Any) -> Iterator[None]:
    """The model with tree attention, and afterwards with what it had before."""
    from transformers import AttentionInterface
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    AttentionInterface.register(NAME, tree_attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, lambda *_, **__: None)
    before = model.config._attn_implementation
    model.set_attn_implementation(NAME)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


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
    if tree is None:
        raise TreeRefused("it does not hand extra arguments on to its attention")
    for name in ("sliding_window", "softcap", "s_aux", "position_bias", "head_mask"):
        if extra.get(name) is not None:
            raise TreeRefused(f"its attention uses {name}")
    if query.shape[-1] != value.shape[-1]:
        raise TreeRefused("its keys and values differ in size")
    if dropout or query.shape[0] != 1:
        raise TreeRefused("its attention is not in evaluation mode")
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    paths = _extend(tree, module.layer_idx, key, value)
    out, norm = _see_own(tree.own, query, key, value, scale)
    for span, node in tree.shared:
        states, out_of, norm_of = query[:, :, span], out[span], norm[span]
        blocks = paths.get(node) or tree.paths[node, module.layer_idx]
        for keys, values in blocks:
            part, part_norm = _see(states, keys, values, scale)
            out_of.lerp_(part, (part_norm - norm_of).sigmoid_().unsqueeze(-1).to(out.dtype))
            if len(blocks) > 1:
                torch.logaddexp(norm_of, part_norm, out=norm_of)
    return out.unsqueeze(0), None


def _extend(tree: Pass, layer: int, key: Tensor, value: Tensor) -> dict[int, list[Block]]:
    paths: dict[int, list[Block]] = {}
    for node in tree.nodes:
        span = slice(node.start, node.stop)
        own = (key[:, :, span], value[:, :, span])
        above: list[Block] = []
        if node.parent >= 0:
            above = paths.get(node.parent) or tree.paths[node.parent, layer]
        if above and above[-1][0].shape[2] + len(node.tokens) <= JOIN:
            own = (torch.cat((above[-1][0], own[0]), 2), torch.cat((above[-1][1], own[1]), 2))
            above = above[:-1]
        elif node.node in tree.keep:  # a view would keep the whole pass alive
            own = (own[0].contiguous(), own[1].contiguous())
        paths[node.node] = [*above, own]
        if node.node in tree.keep:
            tree.paths[node.node, layer] = paths[node.node]
    return paths


def _see_own(
    parts: list[Own], query: Tensor, key: Tensor, value: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    """Causal attention inside each segment: [tokens, heads, size], and log-sum-exps."""
    groups = query.shape[1] // key.shape[1]
    outs, norms = [], []
    for part in parts:
        q, k, v = (_stack(x, part) for x in (query, key, value))
        if groups > 1:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        out, norm = (x.transpose(1, 2).flatten(0, 1) for x in flash(q, k, v, True, scale))
        if part.real is not None:
            out, norm = out.index_select(0, part.real), norm.index_select(0, part.real)
        outs.append(out)
        norms.append(norm)
    return torch.cat(outs), torch.cat(norms)  # of one: its contiguous copy


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
    heads, length, size = query.shape[1:]
    # nothing is masked: heads that share keys become more queries of one head
    query = query.reshape(1, key.shape[1], heads // key.shape[1] * length, size)
    out, norm = flash(query, key, value, False, scale)
    out, norm = out.reshape(heads, length, size), norm.reshape(heads, length)
    return out.transpose(0, 1), norm.transpose(0, 1)


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
