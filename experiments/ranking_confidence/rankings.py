"""Tables 2 and 3: RoSE's means, and the printed rankings against Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

from experiments.ranking_confidence.rows import Table, Value, paper
from judgelab.stats.bootstrap import bootstrap_mean
from judgelab.stats.ranking_confidence import confidence

Array = NDArray[np.float64]
GAPS = (0.0, 0.01, 0.02, 0.04, 0.06, 0.10, 1.0)


def rose_table(scores: pd.DataFrame) -> Table:
    """Mean ACU of the articles at hand against Table 2, plain and normalised by length."""
    rows: list[dict[str, Value]] = []
    for system, (percent, _, _) in paper()["rankings"]["CNNDM"].items():
        part = scores[scores["system"] == paper()["release"][system]]
        mean = bootstrap_mean(part["acu"].to_numpy(dtype=np.float64))
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
        pairs = list(_pairs(name, r, sd))
        table = paper()["rankings"][name]
        tau = kendalltau([v[0] for v in table.values()], [-v[2] for v in table.values()])[0]
        rows.append(_row(name, r, "all", pairs) | {"tau": float(tau)})
        if name == "CNNDM":
            for low, high in pairwise(GAPS):
                inside = [pair for pair in pairs if low <= pair[0] < high]
                if inside:
                    rows.append(_row(name, r, f"{low:.2f} to {high:.2f}", inside))
    return Table(
        "rankings",
        f"Tables 2 and 3: pairs ranked right by the printed G-EVAL-3.5 means (s = {sd:.3f})",
        tuple(rows),
        (
            "By the printed ranks. Two pairs of CNNDM tie in the printed means and are ranked "
            "wrong: as halves they would make .833 of .818.",
            "r over single texts (Table 1) does not tell how well the systems are ranked.",
        ),
    )


def _pairs(name: str, r: float, sd: float) -> Iterator[tuple[float, bool, float]]:
    """(difference of human means, ranked right, expected) of every two systems."""
    table = paper()["rankings"][name]
    for (first, _, rank), (second, _, other) in combinations(table.values(), 2):
        gap = round(abs(first - second) / 100, 6)
        sure = confidence(r, paper()["items"], gap, sd=sd, method="closed_form")
        yield gap, (first > second) == (rank < other), float(sure.value)


def _row(name: str, r: float, gap: str, pairs: list[tuple[float, bool, float]]) -> dict[str, Value]:
    return {
        "set": name,
        "r": r,
        "difference": gap,
        "pairs": len(pairs),
        "ranked_right": float(np.mean([right for _, right, _ in pairs])),
        "algorithm_1": float(np.mean([sure for _, _, sure in pairs])),
    }
