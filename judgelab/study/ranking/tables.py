"""The tables of a ranking: systems, pairs, the judge, its errors, the paper's curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.ranking.calibration import Model
from judgelab.stats.ranking.confidence import confidence, required_n
from judgelab.stats.ranking.pairs import OrderedPairs
from judgelab.stats.ranking.simulation import Draws, noise_sd, noisy_estimates
from judgelab.study.common.tables import columns, estimate_rows
from judgelab.study.common.templates import table
from judgelab.study.ranking.judge import RankingJudge
from judgelab.study.ranking.scored import Scored

STEPS = 24  # differences along a curve
MODEL_NAMES: dict[Model, str] = {
    "algorithm_1": "Algorithm 1",
    "bias": "Algorithm 1 with the judge's bias between systems",
    "line": "Algorithm 1 with the bias about the line of system means",
}
WIDEST = 2.0  # sds of the human scores, the end of a curve
SIZES = (25, 50, 100, 200, 500, 1000)  # N of curves
R_CURVES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
IN_SDS = (0.1, 0.2, 0.4, 0.8)  # differences of the trade-off curves, without study.deltas
R_GRID = tuple(round(0.06 + 0.02 * k, 2) for k in range(48))
R_NOISE = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def systems_table(scored: Scored, pairs: OrderedPairs, model: Model | None) -> Table:
    """Mean score of each system, best first, and how sure it is above the next (figure 1).

    Systems without a score come last and have no rank.
    """
    means = [item_mean(scored.metric[:, k]) for k in range(len(scored.systems))]
    human = row_means(scored.human.T)
    known = [k for k, mean in enumerate(means) if mean.n]
    best = sorted(known, key=lambda k: -means[k].value)
    absent = [k for k, mean in enumerate(means) if not mean.n]
    sure = _confidences(pairs)
    rows: list[Row] = []
    for place, k in enumerate(best):
        row: dict[str, Value] = {"rank": place + 1, "system": scored.systems[k]}
        below = best[place + 1] if place + 1 < len(best) else None
        if below is not None and (k, below) in sure:
            row["above_next_same_metric"] = sure[k, below][0]
            if model is not None:
                row["above_next_people"] = sure[k, below][1]
        if not np.isnan(human[k]):
            row["human_mean"] = float(human[k])
        rows.append({**row, **columns(means[k])})
    rows += [{"rank": None, "system": scored.systems[k], **columns(means[k])} for k in absent]
    return table(__package__, "systems", rows, model=model and MODEL_NAMES[model])


def _confidences(pairs: OrderedPairs) -> dict[tuple[int, int], tuple[float, float]]:
    """(higher, lower) -> confidences; a tie is found under both orders."""
    found = {}
    for k, (high, low) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        said = float(pairs.sampled[k]), float(pairs.agreed[k])
        found[int(high), int(low)] = said
        # means over each system's own items may order two systems otherwise than shared items do
        found.setdefault((int(low), int(high)), (1 - said[0], 1 - said[1]))
    return found


def order_table(
    scored: Scored, judge: RankingJudge, pairs: OrderedPairs, model: Model | None
) -> Table:
    """Every two systems."""
    human = row_means(scored.human.T)
    rows: list[Row] = []
    for k in np.argsort(-pairs.agreed, kind="stable"):
        high, low = int(pairs.first[k]), int(pairs.second[k])
        row: dict[str, Value] = {
            "higher": scored.systems[high],
            "lower": scored.systems[low],
            "gap": float(pairs.gap[k]),
            "shared_items": int(pairs.shared[k]),
            "same_metric": float(pairs.sampled[k]),
        }
        if model is not None:
            row["people"] = float(pairs.agreed[k])
        if judge.slope > 0:
            row["gap_human_units"] = float(pairs.gap[k]) / judge.slope
        if not np.isnan(human[high] - human[low]):
            row["human_gap"] = float(human[high] - human[low])
        rows.append(row)
    return table(
        __package__,
        "ranking",
        rows,
        model=model and MODEL_NAMES[model],
        error=model and judge.bias_by(model) / judge.slope,
    )


QUANTITIES = {"r": "Pearson's r here", "rho": "Spearman's rho here", "tau": "Kendall's tau here"}


def judge_table(scored: Scored, judge: RankingJudge, here: Mapping[str, Estimate]) -> Table:
    """The judge in numbers, and its correlations ``here``."""
    numbers = {"sd of human scores": judge.sd}
    if judge.fit is not None and judge.fit.systems:
        numbers["bias about the systems' line"] = judge.fit.line_bias_sd
        numbers["slope: system means / texts"] = judge.fit.system_slope
    numbers["correlation between systems' metric scores on the same item"] = judge.item_correlation
    rows: list[Row] = [
        {"quantity": f"correlation with people, r ({judge.origin})", **columns(judge.r)},
        *({"quantity": QUANTITIES[name], **columns(one)} for name, one in here.items()),
        {"quantity": "sd of the metric's scores", "value": float(np.nanstd(scored.metric))},
        {"quantity": "bias between systems (sd)", **columns(judge.bias)},
    ]
    rows += [{"quantity": name, "value": value} for name, value in numbers.items()]
    return table(__package__, "judge", rows)


BINS = 12
WIDEST_ERROR = 3.0  # sds of the noise, where the last bin begins


def error_table(scored: Scored, judge: RankingJudge) -> list[Table]:
    """Shares of texts by the size of the judge's error, observed and by Gaussian noise (figure 2).

    The metric is brought to human units by the judge's slope, and its mean to people's, so that
    the error of a text is what Algorithm 1 draws: of sd s sqrt(1 / r^2 - 1). No table for a judge
    without noise.
    """
    noise = float(noise_sd(judge.r.value, judge.sd))
    both = ~np.isnan(scored.human) & ~np.isnan(scored.metric)
    if not (noise > 0 and both.any()):
        return []
    apart = scored.metric / judge.slope - scored.human
    size = np.abs(apart - apart[both].mean())
    edges = np.append(np.linspace(0, WIDEST_ERROR * noise, BINS), np.inf)
    cells: list[tuple[Row, Estimate]] = []
    for low, high in pairwise(map(float, edges)):
        inside = np.where(both, (size >= low) & (size < high), np.nan)
        share = float(2 * (ndtr(high / noise) - ndtr(low / noise)))
        row: Row = {"from": low, "to": high if np.isfinite(high) else None, "simulated": share}
        cells.append((row, item_mean(row_means(inside), (0.0, 1.0))))
    rows = estimate_rows(cells)
    return [table(__package__, "errors", rows, noise=noise, r=judge.r.value)]


def curve_tables(judge: RankingJudge, n: int, draws: Draws) -> list[Table]:
    """Confidence against the difference: for several N (figure 4), for several r (figure 7)."""
    return [
        _curves("items", judge, [(judge.r.value, size) for size in sorted({*SIZES, n})], draws),
        _curves("correlation", judge, [(r, n) for r in R_CURVES], draws),
    ]


def _curves(
    by: str, judge: RankingJudge, cells: Sequence[tuple[float, int]], draws: Draws
) -> Table:
    delta = np.linspace(0, WIDEST * judge.sd, STEPS + 1)[1:]
    sizes = np.array([n for _, n in cells])[:, None]
    r = np.array([r for r, _ in cells])[:, None]
    sd = judge.sd if judge.scores is None else None
    drawn = confidence(r, sizes, delta, judge.scores, sd=sd, draws=draws)
    exact = confidence(r, sizes, delta, judge.scores, sd=sd, method="closed_form")
    rows: list[Row] = [
        {
            "r": one,
            "n": n,
            "delta": float(gap),
            "confidence": float(drawn.value[k, j]),
            "standard_error": float(drawn.standard_error[k, j]),
            "closed_form": float(exact.value[k, j]),
        }
        for k, (one, n) in enumerate(cells)
        for j, gap in enumerate(delta)
    ]
    return table(__package__, f"by_{by}", rows, draws=draws)


def trade_off_table(judge: RankingJudge, deltas: Sequence[float] | None, target: float) -> Table:
    """Items that a correlation needs, for several differences (figure 3)."""
    rows: list[Row] = []
    known = not np.isnan(judge.bias.value)
    for delta in deltas or (round(share * judge.sd, 6) for share in IN_SDS):
        for r in R_GRID:
            row: dict[str, Value] = {"delta": delta, "r": r, "confidence": target}
            row["items"] = required_n(r, delta, target, sd=judge.sd)
            if known:
                row["items_with_bias"] = required_n(
                    r, delta, target, sd=judge.sd, system_bias_sd=judge.bias.value
                )
            rows.append(row)
    return table(__package__, "trade_off", rows, target=target, known=known)


def noise_table(judge: RankingJudge, seed: int) -> Table:
    """Noise level and correlation: the formula, and noise added to the human scores (figure 8)."""
    scores = judge.scores
    if scores is None:
        scores = np.random.default_rng(seed).normal(0, judge.sd, size=1000)
    rows: list[Row] = []
    for r in R_NOISE:
        level = float(noise_sd(r, float(scores.std())))
        rated = noisy_estimates(scores, level, draws=20, seed=seed)
        reached = np.array([np.corrcoef(scores, one)[0, 1] for one in rated])
        row: dict[str, Value] = {"noise": level, "r": r, "simulated": float(reached.mean())}
        rows.append({**row, "simulated_sd": float(reached.std(ddof=1)), "n": len(scores)})
    return table(__package__, "noise", rows)
