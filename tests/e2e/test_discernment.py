"""study=discernment from the command line, on a machine without network, key or GPU."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.e2e.conftest import Command

COMMAND = ("study=discernment", "dataset=summeval", "evaluation_lm=compression")
SECONDS = 120  # what the command may take on a laptop; it takes a fraction


@pytest.mark.slow
def test_the_command_of_the_dhp_paper_runs_on_the_sample(judgelab: Command, tmp_path: Path) -> None:
    started = time.monotonic()
    done = judgelab(*COMMAND)
    took = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    assert took < SECONDS
    assert "This judge (rating_likelihood) does not see:" in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    summary = result["summary"]
    assert summary["items"] == 12
    assert sum(key.startswith("d_ew/") for key in summary) == 8  # entities, insertions: an LM alone
    assert summary["d_ew/typos_major"] > 2 and "reordering_minor" in summary["not_seen"]
    for name in ("average", "average_ew", "minimum", "minimum_ew"):
        low, value, high = (summary[f"discernment/{name}{p}"] for p in ("_low", "", "_high"))
        assert low <= high and value >= 0 and summary[f"discernment/{name}_threshold"] > 0
    assert {p.name for p in (run / "figures").glob("*.svg")} == {"discernment_bars.svg"}


@pytest.mark.slow
def test_a_sweep_over_judges_ends_in_their_leaderboard(judgelab: Command, tmp_path: Path) -> None:
    done = judgelab(
        *("-m", *COMMAND, "mechanism=rating_likelihood,length", "limit=6"),
        *("study.only=[typos_major,reordering_minor]", "study.replicates=200"),
        "tracker=none",
    )
    assert done.returncode == 0, done.stderr
    assert "Judges by discernment" in done.stdout
    (sweep,) = (tmp_path / "sweeps").iterdir()
    board = pd.read_csv(sweep / "judges.csv")
    assert set(board["judge"]) == {"rating_likelihood", "length"}
    known = board["average_ew"].dropna()
    assert known.is_monotonic_decreasing and len(known) == 2
    for part in ("average_ew", "average"):
        columns = [f"{part}{p}" for p in ("", "_low", "_high", "_threshold")]
        assert board[columns].notna().all(axis=None)
    assert (board["d_ew/typos_major"] >= board["d_ew/reordering_minor"]).all()
    assert (sweep / "figures" / "discernment_judges.svg").is_file()
