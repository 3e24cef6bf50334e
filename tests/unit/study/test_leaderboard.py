"""What is known of candidates elsewhere, and scores beside sizes over a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy import stats

from experiments.gem.printed import METRICS, read_printed
from judgelab.core.errors import DataError
from judgelab.core.result import Result, Table
from judgelab.report.jobs import SweepJob
from judgelab.study.leaderboard import Leaderboard, correlations, read_benchmarks
from tests.drawings import draw

OURS = {"a": 4.0, "b": 1.0, "c": 2.5, "d": 0.5}


def written(folder: Path, text: str) -> str:
    file = folder / "known.csv"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_columns_of_numbers_are_correlated(tmp_path: Path) -> None:
    path = written(
        tmp_path, "model,parameters,family,quiz,open\na,8,x,.4,True\nb,,y,.1,True\n007,3,y,.9,\n"
    )
    known = read_benchmarks(path)
    assert list(known.index) == ["a", "b", "007"], "names stay as written"
    table = correlations(known, OURS)
    assert [row["with"] for row in table.rows] == ["parameters"] * 2 + ["quiz"] * 2
    assert {row["with"]: row["n"] for row in table.rows} == {"parameters": 1, "quiz": 2}


def test_the_leaderboard_of_another_run_is_a_benchmark(tmp_path: Path) -> None:
    values = {"d": 7.0, "c": 20.0, "b": 11.0, "a": 60.0}
    rows = [f"{name},text,{value}\n" for name, value in values.items()]
    path = written(tmp_path, f"candidate,kind,value\n{''.join(rows)}")
    table = correlations(read_benchmarks(path), OURS)
    found = {row["correlation"]: row for row in table.rows if row["with"] == "value"}
    ours, theirs = list(OURS.values()), [values[name] for name in OURS]
    assert found["spearman"]["value"] == pytest.approx(stats.spearmanr(ours, theirs)[0])
    assert found["pearson"]["value"] == pytest.approx(stats.pearsonr(ours, theirs)[0])
    assert found["pearson"]["n"] == 4


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("model,quiz\na,1\nb,inf\n", "column of finite numbers"),
        ("name,quiz\na,1\n", "a column 'model' or 'candidate'"),
        ("model,quiz\na,1\na,2\n", "has 'a' in its column 'model': give each model once"),
        ('model,quiz\n"a,1\n', "cannot be read as CSV"),
    ],
)
def test_faults_of_the_file_are_named(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(DataError, match=fault) as caught:
        read_benchmarks(written(tmp_path, text))
    assert "\n" not in str(caught.value)
    assert "known.csv" in str(caught.value)


def test_the_shipped_benchmarks_give_table_5() -> None:
    """Models stand in the order of Tables 6 and 7; the paper's 21 cells are Pearson's."""
    known, printed = read_benchmarks("gre_bench.csv"), read_printed()
    for metric, column in METRICS.items():
        scores = dict(zip(known.index, printed.board("6", column).values(), strict=True))
        table = correlations(known, {str(name): score for name, score in scores.items()})
        found = {r["with"]: r["value"] for r in table.rows if r["correlation"] == "pearson"}
        for benchmark, number in printed.table5[metric].items():
            assert round(float(str(found[benchmark])), 2) == number, (metric, benchmark)


def job(number: int, dataset: str, mechanism: str = "bleu", size: float | None = 8.0) -> SweepJob:
    row = {"candidate": "a", "kind": "text", "parameters": size, "value": 0.1 * number, "n": 9}
    board = Table("leaderboard", "Leaderboard", [row])
    made = Result({"study": "leaderboard", "mechanism": mechanism}, "", [board])
    choices = {"dataset": dataset, "mechanism": mechanism}
    given = tuple(f"{key}={value}" for key, value in choices.items())
    return SweepJob(number, given, choices, None, made.to_json(), None)


def test_metrics_on_one_dataset_are_named_alone() -> None:
    two = [job(2, "yelp"), job(3, "yelp", "length")]
    [boards] = Leaderboard.compare([job(1, "iclr_reviews"), *two])
    assert list(boards.rows["metric"]) == ["bleu · iclr_reviews", "bleu · yelp", "length · yelp"]
    [boards] = Leaderboard.compare(two)
    assert boards.answer[0][1].startswith("a leads 2 of 2 leaderboards.")
    assert list(boards.rows["metric"]) == ["bleu", "length"]
    drawn = draw("boards_by_size", {"boards": boards.rows})
    assert [side.get_title(loc="left") for side in drawn.figure.axes[:2]] == ["bleu", "length"]
    assert not Leaderboard.compare([job(1, "yelp", size=None)])[0].tables
