"""``make tables`` cell by cell: as recorded, as printed, as the docs show it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from experiments.tables import EXPERIMENTS

GOLDEN = Path(__file__).with_name("golden")
PAPERS = Path(__file__).resolve().parents[2] / "docs" / "papers"
NAMES = [one.name for one in EXPERIMENTS]
PRINTED = {"peer_prediction": (95, 114), "gem": (65, 73), "auto_pre": (124, 132)}
"""Experiment -> cells that round to the printed digit, and cells with both numbers."""

Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def made(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Rows]:
    """Experiment -> the rows that its command writes; an experiment without data is absent."""
    found = {}
    for one in EXPERIMENTS:
        for folder in one.folders(shared_data)[:1]:
            out = tmp_path_factory.mktemp(one.name) / "rows.json"
            command = importlib.import_module(f"experiments.{one.name}.tables").main
            assert command(["--data", str(folder), "--out", str(out)]) == 0
            found[one.name] = json.loads(out.read_text())
    return found


def rows_of(made: Mapping[str, Rows], name: str) -> Rows:
    if name not in made:
        pytest.skip(f"no data of {name} at hand")
    return made[name]


def cell(rows: Rows, *key: str) -> dict[str, Any]:
    """The row of a table, row and column."""
    [found] = [one for one in rows if (one["table"], one["row"], one["column"]) == key]
    return found


def differing(kept: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, value in kept.items():
        same = now.get(name) == value
        if isinstance(value, float) and isinstance(now.get(name), int | float):
            same = now[name] == pytest.approx(value, rel=2e-5, abs=1e-9)
        if not same:
            yield f"{name}: {value} is {now.get(name)}"


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_is_the_recorded_one(name: str, made: Mapping[str, Rows]) -> None:
    rows = rows_of(made, name)
    kept = [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]
    assert len(rows) == len(kept)
    wrong = [(old, list(differing(old, new))) for old, new in zip(kept, rows, strict=True)]
    assert not [one for one in wrong if one[1]]
    compared = [row["match"] for row in rows if row.get("match") is not None]
    if name in PRINTED:
        assert (sum(compared), len(compared)) == PRINTED[name]


def test_an_auc_by_another_way(made: Mapping[str, Rows], shared_data: Path) -> None:
    """A plain loop over pairs and scikit-learn, from the stored arrays."""
    export = shared_data / "peer_prediction"
    row = cell(rows_of(made, "peer_prediction"), "3", "reddit_tifu", "Judge+ctx")
    agents = json.loads((export / "meta.json").read_text())["agents"]["reddit_tifu"]
    good = [a["index"] for a in agents if a["category_code"] in ("Faithful", "Style")]
    bad = [a["index"] for a in agents if a["category_code"] in ("Strategic", "Low Effort")]
    with np.load(export / "matrices" / "reddit_tifu.npz") as stored:
        wins = stored["judge_with_context"].astype(float)
    aucs = []
    for win in wins:
        quality = (win.sum(axis=1) / 29 + (29 - win.sum(axis=0)) / 29) / 2
        pairs = [(a, b) for i, a in enumerate(good) for b in good[i + 1 :]]
        mixed = [(a, b) for a in good for b in bad]
        scores = [min(quality[a], quality[b]) for a, b in pairs + mixed]
        aucs.append(roc_auc_score([1] * len(pairs) + [0] * len(mixed), np.round(scores, 12)))
    assert row["n"] == len(wins) == 200  # dividing by the share of completed calls moves no AUC
    assert row["corrected"] == pytest.approx(np.mean(aucs), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_folder_is_one_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.json"
    command = importlib.import_module(f"experiments.{name}.tables").main
    assert command(["--data", str(tmp_path / "nowhere"), "--out", str(out)]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "nowhere" in said.err and said.err.count("\n") == 1
    assert not out.exists()


def lines(page: str, first: str) -> list[list[str]]:
    """Rows of the table of docs/papers whose first column has this heading."""
    text = (PAPERS / f"{page}.md").read_text(encoding="utf-8")
    table = next(part for part in text.split("\n\n") if part.startswith(f"| {first} |"))
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]


def short(value: float, digits: int = 2) -> str:
    """Without the zero before the point, as the pages have it."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def interval(row: dict[str, Any], digits: int = 2) -> str:
    """The corrected value and its interval."""
    value, low, high = (short(row[f"corrected{end}"], digits) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"


def test_docs_show_these_numbers(made: Mapping[str, Rows]) -> None:
    rows = rows_of(made, "peer_prediction")
    for name, *cells, items in lines("tvd_mi", "domain"):
        both = [cell(rows, "2", name.lower().replace(" ", "_"), c) for c in ("GPPM", "Judge-ctx")]
        wanted = [text for row in both for text in (short(row["paper"]), interval(row))]
        assert (cells, items) == (wanted, str(both[0]["n"]))
    for name, printed, corrected, n in lines("gem", "table"):
        other = name.partition(" and ")[2].partition(",")[0]
        row = cell(rows_of(made, "gem"), "5", "GEM", other)
        assert (printed, corrected) == (short(row["paper"]), interval(row))
        assert n == f"{row['n']} models"
    forms = {"pairwise": "pairwise", "grades 1 to 5": "5-level", "grades to 100": "100-level"}
    for name, printed, corrected, n in lines("auto_pre", "data, form"):
        data, _, form = name.partition(", ")
        row = cell(rows_of(made, "auto_pre"), "3", "Auto-PRE", f"{data}/{forms[form]}")
        assert (printed, corrected) == (short(row["paper"], 4), interval(row, 4))
        assert n == f"{row['corrected_n']:,}"
    claims = [row for row in rows_of(made, "ranking_confidence") if row["table"] == "claims"]
    shown = lines("ranking_confidence", "claim")
    for (_, *cells), row in zip(shown, claims, strict=True):
        numbers = [(row["r"], 2), (row["delta"], 2), (row["paper"], 2), (row["closed_form"], 3)]
        r, delta, stated, ours = (short(*one) for one in numbers)
        assert cells == [r, f"{row['N']}", delta, stated, ours, f"{row['N_it_holds_at']:.0f}"]
