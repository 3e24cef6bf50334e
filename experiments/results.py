"""Markdown tables that READMEs make of the rows of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.command import aligned

Row = dict[str, Any]


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table; columns in the order of first appearance."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(cell_text(row.get(head)) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


def between(page: str, begin: str, end: str, text: str) -> str:
    """A page with this text between two marks of it.

    Raises:
        ValueError: it lacks one of the marks.
    """
    before, start, rest = page.partition(begin)
    _, stop, after = rest.partition(end)
    if not (start and stop):
        raise ValueError(f"The page lacks the marks {begin!r} and {end!r}.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def with_tables(page: str, tables: Mapping[str, Sequence[Row]], target: str) -> str:
    """A README with these tables between their marks."""
    for name, rows in tables.items():
        begin, end = f"<!-- begin {name}: made by `make {target}` -->", f"<!-- end {name} -->"
        page = between(page, begin, end, markdown(rows))
    return page


def show(tables: Mapping[str, Sequence[Row]]) -> None:
    """Print tables, each under its name."""
    for title, rows in tables.items():
        lines = [{key: cell_text(value) for key, value in row.items()} for row in rows]
        print(aligned(title, lines, ()), end="\n\n")


def cell_text(value: Any) -> str:
    """A cell: shares with three digits, and without the leading 0."""
    if value is None or value != value:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.3f}"
        return text.replace("0.", ".", 1) if abs(value) < 1 else text
    return str(value).replace("|", "\\|")
