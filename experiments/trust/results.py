"""Result files of the trials, and the tables that the README makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
RESULTS = Path(__file__).parent / "results"


def write(
    name: str, rows: Sequence[Row], setting: Mapping[str, Any], out: Path | None = None
) -> Path:
    """One row a line, so that a change of a number is a change of a line."""
    file = (out or RESULTS) / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(_rounded(row)) for row in rows)
    file.write_text(f'{{"setting": {json.dumps(dict(setting))},\n"rows": [\n{lines}\n]}}\n')
    return file


def read(name: str, folder: Path | None = None) -> tuple[list[Row], dict[str, Any]]:
    """Rows and setting."""
    loaded = json.loads(((folder or RESULTS) / f"{name}.json").read_text(encoding="utf-8"))
    return loaded["rows"], loaded["setting"]


def _rounded(row: Row) -> Row:
    return {k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()}
