"""The Auto-PRE tables of any clone: what is compared, what matches, and what each row counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.auto_pre.tables import main
from experiments.command import UNKNOWN, Row, point
from tests.tiny_auto_pre_clone import NF, write_clone


@pytest.mark.parametrize(
    ("value", "match"),
    [(0.68098, False), (0.68094, True), (0.68085, True), (0.68084, False), (0.68095, True)],
)
def test_a_cell_matches_where_it_rounds_to_the_printed_digits(value: float, match: bool) -> None:
    """Cut digits are no match; a number half-way rounds to either."""
    assert Row("3", "x", "y", 0.6809, point(value, 1)).match is match


def test_tables_need_nothing_but_a_clone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With other numbers than the authors', and without most of their judges."""
    clone, out = write_clone(tmp_path / "Auto-PRE"), tmp_path / "rows.json"
    lines = (clone / NF / "x_pointwise_5level_processed_gpt4.json").read_text().split("\n")
    lines[:100] = ["nan"] * 100  # gpt-4 graded none of the first model's answers
    (clone / NF / "x_pointwise_5level_processed_gpt4.json").write_text("\n".join(lines))
    assert main(["--data", str(tmp_path), "--out", str(out)]) == 0
    rows = {(r["table"], r["row"], r["column"]): r for r in json.loads(out.read_text())}
    single = rows["3", "gpt-4", "XSum/pairwise"]
    assert single["paper"] == 0.7369 and single["match"] is False and single["cause"] == UNKNOWN
    assert single["released"] > 0.99
    graded = rows["3", "gpt-4", "NF_CATS/5-level"]
    # of 19 pairs that people decide on most items six are with that model
    assert graded["corrected_unscored"] >= 500 and graded["released_unscored"] == 0
    assert graded["corrected_n"] + graded["corrected_unscored"] == graded["released_n"]
    assert rows["3", "PandaLM", "XSum/pairwise"]["released"] is None
    said = capsys.readouterr().out
    assert "1 not: Table 3, gpt-4, XSum/pairwise: no cause is known." in said
    assert main(["--data", str(tmp_path / "nowhere"), "--out", str(out)]) == 1
    assert "github.com/cjj826/Auto-PRE" in capsys.readouterr().err
