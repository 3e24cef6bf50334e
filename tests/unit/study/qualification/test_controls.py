"""Judges that ask no LM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.mechanism.length import Length
from judgelab.study.qualification.controls import ByScore
from tests.scripted import NOBODY, panel_of


@dataclass(frozen=True)
class PartlyUnscored(Length):
    """Length of all agents' texts but the first one's."""

    def measure(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> xr.Dataset:
        data = super().measure(panel, lm, seed=seed)
        return data.where(data["agent"] != "a0")


def test_an_answer_without_a_score_gets_no_verdict() -> None:
    judge, panel = ByScore(PartlyUnscored()), panel_of([["one", "one two", "one two three"]])
    replies = judge.ask(panel, NOBODY).replies
    said = {cell[1:]: reply.text for cell, reply in replies.items()}
    assert {pair: text for pair, text in said.items() if 0 not in pair} == {
        (1, 2): "two",
        (2, 1): "one",
    }
    assert {text for pair, text in said.items() if 0 in pair} == {None}
    verdict = judge.measure(panel, NOBODY, seed=0)["verdict"].values[0]
    assert np.isnan(verdict[0]).all() and np.isnan(verdict[:, 0]).all()
