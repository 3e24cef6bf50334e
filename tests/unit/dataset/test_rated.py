"""Rated texts: tables of scores, RoSE, SummEval and the scores that come with them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgelab.config import build, resolved
from judgelab.config.composing import composed
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel
from judgelab.dataset.table import LabelledTable
from judgelab.mechanism.recorded_scores import RecordedScores
from tests.scripted import NOBODY

CSV = """item,system,human,metric,second
a,x,0.5,3,1
a,y,0.25,4,
b,x,,2,NA
b,NA,1,5,2
"""


def read(name: str, *words: str) -> Panel:
    panel: Panel = build(resolved(composed([f"dataset={name}", *words]))["dataset"], "").load()
    return panel


def scores(folder: Path, text: str = CSV, **settings: Any) -> Panel:
    file = folder / "scores.csv"
    file.write_text(text, encoding="utf-8")
    settings = {"judges": ["metric"], "kind": "grade"} | settings
    return LabelledTable(path=str(file), **settings).load()


def human(panel: Panel) -> list[list[float]]:
    return [[item.human.get(a.name, math.nan) for a in panel.agents] for item in panel.items]


def test_recorded_scores_are_the_mechanism(tmp_path: Path) -> None:
    panel = scores(tmp_path, judges=["metric", "second"])
    with pytest.raises(ConfigError, match="metric, second"):
        RecordedScores().measure(panel, NOBODY, seed=0)
    with pytest.raises(ConfigError, match="Did you mean 'second'"):
        RecordedScores("secon").measure(panel, NOBODY, seed=0)
    one = RecordedScores("second")
    out = one.score(one.measure(panel, NOBODY, seed=0))
    np.testing.assert_array_equal(out.agent.values, [[math.nan, 1, math.nan], [2] + [math.nan] * 2])
    attacked = panel.with_agents(panel.agents, panel.texts, attack="padding")
    with pytest.raises(ConfigError, match="attack=none"):
        one.measure(attacked, NOBODY, seed=0)
    bare = Panel(panel.items[:0])
    with pytest.raises(ConfigError, match="no recorded scores"):
        one.measure(bare, NOBODY, seed=0)


@pytest.mark.parametrize("words", [("rose",), ("summeval_ratings", "dataset.human=fluency")])
def test_samples_say_that_their_scores_are_invented(words: tuple[str, ...]) -> None:
    panel = read(*words)
    assert "formula" in str(panel.provenance["synthetic"])
    assert len(panel.items) == 28 and all(item.source and item.reference for item in panel.items)
    assert len(panel.agents) == 8 and all(text for row in panel.texts for text in row)
    table = np.array(human(panel))
    assert not np.isnan(table).any()
    for name in ("judge_with_bias", "judge_without_bias"):
        judge = [[item.scores[name][a.name] for a in panel.agents] for item in panel.items]
        assert 0.2 < np.corrcoef(np.ravel(judge), table.ravel())[0, 1] < 0.75
    with pytest.raises(ConfigError, match="is not in the sample"):
        read(words[0], "dataset.human=style")


BART = {"acu": 0.5, "normalized_acu": 0.4, "acu_labels": [1, 0]}
BRIO = {"acu": 0.0, "normalized_acu": 0.0, "acu_labels": [0, 0]}
ROSE = {
    "source": "Text.",
    "reference": "Ref.",
    "reference_acus": ["a", "b"],
    "count_id": 3,
    "example_id": "d1",
    "annotations": {"bart": BART, "brio": BRIO},
    "system_outputs": {"bart": "One.", "brio": "Two."},
}
SUMMEVAL = {
    "id": "d1",
    "text": "Text.",
    "machine_summaries": ["One.", "Two."],
    "human_summaries": ["Ref.", "Other."],
    "relevance": [4.0, 3.0],
    "coherence": [1.3333, 5.0],
}


@pytest.mark.parametrize(
    "layout",
    [
        ("rose", ROSE, ["bart", "brio"], [[0.5, 0.0]], {"normalized_acu": [0.4, 0.0]}),
        ("summeval_ratings", SUMMEVAL, ["system_01", "system_02"], [[1.3333, 5.0]], {}),
    ],
)
def test_the_hubs_layouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: Any) -> None:
    """As the datasets' authors document them, through the real parquet reader."""
    name, row, agents, grades, recorded = layout
    pd.DataFrame([row]).to_parquet(tmp_path / "0000.parquet")
    from judgelab.dataset import provenance

    found = provenance.Provenance((tmp_path / "0000.parquet",), {"commit": "c0ffee"}, "x/y")
    monkeypatch.setattr(provenance, "fetch", lambda hub: found)
    panel = read(name, "dataset.source=hub")
    assert [a.name for a in panel.agents] == agents and panel.texts == (("One.", "Two."),)
    assert human(panel) == grades
    scored = {k: dict(zip(agents, v, strict=True)) for k, v in recorded.items()}
    assert panel.items[0].scores == scored
    assert panel.items[0].source == "Text." and panel.items[0].reference == "Ref."
    assert panel.provenance["commit"] == "c0ffee"
    with pytest.raises(DataError, match=r"no annotation 'acus' .*(Did you mean 'acu'|Known are)"):
        read(name, "dataset.source=hub", "dataset.human=acus")
    for key in {"source", "text", "system_outputs", "machine_summaries"} & row.keys():
        pd.DataFrame([row, row | {key: None}]).to_parquet(tmp_path / "0000.parquet")
        with pytest.raises(DataError, match=r"Row 1 .* None must be a valid (string|dictionary)"):
            read(name, "dataset.source=hub")
    absent = {key: its for key, its in row.items() if key not in ("reference", "human_summaries")}
    pd.DataFrame([absent]).to_parquet(tmp_path / "0000.parquet")
    assert read(name, "dataset.source=hub").items[0].reference is None
