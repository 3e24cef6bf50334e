"""Tables 2 and 3: RoSE's means, and the printed rankings against Algorithm 1."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

from experiments.ranking_confidence.rows import Table, Value, paper
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.ranking.confidence import confidence
from judgelab.stats.ranking.pairs import pair_means

Array = NDArray[np.float64]
GAPS = (0.0, 0.01, 0.02, 0.04, 0.06, 0.10, 1.0)


def rose_table(scores: pd.DataFrame) -> Table:
    """Mean ACU of the articles at hand against Table 2, plain and normalised by length."""
    rows: list[dict[str, Value]] = []
    for system, (percent, _, _) in paper()["rankings"]["CNNDM"].items():
        part = scores[scores["system"] == paper()["release"][system]]
        mean = item_mean(part["acu"].to_numpy(dtype=np.float64))
        error = float(part["acu"].std(ddof=1)) / np.sqrt(len(part))
        printed = percent / 100
        rows.append(
            {
                "system": system,
                "paper": printed,
                "standard_error": error,
                "normalized": float(part["normalized_acu"].mean()),
                "off_in_errors": (mean.value - printed) / error,
                "n": mean.n,
                "unscored": mean.unscored,
                "value": mean.value,
                "low": mean.low,
                "high": mean.high,
            }
        )
    table = pd.DataFrame(rows)
    notes = [
        f"{name} against Table 2: Pearson {pearsonr(table[key], table['paper'])[0]:.2f}, Spearman "
        f"{spearmanr(table[key], table['paper'])[0]:.2f}."
        for name, key in (("Plain ACU", "value"), ("Normalised ACU", "normalized"))
    ]
    title = f"Table 2 from RoSE: mean ACU of {rows[0]['n']} articles (the paper has 500)"
    return Table("table2", title, tuple(rows), (*notes, "Tables 2 and 3 use plain ACU."))


def printed_rankings(sd: float) -> Table:
    """Share of pairs that the printed G-EVAL means rank right, and what Algorithm 1 expects."""
    rows: list[dict[str, Value]] = []
    for name, r in paper()["table1"].items():
        table = paper()["rankings"][name]
        gap, right, expected = _pairs(name, r, sd)
        group = np.searchsorted(GAPS, gap, side="right") - 1
        tau = kendalltau([v[0] for v in table.values()], [-v[2] for v in table.values()])[0]
        head: dict[str, Value] = {"set": name, "r": r}
        whole = np.zeros(len(gap), dtype=np.int64)
        rows.append(head | {"difference": "all", **_rows(right, expected, whole)[0], "tau": tau})
        if name == "CNNDM":
            for k, row in _rows(right, expected, group).items():
                rows.append(head | {"difference": f"{GAPS[k]:.2f} to {GAPS[k + 1]:.2f}", **row})
    return Table(
        "rankings",
        f"Tables 2 and 3: pairs ranked right by the printed G-EVAL-3.5 means (s = {sd:.3f})",
        tuple(rows),
        (
            "right_low, right_high: 95 % interval over systems. XSum and SAMSum: no annotations at "
            "hand, so only their printed means are used.",
            "By the printed ranks. Two pairs of CNNDM tie in the printed means and are ranked "
            "wrong: as halves they would make .833 of .818.",
            "r over single texts (Table 1) does not tell how well the systems are ranked.",
        ),
    )


def _pairs(name: str, r: float, sd: float) -> tuple[Array, Array, Array]:
    """Difference of human means, ranked right (1 or 0), expected: [pairs], in triu order."""
    rows = list(paper()["rankings"][name].values())
    gap, right = [], []
    for (first, _, rank), (second, _, other) in combinations(rows, 2):
        gap.append(round(abs(first - second) / 100, 6))
        right.append(float((first > second) == (rank < other)))
    sure = confidence(r, paper()["items"], gap, sd=sd, method="closed_form")
    return np.array(gap), np.array(right), sure.value


def _rows(right: Array, expected: Array, group: NDArray[np.int64]) -> dict[int, dict[str, Value]]:
    """Group -> share ranked right with its interval over systems, and what was expected."""
    systems = round((1 + np.sqrt(1 + 8 * len(right))) / 2)
    first, second = np.triu_indices(systems, k=1)
    return {
        k: {
            "pairs": mean.n,
            "systems": mean.clusters,
            "ranked_right": mean.value,
            "right_low": mean.low,
            "right_high": mean.high,
            "algorithm_1": float(expected[group == k].mean()),
        }
        for k, mean in pair_means(right, group, first, second).items()
    }
