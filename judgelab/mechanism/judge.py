"""The LLM judge: which of two answers is better? (TVD-MI paper, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.capability import Capability
from judgelab.core.errors import DataError
from judgelab.core.lm import ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, mean_over, measured, transposed, weaker_of_two
from judgelab.mechanism.closed import Closed, ReplyMode, with_shares
from judgelab.mechanism.labels import read_label
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads, Subject

VERDICTS = {"a": 1.0, "b": 0.0, "c": 0.5}
"""Label -> did the text shown as A win."""

LABELS = {f"[[{label.upper()}]]": label for label in VERDICTS}
"""Allowed reply -> label."""


@dataclass(frozen=True)
class Judge(BaseMechanism):
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
        reply: generated, labels or auto; see judgelab.mechanism.closed.
        prompt_labels: asks for the verdict alone, for replies by labels; the same fields.
        temperature, max_tokens: of a generated reply.
    """

    prompt: Prompt
    context: bool = True
    temperature: float = 0.0
    max_tokens: int = 500
    reply: ReplyMode = "auto"
    prompt_labels: Prompt | None = None
    reads: ClassVar[Reads] = "preprocessed"
    subject: ClassVar[Subject] = "choice"

    def __post_init__(self) -> None:
        _ = self.closed  # says what is wrong with the settings

    @property
    def closed(self) -> Closed:
        """How the questions are put."""
        return Closed(self.reply, LABELS, self.prompt, self.prompt_labels, self.temperature)

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Chat, or the probabilities of labels where they are asked for."""
        return (self.closed.requires,)

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
        cells: list[tuple[int, int, int]] = []
        replies: list[Reply] = []
        for k in range(len(panel.items)):  # a batch an item: what was answered stays answered
            found, requests = self._questions(panel, lm, k)
            cells += found
            replies += lm.chat(requests) if requests else []
        verdict = np.full((len(panel.items), len(panel.agents), len(panel.agents)), np.nan)
        for cell, reply in zip(cells, replies, strict=True):
            verdict[cell] = read_label(reply, VERDICTS)
        dims = ("item", "agent", "peer")
        data = measured(panel, verdict=(dims, verdict)).assign_attrs(self.closed.attrs(lm))
        return with_shares(data, dims, cells, replies, LABELS)

    def _questions(
        self, panel: Panel, lm: EvaluationLM, k: int
    ) -> tuple[list[tuple[int, int, int]], list[ChatRequest]]:
        """Cells and questions of one item."""
        item, row, names = panel.items[k], panel.texts[k], [agent.name for agent in panel.agents]
        task = str(panel.provenance.get("task_description") or panel.task)
        closed, prompt = self.closed, self.closed.asked(lm)
        cells, requests = [], []
        for i, j in permutations(range(len(names)), 2):
            a, b = row[i], row[j]
            if a is None or b is None:
                continue
            values = {"task": task, "a": a, "b": b}
            if self.context:
                values["source"] = item.source
            key = (self.name, item.id, names[i], names[j])
            messages = prompt.messages(**values)
            request = ChatRequest(messages, self.temperature, self.max_tokens, key=key)
            requests.append(closed.request(lm, request))
            cells.append((k, i, j))
        return cells, requests

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
