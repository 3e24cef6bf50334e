"""The audit's answers on tables of known truth, in small."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.trust import __main__ as trials
from experiments.trust import cells, coverage
from experiments.trust.requirements import KNOWS_NOTHING


@pytest.mark.parametrize("kind", list(cells.KINDS))
def test_who_knows_nothing_is_not_used_and_names_do_not_matter(kind: str) -> None:
    rows = cells.cell(kind, 60, range(4))
    for row in rows:
        assert row["tables"] == 4 and row["changed"] == 0, row
        if row["judge"] in KNOWS_NOTHING:
            assert row.get("use", 0) == 0, row
        if row["judge"] in ("one more rater", "the truth", "perfect"):
            assert row.get("do not use", 0) == 0, row


def test_a_quick_run_says_what_must_come_out(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One table of the smallest size: the test above has more of them."""
    out, all_trials = tmp_path / "trust.json", trials.trials
    here = ThreadPoolExecutor(1)  # a process of its own imports for seconds
    monkeypatch.setattr(trials, "ProcessPoolExecutor", lambda *_: here)
    monkeypatch.setattr(coverage, "SIZES", coverage.SIZES[:1])
    monkeypatch.setattr(trials, "trials", lambda data, _, sizes: all_trials(data, 1, sizes[:1]))
    assert trials.main(["--data", str(shared_data), "--quick", "--out", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    held = {row["requirement"]: row["holds"] for row in found["requirements"]}
    sure = ("SummEval", "one more rater", "knows nothing", "finds .3", "other order", "ten judges")
    assert all(holds for text, holds in held.items() if text.startswith(sure)), held
    assert len(found["coverage"]) > 30
