"""What the command lines of the experiments have in common: options, files and exit codes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from judgelab.core.errors import JudgelabError

Rows = list[dict[str, Any]]


class Table(Protocol):
    """Rows that can be shown."""

    @property
    def rows(self) -> Sequence[Any]:
        """Its rows."""
        ...

    def text(self) -> str:
        """Title, aligned columns, notes."""
        ...


Some = TypeVar("Some", bound=Table)
Setting = TypeVar("Setting")


def tables_parser(name: str, description: str, data: str) -> argparse.ArgumentParser:
    """The options of ``python -m experiments.NAME.tables``: --data, --out.

    Args:
        name: the experiment.
        description: one sentence.
        data: what --data names.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}.tables", description=description
    )
    parser.add_argument("--data", required=True, help=data)
    parser.add_argument("--out", required=True, type=Path, help="JSON file to write")
    return parser


def aligned(title: str, body: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """Title, a table whose first line is its head, notes; columns as wide as they must be."""
    widths = [max(len(cells[i]) for cells in body) for i in range(len(body[0]))]
    lines = [" | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) for cells in body]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join([title, *(line.rstrip() for line in lines), *notes])


def rows_of(tables: Sequence[Table]) -> Rows:
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
