"""Writes the tables of the README from the result files.

    python -m experiments.trust.readme --write

Each table stands between marks that name it; everything else in the page is left alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.trust.results import RESULTS, Row, read

README = Path(__file__).parent / "README.md"
COMMAND = "python -m experiments.trust.readme --write"


def begin(name: str) -> str:
    """The mark above a table."""
    return f"<!-- begin {name}: made by `{COMMAND}` -->"


def end(name: str) -> str:
    """The mark below it."""
    return f"<!-- end {name} -->"


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table; columns in the order of first appearance."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(shown(row.get(head)) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


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


def across(rows: Sequence[Row], by: Sequence[str], over: str, value: str) -> list[Row]:
    """One row for each combination of ``by``, a column for each value of ``over``."""
    made: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(row[name] for name in by)
        line = made.setdefault(key, {name: row[name] for name in by})
        line[f"{over} {row[over]}"] = row[value]
    return list(made.values())


def false_trust(rows: Sequence[Row], _: Mapping[str, Any]) -> str:
    """By law and rule, over the numbers of labels."""
    return markdown(across(rows, ("law", "rule"), "labels", "trusted"))


TABLES: Mapping[str, Callable[[Sequence[Row], Mapping[str, Any]], str]] = {
    "false_trust": false_trust,
}
"""Result file -> what the README shows of it."""


def page(text: str, folder: Path = RESULTS) -> str:
    """The page with every table that has a result file made anew.

    Raises:
        ValueError: the page lacks a table's marks.
    """
    for name, make in TABLES.items():
        if not (folder / f"{name}.json").is_file():
            continue
        before, first, rest = text.partition(begin(name))
        _, last, after = rest.partition(end(name))
        if not (first and last):
            raise ValueError(f"README.md lacks the marks {begin(name)!r} and {end(name)!r}.")
        text = f"{before}{first}\n\n{make(*read(name, folder))}\n\n{last}{after}"
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Write, or say that the page is stale."""
    parser = argparse.ArgumentParser(description="Tables of experiments/trust/README.md.")
    parser.add_argument("--write", action="store_true", help="rewrite them (default: check)")
    write = parser.parse_args(arguments).write
    old = README.read_text(encoding="utf-8")
    new = page(old)
    if write:
        README.write_text(new, encoding="utf-8")
    elif new != old:
        print(f"README.md is stale: {COMMAND}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
