"""The LLM judge: which of two answers is better? (TVD-MI paper, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.capability import Capability
from judgelab.errors import DataError
from judgelab.evaluation_lm.protocol import ChatRequest, EvaluationLM
from judgelab.mechanism.labels import read_label
from judgelab.mechanism.protocol import Definition, Reads
from judgelab.panel import Panel
from judgelab.prompt import Prompt
from judgelab.scores import Scores, mean_over, measured, transposed, weaker_of_two

VERDICTS = {"a": 1.0, "b": 0.0, "c": 0.5}
"""Label -> did the text shown as A win."""


@dataclass(frozen=True)
class Judge:
    """Every ordered pair is judged, so each two texts are seen in both orders.

    Definitions of an agent's score (win rate):
        corrected: mean over peers of both orders, 1/2 (W_ij + 1 - W_ji).
        paper, released: mean of row i alone, which counts only comparisons where i was shown as
        A and so moves with position bias.
    Pair score, min of the two agents' qualities:
        corrected: quality is the both-order win rate; paper: the row mean; released: the win
        rate against the human reference only, which makes most pairs tie.

    Args:
        prompt: fields task, a, b, and source where ``context``.
        context: whether the judge sees the source.
    """

    prompt: Prompt
    context: bool = True
    temperature: float = 0.0
    max_tokens: int = 500
    reads: ClassVar[Reads] = "preprocessed"
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset({Capability.CHAT}),)

    @property
    def name(self) -> str:
        """judge, or judge_no_context."""
        return "judge" if self.context else "judge_no_context"

    @property
    def measurement(self) -> str:
        """Which recorded verdicts are ours."""
        return "judge_with_context" if self.context else "judge_without_context"

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown as A, beat peer; NaN if unread."""
        n, m = len(panel.items), len(panel.agents)
        verdict = np.full((n, m, m), np.nan)
        task = str(panel.provenance.get("task_description") or panel.task)
        for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
            cells, requests = [], []
            for i, j in permutations(range(m), 2):
                a, b = row[i], row[j]
                if a is None or b is None:
                    continue
                values = {"task": task, "a": a, "b": b}
                if self.context:
                    values["source"] = item.source
                key = (self.name, item.id, panel.agents[i].name, panel.agents[j].name)
                messages = self.prompt.messages(**values)
                requests.append(ChatRequest(messages, self.temperature, self.max_tokens, key=key))
                cells.append((k, i, j))
            if cells:
                replies = lm.chat(requests)
                verdict[tuple(np.array(cells).T)] = [read_label(r, VERDICTS) for r in replies]
        data = measured(panel, verdict=(("item", "agent", "peer"), verdict))
        return data.assign_attrs(prompt=self.prompt.identity)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates; diagnostics hold position bias and how often the orders disagree."""
        first = measured["verdict"]
        second = 1 - transposed(first)
        row = mean_over(first, "peer")
        both = mean_over((first + second) / 2, "peer")
        agent = both if definition == "corrected" else row
        quality = _against_reference(first, second) if definition == "released" else agent
        return Scores(
            agent=agent,
            pair=weaker_of_two(quality),
            diagnostics=position(first.values),
        )


def position(verdict: NDArray[np.float64]) -> dict[str, float]:
    """Position bias of verdicts [item, agent, peer].

    Returns:
        ``first_preferred``: P(the text shown first wins), .5 without bias (ties count 1/2);
        ``ties``: share of ties; ``orders_agree``: share of pairs with the same verdict in both
        orders. NaN where nothing was scored.
    """
    other = 1 - np.swapaxes(verdict, 1, 2)
    both = ~np.isnan(verdict) & ~np.isnan(other)
    scored = verdict[~np.isnan(verdict)]
    if not len(scored):
        return {"first_preferred": np.nan, "ties": np.nan, "orders_agree": np.nan}
    agree = float((verdict[both] == other[both]).mean()) if both.any() else np.nan
    return {
        "first_preferred": float(scored.mean()),
        "ties": float((scored == 0.5).mean()),
        "orders_agree": agree,
    }


def _against_reference(first: xr.DataArray, second: xr.DataArray) -> xr.DataArray:
    marked = np.flatnonzero(first["reference"].values)
    if len(marked) != 1:
        raise DataError(
            "study.definition=released scores judges against the human reference, but this "
            f"panel marks {len(marked)} agents as reference: use study.definition=corrected."
        )
    r = int(marked[0])
    quality = ((first + second) / 2).isel(peer=r, drop=True)
    tie = xr.DataArray(np.arange(first.sizes["agent"]) == r, dims="agent")
    return quality.where(~tie, 0.5)  # the release leaves the reference's own cell at 1/2
