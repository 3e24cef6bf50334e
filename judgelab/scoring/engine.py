"""One model, one way of scoring, and the check that it agrees with the oracle."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgelab.scoring.attention import TreeRefused
from judgelab.scoring.head import head_of
from judgelab.scoring.kv import score_kv
from judgelab.scoring.prefix_tree import Job, ScoringPlan, make_plan
from judgelab.scoring.rows import Drift, DriftError, drift, noise, score_rows
from judgelab.scoring.tree import score_tree

logger = logging.getLogger(__name__)

BUDGET = {"cpu": 1024, "cuda": 16384}
"""Tokens of one pass: on a CPU what its caches hold, on a GPU what fills it."""

CHECKED = 2
"""Passes of which the tokens are scored one sequence at a time, too: long prompts take time."""


class Engine:
    """log P(target | context) for token sequences, by the fastest way the model allows.

    Args:
        model: a causal LM in evaluation mode.
        backend: auto, rows, kv or tree; changes the speed only.
        budget: tokens of one pass; None for the device's default.
        tolerance: nats per token (root mean square) by which ``kv`` or ``tree`` may differ from
            ``rows`` on the first targets; None for a small multiple of what the precision cannot
            tell, see ``rows.drift``.

    Attributes:
        backend, reason: the way that is used, and why it is not the one asked for (or ``tree``).
        drift: how far it is off ``rows`` on the first targets, once checked.
    """

    def __init__(
        self,
        model: Any,
        backend: str = "auto",
        budget: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        self.model = model
        self.budget = budget or BUDGET.get(model.device.type, BUDGET["cuda"])
        self.tolerance = tolerance
        self.drift: Drift | None = None
        self._whole = False  # whether targets of several tokens were among those checked
        self.reason: str | None = None
        self.head = None if backend == "rows" else head_of(model)
        self.named = backend != "auto"
        self.backend = self._choose(backend if self.named else "tree")

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

    def _choose(self, wanted: str) -> str:
        if wanted == "rows":
            return "rows"
        if self.head is None:
            return self._instead("rows", "its logits are not a linear head on its last states")
        refusal = cache_refusal(self.model)
        if refusal:
            return self._instead("rows", refusal)
        refusal = tree_refusal(self.model) if wanted == "tree" else None
        return self._instead("kv", refusal) if refusal else wanted

    def _instead(self, backend: str, reason: str) -> str:
        self.reason = reason
        logger.warning(
            "scoring by %s: this model does not allow the faster way (%s)", backend, reason
        )
        return backend

    def _run(self, plan: ScoringPlan) -> NDArray[np.float64]:
        """[tokens] log P in the order of ``plan.places``."""
        if self.backend == "tree":
            assert self.head is not None
            try:
                return score_tree(self.model, self.head, plan)
            except TreeRefused as refusal:
                self.backend = self._instead("kv", str(refusal))
        if self.backend == "kv":
            assert self.head is not None
            return score_kv(self.model, self.head, plan, max(self.budget, 4096))
        return score_rows(self.model, [(plan.context(x.node), x.tokens) for x in plan.leaves])

    def _check(self, plan: ScoringPlan) -> None:
        """Score the first targets both ways, down to a way that agrees."""
        first = next((b.leaves for b in plan.bins if b.leaves), tuple(range(len(plan.leaves)))[:8])
        jobs = [(plan.context(plan.leaves[i].node), plan.leaves[i].tokens) for i in first]
        part = make_plan(_some(jobs, CHECKED * self.budget), self.budget)
        ordered = [(part.context(x.node), x.tokens) for x in part.leaves]
        slow, floor = None, 0.0
        while self.backend != "rows":
            fast, way = self._run(part), self.backend  # an attention may refuse while it runs
            if way == "rows":
                return
            if slow is None:
                slow = score_rows(self.model, ordered)
                floor = noise(self.model, ordered, slow)
            found = drift(fast, slow, floor, self.tolerance)
            if found.small:
                self.drift = found
                return
            reason = f"{way} differs from one sequence at a time by {found}"
            if self.named:
                raise DriftError(
                    f"evaluation_lm.backend={reason}: use backend=auto or rows, or raise "
                    "evaluation_lm.tolerance (nats per token)."
                )
            self.backend = self._instead({"tree": "kv", "kv": "rows"}[way], reason)


def _some(jobs: Sequence[Job], most: int) -> Sequence[Job]:
    """The first jobs of so many tokens together; two at least, so that they share a context."""
    ends = np.cumsum([len(context) + len(target) for context, target in jobs])
    return jobs[: max(2, int(np.searchsorted(ends, most, side="right")))]


def cache_refusal(model: Any) -> str | None:
    """Why a context must not be encoded once for all its targets; None if it may."""
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = [rope, *(value for value in rope.values() if isinstance(value, dict))]
    for kind in kinds:
        if kind.get("rope_type") in ("dynamic", "longrope"):
            return f"its position encoding ({kind['rope_type']}) depends on the whole length"
    if getattr(model, "_is_stateful", False):
        return "it is recurrent: its state cannot be shared"
    return None


def tree_refusal(model: Any) -> str | None:
    """Why targets must not be packed on a tree; None if they may.

    What a configuration does not tell (soft caps, sinks) the attention itself refuses.
    """
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or []) - {"full_attention"}
    if kinds:
        return f"it has layers of another kind ({', '.join(sorted(kinds))})"
    uses_window = getattr(config, "use_sliding_window", True)
    if uses_window and getattr(config, "sliding_window", None):
        return "its attention has a sliding window"
    if not getattr(model, "_supports_attention_backend", False):
        return "its attention cannot be exchanged"
    return cache_refusal(model)
