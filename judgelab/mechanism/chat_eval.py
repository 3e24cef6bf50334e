"""ChatEval: roles debate before they vote (Auto-PRE paper, baselines and Table 12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import xarray as xr

from judgelab.core.exchange import CHOICES, Cell, Why, chosen_of_two, no_label, pair_questions
from judgelab.core.panel import Panel
from judgelab.core.scores import Scores
from judgelab.mechanism.debate import Debate, Question
from judgelab.mechanism.judge import win_rates
from judgelab.mechanism.protocol import Definition, Subject


@dataclass(frozen=True)
class ChatEval(Debate):
    """Every ordered pair is debated; the verdict is the majority of the roles' last words.

    The prompt's fields are task, source, one, two, role and said.
    """

    name: ClassVar[str] = "chat_eval"
    subject: ClassVar[Subject] = "choice"

    def questions(self, panel: Panel) -> Iterable[Question]:
        """Each two answers, in both orders."""
        return pair_questions(panel, self.name)

    def read(self, text: str) -> float:
        """The answer that the words name."""
        return chosen_of_two(text, self.which)

    @property
    def unread(self) -> Why:
        """See Debate."""
        return no_label(CHOICES)

    def outcome(self, panel: Panel, given: Mapping[Cell, list[float]]) -> xr.DataArray:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        verdict = np.full((len(panel.items), len(panel.agents), len(panel.agents)), np.nan)
        for cell, votes in given.items():
            verdict[cell] = (np.sign(np.mean(votes) - 0.5) + 1) / 2
        return xr.DataArray(verdict, dims=("item", "agent", "peer"), name="verdict")

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates, the same under every definition; diagnostics hold position bias."""
        return win_rates(measured["verdict"])
