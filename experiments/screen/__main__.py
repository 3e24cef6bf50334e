"""All trials of the screen: ``python -m experiments.screen --data DIR``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import yaml
from scipy.stats import spearmanr

from experiments.command import aligned
from experiments.results import Row, markdown, shown
from experiments.screen.sets import known_sets
from experiments.screen.trials import Measured, alone, belief_rows, measure, null_rows, planted_rows
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC
from judgelab.core.resources import conf
from judgelab.evaluation_lm.compression import Compression
from judgelab.stats.discrimination.auc import row_auc
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.screen.belief import FEATURES, Belief, fit
from judgelab.study.screen.case import LENGTH, WORDS

README = Path(__file__).parent / "README.md"
BELIEF = conf() / "belief/public_sets.yaml"
HEAD = """\
# What a ranking by shared information was worth on sets that people graded: Kendall's tau with
# their means, predicted from what is known without them. Made by `make screen`
# (experiments/screen); never edited by hand.
_target_: judgelab.stats.screen.belief.Belief
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them, print the tables; 1 where more than a twentieth of null panels alarm."""
    parser = argparse.ArgumentParser(prog="python -m experiments.screen", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--panels", type=int, default=100, help="of each kind and set")
    parser.add_argument("--only", nargs="*", help="sets")
    parser.add_argument("--cache", type=Path, default=Path("outputs/screen"))
    parser.add_argument("--write", action="store_true", help="README.md and the belief, too")
    given = parser.parse_args(arguments)
    lm = Compression()
    sets = [one for one in known_sets(given.data) if not given.only or one.name in given.only]
    measured = [measure(one, lm, given.cache) for one in sets]
    lm.close()
    found, belief = trials(measured, given.data, given.panels)
    for title, rows in found.items():
        lines = [{key: shown(value) for key, value in row.items()} for row in rows]
        print(aligned(title, lines, ()), end="\n\n")
    given.cache.mkdir(parents=True, exist_ok=True)
    (given.cache / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if given.write:
        README.write_text(page(README.read_text(encoding="utf-8"), found), encoding="utf-8")
        BELIEF.write_text(
            HEAD + yaml.safe_dump(belief.to_dict(), sort_keys=False), encoding="utf-8"
        )
    false = [row for row in found["null"] if row["said_to_say_something"] > 0.05 + 2 * se(row)]
    return int(bool(false))


def se(row: Mapping[str, float]) -> float:
    """Standard error of a share of .05."""
    return float(np.sqrt(0.05 * 0.95 / row["panels"]))


def trials(
    measured: Sequence[Measured], data: Path, panels: int
) -> tuple[dict[str, list[Row]], Belief]:
    """Tables of all trials, and the belief that the graded sets make."""
    plain = [one for one in measured if not one.of.categories]
    graded = [one for one in plain if one.of.people is not None]
    planted = [row for one in plain for row in planted_rows(one, panels)]
    null = [null_rows(one, panels) for one in measured]
    released = [row for one in measured if one.of.categories for row in _released(one, data)]
    rows = [row for one in graded for row in belief_rows(one, 2 * panels)]
    belief = fit(rows, [row["tau"] for row in rows], [row["set"] for row in rows])
    ranking = [_ranking(one.of.name, rows) for one in graded]
    found = {"planted": planted, "null": null, "released": released, "ranking": ranking}
    return found, belief


def _released(one: Measured, data: Path) -> list[Row]:
    """AUC over agents of good faith against two kinds, and how many are named."""
    category = np.array(one.of.categories)
    good = np.isin(category, sorted(GOOD_FAITH))
    case = one.part(range(len(category)), range(len(one.blocks)))
    named = np.isin(np.array(case.verdicts), ["nothing", "much less"])
    lm = one.critics[0].name
    scores: dict[str, Floats] = {name: alone(one, name) for name in (lm, WORDS, LENGTH)}
    assert case.screened is not None
    scores["pool"] = row_means(case.screened.effect.T)
    file = np.load(data / f"peer_prediction/matrices/{one.of.name}.npz")
    for key, name in (("tvd_mi", "GPT-4o-mini, TVD-MI"), ("mi", "Llama-3.3-70B, MI")):
        scores[name] = _recorded(file[key], one.of.name, data)
    rows = []
    for critic, values in scores.items():
        row: Row = {"domain": one.of.name, "critic": critic}
        for kind in sorted(PROBLEMATIC):
            row[f"AUC, {kind}"] = float(
                row_auc(values[None, good], values[None, category == kind])[0]
            )
        if critic == "pool":
            groups = {kind: category == kind for kind in sorted(PROBLEMATIC)}
            for kind, those in (groups | {"good faith": good}).items():
                row[f"named, {kind}"] = f"{named[those].sum()} of {those.sum()}"
        rows.append(row)
    return rows


def _recorded(cells: Floats, domain: str, data: Path) -> Floats:
    """[agents] mean of the recorded scores of both directions, in the order of their names."""
    meta = json.loads((data / "peer_prediction/meta.json").read_text(encoding="utf-8"))
    names = [agent["name"] for agent in meta["agents"][domain]]
    even = (cells + cells.transpose(0, 2, 1)) / 2
    means = even[:, ~np.eye(len(names), dtype=np.bool_)].reshape(len(even), len(names), -1)
    return np.asarray(means.mean(axis=(0, 2))[np.argsort(names)], np.float64)


def _ranking(name: str, rows: Sequence[Row]) -> Row:
    """How a set's rankings fared, and what was predicted of them by the other sets."""
    own, rest = ([row for row in rows if (row["set"] == name) is mine] for mine in (True, False))
    belief = fit(rest, [row["tau"] for row in rest], [row["set"] for row in rest])
    tau = np.array([row["tau"] for row in own])
    predicted = np.array([belief.tau(row) for row in own])
    believed = np.array([belief.probability(row, 0.5) for row in own])
    return {
        "set": name, "rankings": len(own), "tau": float(tau.mean()), "tau_sd": float(tau.std()),
        "predicted": float(predicted.mean()), "reaches_half": float(np.mean(tau >= 0.5)),
        "probability_of_half": float(believed.mean()), "shown": float(np.mean(believed >= 0.8)),
        **{key: float(np.mean([row[key] for row in own])) for key in FEATURES},
        "predicted_with_tau": float(spearmanr(predicted, tau).statistic),
    }  # fmt: skip


def page(text: str, found: Mapping[str, Sequence[Row]]) -> str:
    """The README with the tables between their marks."""
    for name, rows in found.items():
        begin, end = f"<!-- begin {name}: made by `make screen` -->", f"<!-- end {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{markdown(rows)}\n\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    sys.exit(main())
