"""One model, one way of scoring, and the check that it agrees with the oracle."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.errors import JudgelabError
from judgelab.scoring.attention import TreeRefused
from judgelab.scoring.kv import score_kv
from judgelab.scoring.plan import Job, Plan, make_plan
from judgelab.scoring.rows import score_rows
from judgelab.scoring.support import cache_refusal, head_of, tree_refusal
from judgelab.scoring.tree import score_tree

logger = logging.getLogger(__name__)

BUDGET = {"cpu": 1024, "cuda": 16384}
"""Tokens of one pass: on a CPU what its caches hold, on a GPU what fills it."""


class DriftError(JudgelabError):
    """Two ways of computing one log-probability disagree."""


class Engine:
    """log P(target | context) for token sequences, by the fastest way the model allows.

    Args:
        model: a causal LM in evaluation mode.
        backend: auto, rows, kv or tree.
        budget: tokens of one pass; None for the device's default.
        tolerance: nats per target by which ``kv`` or ``tree`` may differ from ``rows`` on the
            first bin; None for 1e-3 in fp32, otherwise .05 + .5 % of the sum.

    Attributes:
        backend: the way that is used: rows, kv or tree.
        reason: why it is not the way asked for (or not ``tree``, under auto); None if it is.
        drift: largest difference to ``rows`` seen on the first bin, nats per target; None before
            the first call, and for ``rows``.
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
        self.drift: float | None = None
        self.reason: str | None = None
        self.head = None if backend == "rows" else head_of(model)
        self.backend = self._choose("tree" if backend == "auto" else backend)

    def score(self, jobs: Sequence[Job]) -> NDArray[np.float64]:
        """[jobs] sum of log P over the target, nats.

        Raises:
            DriftError: the first bin disagrees with ``rows``.
        """
        if not jobs:
            return np.empty(0)
        plan = make_plan(jobs, self.budget)
        if self.backend != "rows" and self.drift is None:
            self._check(plan)
        return self._run(plan)[list(plan.leaf_of)]

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

    def _run(self, plan: Plan) -> NDArray[np.float64]:
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

    def _check(self, plan: Plan) -> None:
        """Score the targets of the first bin that has any both ways."""
        first = next((b.leaves for b in plan.bins if b.leaves), tuple(range(len(plan.leaves)))[:8])
        jobs = [(plan.context(plan.leaves[i].node), plan.leaves[i].tokens) for i in first]
        part = make_plan(jobs, self.budget)
        fast = self._run(part)[list(part.leaf_of)]
        slow = score_rows(self.model, jobs)
        off = np.abs(fast - slow)
        allowed = self._allowed(slow)
        self.drift = float(off.max())
        if not (off <= allowed).all():  # also where a sum is NaN
            self.drift = None
            worst = int(np.argmax(np.where(np.isnan(off), np.inf, off - allowed)))
            raise DriftError(
                f"evaluation_lm.backend={self.backend} differs from one sequence at a time by "
                f"{off[worst]:.3g} nats on a target of {len(jobs[worst][1])} tokens (allowed "
                f"{allowed[worst]:.3g}): use backend=kv or rows, or raise evaluation_lm.tolerance."
            )

    def _allowed(self, slow: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.tolerance is not None:
            return np.full(len(slow), self.tolerance)
        if self.model.dtype == torch.float32 and not getattr(
            self.model.config, "quantization_config", None
        ):
            return np.full(len(slow), 1e-3)
        return 0.05 + 0.005 * np.abs(slow)
