"""What a spreadsheet would calculate is text, and comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from judgelab.core.csv_cells import quoted, unquoted
from judgelab.report.page import write_csv
from judgelab.store.run_dir import RunDir
from judgelab.study.leaderboard import read_benchmarks


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\t=1", "\r=1", "-"]
)
def test_text_is_quoted_and_comes_back(text: str) -> None:
    assert quoted(text) == f"'{text}"
    assert unquoted(f"'{text}") == text


@pytest.mark.parametrize("cell", [-0.5, 3, None, True, "-0.5", "+3", "-inf", "'tis", "a=b", ""])
def test_others_stay(cell: object) -> None:
    assert quoted(cell) is cell
    if isinstance(cell, str):
        assert unquoted(cell) == cell


def test_a_table_keeps_its_numbers_and_gives_names_back(tmp_path: Path) -> None:
    names = ["@cf/model", "=HYPERLINK(1)", "plain"]
    table = pd.DataFrame(
        {"candidate": names, "=d": [-0.5, 1.0, None], "note": ["-0.5", "-x", None]}
    )
    write_csv(RunDir(tmp_path), "board.csv", table)
    assert (tmp_path / "board.csv").read_text().splitlines() == [
        "candidate,'=d,note",
        "'@cf/model,-0.5,-0.5",
        "'=HYPERLINK(1),1.0,'-x",
        "plain,,",
    ]
    assert list(read_benchmarks(str(tmp_path / "board.csv")).table.index) == names
