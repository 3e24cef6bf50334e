"""All trials of the screen: ``python -m experiments.screen --data DIR``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import yaml

from experiments.command import aligned
from experiments.results import Row, markdown, shown
from experiments.screen.sets import NAMES
from experiments.screen.trials import trials
from judgelab.core.resources import conf
from judgelab.stats.screen.belief import FEATURES, Belief, fit

README = Path(__file__).parent / "README.md"
BELIEF = conf() / "belief/public_sets.yaml"
HEAD = """\
# What a ranking by shared information was worth on sets that people graded: Kendall's tau with
# their means, predicted from what is known without them. Made by `make screen`
# (experiments/screen); never edited by hand.
"""
TABLES = ("planted", "null", "released", "ranking")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them and print the tables; 1 where null panels alarm more often than they may."""
    parser = argparse.ArgumentParser(prog="python -m experiments.screen", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--panels", type=int, default=56, help="of each kind and set")
    parser.add_argument("--only", nargs="*", default=NAMES, help="sets")
    parser.add_argument("--cache", type=Path, default=Path("outputs/screen"))
    parser.add_argument("--write", action="store_true", help="README.md and the belief, too")
    given = parser.parse_args(arguments)
    trial = partial(trials, data=given.data, cache=given.cache, panels=given.panels)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found = list(pool.map(trial, given.only))
    tables = {name: [row for one in found for row in one[name]] for name in TABLES}
    rows = tables["ranking"]
    tables["ranking"] = [ranking_row(name, rows) for name in dict.fromkeys(r["set"] for r in rows)]
    for title, shown_rows in tables.items():
        lines = [{key: shown(value) for key, value in row.items()} for row in shown_rows]
        print(aligned(title, lines, ()), end="\n\n")
    text = json.dumps(tables | {"rankings": rows}, indent=1)
    (given.cache / "results.json").write_text(text + "\n", encoding="utf-8")
    if given.write:
        README.write_text(page(README.read_text(encoding="utf-8"), tables), encoding="utf-8")
        belief = yaml.safe_dump(believed(rows).to_dict(), sort_keys=False)
        BELIEF.write_text(HEAD + belief, encoding="utf-8")
    alarms = sum(row["said_to_say_something"] * row["panels"] for row in tables["null"])
    panels = sum(row["panels"] for row in tables["null"])
    return int(alarms / panels > 0.05 + 2 * np.sqrt(0.05 * 0.95 / panels))


def believed(rows: Sequence[Row]) -> Belief:
    """What rankings of known tau teach."""
    return fit(rows, [row["tau"] for row in rows], [row["set"] for row in rows])


def ranking_row(name: str, rows: Sequence[Row]) -> Row:
    """How a set's rankings fared, and what was predicted of them by the other sets."""
    own, rest = ([row for row in rows if (row["set"] == name) is mine] for mine in (True, False))
    tau = np.array([row["tau"] for row in own])
    found: Row = {"set": name, "rankings": len(own), "tau": float(tau.mean())}
    if rest:
        belief = believed(rest)
        found["predicted"] = float(np.mean([belief.tau(row) for row in own]))
        found["reaches_half"] = float(np.mean(tau >= 0.5))
        probability = np.array([belief.probability(row, 0.5) for row in own])
        found["probability_of_half"] = float(probability.mean())
        found["shown"] = float(np.mean(probability >= 0.8))
    return found | {key: float(np.nanmean([row[key] for row in own])) for key in FEATURES}


def page(text: str, found: Mapping[str, Sequence[Row]]) -> str:
    """The README with the tables between their marks."""
    for name, rows in found.items():
        begin, end = f"<!-- begin {name}: made by `make screen` -->", f"<!-- end {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{markdown(rows)}\n\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    sys.exit(main())
