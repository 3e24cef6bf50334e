"""The fast way: packed targets on a prefix tree, exact, through transformers' own modules.

All segments of a bin go through every linear layer side by side, without padding. Only attention
knows of the tree (``attention``): it is registered with transformers' AttentionInterface, and the
description of the pass travels as an extra keyword. Keys and values of a context come from the
same forward pass as its targets, or are kept from an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.scoring.attention import NAME, Block, Own, Pass, Shared, tree_attention
from judgelab.scoring.head import Asked, Head
from judgelab.scoring.prefix_tree import Bin, ScoringPlan

ALONE = 64  # tokens from which a segment is worth a call of its own rather than padding
SAME = 1e-5  # relative; a norm that is another function (Gemma's 1 + weight) is off by far more


def score_tree(model: Any, head: Head, plan: ScoringPlan) -> NDArray[np.float64]:
    """[tokens] log P of every token of every target, nats, in the order of ``plan.places``.

    TreeRefused where the model's attention is not plain; see ``engine.tree_refusal``.
    """
    result = torch.full((plan.places[-1],), torch.nan, dtype=torch.float64)
    last_use = _last_use(plan)
    on = plan.children()
    paths: dict[tuple[int, int], list[Block]] = {}
    with torch.inference_mode(), _attention(model), one_pass_norms(model):
        for b, bin_ in enumerate(plan.bins):
            layout = _layout(plan, bin_)
            tree = _pass(plan, layout, frozenset(n for n in bin_.nodes if last_use[n] > b))
            tree.paths = paths
            hidden = _forward(model, layout, tree)
            asked = _asked(plan, layout, on, hidden.device)
            if asked is not None:
                result[asked.place.cpu()] = head.logprobs(hidden, asked).double().cpu()
            for node, layer in [key for key in paths if last_use[key[0]] <= b]:
                del paths[node, layer]
    return np.asarray(result.numpy())


@dataclass(frozen=True)
class _Segment:
    """Where one node (leaf < 0) or leaf lies in the pass."""

    node: int  # the node itself, or the one below the leaf
    leaf: int
    parent: int  # what its queries see beside themselves
    start: int
    tokens: tuple[int, ...]
    position: int

    @property
    def stop(self) -> int:
        return self.start + len(self.tokens)


def _layout(plan: ScoringPlan, bin_: Bin) -> list[_Segment]:
    result: list[_Segment] = []
    start = 0
    for n in bin_.nodes:
        node = plan.nodes[n]
        result.append(_Segment(n, -1, node.parent, start, node.tokens, node.start))
        start += len(node.tokens)
    for i in bin_.leaves:
        leaf = plan.leaves[i]
        end = plan.nodes[leaf.node].end
        result.append(_Segment(leaf.node, i, leaf.node, start, leaf.inputs, end))
        start += len(leaf.inputs)
    return result


def _pass(plan: ScoringPlan, layout: list[_Segment], keep: frozenset[int]) -> Pass:
    shared: list[Shared] = []
    for segment in layout:
        if segment.parent < 0:
            continue
        if shared and shared[-1].node == segment.parent and shared[-1].stop == segment.start:
            shared[-1] = Shared(shared[-1].start, segment.stop, segment.parent)
        else:
            shared.append(Shared(segment.start, segment.stop, segment.parent))
    made = [(s.node, s.parent, s.start, s.stop) for s in layout if s.leaf < 0]
    return Pass(_own(layout), shared, made, keep)


def _own(layout: list[_Segment]) -> list[Own]:
    """Stack equal segments; pad short ones together; give long ones a call each."""
    runs: list[list[_Segment]] = []
    for segment in layout:
        length = len(segment.tokens)
        last = len(runs[-1][-1].tokens) if runs else -1
        if last == length or (0 <= last < ALONE and length < ALONE):
            runs[-1].append(segment)
        else:
            runs.append([segment])
    return [_stacked(run) for run in runs]


def _stacked(run: list[_Segment]) -> Own:
    lengths = [len(s.tokens) for s in run]
    longest = max(lengths)
    if min(lengths) == longest:
        return Own(run[0].start, len(run), longest)
    places = torch.arange(longest)
    length = torch.tensor(lengths)[:, None]
    first = torch.tensor([s.start for s in run])[:, None]
    gather = (first + torch.minimum(places, length - 1)).flatten()
    real = (places < length).flatten().nonzero()[:, 0]
    return Own(run[0].start, len(run), longest, gather, real)


def _forward(model: Any, layout: list[_Segment], tree: Pass) -> torch.Tensor:
    """[tokens, hidden] states after the final norm."""
    device = model.device
    ids = torch.tensor([[t for s in layout for t in s.tokens]], device=device)
    spans = [torch.arange(s.position, s.position + len(s.tokens)) for s in layout]
    for k, part in enumerate(tree.own):
        if part.gather is not None and part.real is not None and device.type != "cpu":
            moved = (part.gather.to(device), part.real.to(device))
            tree.own[k] = Own(part.start, part.count, part.length, *moved)
    out = model.base_model(
        input_ids=ids, position_ids=torch.cat(spans)[None].to(device), use_cache=False, tree=tree
    )
    hidden: torch.Tensor = out.last_hidden_state[0]
    return hidden


def _asked(
    plan: ScoringPlan, layout: list[_Segment], on: list[list[int]], device: torch.device
) -> Asked | None:
    """A node's last state predicts the first token of every target on it; the rest in place."""
    rows: list[int] = []
    at: list[int] = []
    tokens: list[int] = []
    place: list[int] = []
    for segment in layout:
        if segment.leaf >= 0:
            wanted = plan.leaves[segment.leaf].tokens[1:]
            at.extend(range(len(rows), len(rows) + len(wanted)))
            rows.extend(range(segment.start, segment.stop))
            tokens.extend(wanted)
            first = plan.places[segment.leaf] + 1
            place.extend(range(first, first + len(wanted)))
        elif on[segment.node]:
            at.extend([len(rows)] * len(on[segment.node]))
            rows.append(segment.stop - 1)
            tokens.extend(plan.leaves[i].tokens[0] for i in on[segment.node])
            place.extend(plan.places[i] for i in on[segment.node])
    if not rows:
        return None
    return Asked(*(torch.tensor(values, device=device) for values in (rows, at, tokens, place)))


def _last_use(plan: ScoringPlan) -> list[int]:
    """[nodes] index of the last bin in which the node is seen."""
    result = [-1] * len(plan.nodes)
    for b, bin_ in enumerate(plan.bins):
        for n in bin_.nodes:
            if plan.nodes[n].parent >= 0:
                result[plan.nodes[n].parent] = b
        for i in bin_.leaves:
            result[plan.leaves[i].node] = b
    return result


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


@contextmanager
def one_pass_norms(model: Any) -> Iterator[None]:
    """The model with torch's RMS norm in the place of transformers' own, and then as before.

    On a CPU in fp32 transformers' norm is bound by memory: it reads and writes the states once for
    every operation. In lower precisions the two round differently, so nothing is replaced there.
    """
    replaced = [module for module in model.modules() if _is_plain(module)]
    for module in replaced:
        module.forward = _one_pass(module.weight, module.variance_epsilon)
    try:
        yield
    finally:
        for module in replaced:
            vars(module).pop("forward", None)


def _one_pass(weight: torch.Tensor, epsilon: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def forward(hidden_states: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.rms_norm(hidden_states, tuple(weight.shape), weight, epsilon)

    return forward


def _is_plain(module: Any) -> bool:
    """Whether it is x / sqrt(mean x^2 + epsilon) * weight, by its fields and on an example."""
    if not type(module).__name__.endswith("RMSNorm") or "forward" in vars(module):  # or a hook's
        return False
    weight, epsilon = getattr(module, "weight", None), getattr(module, "variance_epsilon", None)
    if not isinstance(weight, torch.Tensor) or not isinstance(epsilon, float):
        return False
    if weight.device.type != "cpu" or weight.dtype != torch.float32 or weight.ndim != 1:
        return False
    states = torch.linspace(-3, 5, 2 * len(weight)).view(2, -1)
    wanted = module.forward(states)  # not its hooks
    found = _one_pass(weight, epsilon)(states)
    return bool(torch.allclose(found, wanted, rtol=SAME, atol=1e-6))
