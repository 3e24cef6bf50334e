"""What a metric says of the order that people would give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judgelab.core.errors import DataError
from tests.unit.study.ranking.ranking_context import (
    outcome,
    scores,
    table_study,
    tables,
)


def test_peoples_order_is_by_the_model_with_the_smallest_error(tmp_path: Path) -> None:
    """Bias where systems are favoured; Algorithm 1, or the line, where the bias term makes it
    worse: means of systems are three times as steep as texts, Algorithm 1 too careful throughout.
    """
    path, _ = scores(tmp_path, systems=9)
    favoured = outcome(tmp_path, *table_study(path))
    path, _ = scores(tmp_path, systems=9, slope=3)
    steep = outcome(tmp_path / "b", *table_study(path))
    for result in (favoured, steep):
        summary = result.summary
        errors = {m: summary[f"calibration/error_{m}"] for m in ("algorithm_1", "bias", "line")}
        least = min(errors, key=lambda name: errors[name])  # type: ignore[arg-type,return-value]
        assert summary["ranking/model"] == least
        assert any("confidence in people's order is by" in note for note in result.notes)
    assert steep.summary["ranking/model"] != "bias"
    assert favoured.summary["ranking/model"] != "algorithm_1"
    said = "Why the bias does not help: on average Algorithm 1 is too careful"
    assert any(note.startswith(said) for note in steep.notes)


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
    assert any("they take no part" in note for note in trained.notes)
    scores(tmp_path / "other", human=0.1)
    with pytest.raises(DataError, match="no judge can be fitted there"):
        outcome(tmp_path / "d", *table_study(here, *train))


@pytest.mark.parametrize("column", ["human", "metric"])
def test_scores_that_do_not_vary(tmp_path: Path, column: str) -> None:
    path, _ = scores(tmp_path, **{column: 0.1})
    result = outcome(tmp_path, *table_study(path))
    assert any("do not vary: the confidence is" in note for note in result.notes)
    order = tables(result)["ranking"]
    assert len(order) == 21 and "people" not in order
    if column == "metric":
        assert (order["same_metric"] == 0.5).all()


def test_a_judge_that_is_people(tmp_path: Path) -> None:
    path, _ = scores(tmp_path, metric=lambda table: 2 * table["human"] + 1)
    summary = outcome(tmp_path, *table_study(path)).summary
    assert summary["judge/r"] == pytest.approx(1) and summary["judge/system_bias_sd"] == 0
