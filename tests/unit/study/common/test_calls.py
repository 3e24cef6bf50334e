"""Validation and leaderboard show the calls that gave nothing, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.engine.study import Study
from judgelab.mechanism.gem import Gem
from judgelab.study.leaderboard import Leaderboard
from judgelab.study.validation import Validation
from tests.scripted import ScriptedLogProb
from tests.unit.study.discrimination.discrimination_context import context, graded


def with_reference() -> Panel:
    panel = graded()
    return replace(panel, agents=(replace(panel.agents[0], reference=True), *panel.agents[1:]))


@pytest.mark.parametrize("study", [Validation(bootstrap=50), Leaderboard(bootstrap=50)])
def test_calls_that_gave_nothing_are_counted_and_told(study: Study, tmp_path: Path) -> None:
    lm = ScriptedLogProb(lambda c, t: np.nan if "quality 7 of 3 " in c else -len(t) + 0.1 * len(c))
    gem = Gem(prompt=Prompt("second_opinion.txt"), reads="raw")
    made = study.run(context(tmp_path, gem, lm, panel=with_reference()))
    counted = {"calls": 12 * (3 + 1), "unread_calls": 0, "failed_calls": 1, "dropped_pairs": 1}
    assert {key: made.summary.get(f"clean/{key}") for key in counted} == counted
    assert [n for n in made.notes if n.startswith("1 of 48 calls on the clean panel gave nothing")]
