"""What the command lines of the experiments have in common: options, files and exit codes."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from judgelab.core.errors import JudgelabError
from judgelab.stats.intervals.estimate import Estimate

Rows = list[dict[str, Any]]


class Printed(Protocol):
    """A table that can be shown."""

    @property
    def rows(self) -> Sequence[Any]:
        """Its rows."""
        ...

    def text(self) -> str:
        """Title, aligned columns, notes."""
        ...


class Row(Protocol):
    """A cell of a paper's table beside what the data give."""

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        ...

    def cells(self) -> Mapping[str, str]:
        """Column of the printed table -> text."""
        ...


OneRow = TypeVar("OneRow", bound=Row)


@dataclass(frozen=True)
class Table(Generic[OneRow]):
    """Rows of one table, and in one line each what is missing or special about them."""

    number: str
    title: str
    rows: tuple[OneRow, ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Title, aligned columns, notes."""
        rows = [row.cells() for row in self.rows]
        return aligned(f"Table {self.number}: {self.title}", rows, self.notes)


Some = TypeVar("Some", bound=Printed)
Setting = TypeVar("Setting")


def tables_parser(
    name: str, description: str, data: str, *, required: bool = True
) -> argparse.ArgumentParser:
    """The options of ``python -m experiments.NAME.tables``: --data, --out.

    Args:
        name: the experiment.
        description: one sentence.
        data: what --data names.
        required: whether nothing can be computed without --data.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}.tables", description=description
    )
    parser.add_argument("--data", required=required, help=data)
    parser.add_argument("--out", required=True, type=Path, help="JSON file to write")
    return parser


def aligned(title: str, rows: Sequence[Mapping[str, str]], notes: Sequence[str]) -> str:
    """Title, a table with the rows' keys as its head, notes; columns as wide as they must be."""
    head = list(dict.fromkeys(key for row in rows for key in row))
    body = [head, *([row.get(key, "-") for key in head] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    lines = [" | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) for cells in body]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join([title, *(line.rstrip() for line in lines), *notes])


def number(value: float | None, digits: int) -> str:
    """Rounded; a hyphen where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{round(value, digits) + 0.0:.{digits}f}"  # + 0.0: no -0.0


def interval(estimate: Estimate | None, digits: int) -> str:
    """Value [low, high], as far as known."""
    if estimate is None or not math.isfinite(estimate.low):
        return number(None if estimate is None else estimate.value, digits)
    ends = f"[{number(estimate.low, digits)}, {number(estimate.high, digits)}]"
    return f"{number(estimate.value, digits)} {ends}"


def counts(estimate: Estimate | None, match: bool | None) -> dict[str, str]:
    """The last columns: n, unscored, and whether the printed number was met."""
    return {
        "n": "" if estimate is None else str(estimate.n),
        "unscored": "" if estimate is None else str(estimate.unscored),
        "match": {True: "yes", False: "NO", None: ""}[match],
    }


def point(value: float, n: int, unscored: int = 0) -> Estimate:
    """A number without an interval."""
    return Estimate(value, math.nan, math.nan, n, unscored)


def rows_of(tables: Sequence[Printed]) -> Rows:
    """All rows of tables whose rows have ``as_dict``."""
    return [row.as_dict() for table in tables for row in table.rows]


def run_tables(
    out: Path,
    definitions: str,
    compute: Callable[[], Sequence[Some]],
    summary: Callable[[Sequence[Some]], str],
    rows: Callable[[Sequence[Some]], Rows] = rows_of,
) -> int:
    """Compute tables, write their rows as a JSON list, print them.

    Args:
        out: the file; its folder is made.
        definitions: what the columns mean, printed first.
        compute: the tables.
        summary: a last sentence on them.
        rows: of the tables, ready for JSON.

    Returns:
        The exit code: 1, with one sentence on standard error, where the data are not right or
        the file cannot be written.
    """
    try:
        tables = compute()
        made = rows(tables)
        text = json.dumps(made, indent=1, allow_nan=False) + "\n"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
    except (JudgelabError, OSError) as cause:
        print(cause, file=sys.stderr)
        return 1
    print("\n\n".join([definitions.strip(), *(table.text() for table in tables)]))
    print(f"\n{summary(tables)} {len(made)} rows in {out}.")
    return 0


def run_benchmark(
    argv: Sequence[str] | None,
    description: str,
    out: str,
    setting: type[Setting],
    measure: Callable[[Setting], dict[str, Any]],
    show: Callable[[dict[str, Any], Setting], bool],
) -> int:
    """Measure, write the report as JSON, show it.

    Args:
        argv: the command line; None for the process's own.
        description: one sentence.
        out: where --out writes without being told.
        setting: a dataclass of whole numbers with defaults: each becomes an option, so that a
            test can run a small job.
        measure: the report.
        show: prints the report; whether the targets are met.

    Returns:
        The exit code: 1 where a target is missed.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path(out))
    for name, value in vars(setting()).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    options = vars(parser.parse_args(argv))
    file: Path = options.pop("out")
    chosen = setting(**options)
    report = measure(chosen)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    met = show(report, chosen)
    print(f"written to {file}")
    return 0 if met else 1
