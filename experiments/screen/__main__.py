"""All trials of the screen: ``python -m experiments.screen --data DIR``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from experiments.results import Row, show, with_tables
from experiments.screen.sets import FILES
from experiments.screen.trials import trials
from judgelab.core.resources import conf
from judgelab.stats.screen.belief import Belief, fit

README = Path(__file__).parent / "README.md"
BELIEF = conf() / "belief/public_sets.yaml"
HEAD = """\
# Kendall's tau of rankings by shared information with people's means, on sets that they graded,
# predicted from what is known without them. Made by `make screen`; never edited by hand.
"""
TABLES = ("planted", "null", "released", "ranking", "damage", "gaming")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them and print the tables; 1 where null panels alarm more often than they may."""
    parser = argparse.ArgumentParser(prog="python -m experiments.screen", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--panels", type=int, default=56, help="of each kind and set")
    parser.add_argument("--only", nargs="*", default=list(FILES), help="sets")
    parser.add_argument("--cache", type=Path, default=Path("outputs/screen"))
    parser.add_argument("--write", action="store_true", help="README.md and the belief, too")
    options = parser.parse_args(arguments)
    trial = partial(trials, data=options.data, cache=options.cache, panels=options.panels)
    there = [name for name in options.only if (options.data / FILES[name]).exists()]
    if not there:
        parser.error(f"{options.data} holds none of the sets; README.md says whose they are.")
    for name in sorted({*options.only} - {*there}):
        print(f"Left out: {options.data / FILES[name]} is not there; README.md says whose it is.")
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        results = list(pool.map(trial, there))
    tables = {name: [row for one in results for row in one[name]] for name in TABLES}
    rows = tables["ranking"]
    tables["ranking"] = [ranking_row(name, rows) for name in dict.fromkeys(r["set"] for r in rows)]
    show(tables)
    (options.cache / "results.json").write_text(json.dumps(tables | {"rankings": rows}, indent=1))
    if options.write:
        print(write(tables, rows))
    alarms = sum(row["said_to_say_something"] * row["panels"] for row in tables["null"])
    panels = sum(row["panels"] for row in tables["null"])
    return int(alarms / panels > 0.05 + 2 * np.sqrt(0.05 * 0.95 / panels))


def write(tables: Mapping[str, Sequence[Row]], rankings: Sequence[Row]) -> str:
    """Renew README.md and the belief, if all sets are there: a belief of fewer is too sure."""
    if len({row["set"] for row in tables["null"]}) < len(FILES):
        return f"{README.name} and {BELIEF.name} need all {len(FILES)} sets: unchanged."
    README.write_text(with_tables(README.read_text("utf-8"), tables, "screen"), "utf-8")
    BELIEF.write_text(HEAD + yaml.safe_dump(asdict(believed(rankings)), sort_keys=False), "utf-8")
    return f"Renewed: {README.name} and {BELIEF.name}."


def believed(rows: Sequence[Row]) -> Belief:
    """What rankings of known tau teach."""
    return fit(rows, [row["tau"] for row in rows], [row["set"] for row in rows])


def ranking_row(name: str, rows: Sequence[Row]) -> Row:
    """How a set's rankings fared, and what was predicted of them by the other sets."""
    own, rest = ([row for row in rows if (row["set"] == name) is mine] for mine in (True, False))
    frame = pd.DataFrame(own)
    if rest:
        belief = believed(rest)
        frame["predicted"] = [belief.tau(row) for row in own]
        frame["reaches_half"] = frame["tau"] >= 0.5
        frame["probability_of_half"] = [belief.probability(row, 0.5) for row in own]
        frame["shown"] = frame["probability_of_half"] >= 0.8
    means: Any = frame.drop(columns="set").mean().to_dict()
    return {"set": name, "rankings": len(own), **means}


if __name__ == "__main__":
    sys.exit(main())
