"""Intervals hold on few items, where the papers' percentile bootstrap does not.

A few cells of ``experiments.coverage`` on few data sets: a tenth of what the table needs, so the
margins are wide (.95 -+ three standard errors is .92 to .98).
"""

from __future__ import annotations

import pytest

from experiments.coverage import simulation
from experiments.coverage.scores import Law
from experiments.coverage.simulation import simulate
from experiments.coverage.statistics import STATISTICS

SETS = 500
MARGINS = (0.92, 0.985)


@pytest.fixture(autouse=True)
def smaller_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "LARGE", 60_000)
    monkeypatch.setattr(simulation, "TYPICAL", 100)


@pytest.mark.parametrize(
    ("statistic", "law"),
    [
        ("item AUC", "normal"),
        ("d", "normal"),
        ("d", "skewed"),
        ("accuracy on pairs", "skewed"),
        ("rho within items", "normal"),
        ("change of AUC", "skewed"),
        ("mean score", "skewed"),
    ],
)
def test_intervals_hold_at_twelve_items_where_percentiles_do_not(statistic: str, law: Law) -> None:
    found = simulate(statistic, law, 12, SETS)
    assert MARGINS[0] < found.ours.held < MARGINS[1]
    assert found.percentile.held < min(found.ours.held, 0.925)


def test_every_statistic_of_the_table_runs() -> None:
    for name in STATISTICS:
        found = simulate(name, "discrete", 12, 10)
        assert found.ours.none < 1, name
