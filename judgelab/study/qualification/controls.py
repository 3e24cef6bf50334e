"""Judges that ask no LM: controls in the exams, and mechanisms that measure texts by themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from judgelab.core.exchange import Cell, Exchange
from judgelab.core.lm import Capability, EvaluationLM, Reply
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import measured
from judgelab.exam.protocol import shown
from judgelab.mechanism.length import Length
from judgelab.mechanism.protocol import Mechanism
from judgelab.stats.intervals.arrays import Floats

Control = Literal["length", "random"]
"""``length`` prefers the longer answer. ``random`` flips a coin for each question; what it gets on
average is known, so that none is flipped."""


@dataclass(frozen=True)
class ByScore:
    """The answer with the higher score of a mechanism is better; no LM is asked.

    Args:
        mechanism: measures texts without an LM.
        odds: the scores are counts, so that the judge is as sure as their share of both.
    """

    mechanism: Mechanism
    odds: bool = False
    temperature: ClassVar[float] = 0.0
    requires: ClassVar[tuple[frozenset[Capability], ...]] = (frozenset(),)

    @property
    def prompt(self) -> Prompt:
        """Of the question as LMs get it."""
        return Prompt("pairwise.txt")

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        """``verdict`` [item, agent, peer]: 1 where agent has the higher score, .5 a tie."""
        score = self._scores(panel, lm, seed)
        gap = score[:, :, None] - score[:, None, :]
        verdict = np.where(np.isnan(gap) | ~shown(panel), np.nan, (np.sign(gap) + 1) / 2)
        return measured(panel, verdict=(("item", "agent", "peer"), verdict))

    def ask(self, panel: Panel, lm: EvaluationLM, top_logprobs: int = 0) -> Exchange[Cell]:
        """Replies to every question by (item, first, second); sure where there are odds."""
        score, replies = self._scores(panel, lm, 0), dict[Cell, Reply]()
        for k, i, j in np.argwhere(shown(panel)).tolist():
            one, two = float(score[k, i]), float(score[k, j])
            if math.isnan(one + two):
                replies[k, i, j] = Reply(None)
                continue
            label = "tie" if one == two else "one" if one > two else "two"
            sure = max(one, two) / (one + two) if self.odds and one + two > 0 else math.nan
            known = label != "tie" and not math.isnan(sure)
            tokens = (((label, math.log(sure)),),) if known else ()
            replies[k, i, j] = Reply(label, top_logprobs=tokens)
        return Exchange(lm, {}, replies)

    def worded(self, prompt: Prompt) -> ByScore:
        """The same: it reads no words."""
        return self

    def _scores(self, panel: Panel, lm: EvaluationLM, seed: int) -> Floats:
        if not panel.items:  # nothing was written for the exam, as in a dry run
            return np.zeros((0, len(panel.agents)))
        data = self.mechanism.measure(panel, lm, seed=seed)
        return np.asarray(self.mechanism.score(data).agent.values, dtype=np.float64)


LENGTH = ByScore(Length(), odds=True)
"""The longer answer is better, and the surer the more it has of all words."""
