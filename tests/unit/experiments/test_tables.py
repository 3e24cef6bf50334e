"""What ``make tables`` finds in a folder, and the tables that need nothing but the print."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments import tables
from experiments.catalogue import CONF
from experiments.command import Row, Table, explained, matches, point, printed_tables
from experiments.gem import leaderboards
from experiments.gem.tables import main as gem
from experiments.ranking_confidence.tables import main as ranking
from experiments.repositories import AUTO_PRE, GEM, PEER_PREDICTION
from judgelab.config import resolved
from judgelab.config.composing import composed
from judgelab.engine.execution import Invocation, printed_numbers

MARK = {
    PEER_PREDICTION.name: "eval_results",
    GEM.name: "task_iclr23",
    AUTO_PRE.name: "data-Xsum",
    "peer_prediction": "matrices",
    "gem": "x",
    "auto_pre": "x",
    "rose": "x",
}


def folder(at: Path, *names: str) -> Path:
    for name in names:
        (at / name / MARK[name]).mkdir(parents=True)
    return at


def read(at: Path) -> dict[str, str | None]:
    """Experiment -> the folder that it is told to read."""
    told = {}
    for module, *options in tables.commands(at, at / "out.json"):
        if module.endswith(".tables"):
            data = options[options.index("--data") + 1] if "--data" in options else None
            told[module.split(".")[1]] = data
    return told


def test_clones_exports_and_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clones = folder(tmp_path / "c", PEER_PREDICTION.name, GEM.name, AUTO_PRE.name)
    assert read(clones) == {
        "peer_prediction": str(clones / PEER_PREDICTION.name),
        "gem": str(clones / GEM.name),
        "ranking_confidence": None,
        "auto_pre": str(clones / AUTO_PRE.name),
    }
    said = capsys.readouterr().err
    assert f"{clones} has no rose" in said and f"gem: reads {clones / GEM.name}." in said

    exports = folder(tmp_path / "e", "peer_prediction", "gem", "rose")
    assert read(exports) == {
        "peer_prediction": str(exports / "peer_prediction"),
        "gem": str(exports / "gem"),
        "ranking_confidence": str(exports),
    }
    assert f"no {AUTO_PRE.name} (a clone of {AUTO_PRE.address})" in capsys.readouterr().err

    both = folder(tmp_path / "b", "peer_prediction", PEER_PREDICTION.name)
    assert read(both)["peer_prediction"] == str(both / PEER_PREDICTION.name)
    assert f"{both / 'peer_prediction'} is not read" in capsys.readouterr().err


def test_printed_tables_need_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(leaderboards, "DRAWS", 20)  # of intervals, which are not printed_numbers
    assert gem(["--out", str(tmp_path / "gem.json")]) == 0
    rows = json.loads((tmp_path / "gem.json").read_text())
    five = [row for row in rows if row["table"] == "5"]
    assert sum(row["match"] for row in five) == len(five) == 21
    assert not {"3", "3/8"} & {row["table"] for row in rows}, "these need the reviews"
    assert ranking(["--out", str(tmp_path / "ranking.json")]) == 0
    rows = json.loads((tmp_path / "ranking.json").read_text())
    claims = [row for row in rows if row["table"] == "claims"]
    assert [row["N_it_holds_at"] for row in claims] == [191, 220, 166, 538]
    capsys.readouterr()


def test_cells_that_do_not_match_have_their_cause() -> None:
    def row(table: str, name: str, paper: float, found: float) -> Row:
        return Row(table, name, "MI", paper, point(found, 30, 2), digits=2)

    made = Table("2", "t", (row("2", "a", 0.13, 0.134), row("2", "b", 0.13, 0.136),
                            row("3", "a", 0.5, 0.4), row("3", "b", 0.68, 0.6749)))  # fmt: skip
    said = matches(explained([made], [{"table": "2", "row": "b", "cause": "another run"}]))
    assert said.startswith("1 of 4 comparable cells round to the printed digit (2: 1/2, 3: 0/2).")
    assert "1 not: Table 2: another run." in said
    assert "1 not: Table 3, a, MI: no cause is known." in said
    assert made.rows[0].as_dict()["released_n"] == 30 and " | 0.13 " in made.text()


FILES = sorted((CONF / "papers" / "numbers").iterdir())
ROOM = {"tvd": "peer_prediction", "gem": "gem", "auto": "auto_pre", "ranking": "ranking_confidence"}


def numbers_in(node: object) -> Iterator[float]:
    """Every number of a paper's tables; those in per cent as shares, too."""
    if isinstance(node, int | float):
        yield from (float(node), round(node / 100, 6))
    elif isinstance(node, dict | list):
        for one in node.values() if isinstance(node, dict) else node:
            yield from numbers_in(one)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_number_is_printed_and_no_cell_stands_twice(file: Path) -> None:
    known = set(numbers_in(printed_tables(ROOM[file.stem.partition("_")[0]])))
    with file.open(encoding="utf-8") as stream:
        _, *rows = csv.reader(stream)
    cells = {tuple(row[:-1]): float(row[-1]) for row in rows}
    assert len(cells) == len(rows) and set(cells.values()) <= known


@pytest.mark.parametrize(
    ("sweep", "words", "statistic", "value"),
    [
        ("auto_pre_tables_5_6", {"dataset": "auto_pre_nf_cats"}, "bias/gpt4_turbo/value", 0.8788),
        (
            "ranking_confidence_tables_1_2_3",
            {"dataset.hub.config": "xsum"},
            "systems/brio-ranking/value",
            2.781,
        ),
    ],
)
def test_a_run_of_a_sweep_has_its_numbers(
    sweep: str, words: dict[str, str], statistic: str, value: float
) -> None:
    """By the settings that a run has."""
    overrides = [f"{key}={option}" for key, option in words.items()]
    config = resolved(composed([f"sweep={sweep}", *overrides]))
    choices = {key: one for key, one in words.items() if "." not in key}
    call = Invocation(choices={"mechanism": "pairwise", **choices})
    numbers = printed_numbers(config["printed"], call, config)
    assert numbers[f"printed/{statistic}"] == value
