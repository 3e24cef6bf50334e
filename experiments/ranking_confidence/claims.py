"""What the paper claims and prints, what its Algorithm 1 gives (s: sd of ACU), and RoSE's means."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from experiments.ranking_confidence.rows import Table, Value, paper
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.ranking.confidence import Draws, confidence, required_n, simulate

Array = NDArray[np.float64]
CLOSE = 0.0125
"""Half a step of the claims, which are printed in steps of .05 or said to be approximate, less
rounding: a reading matches a claim that it comes this close to."""


def claims_table(scores: Array | None, sd: float) -> Table:
    """Printed, Algorithm 1 simulated and in closed form, and two other readings.

    Args:
        scores: the human scores that Algorithm 1 draws from; None: a normal distribution.
        sd: theirs.
    """
    rows = []
    for claim in paper()["claims"]:
        r, n, delta, paper_share = (claim[key] for key in ("r", "n", "delta", "printed"))
        draws = Draws(pairs=2000, evaluations=50)
        share, error = map(float, simulate(r, n, delta, scores, draws, sd=sd))
        plain, paired, without = (
            float(confidence(r, n, delta, sd=sd, item_correlation=shared))
            for shared in (0.0, r**2, 0.5)
        )
        row: dict[str, Value] = {
            "claim": claim["where"],
            "r": r,
            "N": n,
            "delta": delta,
            "paper": paper_share,
            "algorithm_1": share,
            "standard_error": error,
            "closed_form": plain,
            "same_texts_better_by_delta": paired,
            "without_root_2": without,
            "N_it_holds_at": required_n(r, delta, paper_share, sd=sd),
            "algorithm_1_matches": abs(share - paper_share) <= CLOSE,
            "without_root_2_matches": abs(without - paper_share) <= CLOSE,
        }
        rows.append(row)
    return Table(
        "claims",
        f"Claims as printed, under Algorithm 1, and under other readings (s = {sd:.3f})",
        tuple(rows),
        (
            "without_root_2: Phi(delta r sqrt(N) / s), the variance of one system in place of two; "
            "the same as pairs on shared items whose metric scores correlate by .5.",
            "same_texts_better_by_delta: B's true scores are A's plus delta, noise independent.",
        ),
    )


def rose_table(scores: pd.DataFrame) -> Table:
    """Mean ACU of the articles at hand against Table 2, plain and normalised by length."""
    rows: list[dict[str, Value]] = []
    for system, (percent, _, _) in paper()["rankings"]["CNNDM"].items():
        part = scores[scores["system"] == paper()["release"][system]]
        mean = item_mean(part["acu"].to_numpy(dtype=np.float64))
        error = float(part["acu"].std(ddof=1)) / np.sqrt(len(part))
        share = percent / 100
        rows.append(
            {
                "system": system,
                "paper": share,
                "standard_error": error,
                "normalized": float(part["normalized_acu"].mean()),
                "off_in_errors": (mean.value - share) / error,
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
