"""The tables of docs/papers, which show numbers of the tables of experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAPERS = Path(__file__).resolve().parents[1] / "docs" / "papers"


def lines(page: str, first: str) -> list[list[str]]:
    """Rows of the table whose first column has this heading."""
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
