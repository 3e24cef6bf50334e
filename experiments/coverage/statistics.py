"""The statistics whose intervals are tried: each by the functions that the studies call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from experiments.coverage.percentile import (
    percentile_of,
    resampled_d,
    resampled_discernment,
    resampled_ratio,
)
from experiments.coverage.scores import AGENTS, GOOD, Sample
from judgelab.stats.discernment.score import (
    combine_metrics,
    discernment_ends,
    leave_one_out,
    metric_weights,
)
from judgelab.stats.discernment.wilcoxon import signed_rank_log_p
from judgelab.stats.discrimination.auc import item_auc, pair_auc
from judgelab.stats.discrimination.correlation import (
    Method,
    clustered_correlation,
    item_correlations,
)
from judgelab.stats.discrimination.effect_size import (
    SmdDefinition,
    effect_size_parts,
    group_difference,
    standardized_mean_difference,
)
from judgelab.stats.intervals.arrays import Floats, average_ranks
from judgelab.stats.intervals.ends import Ends, mean_ends, of_ratio, share_ends, t_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind
from judgelab.stats.qualification.exams import ConfidenceAnswers, ExamShares, correct, same_verdicts
from judgelab.stats.ranking.leaderboard import agreement, rank_intervals

DRAWS = 1000
PAIRS = np.triu_indices(AGENTS, k=1)


@dataclass(frozen=True)
class Found:
    """Of every data set [sets]: the estimate, and the ends of its two intervals."""

    value: Floats
    ends: Ends
    percentile: Ends


@dataclass(frozen=True)
class Statistic:
    """What is estimated."""

    of: Callable[[Sample], Found]  # from data sets to what was found
    value: Callable[[Sample], Floats]  # the estimate of each alone [sets], for the truth
    slow: bool = False  # one data set after the other: a fifth of the sets
    # the truth depends on the number of items: the median over data sets of that size
    typical: bool = False
    level: float = 0.95  # nominal coverage


Items = Callable[[Sample], Floats]  # from data sets to a value of each item [sets, items]


def _flat(values: Floats) -> Floats:
    return values.reshape(-1, *values.shape[2:])


def _per_item(rows: Floats, like: Floats) -> Floats:
    return rows.reshape(like.shape[:2])


def auc_of(scores: Floats) -> Floats:
    """[sets, items] AUC of good agents against the others."""
    return _per_item(item_auc(_flat(scores), GOOD, ~GOOD), scores)


def pair_auc_of(scores: Floats) -> Floats:
    """[sets, items] AUC of pairs of good agents; the score of a pair is minus their distance."""
    flat = _flat(scores)
    pair = -np.abs(flat[:, :, None] - flat[:, None, :])
    good, bad = np.flatnonzero(GOOD), np.flatnonzero(~GOOD)
    return _per_item(pair_auc(pair, good, bad), scores)


def gap_of(scores: Floats) -> Floats:
    """[sets, items] mean of the good agents minus that of the others."""
    return _per_item(group_difference(_flat(scores), GOOD, ~GOOD), scores)


def rho_of(scores: Floats, people: Floats) -> Floats:
    """[sets, items] Spearman's rho over agents; 0 where all are alike, as study=qualification."""
    rho = item_correlations(_flat(scores), _flat(people))
    return np.nan_to_num(_per_item(rho, scores))


def verdicts_of(scores: Floats) -> Floats:
    """[sets, items, pairs] 1 where the first agent scores higher, 0 where the second, .5 a tie."""
    first, second = PAIRS
    return np.asarray((1 + np.sign(scores[..., first] - scores[..., second])) / 2)


def right_of(scores: Floats, people: Floats) -> Floats:
    """[sets, items, pairs] credit of verdicts by score."""
    gold = 2 * verdicts_of(people) - 1
    return correct(2 * verdicts_of(scores) - 1, gold)


def _sums(cells: Floats) -> tuple[Floats, Floats]:
    return np.nansum(cells, axis=-1), (~np.isnan(cells)).sum(axis=-1).astype(np.float64)


def _mean(items: Items, ends: Callable[[Floats], Ends], level: float = 0.95) -> Statistic:
    def of(data: Sample) -> Found:
        values = items(data)
        samples = resampled_ratio(values, np.ones(values.shape), DRAWS)
        return Found(values.mean(axis=1), ends(values), percentile_of(samples, level))

    return Statistic(of, lambda data: items(data).mean(axis=1), level=level)


def _ratio(cells: Callable[[Sample], Floats], ends: Callable[[Floats, Floats], Ends]) -> Statistic:
    def value(data: Sample) -> Floats:
        total, count = _sums(cells(data))
        return np.asarray(total.sum(axis=1) / count.sum(axis=1))

    def of(data: Sample) -> Found:
        total, count = _sums(cells(data))
        samples = resampled_ratio(total, count, DRAWS)
        return Found(value(data), ends(total, count), percentile_of(samples))

    return Statistic(of, value)


def _d(values: Floats) -> Floats:
    return np.asarray(values.mean(axis=1) / values.std(axis=1, ddof=1))


def _effect_size(data: Sample) -> Found:
    gap = gap_of(data.scores)
    samples = resampled_d(gap, DRAWS)
    return Found(_d(gap), t_ends(effect_size_parts(gap)), percentile_of(samples))


def _effect_size_change(data: Sample) -> Found:
    before, after = gap_of(data.scores), gap_of(data.attacked)
    samples = resampled_d(after, DRAWS) - resampled_d(before, DRAWS)
    return Found(
        _d(after) - _d(before), t_ends(effect_size_parts(after, before)), percentile_of(samples)
    )


def _confidence(data: Sample) -> ConfidenceAnswers:
    unscored = np.zeros(data.sets, dtype=np.int64)
    sides = (data.scores[..., :3], data.other[..., 3:])
    return ConfidenceAnswers(*(ExamShares(*_sums(side), unscored) for side in sides))


def _confidence_gap(data: Sample) -> Found:
    answers = _confidence(data)
    values = data.scores[..., :3].mean(axis=2) - data.other[..., 3:].mean(axis=2)
    samples = resampled_ratio(values, np.ones(values.shape), DRAWS)
    return Found(values.mean(axis=1), answers.gap_ends(), percentile_of(samples))


def _one_by_one(
    ours: Callable[[Sample, int], Estimate],
    theirs: Callable[[Sample, int], Estimate] | None,
    value: Callable[[Sample], Floats],
    every: int = 1,
    **more: Any,
) -> Statistic:
    """Of functions that take one data set at a time, by its number; ``theirs`` one of ``every``."""

    def of(data: Sample) -> Found:
        estimates = [ours(data, k) for k in range(data.sets)]
        others = [] if theirs is None else [theirs(data, k) for k in range(0, data.sets, every)]
        middle = np.array([one.value for one in estimates])
        return Found(middle, *(_ends(some) for some in (estimates, others)))

    return Statistic(of, value, slow=True, **more)


def _ends(estimates: Sequence[Estimate]) -> Ends:
    return np.array([one.low for one in estimates]), np.array([one.high for one in estimates])


def _correlated(x: Floats, y: Floats, method: str) -> Floats:
    """Of all cells of one large data set."""
    both = [rankdata(each) if method == "spearman" else each.ravel() for each in (x, y)]
    return np.asarray(np.corrcoef(np.stack(both)))[:1, 1]


def _pooled(method: Method) -> Statistic:
    def by(kind: Kind) -> Callable[[Sample, int], Estimate]:
        return lambda data, k: clustered_correlation(
            data.scores[k], data.people[k], method, 300, 0, kind
        )

    def value(data: Sample) -> Floats:
        return _correlated(data.scores, data.people, method)

    return _one_by_one(by("items"), by("percentile"), value)


def _over_models(method: Literal["spearman", "pearson"]) -> Statistic:
    def by(kind: Kind) -> Callable[[Sample, int], Estimate]:
        return lambda data, k: agreement(
            data.scores[k, :, 0], data.people[k, :, 0], method, 300, 0, kind
        )

    def value(data: Sample) -> Floats:
        return _correlated(data.scores[..., 0], data.people[..., 0], method)

    return _one_by_one(by("items"), by("percentile"), value)


def _standardized() -> Statistic:
    def by(definition: SmdDefinition) -> Callable[[Sample, int], Estimate]:
        def estimate(data: Sample, k: int) -> Estimate:
            before, after = data.scores[k], data.attacked[k]
            item = np.repeat(np.arange(len(before)), before.shape[1])
            return standardized_mean_difference(
                before.ravel(), after.ravel(), item, definition, draws=1
            )

        return estimate

    def value(data: Sample) -> Floats:
        return np.array([by("paper")(data, k).value for k in range(data.sets)])

    return _one_by_one(by("corrected"), by("paper"), value)


TEXTS = ((0, 1), (2, 3), (4, 5))
"""Agents whose scores are two metrics of one text: three perturbations, each of its own text."""


def _discernment(over: Callable[[Floats], Floats]) -> Statistic:
    """D of two metrics, ``over`` perturbations (the last axis)."""

    def ours(data: Sample, k: int) -> Estimate:
        falls = data.scores[k] - data.attacked[k]
        parts = [leave_one_out(falls[:, t]) for t in map(list, TEXTS)]
        d, most = (over(np.stack([part[i][:, 0] for part in parts], axis=-1)) for i in (0, 1))
        low, high = discernment_ends(d, most)
        return Estimate(float(d[0]), float(low), float(high))

    def theirs(data: Sample, k: int) -> Estimate:
        samples = over(
            np.stack(
                [
                    resampled_discernment(data.scores[k][:, t], data.attacked[k][:, t], 200)
                    for t in map(list, TEXTS)
                ],
                axis=-1,
            )
        )
        low, high = map(float, percentile_of(samples))
        return Estimate(0.0, low, high)

    def value(data: Sample) -> Floats:
        change = data.scores - data.attacked
        columns = []
        for t in map(list, TEXTS):
            log_p = signed_rank_log_p(np.moveaxis(change[..., t], 1, 2))
            columns.append(combine_metrics(log_p, metric_weights(2, None))[0])
        return over(np.stack(columns, axis=-1))

    return _one_by_one(ours, theirs, value, every=20, typical=True)


def _rank() -> Statistic:
    """Of the third best of six candidates."""

    def ours(data: Sample, k: int) -> Estimate:
        ranks = rank_intervals(data.scores[k], draws=300)
        value, low, high = ranks.rank[2], ranks.rank_low[2], ranks.rank_high[2]
        return Estimate(float(value), float(low), float(high))

    def value(data: Sample) -> Floats:
        return average_ranks(-data.scores.mean(axis=1))[:, 2]

    return _one_by_one(ours, None, value, level=0.9)


def _first(data: Sample) -> Floats:
    return data.scores[..., 0]


STATISTICS: Mapping[str, Statistic] = MappingProxyType(
    {
        "mean score": _mean(_first, mean_ends),
        "mean score, 90 %": _mean(_first, lambda v: mean_ends(v, 0.9), 0.9),
        "item AUC": _mean(lambda d: auc_of(d.scores), share_ends),
        "pair AUC": _mean(lambda d: pair_auc_of(d.scores), share_ends),
        "d": Statistic(_effect_size, lambda d: _d(gap_of(d.scores))),
        "change of score": _mean(lambda d: (d.attacked - d.scores).mean(axis=2), mean_ends),
        "change of AUC": _mean(
            lambda d: auc_of(d.attacked) - auc_of(d.scores),
            lambda v: mean_ends(v, bounds=(-1.0, 1.0)),
        ),
        "change of d": Statistic(
            _effect_size_change,
            lambda d: _d(gap_of(d.attacked)) - _d(gap_of(d.scores)),
        ),
        "standardised change": _standardized(),
        "accuracy on pairs": _ratio(
            lambda d: right_of(d.scores, d.people),
            lambda total, count: share_ends(of_ratio(total, count)),
        ),
        "difference of accuracies": _ratio(
            lambda d: right_of(d.scores, d.people) - right_of(d.other, d.people),
            lambda total, count: mean_ends(of_ratio(total, count), bounds=(-1.0, 1.0)),
        ),
        "exam P_c": _ratio(
            lambda d: same_verdicts(verdicts_of(d.scores), verdicts_of(d.attacked)),
            lambda total, count: ExamShares(total, count, np.zeros(len(total), np.int64)).ends(),
        ),
        "confidence gap": Statistic(
            _confidence_gap,
            lambda d: d.scores[..., :3].mean(axis=(1, 2)) - d.other[..., 3:].mean(axis=(1, 2)),
        ),
        "rho within items": _mean(
            lambda d: rho_of(d.scores, d.people),
            lambda v: share_ends(v, bounds=(-1.0, 1.0)),
        ),
        "difference of rhos": _mean(
            lambda d: rho_of(d.scores, d.people) - rho_of(d.other, d.people),
            lambda v: mean_ends(v, bounds=(-2.0, 2.0)),
        ),
        "pooled Pearson": _pooled("pearson"),
        "pooled Spearman": _pooled("spearman"),
        "Pearson over models": _over_models("pearson"),
        "Spearman over models": _over_models("spearman"),
        "rank, 90 %": _rank(),
        "D": _discernment(lambda d: d[..., 0]),
        "average D": _discernment(lambda d: d.mean(axis=-1)),
        "minimum D": _discernment(lambda d: d.min(axis=-1)),
    }
)
