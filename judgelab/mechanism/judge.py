"""The LLM judge: which of two answers is better? (TVD-MI paper, section 4.2)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import DataError
from judgelab.core.exchange import Cell, Exchange, no_label, pair_questions
from judgelab.core.lm import ChatRequest, EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.reply.label import stated_label
from judgelab.core.scores import (
    Scores,
    mean_over,
    measured,
    transposed,
    weaker_of_two,
    with_calls,
    without_noise,
)
from judgelab.mechanism.closed import ClosedMechanism, TwoPromptMechanism, with_shares
from judgelab.mechanism.protocol import Definition, Subject

VERDICTS = {"a": 1.0, "b": 0.0, "c": 0.5}
"""Label -> did the text shown as A win."""

LABELS = {f"[[{label.upper()}]]": label for label in VERDICTS}
"""Allowed reply -> label."""


class PairMechanism(ClosedMechanism):
    """Every ordered pair is judged, so each two texts are seen in both orders."""

    subject: ClassVar[Subject] = "choice"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    @abstractmethod
    def spoken(self) -> Iterable[str]:
        """The labels as a reply is to state them."""

    @abstractmethod
    def ask(self, panel: Panel, lm: EvaluationLM) -> Exchange[Cell]:
        """Every question by (item, first, second), and the replies."""

    @abstractmethod
    def read(self, reply: Reply) -> float:
        """1 the first text, 0 the second, .5 a tie; NaN where the reply says none of these."""

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        said = self.ask(panel, lm)
        verdict = np.full((len(panel.items), len(panel.agents), len(panel.agents)), np.nan)
        why = no_label(self.spoken)
        read = said.read(lambda _, reply: self.read(reply), lambda _: why)
        for cell, value in read.items():
            verdict[cell] = value
        dims = ("item", "agent", "peer")
        data = measured(panel, verdict=(dims, verdict)).assign_attrs(self.closed.attrs(lm))
        data = with_calls(data, list(read), read.values(), said.answered)
        return with_shares(data, dims, said.replies, self.labels)


@dataclass(frozen=True)
class Judge(PairMechanism, TwoPromptMechanism):
    """A chat LM says of each two texts which is better, or that neither is.

    Definitions of an agent's score (win rate):
        corrected: half the mean of what it won shown first, half of what it won shown second
        (``win_rates``); with every verdict read, the mean over peers of 1/2 (W_ij + 1 - W_ji).
        paper, released: mean of row i alone, which counts only comparisons where i was shown as
        A and so moves with position bias.
    Pair score, min of the two agents' qualities:
        corrected: quality is the both-order win rate; paper: the row mean; released: the win
        rate against the human reference only, which makes most pairs tie.

    Args:
        prompt: fields task, a, b, and source where ``context``.
        context: whether the judge sees the source.
    """

    max_tokens: Count = 500
    context: bool = True
    labels: ClassVar[dict[str, str]] = LABELS
    spoken: ClassVar[Iterable[str]] = tuple(LABELS)

    @property
    def name(self) -> str:
        """judge, or judge_no_context."""
        return "judge" if self.context else "judge_no_context"

    @property
    def measurement(self) -> str:
        """Which recorded verdicts are ours."""
        return "judge_with_context" if self.context else "judge_without_context"

    def ask(self, panel: Panel, lm: EvaluationLM) -> Exchange[Cell]:
        """A batch an item: what was answered survives an interruption."""
        closed, shown = self.closed, ("task", "source") if self.context else ("task",)
        batches: dict[int, dict[Cell, ChatRequest]] = {}
        for cell, key, values in pair_questions(panel, self.name):
            fields = {name: values[name] for name in shown}
            fields |= {"a": values["one"], "b": values["two"]}
            batches.setdefault(cell[0], {})[cell] = closed.request(lm, key, fields)
        return Exchange.put(lm, *batches.values())

    def read(self, reply: Reply) -> float:
        """The value of the label that the reply states."""
        return stated_label(reply.text, VERDICTS)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates; diagnostics hold position bias and how often the orders disagree."""
        first = measured["verdict"]
        if definition == "corrected":
            agent = quality = win_rates(first).agent
        else:
            agent = mean_over(first, "peer")
            quality = _against_reference(first) if definition == "released" else agent
        agent, quality = without_noise(agent), without_noise(quality)
        return Scores(agent=agent, pair=weaker_of_two(quality), diagnostics=position(first.values))


def win_rates(first: xr.DataArray) -> Scores:
    """An agent's wins shown first and shown second, each by its own mean, weigh one half each.

    Whatever the place adds (a bias towards the text shown first) is then added and taken away
    once, also where verdicts are missing: every verdict that was read counts, even that of a
    single order. With verdicts missing at random, the expected score is that of complete data; an
    agent without any verdict in one of the places is unscored. A pair is as good as its weaker
    text.

    Args:
        first: [item, agent, peer] verdicts, 1 where agent, shown first, beat peer.
    """
    both = (mean_over(first, "peer") + mean_over(1 - transposed(first), "peer")) / 2
    agent = without_noise(both)
    return Scores(agent=agent, pair=weaker_of_two(agent), diagnostics=position(first.values))


def position(verdict: NDArray[np.float64]) -> dict[str, float]:
    """Position bias of verdicts [item, agent, peer].

    Args:
        verdict: 1 where the row's text, shown first, won.

    Returns:
        ``first_preferred``: P(the text shown first wins), .5 without bias (ties count 1/2);
        ``ties``: share of ties; ``orders_agree``: share of pairs with the same verdict in both
        orders. NaN where nothing was scored.
    """
    known = ~np.isnan(verdict)
    other = 1 - np.swapaxes(verdict, 1, 2)
    both = known & ~np.isnan(other)
    if not known.any():
        return {"first_preferred": np.nan, "ties": np.nan, "orders_agree": np.nan}
    return {
        "first_preferred": float(verdict[known].mean()),
        "ties": float((verdict == 0.5)[known].mean()),
        "orders_agree": float((verdict == other)[both].mean()) if both.any() else np.nan,
    }


def _against_reference(first: xr.DataArray) -> xr.DataArray:
    marked = np.flatnonzero(first["reference"].values)
    if len(marked) != 1:
        raise DataError(
            "study.definition=released scores judges against the human reference, but this "
            f"panel marks {len(marked)} agents as reference: use study.definition=corrected."
        )
    r = int(marked[0])
    quality = ((first + (1 - transposed(first))) / 2).isel(peer=r, drop=True)
    tie = xr.DataArray(np.arange(first.sizes["agent"]) == r, dims="agent")
    return quality.where(~tie, 0.5)  # the release leaves the reference's own cell at 1/2
