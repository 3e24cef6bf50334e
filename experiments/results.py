"""Markdown tables that READMEs make of the rows of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = dict[str, Any]


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table; columns in the order of first appearance."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(shown(row.get(head)) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


def with_tables(text: str, tables: Mapping[str, Sequence[Row]], target: str) -> str:
    """A README with these tables between their marks.

    Raises:
        ValueError: it lacks a table's marks.
    """
    for name, rows in tables.items():
        first, last = f"<!-- begin {name}: made by `make {target}` -->", f"<!-- end {name} -->"
        before, opened, rest = text.partition(first)
        _, closed, after = rest.partition(last)
        if not (opened and closed):
            raise ValueError(f"README.md lacks the marks {first!r} and {last!r}.")
        text = f"{before}{first}\n\n{markdown(rows)}\n\n{last}{after}"
    return text


def shown(value: Any) -> str:
    """A cell: shares with three digits, and without the leading 0."""
    if value is None or value != value:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.3f}"
        return text.replace("0.", ".", 1) if abs(value) < 1 else text
    return str(value).replace("|", "\\|")
