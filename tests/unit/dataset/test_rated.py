"""Annotated data: score tables, RoSE, SummEval and the scores that come with them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgelab.core.errors import ConfigError, DataError, JudgelabError
from judgelab.core.panel import Panel
from judgelab.dataset.annotated import SYSTEMS
from judgelab.dataset.rose import Rose
from judgelab.dataset.score_table import ScoreTable
from judgelab.dataset.summeval_ratings import SummEval
from judgelab.mechanism.recorded_scores import RecordedScores
from tests.scripted import NOBODY

CSV = """item,system,human,metric,second
a,x,0.5,3,1
a,y,0.25,4,
b,x,,2,NA
b,NA,1,5,2
"""


def csv(folder: Path, text: str = CSV) -> str:
    file = folder / "scores.csv"
    file.write_text(text, encoding="utf-8")
    return str(file)


def human(panel: Panel) -> list[list[float]]:
    return [[item.human.get(a.name, math.nan) for a in panel.agents] for item in panel.items]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_score_table_is_read_as_written(tmp_path: Path, kind: str) -> None:
    path = csv(tmp_path)
    if kind == "parquet":
        table = pd.read_csv(
            path, keep_default_na=False, na_values={"human": [""], "second": ["NA", ""]}
        )
        path = str(tmp_path / "scores.parquet")
        table.to_parquet(path)
    panel = ScoreTable(path=path, metrics=["metric", "second"]).load()
    assert [item.id for item in panel.items] == ["a", "b"]
    assert [agent.name for agent in panel.agents] == ["x", "y", "NA"]  # a system may be called NA
    np.testing.assert_array_equal(human(panel), [[0.5, 0.25, math.nan], [math.nan, math.nan, 1.0]])
    assert panel.items[0].scores == {"metric": {"x": 3.0, "y": 4.0}, "second": {"x": 1.0}}
    assert panel.texts == ((None, None, None), (None, None, None))
    assert panel.provenance["dataset"] == "scores" and len(str(panel.provenance["sha256"])) == 64
    assert len(ScoreTable(path=path).load(limit=1).items) == 1


def test_tables_without_human_scores_and_with_other_names(tmp_path: Path) -> None:
    path = csv(tmp_path, "q,who,grade\n1,x,2.5\n2,x,3\n")
    panel = ScoreTable(path=path, item="q", system="who", human=None, metrics=["grade"]).load()
    assert human(panel) == [[pytest.approx(math.nan, nan_ok=True)]] * 2
    assert panel.items[1].scores == {"grade": {"x": 3.0}}


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (CSV, {"human": "humans"}, r"no column 'humans' \(dataset.human.*Did you mean 'human'"),
        (CSV, {"metrics": ["bleu"]}, r"no column 'bleu' \(dataset.metrics\)"),
        (CSV, {"item": "id"}, r"dataset.item"),
        (CSV.replace("0.25", "good"), {}, r"row 2, column 'human': 'good' is no number"),
        (CSV.replace("0.25", "inf"), {}, r"is no number"),
        (CSV.replace("a,y", "a,x"), {}, r"item 'a' and system 'x' occur twice"),
        (CSV.replace("b,x", ",x"), {}, r"row 3: the column 'item' is empty"),
        ("item,system,human,metric\n", {}, r"no rows"),
        ("item,system\na,b,c,d\n1,2\n", {}, r"cannot be read|no column"),
    ],
)
def test_a_bad_table_is_refused_in_one_sentence(
    tmp_path: Path, text: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError, match=said) as caught:
        ScoreTable(path=csv(tmp_path, text), **options).load()
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_not_tables(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file"):
        ScoreTable(path=str(tmp_path / "absent.csv")).load()
    with pytest.raises(DataError, match=r"\.csv or \.parquet"):
        ScoreTable(path=str(tmp_path / "scores.xlsx")).load()
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"no parquet")
    with pytest.raises(DataError, match="cannot be read"):
        ScoreTable(path=str(broken)).load()
    with pytest.raises(ConfigError, match=r"dataset\.path"):
        ScoreTable(path="")
    with pytest.raises(ConfigError, match=r"dataset\.metrics"):
        ScoreTable(path="x.csv", metrics=[])


def test_recorded_scores_are_the_mechanism(tmp_path: Path) -> None:
    panel = ScoreTable(path=csv(tmp_path), metrics=["metric", "second"]).load()
    with pytest.raises(ConfigError, match="metric, second"):
        RecordedScores().measure(panel, NOBODY, seed=0)
    with pytest.raises(ConfigError, match="Did you mean 'second'"):
        RecordedScores("secon").measure(panel, NOBODY, seed=0)
    one = RecordedScores("second")
    scores = one.score(one.measure(panel, NOBODY, seed=0))
    np.testing.assert_array_equal(
        scores.agent.values, [[1, math.nan, math.nan], [math.nan] * 2 + [2]]
    )
    attacked = panel.with_agents(panel.agents, panel.texts, attack="padding")
    with pytest.raises(ConfigError, match="attack=none"):
        one.measure(attacked, NOBODY, seed=0)
    bare = Panel(panel.items[:0])
    with pytest.raises(ConfigError, match="no recorded scores"):
        one.measure(bare, NOBODY, seed=0)


def test_scores_that_came_along_are_part_of_what_a_mechanism_sees(tmp_path: Path) -> None:
    first = ScoreTable(path=csv(tmp_path)).load()
    other = ScoreTable(path=csv(tmp_path, CSV.replace("a,x,0.5,3", "a,x,0.5,2"))).load()
    assert first.digest != other.digest


@pytest.mark.parametrize(
    "made",
    [Rose(hub={}, texts={}), SummEval(hub={}, texts={}, judges={}, dimension="fluency")],
    ids=["rose", "summeval"],
)
def test_samples_say_that_their_scores_are_invented(made: Rose | SummEval) -> None:
    panel = made.load()
    assert "formula" in str(panel.provenance["synthetic"])
    assert panel.provenance["source"] == "sample"
    assert [a.name for a in panel.agents] == [name for name, _, _ in SYSTEMS]
    assert len(panel.items) == 28 and all(item.source and item.reference for item in panel.items)
    assert all(text for row in panel.texts for text in row)
    table = np.array(human(panel))
    assert not np.isnan(table).any()
    means = table.mean(axis=0)
    assert np.corrcoef(means, [quality for _, quality, _ in SYSTEMS])[0, 1] > 0.8
    for name in ("judge_with_bias", "judge_without_bias"):
        judge = [[item.scores[name][a.name] for a in panel.agents] for item in panel.items]
        assert 0.2 < np.corrcoef(np.ravel(judge), table.ravel())[0, 1] < 0.75
    assert panel.digest == made.load().digest
    assert len(made.load(limit=3).items) == 3


def test_rose_from_files(tmp_path: Path) -> None:
    scores, texts = tmp_path / "rose.csv", tmp_path / "texts.csv"
    scores.write_text(
        "example_id,count_id,system,summary,acu,rouge1_f\n"
        "d1,7,bart,One.,0.5,0.3\nd1,7,brio,,0.25,0.4\n"
    )
    texts.write_text('example_id,source,reference\nd1,"Long, text.",Ref.\n')
    made = Rose(
        hub={}, texts={"path": str(texts)}, source="path", path=str(scores), metrics=["rouge1_f"]
    )
    panel = made.load()
    assert panel.texts == (("One.", None),)
    assert panel.items[0].source == "Long, text." and panel.items[0].reference == "Ref."
    assert human(panel) == [[0.5, 0.25]]
    assert panel.items[0].scores == {"rouge1_f": {"bart": 0.3, "brio": 0.4}}
    parquet = str(tmp_path / "rose.parquet")
    pd.read_csv(scores).to_parquet(parquet)
    every = Rose(hub={}, texts={}, source="path", path=parquet).load()
    assert list(every.items[0].scores) == ["rouge1_f"], "count_id is a number but no score"
    assert every.items[0].source == ""
    with pytest.raises(DataError, match=r"no column 'acux' \(dataset\.human\)"):
        Rose(hub={}, texts={}, source="path", path=parquet, human="acux").load()


def test_rose_from_the_hubs_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The layout that the dataset's authors document, through the real parquet reader."""
    row = {
        "source": "Text.",
        "reference": "Ref.",
        "reference_acus": ["a", "b"],
        "count_id": 3,
        "example_id": "d1",
        "annotations": {
            "bart": {"acu": 0.5, "normalized_acu": 0.4, "acu_labels": [1, 0]},
            "brio": {"acu": 0.0, "normalized_acu": 0.0, "acu_labels": [0, 0]},
        },
        "system_outputs": {"bart": "One.", "brio": "Two."},
    }
    panel = hub_panel(
        tmp_path, monkeypatch, Rose(hub={"id": "x/rose"}, texts={}, source="hub"), row
    )
    assert panel.texts == (("One.", "Two."),) and human(panel) == [[0.5, 0.0]]
    assert panel.items[0].scores == {"normalized_acu": {"bart": 0.4, "brio": 0.0}}
    assert panel.items[0].source == "Text." and panel.provenance["commit"] == "c0ffee"
    wrong = Rose(hub={"id": "x/rose"}, texts={}, source="hub", human="acus")
    with pytest.raises(DataError, match="Did you mean 'acu'"):
        hub_panel(tmp_path, monkeypatch, wrong, row)


def test_summeval_from_the_hubs_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {
        "id": "d1",
        "text": "Text.",
        "machine_summaries": ["One.", "Two."],
        "human_summaries": ["Ref.", "Other."],
        "relevance": [4.0, 3.0],
        "coherence": [1.3333, 5.0],
        "fluency": [5.0, 5.0],
        "consistency": [5.0, 4.0],
    }
    made = SummEval(hub={"id": "x/s"}, texts={}, judges={}, source="hub")
    panel = hub_panel(tmp_path, monkeypatch, made, row)
    assert [a.name for a in panel.agents] == ["system_01", "system_02"]
    assert panel.texts == (("One.", "Two."),) and human(panel) == [[1.3333, 5.0]]
    assert panel.items[0].reference == "Ref."
    with pytest.raises(DataError, match="equal lists"):
        hub_panel(tmp_path, monkeypatch, made, row | {"coherence": [1.0]})


def hub_panel(
    folder: Path, monkeypatch: pytest.MonkeyPatch, made: Rose | SummEval, row: dict[str, Any]
) -> Panel:
    """What is loaded where the Hub's cache holds one file with this row."""
    pytest.importorskip("datasets")
    from judgelab.dataset import provenance

    file = folder / "0000.parquet"
    pd.DataFrame([row]).to_parquet(file)
    found = provenance.Provenance((file,), {"commit": "c0ffee"}, str(made.hub["id"]))
    monkeypatch.setattr(provenance, "fetch", lambda hub: found)
    return made.load()


def test_summeval_from_files(tmp_path: Path) -> None:
    scores, judges = tmp_path / "s.csv", tmp_path / "j.csv"
    scores.write_text(
        "doc_id,system_id,summary,coherence,consistency,fluency,relevance\n"
        "d1,M0,One.,1,2,3,4\nd1,M1,Two.,2,3,4,5\n"
    )
    judges.write_text(
        "doc_id,system_id,evaluator,prompt,dimension,score\n"
        "d1,M0,gpt,rts,fluency,4\nd1,M0,gpt,rts,coherence,1\nd1,M1,gpt,rts,fluency,\n"
    )
    options: dict[str, Any] = {"hub": {}, "texts": {}, "source": "path", "path": str(scores)}
    made = SummEval(judges={"path": str(judges)}, dimension="fluency", **options)
    panel = made.load()
    assert human(panel) == [[3, 4]] and panel.items[0].scores == {"gpt/rts": {"M0": 4.0}}
    judges.write_text(judges.read_text() + "d1,M0,gpt,rts,fluency,4\n")
    with pytest.raises(DataError, match="twice"):
        made.load()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Rose(hub={}, texts={}, source="file"), "sample, hub, path"),
        (lambda: Rose(hub={}, texts={}, source="path"), "go together"),
        (lambda: Rose(hub={"ids": 1}, texts={}), r"dataset\.hub\.ids"),
        (lambda: Rose(hub={}, texts={"paths": 1}), r"dataset\.texts\.paths"),
        (lambda: SummEval(hub={}, texts={}, judges={}, dimension="style"), "coherence"),
        (lambda: Rose(hub={}, texts={}, limit=0), "limit"),
    ],
)
def test_configs_that_cannot_be(call: Any, said: str) -> None:
    with pytest.raises(JudgelabError, match=said):
        call()
