"""The LLM judge: which of two answers is better? (TVD-MI paper, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.bounds import Count
from judgelab.core.errors import DataError
from judgelab.core.lm import EvaluationLM, Exchange
from judgelab.core.panel import Panel
from judgelab.core.scores import (
    PAIR,
    Scores,
    mean_over,
    measured,
    transposed,
    weaker_of_two,
    without_noise,
)
from judgelab.mechanism.closed import ClosedMechanism, TwoPromptMechanism
from judgelab.mechanism.protocol import Definition

VERDICTS = {"a": 1.0, "b": 0.0, "c": 0.5}  # label -> did the text shown as A win
LABELS = {f"[[{label.upper()}]]": label for label in VERDICTS}  # allowed reply -> label
CHOICES = {"one": 1.0, "two": 0.0, "tie": 0.5}  # the same in words

Cell = tuple[int, int, int]


def pair_questions(
    panel: Panel, name: str
) -> Iterator[tuple[Cell, tuple[str, ...], dict[str, str]]]:
    """(item, first, second), key and fields of the question on every ordered pair of texts."""
    task = panel.task_description
    names = [agent.name for agent in panel.agents]
    for k, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True)):
        for i, j in permutations(range(len(names)), 2):
            one, two = row[i], row[j]
            if one is None or two is None:
                continue
            values = {"task": task, "source": item.source, "one": one, "two": two}
            yield (k, i, j), (name, item.id, names[i], names[j]), values


class PairMechanism(ClosedMechanism):
    """Every ordered pair is judged, so each two texts are seen in both orders."""

    # what a reply may say -> 1 the first text is better, 0 the second, .5 neither
    verdicts: ClassVar[Mapping[str, float]]
    subject = "choice"
    bounds = (0.0, 1.0)

    def fields(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """What the prompt shows, of task, source, one and two."""
        return values

    def ask(self, panel: Panel, lm: EvaluationLM, top_logprobs: int = 0) -> Exchange[Cell]:
        """Every question by (item, first, second), and the replies; one batch.

        Generated replies report so many alternatives for each token.
        """
        requests = {
            cell: self.request(lm, key, self.fields(values), top_logprobs)
            for cell, key, values in pair_questions(panel, self.name)
        }
        return Exchange.ask(lm, requests)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        verdicts = self.read_labels(self.ask(panel, lm), self.verdicts)
        return measured(panel, verdict=(PAIR, verdicts)).assign_attrs(self.attrs(lm))

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        return win_rates(measured["verdict"])


@dataclass(frozen=True)
class Judge(PairMechanism, TwoPromptMechanism):
    """A chat LM says of each two texts which is better, or that neither is.

    Agents' and pairs' scores by each definition: docs/definitions.md.

    The prompt's fields are task, a, b, and source where ``context``.
    """

    max_tokens: Count = 500
    context: bool = True  # whether the judge sees the source
    labels = LABELS
    verdicts = VERDICTS

    @property
    def name(self) -> str:
        return "judge" if self.context else "judge_no_context"

    @property
    def measurement(self) -> str:
        return "judge_with_context" if self.context else "judge_without_context"

    def fields(self, values: Mapping[str, str]) -> Mapping[str, str]:
        texts = {"task": values["task"], "a": values["one"], "b": values["two"]}
        return texts | ({"source": values["source"]} if self.context else {})

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        first = measured["verdict"]
        if definition == "corrected":
            agent = quality = win_rates(first).agent
        else:
            agent = mean_over(first, "peer")
            quality = _against_reference(first) if definition == "released" else agent
        agent, quality = without_noise(agent), without_noise(quality)
        return Scores(agent=agent, pair=weaker_of_two(quality), diagnostics=position(first.values))


def win_rates(first: xr.DataArray) -> Scores:
    """From verdicts [item, agent, peer], 1 where agent, shown first, beat peer.

    An agent's wins shown first and shown second, each by its own mean, weigh one half each, so that
    what the place adds is added and taken away once, also where verdicts are missing: every verdict
    that was read counts, even that of a single order. An agent without any verdict in one of the
    places is unscored. A pair is as good as its weaker text.
    """
    both = mean_over(first, "peer") + mean_over(1 - transposed(first), "peer")
    agent = without_noise(both / 2)
    return Scores(agent=agent, pair=weaker_of_two(agent), diagnostics=position(first.values))


def position(verdict: NDArray[np.float64]) -> dict[str, float]:
    """Of verdicts [item, agent, peer], 1 where the row's text, shown first, won:
    ``first_preferred``, P(the text shown first wins), .5 without bias (ties count 1/2); ``ties``,
    their share; ``orders_agree``, share of pairs with the same verdict in both orders. NaN of none.
    """
    other = 1 - np.swapaxes(verdict, 1, 2)
    verdicts, both = verdict[~np.isnan(verdict)], ~np.isnan(verdict) & ~np.isnan(other)
    return {
        "first_preferred": float(verdicts.mean()) if verdicts.size else np.nan,
        "ties": float((verdicts == 0.5).mean()) if verdicts.size else np.nan,
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
