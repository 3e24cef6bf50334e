"""What Algorithm 1 says of a judge: the paper's curves (figures 3, 4, 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.ranking.confidence import confidence, required_n
from judgelab.stats.ranking.simulation import Draws, noise_sd, noisy_estimates
from judgelab.study.ranking.judge import RankingJudge

STEPS = 24  # differences along a curve
WIDEST = 2.0  # sds of the human scores, the end of a curve
R_GRID = tuple(round(0.06 + 0.02 * k, 2) for k in range(48))


def by_items(judge: RankingJudge, sizes: Sequence[int], draws: Draws) -> Table:
    """Confidence against the difference, for several N (figure 4)."""
    title = "Confidence by items"
    return _curves("by_items", title, judge, [(judge.r.value, n) for n in sizes], draws)


def by_correlation(
    judge: RankingJudge, correlations: Sequence[float], n: int, draws: Draws
) -> Table:
    """Confidence against the difference, for several r (figure 7)."""
    title = "Confidence by correlation"
    return _curves("by_correlation", title, judge, [(r, n) for r in correlations], draws)


def _curves(
    name: str, title: str, judge: RankingJudge, cells: Sequence[tuple[float, int]], draws: Draws
) -> Table:
    delta = np.linspace(0, WIDEST * judge.sd, STEPS + 1)[1:]
    rows: list[Row] = []
    sizes = np.array([n for _, n in cells])[:, None]
    r = np.array([r for r, _ in cells])[:, None]
    given: dict[str, Floats | float] = (
        {"sd": judge.sd} if judge.scores is None else {"scores": judge.scores}
    )
    drawn = confidence(r, sizes, delta, draws=draws, **given)  # type: ignore[arg-type]
    exact = confidence(r, sizes, delta, method="closed_form", **given)  # type: ignore[arg-type]
    for k, (one, n) in enumerate(cells):
        for j, gap in enumerate(delta):
            row: dict[str, Value] = {"r": one, "n": n, "delta": float(gap)}
            row["confidence"] = float(drawn.value[k, j])
            row["standard_error"] = float(drawn.standard_error[k, j])
            row["closed_form"] = float(exact.value[k, j])
            rows.append(row)
    note = (
        f"Algorithm 1: {draws.pairs} pairs of systems x {draws.evaluations} evaluations a cell. "
        "Systems are drawn on their own items, without a bias between systems."
    )
    return Table(name, title, rows, note)


def trade_off(judge: RankingJudge, deltas: Sequence[float], target: float) -> Table:
    """Items that a correlation needs, for several differences (figure 3)."""
    rows: list[Row] = []
    bias, known = judge.bias_sd, not np.isnan(judge.bias_sd)
    for delta in deltas:
        for r in R_GRID:
            row: dict[str, Value] = {"delta": delta, "r": r, "confidence": target}
            row["items"] = required_n(r, delta, target, sd=judge.sd)
            if known:
                row["items_with_bias"] = required_n(
                    r, delta, target, sd=judge.sd, system_bias_sd=bias
                )
            rows.append(row)
    note = "Closed form; grows with 1/r^2 and 1/delta^2. " + (
        "With the judge's bias between systems no number of items may be enough (empty)."
        if known
        else "The judge's bias between systems is not known: these are the fewest."
    )
    return Table("trade_off", f"Items for a confidence of {target:g}", rows, note)


def noise(judge: RankingJudge, seed: int) -> Table:
    """Noise level and correlation: the formula, and noise added to the human scores (figure 8)."""
    scores = judge.scores
    if scores is None:
        scores = np.random.default_rng(seed).normal(0, judge.sd, size=1000)
    rows: list[Row] = []
    for r in (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        level = float(noise_sd(r, float(scores.std())))
        rated = noisy_estimates(scores, level, draws=20, seed=seed)
        reached = np.array([np.corrcoef(scores, one)[0, 1] for one in rated])
        row: dict[str, Value] = {"noise": level, "r": r, "simulated": float(reached.mean())}
        rows.append({**row, "simulated_sd": float(reached.std(ddof=1)), "n": len(scores)})
    note = "r = s / sqrt(s^2 + noise^2); simulated: mean and sd of 20 drawings of the noise."
    return Table("noise", "Noise and correlation", rows, note)
