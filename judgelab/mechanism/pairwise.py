"""Which of two answers is better, in one word (Auto-PRE paper, Table 8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.core.capability import Capability
from judgelab.core.lm import ChatRequest, EvaluationLM, Reply
from judgelab.core.pair_questions import CHOICES, LABELS, Cell, questions
from judgelab.core.panel import Panel
from judgelab.core.parse_reply import Which, read_choice
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, mean_over, measured, transposed, weaker_of_two
from judgelab.mechanism.closed import Closed, ReplyMode, with_shares
from judgelab.mechanism.judge import position
from judgelab.mechanism.protocol import BaseMechanism, Definition, Reads, Subject


@dataclass(frozen=True)
class Pairwise(BaseMechanism):
    """Every ordered pair is judged, so each two answers are seen in both orders.

    The judge replies ``one`` or ``two``. Of a longer reply the first (or last) of these words, or
    ``tie``, counts; a reply without any is unscored. An agent's score is its win rate over both
    orders. study=qualification asks several judges so.

    Args:
        prompt: fields task, source, one and two. ``pairwise.txt`` says how to reply at its
            beginning ("prompt1" in the paper), ``pairwise_last.txt`` at its end ("prompt2").
        which: of several labels in a reply, the first or the last counts.
        temperature: of the LM.
        max_tokens: upper bound on the reply.
        reads: which texts: raw, or preprocessed.
        reply: generated, labels or auto; see judgelab.mechanism.closed.
    """

    prompt: Prompt
    which: Which = "first"
    temperature: float = 0.0
    max_tokens: int = 16
    reads: Reads = "raw"
    reply: ReplyMode = "auto"
    name: ClassVar[str] = "pairwise"
    measurement: ClassVar[str] = "pairwise"
    subject: ClassVar[Subject] = "choice"

    def __post_init__(self) -> None:
        _ = self.closed  # says what is wrong with the settings

    @property
    def closed(self) -> Closed:
        """How the questions are put."""
        return Closed(self.reply, LABELS, self.prompt, self.prompt, self.temperature)

    @property
    def requires(self) -> tuple[frozenset[Capability], ...]:
        """Chat, or the probabilities of labels where they are asked for."""
        return (self.closed.requires,)

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        cells, replies = self.ask(panel, lm)
        verdict = np.full((len(panel.items), len(panel.agents), len(panel.agents)), np.nan)
        for cell, reply in zip(cells, replies, strict=True):
            verdict[cell] = self.read(reply)
        dims = ("item", "agent", "peer")
        data = measured(panel, verdict=(dims, verdict)).assign_attrs(self.closed.attrs(lm))
        return with_shares(data, dims, cells, replies, LABELS)

    def ask(
        self, panel: Panel, lm: EvaluationLM, top_logprobs: int = 0
    ) -> tuple[list[Cell], list[Reply]]:
        """(item, first, second) of every question, and the replies; one batch.

        Args:
            panel: the answers.
            lm: the judge.
            top_logprobs: alternatives to report for each token of a generated reply; one by
                labels has the probabilities of all labels anyway.
        """
        cells, requests = [], []
        for cell, key, values in questions(panel, self.name):
            cells.append(cell)
            request = ChatRequest(
                self.prompt.messages(**values),
                self.temperature,
                self.max_tokens,
                top_logprobs=top_logprobs,
                key=key,
            )
            requests.append(self.closed.request(lm, request))
        return cells, lm.chat(requests) if requests else []

    def read(self, reply: Reply) -> float:
        """1 the first answer, 0 the second, .5 a tie; NaN where the reply says none of these."""
        label = read_choice(reply.text, CHOICES, self.which)
        return np.nan if label is None else CHOICES[label]

    def worded(self, prompt: Prompt) -> Pairwise:
        """The same judge, asked in other words."""
        return replace(self, prompt=prompt)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates, the same under every definition; diagnostics hold position bias."""
        return win_rates(measured["verdict"])


def win_rates(first: xr.DataArray) -> Scores:
    """Mean over peers of both orders; a pair is as good as its weaker text."""
    second = 1 - transposed(first)
    agent = mean_over((first + second) / 2, "peer")
    return Scores(agent=agent, pair=weaker_of_two(agent), diagnostics=position(first.values))
