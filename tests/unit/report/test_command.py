"""What the command lines of the experiments share: files, last words, exit codes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments.command import run_benchmark, run_tables, tables_parser
from judgelab.core.errors import DataError


@dataclass(frozen=True)
class Row:
    value: int

    def as_dict(self) -> dict[str, Any]:
        return {"value": self.value}


@dataclass(frozen=True)
class Table:
    rows: tuple[Row, ...]

    def text(self) -> str:
        return "\n".join(f"| {row.value} |" for row in self.rows)


def test_tables_are_written_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "rows.json"
    made = [Table((Row(1), Row(2))), Table((Row(3),))]
    assert run_tables(out, "What it means.\n", lambda: made, lambda t: f"{len(t)} tables.") == 0
    assert json.loads(out.read_text()) == [{"value": 1}, {"value": 2}, {"value": 3}]
    said = capsys.readouterr().out
    assert said == f"What it means.\n\n| 1 |\n| 2 |\n\n| 3 |\n\n2 tables. 3 rows in {out}.\n"


def test_a_fault_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> list[Table]:
        raise DataError("The folder is empty.")

    assert run_tables(tmp_path / "t.json", "", fails, lambda _: "") == 1
    assert capsys.readouterr() == ("", "The folder is empty.\n")
    (tmp_path / "file").touch()
    assert run_tables(tmp_path / "file" / "t.json", "", list, lambda _: "") == 1
    assert "file" in capsys.readouterr().err


def test_options_are_the_same_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    parser = tables_parser("gem", "The tables.", "a folder")
    chosen = parser.parse_args(["--data", "d", "--out", "o.json"])
    assert (chosen.data, chosen.out) == ("d", Path("o.json"))
    with pytest.raises(SystemExit):
        parser.parse_args(["--data", "d"])
    assert "python -m experiments.gem.tables" in capsys.readouterr().err


@dataclass(frozen=True)
class Size:
    items: int = 5
    repeats: int = 2


@pytest.mark.parametrize("met", [True, False])
def test_a_benchmark_fails_where_it_misses_its_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], met: bool
) -> None:
    out = tmp_path / "new" / "bench.json"
    code = run_benchmark(
        ["--items", "7", "--out", str(out)],
        "A job.",
        "nowhere.json",
        Size,
        lambda size: {"product": size.items * size.repeats},
        lambda report, size: met and report["product"] == 14 and size.items == 7,
    )
    assert code == (0 if met else 1)
    assert json.loads(out.read_text()) == {"product": 14}
    assert f"written to {out}" in capsys.readouterr().out
