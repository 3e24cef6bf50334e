"""What the paper claims, and what its Algorithm 1 gives (s: sd of RoSE's ACU scores)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.ranking_confidence.rows import Table, Value, paper
from judgelab.stats.ranking.confidence import Draws, confidence, required_n

Array = NDArray[np.float64]
CLOSE = 0.0125
"""Half a step of the claims, which are printed in steps of .05 or said to be approximate, less
rounding: a reading matches a claim that it comes this close to."""

CORRELATIONS = (0.10, 0.14, 0.20, 0.22, 0.25, 0.30, 0.34, 0.42, 0.45, 0.50, 0.60)
DELTAS = (0.10, 0.05, 0.02)


def claims_table(scores: Array | None, sd: float) -> Table:
    """Printed, Algorithm 1 simulated and in closed form, and two other readings.

    Args:
        scores: the human scores that Algorithm 1 draws from; None: a normal distribution.
        sd: theirs.
    """
    rows = []
    for claim in paper()["claims"]:
        r, n, delta, printed = (claim[key] for key in ("r", "n", "delta", "printed"))
        draws = Draws(pairs=2000, evaluations=50)
        drawn = confidence(r, n, delta, scores, sd=None if scores is not None else sd, draws=draws)
        paired = confidence(
            r, n, delta, sd=sd, method="closed_form", paired=True, item_correlation=r**2
        )
        one = confidence(
            r, n, delta, sd=sd, method="closed_form", paired=True, item_correlation=0.5
        )
        without = float(one.value)
        row: dict[str, Value] = {
            "claim": claim["where"],
            "r": r,
            "N": n,
            "delta": delta,
            "paper": printed,
            "algorithm_1": float(drawn.value),
            "standard_error": float(drawn.standard_error),
            "closed_form": _closed(r, n, delta, sd),
            "same_texts_better_by_delta": float(paired.value),
            "without_root_2": without,
            "N_it_holds_at": required_n(r, delta, printed, sd=sd),
            "algorithm_1_matches": abs(float(drawn.value) - printed) <= CLOSE,
            "without_root_2_matches": abs(without - printed) <= CLOSE,
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


def items_table(sd: float) -> Table:
    """Items for 95 % under Algorithm 1 (Figure 3)."""
    rows = tuple(
        {"r": r, **{f"delta_{d:.2f}": required_n(r, d, sd=sd) for d in DELTAS}}
        for r in CORRELATIONS
    )
    return Table("items", f"Items for a confidence of .95, Algorithm 1 (s = {sd:.3f})", rows)


def _closed(r: float, n: int, delta: float, sd: float) -> float:
    return float(confidence(r, n, delta, sd=sd, method="closed_form").value)
