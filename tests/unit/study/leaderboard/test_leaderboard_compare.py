"""Scores beside sizes over a sweep of leaderboards."""

from __future__ import annotations

from judgelab.core.result import Result, Table
from judgelab.report.jobs import SweepJob
from judgelab.study.leaderboard import Leaderboard


def job(number: int, dataset: str, mechanism: str = "bleu", size: float | None = 8.0) -> SweepJob:
    row = {"candidate": "a", "kind": "text", "parameters": size, "value": 0.1 * number, "n": 9}
    made = Result(
        summary={"study": "leaderboard", "mechanism": mechanism},
        primary="",
        tables=[Table("leaderboard", "Leaderboard", [row])],
    )
    choices = {"dataset": dataset, "mechanism": mechanism}
    given = tuple(f"{key}={value}" for key, value in choices.items())
    return SweepJob(number, given, choices, None, made.to_json(), None)


def test_scores_on_two_datasets_are_apart() -> None:
    [boards] = Leaderboard.compare(
        [job(1, "iclr_reviews"), job(2, "yelp"), job(3, "yelp", "length")]
    )
    assert list(boards.rows["metric"]) == ["bleu · iclr_reviews", "bleu · yelp", "length · yelp"]


def test_metrics_on_one_dataset_are_named_alone() -> None:
    [boards] = Leaderboard.compare([job(1, "yelp"), job(2, "yelp", "length")])
    assert boards.answer[0][1].startswith("a leads 2 of 2 leaderboards.")
    assert list(boards.rows["metric"]) == ["bleu", "length"]
    assert not Leaderboard.compare([job(1, "yelp", size=None)])[0].tables
