"""Records: everything that was measured, once, and enough to redo the statistics."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.mechanism.length import Length
from judgelab.mechanism.mi import Mi
from judgelab.study.common.panels import measurement_records, score_records, text_records
from tests.scripted import ScriptedLogProb, panel_of

LM = ScriptedLogProb(lambda context, target: -float(len(context) + 2 * len(target)))


def test_pair_measurements_leave_out_the_diagonal_and_keep_the_marginals() -> None:
    panel = panel_of([["a b", "c", "d e f"], ["g", "h i", None]])
    data = Mi().measure(panel, LM, seed=0)
    table = measurement_records(data)
    assert len(table) == 2 * 3 * 2
    assert {"item", "agent", "peer", "conditional", "marginal", "tokens"} == set(table.columns)
    cell = table[(table.item == "i0") & (table.agent == "a2") & (table.peer == "a0")].iloc[0]
    assert cell.conditional == data["conditional"].values[0, 2, 0]
    assert cell.marginal == data["marginal"].values[0, 2]
    assert table[table.agent == "a2"].conditional.isna().sum() == 2  # the absent text


def test_text_measurements_are_written_once_also_for_a_single_agent() -> None:
    panel = panel_of([["a b", "c"], ["d", "e f g"]])
    assert len(measurement_records(Length().measure(panel, LM, seed=0))) == 4
    alone = panel_of([["a b"], ["c"]])
    assert measurement_records(Length().measure(alone, LM, seed=0)).value.tolist() == [2, 1]
    assert measurement_records(Mi().measure(alone, LM, seed=0)).marginal.notna().all()


def test_scores_and_texts_by_item_and_agent() -> None:
    panel = panel_of([["a b", None]], ["Faithful", "Low Effort"])
    scores = score_records(panel, Length().score(Length().measure(panel, LM, seed=0)))
    assert scores.score.tolist() == pytest.approx([2, np.nan], nan_ok=True)
    assert scores.category.tolist() == ["Faithful", "Low Effort"]
    assert text_records(panel).text.tolist()[0] == "a b"
