"""Counting verdicts and grades as the authors' scripts do, faults and all, and without the faults.

Answers of a pair are in the order of ``Recorded.pairs``, and ``truth`` is 1 where people prefer
the first of them. Where a script divides by what it should not, or loses a tie to rounding, the
function says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.discrimination.correlation import item_correlations
from judgelab.stats.intervals.arrays import Floats, divide, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import bootstrap_mean, item_weights, percentile_interval
from judgelab.stats.qualification.exams import (
    accuracy,
    correct,
    decide,
    gaps_of,
    pooled_scores,
    votes_of,
)

Pairs = NDArray[np.int64]
DRAWS = 1000


def same(verdicts: Floats) -> Floats:
    """[items, pairs] 1 where the verdicts of both orders agree, 0 where they do not; a half where
    either chose neither answer, or is unread."""
    definite = (~np.isnan(verdicts) & (verdicts != 0.5)).all(axis=-1)
    return np.where(definite, verdicts[..., 0] == verdicts[..., 1], 0.5)


def released_single(values: Floats, truth: Floats, pairs: Pairs) -> Floats:
    """[items, pairs] credit of one judge: each order by itself, nothing chosen counts a half.

    Args:
        values: verdicts [items, pairs, orders], or grades [items, agents], of which an answer
            without a number ties with everybody.
        truth: [items, pairs].
        pairs: see above.
    """
    if values.ndim == 3:
        sign = np.sign(2 * np.nan_to_num(values, nan=0.5) - 1)
        return np.asarray(correct(sign, truth[..., None]).mean(axis=-1))
    return correct(np.sign(np.nan_to_num(gaps_of(values, pairs))), truth)


def released_vote(verdicts: Sequence[Floats], weight: Sequence[float], truth: Floats) -> Floats:
    """[items, pairs] credit of judges whose two orders are one vote.

    The scripts add up the weights of those who agree with people by the built-in ``sum``, which
    Python 3.12 made compensate for rounding, and hold the sum against a running total that does
    not. An exact tie is a win where the compensated sum of the weights is larger in the last bit.
    """
    shape = truth.shape
    agreed, rounding, half = np.zeros(shape), np.zeros(shape), 0.0
    for cells, power in zip(verdicts, weight, strict=True):
        credit = np.nan_to_num(cells, nan=0.5)
        credit = np.where((truth < 0)[..., None], 1 - credit, credit).sum(axis=-1)
        term = power * credit
        total = agreed + term
        larger = np.abs(agreed) >= np.abs(term)
        rounding = rounding + np.where(larger, (agreed - total) + term, (term - total) + agreed)
        agreed, half = total, half + power
    reached = agreed + rounding
    won = np.where(reached == half, 0.5, reached > half)
    return np.where((truth != 0) & ~np.isnan(truth), won, np.nan)


def released_vote_per_order(
    verdicts: Sequence[Floats], weight: Sequence[float], truth: Floats
) -> Floats:
    """[items, pairs] credit of judges who vote in each order by itself; ties count a half."""
    cells = np.nan_to_num(np.stack(list(verdicts)), nan=0.5)
    return np.asarray(correct(decide(2 * cells - 1, weight), truth[..., None]).mean(axis=-1))


def released_sum(grades: Sequence[Floats], weight: Sequence[float]) -> Floats:
    """[items, agents] sum of weighted grades: a missing one costs the answer its full weight."""
    total = np.zeros(grades[0].shape)
    for cells, power in zip(grades, weight, strict=True):
        total = total + power * np.nan_to_num(cells)
    return total


def corrected_credit(
    values: Sequence[Floats], weight: Sequence[float], truth: Floats, pairs: Pairs
) -> Floats:
    """[items, pairs] credit by one rule everywhere: orders merged, ties with a tolerance."""
    cells = np.stack(list(values))
    votes = votes_of(cells) if cells.ndim == 4 else gaps_of(cells, pairs)
    return correct(decide(votes, weight), truth)


def corrected_grades(grades: Sequence[Floats], weight: Sequence[float]) -> Floats:
    """[items, agents] weighted mean over the judges who graded."""
    return pooled_scores(np.stack(list(grades)), weight)


def correlations(grades: Floats, human: Floats, *, absolute: bool) -> Floats:
    """[items] Spearman's rho over the item's answers; 0 where it is undefined, as released."""
    rho = np.nan_to_num(item_correlations(grades, human))
    return np.abs(rho) if absolute else rho


def mean(right: Floats, macro: bool) -> float:
    """Mean over all pairs, or over items of each item's mean."""
    return float(np.nanmean(of_items(right, macro)))


def of_items(cells: Floats, macro: bool) -> Floats:
    """The cells [items, pairs], or of each item their mean [items, 1]."""
    return row_means(cells)[:, None] if macro else cells


def share(right: Floats, truth: Floats, *, macro: bool) -> Estimate:
    """An accuracy with its interval over items; unscored: pairs people decided and nobody else."""
    return of_pairs(accuracy(of_items(right, macro)), right, truth)


def of_pairs(estimate: Estimate, right: Floats, truth: Floats) -> Estimate:
    """The estimate; n: pairs, unscored: those on which people have a preference, ``right`` none."""
    preferred, unscored = (truth != 0) & ~np.isnan(truth), np.isnan(right)
    n, absent = np.count_nonzero(~unscored), np.count_nonzero(unscored & preferred)
    return replace(estimate, n=int(n), unscored=int(absent))


def average(values: Floats) -> Estimate:
    """A mean over items with its interval."""
    return bootstrap_mean(values, DRAWS)


def relevant(rows: pd.DataFrame, tasks: Sequence[int]) -> Floats:
    """[items, 2] was the relevant answer preferred, shown first and second; .5 neither.

    A run that was repeated ("old") counts only where there is no other.
    """
    column = "result_stored" if "result_stored" in rows else "parse_first"
    cells = np.full((len(tasks), 2), np.nan)
    place = {int(task): row for row, task in enumerate(tasks)}
    if "old_run" in rows:
        rows = rows.sort_values("old_run", ascending=False, kind="stable")
    for task, first, result in zip(rows["task_id"], rows["ra_first"], rows[column], strict=True):
        if int(task) in place:  # -1: the answer shown first
            sign = -1 if first else 1
            cells[place[int(task)], 0 if first else 1] = (
                0.5 if result == 0 else float(result == sign)
            )
    return cells


def confidence(
    rows: pd.DataFrame, method: str, prompt: str, judge: str, *, old: bool = False
) -> tuple[Floats, Floats]:
    """Confidence on the easy and on the hard set, one number an answer, as released.

    ``prob``: ln p of the emitted token, answers without one left out. ``direct``: level 1 to 5,
    an unread one counting 0.
    """
    easy, hard = confidence_by_item(rows, method, prompt, judge, old=old)
    return easy[~np.isnan(easy)], hard[~np.isnan(hard)]


def confidence_by_item(
    rows: pd.DataFrame, method: str, prompt: str, judge: str, *, old: bool = False
) -> tuple[Floats, Floats]:
    """The same [items, answers]; NaN for an answer without a number, or that an item lacks."""
    mine = rows[
        (rows["method"] == method) & (rows["prompt"] == prompt) & (rows["evaluator"] == judge)
    ]
    if "old_run" in mine and method == "prob":
        mine = mine[mine["old_run"] == old]
    easy, hard = (
        by_task(part["task_id"], _levels(part, method))
        for part in (mine[mine["set"] == which] for which in ("easy", "hard"))
    )
    return easy, hard


def by_task(tasks: ArrayLike, values: Floats) -> Floats:
    """[items, answers] the values of each task; NaN where a task has fewer than another."""
    numbers, row, counts = np.unique(np.asarray(tasks), return_inverse=True, return_counts=True)
    cells = np.full((len(numbers), int(counts.max(initial=0))), np.nan)
    order = np.argsort(row, kind="stable")
    column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    cells[row[order], column] = values[order]
    return cells


def spread(cells: Floats) -> tuple[Estimate, Estimate]:
    """Mean and population SD over the answers [items, answers], with intervals over items.

    n: answers; unscored: those without a number, or that an item lacks.
    """
    valid = ~np.isnan(cells)
    values, n = cells[valid], int(valid.sum())
    unscored, items = cells.size - n, int(valid.any(axis=1).sum())
    numbers = np.where(valid, cells, 0.0)
    sums = np.stack([valid.sum(axis=1), numbers.sum(axis=1), (numbers**2).sum(axis=1)], axis=1)
    count, total, squares = (item_weights(len(cells), DRAWS, 0) @ sums).T
    means = divide(total, count)
    spreads = np.sqrt(np.maximum(divide(squares, count) - means**2, 0.0))
    estimates = []
    for value, samples in ((values.mean(), means), (values.std(), spreads)):
        low, high = percentile_interval(samples) if items > 2 else (math.nan, math.nan)
        estimates.append(Estimate(float(value), low, high, n, unscored, clusters=items))
    return estimates[0], estimates[1]


def _levels(rows: pd.DataFrame, method: str) -> Floats:
    if method == "direct":
        return np.asarray(rows["level_stored"].to_numpy(np.float64, na_value=0.0))
    p = rows["p_output"].to_numpy(np.float64, na_value=np.nan)
    if np.nanmax(p, initial=0.0) > 1:
        p = p / 100  # the files of hosted models hold per cent
    return np.asarray(np.log(p))
