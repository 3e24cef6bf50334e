"""What the command lines of the experiments have in common: options, files and exit codes."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from judgelab.core.errors import JudgelabError
from judgelab.stats.intervals.estimate import Estimate

KINDS = ("released", "corrected", "stated")  # what may stand beside a printed number
PARTS = ("low", "high", "p", "n", "unscored")
PLACE = ("table", "row", "column")
ROUNDING = 1e-6  # of the last printed digit: a number half-way between two rounds to either


@dataclass(frozen=True)
class Row:
    """A cell of a paper's table beside what the data give."""

    table: str  # "2", "3", "B.1"
    row: str  # domain, attack, agent, method, judge or configuration
    column: str  # mechanism or dataset, with what of it is measured where there is more than one
    paper: float | None = None  # the printed number
    released: Estimate | None = None  # as the released code, or the recipe behind the print, has it
    corrected: Estimate | None = None  # the same without the faults of the counting
    stated: Estimate | None = None  # what the paper states, without those faults either
    digits: int = 4  # after the point that are printed
    paper_ci: float | None = None  # the printed half width
    # worst and best case of ``corrected``: failed calls, of which only the number is known, decided
    # against and for Good Faith; None where there are none
    cases: tuple[float, float] | None = None
    cause: str | None = None  # why ``paper`` is not what the released data give

    @property
    def match(self) -> bool | None:
        """Whether ``released`` rounds to the printed number; None where either is missing."""
        if self.paper is None or self.released is None or not math.isfinite(self.released.value):
            return None
        unit = 10**self.digits
        value, paper = self.released.value * unit, round(self.paper * unit)
        return bool(abs(value - paper) <= 0.5 + ROUNDING)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers are numbers, None where there is none.

        ``n`` and ``unscored`` are of the last column that has a number; those of each column have
        its name before them.
        """
        parts = {kind: one.as_dict() for kind in KINDS if (one := getattr(self, kind)) is not None}
        last: dict[str, Any] = next(reversed(parts.values()), {})
        row = {name: getattr(self, name) for name in (*PLACE, "paper")}
        row |= {"match": self.match, "cause": self.cause, "paper_ci": self.paper_ci}
        row |= {"n": last.get("n"), "unscored": last.get("unscored")}
        for kind in KINDS:
            row[kind] = parts.get(kind, {}).get("value")
            row |= {f"{kind}_{part}": parts.get(kind, {}).get(part) for part in PARTS}
        half = math.nan if self.released is None else self.released.half_width
        worst, best = self.cases or (math.nan, math.nan)
        ends = {"released_ci": half, "worst": worst, "best": best}
        return row | {name: v if math.isfinite(v) else None for name, v in ends.items()}


@dataclass(frozen=True)
class Table:
    """Rows of one table, and in one line each what is missing or special about them."""

    number: str
    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def as_dicts(self) -> list[dict[str, Any]]:
        """Its rows, ready for JSON."""
        return [row.as_dict() for row in self.rows]

    def text(self) -> str:
        """Title, aligned columns (row, column, paper, KINDS, n, unscored, match), notes."""
        kinds = [kind for kind in KINDS if any(getattr(row, kind) for row in self.rows)]
        rows = []
        for row in self.rows:
            values = row.as_dict()
            line = {"row": row.row, "column": row.column, "paper": number(row.paper, row.digits)}
            for kind in kinds:
                ends = [values[f"{kind}_{end}"] for end in ("low", "high")]
                listed = ", ".join(number(end, row.digits) for end in ends)
                interval = "" if None in ends else f" [{listed}]"
                line[kind] = number(values[kind], row.digits) + interval
            line |= {key: "" if values[key] is None else str(values[key]) for key in COUNTS}
            rows.append(line | {"match": {True: "yes", False: "NO", None: ""}[row.match]})
        return aligned(f"Table {self.number}: {self.title}", rows, self.notes)


COUNTS = ("n", "unscored")


@cache
def printed_tables(experiment: str) -> Mapping[str, Any]:
    """What a paper prints: ``printed/tables.yaml`` of an experiment."""
    file = Path(__file__).with_name(experiment) / "printed" / "tables.yaml"
    content: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


UNKNOWN = "no cause is known"


def explained(tables: Iterable[Table], causes: Sequence[Mapping[str, str]]) -> list[Table]:
    """The tables with the cause of each cell that does not match.

    Args:
        causes: a cause, and the table, row or column that it is about; the first that fits counts.
    """

    def cause_of(row: Row) -> str | None:
        place = {key: getattr(row, key) for key in PLACE}
        fitting = (
            one["cause"] for one in causes if all(place.get(k, v) == v for k, v in one.items())
        )
        return next(fitting, UNKNOWN) if row.match is False else None

    return [
        replace(table, rows=tuple(replace(row, cause=cause_of(row)) for row in table.rows))
        for table in tables
    ]


def matches(tables: Iterable[Table]) -> str:
    """How many cells with released data round to the printed digit, and why others do not."""
    by_table: dict[str, list[bool]] = {}
    missed = Counter[str]()
    for row in (row for table in tables for row in table.rows if row.match is not None):
        by_table.setdefault(row.table, []).append(bool(row.match))
        if not row.match:
            place = f", {row.row}, {row.column}" if row.cause == UNKNOWN else ""
            missed[f"Table {row.table}{place}: {row.cause}."] += 1
    shares = ", ".join(f"{name}: {sum(each)}/{len(each)}" for name, each in by_table.items())
    every = [one for each in by_table.values() for one in each]
    share = f"{sum(every)} of {len(every)} comparable cells round to the printed digit ({shares})."
    return "\n".join([share, *(f"{n} not: {cause}" for cause, n in missed.items())])


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


def point(value: float, n: int, unscored: int = 0) -> Estimate:
    """A number without an interval."""
    return Estimate(float(value), math.nan, math.nan, n, unscored)


def run_tables(
    name: str,
    arguments: Sequence[str] | None,
    data: str,
    compute: Callable[[Any], Sequence[Any]],
    summary: Callable[[Any], str],
    *,
    required: bool = True,
) -> int:
    """``python -m experiments.NAME.tables``: compute, write the rows as a JSON list, print.

    Args:
        name: the experiment, whose definitions.txt says what the columns mean.
        arguments: the command line; None for the process's own.
        data: what --data names.
        compute: the tables, of what --data is; each gives its rows ``as_dicts``, and its ``text``.
        summary: a last sentence on them.
        required: whether nothing can be computed without --data.

    Returns:
        The exit code: 1, with one sentence on standard error, where the data are not right or
        the file cannot be written.
    """
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{name}.tables")
    parser.add_argument("--data", required=required, help=data)
    parser.add_argument("--out", required=True, type=Path, help="JSON file to write")
    options = parser.parse_args(arguments)
    try:
        tables = compute(options.data)
        rows = [row for table in tables for row in table.as_dicts()]
        text = json.dumps(rows, indent=1, allow_nan=False) + "\n"
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")
    except (JudgelabError, OSError) as cause:
        print(cause, file=sys.stderr)
        return 1
    definitions = Path(__file__).with_name(name) / "definitions.txt"
    parts = [definitions.read_text(encoding="utf-8").strip(), *(table.text() for table in tables)]
    print("\n\n".join(parts))
    print(f"\n{summary(tables)} {len(rows)} rows in {options.out}.")
    return 0
