"""The replays' page says what the result files say, and what they say holds."""

from __future__ import annotations

import numpy as np

from experiments.stopping.orders import RESULTS, rows_of
from experiments.stopping.panels import Recorded
from experiments.stopping.readme import README, page
from experiments.trust.results import read


def test_the_page_is_that_of_the_results() -> None:
    text = README.read_text(encoding="utf-8")
    assert page(text) == text


def test_stopped_runs_said_what_the_full_run_says() -> None:
    orders, setting = read("orders", RESULTS)
    assert setting["replays"] == 500
    assert min(row["same as the full run"] for row in orders) >= 0.95
    assert max(row["a sure order was wrong"] for row in orders) <= 0.05
    widths, _ = read("widths", RESULTS)
    assert min(row["interval holds the full run's AUC"] for row in widths) >= 0.95
    bounded = [row for row in read("truth", RESULTS)[0] if "no bounds" not in row["values"]]
    assert max(row["ever outside"] for row in bounded) <= 0.05 + 0.01


def test_a_replay_is_the_studys_own() -> None:
    chances = [0.1, 0.5, 0.95]
    scores = (np.random.default_rng(0).random((120, 3)) < chances).astype(float)
    rows = rows_of(Recorded("made", scores, (0, 1)), 5)
    assert len(rows) == 8
    best = next(row for row in rows if row["question"] == "who is best")
    assert best["same as the full run"] == 1
    assert best["calls saved"] > 0.3
