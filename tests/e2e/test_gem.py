"""The GEM paper from the command line: validation sweeps, a leaderboard, symmetry, writers."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.e2e.conftest import Command, result

DATA = ("dataset=iclr_reviews", "tracker=none")


def test_a_validation_sweep_ends_in_metrics_by_attacks(judgelab: Command, tmp_path: Path) -> None:
    attacks = "attack=sentence_deletion,meaningless_elongation"
    done = judgelab("-m", "study=validation", "mechanism=gem,length", attacks, *DATA)
    assert done.returncode == 0, done.stderr
    assert "Metrics by attacks" in done.stdout and "failed" not in done.stdout
    [sweep] = (tmp_path / "sweeps").iterdir()
    with (sweep / "metrics_by_attacks.csv").open() as file:
        rows = {(row["metric"], row["attack"]): row for row in csv.DictReader(file)}
    assert len(rows) == 4
    assert float(rows["length", "sentence_deletion"]["high"]) < 0
    assert rows["length", "meaningless_elongation"]["verdict"] == "rises"
    assert rows["gem", "sentence_deletion"]["n"] == "24"  # 12 papers, 2 references
    assert rows["length", "sentence_deletion"]["n"] == "12"  # looks at no reference
    assert (sweep / "figures" / "metrics_by_attacks.png").is_file()


def test_a_leaderboard_ranks_texts_already_written(judgelab: Command, tmp_path: Path) -> None:
    sizes = tmp_path / "known.csv"
    sizes.write_text("model,parameters,quiz\nreviewer_2,8,.5\nreviewer_3,70,.7\n")
    who = ("study.references=[reviewer_1]", "study.humans=[reviewer_3]")
    done = judgelab("study=leaderboard", *who, f"study.benchmarks={sizes}", "mechanism=gem", *DATA)
    assert done.returncode == 0, done.stderr
    tables = {t["name"]: t["rows"] for t in result(tmp_path)["tables"]}
    board = tables["leaderboard"]
    assert board == sorted(board, key=lambda row: -row["value"])
    known = {row["candidate"]: (row["parameters"], row["kind"]) for row in board}
    assert known == {"reviewer_2": (8, "text"), "reviewer_3": (70, "human")}
    assert all(row["low"] <= row["value"] <= row["high"] for row in board)
    assert {(row["with"], row["correlation"]) for row in tables["benchmarks"]} == {
        (column, method) for column in ("parameters", "quiz") for method in ("spearman", "pearson")
    }
