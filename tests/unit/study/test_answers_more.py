"""What rankings, exams of judges, symmetry and fine-tuning open with: as loud as intervals."""

from __future__ import annotations

import math
from typing import Any

import pytest

from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.finetune import _answer as trained
from judgelab.study.qualification.answer import answer as qualified
from judgelab.study.ranking.answer import answer as ranked
from judgelab.study.symmetry import _answer as symmetric

UNKNOWN = Estimate(math.nan)


def flat(key: str, value: float, low: float, high: float) -> dict[str, Any]:
    return {key: value, f"{key}_low": low, f"{key}_high": high, f"{key}_n": 30}


def ranking(sure: int, agreement: tuple[float, ...] | None, r: tuple[float, ...]) -> dict[str, Any]:
    made = {"n": 30, "ranking/sure_pairs": sure, "ranking/pairs": 6, "ranking/order_of": "people"}
    made |= flat("judge/r", *r)  # type: ignore[arg-type]
    return made | (flat("ranking/agreement", *agreement) if agreement else {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sure", "agreement", "r", "heading", "then"),
    [
        (6, (0.8, 0.51, 0.9), (0.4, 0.3, 0.5), "Orders systems as people do", "Report the ranking"),
        (3, (0.8, 0.5, 0.9), (0.4, 0.3, 0.5), "Not shown to order", "study=plan study.train_run="),
        (0, (0.3, 0.2, 0.4), (-0.4, -0.5, -0.3), "Orders systems against", "another metric"),
        (3, None, (0.4, 0.0, 0.5), "3 of 6 pairs are sure", "not shown to go along"),
        (6, None, (math.nan, math.nan, math.nan), "All pairs are sure", "Report the ranking"),
        (
            1,
            None,
            (math.nan, math.nan, math.nan),
            "1 of 6 pairs are sure",
            "study=plan study.train_run=",
        ),
    ],
)
def test_a_ranking(sure: int, agreement: Any, r: Any, heading: str, then: str) -> None:
    (first, said), (_, next_) = ranked(ranking(sure, agreement, r), "rating", 0.95)
    assert first.startswith(heading) and then in next_
    assert f"{sure} of 6 pairs" in said and "nan" not in said + next_


def test_one_system_or_one_item_is_no_ranking() -> None:
    nothing = ranking(0, None, (math.nan,) * 3) | {"ranking/pairs": 0}
    assert ranked(nothing, "mi", 0.95)[0][0] == "Nothing to rank"


@pytest.mark.parametrize(
    ("left", "chosen", "heading", "words"),
    [
        (2, (0.8, 0.7, 0.9), "2 of 4 judges qualify", "that the exams help is not shown"),
        (2, (0.8, 0.66, 0.9), "2 of 4 judges qualify", "the exams helped"),
        (2, (0.3, 0.2, 0.49), "2 of 4 judges qualify", "the exams hurt"),
        (4, (0.8, 0.7, 0.9), "All judges qualify", "as people do 80 times in 100"),
        (0, (math.nan,) * 3, "No judge qualifies", "None of 4 passes"),
    ],
)
def test_an_exam(left: int, chosen: Any, heading: str, words: str) -> None:
    everybody = (0.6, 0.5, 0.65) if left == 2 and chosen[1] != 0.7 else (0.75, 0.65, 0.85)
    made = {"judges": 4, "pool/judges": left, "pool": "PRE"}
    made |= flat("pool/accuracy", *chosen) | flat("all/accuracy", *everybody)
    (first, said), _ = qualified(made)
    assert first == heading and words in said and "nan" not in said
    assert ("than guessing" in said) == (chosen[1] <= 0.5)


def test_nobody_is_said_to_pass_where_nothing_was_asked() -> None:
    made = {"judges": 2, "pool/judges": 2, "pool": "all"} | flat("pool/accuracy", 0.5, 0.4, 0.6)
    (first, said), _ = qualified(made)
    assert first == "All judges together" and "not shown to be more often than guessing" in said


def test_an_exam_without_labels_says_that_agreement_is_no_accuracy() -> None:
    made = {"judges": 4, "pool/judges": 4, "pool": "all"} | flat("pool/agreement", 0.8, 0.7, 0.9)
    (_, said), (_, then) = qualified(made)
    assert "80 times in 100" in said and "no accuracy" not in said
    assert "Agreement is not accuracy" in then


@pytest.mark.parametrize(
    ("ends", "heading"),
    [
        ((0.1, 0.3), "Both orders"),
        ((0.0, 0.3), "The orders are not"),
        ((-0.3, -0.1), "The orders contra"),
    ],
)
def test_symmetry(ends: tuple[float, float], heading: str) -> None:
    (first, said), _ = symmetric(Estimate(sum(ends) / 2, *ends, 30), UNKNOWN)
    assert first.startswith(heading) and "nan" not in said
    assert symmetric(UNKNOWN, UNKNOWN)[0][0] == "Not known"


@pytest.mark.parametrize(
    ("change", "heading"),
    [
        (Estimate(-0.2, -0.3, -0.1, 9), "It learned"),
        (Estimate(-0.2, -0.3, 0.0, 9), "Not shown to have learned"),
        (Estimate(0.2, 0.1, 0.3, 9), "It predicts reviews worse"),
        (Estimate(-0.2, n=2), "Not known whether"),
        (UNKNOWN, "Trained"),
    ],
)
def test_fine_tuning(change: Estimate, heading: str) -> None:
    figures = {("before", "loss"): Estimate(3.0, n=9), ("after", "loss"): Estimate(2.8, n=9)}
    (first, said), *_ = trained({**figures, ("change", "loss"): change}, 30)
    assert first.startswith(heading) and "nan" not in said
