"""What the command lines of the experiments share: files, last words, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments.command import run_tables
from judgelab.core.errors import DataError


@dataclass(frozen=True)
class Table:
    values: tuple[int, ...]

    def as_dicts(self) -> list[dict[str, Any]]:
        return [{"value": value} for value in self.values]

    def text(self) -> str:
        return "\n".join(f"| {value} |" for value in self.values)


def tables(out: Path, compute: Callable[[str | None], list[Table]], *data: str) -> int:
    """As GEM's command, which needs no data, does it with these tables."""
    words = [*data, "--out", str(out)]
    summary = lambda made: f"{len(made)} tables."  # noqa: E731
    return run_tables("gem", words, "a folder", compute, summary, required=False)


def test_tables_are_written_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "rows.json"
    asked = []

    def made(data: str | None) -> list[Table]:
        asked.append(data)
        return [Table((1, 2)), Table((3,))]

    assert tables(out, made) == tables(out, made, "--data", "d") == 0
    assert asked == [None, "d"]
    assert json.loads(out.read_text()) == [{"value": 1}, {"value": 2}, {"value": 3}]
    said = capsys.readouterr().out
    assert said.startswith("paper      the printed number")
    assert said.endswith(f"\n\n| 1 |\n| 2 |\n\n| 3 |\n\n2 tables. 3 rows in {out}.\n")


def test_a_fault_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(_: str | None) -> list[Table]:
        raise DataError("The folder is empty.")

    assert tables(tmp_path / "t.json", fails) == 1
    assert capsys.readouterr() == ("", "The folder is empty.\n")
    (tmp_path / "file").touch()
    assert tables(tmp_path / "file" / "t.json", lambda _: []) == 1
    assert "file" in capsys.readouterr().err


def test_what_has_to_be_given_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_tables("gem", ["--out", "o.json"], "a folder", lambda _: [], str)
    said = capsys.readouterr().err
    assert "python -m experiments.gem.tables" in said and "--data" in said
