"""ChatEval: roles debate before they vote (Auto-PRE paper, baselines and Table 12)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.exchange import CHOICES, no_label, pair_questions
from judgelab.core.panel import Panel
from judgelab.core.reply.label import stated_label
from judgelab.core.scores import Scores, measured
from judgelab.mechanism.debate import Debate, Question
from judgelab.mechanism.judge import win_rates
from judgelab.mechanism.protocol import Definition


class ChatEval(Debate):
    """Every ordered pair is debated; the verdict is the majority of the roles' last words.

    The prompt's fields are task, source, one, two, role and said.
    """

    name = "chat_eval"
    subject = "choice"

    def questions(self, panel: Panel) -> Iterable[Question]:
        """Each two answers, in both orders."""
        return pair_questions(panel, self.name)

    def read(self, text: str | None) -> float:
        """The answer that the words name."""
        return stated_label(text, CHOICES)

    def unread(self, text: str) -> str:
        """See Debate."""
        return no_label(text, CHOICES)

    def together(self, said: Sequence[float]) -> float:
        """The majority; .5 where there is none."""
        return float(np.sign(np.mean(said) - 0.5) + 1) / 2

    def data(self, panel: Panel, outcome: NDArray[np.float64]) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 if agent, shown first, beat peer; NaN if unread."""
        return measured(panel, verdict=(("item", "agent", "peer"), outcome))

    def score(self, measured: xr.Dataset, definition: Definition = "corrected") -> Scores:
        """Win rates, the same under every definition; diagnostics hold position bias."""
        return win_rates(measured["verdict"])
