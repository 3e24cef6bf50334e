"""study=plan: how many items a ranking needs, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.errors import ConfigError, DataError
from judgelab.engine.context import Context
from judgelab.stats.ranking.confidence import required_n
from judgelab.study.ranking.plan import Plan
from tests.unit.study.ranking.ranking_context import (
    context_of,
    finished,
    outcome,
    scores,
    table_study,
    tables,
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return context_of(tmp_path_factory.mktemp("plan"))


def plan(lab: Context, **given: Any) -> tuple[Mapping[str, Any], dict[str, Any], str]:
    result = Plan(**{"r": 0.3, "delta": 0.05, "sd": 0.25, **given}).run(lab)
    said = [*(words for _, words in result.answer), *result.notes]
    return result.summary, tables(result), " ".join(said)


def test_the_plan_of_the_issue(lab: Context) -> None:
    summary, found, said = plan(lab, r=0.3, delta=0.05, confidence=0.95, price=0.01)
    items = required_n(0.3, 0.05, 0.95, sd=0.25)
    assert summary["required_items"] == items == 1504
    assert summary["cost"] == pytest.approx(2 * items * 0.01)
    assert {"mechanism", "dataset", "evaluation_lm"}.isdisjoint(summary)
    assert "needs 1,504 items" in said and "upper bound" in said and "30.08: 0.01 a text" in said
    assert "would need 376 (at the same price 22.56 less)" in said
    judges = found["judges"].set_index("r")
    assert list(judges.index) == pytest.approx([0.3, 0.4, 0.5, 0.6])
    assert judges["items"].iloc[-1] == required_n(0.6, 0.05, 0.95, sd=0.25)
    assert judges["saved"].iloc[-1] == pytest.approx(0.75, abs=0.001)
    assert judges["worth_up_to"].iloc[-1] == pytest.approx(4, abs=0.02)
    assert judges["cost_at_this_price"].iloc[0] == pytest.approx(summary["cost"])
    assert judges["saved_at_this_price"].iloc[-1] == pytest.approx(2 * (1504 - 376) * 0.01)


def test_a_plan_that_no_number_of_items_fulfils(lab: Context) -> None:
    summary, _, said = plan(lab, system_bias_sd=0.05, price=1.0)
    assert math.isinf(summary["required_items"]) and summary["cost"] is None
    assert summary["ceiling"] == pytest.approx(0.7602, abs=1e-4)
    assert "No number of items" in said and "0.760" in said
    summary, _, said = plan(lab, delta=1e-10, price=1e-6)  # more items than a machine could draw
    assert summary["required_items"] == required_n(0.3, 1e-10, sd=0.25) > 1e19


def test_a_plan_reads_the_judge_and_guesses_no_scale(lab: Context, tmp_path: Path) -> None:
    path, table = scores(tmp_path)
    table["human"] = 1 + 4 * (table["human"] - table["human"].min())  # another scale
    table.loc[:2, "human"] = np.nan
    table.to_csv(path, index=False)
    direct = outcome(tmp_path, *table_study(path))
    run = finished(tmp_path, direct)
    read = {"sd": None, "r": None, "delta": 0.4, "train_run": str(run.path)}
    summary, found, said = plan(lab, **read)
    for name in ("r", "sd", "system_bias_sd"):
        assert summary[name] == pytest.approx(direct.summary[f"judge/{name}"])
    assert summary["required_items_without_bias"] < summary["required_items"]
    human = table["human"].to_numpy()
    assert summary["required_items_without_bias"] == required_n(
        summary["r"], 0.4, 0.95, human, item_correlation=summary["item_correlation"]
    )
    assert set(found["known"]["from"]) == {"the run run"} and len(found["known"]) == 4
    assert "by Algorithm 1 alone" in said
    assert "your 417 human scores (3 cells are empty)" in said and "a kernel density" in said
    known = plan(lab, **read | {"r": 0.5})[1]["known"]
    assert "study.r" in set(known["from"]), "what is given counts"
    for missing, word in (("sd", "sd of human scores"), ("r", "correlation"), ("delta", "delta")):
        with pytest.raises(ConfigError, match=word):
            plan(lab, **{missing: None})
    for given, said in (({"human": 1.0}, "equal"), ({"sign": -1.0}, "at r = -")):
        scores(tmp_path, **given)
        finished(tmp_path, outcome(tmp_path, *table_study(path)))
        with pytest.raises(DataError, match=said):
            plan(lab, **read)


@pytest.mark.parametrize(("slope", "wanted"), [(0, "bias"), (3, "line")])
def test_another_model_must_be_surely_better(tmp_path: Path, slope: float, wanted: str) -> None:
    """The line where means of systems are three times as steep as texts, Algorithm 1 too careful;
    with favoured systems its error is the smallest too, though others may be as good."""
    path, _ = scores(tmp_path, systems=9, slope=slope)
    result = outcome(tmp_path, *table_study(path))
    errors = {m: result.summary[f"calibration/error_{m}"] for m in ("algorithm_1", "bias", "line")}
    assert result.summary["ranking/model"] == wanted
    assert min(errors, key=lambda name: errors[name]) == "line"  # type: ignore[arg-type,return-value]
    said = "\n".join(result.notes)
    assert ("no other model has a surely smaller error" in said) == (wanted == "bias")
    assert ("surely smaller than with the bias" in said) == (wanted == "line")
    why = "Why the bias does not help: on average Algorithm 1 is too careful"
    assert (why in said) == (wanted == "line")


def test_means_that_go_against_people_are_not_people_s_order(tmp_path: Path) -> None:
    """Texts agree with people, but systems' means fall as people's rise: the line knows."""
    path, _ = scores(tmp_path, systems=9, slope=-0.6)
    result = outcome(tmp_path, *table_study(path))
    assert result.summary["judge/r"] > 0 and result.summary["ranking/model"] == "line"  # type: ignore[operator]
    pairs = tables(result)["ranking"]
    right = (pairs["human_gap"] > 0).mean()
    assert right < 0.2 and pairs["people"].mean() == pytest.approx(right, abs=0.15)
    assert result.summary["ranking/sure_pairs"] == 0
    assert any("fall as people's rise" in note for note in result.notes)


def test_a_judge_fitted_elsewhere_is_tested_here(tmp_path: Path) -> None:
    """study.train predicts; people's scores here only test it."""
    here, table = scores(tmp_path)
    (tmp_path / "other").mkdir()
    there, _ = scores(tmp_path / "other", items=40, sign=0.5)
    own = outcome(tmp_path / "b", *table_study(there))
    train = ["dataset@study.train=table", "study.train.judges=[metric]"]
    train.append(f"study.train.path={there}")
    trained = outcome(tmp_path / "c", *table_study(here, *train))
    assert trained.summary["judge/r"] == own.summary["judge/r"] != trained.summary["here/r"]
    known = table.dropna()
    real = np.corrcoef(known["human"], known["metric"])[0, 1]
    assert trained.summary["here/r"] == pytest.approx(real)
    assert trained.summary["judge/from"] == "training data"
    assert len(tables(trained)["calibration_error"]) == 6
    assert any("only test the judge" in note for note in trained.notes)
    scores(tmp_path / "other", human=0.1)
    with pytest.raises(DataError, match="no judge can be fitted there"):
        outcome(tmp_path / "d", *table_study(here, *train))
