"""The studies ranking_confidence and plan: from scores to tables, notes and a page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, spearmanr, ttest_rel

from judgelab.config import build, resolved
from judgelab.config.composing import composed
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.result import Result
from judgelab.stats.ranking.confidence import confidence, required_n
from judgelab.store.run_dir import RunDir
from judgelab.study.ranking.plan import Plan
from judgelab.study.ranking.ranking_confidence import RankingConfidence
from tests.drawings import draw
from tests.scripted import ScriptedChat, panel_of
from tests.unit.study.discernment.discernment_context import lab
from tests.unit.study.ranking.ranking_context import (
    SMALL,
    context_of,
    finished,
    outcome,
    scores,
    table_study,
    tables,
)


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("annotated")
    path, table = scores(folder)
    return outcome(folder, *table_study(path)), table


def test_the_judge_is_what_the_table_says(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, table = annotated
    summary: dict[str, Any] = {**result.summary}
    known = table.dropna()
    both = known["human"], known["metric"]
    assert summary["judge/r"] == pytest.approx(np.corrcoef(*both)[0, 1])
    assert summary["here/tau"] == pytest.approx(kendalltau(*both).statistic)
    assert summary["here/rho"] == pytest.approx(spearmanr(*both).statistic)
    assert summary["judge/sd"] == pytest.approx(table["human"].std(ddof=0))
    assert (summary["items"], summary["systems"], summary["n"]) == (60, 7, 60)
    assert summary["clean/unscored_texts"] == 1
    assert "evaluation_lm" not in summary, "nobody was asked"
    for name in ("judge/r", "here/tau", "judge/system_bias_sd"):
        assert summary[f"{name}_low"] < summary[name] < summary[f"{name}_high"]
    assert 0 < summary["judge/system_bias_sd"] < 0.5
    row = tables(result)["judge"].set_index("quantity").loc["bias between systems (sd)"]
    assert row["n"] == 7 and summary["judge/system_bias_sd_high"] == row["high"]
    shown = "systems observed errors trade_off by_items by_correlation noise"
    assert result.figures == [f"ranking_{name}" for name in shown.split()]
    assert all(draw(name, tables(result)).caption for name in result.figures)


def test_every_pair_has_its_confidence(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, table = annotated
    order = tables(result)["ranking"]
    assert len(order) == 7 * 6 / 2 == result.summary["ranking/pairs"]
    assert (order["people"] <= order["same_metric"]).all() and (order["gap"] >= 0).all()
    wide = table.pivot(index="item", columns="system", values="metric")
    row = order.iloc[4]
    both = wide[[row["higher"], row["lower"]]].dropna()
    test = ttest_rel(both[row["higher"]], both[row["lower"]])
    assert row["same_metric"] == pytest.approx(1 - test.pvalue / 2)
    assert row["shared_items"] == len(both)
    systems = tables(result)["systems"]
    assert list(systems["value"]) == sorted(systems["value"], reverse=True)
    assert systems["above_next_people"].isna().sum() == 1


def test_a_metric_that_is_measured(tmp_path: Path) -> None:
    """The sample of RoSE, its texts measured: they are read, and it says synthetic."""
    study = ("study=ranking_confidence", "dataset=rose", "mechanism=length", *SMALL)
    result = outcome(tmp_path, *study)
    assert result.summary["mechanism"] == "length" and result.summary["dataset"] == "rose"
    assert result.summary["systems"] == 8 and any("Synthetic" in note for note in result.notes)
    names = {file.name for file in (tmp_path / "run" / "records").iterdir()}
    assert {"clean_scores.parquet", "clean_texts.parquet"} <= names
    with pytest.raises(ConfigError, match="attack=none"):
        outcome(tmp_path, *study, "attack=padding")


def test_scores_without_people_or_against_them(tmp_path: Path) -> None:
    path, _ = scores(tmp_path, sign=-1.0)
    result = outcome(tmp_path / "b", *table_study(path, "dataset.columns.human=false"))
    found = tables(result)
    assert "by_items" not in found and not {"people", "human_gap"} & set(found["ranking"])
    assert any("not of people's" in note for note in result.notes) and len(found["ranking"]) == 21
    result = outcome(tmp_path, *table_study(path))
    assert result.summary["judge/r"] < 0  # type: ignore[operator]
    assert any("no noise level" in note for note in result.notes)
    assert "by_items" not in tables(result) and "ranking" in tables(result)
    assert "people" not in tables(result)["ranking"]


def test_few_systems_are_ranked_but_not_predicted(tmp_path: Path) -> None:
    path, _ = scores(tmp_path, systems=3)
    result = outcome(tmp_path, *table_study(path))
    assert result.primary == "ranking/mean_confidence"
    assert "calibration_error" not in tables(result) and len(tables(result)["ranking"]) == 3
    path, _ = scores(tmp_path, systems=1)
    with pytest.raises(DataError, match="two systems at least, but 1"):
        outcome(tmp_path, *table_study(path))


def test_an_existing_run_is_ranked(annotated: tuple[Result, pd.DataFrame], tmp_path: Path) -> None:
    """The records of any study: what it wrote is all that is read."""
    path, _ = scores(tmp_path)
    run = finished(tmp_path, outcome(tmp_path, *table_study(path)))
    result = outcome(tmp_path / "b", "study=ranking_confidence", f"study.run={run.path}", *SMALL)
    for key, value in annotated[0].summary.items():
        assert result.summary[key] == pytest.approx(value, nan_ok=True), key
    assert not (tmp_path / "b" / "run" / "records").exists(), "nothing was measured"
    few = RankingConfidence(run=str(run.path), bootstrap=50, pairs=5, evaluations=5)
    assert few.run(context_of(tmp_path / "c", limit=20)).summary["items"] == 20


def test_runs_that_cannot_be_ranked(tmp_path: Path) -> None:
    study = ["study=ranking_confidence", f"study.run={tmp_path}"]
    with pytest.raises(DataError, match="no finished run"):
        outcome(tmp_path, *study)
    (tmp_path / "DONE").touch()
    with pytest.raises(DataError, match="scores no single texts"):
        outcome(tmp_path, *study)
    (tmp_path / "records").mkdir()
    (tmp_path / "result.json").write_text('{"summary": {}}')
    pd.DataFrame({"item": ["a"]}).to_parquet(tmp_path / "records" / "clean_scores.parquet")
    with pytest.raises(DataError, match="cannot be read: .*reference"):
        outcome(tmp_path, *study)


def test_what_is_not_known_is_not_nought(tmp_path: Path) -> None:
    """Neither a bias of 0 nor a correlation of 0 where no two systems answer the same items."""
    path, _ = scores(tmp_path, item=lambda table: table["item"] + table["system"])
    result = outcome(tmp_path, *table_study(path))
    for name in ("item_correlation", "system_bias_sd"):
        assert math.isnan(result.summary[f"judge/{name}"])  # type: ignore[arg-type]
    assert result.summary["ranking/pairs"] == 0
    assert "items_with_bias" not in tables(result)["trade_off"]
    drawn = draw("ranking_trade_off", tables(result))
    assert drawn.figure.axes and "not known" in drawn.caption
    RunDir(tmp_path / "c").write_json("result.json", result.to_json())


def test_a_dry_run_asks_what_a_run_asks(tmp_path: Path) -> None:
    """A plan asks nobody, and a finished run is read; else one question for every text."""
    lm = ScriptedChat(lambda request: "3")
    mechanism = resolved(composed(["mechanism=acu_rating"]))["mechanism"]
    panel = panel_of([["one text", "another"], ["a third", None]])
    asking = lab(tmp_path, lm, build(mechanism, "mechanism"), panel)
    Plan().ask(asking)
    RankingConfidence(run="anywhere").ask(asking)
    assert not lm.seen
    RankingConfidence().ask(asking)
    assert len(lm.seen) == 3 and not (tmp_path / "records").exists()


def test_curves_are_algorithm_1(annotated: tuple[Result, pd.DataFrame]) -> None:
    result, table = annotated
    found, human = tables(result), table["human"].to_numpy()
    curve = found["by_items"]
    assert set(curve["n"]) == {25, 50, 60, 100, 200, 500, 1000}
    row = curve[curve["n"] == 60].iloc[11]
    exact = confidence(row["r"], 60, row["delta"], human)
    assert row["closed_form"] == pytest.approx(float(exact))
    off = np.abs(curve["confidence"] - curve["closed_form"]) / curve["standard_error"]
    assert off.max() < 4.5
    row = found["trade_off"].iloc[10]
    assert row["items"] == required_n(row["r"], row["delta"], sd=human.std())
    noise = found["noise"]
    assert np.abs(noise["simulated"] - noise["r"]).max() < 0.05
    assert set(found["by_correlation"]["n"]) == {60}
