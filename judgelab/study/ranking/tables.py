"""The tables of a ranking: systems, pairs, the judge, its test on people, the paper's curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.special import ndtr

from judgelab.core.result import Row, Table, Value
from judgelab.report.format import records
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.ranking.confidence import Draws, confidence, noise_sd, required_n, simulate
from judgelab.stats.ranking.pairs import (
    OrderedPairs,
    Outcomes,
    calibration_error,
    pair_means,
    predict_pairs,
    ranked_pairs,
)
from judgelab.stats.ranking.system_bias import MODELS, Model
from judgelab.study.common.tables import columns, estimate_rows
from judgelab.study.common.templates import table
from judgelab.study.ranking.scored import RankingJudge, SystemScores

STEPS = 24  # differences along a curve
SHORT: dict[Model, str] = {
    "algorithm_1": "Algorithm 1",
    "bias": "plus bias between systems",
    "line": "plus bias and slope of means",
}
MODEL_NAMES = {m: name if m == MODELS[0] else f"Algorithm 1 {name}" for m, name in SHORT.items()}
LEAST = 4  # systems: two are predicted from the others
BUCKETS = 6
WIDEST = 2.0  # sds of the human scores, the end of a curve
SIZES = (25, 50, 100, 200, 500, 1000)  # N of curves
R_CURVES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
IN_SDS = (0.1, 0.2, 0.4, 0.8)  # differences of the trade-off curves, without study.deltas
R_GRID = tuple(round(0.06 + 0.02 * k, 2) for k in range(48))
R_NOISE = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def systems_table(scores: SystemScores, pairs: OrderedPairs, model: Model | None) -> Table:
    """Mean score of each system, best first, and how sure it is above the next (figure 1). Systems
    without a score come last and have no rank."""
    means = [item_mean(scores.metric[:, k]) for k in range(len(scores.systems))]
    human = row_means(scores.human.T)
    places = [k for k, mean in enumerate(means) if mean.n]
    best = sorted(places, key=lambda k: -means[k].value)
    absent = [k for k, mean in enumerate(means) if not mean.n]
    both = np.array([pairs.sampled, pairs.agreed])
    sure = np.full((2, len(means), len(means)), np.nan)
    sure[:, pairs.first, pairs.second] = both
    # means over each system's own items may order two systems otherwise than shared items do
    sure[:, pairs.second, pairs.first] = 1 - both
    heads = ("above_next_same_metric", "above_next_people")[: 2 if model else 1]
    rows: list[Row] = []
    for rank, (k, after) in enumerate(zip(best, [*best[1:], best[-1]], strict=True), 1):
        row: dict[str, Value] = {"rank": rank, "system": scores.systems[k]}
        beside = zip(heads, sure[:, k, after], strict=False)
        row |= {head: float(share) for head, share in beside if not np.isnan(share)}
        if not np.isnan(human[k]):
            row["human_mean"] = float(human[k])
        rows.append({**row, **columns(means[k])})
    rows += [{"rank": None, "system": scores.systems[k], **columns(means[k])} for k in absent]
    return table(__package__, "systems", rows, model=model and MODEL_NAMES[model])


def order_table(
    scores: SystemScores, judge: RankingJudge, pairs: OrderedPairs, model: Model | None
) -> Table:
    """Every two systems."""
    human, systems = row_means(scores.human.T), np.array(scores.systems)
    frame = pd.DataFrame(
        {
            "higher": systems[pairs.first],
            "lower": systems[pairs.second],
            "gap": pairs.gap,
            "shared_items": pairs.shared,
            "same_metric": pairs.sampled,
            "people": pairs.agreed if model is not None else np.nan,
            "human_gap": human[pairs.first] - human[pairs.second],
        }
    )
    best_first = frame.iloc[np.argsort(-pairs.agreed, kind="stable")]
    rows = records(best_first.dropna(axis=1, how="all"))
    by, error = (MODEL_NAMES[model], judge.fit.system_error(model)[1]) if model else (None, None)
    return table(__package__, "ranking", rows, model=by, error=error)


def judge_table(scores: SystemScores, judge: RankingJudge, here: Mapping[str, Estimate]) -> Table:
    """The judge in numbers, and its correlations ``here``."""
    data = "training data" if judge.elsewhere else "these data"
    quantities: dict[str, Estimate | float] = {
        f"correlation with people, r ({data})": judge.r,
        **{f"{name} here": one for name, one in here.items()},
        "sd of the metric's scores": float(np.nanstd(scores.metric)),
        "bias between systems (sd)": judge.fit.bias,
        "sd of human scores": judge.sd,
        "bias about the systems' line": judge.fit.line_bias_sd,
        "slope: system means / texts": judge.fit.system_slope,
        "correlation between systems' metric scores on the same item": judge.fit.item_correlation,
    }
    rows: list[Row] = [
        # a number alone has no n, and 0 would be another claim
        {"quantity": name, **(columns(one) if isinstance(one, Estimate) else {"value": one})}
        for name, one in quantities.items()
    ]
    return table(__package__, "judge", rows)


BINS = 12
WIDEST_ERROR = 3.0  # sds of the noise, where the last bin begins


def error_table(scores: SystemScores, judge: RankingJudge) -> list[Table]:
    """Shares of texts by the size of the judge's error, observed and by noise (figure 2)."""
    noise = float(noise_sd(judge.r.value, judge.sd))
    both = ~np.isnan(scores.human) & ~np.isnan(scores.metric)
    if not (noise > 0 and both.any()):
        return []
    apart = scores.metric / judge.fit.slope - scores.human
    size = np.abs(apart - apart[both].mean())
    edges = np.append(np.linspace(0, WIDEST_ERROR * noise, BINS), np.inf)
    cells: list[tuple[Row, Estimate]] = []
    for low, high in pairwise(map(float, edges)):
        inside = np.where(both, (size >= low) & (size < high), np.nan)
        share = float(2 * (ndtr(high / noise) - ndtr(low / noise)))
        row: Row = {"from": low, "to": high if np.isfinite(high) else None, "simulated": share}
        cells.append((row, item_mean(row_means(inside), (0.0, 1.0))))
    facts = {"noise": noise, "r": judge.r.value}
    return [table(__package__, "errors", estimate_rows(cells), **facts)]


Calibration = tuple[
    dict[str, Estimate],
    dict[Model, Estimate],
    dict[Model, Floats],
    dict[Model, float],
    list[Table],
]
"""What happened to pairs of systems, and what was predicted without looking at them.

Mean share of resamples ranked right, over pairs, with an interval over systems: both systems on
items of their own (``agreement``), or the same (``agreement_paired``). Of the models that predict
any pair, on items of their own, the calibration error, its resamples, and by how much they predict
more than is observed, mean over pairs. Tables: the errors, and the buckets of figures 5 and 6.
"""


def calibration_of(
    scores: SystemScores, judge: RankingJudge, items: int, draws: int, seed: int
) -> Calibration:
    """Predicted confidence against how often pairs are ranked right; nothing of a judge that is not
    usable, nor without people's scores of enough systems: two, and two more where each pair is
    predicted from the others."""
    both = ~np.isnan(scores.human) & ~np.isnan(scores.metric)
    if not judge.usable or both.any(axis=0).sum() < (2 if judge.elsewhere else LEAST):
        return {}, {}, {}, {}, []
    pairs = ranked_pairs(scores.human, scores.metric, items, draws, seed)
    if not len(pairs.delta):
        return {}, {}, {}, {}, []
    fit = judge.fit if judge.elsewhere else None
    predictions = predict_pairs(scores.human, scores.metric, pairs, items, fit)
    models = [m for m in MODELS if m == MODELS[0] or not np.isnan(predictions["unpaired", m]).all()]
    # pairs by the size of their difference, as the paper averages them
    edges = np.linspace(0, float(pairs.delta.max()), BUCKETS + 1)
    group = np.clip(np.searchsorted(edges, pairs.delta, side="left") - 1, 0, BUCKETS - 1)
    errors, agreement = dict[tuple[str, Model], Estimate](), dict[str, Estimate]()
    samples = dict[tuple[str, Model], Floats]()
    rows, cells = list[Row](), list[tuple[Row, Estimate]]()
    for kind, words, key, observed in (
        ("unpaired", "each its own", "agreement", pairs.unpaired),
        ("paired", "the same", "agreement_paired", pairs.paired),
    ):
        agreement[key] = pair_means(observed, 0 * group, pairs.first, pairs.second)[0]
        for model in models:
            predicted = predictions[kind, model]
            data = Outcomes(predicted, observed, pairs.first, pairs.second)
            errors[kind, model], samples[kind, model] = calibration_error(data, draws, seed)
            head: dict[str, Value] = {"items": words, "model": SHORT[model]}
            head["predicted"] = _mean(predicted)
            head["observed"] = _mean(observed[~np.isnan(predicted)])
            rows.append(head | columns(errors[kind, model]))
        for k, mean in pair_means(observed, group, pairs.first, pairs.second).items():
            head = {"items": kind, "delta": _mean(pairs.delta[group == k])}
            head |= {model: _mean(predictions[kind, model][group == k]) for model in MODELS}
            cells.append((head, mean))
    by = "by the judge as it is elsewhere" if judge.elsewhere else "from the other systems"
    return (
        agreement,
        {model: errors["unpaired", model] for model in models},
        {model: samples["unpaired", model] for model in models},
        {model: _mean(predictions["unpaired", model] - pairs.unpaired) for model in models},
        [
            table(__package__, "calibration_error", rows, by=by),
            table(__package__, "observed", estimate_rows(cells), buckets=BUCKETS, items=items),
        ],
    )


def _mean(values: Floats) -> float:
    """Of what is known."""
    return float(row_means(values[None])[0])


def curves(
    judge: RankingJudge, n: int, draws: Draws, deltas: Sequence[float] | None, target: float
) -> list[Table]:
    """The paper's figures 3, 4, 7 and 8 of a judge and N."""
    by_items = [(judge.r.value, size) for size in sorted({*SIZES, n})]
    return [
        trade_off_table(judge, deltas, target),
        curve_table("items", judge, by_items, draws),
        curve_table("correlation", judge, [(r, n) for r in R_CURVES], draws),
        noise_table(judge, draws.seed),
    ]


def curve_table(
    by: str, judge: RankingJudge, cells: Sequence[tuple[float, int]], draws: Draws
) -> Table:
    """Confidence against the difference, for each (r, N): of ``items`` figure 4, of
    ``correlation`` figure 7."""
    delta = np.linspace(0, WIDEST * judge.sd, STEPS + 1)[1:]
    r, sizes = (np.array(side)[:, None] for side in zip(*cells, strict=True))
    share, error = simulate(r, sizes, delta, judge.scores, draws)
    exact = confidence(r, sizes, delta, judge.scores)
    grid = {"r": r, "n": sizes, "delta": delta, "confidence": share}
    grid |= {"standard_error": error, "closed_form": exact}
    flat = {name: np.broadcast_to(x, share.shape).ravel() for name, x in grid.items()}
    return table(__package__, f"by_{by}", records(pd.DataFrame(flat)), draws=draws)


def trade_off_table(judge: RankingJudge, deltas: Sequence[float] | None, target: float) -> Table:
    """Items that a correlation needs, for several differences (figure 3)."""
    bias = {"items": 0.0}
    if has_bias := not np.isnan(judge.fit.bias.value):
        bias["items_with_bias"] = judge.fit.bias.value
    rows: list[Row] = [
        {"delta": delta, "r": r, "confidence": target}
        | {
            name: required_n(r, delta, target, sd=judge.sd, system_bias_sd=sd)
            for name, sd in bias.items()
        }
        for delta in deltas or (round(share * judge.sd, 6) for share in IN_SDS)
        for r in R_GRID
    ]
    return table(__package__, "trade_off", rows, target=target, has_bias=has_bias)


def noise_table(judge: RankingJudge, seed: int) -> Table:
    """Noise level and correlation: the formula, and noise added to the human scores (figure 8)."""
    scores, rows = judge.scores, list[Row]()
    for r in R_NOISE:
        level = float(noise_sd(r, judge.sd))
        noise = np.random.default_rng(seed).normal(0.0, level, size=(20, len(scores)))
        reached = np.array([np.corrcoef(scores, one)[0, 1] for one in scores + noise])
        row: dict[str, Value] = {"noise": level, "r": r, "simulated": float(reached.mean())}
        rows.append({**row, "simulated_sd": float(reached.std(ddof=1)), "n": len(scores)})
    return table(__package__, "noise", rows)
