"""Predicted confidence against the bootstrap, with and without the bias between systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments.ranking_confidence.data import Cell
from experiments.ranking_confidence.rows import Table, Value, spread
from judgelab.stats.intervals.means import percentile_interval
from judgelab.stats.ranking.pairs import (
    Outcomes,
    Predictions,
    RankedPairs,
    calibration_error,
    pair_means,
    predict_pairs,
    ranked_pairs,
)
from judgelab.stats.ranking.system_bias import MODELS, JudgeFit, Model, fit_judge
from judgelab.study.ranking.tables import SHORT

ITEMS, DRAWS, SEED = 100, 2000, 1
SURE = 0.9  # a confidence that somebody would act on


@dataclass(frozen=True)
class Judged:
    """One judge with its bootstrap and its predictions, from all systems and held out."""

    cell: Cell
    fit: JudgeFit
    pairs: RankedPairs
    whole: Predictions
    held_out: Predictions


def outcomes_of(cell: Cell) -> Judged:
    """Bootstrap and predict one judge (N = 100 items, as the paper has it)."""
    pairs = ranked_pairs(cell.human, cell.metric, ITEMS, DRAWS, SEED)
    fit = fit_judge(cell.human, cell.metric)
    whole, held_out = (
        predict_pairs(cell.human, cell.metric, pairs, ITEMS, judge) for judge in (fit, None)
    )
    return Judged(cell, fit, pairs, whole, held_out)


def judges_table(judges: Sequence[Judged]) -> Table:
    """Each judge: mean over pairs, predicted and observed, and how far single pairs are off."""
    rows: list[dict[str, Value]] = []
    for one in judges:
        shares = one.whole["unpaired", "algorithm_1"]
        off = np.abs(shares - one.pairs.unpaired)
        row: dict[str, Value] = {"data": one.cell.data, "judge": one.cell.judge, "r": one.fit.r}
        row |= {"texts": one.fit.texts, "unscored": one.cell.human.size - one.fit.texts}
        row |= {"pairs": len(shares), **_shares("paired", one.pairs.paired, one.pairs)}
        row |= {**_shares("unpaired", one.pairs.unpaired, one.pairs), "algorithm_1": _mean(shares)}
        row |= {"mae": _mean(off), "item_correlation": one.fit.item_correlation}
        row |= {"bias_sd_over_sd": one.fit.bias.value / one.fit.sd}
        rows.append({**row, "system_slope": one.fit.system_slope})
    return Table(
        "judges",
        "Share of pairs ranked right (bootstrap, N = 100) and Algorithm 1 at the judge's r",
        tuple(rows),
        (
            "low, high: 95 % interval over systems. unscored: texts without a score of either. "
            "mae: mean over pairs of |unpaired - Algorithm 1|. bias_sd_over_sd: errors that a "
            "system's texts share, in sds of the human scores. system_slope: slope of the metric's "
            "system means on people's, in units of the slope over single texts.",
        ),
    )


def errors_table(judges: Sequence[Judged]) -> Table:
    """Calibration error on held-out pairs, with and without the bias term."""
    rows: list[dict[str, Value]] = []
    for group, part in _groups(judges):
        for paired in (False, True):
            plain = pooled(part, "algorithm_1", lambda one: one.held_out, paired, paired)
            for model in MODELS:
                data = pooled(part, model, lambda one: one.held_out, paired, paired)
                error, samples = calibration_error(data, seed=SEED)
                both = np.where(np.isnan(data.predicted), np.nan, plain.predicted)
                _, base = calibration_error(replace(plain, predicted=both), seed=SEED)
                low, high = percentile_interval(samples - base)
                valid = ~np.isnan(data.predicted)
                row: dict[str, Value] = {"group": group, "model": SHORT[model]}
                row |= {"items": "the same" if paired else "each its own"}
                row |= {"predicted": _mean(data.predicted), "observed": _mean(data.observed[valid])}
                sure = valid & (data.predicted >= SURE)
                row |= {"sure_pairs": int(sure.sum())}
                row |= {"sure_predicted": _mean(data.predicted[sure])}
                row |= {"sure_observed": _mean(data.observed[sure]), "unpredicted": error.unscored}
                if model != "algorithm_1":
                    row |= {"change_low": low, "change_high": high}
                rows.append({**row, **spread(error)})
    return Table(
        "errors",
        "Calibration error on held-out pairs of systems: mean |predicted - observed| over bins",
        tuple(rows),
        (
            "Each pair is predicted from the other systems. change: 95 % interval of the error "
            "less that of Algorithm 1, systems resampled for both together. sure: pairs with a "
            f"predicted confidence of {SURE} or more.",
        ),
    )


def headline_table(judges: Sequence[Judged]) -> Table:
    """The paper's headline in sds: r about .42 or .20, delta about .4 sd (.10 of .249)."""
    rows: list[dict[str, Value]] = []
    for group, part in _groups(judges):
        for low, high, claim in ((0.37, 0.48, 0.95), (0.13, 0.28, 0.80)):
            near = [one for one in part if low <= one.fit.r <= high]
            inside = [np.abs(one.pairs.delta / one.fit.sd - 0.4) <= 0.05 for one in near]
            if not sum(int(mask.sum()) for mask in inside):
                continue
            row: dict[str, Value] = {"group": group, "r": f"{low} to {high}", "paper": claim}
            row["pairs"] = sum(int(mask.sum()) for mask in inside)
            apart = pooled(near, "algorithm_1", lambda one: one.whole)
            same = pooled(near, "algorithm_1", lambda one: one.whole, observed_paired=True)
            group_of = np.where(np.concatenate(inside), 0, -1)
            for name, data in (("paired", same), ("unpaired", apart)):
                mean = pair_means(data.observed, group_of, data.first, data.second)[0]
                row |= {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high}
            row |= {"systems": mean.clusters, "algorithm_1": _mean(apart.predicted[group_of == 0])}
            rows.append(row)
    return Table(
        "headline",
        "The headline in sds of the human scores: pairs .35 to .45 sd apart, N = 100",
        tuple(rows),
        ("low, high: 95 % interval over systems.",),
    )


def pooled(
    judges: Sequence[Judged],
    model: Model,
    which: Callable[[Judged], Predictions],
    predicted_paired: bool = False,
    observed_paired: bool = False,
) -> Outcomes:
    """All pairs of these judges; a system has one number under every judge of its data."""
    numbers: dict[tuple[str, str], int] = {}
    parts: list[list[NDArray[np.float64]]] = []
    ends: list[list[NDArray[np.int64]]] = []
    for one in judges:
        predictions, family = which(one), one.cell.data.split()[0]
        place = np.array(
            [numbers.setdefault((family, s), len(numbers)) for s in one.cell.systems],
            dtype=np.int64,
        )
        values = predictions["paired" if predicted_paired else "unpaired", model]
        parts.append([values, one.pairs.paired if observed_paired else one.pairs.unpaired])
        ends.append([place[one.pairs.first], place[one.pairs.second]])
    predicted, observed = (np.concatenate(column) for column in zip(*parts, strict=True))
    first, second = (np.concatenate(column) for column in zip(*ends, strict=True))
    return Outcomes(predicted, observed, first, second)


def _groups(judges: Sequence[Judged]) -> list[tuple[str, list[Judged]]]:
    groups: dict[str, list[Judged]] = {}
    for one in judges:
        groups.setdefault(one.cell.group, []).append(one)
    return list(groups.items())


def _shares(name: str, values: NDArray[np.float64], pairs: RankedPairs) -> dict[str, Value]:
    """Mean over pairs with its interval over systems."""
    group = np.zeros(len(values), dtype=np.int64)
    mean = pair_means(values, group, pairs.first, pairs.second)[0]
    return {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high}


def _mean(values: NDArray[np.float64]) -> float:
    valid = values[~np.isnan(values)]
    return float(valid.mean()) if len(valid) else float("nan")
