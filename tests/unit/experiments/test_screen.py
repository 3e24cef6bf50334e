"""The trials of the screen on a small set of our own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.screen.__main__ import BELIEF, believed, ranking_row, write
from experiments.screen.sets import PLANTED, with_planted
from experiments.screen.trials import measure, null_rows, planted_rows
from judgelab.evaluation_lm.compression import Compression
from tests.unit.study.screen.test_screen import STYLES, facts


def test_planted_agents_and_null_panels(tmp_path: Path) -> None:
    texts = pd.DataFrame(
        {f"s{k}": [style.format(**facts(i)) for i in range(24)] for k, style in enumerate(STYLES)}
    )
    one = with_planted("own", texts, pd.Series(dtype=float))
    assert [agent.name for agent in one.panel.agents][-4:] == list(PLANTED)
    measured = measure(one, Compression(workers=1), tmp_path)
    rows = {row["planted"]: row for row in planted_rows(measured, 2)}
    assert rows["other item"]["nothing"] == 1
    assert rows["copy"]["copy named"] == 1
    assert rows["boilerplate"]["something"] == 0
    assert null_rows(measured, 2)["panels"] == 2


def test_belief_is_learnt_and_held_against_the_set_left_out() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for name in ("a", "b", "c"):
        for x in rng.uniform(0, 1, 40):
            known = {"reliability": x, "length": rng.uniform(), "critics": rng.uniform()}
            rows.append({"set": name, "tau": 0.8 * x + rng.normal(0, 0.02), **known})
    belief = believed(rows)
    assert belief.slopes["reliability"] > 3 * abs(belief.slopes["length"])
    likely, unlikely = (
        belief.probability({"reliability": x, "length": 0.5, "critics": 0.5}, 0.5) for x in (1, 0)
    )
    assert likely > unlikely
    assert ranking_row("a", rows)["predicted"] == pytest.approx(0.4, abs=0.1)
    before = BELIEF.read_text("utf-8")
    assert write({"null": rows}, rows).endswith("need all 13 sets: unchanged.")
    assert BELIEF.read_text("utf-8") == before
