"""Labels that a question needs: golden figures, ppi_py, real clusters."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from judgelab.stats.trust.exchange import worth
from judgelab.stats.trust.planner import (
    design_effect,
    label_plan,
    labels,
    reliability,
    room_for_difference,
    room_for_width,
)
from tests.judgment_tables import frank

WIDE = room_for_width(0.05)


def test_labels_that_are_needed() -> None:
    assert labels(WIDE, 0.25, 0.4, 2000) == 250
    assert labels(WIDE, 0.25, 0.4, 2000, "pool") == 207
    assert labels(WIDE, 0.25, 0.0) == 385
    assert labels(room_for_difference(0.05), 0.5, 0.3, 5000) == 1214
    assert math.isinf(labels(room_for_width(0.01), 0.25, 0.9, 100))


def test_a_pool_that_is_too_small_grows_by_ten_verdicts_a_label() -> None:
    assert label_plan(WIDE, 0.25, 0.4, 2000).labels == 250
    grown = label_plan(WIDE, 0.25, 0.4, 200)
    assert grown.items == 11 * grown.labels
    again = label_plan(WIDE, 0.25, 0.4, grown.items)
    assert again.labels == pytest.approx(grown.labels, abs=1) and again.items == grown.items


def test_effective_labels_are_those_of_ppi_py() -> None:
    """Their pair of n and N for an effective n has that effective n by our formula."""
    ppi = pytest.importorskip("ppi_py")
    for r in (0.3, 0.6, 0.9):
        found = ppi.ppi_power(r, 0.0, 1.0, 0.01, effective_n=500)
        n, rest = found["n"], found["N"]
        assert worth(r**2, n, rest)[0] == pytest.approx(500, abs=2)
        assert labels(0.25 / 500, 0.25, r**2, n + rest) == pytest.approx(n, abs=2)


def test_design_effect_of_real_articles(shared_data: Path) -> None:
    """FRANK bbc: standard error of mean Factuality .0086 by rows, .0101 by article."""
    table = frank(shared_data, "bbc")
    assert design_effect(table.truth, table.clusters) == pytest.approx(1.40, abs=0.02)
    alone = np.arange(len(table.truth))
    assert design_effect(table.truth, alone) == pytest.approx(1.0, abs=1e-9)
    assert math.isnan(design_effect(np.ones(9), np.arange(9)))


def test_reliability_is_that_of_the_mean_of_raters() -> None:
    """Spearman-Brown: three raters with noise as large as the truth: 3 / 4."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=4000)
    said = truth[:, None] + rng.normal(size=(4000, 3))
    assert reliability(said) == pytest.approx(0.75, abs=0.02)
    assert reliability(np.c_[truth, truth]) == 1
    assert math.isnan(reliability(truth[:, None]))
