"""The table of coverage: ``python -m experiments.coverage --out FILE`` (minutes on 2 cores)."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from experiments.coverage.scores import LAWS
from experiments.coverage.simulation import Cell, simulate
from experiments.coverage.statistics import STATISTICS

ITEMS = (12, 30, 100)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, print a line for each cell, write all as JSON."""
    parser = argparse.ArgumentParser(prog="python -m experiments.coverage", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--sets", type=int, default=5000, help="data sets a cell")
    parser.add_argument("--statistics", nargs="+", choices=list(STATISTICS), default=None)
    parser.add_argument("--items", nargs="+", type=int, default=list(ITEMS))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    jobs = list(itertools.product(options.statistics or list(STATISTICS), LAWS, options.items))
    names, laws, items = zip(*jobs, strict=True)
    cells: list[Cell] = []
    with ProcessPoolExecutor(options.workers) as pool:
        for cell in pool.map(simulate, names, laws, items, itertools.repeat(options.sets)):
            cells.append(cell)
            print(f"{cell.statistic:25} {cell.law:9} {cell.items:4} {cell.ours}", flush=True)
    print("\n".join(["", *compact(cells)]))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps([asdict(cell) for cell in cells], indent=1), encoding="utf-8")


def compact(cells: Sequence[Cell]) -> list[str]:
    """Rows of a Markdown table: lowest to highest coverage over the laws, ours and percentiles'."""
    sizes = sorted({cell.items for cell in cells})
    heads = [f"{kind}{size} items" for kind in ("", "percentile, ") for size in sizes]
    rows = ["| interval of | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
    for name in dict.fromkeys(cell.statistic for cell in cells):
        mine = [cell for cell in cells if cell.statistic == name]
        ranges = [
            _range([getattr(cell, kind).held for cell in mine if cell.items == size])
            for kind in ("ours", "percentile")
            for size in sizes
        ]
        rows.append(f"| {name} | " + " | ".join(ranges) + " |")
    return rows


def _range(shares: Sequence[float]) -> str:
    ends = [f"{value:.3f}".lstrip("0") for value in (min(shares), max(shares)) if value == value]
    return "-".join(dict.fromkeys(ends)) or "no interval"


if __name__ == "__main__":
    main()
