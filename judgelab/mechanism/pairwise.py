"""Which of two answers is better, in one word (Auto-PRE paper, Table 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import xarray as xr

from judgelab.core.exchange import CHOICES, LABELS, Cell, Exchange, chosen_of_two, pair_questions
from judgelab.core.lm import EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply.choice import Reading
from judgelab.core.scores import Scores
from judgelab.mechanism.judge import PairMechanism, win_rates
from judgelab.mechanism.protocol import Definition, Reads


@dataclass(frozen=True)
class Pairwise(PairMechanism):
    """Every ordered pair is judged, so each two answers are seen in both orders.

    The judge replies ``one`` or ``two``. A longer reply counts if it states which, or a tie; any
    other is unscored (the release takes the first of these words wherever it stands). An agent's
    score is its win rate over both orders. study=qualification asks several judges so.

    Args:
        prompt: fields task, source, one and two. ``pairwise.txt`` says how to reply at its
            beginning ("prompt1" in the paper), ``pairwise_last.txt`` at its end ("prompt2").
        which: the verdict that the reply states (see ``stated_label``), or its first or last word
            that is one.
        reads: which texts: raw, or preprocessed.
    """

    which: Reading = "stated"
    reads: Reads = "raw"
    labels: ClassVar[dict[str, str]] = LABELS
    spoken: ClassVar[Iterable[str]] = tuple(CHOICES)
    name: ClassVar[str] = "pairwise"

    def ask(self, panel: Panel, lm: EvaluationLM, top_logprobs: int = 0) -> Exchange[Cell]:
        """Every question by (item, first, second), and the replies; one batch.

        Args:
            panel: the answers.
            lm: the judge.
            top_logprobs: alternatives to report for each token of a generated reply.
        """
        closed = self.closed
        requests = {
            cell: closed.request(lm, key, values, top_logprobs)
            for cell, key, values in pair_questions(panel, self.name)
        }
        return Exchange.put(lm, requests)

    def read(self, reply: Reply) -> float:
        """What the reply states, or what its first or last label says."""
        return chosen_of_two(reply.text, self.which)

    def worded(self, prompt: Prompt) -> Pairwise:
        """The same judge, asked in other words."""
        return replace(self, prompt=prompt)

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates, the same under every definition; diagnostics hold position bias."""
        return win_rates(measured["verdict"])
