"""One model, one way of scoring, and the check that it agrees with the oracle: ``rows``.

Floating-point sums depend on the order of their terms, so two right ways give other digits. What
that moves is measured on the model at hand, whose layers' sums are rounded once more, at random: a
batch of another shape has the same sums in the same order on many a GPU, and would show no noise. A
faster way may be off by a small multiple of it. Tokens are compared one by one: a wrong mask,
position or token is far above the noise of a token, while in the sum of a long text it could hide.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from inspect import signature
from itertools import count
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from judgelab.core.errors import JudgelabError
from judgelab.scoring.head import Head, head_of
from judgelab.scoring.load import quantised
from judgelab.scoring.prefix_tree import Ids, Job, ScoringPlan, make_plan
from judgelab.scoring.tree import TreeRefused, score_tree

logger = logging.getLogger(__name__)

BUDGET = {"cpu": 1024, "cuda": 16384}
"""Tokens of one pass: on a CPU what its caches hold, on a GPU what fills it."""

CHECKED = 2
"""Passes of which the tokens are scored one sequence at a time, too: long prompts take time."""

BLOCK = 64  # target positions whose logits are summed up in float64 at once

LEAST = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3, torch.int8: 0.15}
"""Noise of a token, nats, that is granted to any model; int8 rounds a state by what stands beside
it, on SmolLM2-135M by .2."""

TYPICAL, LARGEST = 1.6, 15.0
"""Multiples of the noise that a faster way may be off: root mean square, and any one token. On
SmolLM2-135M in bf16 sound ways are off by .7 and 3, targets that begin one position too late by
3.6 and 38; in fp32 the fault is ten thousand times the noise (docs/howto/gpu.md). In int8, where
sound ways are off by .8, that fault (1.1) passes for rounding."""

SAMPLE = 8  # sequences on which the noise is measured

FLASH = 8  # compute capability from which torch's flash attention runs


class DriftError(JudgelabError):
    """Two ways of computing one log-probability disagree."""


@dataclass(frozen=True)
class Drift:
    """How far a way of scoring is off one sequence at a time, in nats per token."""

    typical: float  # root mean square over tokens
    largest: float  # of any token
    allowed: float
    allowed_largest: float
    tokens: int  # compared

    @property
    def small(self) -> bool:
        """Whether the way is as good as one sequence at a time (False where it gives NaN)."""
        return self.typical <= self.allowed and self.largest <= self.allowed_largest

    def __str__(self) -> str:
        """The comparison in one clause."""
        return (
            f"{self.typical:.2g} nats per token (largest {self.largest:.2g}; allowed "
            f"{self.allowed:.2g} and {self.allowed_largest:.2g}) on {self.tokens} tokens"
        )


class Engine:
    """log P(target | context) for token sequences, by the fastest way a causal LM allows.

    ``backend`` (auto, rows, kv or tree) is the way that is used, ``reason`` why it is not the one
    asked for (or ``tree``), ``drift`` how far it is off ``rows`` on the first targets.

    Args:
        budget: tokens of one pass; None for the device's default.
        tolerance: nats per token (root mean square) that ``drift`` may be; None: see ``drift``.
    """

    def __init__(
        self,
        model: Any,
        backend: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        self.model, self.tolerance = model, tolerance
        self.budget = budget or BUDGET.get(model.device.type, BUDGET["cuda"])
        self.drift: Drift | None = None
        self._whole = False  # whether targets of several tokens were among those checked
        self.reason: str | None = None
        self.named = backend != "auto"
        self.backend = "tree" if backend == "auto" else backend
        self.head = None if backend == "rows" else head_of(model)
        if self.backend != "rows" and self.head is None:
            self._go_on_by("rows", "its logits are not a linear head")
        elif self.backend != "rows" and (refusal := cache_refusal(model)):
            self._go_on_by("rows", refusal)
        elif self.backend == "tree" and (refusal := tree_refusal(model)):
            self._go_on_by("kv", refusal)

    def score(self, jobs: Sequence[Job]) -> NDArray[np.float64]:
        """[jobs] sum of log P over the target, nats; DriftError where a named back end is off."""
        if not jobs:
            return np.empty(0)
        plan = make_plan(jobs, self.budget)
        whole = any(leaf.inputs for leaf in plan.leaves)
        if self.drift is None or (whole and not self._whole):  # labels of one token tell little
            self._check(plan)
            self._whole = whole
        return plan.totals(self._run(plan))

    def _go_on_by(self, backend: str, reason: str) -> None:
        self.backend, self.reason = backend, reason
        logger.warning(
            "scoring by %s: this model does not allow the faster way (%s)", backend, reason
        )

    def _run(self, plan: ScoringPlan) -> NDArray[np.float64]:
        if self.backend == "tree":
            assert self.head is not None
            try:
                return score_tree(self.model, self.head, plan)
            except TreeRefused as refusal:
                self._go_on_by("kv", str(refusal))
        if self.backend == "kv":
            assert self.head is not None
            return score_kv(self.model, self.head, plan, max(self.budget, 4096))
        return score_rows(self.model, [plan.job(i) for i in range(len(plan.leaves))])

    def _check(self, plan: ScoringPlan) -> None:
        """Score the first targets both ways, down to a way that agrees."""
        first = next((b.leaves for b in plan.bins if b.leaves), range(len(plan.leaves))[:8])
        jobs = [plan.job(i) for i in first]
        ends = np.cumsum([len(context) + len(target) for context, target in jobs])
        few = int(np.searchsorted(ends, CHECKED * self.budget, side="right"))
        part = make_plan(jobs[: max(2, few)], self.budget)  # two at least: they share a context
        jobs_in_order = [part.job(i) for i in range(len(part.leaves))]
        slow, floor = None, 0.0
        while self.backend != "rows":
            fast, way = self._run(part), self.backend  # an attention may refuse while it runs
            if way == "rows":
                return
            if slow is None:
                slow = score_rows(self.model, jobs_in_order)
                floor = noise(self.model, jobs_in_order, slow)
            off = drift(fast, slow, floor, self.tolerance)
            if off.small:
                self.drift = off
                return
            reason = f"{way} differs from one sequence at a time by {off}"
            if self.named:
                raise DriftError(
                    f"evaluation_lm.backend={reason}: use backend=auto or rows, or raise "
                    "evaluation_lm.tolerance (nats per token)."
                )
            self._go_on_by({"tree": "kv", "kv": "rows"}[way], reason)


def cache_refusal(model: Any) -> str | None:
    """Why a context must not be encoded once for all its targets; None if it may."""
    rope = getattr(model.config.get_text_config(), "rope_parameters", None) or {}
    for kind in (rope, *(value for value in rope.values() if isinstance(value, dict))):
        if kind.get("rope_type") in ("dynamic", "longrope"):
            return f"its position encoding ({kind['rope_type']}) depends on the whole length"
    if getattr(model, "_is_stateful", False):
        return "it is recurrent: its state cannot be shared"
    return None


def tree_refusal(model: Any) -> str | None:
    """Why targets must not be packed on a tree; None if they may.

    What a configuration does not tell (soft caps, sinks) the attention itself refuses.
    """
    if len(set(getattr(model, "hf_device_map", {}).values())) > 1:
        return "its layers lie on several devices"
    if model.device.type == "cuda" and model.dtype != torch.float32:
        major, minor = torch.cuda.get_device_capability(model.device)
        if major < FLASH:  # T4 and V100
            return f"a GPU of compute capability {major}.{minor} has no flash attention in halves"
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or []) - {"full_attention"}
    if kinds:
        return f"it has layers of another kind ({', '.join(sorted(kinds))})"
    if getattr(config, "use_sliding_window", True) and getattr(config, "sliding_window", None):
        return "its attention has a sliding window"
    if not getattr(model, "_supports_attention_backend", False):
        return "its attention cannot be exchanged"
    return None


def score_kv(model: Any, head: Head, plan: ScoringPlan, budget: int) -> NDArray[np.float64]:
    """[tokens] log P of every token of every target, nats, in the order of ``plan.places``.

    The plan's bins are not used, as a cache belongs to one context: every context is encoded once
    into a cache, its targets run on top in batches of ``budget`` cache entries (batch x length).
    That needs nothing of a model but ``past_key_values``; contexts that begin alike share the
    stretch, by copying the cache where they part.
    """
    result = torch.full((plan.places[-1],), torch.nan, dtype=torch.float64)
    caches: dict[int, Any] = {}
    with torch.inference_mode():
        for n, node in enumerate(plan.nodes):
            above = plan.path(node.parent)  # depth first: caches off this path are not needed again
            caches = {k: cache for k, cache in caches.items() if k in above}
            cache = copy.deepcopy(caches[node.parent]) if node.parent >= 0 else None
            hidden, caches[n] = _forward(model, [node.tokens], node.start, cache)
            last = len(node.tokens) - 1  # its state predicts the first token of every target
            on = [(last, plan.leaves[i].tokens[0], plan.places[i]) for i in plan.children[n]]
            if on:
                head.read(hidden[0], on, result)
            for batch in _batches(plan, n, budget):
                inputs = [plan.leaves[i].inputs for i in batch]
                spread = copy.deepcopy(caches[n])
                spread.batch_repeat_interleave(len(batch))
                hidden, _ = _forward(model, inputs, node.end, spread)
                readings = [
                    (b * hidden.shape[1] + t, token, plan.places[i] + t + 1)
                    for b, i in enumerate(batch)
                    for t, token in enumerate(plan.leaves[i].tokens[1:])
                ]
                head.read(hidden.flatten(0, 1), readings, result)
    return np.asarray(result.numpy())


def _batches(plan: ScoringPlan, n: int, budget: int) -> Iterator[list[int]]:
    """Targets of a node in order of length, as many at a time as the budget holds."""
    batch: list[int] = []
    for leaf in plan.children[n]:
        length = len(plan.leaves[leaf].inputs)
        width = plan.nodes[n].end + length  # targets come sorted: this is the longest
        if batch and (len(batch) + 1) * width > budget:
            yield batch
            batch = []
        if length:
            batch.append(leaf)
    if batch:
        yield batch


def _forward(model: Any, inputs: list[Ids], start: int, cache: Any) -> tuple[torch.Tensor, Any]:
    """[batch, length, hidden] states and the cache; padding stands at the end and is masked."""
    ids = pad_sequence([torch.tensor(tokens) for tokens in inputs], batch_first=True)
    ends = torch.tensor([start + len(tokens) for tokens in inputs])
    places = torch.arange(start + ids.shape[1])
    mask = (places < ends[:, None]).long()
    device = model.device
    out = model.base_model(
        input_ids=ids.to(device),
        attention_mask=mask.to(device),  # without one, restarting positions mean packing
        position_ids=places[start:].expand(len(inputs), -1).to(device),
        past_key_values=cache,
        use_cache=True,
    )
    return out.last_hidden_state, out.past_key_values


def score_rows(model: Any, jobs: Sequence[Job], again: bool = False) -> NDArray[np.float64]:
    """[tokens] log P of every token of every target, nats, job after job: one at a time.

    What the other ways are measured against: the model's own logits, no cache, no padding, no
    shared prefix; their softmax in float64, as fp32 loses 1e-5 nats a token over a vocabulary of
    50,000. ``again``: with sums that are rounded once more.
    """
    parts, fed = list[torch.Tensor](), ([0], 0)
    for context, target in jobs:
        ids = [*context, *target[:-1]]
        with torch.inference_mode(), rounded_again(model) if again else nullcontext():
            if (ids, len(target)) != fed:  # labels of one token are read off the same pass
                logits = last_logits(model, ids, len(target))
                fed = (ids, len(target))
            picks = torch.split(torch.tensor(target, device=logits.device)[:, None], BLOCK)
            blocks = torch.split(logits[len(logits) - len(target) :], BLOCK)
            parts += [
                block.double().log_softmax(-1).gather(-1, tokens)[:, 0].cpu()
                for block, tokens in zip(blocks, picks, strict=True)
            ]
    return np.asarray(torch.cat(parts).numpy())


def last_logits(model: Any, ids: Sequence[int], count: int) -> torch.Tensor:
    """[positions, vocab] the model's own logits of one sequence: of its last ``count`` positions,
    or of all where the model cannot leave out the others."""
    selects = "logits_to_keep" in signature(model.forward).parameters
    keep = {"logits_to_keep": count} if selects else {}
    batch = torch.tensor([ids], device=model.device)
    logits: torch.Tensor = model(input_ids=batch, use_cache=False, **keep).logits[0]
    return logits


def noise(model: Any, jobs: Sequence[Job], slow: NDArray[np.float64]) -> float:
    """What the precision cannot tell, root mean square of tokens, nats; ``slow`` by score_rows."""
    picked = range(0, len(jobs), max(1, len(jobs) // SAMPLE))[:SAMPLE]
    starts = np.cumsum([0, *(len(target) for _, target in jobs)])
    once = np.concatenate([slow[starts[k] : starts[k + 1]] for k in picked])
    again = score_rows(model, [jobs[k] for k in picked], again=True)
    # kernels of quantised weights compute in fewer bits, whatever the model's own precision
    bits = torch.int8 if getattr(model, "is_loaded_in_8bit", False) else torch.bfloat16
    dtype = bits if quantised(model) else model.dtype
    return max(LEAST.get(dtype, LEAST[torch.float16]), rms(again - once))


@contextmanager
def rounded_again(model: Any) -> Iterator[None]:
    """Sums of linear layers move by up to half of eps, at random, and are rounded again."""
    seeds = count()

    def move(_module: Any, _inputs: Any, sums: Any) -> torch.Tensor | None:
        if not isinstance(sums, torch.Tensor):  # a router of experts gives its choice as well
            return None
        draw = torch.Generator(sums.device).manual_seed(next(seeds))
        shift = torch.rand(sums.shape, generator=draw, device=sums.device) - 0.5
        # added, not sums * (1 + ...): in fp32 that factor is itself rounded, and never above 1
        change = sums * (torch.finfo(sums.dtype).eps * shift)
        return (sums + change).to(sums.dtype)

    layers = [
        one
        for one in model.base_model.modules()
        if not isinstance(one, torch.nn.Embedding)
        # experts hold several matrices in one, and some quantised layers no weight at all
        and (hasattr(one, "out_features") or any(x.ndim > 1 for x in one.parameters(recurse=False)))
    ]
    hooks = [layer.register_forward_hook(move) for layer in layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def drift(
    fast: NDArray[np.float64], slow: NDArray[np.float64], floor: float, tolerance: float | None
) -> Drift:
    """[tokens] of a way against one sequence at a time. What is allowed, nats per token, is
    ``tolerance``, or else a multiple of ``floor``, the noise."""
    off = np.abs(fast - slow)
    allowed = TYPICAL * floor if tolerance is None else tolerance
    return Drift(rms(off), float(off.max()), allowed, allowed * LARGEST / TYPICAL, len(off))


def rms(values: NDArray[np.float64]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
