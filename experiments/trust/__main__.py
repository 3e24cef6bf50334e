"""All trials of the audit's answers: ``python -m experiments.trust --data DIR``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from experiments.results import Row, show, with_tables
from experiments.trust import cells, coverage, families
from experiments.trust.requirements import KNOWS_NOTHING, required

README = Path(__file__).parent / "README.md"
DETAIL = ("systems alike", "one in five", "20 %", "50 %")
"""Kinds of data that the README leaves out."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them, print the tables and what must come out; 1 where something does not."""
    parser = argparse.ArgumentParser(prog="python -m experiments.trust", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--tables", type=int, default=200, help="of each cell")
    parser.add_argument("--out", type=Path, default=Path("outputs/trust.json"))
    parser.add_argument("--quick", action="store_true", help="few tables, in about a minute")
    parser.add_argument("--write", action="store_true", help="the tables of README.md, too")
    options = parser.parse_args(arguments)
    sizes = cells.SIZES[:3] if options.quick else cells.SIZES
    rows = trials(options.data, 8 if options.quick else options.tables, sizes)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    show(tables(rows))
    if options.write:
        README.write_text(page(README.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return int(not options.quick and not all(row["holds"] for row in rows["requirements"]))


def tables(rows: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """Name -> table, as it is shown; requirements last."""
    return {
        "answers": cells.summary(rows["cells"]),
        "families": rows["families"],
        "coverage": coverage.summary(rows["coverage"]),
        "requirements": rows["requirements"],
    }


def trials(data: Path, count: int, sizes: Sequence[int]) -> dict[str, list[Row]]:
    """Rows by kind of trial, made on two processes; the long ones go first."""
    jobs: dict[tuple[str, int, int], Future[list[Row]]] = {}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for n, k in product(reversed(coverage.SIZES), range(len(coverage.POOLS))):
            arguments = coverage.POOLS[k], data, n, range(2 * count)
            jobs["coverage", k, n] = pool.submit(coverage.holds_of, *arguments)
        for n, (k, kind) in product(reversed(sizes), enumerate(cells.KINDS)):
            jobs["cells", k, n] = pool.submit(cells.cell, kind, n, range(count))
        for n, half in product(families.GAINS, (False, True)):
            jobs["families", half, n] = pool.submit(families.rows, n, half, range(2 * count))
    rows: dict[str, list[Row]] = {"cells": [], "families": [], "coverage": []}
    for key in sorted(jobs):
        rows[key[0]] += jobs[key].result()
    return rows | {"requirements": required(**rows, data=data)}


def page(text: str, rows_by_kind: Mapping[str, list[Row]]) -> str:
    """README.md with its tables made anew."""
    rows = [row for row in rows_by_kind["cells"] if row["judge"] not in KNOWS_NOTHING]
    rows = [row for row in rows if not any(part in row["data"] for part in DETAIL)]
    shortened = {"requirements": rows_by_kind["requirements"], "answers": cells.summary(rows)}
    return with_tables(text, shortened, "trust")


if __name__ == "__main__":
    sys.exit(main())
